"""``antipodes farthest``: the antipodes."""

from typing import Annotated

import typer

from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, Store, find_store
from antipodes.cli.output import print_json, terminal_columns

SHOWN = 12
"""Boards drawn unless a limit is given."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("farthest")(farthest)


def farthest(
    store: Store,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help=f"Show at most N positions. [default: {SHOWN}; with --json all]"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the positions that are farthest from the start."""
    with loading():
        from antipodes.tables.drawing import draw_positions, is_drawn
        from antipodes.tables.table import open_table
        from antipodes.tables.views import farthest_view

    with open_table(find_store(store)) as table:
        positions = table.antipodes(limit if limit or as_json else SHOWN)
    shown = farthest_view(table, positions)
    if as_json:
        print_json(shown)
        return
    count = shown["count"]
    print(f"{count:,} {'position' if count == 1 else 'positions'} at distance {table.radius}")
    if any(is_drawn(table.puzzle, position) for position in positions[:1]):
        print(draw_positions(table.puzzle, positions, terminal_columns()))
    for text in shown["positions"]:
        print(text)
    if len(positions) < count:
        print(f"and {count - len(positions):,} more: --limit {count}")
