"""The plan of a run: how rows are divided into chunks, partitions and shards; the memory and disk space needed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.machine import KIB, MIB, human
from antipodes.tables.strategies.commitment import CHECKPOINTS, CHUNK_BYTES, JOURNAL, Commitment
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.bfs.bitmaps import bitmap_bytes
from antipodes_tasks.bfs.key_partition import KeyLinks, KeyState
from antipodes_tasks.bfs.partition import Partition, State
from antipodes_tasks.bfs.two_bits import TwoBitState
from antipodes_tasks.spaces.keyed import SPAN, Keyed
from antipodes_tasks.spaces.selection import best_space
from antipodes_tasks.spaces.space import Space

SETTING_BYTES, MANIFEST_SETTING_BYTES = 170, 2 * 24
"""Bytes per number or character of a config: in memory while it is read and written, and on disk in the manifest. While
the manifest is replaced, the disk holds two copies."""
ORDINARY_SETTINGS = 2000
"""Numbers and characters of a config that are already included in the memory of the program and in the manifest."""


def _values(setting: Any) -> int:
    """Return how many numbers, lists and characters a part of a config has."""
    if isinstance(setting, Mapping):
        return sum(map(_values, setting.values()))
    if isinstance(setting, list):
        return 1 + sum(map(_values, setting))
    return len(setting) if isinstance(setting, str) else 1


CHUNK_STATES = (128 * KIB, 4 * MIB)
"""Minimum and maximum positions per chunk: enough to be worth a file, and few enough to be read for one query."""
DIVISORS_TRIED = 1000
"""Maximum number of chunk counts that are tried to find one that divides the rows evenly."""
PARTITION_STATES = 16 * MIB
"""Maximum number of positions of a partition: one layer of it takes at most about 100 ms."""
BLOCK_STATES = 256 * MIB
"""Maximum number of positions of a partition that is a whole block of rows. Few partitions read such a partition."""
SCATTERED_PARTITIONS = 32
"""Maximum number of partitions of a reduced space, unless more are needed to keep the workers busy: each partition has
successors in all partitions, so each partition reads all rows of all others."""
TASKS_A_WORKER = 8
"""Number of partitions per worker, enough to keep all workers busy until a layer ends."""
PROGRAM_BYTES = 220 * MIB
"""Memory of the program and its libraries in bytes: the peak with an empty puzzle, rounded up."""
SHARD_STATES = (16 * MIB, 256 * MIB)
"""Minimum and maximum positions of a shard, the work of one task on a cluster: a layer takes at least 10 ms on average,
and a worker's memory holds several shards."""
WRITE_THREADS = 4
"""Number of chunks that a task writes at the same time: one is compressed while another is written to the disk."""
ASSEMBLED_BYTES = 4
"""Memory in bytes per position of a chunk that is written: its depth of up to two bytes, its segments, and the
compressed bytes."""
THREE_BITS, TWO_BITS = 3 + 1 / 32, 2 + 1 / 64
"""Bits per position during a search: visited, one or two layers, and copies of small layers."""
ROW_BYTES = 4
"""Memory in bytes for the number of a row, in addition to the row's bits."""
MANIFEST_BYTES = 64 * KIB
KEY_DISK_BYTES = 8.0
"""Upper bound, in practice, on the size of journal and table in bytes per position of a small puzzle of keys."""

ChunkedSpace = tuple[Space, int]
"""The space that defines the rows and columns of a store, and the number of rows per chunk."""


@dataclass(frozen=True)
class Division:
    """The division of the rows of a space among chunks and tasks."""

    space: Space
    chunk_rows: int
    partition_rows: int
    """Number of rows of each partition except the last."""
    shard_size: int
    """Number of partitions that one task advances."""
    two_bits: bool
    """Whether partitions of bits use two bits per position instead of three. Then partitions wait for each other."""

    @property
    def cut(self) -> ChunkedSpace:
        """The cut of a store with this division."""
        return self.space, self.chunk_rows

    def divides_like(self, other: "Division") -> bool:
        """Return whether the shards of both divisions have the same rows and states of the same kind."""
        return (self.partition_rows, self.shard_size, self.two_bits) == (
            other.partition_rows,
            other.shard_size,
            other.two_bits,
        )

    @property
    def partition_count(self) -> int:
        """The number of partitions."""
        return ceil(self.space.rows / self.partition_rows)

    @property
    def shard_count(self) -> int:
        """The number of shards."""
        return ceil(self.space.rows / (self.partition_rows * self.shard_size))

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:
        """The partitions: ranges of rows, each with a whole number of chunks."""
        return partitions(self.space, self.partition_rows)

    @property
    def keyed(self) -> bool:
        """Whether partitions consist of keys, not of bits."""
        return isinstance(self.space.numbering, Keyed)

    @property
    def state_type(self) -> Callable[[Partition], State | KeyState]:
        """The function that creates the state of a partition."""
        numbering = self.space.numbering
        if isinstance(numbering, Keyed):
            return partial(KeyState, ranges=numbering.ranges, range_rows=self.chunk_rows)
        return partial(TwoBitState if self.two_bits else State, width=self.space.width, chunk_rows=self.chunk_rows)

    @property
    def key_links(self) -> tuple[Any, ...]:
        """The call that creates the moves between partitions of keys."""
        numbering = self.space.numbering
        assert isinstance(numbering, Keyed)
        return KeyLinks, numbering.rules, numbering.packing, numbering.ranges, self.partition_count

    @property
    def key_words(self) -> int:
        """The number of words of a key, or 0 if partitions consist of bits."""
        numbering = self.space.numbering
        return numbering.ranges.words if isinstance(numbering, Keyed) else 0

    @property
    def starts(self) -> NDArray[Any]:
        """The indices or keys of the positions at depth 0."""
        numbering = self.space.numbering
        if isinstance(numbering, Keyed):
            return numbering.start_keys
        return self.space.rank(self.space.starts)

    @property
    def shards(self) -> list[tuple[Partition, ...]]:
        """The adjacent partitions of each shard."""
        firsts = range(0, self.partition_count, self.shard_size)
        return [self.partitions[first : first + self.shard_size] for first in firsts]


@dataclass(frozen=True)
class Plan(Division):
    """The division of the rows, and upper bounds on the memory and disk space of a run in bytes."""

    commitment: Commitment
    """How layers are committed."""
    table_bytes: int
    """Memory of the move tables."""
    least_bytes: int
    """Minimum memory of the run, including the program, if each segment is written to the journal immediately."""
    buffer_bytes: int
    """Memory for the part of the journal that is not written yet."""
    journal_bytes: int
    """Disk space of the journal."""
    disk_bytes: int
    """Disk space of all files; see `Commitment.disk_space`."""

    @property
    def unsure_bytes(self) -> int:
        """Bytes by which a process's move tables may turn out smaller than ``table_bytes``, which is only a bound."""
        return 0 if self.keyed else self.table_bytes - self.space.filler.least_table_bytes

    @cached_property
    def weights(self) -> NDArray[np.int64] | None:
        """The number of positions that an entry of each row represents, ``(rows,)``. None if each represents one."""
        return self.space.weights

    @property
    def reachable(self) -> int | None:
        """The number of reachable positions if it is known without a search, else None."""
        return self.space.numbering.reachable(self.space.rules)

    @property
    def index_size(self) -> int | None:
        """The number of positions with an index, reachable or not. None if only a search finds them."""
        return self.reachable if self.keyed else self.space.full_space.size

    @property
    def looked(self) -> int:
        """The number of positions found while planning, if positions are keys. It is a lower bound on the total."""
        numbering = self.space.numbering
        return numbering.looked if isinstance(numbering, Keyed) else 0

    @property
    def memory_bytes(self) -> int:
        """Maximum memory of the run."""
        return self.least_bytes + self.buffer_bytes

    @property
    def disk_parts(self) -> Mapping[str, int]:
        """Disk space in bytes, by purpose."""
        if not self.journal_bytes:
            return {"two checkpoints": self.disk_bytes}
        return {"journal": self.journal_bytes, "table": self.disk_bytes - self.journal_bytes}


def plan_run(
    puzzle: Puzzle,
    workers: int = 1,
    memory_limit: int | None = None,
    cut: ChunkedSpace | None = None,
    processes: int = 0,
    settings: Mapping[str, Any] | None = None,
    division: Division | None = None,
    *,
    counts_only: bool = False,
    symmetry: str | None = None,
    outline: bool = False,
) -> Plan:
    """Plan a puzzle for ``workers`` simultaneous tasks, in threads of this process or in ``processes`` other processes.

    If three bits per position do not fit into ``memory_limit`` (bytes), two are used. The rest of this memory is for
    the journal, which ``counts_only`` runs do not have.

    * ``cut``: the cut of a store to be resumed. Another version may have chosen it differently.
    * ``division``: the division of a search that continues with other workers.
    * ``settings``: the settings of the puzzle's config. They also take memory and disk space, for example if they list
      half a million edges.
    * ``symmetry``: how a new store is reduced; see `antipodes.system.options.RunOptions`.
    * ``outline``: whether to estimate data that take more than a second or two to compute, which are the rows and move
      tables of large reduced spaces. Such a plan cannot be run.
    """
    arguments.instance(puzzle, Puzzle, "a Puzzle, such as the puzzle of a Config")
    division = division or _divide(*(cut or plan_cut(puzzle, symmetry, outline=outline)), workers, processes)
    space, further = division.space, max(0, _values(settings or {}) - ORDINARY_SETTINGS)
    described = puzzle.moves.memory_bytes + SETTING_BYTES * further
    commitment: Commitment = CHECKPOINTS if counts_only else JOURNAL
    if division.keyed:
        return _plan_of_keys(
            division, commitment, workers, memory_limit, max(1, processes) * (PROGRAM_BYTES + described)
        )
    resident = max(1, processes) * (PROGRAM_BYTES + described + space.filler.table_bytes)
    others = max(
        _assembly_bytes(division, workers) if commitment.keeps_segments else 0, space.filler.building_bytes(workers)
    )
    least = {bits: resident + max(_search_bytes(division, workers, processes, bits), others) for bits in (False, True)}
    two_bits = _needs_two_bits(least[False], least[True], memory_limit)
    journal, stored = commitment.disk_space(division)
    unwritten = _spread(journal, division, processes)
    return Plan(
        space=space,
        chunk_rows=division.chunk_rows,
        partition_rows=division.partition_rows,
        shard_size=division.shard_size,
        two_bits=two_bits,
        commitment=commitment,
        table_bytes=space.filler.table_bytes,
        least_bytes=least[two_bits],
        buffer_bytes=unwritten if memory_limit is None else min(unwritten, max(0, memory_limit - least[two_bits])),
        journal_bytes=journal,
        disk_bytes=journal + stored + MANIFEST_BYTES + MANIFEST_SETTING_BYTES * further,
    )


def _needs_two_bits(three: int, two: int, memory_limit: int | None) -> bool:
    """Return whether a run needs two bits per position because three do not fit into its memory."""
    return memory_limit is not None and two < three and three > memory_limit


def plan_cut(puzzle: Puzzle, symmetry: str | None = None, *, outline: bool = False) -> ChunkedSpace:
    """Return the cut of a new store. It depends only on puzzle and ``symmetry``, so every run writes the same chunks.

    With ``outline``, the cut is only good for a plan that is not run; see `plan_run`.
    """
    space = best_space(puzzle.rules, symmetry or "auto", outline=outline)
    if isinstance(space.numbering, Keyed):
        return Space(space.rules, space.numbering.searched, space.leading), SPAN
    return space, plan_chunk(space)


def plan_chunk(space: Space) -> int:
    """Return the number of rows of a chunk: a part of a block of rows, or several blocks."""
    least, most = CHUNK_STATES
    block = _block(space)
    states = block * space.width
    if states < least:
        return min(space.rows, block * ceil(least / states))
    parts = ceil(states / most)
    candidates = range(parts, min(2 * parts, parts + DIVISORS_TRIED))
    parts = next((number for number in candidates if block % number == 0), parts)
    return max(1, -(-block // parts))


def _block(space: Space) -> int:
    """Return the number of rows of a block.

    These are rows that moves keep together. If these fit into a chunk, a block is all rows with the same first digit.
    """
    block = space.rows // prod(space.numbering.radices[: space.numbering.block_digits])
    return block if block * space.width > CHUNK_STATES[1] else max(1, space.rows // prod(space.numbering.radices[:1]))


def plan_partition(space: Space, chunk_rows: int, workers: int) -> int:
    """Return the number of rows of a partition, which is small enough to keep all workers busy until a layer ends.

    A partition consists of whole blocks of rows if these are not too large: a move maps a block to a block, so only few
    partitions read it.
    """
    least = space.size // SCATTERED_PARTITIONS if space.numbering.symmetries > 1 else 0
    most = ceil(space.size / (TASKS_A_WORKER * workers))
    wanted = min(max(PARTITION_STATES, least), most)
    block = _block(space)
    fits = (
        space.numbering.block_digits > 1 and block % chunk_rows == 0 and block * space.width <= min(BLOCK_STATES, most)
    )
    unit = block if fits else chunk_rows
    return unit * max(1, wanted // (unit * space.width))


def plan_shard(space: Space, partitions: int, workers: int) -> int:
    """Return the number of partitions of a shard: one shard per worker, if the work of a shard is worth a task."""
    least, most = SHARD_STATES
    shards = max(1, min(workers, space.size // least), ceil(space.size / most))
    return ceil(partitions / shards)


def partitions(space: Space, rows: int) -> tuple[Partition, ...]:
    """Return the partitions of a space: ranges of ``rows`` rows. The last range may be shorter."""
    firsts = range(0, space.rows, rows)
    return tuple(Partition(number, row, min(row + rows, space.rows)) for number, row in enumerate(firsts))


def check_memory(plan: Plan, memory_limit: int) -> None:
    """Raise ResourceLimitError if the run takes more than the limit even without any journal in memory."""
    if plan.keyed and plan.least_bytes > memory_limit:
        found = f"{counted(plan.looked, 'position')} or more take" if plan.looked else "the keys of its positions take"
        raise ResourceLimitError(
            f"the puzzle does not fit into {human(memory_limit)} of memory: {found} at least {human(plan.least_bytes)}"
        )
    if plan.least_bytes > memory_limit:
        raise ResourceLimitError(
            f"the puzzle does not fit into {human(memory_limit)} of memory: "
            f"{plan.space.size:,} positions take at least {human(plan.least_bytes)}, "
            f"{human(plan.table_bytes)} of it for the move tables"
        )


KEYS_A_WORKER, JOURNAL_A_WORKER = 40 * MIB, 128 * MIB
"""Memory per worker in bytes: the minimum for the keys of partitions being searched, and, if there is no limit, for the
part of the journal that is not written yet."""
KEY_BYTES = 3 * 8
"""Memory in bytes per position of a small puzzle during its search: keys of layers, and their successors."""


def _plan_of_keys(
    division: Division, commitment: Commitment, workers: int, memory_limit: int | None, described: int
) -> Plan:
    """Return the plan of a puzzle whose positions are keys. If it is not small, only the search finds out its size.

    Half of the memory that remains is for the journal.
    """
    reached = division.space.numbering.reachable(division.space.rules)
    least = described + (workers * KEYS_A_WORKER if reached is None else KEY_BYTES * reached)
    left = JOURNAL_A_WORKER * workers if memory_limit is None else max(0, memory_limit - least)
    disk = 0 if reached is None else CHUNK_BYTES + MANIFEST_BYTES + ceil(KEY_DISK_BYTES * reached)
    return Plan(
        space=division.space,
        chunk_rows=division.chunk_rows,
        partition_rows=division.partition_rows,
        shard_size=division.shard_size,
        two_bits=False,
        commitment=commitment,
        table_bytes=0,
        least_bytes=least,
        buffer_bytes=left // 2,
        journal_bytes=disk // 2,
        disk_bytes=disk,
    )


def _divide_keys(ranges: int, workers: int) -> tuple[int, int]:
    """Return the number of ranges per partition, and of partitions per shard on a cluster of several workers."""
    size = ceil(ranges / (TASKS_A_WORKER * workers))
    return size, 1 if workers > 1 else ceil(ranges / size)


def _divide(space: Space, chunk_rows: int, workers: int, processes: int) -> Division:
    if isinstance(space.numbering, Keyed):
        ranges, parts = _divide_keys(len(space.numbering.ranges), workers)
        return Division(space, chunk_rows, ranges * SPAN, parts if processes else 1, two_bits=False)
    partition_rows = plan_partition(space, chunk_rows, workers)
    shard_size = plan_shard(space, ceil(space.rows / partition_rows), workers) if processes else 1
    return Division(space, chunk_rows, partition_rows, shard_size, two_bits=False)


def _search_bytes(division: Division, workers: int, processes: int, two_bits: bool) -> int:
    """Return the memory of the search: bits, frontiers received from others, and segments of the active partitions.

    With two bits per position, each active partition has a third bit.
    """
    space, workers = division.space, min(workers, division.partition_count)
    bitmap = bitmap_bytes(space.rows, space.width)
    bits = _spread(ceil((TWO_BITS if two_bits else THREE_BITS) * bitmap) + ROW_BYTES * space.rows, division, processes)
    received = 0 if processes <= 1 else processes * bitmap  # each process holds at most one frontier
    return bits + received + (3 + two_bits) * workers * bitmap // division.partition_count


def _assembly_bytes(division: Division, workers: int) -> int:
    """Return the memory of the chunks that are written at the same time, after the bits are released."""
    workers = min(workers, division.partition_count)
    at_once = workers * min(WRITE_THREADS, ceil(division.partition_rows / division.chunk_rows))
    return at_once * ASSEMBLED_BYTES * division.chunk_rows * division.space.width


def _spread(size: int, division: Division, processes: int) -> int:
    """Return the memory of all processes if ``size`` bytes are divided among the shards.

    Every process is assumed to take as much as the process with the most shards.
    """
    shards = division.shard_count
    return size if processes <= 1 else ceil(size * ceil(shards / processes) * processes / shards)
