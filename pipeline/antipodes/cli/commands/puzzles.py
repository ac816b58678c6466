"""``antipodes puzzles``, ``boards``, ``check``, ``rank`` and ``unrank``: bundled files, and indices of positions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap
from typing import Annotated, Any

import numpy as np
import typer

from antipodes.cli.command import PositionsCommand, command, commands
from antipodes.cli.drawing import print_positions
from antipodes.cli.loading import importing_libraries
from antipodes.cli.shared_options import PUZZLE_HELP, AsJson, PuzzleArgument
from antipodes.cli.streams import FAILED, print_json, print_line, terminal_columns
from antipodes.puzzles.config import BundledPuzzle, bundled_puzzles, load_config
from antipodes.puzzles.notation import SEPARATORS
from antipodes.tables.drawing import is_drawn
from antipodes_tasks.base.arguments import MAX_INT64
from antipodes_tasks.base.errors import InputError, PositionError
from antipodes_tasks.base.quoting import counted, quote, shorten
from antipodes_tasks.permutations import ranks
from antipodes_tasks.spaces.selection import numbering_of, size_in_words
from antipodes_tasks.spaces.space import NOT_NUMBERED

NARROWEST = 24
"""Minimum width of the column of descriptions, in characters; below it, descriptions go under the names."""
DEFAULT_ALGORITHM = "counting"

OptionalPuzzle = Annotated[str | None, typer.Argument(metavar="PUZZLE", help=PUZZLE_HELP)]
Algorithm = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help=f"With --permutation: counting, shrinking or linear. [default: {DEFAULT_ALGORITHM}]"
    ),
]

app = commands()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A position and its index, or None if it has no index, for JSON output."""

    position: str
    index: int | None


@dataclass(frozen=True, slots=True)
class RankedPermutation:
    """A permutation, its factorial digits and its index, for JSON output."""

    permutation: list[int]
    factorial_digits: list[int]
    algorithm: str
    index: int


@command(app, "puzzles", "antipodes puzzles", "antipodes puzzles --json")
def puzzles(as_json: AsJson = False) -> None:
    """List the bundled puzzles."""
    rows = bundled_puzzles()
    if as_json:
        print_json(rows)
        return
    for line in _lines(rows, terminal_columns()):
        print_line(line)


def _lines(rows: Sequence[BundledPuzzle], columns: int) -> Iterator[str]:
    """Yield the lines of all families: the name of the family, then its puzzles."""
    for family, members in groupby(sorted(rows, key=lambda row: (row.family, row.name)), lambda row: row.family):
        yield family
        yield from _members(list(members), columns)


def _members(rows: Sequence[BundledPuzzle], columns: int) -> Iterator[str]:
    """Yield the lines of a family: names, numbers of positions, and descriptions in a column of their own."""
    sizes = ["?" if row.index_size is None else size_in_words(row.index_size) for row in rows]
    name, widest = max(len(row.name) for row in rows), max(map(len, sizes))
    indent = name + widest + 6
    side_by_side = columns - indent >= NARROWEST
    for row, size in zip(rows, sizes, strict=True):
        description = re.sub(f": {size} [a-z]+$", "", row.description)  # the size has its own column
        if side_by_side:
            first, *lines = wrap(description, columns - indent) or [""]
            yield f"  {row.name:<{name}}  {size:>{widest}}  {first}".rstrip()
        else:
            lines = wrap(f"{size}  {description}", max(columns, NARROWEST) - 4)
            yield f"  {row.name}"
        yield from (f"{'':{indent if side_by_side else 4}}{line}" for line in lines)


@command(app, "boards", "antipodes boards", "antipodes boards --json")
def boards(as_json: AsJson = False) -> None:
    """List the bundled boards."""
    with importing_libraries():  # the libraries of tilings, which the other commands do not need
        from antipodes.tilings.board_config import bundled_board, bundled_boards, load_board

    problems = [load_board(name).problem for name in bundled_boards()]
    if as_json:
        print_json([bundled_board(one) for one in problems])
        return
    width = max(len(one.name) for one in problems)
    for one in problems:
        print_line(f"{one.name:<{width}}  {one.board.size:>3} cells, {counted(one.copies, 'piece')}  {one.description}")


@command(app, "check", "antipodes check my-puzzle.toml", "antipodes check puzzles.py:jugs")
def check(
    puzzle: PuzzleArgument,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the positions that are tried.")] = 0,
    as_json: AsJson = False,
) -> int:
    """Check a puzzle: its moves, their inverses, its notation, and a small search against brute force."""
    with importing_libraries():  # the libraries of searches, which the other commands do not need
        from antipodes.checking import check_puzzle

    config = load_config(puzzle)
    report = check_puzzle(config.puzzle, seed)
    if as_json:
        print_json(report.to_json())
        return 0 if report.ok else FAILED
    for problem in report.problems:
        print_line(problem)
    for note in report.notes:
        print_line(f"note: {note}")
    if report.ok:
        print_line(f"{config.puzzle.name} is ok: {'; '.join(report.checked)}")
        return 0
    print_line(f"{config.puzzle.name}: {counted(len(report.problems), 'problem')}")
    return FAILED


@command(
    app,
    "rank",
    'antipodes rank eight-puzzle "8 6 7 / 2 5 4 / 3 0 1"',
    'antipodes rank --permutation "3 1 2 0"',
    kind=PositionsCommand,
)
def rank(
    puzzle: OptionalPuzzle = None,
    position: Annotated[
        str | None, typer.Argument(metavar="POSITION", help="A position, written as in the config.")
    ] = None,
    permutation: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Rank a permutation of 0 to k - 1, such as '3 1 2 0', instead of a position."
        ),
    ] = None,
    algorithm: Algorithm = None,
    as_json: AsJson = False,
) -> None:
    """Print the index of a position or of a permutation."""
    if permutation is not None:
        _refuse({"PUZZLE": puzzle, "POSITION": position}, "with --permutation")
        _show_permutation(_elements(permutation), _chosen(algorithm), as_json)
        return
    _refuse({"--algorithm": algorithm}, "without --permutation")
    if puzzle is None or position is None:
        raise InputError("give a PUZZLE and a POSITION, or a --permutation")
    found = load_config(puzzle).puzzle
    labels = found.parse(position)
    index = numbering_of(found.rules).rank_one(labels.tolist())
    numbered = index != NOT_NUMBERED
    if as_json:
        print_json(Ranked(found.format(labels), index if numbered else None))
    elif numbered:
        print_line(index)
    else:
        raise PositionError(f"position {quote(shorten(found.format(labels)))} is unreachable, so it has no index")


@command(
    app,
    "unrank",
    "antipodes unrank eight-puzzle 4711",
    "antipodes unrank --permutation 21 --elements 4",
    kind=PositionsCommand,
)
def unrank(
    puzzle: OptionalPuzzle = None,
    index: Annotated[int | None, typer.Argument(metavar="INDEX", help="An index, from 0.")] = None,
    permutation: Annotated[
        int | None, typer.Option(metavar="N", help="Print the permutation with index N instead of a position.")
    ] = None,
    elements: Annotated[
        int | None, typer.Option(metavar="K", help="With --permutation: its number of elements, 1 to 20.")
    ] = None,
    algorithm: Algorithm = None,
    as_json: AsJson = False,
) -> None:
    """Print the position or permutation with a given index."""
    if permutation is not None:
        _refuse({"PUZZLE": puzzle, "INDEX": index}, "with --permutation")
        if elements is None:
            raise InputError("--permutation needs --elements, the number of elements")
        chosen = _chosen(algorithm)
        _show_permutation(_permutation(permutation, elements, chosen), chosen, as_json)
        return
    _refuse({"--algorithm": algorithm, "--elements": elements}, "without --permutation")
    if puzzle is None or index is None:
        raise InputError("give a PUZZLE and an INDEX, or a --permutation")
    _show_position(puzzle, index, as_json)


def _show_position(puzzle: str, index: int, as_json: bool) -> None:
    found = load_config(puzzle).puzzle
    numbering = numbering_of(found.rules)
    if not 0 <= index < numbering.size:
        raise InputError(f"expected an index from 0 to {numbering.size - 1}, found {quote(index)}")
    labels = numbering.unrank(np.array([index]))[0]
    if as_json:
        print_json(Ranked(found.format(labels), index))
    else:
        print_line(found.format(labels))
        if is_drawn(found, labels):
            print_positions(found, labels[None])


def _chosen(algorithm: str | None) -> str:
    return DEFAULT_ALGORITHM if algorithm is None else algorithm


def _refuse(arguments: dict[str, Any], when: str) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise InputError(f"{name} cannot be given {when}: {quote(value)}")


def _elements(text: str) -> list[int]:
    """Return the elements of a permutation; if all are single digits, they need no separators."""
    apart = [token for token in SEPARATORS.split(text) if token]
    tokens = list(apart[0]) if len(apart) == 1 else apart
    try:
        elements = [int(token) for token in tokens]
    except ValueError:
        elements = [MAX_INT64 + 1]
    if max(map(abs, elements), default=0) > MAX_INT64:
        raise InputError(f"--permutation: expected integers from 0, found {quote(text)}")
    return elements


def _permutation(number: int, elements: int, algorithm: Any) -> list[int]:
    if abs(number) > MAX_INT64:
        raise InputError(f"--permutation: expected a number from 0 to {elements}! - 1, found {quote(number)}")
    found: list[int] = ranks.unrank([number], elements, algorithm)[0].tolist()
    return found


def _show_permutation(elements: list[int], algorithm: Any, as_json: bool) -> None:
    """Print a permutation, its factorial digits and its index."""
    digits = ranks.factorial_digits([elements])[0].tolist()
    number = int(ranks.rank([elements], algorithm)[0])
    if as_json:
        print_json(RankedPermutation(elements, digits, algorithm, number))
        return
    print_line(f"permutation  {' '.join(map(str, elements))}")
    print_line(f"digits       {' '.join(map(str, digits)) or 'none'}")
    print_line(f"number       {number}")
