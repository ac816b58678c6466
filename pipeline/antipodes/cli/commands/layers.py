"""``antipodes layers``: the number of positions at each depth."""

from pathlib import Path
from typing import Annotated

import typer

from antipodes.cli.command import add
from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, Store
from antipodes.cli.output import print_json, say
from antipodes.storage.address import in_shell
from antipodes.stores.named import find_store


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "Queries",
        "layers",
        layers,
        "antipodes layers eight-puzzle",
        "antipodes layers eight-puzzle --plot layers.svg",
        "antipodes layers eight-puzzle --csv > layers.csv",
    )


def layers(
    store: Store,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot the counts into a file (svg, png or pdf).")
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    as_json: AsJson = False,
) -> None:
    """Count the positions at each depth."""
    with loading():
        from antipodes.tables.drawing import draw_layers
        from antipodes.tables.report import layers_view
        from antipodes.tables.store.stores import search_store

    if plot:
        from antipodes.tables.drawing import check_plot, plot_layers

        check_plot(plot)
    path = find_store(store)
    manifest = search_store(path).read()
    if plot:
        plot_layers(manifest.layers, manifest.puzzle["name"], plot, complete=manifest.complete)
        say(f"drawn into {plot}")
    if as_json:
        print_json(layers_view(manifest))
    elif csv:
        print("depth,positions")
        for depth, count in enumerate(manifest.layers):
            print(f"{depth},{count}")
    elif not plot:
        print(draw_layers(manifest.layers) if manifest.layers else "nothing is committed yet")
        if not manifest.complete:
            say(f"unfinished; resume with: antipodes resume {in_shell(path)}")
