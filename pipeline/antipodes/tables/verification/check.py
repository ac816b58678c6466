"""The check of one table: how it is cut into tasks, what these find, and the sample that they leave to check."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil

import numpy as np

from antipodes.events import CheckStarted, Listener, PositionsChecked
from antipodes.executors.api import Call, Handle, Key, Scheduler, never
from antipodes.tables.layers.building import build_tables
from antipodes.tables.planning.plan import partitions, plan_partition
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.table_store import TableStore
from antipodes.tables.verification.blocks import Blocks
from antipodes.tables.verification.memory import CheckMemory
from antipodes.tables.verification.order import reading_order
from antipodes.tables.verification.sample import check_sample, draw_sample
from antipodes.tables.verification.tasks import PartitionReads, Rules, check_partitions, depths_at, read_block
from antipodes_tasks.bfs.partition import sources
from antipodes_tasks.bfs.proof import Findings
from antipodes_tasks.errors import StoreDamagedError
from antipodes_tasks.spaces import rules
from antipodes_tasks.spaces.space import NOT_NUMBERED, Indices

BATCHES_A_WORKER = 8
"""Tasks per worker that share no memory with others: few, since each reads its blocks for itself."""


@dataclass(frozen=True)
class Checked:
    """What a check found."""

    findings: Sequence[Findings]
    """Those in each chunk, in the order of their numbers."""
    sample: Indices
    """The positions that were also checked by the rules of the puzzle alone, ``(n,)``."""
    contradicted: dict[str, Indices]
    """Those of the sample that the rules contradict, by the kind of problem."""


class TableCheck:
    """The check of all that is committed in a store."""

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
        self._rules = Rules(self._starts(), deepest, expanded, manifest.dtype, seed)

    def run(self) -> Checked:
        """Check all positions by the move tables, and a sample of them without these."""
        self._listener(CheckStarted(self._manifest.puzzle["name"], self._space.size))
        tables = build_tables(self._scheduler, self._space)
        order = self._order(tables)
        shared = self._shared_blocks(order) if self._scheduler.shares_memory else None
        findings = self._findings(tables, order, shared)
        sample = draw_sample(self._space, [finding.drawn for finding in findings], self._rules.seed)
        (here,) = self._scheduler.gather([tables])
        depths_of = partial(self._depths_of, shared)
        contradicted = check_sample(self._space, sample, here, depths_of, self._rules.expanded)
        return Checked(findings, sample, contradicted)

    def _starts(self) -> Indices:
        """The indices of the starts, ranked and unranked again: all distances are counted from them."""
        labels = self._space.start_labels
        starts = self._space.rank(labels)
        if not np.array_equal(self._space.unrank(starts), labels):
            raise StoreDamagedError("the indices of the starts are those of other positions: nothing can be checked")
        return np.sort(starts)

    def _order(self, tables: Handle) -> list[PartitionReads]:
        """The partitions, in an order in which few blocks are read twice."""
        rows, chunk_rows = self._manifest.rows, self._chunk_rows
        parts = partitions(self._space, plan_partition(self._space, chunk_rows, self._scheduler.workers))
        bounds = [*range(0, rows, chunk_rows), rows], [*(part.first_row for part in parts), rows]
        (handle,) = self._scheduler.persist({("sources", 0): (sources, tables, *bounds)}).values()
        (into,) = self._scheduler.gather([handle])
        own = [range(part.first_row // chunk_rows, ceil(part.end_row / chunk_rows)) for part in parts]
        reads = [PartitionReads(*one) for one in zip(parts, own, into, strict=True)]
        needs = [sorted({*one.own, *one.sources}) for one in reads]
        return [reads[number] for number in reading_order(needs, self._memory.capacity)]

    def _shared_blocks(self, order: Sequence[PartitionReads]) -> Blocks:
        """The blocks that tasks in this process share; finally any of them may be read once more for the sample."""
        uses = [*(reads.uses for reads in order), range(self._chunks)]
        return Blocks(self._read, uses, self._memory.capacity)

    def _findings(self, tables: Handle, order: Sequence[PartitionReads], shared: Blocks | None) -> list[Findings]:
        """The findings in each chunk, in the order of their numbers; the listener is told of each task."""
        found: dict[int, Findings] = {}
        done = 0

        def collect(key: Key, result: dict[int, Findings]) -> None:
            nonlocal done
            found.update(result)
            done += sum(int(finding.layers.sum()) for finding in result.values())
            self._listener(PositionsChecked(done, self._space.size))

        calls: dict[Key, Call] = {
            ("check", number): (check_partitions, blocks, batch, tables, self._rules)
            for number, (blocks, batch) in enumerate(self._batches(order, shared))
        }
        self._scheduler.run_unordered(calls, collect, never)
        return [found[number] for number in range(self._chunks)]

    def _batches(
        self, order: Sequence[PartitionReads], shared: Blocks | None
    ) -> list[tuple[Blocks, Sequence[PartitionReads]]]:
        """The partitions of each task, and the blocks that it gets them from."""
        if shared:
            return [(shared, (reads,)) for reads in order]
        workers = self._scheduler.workers
        size = ceil(len(order) / (BATCHES_A_WORKER * workers))
        batches = [order[first : first + size] for first in range(0, len(order), size)]
        capacity = self._memory.capacity // workers
        return [(Blocks(self._read, [reads.uses for reads in batch], capacity), batch) for batch in batches]

    def _depths_of(self, shared: Blocks | None, indices: Indices) -> Indices:
        """The depth at each index ``(n,)``, ``(n,)``; rules.INFINITE if it is greater than counts, or NOT_NUMBERED."""
        depths = np.full(len(indices), rules.INFINITE, dtype=np.int64)
        numbers, offsets = np.divmod(indices, self._chunk_rows * self._space.width)
        numbers[indices == NOT_NUMBERED] = -1
        asked = [int(number) for number in np.unique(numbers) if number >= 0]
        size = max(1, len(asked) // (BATCHES_A_WORKER * self._scheduler.workers))
        calls: dict[Key, Call] = {}
        for first in range(0, len(asked), size):
            batch = asked[first : first + size]
            blocks = shared or Blocks(self._read, [batch], 0)
            calls["depths", first] = depths_at, blocks, {number: offsets[numbers == number] for number in batch}

        def collect(key: Key, result: dict[int, Indices]) -> None:
            for number, found in result.items():
                depths[numbers == number] = found

        self._scheduler.run_unordered(calls, collect, never)
        return np.where(depths > self._rules.deepest, rules.INFINITE, depths)
