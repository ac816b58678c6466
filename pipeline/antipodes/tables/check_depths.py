"""The check of every depth of a table with the move tables, and of a sample without them.

A block is a chunk of depths. A job is the check of a partition, which reads the blocks that contain predecessors of the
partition's positions, and then the partition's own blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil

import numpy as np
from numpy.typing import NDArray

from antipodes.executors.api import Capacity, Handle, Scheduler
from antipodes.runs.verification import BlockCache, BlockReader, CheckMemory, OneBlock, Verification
from antipodes.system.machine import available_memory
from antipodes.tables.check_bytes import CheckedTable, read_block
from antipodes.tables.check_sample import INFINITE, check_sample, draw_sample
from antipodes.tables.layers.division import partitions, plan_partition
from antipodes.tables.layers.move_table_tasks import build_tables
from antipodes.tables.planning.plan import PROGRAM_BYTES
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.bfs.partition import Partition, sources
from antipodes_tasks.bfs.proof import MAX_EXAMPLES, Findings, RowDepths, check_block, least_before
from antipodes_tasks.move_tables import Indices, MoveTables
from antipodes_tasks.spaces.space import NOT_NUMBERED

WORKING_BLOCKS = 12
"""Memory of a task in blocks, apart from the cached blocks: the block that is checked, the block that is read (as a
file, decompressed, checked and copied), and freed blocks that the allocator keeps. Measured."""


def check_depths(store: TableStore, manifest: TableManifest, verification: Verification) -> CheckedTable:
    """Check all committed depths.

    Raises
    ------
    StoreDamagedError
        A chunk is corrupt, or the starts have wrong indices.
    ResourceLimitError
        No set of workers has enough memory.
    """
    memory = plan_memory(manifest, verification)
    scheduler, (space, _) = verification.scheduler, manifest.cut
    rules = _expected(manifest, verification.seed)
    progress = verification.start(manifest.puzzle["name"], manifest.numbered, manifest.index_size)
    tables = build_tables(scheduler, space)
    reader = BlockReader(
        scheduler,
        partial(read_block, store, manifest),
        _jobs(manifest, tables, scheduler),
        memory.blocks,
        again=range(manifest.chunk_count),
    )
    found = reader.run(
        check_partition, tables, rules, on_findings=lambda parts: progress.add(sum(map(_entries, parts)))
    )
    by_chunk = {number: findings for part in found for number, findings in part.items()}
    findings = [by_chunk[number] for number in range(manifest.chunk_count)]
    sample = draw_sample(space, [finding.drawn for finding in findings], rules.seed)
    (here,) = scheduler.gather([tables])
    depths_of = partial(_depths_of, reader, manifest)
    contradicted = check_sample(space, sample, here, depths_of, rules.expanded, rules.seed)
    problems = _wrong(manifest, findings) | {what: (len(one), one[:MAX_EXAMPLES]) for what, one in contradicted.items()}
    wrong = {what: (count, space.unrank(first)) for what, (count, first) in problems.items() if count}
    return CheckedTable(np.array([finding.layers for finding in findings]), wrong, sampled=len(sample))


def plan_memory(manifest: TableManifest, verification: Verification) -> CheckMemory:
    """Return the memory of a check of all committed layers, and choose the largest set of workers that has it.

    Without a limit the check may take as much memory as a run: the free memory, or on a cluster the share of the
    workers' memory limits that runs may use.

    Raises ResourceLimitError if no set of workers has enough memory.
    """
    limit = verification.memory_limit
    memory = verification.choose_workers(partial(_memory_on, manifest, limit), lambda memory: memory.fits)
    memory.check(limit is not None)
    return memory


def _memory_on(manifest: TableManifest, memory_limit: int | None, workers: Capacity) -> CheckMemory:
    """Return the memory of a check on a set of workers."""
    space, chunk_rows = manifest.cut
    width = manifest.width * np.dtype(manifest.dtype).itemsize
    block = chunk_rows * width
    least = plan_partition(space, chunk_rows, workers.workers) * width
    described = PROGRAM_BYTES + space.rules.moves.memory_bytes + space.filler.table_bytes
    working = max(space.filler.building_bytes(workers.workers), workers.workers * (least + WORKING_BLOCKS * block))
    free = workers.memory or available_memory()
    return CheckMemory(
        fixed=max(1, workers.processes) * described + working,
        limit=free if memory_limit is None else memory_limit,
        block=block,
    )


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


def _expected(manifest: TableManifest, seed: int) -> Expected:
    """Return the data of all tasks; raise StoreDamagedError if the starts are wrong, since distances depend on them."""
    space, deepest = manifest.cut[0], manifest.committed_depth
    labels = space.starts
    starts = np.unique(space.rank(labels))
    _, found = space.numbering.positions_of_entries(starts)
    one_of_each = bool(space.rules.moves.free_moves)  # an entry is a class, and all positions of its class are starts
    right, given = set(map(bytes, found)), set(map(bytes, labels))
    if not right <= given or ((right, len(found)) != (given, len(labels)) and not one_of_each):
        raise StoreDamagedError("the indices of the starts belong to other positions, so nothing can be checked")
    return Expected(starts, deepest, deepest if manifest.searched else deepest - 1, manifest.dtype, seed)


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
        """The blocks in the order in which `check_partition` reads them."""
        return [*self.sources, *self.own]


def _jobs(manifest: TableManifest, tables: Handle, scheduler: Scheduler) -> list[PartitionReads]:
    """Return the partitions of a table, and the blocks that their checks read."""
    space, chunk_rows = manifest.cut
    parts = partitions(space, plan_partition(space, chunk_rows, scheduler.workers))
    bounds = [*range(0, manifest.rows, chunk_rows), manifest.rows], [*(part.first_row for part in parts), manifest.rows]
    (handle,) = scheduler.persist({("sources", 0): (sources, tables, *bounds)}).values()
    (into,) = scheduler.gather([handle])
    own = [range(part.first_row // chunk_rows, ceil(part.end_row / chunk_rows)) for part in parts]
    return [PartitionReads(*one) for one in zip(parts, own, into, strict=True)]


def check_partition(
    blocks: BlockCache[RowDepths], reads: PartitionReads, tables: MoveTables, rules: Expected
) -> dict[int, Findings]:
    """Return the findings in each block of a partition, by block number."""
    found, part = {}, reads.part
    before_part = (blocks.get(number) for number in reads.sources)
    least = least_before(part.first_row, part.end_row, before_part, tables, rules.expanded, rules.dtype)
    for number in reads.own:
        block = blocks.get(number)
        first = block.first_row - part.first_row
        before = least[first : first + len(block.depths)]
        found[number] = check_block(block, before, rules.starts, rules.deepest, rules.seed)
    return found


def _entries(findings: dict[int, Findings]) -> int:
    """Return the number of entries of a partition."""
    return sum(int(finding.layers.sum()) for finding in findings.values())


@dataclass(frozen=True)
class Places(OneBlock):
    """The job of reading the depths at some places of a block."""

    offsets: Indices


def depths_at(blocks: BlockCache[RowDepths], places: Places) -> Indices:
    """Return the depths ``(n,)`` at some places of a block."""
    return blocks.get(places.number).depths.ravel()[places.offsets].astype(np.int64)


def _depths_of(reader: BlockReader[RowDepths], manifest: TableManifest, indices: Indices) -> Indices:
    """Return the depths ``(n,)`` at indices ``(n,)``: INFINITE for uncommitted depths and for NOT_NUMBERED."""
    depths = np.full(len(indices), INFINITE, dtype=np.int64)
    numbers, offsets = np.divmod(indices, manifest.chunk_rows * manifest.width)
    numbers[indices == NOT_NUMBERED] = -1
    asked = [int(number) for number in np.unique(numbers) if number >= 0]
    jobs = [Places(number, offsets[numbers == number]) for number in asked]
    for number, found in zip(asked, reader.run(depths_at, jobs=jobs), strict=True):
        depths[numbers == number] = found
    return np.where(depths > manifest.committed_depth, INFINITE, depths)


def _wrong(manifest: TableManifest, findings: Sequence[Findings]) -> dict[str, tuple[int, Indices]]:
    """Return, for each kind of problem, the number of positions that have it and the indices of the first of them."""
    kinds = {
        f"a {manifest.config.puzzle.depth_zero} whose depth is not 0": [one.not_zero for one in findings],
        "reached, but no predecessor is at the previous depth": [one.unsupported for one in findings],
        "more than one deeper than a predecessor, or unreached": [one.skipped for one in findings],
    }
    return {
        what: (sum(one.count for one in wrong), np.concatenate([one.first for one in wrong])[:MAX_EXAMPLES])
        for what, wrong in kinds.items()
    }
