"""``antipodes status``: the progress and the size of a store."""

from typing import TYPE_CHECKING

import typer

from antipodes.cli.command import add
from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, Store
from antipodes.cli.output import print_json
from antipodes.storage.address import in_shell
from antipodes.stores.named import find_store

if TYPE_CHECKING:
    from antipodes.storage.lock import Holder
    from antipodes.tables.store.stores import CountsStore, TableStore
    from antipodes.tilings.store import TilingStore


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "Tables", "status", status, "antipodes status eight-puzzle", "antipodes status outputs/6x10.zarr --json")


def status(store: Store, as_json: AsJson = False) -> None:
    """Show a store's progress and size."""
    with loading():
        from antipodes.stores.kinds import open_store
        from antipodes.tilings.store import TilingStore

    found = open_store(find_store(store))
    if isinstance(found, TilingStore):
        _show_tilings(found, as_json)
    else:
        _show_search(found, as_json)


def _show_search(store: "TableStore | CountsStore", as_json: bool) -> None:
    from antipodes.sizes import human
    from antipodes.tables.report import status_view

    manifest = store.read()
    shown = status_view(store, manifest)
    if as_json:
        print_json(shown)
        return
    committed = shown["committed_depth"]
    kept = ", counts only" if manifest.COUNTS_ONLY else ""
    holder = store.holder()
    print(f"{shown['puzzle']}: {_state(manifest.complete, holder)}{kept}")
    depths = f"depths 0 to {committed}" if committed else "depth 0"
    print(f"  committed    {'nothing yet' if committed is None else depths}")
    print(f"  positions    {manifest.states:,} of {manifest.index_size:,}")
    print(f"  stored       {human(shown['bytes'])} in {store.address}")
    _show_run(store.address, manifest.complete, holder)


def _show_tilings(store: "TilingStore", as_json: bool) -> None:
    from antipodes.sizes import human
    from antipodes.tilings.store import status_view

    manifest = store.read()
    shown = status_view(store, manifest)
    if as_json:
        print_json(shown)
        return
    holder = store.holder()
    print(f"{shown['board']}: {_state(manifest.complete, holder)}")
    print(f"  searched     {len(manifest.searched):,} of {manifest.partitions:,} partitions, method {manifest.method}")
    print(f"  tilings      {manifest.tilings:,} up to the symmetries of the board")
    print(f"  stored       {human(shown['bytes'])} in {store.address}")
    _show_run(store.address, manifest.complete, holder)


def _state(complete: bool, holder: "Holder | None") -> str:
    """The state of a store in a word or two."""
    if holder and holder.alive:
        return "in progress"
    return "finished" if complete else "unfinished"


def _show_run(address: str, complete: bool, holder: "Holder | None") -> None:
    """Print who is at work on a store, or how to resume an unfinished one."""
    if holder and holder.alive:
        print(f"  run          {holder}")
        return
    if holder:
        print(f"  lock         left from {holder}, which has ended or does not reach the storage")
    if not complete:
        print(f"  resume with  antipodes resume {in_shell(address)}")
