"""``antipodes status``: what is in a store."""

from pathlib import Path

import typer

from antipodes.cli.options import AsJson, Store, find_store
from antipodes.cli.output import print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status")(status)


def status(store: Store, as_json: AsJson = False) -> None:
    """Say what a store holds, finished or not."""
    from antipodes.store_directory import format_of
    from antipodes.tiling_store import TilingStore

    path = find_store(store)
    if format_of(path) == TilingStore.FORMAT:
        _tilings_status(path, as_json)
    else:
        _table_status(path, as_json)


def _table_status(path: Path, as_json: bool) -> None:
    from antipodes.plan import human
    from antipodes.store import NOTHING_COMMITTED, TableStore

    table = TableStore(path)
    record = table.read()
    committed = record.committed_depth if record.committed_depth != NOTHING_COMMITTED else None
    if as_json:
        print_json(
            {
                "puzzle": record.puzzle["name"],
                "store": str(table.path),
                "complete": record.complete,
                "committed_depth": committed,
                "states": record.states,
                "layers": list(record.layers),
                "bytes": table.bytes_on_disk(),
            }
        )
        return
    print(f"{record.puzzle['name']}: {'finished' if record.complete else 'unfinished'}")
    print(f"  committed    {'nothing yet' if committed is None else f'depths 0 to {committed}'}")
    print(f"  positions    {record.states:,} of {record.rows * record.width:,}")
    print(f"  on disk      {human(table.bytes_on_disk())} in {table.path}")
    if not record.complete:
        print(f"  go on with   antipodes resume {table.path}")


def _tilings_status(path: Path, as_json: bool) -> None:
    from antipodes.plan import human
    from antipodes.tiling_store import TilingStore

    store = TilingStore(path)
    record = store.read()
    if as_json:
        print_json(
            {
                "board": record.board["name"],
                "store": str(path),
                "complete": record.complete,
                "method": record.method,
                "partitions": record.partitions,
                "searched_partitions": len(record.searched),
                "solutions": record.tilings,
                "placements": record.placements,
                "bytes": store.bytes_on_disk(),
            }
        )
        return
    print(f"{record.board['name']}: {'finished' if record.complete else 'unfinished'}")
    print(f"  searched     {len(record.searched)} of {record.partitions} partitions, method {record.method}")
    print(f"  tilings      {record.tilings:,} up to the symmetries of the board")
    print(f"  on disk      {human(store.bytes_on_disk())} in {path}")
    if not record.complete:
        print(f"  go on with   antipodes resume {path}")
