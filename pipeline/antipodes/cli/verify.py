"""``antipodes verify``: prove a table."""

import typer

from antipodes.cli.options import AsJson, Store, Workers, find_store
from antipodes.cli.output import FAILED, print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("verify")(verify)


def verify(store: Store, workers: Workers = None, as_json: AsJson = False) -> int:
    """Check every byte of a table, and every distance against the rules of the puzzle."""
    from antipodes.run import available_workers
    from antipodes.scheduler import Threads
    from antipodes.verify import verify as prove

    verdict = prove(find_store(store), Threads(workers or available_workers()))
    if as_json:
        print_json({"ok": verdict.ok, "checked_states": verdict.checked_states, "problems": list(verdict.problems)})
    elif verdict.ok:
        print(f"ok: {verdict.checked_states:,} positions checked, every distance is right")
    else:
        for problem in verdict.problems:
            print(problem)
    return 0 if verdict.ok else FAILED
