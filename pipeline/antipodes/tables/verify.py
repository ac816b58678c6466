"""Verification of a table, from its bytes to its distances."""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.executors.api import Call, Key, Scheduler, never_stop
from antipodes.executors.opening import as_scheduler
from antipodes.executors.threads import Threads
from antipodes.puzzles.config import PuzzleLike
from antipodes.puzzles.puzzle import Puzzle
from antipodes.runs.run_results import Verdict
from antipodes.system.addresses import Address
from antipodes.system.events import CheckStarted, Listener, PositionsChecked, silence
from antipodes.system.machine import available_workers
from antipodes.tables.check_depths import Checked, TableCheck, count_block
from antipodes.tables.key_verification import CheckedKeys, check_keys
from antipodes.tables.store.chunks import TableChunks
from antipodes.tables.store.keys import StoredKeys
from antipodes.tables.store.manifest import NOTHING_COMMITTED, TableManifest
from antipodes.tables.store.search_stores import TableStore, read_given
from antipodes.tables.verification_memory import plan_memory
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.base.quoting import counted, shorten
from antipodes_tasks.bfs.proof import MAX_EXAMPLES, Wrong
from antipodes_tasks.keys.encoded_runs import integers
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.spaces.space import Space


@dataclass(frozen=True, kw_only=True, repr=False)
class TableVerdict(Verdict):
    """The result of verifying a table."""

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

    @property
    def ok(self) -> bool:
        """Whether everything was checked and no problem was found."""
        return self.unchecked is None and not self.problems

    def __str__(self) -> str:
        return super().__str__() or self.checked()

    def checked(self) -> str:
        """Return one line about a table without problems."""
        if not self.complete and self.committed_depth is None:
            return "unfinished: nothing is committed yet, so there is nothing to check"
        positions = counted(self.checked_states, "position")
        if self.unchecked is not None:
            read = f"checksums, digests and counts of {positions} are right"
            return f"{read}, but no distance was checked against the moves: {self.unchecked}"
        checked = f"{positions} checked, {self.sampled_states:,} of them by the rules alone"
        if self.complete:
            return f"ok: {checked}, every distance is correct"
        return f"ok, but unfinished: {checked}, every distance up to depth {self.committed_depth} is correct"


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
    seed = secrets.randbits(32) if seed is None else arguments.integer(seed, "seed", 0, arguments.MAX_INT64)
    arguments.optional(memory_limit, arguments.integer, "memory_limit", 1, arguments.MAX_INT64)
    arguments.function(listener, "listener")
    with as_scheduler(Threads(available_workers()) if scheduler is None else scheduler) as opened:
        try:
            manifest = read_given(store, puzzle).as_read
            if manifest.committed_depth == NOTHING_COMMITTED:
                return TableVerdict(complete=False)
            opened.wait_for_workers(listener, never_stop)
            if manifest.source_error is not None:
                return _bytes_alone(store, manifest, opened, listener)
            if manifest.keyed:
                found = check_keys(store, manifest, opened, memory_limit, seed, listener)
                return _verdict(store, manifest, found.layers, _problems_of_keys(manifest, found), found.sampled, seed)
            memory = plan_memory(manifest, opened, memory_limit)
            checked = TableCheck(store, manifest, opened, memory, seed, listener).run()
            return _verdict(store, manifest, _layers(checked), _problems(manifest, checked), len(checked.sample), seed)
        except StoreDamagedError as error:
            return TableVerdict(problems=(str(error),))


def _verdict(
    store: TableStore,
    manifest: TableManifest,
    layers: NDArray[np.int64],
    problems: Iterable[str],
    sampled: int,
    seed: int,
) -> TableVerdict:
    """Return the verdict on a table whose distances were checked."""
    return TableVerdict(
        problems=(*problems, *_wrong_index(store, manifest, layers)),
        complete=manifest.complete,
        committed_depth=manifest.committed_depth,
        checked_states=manifest.numbered,
        sampled_states=sampled,
        sample_seed=seed,
    )


def _problems_of_keys(manifest: TableManifest, checked: CheckedKeys) -> Iterator[str]:
    """Yield a line for each kind of problem of a table of keys."""
    yield from _wrong_counts(manifest, checked.layers)
    yield from checked.problems
    for what, (count, first) in checked.wrong.items():
        yield _line(manifest.config.puzzle, what, count, first)


def _bytes_alone(store: TableStore, manifest: TableManifest, scheduler: Scheduler, listener: Listener) -> TableVerdict:
    """Return the verdict on a table with unknown moves: read each chunk, and count its positions."""
    listener(CheckStarted(str(manifest.puzzle.get("name")), manifest.numbered))
    found: dict[int, NDArray[np.int64]] = {}

    def collect(key: Key, layers: NDArray[np.int64]) -> None:
        found[key[1]] = layers
        done = sum(int(one.sum()) for one in found.values())
        listener(PositionsChecked(manifest.standing_for(done), manifest.numbered))

    calls: dict[Key, Call] = {
        ("read", number): (count_block, store, manifest, number) for number in range(manifest.chunk_count)
    }
    scheduler.run_unordered(calls, collect, never_stop)
    layers = np.array([found[number] for number in range(manifest.chunk_count)])
    problems = (*_wrong_counts(manifest, layers), *_wrong_index(store, manifest, layers))
    return TableVerdict(
        problems=problems,
        complete=manifest.complete,
        committed_depth=manifest.committed_depth,
        checked_states=manifest.numbered,
        unchecked=str(manifest.source_error),
    )


def _problems(manifest: TableManifest, checked: Checked) -> Iterator[str]:
    """Yield a line for each kind of problem."""
    puzzle, space = manifest.config.puzzle, manifest.cut[0]
    yield from _wrong_counts(manifest, _layers(checked))
    for kind, what in (
        ("not_zero", f"a {puzzle.depth_zero} whose depth is not 0"),
        ("unsupported", "reached, but no predecessor is at the previous depth"),
        ("skipped", "more than one deeper than a predecessor, or unreached"),
    ):
        yield from _shown(puzzle, space, what, _merge_wrong([getattr(finding, kind) for finding in checked.findings]))
    for what, indices in checked.contradicted.items():
        yield from _shown(puzzle, space, what, Wrong(len(indices), indices[:MAX_EXAMPLES]))


def _layers(checked: Checked) -> NDArray[np.int64]:
    """Return the number of positions of each chunk at each depth, and unreached: ``(chunks, depths + 1)``."""
    return np.array([finding.layers for finding in checked.findings])


def _wrong_counts(manifest: TableManifest, layers: NDArray[np.int64]) -> Iterator[str]:
    """Yield a line if the counts in the manifest differ from the counts in the chunks."""
    counts = enumerate(zip(manifest.layers, layers.sum(axis=0)[:-1].tolist(), strict=True))
    if wrong := [(depth, expected, found) for depth, (expected, found) in counts if expected != found]:
        depth, expected, found = wrong[0]
        others = f"; the counts of {counted(len(wrong) - 1, 'other depth')} differ, too" if len(wrong) > 1 else ""
        yield f"the manifest counts {counted(expected, 'position')} at depth {depth}, the table has {found:,}{others}"


def _wrong_index(store: TableStore, manifest: TableManifest, layers: NDArray[np.int64]) -> Iterator[str]:
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


def _merge_wrong(blocks: Sequence[Wrong]) -> Wrong:
    """Merge the wrong positions of all blocks, in ascending order."""
    return Wrong(sum(wrong.count for wrong in blocks), np.concatenate([wrong.first for wrong in blocks])[:MAX_EXAMPLES])


def _shown(puzzle: Puzzle, space: Space, what: str, wrong: Wrong) -> Iterator[str]:
    """Yield a line for a kind of problem if any position has it."""
    if wrong.count:
        yield _line(puzzle, what, wrong.count, space.unrank(wrong.first))


def _line(puzzle: Puzzle, what: str, count: int, first: Labels) -> str:
    """Return a line for a kind of problem: the number of positions with this problem, and the first of them."""
    shown = "; ".join(shorten(puzzle.format(labels)) for labels in first)
    return f"{count:,} x {what}: {shown}{'; ...' if count > len(first) else ''}"
