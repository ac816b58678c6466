"""``antipodes verify``: prove a table."""

from collections.abc import Sequence

import typer

from antipodes.cli.options import AsJson, Store, Workers, find_store
from antipodes.cli.output import FAILED, print_json
from antipodes.storage.address import Address


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("verify")(verify)


def verify(store: Store, workers: Workers = None, as_json: AsJson = False) -> int:
    """Check every byte of a store, and every distance or tiling against the rules of the puzzle."""
    from antipodes.recorded_store import format_of
    from antipodes.tiling_store import TilingStore

    address = find_store(store)
    if format_of(address) == TilingStore.FORMAT:
        return _verify_tilings(address, as_json)
    return _verify_table(address, workers, as_json)


def _verify_tilings(address: Address, as_json: bool) -> int:
    from antipodes.tiling_verify import verify_tilings

    verdict = verify_tilings(address)
    if as_json:
        print_json({"ok": verdict.ok, "checked_tilings": verdict.checked_tilings, "problems": list(verdict.problems)})
    else:
        _print(verdict.problems, f"ok: {verdict.checked_tilings:,} tilings checked, each fills the board, none twice")
    return 0 if verdict.ok else FAILED


def _verify_table(address: Address, workers: int | None, as_json: bool) -> int:
    from antipodes.run_options import available_workers
    from antipodes.scheduler import Threads
    from antipodes.verify import verify as prove

    verdict = prove(address, Threads(workers or available_workers()))
    if as_json:
        counts = {"checked_states": verdict.checked_states, "sampled_states": verdict.sampled_states}
        print_json({"ok": verdict.ok, **counts, "problems": list(verdict.problems)})
    else:
        checked = f"{verdict.checked_states:,} positions checked, {verdict.sampled_states:,} of them"
        _print(verdict.problems, f"ok: {checked} by the rules alone, every distance is right")
    return 0 if verdict.ok else FAILED


def _print(problems: Sequence[str], otherwise: str) -> None:
    for line in problems or [otherwise]:
        print(line)
