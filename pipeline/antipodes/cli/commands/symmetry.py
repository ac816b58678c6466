"""``antipodes symmetry``: the symmetries of a puzzle or of a position."""

import os
from dataclasses import dataclass
from typing import Annotated

import typer

from antipodes.cli.command import PositionsCommand, command, commands, obeys
from antipodes.cli.drawing import print_positions
from antipodes.cli.running import preparing
from antipodes.cli.shared_options import PUZZLE_HELP, AsJson, MoveSequence
from antipodes.cli.streams import print_json, print_line
from antipodes.cli.usage import naming
from antipodes.puzzles.config import load_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.symmetry_names import cycle_notation, symmetry_name
from antipodes.stores import find_named, find_store
from antipodes.system.parameters import one_of
from antipodes.tables.drawing import is_drawn
from antipodes.tables.store.search_stores import search_store
from antipodes.tables.table import Table, open_table, symmetric_layers
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.quoting import counted, shorten
from antipodes_tasks.properties.finding import MAX_LISTED, Symmetries, symmetries_of
from antipodes_tasks.properties.symmetry import NO_MOVE, Symmetry

MAX_SYMMETRIES_PRINTED = 120
"""Maximum number of symmetries printed one by one; for a larger group, generators are printed."""
IMAGES_SHOWN = 12
HEADING = "symmetry"
"""Heading of the names of symmetries."""

app = commands()


@dataclass(frozen=True, slots=True)
class ListedSymmetry:
    """A symmetry, for JSON output: its name, the image of each place and, if moves have names, of each move."""

    name: str | None
    places: list[int]
    moves: list[str] | None


@dataclass(frozen=True, slots=True)
class SymmetryGroup:
    """The symmetries of a puzzle, for JSON output; None if there are too many to list."""

    puzzle: str
    order: int
    symmetries: list[ListedSymmetry] | None
    generators: list[ListedSymmetry]


@dataclass(frozen=True, slots=True)
class Stabiliser:
    """The symmetries that leave a position unchanged, and all images of the position, for JSON output."""

    puzzle: str
    position: str
    order: int
    symmetries: list[ListedSymmetry]
    images: list[str]


@dataclass(frozen=True, slots=True)
class SymmetryClass(ListedSymmetry):
    """A symmetry with the size of its conjugacy class, and the number of positions that it fixes at each depth."""

    count: int
    layers: list[int]


@dataclass(frozen=True, slots=True)
class SymmetryClasses:
    """The conjugacy classes of the symmetries of a puzzle, for JSON output."""

    puzzle: str
    radius: int
    classes: list[SymmetryClass]


@command(
    app,
    "symmetry",
    "antipodes symmetry 2x2x2",
    'antipodes symmetry eight-puzzle "8 6 7 / 2 5 4 / 3 0 1"',
    "antipodes symmetry 2x2x2 --depths",
    "antipodes symmetry pyraminx --moves \"R U' R' U\"",
    kind=PositionsCommand,
)
@obeys(one_of("position", "moves", "depths"), position="a position")
def symmetry(
    puzzle: Annotated[
        str,
        typer.Argument(metavar="PUZZLE", help=f"{PUZZLE_HELP} Or the path of a store."),
    ],
    position: Annotated[
        str | None, typer.Argument(metavar="POSITION", help="A position, written as in the config.")
    ] = None,
    moves: MoveSequence = None,
    depths: Annotated[
        bool,
        typer.Option(
            "--depths", help="Count, at each depth of the table, the positions that a symmetry leaves unchanged."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find the symmetries of a puzzle or of a position."""
    if depths:
        named = find_named(puzzle)
        with open_table(named.address, puzzle=named.puzzle) as table:
            _show_depths(table, as_json)
        return
    found = _puzzle(puzzle)
    group = symmetries_of(found.rules)
    if moves is not None:
        with naming("--moves"):
            reached = found.follow(moves)[-1]
        _show_position(found, group, reached, as_json)
    elif position is not None:
        _show_position(found, group, found.parse(position), as_json)
    else:
        _show_group(found, group, as_json)


def _puzzle(text: str) -> Puzzle:
    """Return the puzzle with a name, in a file, or of a store."""
    if os.path.isdir(text) or "://" in text:
        return search_store(find_store(text)).read().config.puzzle
    return load_config(text).puzzle


def _show_group(puzzle: Puzzle, group: Symmetries, as_json: bool) -> None:
    if as_json:
        listed = group.elements() if group.order <= MAX_LISTED else ()
        every, generators = ([_record(puzzle, one) for one in some] for some in (listed, group.generators))
        print_json(SymmetryGroup(puzzle.name, group.order, every or None, generators))
        return
    print_line(f"{counted(group.order, 'symmetry', 'symmetries')} of {puzzle.name}")
    if group.order > MAX_SYMMETRIES_PRINTED:
        print_line("products of:")
    _print_symmetries(puzzle, group.generators if group.order > MAX_SYMMETRIES_PRINTED else group.elements())


def _show_position(puzzle: Puzzle, group: Symmetries, position: Labels, as_json: bool) -> None:
    fixing, images = group.fixing(position), group.images(position)
    if as_json:
        every, texts = [_record(puzzle, one) for one in fixing], [puzzle.format(image) for image in images]
        print_json(Stabiliser(puzzle.name, puzzle.format(position), len(fixing), every, texts))
        return
    print_line(f"{len(fixing)} of {counted(group.order, 'symmetry', 'symmetries')} leave it unchanged")
    _print_symmetries(puzzle, fixing[:MAX_SYMMETRIES_PRINTED])
    print_line(f"{counted(len(images), 'equivalent position')}, including itself")
    if is_drawn(puzzle, position):
        print_positions(puzzle, images[:IMAGES_SHOWN])
    for image in images[:IMAGES_SHOWN]:
        print_line(puzzle.format(image))
    if len(images) > IMAGES_SHOWN:
        print_line(f"and {len(images) - IMAGES_SHOWN:,} more: --json")


def _show_depths(table: Table, as_json: bool) -> None:
    """Print how many positions a symmetry of each conjugacy class leaves unchanged, at each depth."""
    puzzle = table.puzzle
    symmetries, sizes = zip(*symmetries_of(puzzle.rules).classes(), strict=True)
    with preparing():
        classes = list(zip(symmetries, sizes, symmetric_layers(table, symmetries), strict=True))
    if as_json:
        records = [SymmetryClass(*_values(puzzle, one), size, layers) for one, size, layers in classes]
        print_json(SymmetryClasses(puzzle.name, table.radius, records))
        return
    print_line(
        "in each class: number of symmetries x example: positions at each depth that the example leaves unchanged"
    )
    for one, size, layers in classes:
        print_line(
            f"{size} x {symmetry_name(puzzle, one) or _effect(puzzle, one)}: {' '.join(f'{n:,}' for n in layers)}"
        )


def _record(puzzle: Puzzle, one: Symmetry) -> ListedSymmetry:
    return ListedSymmetry(*_values(puzzle, one))


def _values(puzzle: Puzzle, one: Symmetry) -> tuple[str | None, list[int], list[str] | None]:
    """Return the values of a `ListedSymmetry`."""
    names = puzzle.moves.names
    known = bool(names) and (one.moves != NO_MOVE).all()
    moves = [names[image] for image in one.moves.tolist()] if known else None
    return symmetry_name(puzzle, one), one.places.tolist(), moves


def _print_symmetries(puzzle: Puzzle, listed: tuple[Symmetry, ...]) -> None:
    names = [symmetry_name(puzzle, one) or "" for one in listed]
    width = max(map(len, names), default=0)
    if any(not one.is_identity for one in listed):
        width = max(width, len(HEADING)) if width else 0
        print_line(f"  {HEADING[:width]:<{width}}  effect, as cycles of places numbered from 0")
    for name, one in zip(names, listed, strict=True):
        print_line(f"  {name:<{width}}  {shorten(_effect(puzzle, one), 200)}".rstrip())


def _effect(puzzle: Puzzle, one: Symmetry) -> str:
    """Return the effect of a symmetry as text: on places, or else on labels."""
    if one.is_identity:
        return ""
    moved = cycle_notation(one.places)
    if moved:
        return f"places {moved}"
    part = puzzle.parts[0]
    label = [int(image) for image in one.labels[0, : len(part.symbols)]]
    renamed = " ".join(f"{part.symbols[old]}->{part.symbols[new]}" for old, new in enumerate(label) if old != new)
    return f"places stay, {renamed}" if renamed else "places stay, contents are renamed"
