"""``antipodes verify``: prove a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, Store, Workers, find_store
from antipodes.cli.output import FAILED, print_json
from antipodes.storage.address import Address

if TYPE_CHECKING:
    from antipodes.tables.verify import Verdict
    from antipodes.tilings.verify import TilingVerdict


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("verify")(verify)


def verify(
    store: Store,
    workers: Workers = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**63 - 1,
            metavar="N",
            help="Repeat the sample of an earlier call: its sample_seed, with as many workers. [default: a new one]",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Check every byte of a store, and every distance or tiling against the rules of the puzzle."""
    with loading():
        from antipodes.cli.stores import open_store
        from antipodes.tilings.store import TilingStore

    address = find_store(store)
    if isinstance(open_store(address), TilingStore):
        return _verify_tilings(address, as_json)
    return _verify_table(address, workers, seed, as_json)


def _verify_tilings(address: Address, as_json: bool) -> int:
    with loading():
        from antipodes.tilings.verify import verify_tilings

    verdict = verify_tilings(address)
    if as_json:
        print_json(
            {
                "ok": verdict.ok,
                "complete": verdict.complete,
                "checked_tilings": verdict.checked_tilings,
                "searched_partitions": verdict.searched,
                "partitions": verdict.partitions,
                "problems": list(verdict.problems),
            }
        )
    else:
        _print(verdict.problems, _approval_of_tilings(verdict))
    return 0 if verdict.ok else FAILED


def _approval_of_tilings(verdict: "TilingVerdict") -> str:
    parts = f"{verdict.searched:,} of {verdict.partitions:,} partitions are searched"
    if not verdict.complete and not verdict.searched:
        return f"unfinished: {parts}, so there is nothing to check"
    checked = f"ok: {verdict.checked_tilings:,} tilings checked, each fills the board, none twice"
    return checked if verdict.complete else f"{checked}; the search is unfinished, {parts}"


def _verify_table(address: Address, workers: int | None, seed: int | None, as_json: bool) -> int:
    with loading():
        from antipodes.executors.threads import Threads
        from antipodes.runs.options import tasks_at_once
        from antipodes.tables.verify import verify as prove

    verdict = prove(address, Threads(tasks_at_once(workers)), seed)
    if as_json:
        print_json(
            {
                "ok": verdict.ok,
                "complete": verdict.complete,
                "committed_depth": verdict.committed_depth,
                "checked_states": verdict.checked_states,
                "sampled_states": verdict.sampled_states,
                "sample_seed": verdict.seed,
                "problems": list(verdict.problems),
            }
        )
    else:
        _print(verdict.problems, _approval(verdict))
    return 0 if verdict.ok else FAILED


def _approval(verdict: "Verdict") -> str:
    """What is said of a table without problems: no more than was checked."""
    sampled = f"{verdict.sampled_states:,} of them by the rules alone"
    if verdict.complete:
        return f"ok: {verdict.checked_states:,} positions checked, {sampled}, every distance is right"
    if verdict.committed_depth is None:
        return "unfinished: nothing is committed yet, so there is nothing to check"
    return (
        f"ok: {verdict.checked_states:,} positions checked, {sampled}, every distance up to depth "
        f"{verdict.committed_depth} is right; "
        "the table is unfinished, greater ones are not known yet"
    )


def _print(problems: Sequence[str], otherwise: str) -> None:
    for line in problems or [otherwise]:
        print(line)
