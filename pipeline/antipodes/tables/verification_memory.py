"""The memory that the check of a table takes, on the largest set of workers that it fits."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from antipodes.executors.api import Capacity, Scheduler, capacity
from antipodes.machine import available_memory, human
from antipodes.tables.planning.fitting import describe_misfit
from antipodes.tables.planning.plan import PROGRAM_BYTES, plan_partition
from antipodes.tables.store.manifest import TableManifest
from antipodes_tasks.errors import ResourceLimitError

WORKING_BLOCKS = 12
"""Blocks that a task takes memory for besides those that are kept: the one that is compared, the one that is read (as a
file, decompressed, checked and copied), and freed ones that the allocator keeps. Measured."""


@dataclass(frozen=True)
class CheckMemory:
    """Bytes of all processes together."""

    fixed: int
    """The program and the move tables in each process, and what the tasks have in hand."""
    limit: int
    block: int
    """Bytes of a block of depths."""

    @property
    def capacity(self) -> int:
        """The number of blocks that stay in memory, at most."""
        return (self.limit - self.fixed) // self.block

    def check(self, given: bool) -> None:
        """Raise ResourceLimitError if the check takes more than the limit, which was ``given`` or is what is free."""
        if self.fixed > self.limit:
            expected = f"the check takes at least {human(self.fixed)} of memory with this many workers"
            found = f"the limit is {human(self.limit)}" if given else f"{human(self.limit)} are available"
            raise ResourceLimitError(f"{expected}; {found}")


def plan_memory(manifest: TableManifest, scheduler: Scheduler, memory_limit: int | None) -> CheckMemory:
    """The memory of a check of all that is committed, in bytes, on the largest set of workers that it fits.

    Without a limit it may take what a run may: the free memory, on a cluster the workers' share for runs.

    ResourceLimitError if it fits into the memory of no set of workers.
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
