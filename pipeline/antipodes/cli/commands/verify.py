"""``antipodes verify``: check a table or tilings."""

from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.command import add
from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, Given, MemoryLimit, Quiet, Store, Workers
from antipodes.cli.output import BAD_INPUT, FAILED, print_json
from antipodes.storage.address import Address
from antipodes.stores.named import find_store

if TYPE_CHECKING:
    from antipodes.runs.report import Verdict


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "Queries",
        "verify",
        verify,
        "antipodes verify eight-puzzle",
        "antipodes verify seven-tiles --memory-limit 1GiB",
    )


def verify(
    store: Store,
    memory_limit: MemoryLimit = None,
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**63 - 1,
            metavar="N",
            help="Repeat the sample of an earlier call: its sample_seed. [default: a new one]",
        ),
    ] = None,
    puzzle: Given = None,
) -> int:
    """Verify checksums and every distance or tiling in a store."""
    with loading():
        from antipodes.stores.kinds import open_store
        from antipodes.tilings.store import TilingStore

    address = find_store(store, puzzle)
    if isinstance(open_store(address), TilingStore):
        verdict = _tilings_verdict(address)
    else:
        verdict = _table_verdict(address, workers, memory_limit, seed, quiet)
    if as_json:
        print_json(verdict.to_json())
    else:
        print(verdict)
    return 0 if verdict.ok else FAILED if verdict.problems else BAD_INPUT


def _tilings_verdict(address: Address) -> "Verdict":
    with loading():
        from antipodes.tilings.verify import verify_tilings

    return verify_tilings(address)


def _table_verdict(
    address: Address, workers: int | None, memory_limit: str | None, seed: int | None, quiet: bool
) -> "Verdict":
    with loading():
        from antipodes.executors.threads import Threads
        from antipodes.progress.show import show_progress
        from antipodes.runs.options import tasks_at_once
        from antipodes.sizes import memory_size
        from antipodes.tables.verify import verify as verify_table

    limit = None if memory_limit is None else memory_size(memory_limit)
    with show_progress(quiet) as listener:
        return verify_table(address, Threads(tasks_at_once(workers)), seed, limit, listener)
