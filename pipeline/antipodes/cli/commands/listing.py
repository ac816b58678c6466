"""``antipodes list``: the stores in a directory."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from antipodes.cli.command import add
from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson
from antipodes.cli.output import print_json, printable
from antipodes.quoting import counted
from antipodes.runs.default_store import OUTPUTS

if TYPE_CHECKING:
    from antipodes.cli.stores import Listed

NOT_KNOWN = "-"


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "Tables", "list", show_list, "antipodes list", "antipodes list /data/tables", "antipodes list --json")


def show_list(
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIRECTORY", help=f"A directory of stores. [default: {OUTPUTS}/]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the tables and tilings in a directory."""
    with loading():
        from antipodes.cli.stores import list_stores

    folder = OUTPUTS if directory is None else directory
    nothing_yet = directory is None and not folder.exists()
    stores = [] if nothing_yet else list_stores(folder)
    if as_json:
        print_json([_view(one) for one in stores])
    elif not stores:
        print(f"no stores in {folder}/: antipodes run PUZZLE makes one")
    else:
        _print_table(stores)


def _view(listed: "Listed") -> dict[str, Any]:
    from antipodes.tables.store.search_manifest import SearchManifest

    manifest = listed.manifest
    shown: dict[str, Any] = {
        "name": listed.name,
        "path": str(listed.path),
        "kind": listed.kind,
        "complete": None if manifest is None else manifest.complete,
        "bytes": listed.bytes_stored,
        "committed": None if listed.committed is None else listed.committed.isoformat(timespec="seconds"),
        "problem": listed.problem,
    }
    if manifest is None:
        return shown
    if isinstance(manifest, SearchManifest):
        radius = manifest.radius if manifest.layers else None
        return {**shown, "puzzle": manifest.puzzle["name"], "states": manifest.states, "radius": radius}
    return {**shown, "board": manifest.board["name"], "tilings": manifest.tilings}


def _print_table(stores: "list[Listed]") -> None:
    """Print a line for each store, in columns, and after them a line for each directory that is no readable store."""
    from antipodes.sizes import human

    rows = [("name", "kind", "state", "holds", "radius", "size", "last commit")]
    for one in stores:
        shown = _view(one)
        if one.manifest is not None:
            holds = counted(shown["tilings"], "tiling") if "tilings" in shown else counted(shown["states"], "position")
            radius = shown.get("radius")
            rows.append(
                (
                    *(printable(one.name), shown["kind"], "finished" if shown["complete"] else "unfinished", holds),
                    NOT_KNOWN if radius is None else f"{radius:,}" if shown["complete"] else f"{radius:,} so far",
                    human(one.bytes_stored),
                    NOT_KNOWN if one.committed is None else f"{one.committed:%Y-%m-%d %H:%M}",
                )
            )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows if len(rows) > 1 else ():
        print("  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip())
    for one in stores:
        if one.problem is not None:
            print(f"{printable(one.name)}: {printable(one.problem)}")
