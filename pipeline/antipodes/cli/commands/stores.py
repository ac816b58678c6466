"""``antipodes list``, ``status``, ``verify`` and ``remove``: commands for stores of every kind."""

import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from antipodes.cli.command import command, commands
from antipodes.cli.loading import importing_libraries
from antipodes.cli.shared_options import AsJson, MemoryLimit, PuzzleOfStore, Quiet, Store, Workers, memory_limit_of
from antipodes.cli.streams import BAD_INPUT, FAILED, complain, print_json, print_line, print_lines, print_message
from antipodes.progress.show import show_progress
from antipodes.runs.verification import Verdict
from antipodes.storage.backend import Storage
from antipodes.storage.lock import Holder
from antipodes.storage.opening import storage_at
from antipodes.storage.store import check_not_in_use
from antipodes.stores import (
    KINDS,
    GivenStore,
    StoreListing,
    find_named,
    find_store,
    has_unknown_folder,
    list_stores,
    open_store,
    remove_any,
)
from antipodes.system.addresses import address_from, in_shell, is_url
from antipodes.system.machine import human
from antipodes.system.options import OUTPUTS, default_store, tasks_at_once
from antipodes.system.records import values_of
from antipodes.tables.json_results import SearchStatus, saved_depths, search_status
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tilings.store import TilingStatus, TilingStore, tiling_status
from antipodes_tasks.base.errors import InputError, NotAStoreError
from antipodes_tasks.base.quoting import counted, printable

NOT_KNOWN = "-"

app = commands()


@dataclass(frozen=True, slots=True)
class Removed:
    """A store that was removed, for JSON output."""

    store: str
    freed_bytes: int


@command(app, "list", "antipodes list", "antipodes list /data/tables", "antipodes list s3://bucket")
def list_all(
    directory: Annotated[
        str | None,
        typer.Argument(
            metavar="DIRECTORY", help=f"A directory of stores, or the URL of a folder of stores. [default: {OUTPUTS}/]"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the tables and tilings in a directory or bucket."""
    nothing_yet = directory is None and not OUTPUTS.exists()
    folder = OUTPUTS if directory is None else address_from(directory)
    stores = [] if nothing_yet else list_stores(folder)
    if as_json:
        print_json([one.to_record() for one in stores])
    elif not stores:
        print_line(f"no stores in {str(folder).rstrip('/')}/; create one with: antipodes run PUZZLE")
    else:
        _print_table(stores)


def _print_table(stores: list[StoreListing]) -> None:
    """Print one line per store, in columns, and then lines about runs and unreadable stores."""
    rows = [("name", "kind", "state", "holds", "radius", "size", "last commit")]
    for one in stores:
        if one.manifest is not None:
            shown = values_of(one.to_record())
            holds = counted(shown["tilings"], "tiling") if "tilings" in shown else counted(shown["states"], "position")
            radius = shown.get("radius")
            rows.append(
                (
                    *(printable(one.name), shown["kind"], _state(shown["complete"], one.run), holds),
                    NOT_KNOWN if radius is None else f"{radius:,}" if shown["complete"] else f"{radius:,} so far",
                    human(one.bytes_stored),
                    NOT_KNOWN if one.committed is None else f"{one.committed:%Y-%m-%d %H:%M}",
                )
            )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows if len(rows) > 1 else ():
        print_line("  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip())
    for one in stores:
        if one.run is not None:
            print_line(f"{one.name}: {_run(one)}")
        if one.problem is not None:
            print_line(f"{one.name}: {one.problem}")


def _run(listed: StoreListing) -> str:
    """Return the run that holds a store's lock, and its progress, as text."""
    manifest = listed.manifest
    if not (listed.run and listed.run.alive):
        return f"the lock was left by {listed.run}, which has ended or cannot reach the storage"
    if manifest is None:
        return f"{listed.run} is running"
    saved = saved_depths(manifest) if isinstance(manifest, SearchManifest) else manifest.saved
    return f"{listed.run} is running; {saved or 'no depths are'} committed"


@command(app, "status", "antipodes status eight-puzzle", "antipodes status outputs/6x10.zarr --json")
def status(store: Store, as_json: AsJson = False) -> None:
    """Show a store's progress and size."""
    found = open_store(find_store(store))
    if isinstance(found, TilingStore):
        tilings = found.read()
        tiled = tiling_status(found, tilings)
        shown: SearchStatus | TilingStatus = tiled
        title, kind = tiled.board, ""
        lines = {
            "searched": f"{len(tilings.searched):,} of {tilings.partitions:,} partitions, method {tilings.method}",
            "tilings": f"{tilings.tilings:,} up to the symmetries of the board",
        }
    else:
        search = found.read()
        shown = searched = search_status(found, search)
        title, kind = searched.puzzle, ", counts only" if search.COUNTS_ONLY else ""
        depth = searched.committed_depth
        positions = "so far" if search.keyed and not search.searched else f"of {search.numbered:,}"
        lines = {
            "committed": "nothing yet" if depth is None else f"depths 0 to {depth}" if depth else "depth 0",
            "positions": f"{search.states:,} {positions}",
        }
        if search.symmetry > 1:
            lines["reduced"] = f"by {search.symmetry} symmetries to {counted(search.index_size, 'entry', 'entries')}"
    if as_json:
        print_json(shown)
        return
    holder = found.storage.lock.holder()
    print_line(f"{title}: {_state(shown.complete, holder)}{kind}")
    lines["stored"] = f"{human(shown.bytes)} in {found.address}"
    for name, text in {**lines, **_run_lines(found.address, shown.complete, holder)}.items():
        print_line(f"  {name:<13}{text}")


def _state(complete: bool, holder: Holder | None) -> str:
    """Return the state of a store as text."""
    if holder and holder.alive:
        return "in progress"
    return "finished" if complete else "unfinished"


def _run_lines(address: str, complete: bool, holder: Holder | None) -> dict[str, str]:
    """Return lines about the run that is using a store, or about how to resume an unfinished one."""
    if holder and holder.alive:
        return {"run": str(holder)}
    lines = {"lock": f"left by {holder}, which has ended or cannot reach the storage"} if holder else {}
    return lines if complete else {**lines, "resume with": f"antipodes resume {in_shell(address)}"}


@command(app, "verify", "antipodes verify eight-puzzle", "antipodes verify seven-tiles --memory-limit 1GiB")
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
            help="Repeat the sample of an earlier verification, given its sample_seed. [default: a new sample]",
        ),
    ] = None,
    puzzle: PuzzleOfStore = None,
) -> int:
    """Verify the checksums and every distance or tiling in a store."""
    named = find_named(store, puzzle)
    if isinstance(open_store(named.address), TilingStore):
        from antipodes.tilings.verify import verify_tilings

        verdict: Verdict = verify_tilings(named.address)
    else:
        verdict = _table_verdict(named, workers, memory_limit, seed, quiet)
    if as_json:
        print_json(verdict.to_json())
    else:
        print_lines(str(verdict))
    return 0 if verdict.ok else FAILED if verdict.problems else BAD_INPUT


def _table_verdict(
    named: GivenStore, workers: int | None, memory_limit: str | None, seed: int | None, quiet: bool
) -> Verdict:
    with importing_libraries():  # the libraries of schedulers, which the other commands do not need
        from antipodes.executors.threads import Threads
        from antipodes.tables.verify import verify as verify_table

    limit = memory_limit_of(memory_limit)
    with show_progress(quiet) as listener:
        threads = Threads(tasks_at_once(workers, "--workers"))
        return verify_table(named.address, threads, seed, limit, listener, named.puzzle)


@command(app, "remove", "antipodes remove eight-puzzle", "antipodes remove s3://bucket/eight-puzzle.zarr --yes")
def remove(
    store: Store,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask (required without a terminal).")] = False,
    as_json: AsJson = False,
) -> int:
    """Delete a store: a table, counts or tilings. If it is a link, only the link is deleted."""
    storage = _storage(store)
    check_not_in_use(storage, KINDS)
    if not (yes or _confirmed(storage)):
        return complain("nothing was removed", FAILED)
    was_link = storage.is_link
    unknown = not was_link and has_unknown_folder(storage)
    freed = remove_any(storage)
    if unknown:
        print_message(f"the layers of {storage.address} are in a directory that is unknown here; they were not removed")
    if as_json:
        print_json(Removed(storage.address, freed))
    elif was_link:
        print_line(f"removed the link {storage.address}; its target was not changed")
    else:
        print_line(f"removed {storage.address}: {human(freed)} freed")
    return 0


def _storage(text: str) -> Storage:
    """Return the storage of a store that the user names, even if a killed removal has left only a part of it."""
    try:
        return storage_at(find_store(text))
    except NotAStoreError:
        if not is_url(address_from(text)):
            for counts_only in (False, True):
                storage = storage_at(default_store(text, counts_only))
                if storage.has_leftovers():
                    return storage
        raise


def _confirmed(storage: Storage) -> bool:
    """Ask on the terminal whether to remove a store.

    Raises
    ------
    InputError
        There is no terminal.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(
            f"remove asks before it deletes {storage.address}, but there is no terminal; "
            f"confirm with: antipodes remove {in_shell(storage.address)} --yes"
        )
    what = "only the link" if storage.is_link else human(storage.size())
    print(f"remove {printable(storage.address)}, {what}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
