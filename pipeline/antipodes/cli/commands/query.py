"""``antipodes query``: the distances of positions, and shortest paths."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.loading import loading
from antipodes.cli.matches import show_matches
from antipodes.cli.options import AsJson, Store, find_store
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
    path: Annotated[bool, typer.Option("--path", help="Show a shortest path.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print distances from the start, or matches of a pattern."""
    with loading():
        from antipodes.tables.lookup import look_up
        from antipodes.tables.table import open_table

    if (pattern is None) == (not positions):
        raise InputError(f"expected positions or a --pattern, found {'neither' if pattern is None else 'both'}")
    with open_table(find_store(store)) as table:
        if pattern is not None:
            show_matches(table, pattern, path, as_json)
            return
        looked_up = look_up(table, _texts(positions or [], table.puzzle), path)
        if as_json:
            from antipodes.tables.views import found_view

            print_json([found_view(table.puzzle, found, path) for found in looked_up])
        else:
            for found in looked_up:
                _print(table.puzzle, found)


def _texts(positions: list[str], puzzle: "Puzzle") -> Iterator[str]:
    """The positions, those on stdin among them; symbols that came as separate arguments are one position."""
    from antipodes.puzzles.notation import SEPARATORS

    def too_short(text: str) -> bool:
        return len(SEPARATORS.split(text)) == 1 and (text in puzzle.symbols or len(text) < puzzle.places)

    if len(positions) > 1 and puzzle.places > 1 and all(too_short(text) for text in positions):
        positions = [" ".join(positions)]
    for text in positions:
        if text == "-":
            yield from (line for line in input_lines() if line.strip())
        else:
            yield text


def _print(puzzle: "Puzzle", found: "Found") -> None:
    from antipodes.tables.drawing import draw_path

    distance = "unreachable" if found.distance is None else str(found.distance)
    print(f"{puzzle.format(found.position)}: {distance}")
    if found.path is not None:
        print(draw_path(puzzle, found.path, terminal_columns()))
