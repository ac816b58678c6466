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
        from antipodes.storage.store import format_of
        from antipodes.tilings.store import TilingStore

    address = find_store(store)
    if format_of(address) == TilingStore.FORMAT:
        _tilings_status(address, as_json)
    else:
        _table_status(address, as_json)


def _table_status(address: Address, as_json: bool) -> None:
    with loading():
        from antipodes.tables.plan import human
        from antipodes.tables.store import NOTHING_COMMITTED, TableStore

    table = TableStore(address)
    record = table.read()
    committed = record.committed_depth if record.committed_depth != NOTHING_COMMITTED else None
    if as_json:
        print_json(
            {
                "puzzle": record.puzzle["name"],
                "store": table.address,
                "complete": record.complete,
                "committed_depth": committed,
                "states": record.states,
                "layers": list(record.layers),
                "bytes": table.bytes_stored(),
            }
        )
        return
    print(f"{record.puzzle['name']}: {'finished' if record.complete else 'unfinished'}")
    print(f"  committed    {'nothing yet' if committed is None else f'depths 0 to {committed}'}")
    print(f"  positions    {record.states:,} of {record.rows * record.width:,}")
    print(f"  stored       {human(table.bytes_stored())} in {table.address}")
    if not record.complete:
        print(f"  resume with  antipodes resume {in_shell(table.address)}")


def _tilings_status(address: Address, as_json: bool) -> None:
    from antipodes.tables.plan import human
    from antipodes.tilings.store import TilingStore

    store = TilingStore(address)
    record = store.read()
    if as_json:
        print_json(
            {
                "board": record.board["name"],
                "store": store.address,
                "complete": record.complete,
                "method": record.method,
                "partitions": record.partitions,
                "searched_partitions": len(record.searched),
                "solutions": record.tilings,
                "placements": record.placements,
                "bytes": store.bytes_stored(),
            }
        )
        return
    print(f"{record.board['name']}: {'finished' if record.complete else 'unfinished'}")
    print(f"  searched     {len(record.searched)} of {record.partitions} partitions, method {record.method}")
    print(f"  tilings      {record.tilings:,} up to the symmetries of the board")
    print(f"  stored       {human(store.bytes_stored())} in {store.address}")
    if not record.complete:
        print(f"  resume with  antipodes resume {in_shell(store.address)}")
