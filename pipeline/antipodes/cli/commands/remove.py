"""``antipodes remove``: delete a store."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.command import add
from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, Store
from antipodes.cli.output import FAILED, complain, print_json, printable
from antipodes.runs.default_store import default_store
from antipodes.storage.address import address_from, in_shell, is_url
from antipodes.stores.named import find_store
from antipodes_tasks.errors import InputError, NotAStoreError

if TYPE_CHECKING:
    from antipodes.storage.backend import Storage


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "Tables",
        "remove",
        remove,
        "antipodes remove eight-puzzle",
        "antipodes remove s3://bucket/eight-puzzle.zarr --yes",
    )


def remove(
    store: Store,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed where there is no terminal.")] = False,
    as_json: AsJson = False,
) -> int:
    """Delete a store: a table, counts or tilings."""
    with loading():
        from antipodes.sizes import human
        from antipodes.storage.store import check_not_in_use, remove_store
        from antipodes.stores.kinds import KINDS

    storage = _storage(store)
    check_not_in_use(storage, KINDS)
    if not (yes or _confirmed(storage)):
        return complain("nothing is removed", FAILED)
    freed = remove_store(storage, KINDS)
    if as_json:
        print_json({"store": storage.address, "freed_bytes": freed})
    else:
        print(f"removed {storage.address}: {human(freed)} freed")
    return 0


def _storage(text: str) -> "Storage":
    """The place of a store that a person named; also of one that a killed removal left a part of."""
    from antipodes.storage.address import storage_at

    try:
        return storage_at(find_store(text))
    except NotAStoreError:
        if not is_url(address_from(text)):
            for counts_only in (False, True):
                storage = storage_at(default_store(text, counts_only))
                if storage.has_leftovers():
                    return storage
        raise


def _confirmed(storage: "Storage") -> bool:
    """Ask on the terminal whether to remove a store.

    Raises
    ------
    InputError
        There is no terminal.
    """
    from antipodes.sizes import human

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(
            f"remove asks before it deletes {storage.address}: expected a terminal or --yes, found neither; "
            f"antipodes remove {in_shell(storage.address)} --yes"
        )
    print(f"remove {printable(storage.address)}, {human(storage.size())}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
