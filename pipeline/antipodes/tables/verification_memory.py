"""The memory that checking a table takes, and the largest set of workers that has this memory."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from antipodes.executors.api import Capacity, Scheduler, capacity
from antipodes.system.machine import available_memory, human
from antipodes.tables.planning.fitting import describe_misfit
from antipodes.tables.planning.plan import PROGRAM_BYTES, plan_partition
from antipodes.tables.store.manifest import TableManifest
from antipodes_tasks.base.errors import ResourceLimitError

WORKING_BLOCKS = 12
"""Memory of a task in blocks, apart from the cached blocks: the block that is checked, the block that is read (as a
file, decompressed, checked and copied), and freed blocks that the allocator keeps. Measured."""


@dataclass(frozen=True)
class CheckMemory:
    """Memory of a check in bytes, of all processes together."""

    fixed: int
    """Bytes for the program and the move tables in each process, and for the working memory of the tasks."""
    limit: int
    block: int
    """Bytes of a block of depths."""

    @property
    def capacity(self) -> int:
        """Maximum number of blocks that stay in memory."""
        return (self.limit - self.fixed) // self.block

    def check(self, given: bool) -> None:
        """Raise ResourceLimitError if the check takes more than the limit: a ``given`` limit, or the free memory."""
        if self.fixed > self.limit:
            expected = f"the check takes at least {human(self.fixed)} of memory with this many workers"
            found = f"the limit is {human(self.limit)}" if given else f"{human(self.limit)} are available"
            raise ResourceLimitError(f"{expected}; {found}")


def plan_memory(manifest: TableManifest, scheduler: Scheduler, memory_limit: int | None) -> CheckMemory:
    """Return the memory of a check of all committed layers, and choose the largest set of workers that has it.

    Without a limit the check may take as much memory as a run: the free memory, or on a cluster the share of the
    workers' memory limits that runs may use.

    Raises ResourceLimitError if no set of workers has enough memory.
    """

    def fits(workers: Capacity) -> bool:
        memory = _memory_on(workers, manifest, memory_limit)
        return memory.fixed <= memory.limit

    scheduler.choose_workers(fits, partial(describe_misfit, memory_limit))
    memory = _memory_on(capacity(scheduler), manifest, memory_limit)
    memory.check(memory_limit is not None)
    return memory


def _memory_on(workers: Capacity, manifest: TableManifest, memory_limit: int | None) -> CheckMemory:
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
