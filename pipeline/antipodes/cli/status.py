"""``antipodes status``: what is in a store."""

import typer

from antipodes.cli.options import AsJson, Store, find_store
from antipodes.cli.output import print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status")(status)


def status(store: Store, as_json: AsJson = False) -> None:
    """Say what a store holds, finished or not."""
    from antipodes.plan import human
    from antipodes.store import NOTHING_COMMITTED, TableStore

    table = TableStore(find_store(store))
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
