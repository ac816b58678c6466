"""``antipodes rank`` and ``antipodes unrank``: positions and permutations as numbers, and back."""

from typing import Annotated, Any

import typer

from antipodes.cli.command import PositionsCommand, add
from antipodes.cli.loading import loading
from antipodes.cli.options import PUZZLE_HELP, AsJson
from antipodes.cli.output import print_json
from antipodes_tasks.errors import InputError, PositionError
from antipodes_tasks.quoting import quote, shorten

DEFAULT_ALGORITHM = "counting"

Puzzle = Annotated[str | None, typer.Argument(metavar="PUZZLE", help=PUZZLE_HELP)]
Algorithm = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help=f"With --permutation: counting, shrinking or linear. [default: {DEFAULT_ALGORITHM}]"
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add(
        app,
        "Puzzles",
        "rank",
        rank,
        'antipodes rank eight-puzzle "8 6 7 / 2 5 4 / 3 0 1"',
        'antipodes rank --permutation "3 1 2 0"',
        kind=PositionsCommand,
    )
    add(
        app,
        "Puzzles",
        "unrank",
        unrank,
        "antipodes unrank eight-puzzle 4711",
        "antipodes unrank --permutation 21 --elements 4",
        kind=PositionsCommand,
    )


def rank(
    puzzle: Puzzle = None,
    position: Annotated[str | None, typer.Argument(metavar="POSITION", help="A position as in the config.")] = None,
    permutation: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Instead of a position: 0 to k - 1 in any order, such as '3 1 2 0'."),
    ] = None,
    algorithm: Algorithm = None,
    as_json: AsJson = False,
) -> None:
    """Print the index of a position, or the number of a permutation."""
    if permutation is not None:
        _refuse({"PUZZLE": puzzle, "POSITION": position}, "with --permutation")
        _show_permutation(_elements(permutation), _chosen(algorithm), as_json)
        return
    _refuse({"--algorithm": algorithm}, "without --permutation")
    if puzzle is None or position is None:
        raise InputError("expected a PUZZLE and a POSITION, or a --permutation")
    with loading():
        from antipodes.config import load_config
        from antipodes_tasks.spaces.selection import numbering_space
        from antipodes_tasks.spaces.space import NOT_NUMBERED

    found = load_config(puzzle).puzzle
    labels = found.parse(position)
    index = int(numbering_space(found.rules).rank(labels[None])[0])
    numbered = index != NOT_NUMBERED
    if as_json:
        print_json({"position": found.format(labels), "index": index if numbered else None})
    elif numbered:
        print(index)
    else:
        raise PositionError(f"position {quote(shorten(found.format(labels)))} is unreachable, so it has no index")


def unrank(
    puzzle: Puzzle = None,
    index: Annotated[int | None, typer.Argument(metavar="INDEX", help="An index, from 0.")] = None,
    permutation: Annotated[
        int | None, typer.Option(metavar="N", help="Instead of an index: the number of a permutation.")
    ] = None,
    elements: Annotated[
        int | None, typer.Option(metavar="K", help="Number of elements of the permutation, 1 to 20.")
    ] = None,
    algorithm: Algorithm = None,
    as_json: AsJson = False,
) -> None:
    """Print the position, or the permutation, with a number."""
    if permutation is not None:
        _refuse({"PUZZLE": puzzle, "INDEX": index}, "with --permutation")
        if elements is None:
            raise InputError("expected --elements with --permutation, found none")
        chosen = _chosen(algorithm)
        _show_permutation(_permutation(permutation, elements, chosen), chosen, as_json)
        return
    _refuse({"--algorithm": algorithm, "--elements": elements}, "without --permutation")
    if puzzle is None or index is None:
        raise InputError("expected a PUZZLE and an INDEX, or a --permutation")
    _show_position(puzzle, index, as_json)


def _show_position(puzzle: str, index: int, as_json: bool) -> None:
    with loading():
        import numpy as np

        from antipodes.cli.colour import print_positions
        from antipodes.config import load_config
        from antipodes.tables.drawing import is_drawn
        from antipodes_tasks import arguments
        from antipodes_tasks.spaces.selection import numbering_space

    found = load_config(puzzle).puzzle
    if not -1 <= index <= arguments.GREATEST:
        raise InputError(f"expected an index from 0 to {numbering_space(found.rules).size - 1}, found {quote(index)}")
    labels = numbering_space(found.rules).unrank(np.array([index]))[0]
    if as_json:
        print_json({"position": found.format(labels), "index": index})
    else:
        print(found.format(labels))
        if is_drawn(found, labels):
            print_positions(found, labels[None])


def _chosen(algorithm: str | None) -> str:
    return DEFAULT_ALGORITHM if algorithm is None else algorithm


def _refuse(arguments: dict[str, Any], when: str) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise InputError(f"{name}: expected none {when}, found {quote(value)}")


def _elements(text: str) -> list[int]:
    """The elements of a permutation, written apart or, where all are digits, close together."""
    with loading():
        from antipodes.puzzles.notation import SEPARATORS
        from antipodes_tasks.arguments import GREATEST

    apart = [token for token in SEPARATORS.split(text) if token]
    tokens = list(apart[0]) if len(apart) == 1 else apart
    try:
        elements = [int(token) for token in tokens]
    except ValueError:
        elements = [GREATEST + 1]
    if max(map(abs, elements), default=0) > GREATEST:
        raise InputError(f"--permutation: expected integers from 0, found {quote(text)}")
    return elements


def _permutation(number: int, elements: int, algorithm: Any) -> list[int]:
    with loading():
        from antipodes_tasks.arguments import GREATEST
        from antipodes_tasks.permutations.ranks import unrank

    if abs(number) > GREATEST:
        raise InputError(f"--permutation: expected a number from 0 to {elements}! - 1, found {quote(number)}")
    found: list[int] = unrank([number], elements, algorithm)[0].tolist()
    return found


def _show_permutation(elements: list[int], algorithm: Any, as_json: bool) -> None:
    """Print a permutation, its factorial digits and its number."""
    with loading():
        from antipodes_tasks.permutations.ranks import factorial_digits, rank

    digits = factorial_digits([elements])[0].tolist()
    number = int(rank([elements], algorithm)[0])
    if as_json:
        print_json({"permutation": elements, "factorial_digits": digits, "algorithm": algorithm, "index": number})
        return
    print(f"permutation  {' '.join(map(str, elements))}")
    print(f"digits       {' '.join(map(str, digits)) or 'none'}")
    print(f"number       {number}")
