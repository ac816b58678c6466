"""``antipodes list``: the stores in a directory or a bucket."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from antipodes.cli.command import add
from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson
from antipodes.cli.output import print_json, printable
from antipodes.runs.default_store import OUTPUTS
from antipodes.storage.address import address_from
from antipodes_tasks.quoting import counted

if TYPE_CHECKING:
    from antipodes.stores.kinds import Listed

NOT_KNOWN = "-"


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "Tables", "list", show_list, "antipodes list", "antipodes list /data/tables", "antipodes list s3://bucket")


def show_list(
    directory: Annotated[
        str | None,
        typer.Argument(
            metavar="DIRECTORY", help=f"A directory of stores, or a URL that they are under. [default: {OUTPUTS}/]"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the tables and tilings in a directory or a bucket."""
    with loading():
        from antipodes.stores.kinds import list_stores

    nothing_yet = directory is None and not OUTPUTS.exists()
    folder = OUTPUTS if directory is None else address_from(directory)
    stores = [] if nothing_yet else list_stores(folder)
    if as_json:
        print_json([_view(one) for one in stores])
    elif not stores:
        print(f"no stores in {str(folder).rstrip('/')}/: antipodes run PUZZLE makes one")
    else:
        _print_table(stores)


def _view(listed: "Listed") -> dict[str, Any]:
    from antipodes.tables.store.manifest import SearchManifest

    manifest = listed.manifest
    shown: dict[str, Any] = {
        "name": listed.name,
        "path": listed.address,
        "kind": listed.kind,
        "complete": None if manifest is None else manifest.complete,
        "bytes": listed.bytes_stored,
        "committed": None if listed.committed is None else listed.committed.isoformat(timespec="seconds"),
        "run": listed.run and listed.run.to_json(),
        "problem": listed.problem,
    }
    if manifest is None:
        return shown
    if isinstance(manifest, SearchManifest):
        radius = manifest.radius if manifest.layers else None
        return {**shown, "puzzle": manifest.puzzle["name"], "states": manifest.states, "radius": radius}
    return {
        **shown,
        "board": manifest.board["name"],
        "tilings": manifest.tilings,
        "partitions": manifest.partitions,
        "searched_partitions": len(manifest.searched),
    }


def _print_table(stores: "list[Listed]") -> None:
    """Print a line for each store, in columns, and after them lines on runs, and on what is no readable store."""
    from antipodes.sizes import human

    rows = [("name", "kind", "state", "holds", "radius", "size", "last commit")]
    for one in stores:
        shown = _view(one)
        if one.manifest is not None:
            holds = counted(shown["tilings"], "tiling") if "tilings" in shown else counted(shown["states"], "position")
            radius = shown.get("radius")
            rows.append(
                (
                    *(printable(one.name), shown["kind"], _state(one), holds),
                    NOT_KNOWN if radius is None else f"{radius:,}" if shown["complete"] else f"{radius:,} so far",
                    human(one.bytes_stored),
                    NOT_KNOWN if one.committed is None else f"{one.committed:%Y-%m-%d %H:%M}",
                )
            )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows if len(rows) > 1 else ():
        print("  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip())
    for one in stores:
        if one.run is not None:
            print(f"{printable(one.name)}: {printable(_run(one))}")
        if one.problem is not None:
            print(f"{printable(one.name)}: {printable(one.problem)}")


def _state(listed: "Listed") -> str:
    """The state of a store in a word or two."""
    if listed.in_progress:
        return "in progress"
    return "finished" if listed.manifest is not None and listed.manifest.complete else "unfinished"


def _run(listed: "Listed") -> str:
    """The run that holds the lock of a store, and how far it is."""
    from antipodes.tables.report import saved_depths
    from antipodes.tables.store.manifest import SearchManifest

    manifest = listed.manifest
    if not listed.in_progress:
        return f"the lock is left from {listed.run}, which has ended or does not reach the storage"
    if manifest is None:
        return f"{listed.run} is at work"
    saved = saved_depths(manifest) if isinstance(manifest, SearchManifest) else manifest.saved
    return f"{listed.run} is at work; {saved or 'no depths are'} committed"
