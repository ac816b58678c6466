"""``antipodes farthest``: the antipodes."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from antipodes.cli.command import add
from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, Given, Store
from antipodes.cli.output import print_json
from antipodes.cli.pictures import PictureFiles, Png, Size, Svg
from antipodes.stores.named import find_store
from antipodes_tasks.quoting import counted

if TYPE_CHECKING:
    from antipodes.tables.counts import Counts
    from antipodes.tables.table import Table
    from antipodes_tasks.rules.moves import Labels

SHOWN = 12
"""Boards drawn unless a limit is given."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "Queries",
        "farthest",
        farthest,
        "antipodes farthest eight-puzzle",
        "antipodes farthest eight-puzzle --limit 1 --json",
    )


def farthest(
    store: Store,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help=f"Show at most N positions. [default: {SHOWN}; with --json all]"),
    ] = None,
    svg: Svg = None,
    png: Png = None,
    size: Size = None,
    as_json: AsJson = False,
    puzzle: Given = None,
) -> None:
    """Show the positions that are farthest from the start or goal."""
    with loading():
        from antipodes.tables.counts import open_counts
        from antipodes.tables.report import farthest_view
        from antipodes.tables.store.stores import CountsStore, search_store
        from antipodes.tables.table import open_table

    pictures = PictureFiles.of(svg, png, size=size)
    address = find_store(store, puzzle)
    counts_only = isinstance(search_store(address), CountsStore)
    with open_counts(address) if counts_only else open_table(address) as found:
        positions = found.antipodes(limit if limit or as_json else SHOWN)
    shown = farthest_view(found.puzzle, found.layers, positions)
    if as_json:
        print_json(shown)
    else:
        _print(found, shown, positions, counts_only)
    pictures.draw([(found.puzzle, position) for position in positions])


def _print(found: "Table | Counts", shown: dict[str, Any], positions: "Labels", counts_only: bool) -> None:
    from antipodes.cli.colour import print_positions
    from antipodes.tables.drawing import is_drawn
    from antipodes.tables.store.manifest import MOST_ANTIPODES

    count = shown["count"]
    print(f"{counted(count, 'position')} at distance {found.radius}")
    if any(is_drawn(found.puzzle, position) for position in positions[:1]):
        print_positions(found.puzzle, positions)
    for text in shown["positions"]:
        print(text)
    if len(positions) < count:
        kept = min(count, MOST_ANTIPODES) if counts_only else count
        listed = f": --limit {kept}" if len(positions) < kept else ""
        print(f"and {count - len(positions):,} more{listed}")
        if kept < count:
            print(f"(a counts-only run keeps the first {kept:,})")
