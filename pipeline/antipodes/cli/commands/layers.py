"""``antipodes layers`` and ``antipodes farthest``: the number of positions at each depth, and the antipodes."""

from pathlib import Path
from typing import Annotated

import typer

from antipodes.cli.command import command, commands
from antipodes.cli.drawing import PictureFiles, Png, Size, Svg, print_positions
from antipodes.cli.running import preparing
from antipodes.cli.shared_options import AsJson, PuzzleOfStore, Store
from antipodes.cli.streams import print_json, print_line, print_message
from antipodes.cli.tabular import AsCsv, print_table, prints_table
from antipodes.stores import find_named, find_store, open_search
from antipodes.system.addresses import in_shell
from antipodes.tables.counts import Counts
from antipodes.tables.drawing import check_plot, is_drawn, plot_layers
from antipodes.tables.json_results import (
    Farthest,
    UniqueFarthest,
    farthest_record,
    layer_counts,
    unique_farthest_record,
)
from antipodes.tables.store.manifest import MAX_ANTIPODES
from antipodes.tables.store.search_stores import search_store
from antipodes.tables.table import Table, unique_farthest
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.quoting import counted

DEFAULT_LIMIT = 12
"""Number of boards drawn by default."""

app = commands()


@command(
    app,
    "layers",
    "antipodes layers eight-puzzle",
    "antipodes layers eight-puzzle --plot layers.svg",
    "antipodes layers eight-puzzle --csv > layers.csv",
    "antipodes layers 2x2x2 --unique",
)
@prints_table
def layers(
    store: Store,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot the counts to FILE (.svg, .png or .pdf).")
    ] = None,
    as_csv: AsCsv = False,
    unique: Annotated[bool, typer.Option("--unique", help="Also count positions up to symmetry.")] = False,
    as_json: AsJson = False,
) -> None:
    """Count the positions at each depth."""
    if plot:
        check_plot(plot)
    path = find_store(store)
    opened = search_store(path)
    manifest, classes = opened.read(), None
    if unique:
        with open_search(opened) as found, preparing():
            classes = found.unique_layers()
    if plot:
        plot_layers(manifest.positions, manifest.puzzle["name"], plot, complete=manifest.complete)
        print_message(f"plot written to {plot}")
    if as_csv or as_json or not plot:
        print_table(layer_counts(manifest, classes), as_csv, as_json)
    if not (as_csv or as_json or plot or manifest.complete):
        print_message(f"unfinished; resume with: antipodes resume {in_shell(path)}")


@command(
    app,
    "farthest",
    "antipodes farthest eight-puzzle",
    "antipodes farthest eight-puzzle --limit 1 --json",
    "antipodes farthest 2x2x2 --unique",
)
def farthest(
    store: Store,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help=f"Show at most N positions. [default: {DEFAULT_LIMIT}; with --json all]"),
    ] = None,
    unique: Annotated[bool, typer.Option("--unique", help="Show one position per symmetry class.")] = False,
    svg: Svg = None,
    png: Png = None,
    size: Size = None,
    as_json: AsJson = False,
    puzzle: PuzzleOfStore = None,
) -> None:
    """Show the positions that are farthest from the start or goal."""
    pictures = PictureFiles.of(size, svg=svg, png=png)
    named = find_named(store, puzzle)
    most = limit if limit or as_json else DEFAULT_LIMIT
    with open_search(search_store(named.address), named.puzzle) as found:
        if unique:
            shown: Farthest
            positions, shown = _unique_farthest(found, most)
        else:
            positions = found.antipodes(most)
            shown = farthest_record(found.puzzle, found.layers, positions)
    if as_json:
        print_json(shown)
    else:
        _print(found, shown, positions)
    pictures.draw([(found.puzzle, position) for position in positions])


def _unique_farthest(found: Table | Counts, max_listed: int | None) -> tuple[Labels, UniqueFarthest]:
    """Return one antipode of each symmetry class, at most ``max_listed``, and the values to print."""
    with preparing():
        positions = found.unique_antipodes(max_listed)
        classes = unique_farthest(found) if isinstance(found, Table) else len(found.unique_antipodes())
        return positions, unique_farthest_record(found, positions, classes)


def _print(found: Table | Counts, shown: Farthest, positions: Labels) -> None:
    count, symmetries = shown.count, shown.symmetries if isinstance(shown, UniqueFarthest) else None
    print_line(f"{counted(count, 'position')} at distance {found.radius}")
    if any(is_drawn(found.puzzle, position) for position in positions[:1]):
        print_positions(found.puzzle, positions)
    for number, text in enumerate(shown.positions):
        print_line(text if symmetries is None else f"{text}  ({counted(symmetries[number], 'symmetry', 'symmetries')})")
    if isinstance(shown, UniqueFarthest):
        print_line(f"{counted(shown.unique, 'class', 'classes')}, {len(positions):,} shown")
    elif len(positions) < count:
        kept = min(count, MAX_ANTIPODES) if isinstance(found, Counts) else count
        listed = f": --limit {kept}" if len(positions) < kept else ""
        print_line(f"and {count - len(positions):,} more{listed}")
        if kept < count:
            print_line(f"(a counts-only run keeps the first {kept:,})")
