"""``antipodes query``: the distances of positions, and shortest paths."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.loading import loading
from antipodes.cli.matches import show_matches
from antipodes.cli.options import AsJson, MoveSequence, Store, find_store
from antipodes.cli.output import print_json, terminal_columns
from antipodes.cli.streams import input_lines
from antipodes.errors import InputError

if TYPE_CHECKING:
    from antipodes.puzzles.puzzle import Puzzle
    from antipodes.tables.lookup import Found

Positions = Annotated[
    list[str] | None,
    typer.Argument(metavar="POSITION", help="Positions as in the config; - reads one per line from stdin."),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("query", context_settings={"ignore_unknown_options": True})(query)


def query(
    store: Store,
    positions: Positions = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            help="Show the nearest and farthest matches, instead of positions: "
            "A this piece, [AB] one of them, ? any, {ABC} these in any order.",
        ),
    ] = None,
    moves: MoveSequence = None,
    path: Annotated[bool, typer.Option("--path", help="Show a shortest path.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print distances from the start, or matches of a pattern."""
    with loading():
        from antipodes.tables.lookup import look_up
        from antipodes.tables.table import open_table

    _check_one(positions, moves, pattern)
    with open_table(find_store(store)) as table:
        if pattern is not None:
            show_matches(table, pattern, path, as_json)
            return
        if moves is None:
            texts = _texts(positions or [], table.puzzle)
        else:
            texts = iter([table.puzzle.format(table.puzzle.follow(moves)[-1])])
        looked_up = look_up(table, texts, path)
        if as_json:
            from antipodes.tables.views import found_view

            print_json([found_view(table.puzzle, found, path) for found in looked_up])
        else:
            for found in looked_up:
                _print(table.puzzle, found)


def _check_one(*given: list[str] | str | None) -> None:
    """Raise InputError unless exactly one of the three was given; no positions are none."""
    count = sum(1 for one in given if one is not None and one != [])
    if count != 1:
        found = "none of them" if count == 0 else "both" if count == 2 else "all three"
        raise InputError(f"expected positions, --moves or a --pattern, found {found}")


def _texts(positions: list[str], puzzle: "Puzzle") -> Iterator[str]:
    """The positions, those on stdin among them; symbols that came as separate arguments are one position."""
    if len(positions) > 1 and not any(map(puzzle.is_position, positions)):
        together = " ".join(positions)
        if puzzle.is_position(together) or all(len(text.split()) == 1 for text in positions):
            positions = [together]
    for text in positions:
        if text == "-":
            yield from (line for line in input_lines() if line.strip())
        else:
            yield text


def _print(puzzle: "Puzzle", found: "Found") -> None:
    from antipodes.tables.drawing import draw_path
    from antipodes.tables.path_moves import draw_moves, moves_back

    distance = "unreachable" if found.distance is None else str(found.distance)
    print(f"{puzzle.format(found.position)}: {distance}")
    if found.path is not None:
        print(draw_path(puzzle, found.path, terminal_columns()))
        print(draw_moves(moves_back(puzzle, found.path), not puzzle.moves.reversible), end="")
