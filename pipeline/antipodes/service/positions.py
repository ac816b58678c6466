"""The service's answers about positions: distances, successors, shortest paths, and positions at a depth."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from antipodes.drawing.picture import Picture
from antipodes.puzzles.sequences import names_along
from antipodes.service.counted_paths import MAX_DIGITS, CountedPaths
from antipodes.service.encoded_answers import Encoded, drawn, pictures_of
from antipodes.service.limits import MAX_SCANNED, MAX_SHOWN, TooMuchError
from antipodes.system.records import ABSENT, optional, values_of
from antipodes.tables.drawing import moves_back
from antipodes.tables.look_up import look_up
from antipodes.tables.queries import Found, parsed
from antipodes.tables.table import UNKNOWN, UNREACHABLE, Table
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, NumberError, UnfinishedError
from antipodes_tasks.base.quoting import counted, quote, shorten

Distances = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of a position; ``reached`` is false if an unfinished table has not reached it up to ``depth``.

    If the position is unreachable, ``obstacle`` is the reason, if it is known without the table.
    """

    position: str
    distance: int | None
    reached: bool = optional(True)
    depth: int | None = optional(None)
    obstacle: str | None = optional(None)


@dataclass(frozen=True, slots=True)
class Successor:
    """A successor of a position."""

    position: str
    move: str | None
    distance: int | None
    change: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A neighbour of a position; ``change`` is its distance minus that position's. A predecessor has no ``move``."""

    position: str
    index: int | None
    move: str | None = optional()
    distance: int | None
    change: int | None
    picture: Encoded[Picture]


@dataclass(frozen=True, slots=True)
class Step:
    """A position along a sequence, and the move to it; the move is None if the step is not a single move."""

    position: str
    move: str | None
    distance: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A position, its ``predecessors`` if moves are irreversible, and the ``steps`` of a sequence unless it is long.

    ``obstacle`` is as in `Distance`.
    """

    position: str
    index: int | None
    distance: int | None
    reached: bool
    obstacle: str | None = optional(None)
    depth: int
    picture: Encoded[Picture]
    successors: list[Neighbour]
    shortest_moves: int
    predecessors: list[Neighbour] | None = optional()
    steps: list[Step] | None = optional()


@dataclass(frozen=True, slots=True, kw_only=True)
class Path(Distance):
    """A shortest path from a position to the start: its ``number`` among ``count`` paths, both as text."""

    path: list[str] | None
    moves: Sequence[str | None] | None
    pictures: list[Encoded[Picture]] | None
    count: str | None
    number: str | None


@dataclass(frozen=True, slots=True)
class Positions:
    """Positions at a depth."""

    depth: int
    count: int
    first: int
    positions: list[str]
    pictures: list[Encoded[Picture]]


def position_asked(table: Table, position: str | None = None, index: int | None = None) -> Labels:
    """Return the position ``(places,)`` given as text or index; the start if neither is given.

    Raises InputError if both are given or the index is invalid, and PositionError if the text is invalid.
    """
    if position is not None and index is not None:
        raise InputError("give a position or an index, not both")
    if position is not None:
        return table.puzzle.parse(position)
    if index is not None:
        return table.space.unrank([index]).reshape(-1)
    return table.puzzle.rules.first


def path_number(text: str | None) -> int | None:
    """Return the number of a path given as text; raise InputError if it is not a whole number."""
    if text is None:
        return None
    if len(text) > MAX_DIGITS or not re.fullmatch("[0-9]+", text):
        expected = f"a whole number of at most {MAX_DIGITS:,} digits"
        raise InputError(f"number: expected {expected}, found {quote(shorten(text))}")
    return int(text)


def distance_view(table: Table, position: Labels) -> Distance:
    """Return the distance of one position."""
    return _distances(table, position[np.newaxis])[0]


def distances_view(table: Table, texts: Sequence[str]) -> list[Distance]:
    """Return the distance of each position; raise InputError with the number of the position if its text is invalid."""
    positions, errors = parsed(table.puzzle.parse_many, texts)
    for number, error in errors.items():
        raise InputError(f"positions[{number}]: {error}")
    return _distances(table, positions)


def _distances(table: Table, positions: Labels) -> list[Distance]:
    """Return the distance of each position or None; if an unfinished table has not reached it, add the depth so far."""
    found = list(look_up(table, positions))
    return [_distance(table, position, one) for position, one in zip(positions, found, strict=True)]


def _distance(table: Table, position: Labels, found: Found | UnfinishedError) -> Distance:
    text = table.puzzle.format(position)
    if isinstance(found, Found):
        return Distance(text, found.distance, obstacle=found.obstacle)
    return Distance(text, None, reached=False, depth=table.radius)


def table_view(table: Table, position: Labels) -> View:
    """Return everything that the page shows about a position: its picture, its distance, and its neighbours."""
    after, names = _successors(table, position)
    before = _predecessors(table, position)
    indices, distances = _ranked(table, np.concatenate((position[np.newaxis], after, before)))
    here, last = int(distances[0]), 1 + len(after)
    obstacle = table.obstacle(position) if here < 0 else None
    reversible = table.puzzle.moves.reversible
    nearer = distances[1:last] if reversible else distances[last:]
    predecessors: list[Neighbour] = ABSENT
    if not reversible:
        around = np.concatenate((distances[:1], distances[last:]))
        predecessors = _neighbours(table, position, before, indices[last:], around, [ABSENT] * len(before))
    return View(
        position=table.puzzle.format(position),
        index=_index(int(indices[0])),
        distance=here if here >= 0 else None,
        reached=here != UNKNOWN or obstacle is not None,
        obstacle=obstacle,
        depth=table.radius,
        picture=drawn(table.puzzle.picture(position)),
        successors=_neighbours(table, position, after, indices[1:last], distances[:last], names),
        shortest_moves=int((nearer == here - 1).sum()) if here > 0 else 0,
        predecessors=predecessors,
    )


def followed_view(table: Table, begin: Labels, moves: str) -> View:
    """Return the `table_view` of the position after some moves, and the steps unless there are more than MAX_SHOWN."""
    way = table.puzzle.follow(moves, begin)
    return replace(table_view(table, way[-1]), steps=_steps(table, way) if len(way) <= MAX_SHOWN + 1 else None)


def _steps(table: Table, way: Labels) -> list[Step]:
    """Return each position after the first of ``way`` ``(1 + n, places)``, and the name of the move to it."""
    names = names_along(table.puzzle.moves, way)
    distances = table.distances(way[1:]).tolist()
    return [
        Step(table.puzzle.format(one), name, distance if distance >= 0 else None)
        for one, name, distance in zip(way[1:], names, distances, strict=True)
    ]


def _ranked(table: Table, labels: Labels) -> tuple[NDArray[np.int64], Distances]:
    """Return the indices ``(n,)`` of positions ``(n, places)``, negative for those without one, and the distances."""
    indices = table.space.unchecked.rank(labels)
    numbered = indices >= 0
    distances = np.full(len(indices), UNREACHABLE, dtype=np.int32)
    distances[numbered] = table.distances_by_index(indices[numbered])
    return indices, distances


def successors_view(table: Table, position: Labels) -> list[Successor]:
    """Return the successors, and how much closer or farther each one is."""
    after, names = _successors(table, position)
    distances = table.distances(np.concatenate((position[np.newaxis], after)))
    return [
        Successor(table.puzzle.format(one), name, distance, change)
        for one, name, (distance, change) in zip(after, names, _changes(distances), strict=True)
    ]


def _neighbours(
    table: Table,
    position: Labels,
    others: Labels,
    indices: NDArray[np.int64],
    distances: Distances,
    names: Sequence[str | None],
) -> list[Neighbour]:
    """Return the neighbours ``(n, places)``, drawn with the letters that identical pieces have in ``position``.

    ``distances`` ``(1 + n,)`` begins with the distance of the position itself. ``names`` are the names of the moves.
    """
    return [
        Neighbour(
            position=table.puzzle.format(other),
            index=_index(index),
            move=name,
            distance=distance,
            change=change,
            picture=drawn(table.puzzle.followed(position, other).picture(other)),
        )
        for other, index, name, (distance, change) in zip(
            others, indices.tolist(), names, _changes(distances), strict=True
        )
    ]


def _changes(distances: Distances) -> list[tuple[int | None, int | None]]:
    """Return the distance of each position after the first, and its difference from the first; None if unknown."""
    here, *others = distances.tolist()
    return [(None, None) if distance < 0 else (distance, distance - here if here >= 0 else None) for distance in others]


def _index(index: int) -> int | None:
    """Return the index of a position; None if the table has no entry for it."""
    return index if index >= 0 else None


def _successors(table: Table, position: Labels) -> tuple[Labels, list[str | None]]:
    """Return the successors ``(n, places)`` and the names of the moves, each pair of name and position once."""
    moves = table.puzzle.moves
    _, numbers, after = moves.steps(position[np.newaxis])
    once: dict[tuple[str | None, bytes], int] = {}
    for at, number in enumerate(numbers.tolist()):
        once.setdefault((moves.names[number] if moves.names else None, after[at].tobytes()), at)
    return after[list(once.values())], [name for name, _ in once]


def _predecessors(table: Table, position: Labels) -> Labels:
    """Return the predecessors ``(n, places)``, each once, if moves are irreversible; otherwise an empty array."""
    moves = table.puzzle.moves
    if moves.reversible or not moves.invertible:
        return position[np.newaxis][:0]
    return np.unique(moves.predecessors(position), axis=0)


def path_view(
    table: Table, position: Labels, paths_at: Callable[[int], CountedPaths | None], number: int | None = None
) -> Path:
    """Return a shortest path from a position to the start, its moves and pictures, and the number of shortest paths.

    If moves are irreversible, each position of the path is a *predecessor* of the one listed before it: the moves
    lead from the start to the position. ``paths_at`` returns all shortest paths, given the distance of the position. If
    there are not too many paths to count, ``number`` chooses one; the default is 1.

    Raises NumberError if there is no path with this number, and TooMuchError if predecessors cannot be computed and the
    table is too large to search.
    """
    found = distance_view(table, position)
    if found.distance is None:
        if number is not None:
            raise NumberError("no path to this position is known, so a path cannot be chosen by number")
        return Path(**values_of(found), path=None, moves=None, pictures=None, count="0", number=None)
    puzzle = table.puzzle
    if not puzzle.moves.invertible and len(table) > MAX_SCANNED:
        raise TooMuchError(
            f"the moves of {puzzle.name} have no inverses, so paths are only shown in tables of at most "
            f"{counted(MAX_SCANNED, 'position')}, and this one has {len(table):,}; use antipodes query --path"
        )
    # If there are too many paths to count, any one of them is shown, and none can be chosen by number.
    paths = _countable(paths_at(found.distance))
    path = table.path(position) if paths is None else paths.path(_existing(number, paths.count))
    if paths is None and number is not None:
        raise NumberError("there are too many shortest paths to count, so a path cannot be chosen by number")
    names = moves_back(puzzle, path)
    boards = list(puzzle.along(path))
    return Path(
        **values_of(found),
        path=[one.format(labels) for one, labels in boards],
        moves=[None] * (len(path) - 1) if names is None else names,
        pictures=[drawn(one.picture(labels)) for one, labels in boards],
        count=None if paths is None else str(paths.count),
        number=None if paths is None else str(number or 1),
    )


def _countable(paths: CountedPaths | None) -> CountedPaths | None:
    """Return the paths unless their number has too many digits.

    If there are none, the result is also None, and `Table.path` reports that the store is corrupt.
    """
    return paths if paths is not None and 0 < paths.count < 10**MAX_DIGITS else None


def _existing(number: int | None, count: int) -> int:
    """Return the number of a path, by default 1; raise NumberError if there are fewer paths."""
    if number is not None and not 1 <= number <= count:
        raise NumberError(f"expected the number of a shortest path, from 1 to {count:,}, found {number:,}")
    return number or 1


def positions_view(table: Table, depth: int, first: int, limit: int) -> Positions:
    """Return positions at a depth and their pictures, by ascending index, after skipping ``first`` positions."""
    positions = table.positions_at(depth, first + limit)[first:]
    texts = [table.puzzle.format(one) for one in positions]
    return Positions(depth, table.layers[depth], first, texts, pictures_of(table.puzzle, positions))


def random_view(table: Table, depth: int | None, seed: int | None) -> Distance:
    """Return a random position at a depth, or a random reached position."""
    return distance_view(table, table.random_position(depth, seed))
