"""The check of a stored table: the reading order of its blocks of depths, the tasks that check them, and a sample.

`reading_order` orders the tasks so that they read as few blocks as possible, and `BlockCache` reads and caches blocks.
`TableCheck` runs the tasks and collects their findings. The sample is checked without move tables.
`antipodes.tables.verification_memory` divides the memory limit.
"""

import heapq
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from math import ceil

import numpy as np
from numpy.typing import NDArray

from antipodes.executors.api import Call, Handle, Key, Scheduler, never_stop
from antipodes.system.events import CheckStarted, Listener, PositionsChecked
from antipodes.tables.layers.shards import build_tables
from antipodes.tables.planning.plan import partitions, plan_partition
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.verification_memory import CheckMemory
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.bfs.partition import Partition, sources
from antipodes_tasks.bfs.proof import Findings, RowDepths, check_block, least_before
from antipodes_tasks.move_tables import Indices, MoveTables, Neighbours
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.spaces.space import NOT_NUMBERED, Space


def reading_order(needs: Sequence[Sequence[int]], capacity: int) -> list[int]:
    """Return the numbers of the tasks in an order in which few blocks are read twice.

    Memory holds ``capacity`` blocks. The next task is always a task for which the fewest blocks must be read. ``needs``
    lists the blocks of each task, without duplicates. With the 1008 blocks of a table of 4.15 billion positions and a
    capacity of 100, the tasks read 1069 blocks in this order, and 2842 in the order of their rows.
    """
    return _Greedy(needs, capacity).order()


class _Greedy:
    """The remaining tasks and the blocks in memory, for a greedy choice of the next task."""

    def __init__(self, needs: Sequence[Sequence[int]], capacity: int) -> None:
        self._needs = needs
        self._capacity = capacity
        self._users: dict[int, set[int]] = {}
        """For each block, the remaining tasks that need it."""
        for task, blocks in enumerate(needs):
            for block in blocks:
                self._users.setdefault(block, set()).add(task)
        self._missing = [len(blocks) for blocks in needs]
        """For each task, the number of its blocks that are not in memory."""
        self._remaining = [(missing, task) for task, missing in enumerate(self._missing)]
        """A heap of pairs (missing blocks, task). Pairs whose first number differs from `_missing` are out of date."""
        heapq.heapify(self._remaining)
        self._held: dict[int, None] = {}
        """The blocks in memory, the most recently used last."""

    def order(self) -> list[int]:
        order: dict[int, None] = {}
        while self._remaining:
            missing, task = heapq.heappop(self._remaining)
            if missing == self._missing[task] and task not in order:
                order[task] = None
                self._run(task)
        return list(order)

    def _run(self, task: int) -> None:
        """Record that a task runs.

        Blocks that other tasks need stay in memory. If there are too many, the least recently used are dropped.
        """
        for block in self._needs[task]:
            self._users[block].remove(task)
            if block in self._held:
                del self._held[block]
            else:
                self._change(block, -1)
            if self._users[block]:
                self._held[block] = None
        while len(self._held) > self._capacity:
            oldest = next(iter(self._held))
            del self._held[oldest]
            self._change(oldest, 1)

    def _change(self, block: int, by: int) -> None:
        for task in self._users[block]:
            self._missing[task] += by
            heapq.heappush(self._remaining, (self._missing[task], task))


Read = Callable[[int], RowDepths]
"""Reads the block with a number."""


class BlockCache:
    """A cache of blocks, of which at most ``capacity`` stay in memory between two uses. Threads can share it.

    The order of the tasks is known in advance, and so is the next use of each block. If memory is full, the block whose
    next use is farthest away is dropped. No strategy reads fewer blocks (L. A. Belady, A study of replacement
    algorithms, 1966).

    Parameters
    ----------
    read
        Reads a block. It is sent to workers together with this object, which arrives there without blocks in memory.
    uses
        The numbers of the blocks that each task uses, in the order of the tasks. A block that a task uses twice is
        listed twice.
    capacity
        Maximum number of blocks in memory, apart from those that tasks are using.
    """

    def __init__(self, read: Read, uses: Sequence[Sequence[int]], capacity: int) -> None:
        self._read = read
        self._uses = uses
        self._capacity = capacity
        self._lock = threading.Lock()
        self._next_uses = _places(uses)
        self._held: dict[int, tuple[Future[RowDepths], int]] = {}
        """Each block that is in memory or being read, and the index of the next task that uses it."""
        self._farthest: list[tuple[int, int]] = []
        """A heap of pairs (negated next use, block). Pairs whose next use has changed are ignored."""

    def __reduce__(self) -> tuple[object, ...]:
        return BlockCache, (self._read, self._uses, self._capacity)

    def get(self, number: int) -> RowDepths:
        """Return the block with a number, from memory or from the store; wait if another thread is reading it."""
        with self._lock:
            held = self._held.pop(number, None)
            block: Future[RowDepths] = held[0] if held else Future()
            self._hold(number, block)
        if not held:
            self._fill(block, number)
        return block.result()

    def _hold(self, number: int, block: "Future[RowDepths]") -> None:
        """Keep a block if it will be used again; if there are too many, drop the block whose next use is farthest."""
        places = self._next_uses[number]
        places.popleft()
        if not places:
            return
        self._held[number] = block, places[0]
        heapq.heappush(self._farthest, (-places[0], number))
        while len(self._held) > self._capacity:
            place, farthest = heapq.heappop(self._farthest)
            if farthest in self._held and self._held[farthest][1] == -place:
                del self._held[farthest]

    def _fill(self, block: "Future[RowDepths]", number: int) -> None:
        try:
            block.set_result(self._read(number))
        except BaseException as error:
            block.set_exception(error)  # for other threads that wait for the block; this thread raises it in `get`


def _places(uses: Iterable[Sequence[int]]) -> dict[int, deque[int]]:
    """Return for each block the tasks that use it, counted from 0 in the order of ``uses``, in ascending order."""
    places: dict[int, deque[int]] = {}
    for place, numbers in enumerate(uses):
        for number in numbers:
            places.setdefault(number, deque()).append(place)
    return places


@dataclass(frozen=True)
class PartitionReads:
    """A partition, and the numbers of the blocks that its check reads. A block is a chunk of the store."""

    part: Partition
    own: Sequence[int]
    """The blocks of its rows."""
    sources: Sequence[int]
    """The blocks that contain predecessors of its positions, in ascending order."""

    @property
    def uses(self) -> list[int]:
        """The blocks in the order in which `check_partitions` reads them."""
        return [*self.sources, *self.own]


@dataclass(frozen=True)
class Expected:
    """The data that all tasks of a check need, besides the move tables."""

    starts: NDArray[np.int64]
    """The indices of the starts, in ascending order."""
    deepest: int
    """The greatest committed depth. Greater depths count as unreached."""
    expanded: int
    """The greatest depth whose successors are all known."""
    dtype: str
    seed: int


def read_block(store: TableStore, manifest: TableManifest, number: int) -> RowDepths:
    """Return the depths of a chunk; raise as `TableStore.read_chunk` does."""
    return RowDepths(number * manifest.chunk_rows, store.read_chunk(manifest, number))


def count_block(store: TableStore, manifest: TableManifest, number: int) -> NDArray[np.int64]:
    """Return the number of positions of a chunk at each committed depth, and the number of all others at the end.

    Raises as `read_block` does.
    """
    depths = np.minimum(read_block(store, manifest, number).depths.ravel(), manifest.committed_depth + 1)
    return np.bincount(depths, minlength=manifest.committed_depth + 2)


def check_partitions(
    blocks: BlockCache, partitions: Sequence[PartitionReads], tables: MoveTables, rules: Expected
) -> dict[int, Findings]:
    """Return the findings in each block of some partitions, by block number."""
    found = {}
    for reads in partitions:
        part, sources = reads.part, (blocks.get(number) for number in reads.sources)
        least = least_before(part.first_row, part.end_row, sources, tables, rules.expanded, rules.dtype)
        for number in reads.own:
            block = blocks.get(number)
            first = block.first_row - part.first_row
            before = least[first : first + len(block.depths)]
            found[number] = check_block(block, before, rules.starts, rules.deepest, rules.seed)
    return found


def depths_at(blocks: BlockCache, offsets: Mapping[int, Indices]) -> dict[int, Indices]:
    """Return the depths ``(n,)`` at the given offsets ``(n,)`` in some blocks, by block number."""
    return {number: blocks.get(number).depths.ravel()[places].astype(np.int64) for number, places in offsets.items()}


SAMPLE = (30, 1000)
"""Minimum and maximum size of the sample. The minimum applies even if each position has millions of neighbours."""
PLACES_LOOKED_AT = 1 << 26
"""Maximum number of places of all neighbours of a sample, in total. Computing them takes at most half a second."""
INFINITE = 1 << 30
"""A depth greater than all others, for unreached positions."""
DepthsOf = Callable[[Indices], Indices]
"""Reads the depths ``(n,)`` at indices ``(n,)``: INFINITE for unreached positions and for NOT_NUMBERED."""


def draw_sample(space: Space, drawn: Sequence[Indices], seed: int) -> Indices:
    """Return the indices ``(n,)`` of different positions.

    Some are taken from ``drawn``, which has an index (or -1) for each depth in each block. The others are drawn from
    all indices.
    """
    rng = np.random.default_rng(seed)
    fewest, most = SAMPLE
    wanted = min(
        space.size, max(fewest, min(most, PLACES_LOOKED_AT // (1 + space.filler.most_moves * space.rules.places)))
    )
    at_depths = [rng.permutation(depth[depth >= 0]) for depth in np.array(drawn).T]
    first = [depth[0] for depth in at_depths if len(depth)]
    others = rng.permutation(np.concatenate([depth[1:] for depth in at_depths]))
    anywhere = rng.permutation(space.size) if space.size < 4 * most else rng.integers(space.size, size=4 * most)
    chosen = np.concatenate((first, others[: wanted // 2], anywhere)).astype(np.int64)
    return np.array(list(dict.fromkeys(chosen.tolist()))[:wanted], dtype=np.int64)


def check_sample(
    space: Space, sample: Indices, tables: MoveTables, depths_of: DepthsOf, expanded: int, seed: int
) -> dict[str, Indices]:
    """Return the indices of the sample that contradict the rules, by the kind of problem.

    If an entry stands for several positions, the neighbours of one of them, chosen at random, are checked. The
    successors of positions deeper than ``expanded`` may be unreached. If a move has no known inverse, predecessors are
    not checked here, but only with the move tables.
    """
    by_rules = space.successors(sample)
    positions = _drawn_positions(space, sample, seed)
    after = by_rules if space.weights is None else space.neighbours_after(positions)
    before = space.neighbours_before(positions) if space.rules.moves.invertible else None
    asked = (sample, after.indices, before.indices if before else sample[:0])
    found = depths_of(np.concatenate(asked))  # in one call, since each call may read blocks
    depths, after_depths, before_depths = np.split(found, np.cumsum([len(indices) for indices in asked[:-1]]))
    wrong = contradicted(depths, after, after_depths, expanded)
    if before:
        wrong |= unsupported(depths, before, before_depths, expanded)
    return {
        "moves by the rules of the puzzle that differ from the move tables": sample[
            by_rules.differing(tables.successors(sample), len(sample))
        ],
        "a depth that the rules of the puzzle contradict": sample[wrong],
    }


def _drawn_positions(space: Space, sample: Indices, seed: int) -> Labels:
    """Return a random position of each entry ``(n,)``, as ``(n, places)``."""
    if space.weights is None:
        return space.unrank(sample)
    numbers = np.random.default_rng(seed).integers(space.weights[sample // space.width])
    return space.numbering.one_of(sample, numbers)


def contradicted(depths: Indices, after: Neighbours, after_depths: Indices, expanded: int) -> NDArray[np.bool_]:
    """Return whether each position of the sample, ``(samples,)``, has a depth that its successors' depths contradict.

    Unreached positions have the depth INFINITE. The successors of positions deeper than ``expanded`` may be unknown.
    """
    wrong = np.zeros(len(depths), dtype=bool)
    own = depths[after.of]
    wrong[after.of[(own <= expanded) & (after_depths > own + 1)]] = True
    return wrong


def unsupported(depths: Indices, before: Neighbours, before_depths: Indices, expanded: int) -> NDArray[np.bool_]:
    """Return whether each position of the sample, ``(samples,)``, has a depth that its predecessors' depths contradict.

    Positions at depth 0 need no predecessor.
    """
    wrong = np.zeros(len(depths), dtype=bool)
    own = depths[before.of]
    wrong[before.of[(before_depths <= expanded) & (own > before_depths + 1)]] = True
    supported = np.zeros(len(depths), dtype=bool)
    supported[before.of[before_depths == own - 1]] = True
    found: NDArray[np.bool_] = wrong | ~(supported | (depths == 0) | (depths == INFINITE))
    return found


BATCHES_A_WORKER = 8
"""Tasks per worker if workers do not share memory. The number is small since each task reads its own blocks."""


@dataclass(frozen=True)
class Checked:
    """The results of a check."""

    findings: Sequence[Findings]
    """The findings in each chunk, in the order of the chunks' numbers."""
    sample: Indices
    """The indices ``(n,)`` of positions that were also checked by the rules of the puzzle, without move tables."""
    contradicted: dict[str, Indices]
    """The indices of the sample that contradict the rules, by the kind of problem."""


class TableCheck:
    """The check of all committed layers in a store."""

    def __init__(
        self,
        store: TableStore,
        manifest: TableManifest,
        scheduler: Scheduler,
        memory: CheckMemory,
        seed: int,
        listener: Listener,
    ) -> None:
        self._manifest = manifest
        self._scheduler = scheduler
        self._memory = memory
        self._listener = listener
        self._space, self._chunk_rows = manifest.cut
        self._chunks = ceil(manifest.rows / self._chunk_rows)
        self._read = partial(read_block, store, manifest)
        deepest = manifest.committed_depth
        expanded = deepest if manifest.searched else deepest - 1
        self._rules = Expected(self._starts(), deepest, expanded, manifest.dtype, seed)

    def run(self) -> Checked:
        """Check all positions with the move tables, and a sample of them without move tables."""
        self._listener(CheckStarted(self._manifest.puzzle["name"], self._manifest.numbered))
        tables = build_tables(self._scheduler, self._space)
        order = self._order(tables)
        shared = self._shared_blocks(order) if self._scheduler.shares_memory else None
        findings = self._findings(tables, order, shared)
        sample = draw_sample(self._space, [finding.drawn for finding in findings], self._rules.seed)
        (here,) = self._scheduler.gather([tables])
        depths_of = partial(self._depths_of, shared)
        contradicted = check_sample(self._space, sample, here, depths_of, self._rules.expanded, self._rules.seed)
        return Checked(findings, sample, contradicted)

    def _starts(self) -> Indices:
        """Return the indices of the starts; raise StoreDamagedError if they are wrong: distances depend on them."""
        labels = self._space.starts
        starts = np.unique(self._space.rank(labels))
        _, found = self._space.numbering.positions_of_entries(starts)
        if len(found) != len(labels) or set(map(bytes, found)) != set(map(bytes, labels)):
            raise StoreDamagedError("the indices of the starts belong to other positions, so nothing can be checked")
        return starts

    def _order(self, tables: Handle) -> list[PartitionReads]:
        """Return the partitions in an order in which few blocks are read twice."""
        rows, chunk_rows = self._manifest.rows, self._chunk_rows
        parts = partitions(self._space, plan_partition(self._space, chunk_rows, self._scheduler.workers))
        bounds = [*range(0, rows, chunk_rows), rows], [*(part.first_row for part in parts), rows]
        (handle,) = self._scheduler.persist({("sources", 0): (sources, tables, *bounds)}).values()
        (into,) = self._scheduler.gather([handle])
        own = [range(part.first_row // chunk_rows, ceil(part.end_row / chunk_rows)) for part in parts]
        reads = [PartitionReads(*one) for one in zip(parts, own, into, strict=True)]
        needs = [sorted({*one.own, *one.sources}) for one in reads]
        return [reads[number] for number in reading_order(needs, self._memory.capacity)]

    def _shared_blocks(self, order: Sequence[PartitionReads]) -> BlockCache:
        """Return the blocks that tasks in this process share. The sample may use each block once more."""
        uses = [*(reads.uses for reads in order), range(self._chunks)]
        return BlockCache(self._read, uses, self._memory.capacity)

    def _findings(self, tables: Handle, order: Sequence[PartitionReads], shared: BlockCache | None) -> list[Findings]:
        """Return the findings in each chunk, in the order of their numbers, and notify the listener of each task."""
        found: dict[int, Findings] = {}
        done = 0

        def collect(key: Key, result: dict[int, Findings]) -> None:
            nonlocal done
            found.update(result)
            done += sum(int(finding.layers.sum()) for finding in result.values())
            self._listener(PositionsChecked(self._manifest.standing_for(done), self._manifest.numbered))

        calls: dict[Key, Call] = {
            ("check", number): (check_partitions, blocks, batch, tables, self._rules)
            for number, (blocks, batch) in enumerate(self._batches(order, shared))
        }
        self._scheduler.run_unordered(calls, collect, never_stop)
        return [found[number] for number in range(self._chunks)]

    def _batches(
        self, order: Sequence[PartitionReads], shared: BlockCache | None
    ) -> list[tuple[BlockCache, Sequence[PartitionReads]]]:
        """Return the partitions of each task, and the blocks from which the task reads."""
        if shared:
            return [(shared, (reads,)) for reads in order]
        workers = self._scheduler.workers
        size = ceil(len(order) / (BATCHES_A_WORKER * workers))
        batches = [order[first : first + size] for first in range(0, len(order), size)]
        capacity = self._memory.capacity // workers
        return [(BlockCache(self._read, [reads.uses for reads in batch], capacity), batch) for batch in batches]

    def _depths_of(self, shared: BlockCache | None, indices: Indices) -> Indices:
        """Return the depths ``(n,)`` at indices ``(n,)``: INFINITE for uncommitted depths and for NOT_NUMBERED."""
        depths = np.full(len(indices), INFINITE, dtype=np.int64)
        numbers, offsets = np.divmod(indices, self._chunk_rows * self._space.width)
        numbers[indices == NOT_NUMBERED] = -1
        asked = [int(number) for number in np.unique(numbers) if number >= 0]
        size = max(1, len(asked) // (BATCHES_A_WORKER * self._scheduler.workers))
        calls: dict[Key, Call] = {}
        for first in range(0, len(asked), size):
            batch = asked[first : first + size]
            blocks = shared or BlockCache(self._read, [batch], 0)
            calls["depths", first] = depths_at, blocks, {number: offsets[numbers == number] for number in batch}

        def collect(key: Key, result: dict[int, Indices]) -> None:
            for number, found in result.items():
                depths[numbers == number] = found

        self._scheduler.run_unordered(calls, collect, never_stop)
        return np.where(depths > self._rules.deepest, INFINITE, depths)
