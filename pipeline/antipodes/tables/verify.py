"""Verification of a table, from its bytes to its distances."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from antipodes.executors.api import never_stop
from antipodes.executors.open_scheduler import as_scheduler
from antipodes.executors.threads import Threads
from antipodes.puzzles.config import PuzzleLike
from antipodes.puzzles.puzzle import Puzzle
from antipodes.runs.verification import Verdict, Verification
from antipodes.system.addresses import Address
from antipodes.system.events import Listener, silence
from antipodes.system.machine import available_workers
from antipodes.tables.check_bytes import CheckedTable, check_bytes
from antipodes.tables.check_depths import check_depths
from antipodes.tables.check_keys import check_keys
from antipodes.tables.store.chunks import TableChunks
from antipodes.tables.store.keys import StoredKeys
from antipodes.tables.store.manifest import NOTHING_COMMITTED
from antipodes.tables.store.search_stores import TableStore, read_given
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.quoting import counted, shorten
from antipodes_tasks.keys.encoded_runs import integers
from antipodes_tasks.move_tables import Indices

STORE, USER = "store", "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedTable:
    """The result of verifying a table, for JSON output."""

    ok: bool
    complete: bool | None
    committed_depth: int | None
    checked_states: int
    sampled_states: int
    sample_seed: int | None
    unchecked: str | None
    described_by: str
    problems: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class TableVerdict(Verdict):
    """The result of verifying a table."""

    RECORD = VerifiedTable

    committed_depth: int | None = None
    """The depth up to which an unfinished table was checked. None if nothing is committed yet."""
    checked_states: int = 0
    """Number of positions whose depth was checked, including unreached positions."""
    sampled_states: int = 0
    """Number of positions whose neighbours were also computed from the rules of the puzzle, without move tables."""
    sample_seed: int | None = None
    """The seed of the sample, or None if there was no sample."""
    unchecked: str | None = None
    """The reason why the distances were not compared with the moves, or None if they were compared."""
    described_by: str = STORE
    """Who describes the puzzle and names its moves: ``store``, or ``user`` if the user named the puzzle."""

    @property
    def ok(self) -> bool:
        """Whether everything was checked and no problem was found."""
        return self.unchecked is None and not self.problems

    def __str__(self) -> str:
        found = super().__str__() or self.checked()
        if self.described_by == USER or self.problems:
            return found
        means = f"name it with {option('puzzle')} to check this"
        return f"{found}\nnot checked: whether this is the puzzle that you mean, with its names of moves; {means}"

    def checked(self) -> str:
        """Return one line about a table without problems."""
        if not self.complete and self.committed_depth is None:
            return "unfinished: nothing is committed yet, so there is nothing to check"
        positions = counted(self.checked_states, "position")
        if self.unchecked is not None:
            read = f"checksums, digests and counts of {positions} are right"
            return f"{read}, but no distance was checked against the moves: {self.unchecked}"
        checked = f"checked {positions} ({self.sampled_states:,} of them using only the rules)"
        if self.complete:
            return f"ok: {checked}; all distances are correct"
        return f"ok, but unfinished: {checked}; all distances up to depth {self.committed_depth} are correct"


def verify(
    address: Address,
    scheduler: Any = None,
    seed: int | None = None,
    memory_limit: int | None = None,
    listener: Listener = silence,
    puzzle: PuzzleLike | None = None,
) -> TableVerdict:
    """Check every byte and every distance of the table in a store, finished or not.

    If the puzzle is written in Python and its code may not be run here, every byte is checked but no distance. Then the
    verdict is not ``ok``, and ``unchecked`` contains the reason. `antipodes.tables.table.open_table` describes when a
    ``puzzle`` is needed.

    Each call draws another sample of positions to check without move tables. To repeat a sample, pass the
    ``sample_seed`` of the earlier verdict, from 0 to 2^63 - 1, as ``seed``. A ``scheduler``, such as ``Threads(2)`` or
    a client of dask.distributed, stays open; by default, one thread per processor is used. ``memory_limit``, in bytes
    (on a cluster for all workers together), is by default the free memory. Depths that do not fit are read again when
    they are needed. The ``listener`` is called with the number of positions checked.

    Raises
    ------
    InputError
        An argument has the wrong type or is out of range.
    NotAStoreError
        There is no table at the address.
    ResourceLimitError
        The memory limit is less than the minimum for a check, which the message contains.
    """
    store = TableStore(arguments.address(address, "the address of a table"))
    # The seed is drawn here, because the verdict states it so that the sample can be repeated.
    seed = secrets.randbits(32) if seed is None else arguments.integer(seed, "seed", 0, arguments.MAX_INT64)
    arguments.optional(memory_limit, arguments.integer, "memory_limit", 1, arguments.MAX_INT64)
    arguments.function(listener, "listener")
    with as_scheduler(Threads(available_workers()) if scheduler is None else scheduler) as opened:
        verification = Verification(opened, memory_limit, seed, listener)
        return TableVerdict.of(partial(_verdict, store, puzzle, verification))


def _verdict(store: TableStore, puzzle: PuzzleLike | None, verification: Verification) -> TableVerdict:
    """Return the verdict on a table; raise StoreDamagedError if a file is corrupt."""
    manifest = read_given(store, puzzle).as_read
    if manifest.committed_depth == NOTHING_COMMITTED:
        return TableVerdict(complete=False)
    verification.scheduler.wait_for_workers(verification.listener, never_stop)
    unknown = manifest.source_error
    check = check_bytes if unknown is not None else check_keys if manifest.keyed else check_depths
    checked = check(store, manifest, verification)
    return TableVerdict(
        problems=tuple(_problems(store, manifest, checked)),
        complete=manifest.complete,
        committed_depth=manifest.committed_depth,
        checked_states=manifest.numbered,
        sampled_states=checked.sampled,
        sample_seed=verification.seed if unknown is None else None,
        unchecked=None if unknown is None else str(unknown),
        described_by=STORE if puzzle is None else USER,
    )


def _problems(store: TableStore, manifest: TableManifest, checked: CheckedTable) -> Iterator[str]:
    """Yield a line for each kind of problem."""
    yield from _wrong_counts(manifest, checked.layers)
    yield from checked.problems
    for what, (count, first) in checked.wrong.items():
        yield _line(manifest.config.puzzle, what, count, first)
    yield from _wrong_index(store, manifest, checked.layers)


def _wrong_counts(manifest: TableManifest, layers: Numbers) -> Iterator[str]:
    """Yield a line if the counts in the manifest differ from the counts in the chunks."""
    counts = enumerate(zip(manifest.layers, layers.sum(axis=0)[:-1].tolist(), strict=True))
    if wrong := [(depth, expected, found) for depth, (expected, found) in counts if expected != found]:
        depth, expected, found = wrong[0]
        others = f"; the counts of {counted(len(wrong) - 1, 'other depth')} differ, too" if len(wrong) > 1 else ""
        yield f"the manifest counts {counted(expected, 'position')} at depth {depth}, the table has {found:,}{others}"


def _wrong_index(store: TableStore, manifest: TableManifest, layers: Numbers) -> Iterator[str]:
    """Yield a line if the index by depth is wrong or corrupt, so that queries by depth would fail."""
    found = layers[:, :-1]
    try:
        if wrong := np.count_nonzero((store.layer_counts(manifest) != found).any(axis=1)):
            chunks = counted(int(wrong), "chunk")
            yield f"the index has wrong numbers of positions at each depth for {chunks}"
        elif manifest.antipodes and found.sum(axis=0).tolist() == list(manifest.layers):
            first = TableChunks(store, manifest, 0).first_of(manifest.radius, len(manifest.antipodes))
            if _named(store, manifest, first) != list(manifest.antipodes):
                yield "the antipodes in the manifest are not the first positions at the greatest depth"
    except StoreDamagedError as error:
        yield str(error)


def _named(store: TableStore, manifest: TableManifest, indices: Indices) -> list[int]:
    """Return the antipodes in the form of the manifest: their keys if the table has keys, else their indices."""
    return integers(StoredKeys(store, manifest, 0).keys_at(indices)) if manifest.keyed else integers(indices)


def _line(puzzle: Puzzle, what: str, count: int, first: Labels) -> str:
    """Return a line for a kind of problem: the number of positions with this problem, and the first of them."""
    shown = "; ".join(shorten(puzzle.format(labels)) for labels in first)
    return f"{count:,} x {what}: {shown}{'; ...' if count > len(first) else ''}"
