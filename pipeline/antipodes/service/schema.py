"""The structure of answers, for the description of the API; tests compare answers with it."""

from dataclasses import dataclass, field
from typing import Any

Words = list[str | None]


@dataclass
class Failure:
    """An error."""

    error: str
    """The message, in one line."""


@dataclass
class Shape:
    """A rectangle, disc, line, text, region or polygon; its fields depend on its kind."""

    kind: str
    x: float
    y: float
    width: float | None = None
    height: float | None = None
    radius: float | None = None
    rounded: float | None = None
    end_x: float | None = None
    end_y: float | None = None
    fill: str | None = None
    outline: str | None = None
    colour: str | None = None
    text: str | None = None
    size: float | None = None
    squares: list[tuple[int, int]] | None = None
    side: float | None = None
    points: list[tuple[float, float]] | None = None


@dataclass
class Picture:
    """Shapes on white paper; later ones cover earlier ones."""

    width: float
    height: float
    shapes: list[Shape]


@dataclass
class Run:
    """The run that holds the lock of a store."""

    process: Any
    host: Any
    since: str | None
    alive: bool


@dataclass
class Row:
    """A store in the list, with the keys of ``list --json`` except the path."""

    name: str
    kind: str | None
    complete: bool | None
    bytes: int
    committed: str | None
    run: Run | None
    problem: str | None
    family: str | None
    description: str
    picture: Picture | None
    expected: int | None
    puzzle: str | None = None
    states: int | None = None
    radius: int | None = None
    board: str | None = None
    tilings: int | None = None
    partitions: int | None = None
    searched_partitions: int | None = None


@dataclass
class Facts:
    """A store, with the keys of ``status --json`` and further keys."""

    name: str
    store: str
    kind: str
    version: str
    complete: bool
    bytes: int
    run: Run | None
    description: str | None
    command: str
    picture: Picture | None
    expected: int | None
    problem: str | None
    puzzle: str | None = None
    counts_only: bool | None = None
    committed_depth: int | None = None
    entries: int | None = None
    symmetry: int | None = None
    states: int | None = None
    layers: list[int] | None = None
    radius: int | None = None
    index_size: int | None = None
    graph: bool | None = None
    family: str | None = None
    fingerprint: str | None = None
    start: str | None = None
    starts: int | None = None
    depth_zero: str | None = None
    moves: list[str] | None = None
    sequence_names: list[str] | None = None
    reversible: bool | None = None
    invertible: bool | None = None
    editable: bool | None = None
    board: str | None = None
    method: str | None = None
    partitions: int | None = None
    searched_partitions: int | None = None
    solutions: int | None = None
    placements: int | None = None
    tilings: int | None = None


@dataclass
class Layers:
    """The number of positions at each depth."""

    radius: int | None
    complete: bool
    layers: list[int]


@dataclass
class Antipodes:
    """The positions that are farthest from the start."""

    radius: int
    count: int
    positions: list[str]
    pictures: list[Picture]


@dataclass
class Distance:
    """The distance of a position; ``reached`` is false if an unfinished table has not reached it up to ``depth``."""

    position: str
    distance: int | None
    reached: bool = True
    depth: int | None = None


@dataclass
class Successor:
    """A successor of a position."""

    position: str
    move: str | None
    distance: int | None
    change: int | None


@dataclass
class Neighbour:
    """A neighbour of a position; ``change`` is its distance minus that position's. A predecessor has no ``move``."""

    position: str
    index: int | None
    distance: int | None
    change: int | None
    picture: Picture
    move: str | None = None


@dataclass
class MoveName:
    """The name of a move, and its meaning if known."""

    name: str
    meaning: str | None


@dataclass
class Legend:
    """The meanings of the first names of moves, and, for each sticker of a net, the moves that turn its piece."""

    text: str | None
    count: int
    moves: list[MoveName]
    stickers: list[list[str]] | None


@dataclass
class Step:
    """A position along a sequence, and the move to it; the move is None if the step is not a single move."""

    position: str
    move: str | None
    distance: int | None


@dataclass
class View:
    """A position, its ``predecessors`` if moves are irreversible, and the ``steps`` of a sequence unless it is long."""

    position: str
    index: int | None
    distance: int | None
    reached: bool
    depth: int
    picture: Picture
    successors: list[Neighbour]
    shortest_moves: int
    predecessors: list[Neighbour] | None = None
    steps: list[Step] | None = None


@dataclass
class Path:
    """A shortest path from a position to the start: its ``number`` among ``count`` paths, both as text."""

    position: str
    distance: int | None
    path: list[str] | None
    moves: Words | None
    pictures: list[Picture] | None
    count: str | None
    number: str | None
    reached: bool = True
    depth: int | None = None


@dataclass
class Positions:
    """Positions at a depth."""

    depth: int
    count: int
    first: int
    positions: list[str]
    pictures: list[Picture]


@dataclass
class Side:
    """The closest or farthest of the positions that match a pattern."""

    distance: int
    count: int
    positions: list[str]
    pictures: list[Picture]


@dataclass
class Matches:
    """The positions that match a pattern."""

    pattern: str
    count: int
    reached: int
    by_distance: dict[str, int]
    nearest: Side | None
    farthest: Side | None


@dataclass
class FormSymbol:
    """A symbol that a field may hold, its label for screen readers, and the fixed number of fields that hold it."""

    symbol: str
    label: str
    count: int | None
    colour: str | None


@dataclass
class FormGroup:
    """Fields that may hold the same symbols: ``pieces``, ``values``, ``stickers``, or squares of ``blocks``."""

    kind: str
    symbols: list[FormSymbol]


@dataclass
class FormField:
    """A field of a form: its group, the squares (row, column) on which it is drawn, and the symbol in it."""

    name: str
    group: int
    squares: list[tuple[float, float]]
    fixed: bool
    symbol: str


@dataclass
class Form:
    """The fields in which a person edits a position, and the cells (row, column) of each block, by its letter."""

    position: str
    groups: list[FormGroup]
    fields: list[FormField]
    blocks: dict[str, list[tuple[int, int]]] | None


@dataclass
class Draft:
    """The verdict on a draft; if it is not a reached position, the reason and the ``wrong`` fields."""

    verdict: str
    reason: str | None
    position: str | None
    distance: int | None
    wrong: list[int]


@dataclass
class Nodes:
    """The nodes of a graph: the index and depth of each node, and its horizontal place from 0 to 1."""

    index: list[int]
    depth: list[int]
    x: list[float]


@dataclass
class Graph:
    """The graph of a table, or the neighbourhood of a position; ``edges`` lists pairs of node numbers."""

    whole: bool
    directed: bool
    layers: list[int]
    nodes: Nodes
    edges: list[int]


@dataclass
class Tiling:
    """The cells of each piece as (row, column), or (layer, row, column) in a box."""

    number: int
    pieces: dict[str, list[list[int]]]


@dataclass
class Tilings:
    """Some of the tilings that satisfy conditions, after the ``first`` ones, which are skipped."""

    board: str
    complete: bool
    count: int
    matching: int
    first: int
    tilings: list[Tiling]


@dataclass
class Piece:
    """A piece of a board, and the names of its copies."""

    name: str
    count: int
    colour: str
    labels: list[str] = field(default_factory=list)


@dataclass
class Board:
    """A board and its pieces."""

    name: str
    layers: int
    rows: int
    columns: int
    cells: list[list[int]]
    pieces: list[Piece]
