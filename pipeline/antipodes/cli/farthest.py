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
    limit: Annotated[int | None, typer.Option(min=1, help="Show at most N. [default: all; 12 drawn]")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the positions that are farthest from the start."""
    with loading():
        from antipodes.tables.drawing import draw_positions
        from antipodes.tables.table import open_table

    with open_table(find_store(store)) as table:
        positions = table.antipodes(limit if limit or as_json else SHOWN)
        texts = [table.puzzle.format(position) for position in positions]
        count = table.layers[-1]
    if as_json:
        print_json({"radius": table.radius, "count": count, "positions": texts})
        return
    print(f"{count:,} {'position' if count == 1 else 'positions'} at distance {table.radius}")
    print(draw_positions(table.puzzle, positions, terminal_columns()))
    for text in texts:
        print(text)
    if len(texts) < count:
        print(f"and {count - len(texts):,} more: --limit {count}")
