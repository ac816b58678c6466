"""``antipodes status``: what is in a store."""

import typer

from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, Store, find_store
from antipodes.cli.output import print_json
from antipodes.storage.address import Address, in_shell


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status")(status)


def status(store: Store, as_json: AsJson = False) -> None:
    """Show a store's progress and size."""
    with loading():
        from antipodes.storage.manifest import format_of
        from antipodes.tilings.store import TilingStore

    address = find_store(store)
    if format_of(address) == TilingStore.KIND.format:
        _tilings_status(address, as_json)
    else:
        _table_status(address, as_json)


def _table_status(address: Address, as_json: bool) -> None:
    with loading():
        from antipodes.sizes import human
        from antipodes.tables.store import NOTHING_COMMITTED, TableStore

    table = TableStore(address)
    manifest = table.read()
    committed = manifest.committed_depth if manifest.committed_depth != NOTHING_COMMITTED else None
    if as_json:
        print_json(
            {
                "puzzle": manifest.puzzle["name"],
                "store": table.address,
                "complete": manifest.complete,
                "committed_depth": committed,
                "states": manifest.states,
                "layers": list(manifest.layers),
                "bytes": table.bytes_stored(),
            }
        )
        return
    print(f"{manifest.puzzle['name']}: {'finished' if manifest.complete else 'unfinished'}")
    print(f"  committed    {'nothing yet' if committed is None else f'depths 0 to {committed}'}")
    print(f"  positions    {manifest.states:,} of {manifest.rows * manifest.width:,}")
    print(f"  stored       {human(table.bytes_stored())} in {table.address}")
    if not manifest.complete:
        print(f"  resume with  antipodes resume {in_shell(table.address)}")


def _tilings_status(address: Address, as_json: bool) -> None:
    from antipodes.sizes import human
    from antipodes.tilings.store import TilingStore

    store = TilingStore(address)
    manifest = store.read()
    if as_json:
        print_json(
            {
                "board": manifest.board["name"],
                "store": store.address,
                "complete": manifest.complete,
                "method": manifest.method,
                "partitions": manifest.partitions,
                "searched_partitions": len(manifest.searched),
                "solutions": manifest.tilings,
                "placements": manifest.placements,
                "bytes": store.bytes_stored(),
            }
        )
        return
    print(f"{manifest.board['name']}: {'finished' if manifest.complete else 'unfinished'}")
    print(f"  searched     {len(manifest.searched)} of {manifest.partitions} partitions, method {manifest.method}")
    print(f"  tilings      {manifest.tilings:,} up to the symmetries of the board")
    print(f"  stored       {human(store.bytes_stored())} in {store.address}")
    if not manifest.complete:
        print(f"  resume with  antipodes resume {in_shell(store.address)}")
