"""The contents of the shards of a search: three or two bits per entry, or sorted keys. Layers on disk: `disk_contents`.

The plan chooses the first of `planning.plan.CONTENTS` whose bytes fit into the memory of a run. The chosen contents can
be sent to other processes. Every decision of a search that depends on them is a method here.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from numpy.typing import NDArray

from antipodes.executors.api import Call, Capacity, Handle, Scheduler, Stop
from antipodes.system.events import Listener
from antipodes.system.machine import MIB, human
from antipodes.tables.journal import Journal
from antipodes.tables.layers.assembly import WRITE_THREADS, Assembly, DepthAssembly, assemble
from antipodes.tables.layers.commits import CommitPace, TableCommits
from antipodes.tables.layers.key_assembly import KeyAssembly
from antipodes.tables.layers.layer_graph import ExchangeGraph, LayerGraph, NeighbourGraph, successors_of
from antipodes.tables.layers.move_table_tasks import build_tables
from antipodes.tables.layers.shard import Shard
from antipodes.tables.layers.shard_segments import ShardSegments
from antipodes.tables.planning.division import TASKS_A_WORKER, Division, plan_partition, plan_shard
from antipodes.tables.strategies.commitment import CHUNK_BYTES, Commitment, DiskSpace
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.bfs.bitmaps import bitmap_bytes
from antipodes_tasks.bfs.key_partition import KeyLinks, KeyState, KeySuccessors
from antipodes_tasks.bfs.key_partition import warm_up as warm_up_keys
from antipodes_tasks.bfs.partition import Links, Partition, State, links, warm_up
from antipodes_tasks.bfs.partition_state import PartitionState
from antipodes_tasks.bfs.two_bits import TwoBitState
from antipodes_tasks.spaces.keyed import SPAN, Keyed
from antipodes_tasks.spaces.space import Space

if TYPE_CHECKING:
    from antipodes.tables.planning.plan import Plan

ASSEMBLED_BYTES = 4
"""Memory in bytes per position of a chunk that is written: its depth of up to two bytes, its segments, and the
compressed bytes."""
BITS_STORED = {3: 3 + 1 / 32, 2: 2 + 1 / 64}
"""Bits per position during a search: visited, one or two layers, and copies of small layers."""
ROW_BYTES = 4
"""Memory in bytes for the number of a row, in addition to the row's bits."""
KEYS_A_WORKER, JOURNAL_A_WORKER = 40 * MIB, 128 * MIB
"""Memory per worker in bytes: the minimum for the keys of partitions being searched, and, if there is no limit, for the
part of the journal that is not written yet."""
KEY_BYTES = 3 * 8
"""Memory in bytes per position of a small puzzle during its search: keys of layers, and their successors."""
KEY_DISK_BYTES = 8.0
"""Upper bound, in practice, on the size of journal and table in bytes per position of a small puzzle of keys."""


class Needs(NamedTuple):
    """Upper bounds on the memory of a run in bytes, without the program and the description of the puzzle."""

    each_process: int
    """Memory of every process: the move tables."""
    together: int
    """Memory of all processes together, if each segment is written to the journal immediately."""
    unsure: int
    """Bytes by which ``each_process`` may turn out smaller, because it is only a bound."""


class LayerTraffic(NamedTuple):
    """Estimated bytes of layers that a search on disk writes, and the maximum number of bytes that it reads again."""

    written: int
    read: int


MakeState = Callable[[Partition], PartitionState]
"""Creates the state of a partition without positions. It can be sent to other processes."""


@dataclass(frozen=True)
class Contents(ABC):
    """The data in the shards of a search, and how they find, keep and assemble layers."""

    graph: ClassVar[type[LayerGraph]]
    """The tasks of a layer."""
    assembly: ClassVar[type[Assembly[Any]]]
    """The chunks of a table."""
    on_disk: ClassVar[bool] = False
    """Whether the layers are in files, and memory contains only a part of the bits of one layer."""

    @property
    def bits(self) -> int | None:
        """Bits of memory per entry, or None if memory does not depend on the number of entries."""
        return None

    @property
    def settles_together(self) -> bool:
        """Whether shards settle a layer only after all have found it, because others read their frontiers in place."""
        return False

    @abstractmethod
    def can_hold(self, space: Space, workers: Capacity) -> bool:
        """Return whether the positions of a space can be the contents of shards on a set of workers."""

    def commitment(self, space: Space, wanted: Commitment) -> Commitment:
        """Return how layers are committed, given the commitment of contents in memory."""
        return wanted

    @abstractmethod
    def divide(self, space: Space, chunk_rows: int, workers: Capacity) -> Division:
        """Return the division of the rows for a set of workers.

        ``workers.memory`` is the memory in bytes without the program, or None if there is no limit.
        """

    @abstractmethod
    def needs(self, division: Division, commitment: Commitment, workers: Capacity) -> Needs:
        """Return the memory of a run. `CONTENTS` are tried in order until this fits into ``workers.memory``."""

    @abstractmethod
    def buffer_bytes(self, division: Division, journal_bytes: int, workers: Capacity, left: int | None) -> int:
        """Return the memory that a run uses in addition to its minimum, such as for segments that are not written yet.

        ``left`` bytes are left of the memory limit, or None if there is no limit.
        """

    @abstractmethod
    def disk_space(self, division: Division, commitment: Commitment) -> DiskSpace:
        """Return the disk space of the journal and of the other files, without the manifest."""

    def layer_traffic(self, division: Division) -> LayerTraffic | None:
        """Return how much a search reads from disk and writes to it, or None if layers are in memory."""
        return None

    @abstractmethod
    def describe_misfit(self, plan: "Plan") -> str:
        """Return how many positions take how much memory, as the end of a message that memory is too small."""

    @abstractmethod
    def starts(self, space: Space) -> NDArray[Any]:
        """Return the indices ``(n,)`` or the keys of the positions at depth 0."""

    @abstractmethod
    def index_size(self, space: Space) -> int | None:
        """Return the number of positions with an index, reachable or not. None if only a search finds them."""

    def known_positions(self, space: Space) -> int:
        """Return a lower bound on the number of positions, found while planning. 0 if none was needed."""
        return 0

    def restored_positions(self, space: Space, committed: int) -> int:
        """Return the number of positions that progress of a restoration counts; ``committed`` of them are found."""
        return committed

    @abstractmethod
    def warm_up(self, space: Space, shares_memory: bool) -> Call | None:
        """Return the call that loads the kernels of a search in a process, or None if this process has loaded them."""

    @abstractmethod
    def link(self, division: Division, scheduler: Scheduler, name: str, stop: Stop, listener: Listener) -> Handle:
        """Create the moves on the workers, and return their handle; ``name`` begins the keys of the tasks.

        The result has the attribute ``predecessors``: for each partition, the numbers of the partitions with moves into
        it. `search` receives it.

        Raises InterruptedRunError if ``stop`` returns True meanwhile.
        """

    def freed_memory(self, makes_table: bool) -> AbstractContextManager[None]:
        """Return the context of a run in threads of this process: how much freed memory the process keeps."""
        return nullcontext()

    def creation_order(self, numbers: Iterable[int], workers: int) -> list[int]:
        """Return the numbers of shards in the order in which they are created: workers get equal, adjacent parts."""
        return sorted(numbers)

    @abstractmethod
    def make_state(self, plan: "Plan") -> MakeState:
        """Return the function that creates the state of a partition on its worker."""

    def segments(self, journal: Journal, states: Sequence[Any], commitment: Commitment) -> ShardSegments:
        """Return the segments of a new shard with these states, as far as the ``commitment`` keeps them."""
        return ShardSegments(journal, states[0].chunks.start, states[-1].chunks.stop)

    @abstractmethod
    def memory_limit(self, states: Sequence[Any], buffer_bytes: int) -> int:
        """Return the bytes that the positions and the segments of a shard may take together after a layer.

        ``buffer_bytes`` is the memory that the shard can use beyond its minimum.
        """

    def make_room(self, shard: Shard) -> None:  # noqa: B027  (most contents never exceed the limit)
        """Move positions to disk if they exceed `Shard.memory_limit`. Called whenever a state has changed."""

    @abstractmethod
    def search(self, shard: Shard, offers: Sequence[Any], moves: Any, depth: int) -> int:
        """Find the positions of a shard at ``depth``, add them to its log, and return the number of new positions.

        ``offers`` are the data that the tasks of `graph` collect from other shards, and ``moves`` the result of `link`.
        """

    def assemble(
        self, commits: TableCommits, found: Sequence[ShardSegments], scheduler: Scheduler, pace: CommitPace, stop: Stop
    ) -> None:
        """Write the chunks of a table whose positions are all searched, and finish it, unless told to stop before.

        ``found`` are the segments in the shards; it is empty if the journal's segments are used. Raises as
        `assembly.assemble` does.
        """
        assemble(self.assembly(commits, found), scheduler, pace, stop)


@dataclass(frozen=True)
class BitContents(Contents):
    """Two or three bits per entry, in memory. With two, all shards have to wait for each other after each layer."""

    bits: int = 3
    """Three or two."""

    graph = NeighbourGraph
    assembly = DepthAssembly

    @property
    def settles_together(self) -> bool:
        """Whether a shard settles a layer only after all shards have found it."""
        return self.bits == 2

    def can_hold(self, space: Space, workers: Capacity) -> bool:
        """Return whether positions have indices."""
        return not isinstance(space.numbering, Keyed)

    def divide(self, space: Space, chunk_rows: int, workers: Capacity) -> Division:
        """Return the division into partitions that keep all workers busy. In threads, a shard is one partition."""
        rows = plan_partition(space, chunk_rows, workers.workers)
        size = plan_shard(space, ceil(space.rows / rows), workers.workers) if workers.processes else 1
        return Division(space, chunk_rows, rows, size)

    def needs(self, division: Division, commitment: Commitment, workers: Capacity) -> Needs:
        """Return the memory of the move tables, and of the search or the assembly, whichever takes more."""
        filler = division.space.filler
        together = max(self.needs_together(division, commitment, workers), filler.building_bytes(workers.workers))
        tables = filler.table_bytes
        return Needs(tables, together, tables - filler.least_table_bytes)

    def needs_together(self, division: Division, commitment: Commitment, workers: Capacity) -> int:
        """Return the memory of the search or the assembly, without the move tables, whichever takes more."""
        assembly = _assembly_bytes(division, workers) if commitment.makes_table else 0
        return max(self._search_bytes(division, workers), assembly)

    def _search_bytes(self, division: Division, workers: Capacity) -> int:
        """Return the memory of the search: bits, frontiers received from others, and segments of active partitions.

        With two bits per position, each active partition has a third bit.
        """
        space, processes = division.space, workers.processes
        active = min(workers.workers, division.partition_count)
        bitmap = bitmap_bytes(space.rows, space.width)
        bits = division.spread(ceil(BITS_STORED[self.bits] * bitmap) + ROW_BYTES * space.rows, processes)
        received = 0 if processes <= 1 else processes * bitmap  # each process holds at most one frontier
        return bits + received + (3 + (self.bits == 2)) * active * bitmap // division.partition_count

    def buffer_bytes(self, division: Division, journal_bytes: int, workers: Capacity, left: int | None) -> int:
        """Return the memory for the part of the journal that is not written yet."""
        unwritten = division.spread(journal_bytes, workers.processes)
        return unwritten if left is None else min(unwritten, left)

    def disk_space(self, division: Division, commitment: Commitment) -> DiskSpace:
        """Return the disk space of the commitment."""
        return commitment.disk_space(division)

    def describe_misfit(self, plan: "Plan") -> str:
        """Return the number of entries, and the bytes of bits and move tables."""
        return (
            f"{plan.space.size:,} positions take at least {human(plan.least_bytes)}, "
            f"{human(plan.table_bytes)} of it for the move tables"
        )

    def starts(self, space: Space) -> NDArray[Any]:
        """Return the indices of the positions at depth 0."""
        return space.rank(space.starts)

    def index_size(self, space: Space) -> int:
        """Return the number of positions of the space before any reduction by symmetries."""
        return space.full_space.size

    def restored_positions(self, space: Space, committed: int) -> int:
        """Return the number of all positions, since all bits are restored."""
        return self.index_size(space)

    def warm_up(self, space: Space, shares_memory: bool) -> Call:
        """Return the call that loads the kernels, in this process, too."""
        return warm_up, self.bits == 2, space.filler.most_column_maps, space.width

    def link(self, division: Division, scheduler: Scheduler, name: str, stop: Stop, listener: Listener) -> Handle:
        """Build the move tables, and find the partitions that they connect."""
        tables = build_tables(scheduler, division.space, stop, listener)
        return scheduler.persist({(name, 0): self.links_of(division, tables)})[name, 0]

    def links_of(self, division: Division, tables: Handle) -> Call:
        """Return the call that finds the partitions that the move tables connect."""
        bounds = (*(part.first_row for part in division.partitions), division.space.rows)
        return links, tables, bounds

    def make_state(self, plan: "Plan") -> MakeState:
        """Return the function that creates the bits of a partition."""
        kind = TwoBitState if self.bits == 2 else State
        return partial(kind, width=plan.space.width, chunk_rows=plan.chunk_rows)

    def memory_limit(self, states: Sequence[State], buffer_bytes: int) -> int:
        """Return the memory of bits and segments. Segments may use the memory that bits do not need."""
        return buffer_bytes + sum(state.most_bytes for state in states)

    def search(self, shard: Shard, offers: Sequence[Any], moves: Links, depth: int) -> int:
        """Find the positions at ``depth`` from the frontiers of this shard and of the other shards or boundaries."""
        return self.advance(shard, offers, moves.predecessors, depth, moves.tables, shard.log)

    def advance(
        self, shard: Shard, offers: Sequence[Any], predecessors: Sequence[Sequence[int]], depth: int, *arguments: Any
    ) -> int:
        """Search as `search` does: each state gets the frontiers of its ``predecessors``, and the other arguments."""
        frontiers = {one.number: one for source in (shard, *offers) for one in source.frontiers(depth - 1)}
        found = 0
        for state in shard.states:
            here = [frontiers[number] for number in predecessors[state.part.number] if number in frontiers]
            found += state.advance(depth, here, *arguments)
        return found


def _assembly_bytes(division: Division, workers: Capacity) -> int:
    """Return the memory of the chunks that are written at the same time, after the bits are released."""
    active = min(workers.workers, division.partition_count)
    at_once = active * min(WRITE_THREADS, ceil(division.partition_rows / division.chunk_rows))
    return at_once * ASSEMBLED_BYTES * division.chunk_rows * division.space.width


@dataclass(frozen=True)
class KeyContents(Contents):
    """Sorted keys of positions without an index. Keys that do not fit into memory are moved to temporary files."""

    graph = ExchangeGraph
    assembly = KeyAssembly

    def can_hold(self, space: Space, workers: Capacity) -> bool:
        """Return whether positions are keys."""
        return isinstance(space.numbering, Keyed)

    def divide(self, space: Space, chunk_rows: int, workers: Capacity) -> Division:
        """Return the division of the ranges of keys. On a cluster of several workers, a shard is one partition."""
        ranges = len(_keyed(space).ranges)
        size = ceil(ranges / (TASKS_A_WORKER * workers.workers))
        alone = workers.processes and workers.workers == 1
        return Division(space, chunk_rows, size * SPAN, ceil(ranges / size) if alone else 1)

    def needs(self, division: Division, commitment: Commitment, workers: Capacity) -> Needs:
        """Return the memory of all keys of a small puzzle. Otherwise, only the search finds out how many there are."""
        reached = _reachable(division.space)
        return Needs(0, workers.workers * KEYS_A_WORKER if reached is None else KEY_BYTES * reached, 0)

    def buffer_bytes(self, division: Division, journal_bytes: int, workers: Capacity, left: int | None) -> int:
        """Return half of the memory that is left: for keys and the journal. The other half is for copies of keys."""
        return (JOURNAL_A_WORKER * workers.workers if left is None else left) // 2

    def disk_space(self, division: Division, commitment: Commitment) -> DiskSpace:
        """Return the disk space of all keys of a small puzzle, half of it for the journal, or 0 if it is unknown."""
        reached = _reachable(division.space)
        disk = 0 if reached is None else CHUNK_BYTES + ceil(KEY_DISK_BYTES * reached)
        return DiskSpace(disk // 2, disk - disk // 2)

    def describe_misfit(self, plan: "Plan") -> str:
        """Return the number of positions found while planning, and the bytes of keys."""
        known = self.known_positions(plan.space)
        found = f"{counted(known, 'position')} or more take" if known else "the keys of its positions take"
        return f"{found} at least {human(plan.least_bytes)}"

    def starts(self, space: Space) -> NDArray[Any]:
        """Return the keys of the positions at depth 0."""
        return _keyed(space).start_keys

    def index_size(self, space: Space) -> int | None:
        """Return the number of reachable positions of a small puzzle, else None."""
        return _reachable(space)

    def known_positions(self, space: Space) -> int:
        """Return the number of positions found while planning."""
        return _keyed(space).known_positions

    def warm_up(self, space: Space, shares_memory: bool) -> Call | None:
        """Return the call that loads the kernels. Planning has already loaded them in this process."""
        return None if shares_memory else (warm_up_keys, _keyed(space).ranges.words)

    def link(self, division: Division, scheduler: Scheduler, name: str, stop: Stop, listener: Listener) -> Handle:
        """Create the moves between partitions of keys."""
        numbering = _keyed(division.space)
        call = KeyLinks, numbering.rules, numbering.packing, numbering.ranges, division.partition_count
        return scheduler.persist({(name, 0): call})[name, 0]

    def creation_order(self, numbers: Iterable[int], workers: int) -> list[int]:
        """Return the numbers so that workers get shards in turn, since most positions of a depth are in few ranges."""
        return sorted(numbers, key=lambda number: (number % workers, number))

    def make_state(self, plan: "Plan") -> MakeState:
        """Return the function that creates the keys of a partition."""
        return partial(KeyState, ranges=_keyed(plan.space).ranges, range_rows=plan.chunk_rows)

    def memory_limit(self, states: Sequence[KeyState], buffer_bytes: int) -> int:
        """Return half of the shard's memory, for its keys and segments. The other half is for successors."""
        return buffer_bytes // 2

    def make_room(self, shard: Shard) -> None:
        """Move the keys of the last layers, and the visited keys if there are any, to disk if they do not fit."""
        if sum(state.nbytes for state in shard.states) > shard.memory_limit:
            disk = shard.folder.file()
            for state in shard.states:
                state.to_disk(disk)

    def search(self, shard: Shard, offers: Sequence[KeySuccessors], moves: KeyLinks, depth: int) -> int:
        """Find the positions at ``depth`` among the successors in ``offers``, by default the shard's own successors."""
        offers = offers or [successors_of([shard], moves, depth - 1)]
        arrived = [one for offer in offers for one in offer.found]
        return sum(state.advance(depth, arrived, shard.log) for state in shard.states)


def _keyed(space: Space) -> Keyed:
    assert isinstance(space.numbering, Keyed)
    return space.numbering


def _reachable(space: Space) -> int | None:
    """Return the number of reachable positions if it is known without a search."""
    return space.numbering.reachable(space.rules)
