"""The memory of a check: what it takes at least, and how many blocks of depths the rest holds."""

from dataclasses import dataclass

import numpy as np

from antipodes.executors.api import Scheduler
from antipodes.machine import available_memory
from antipodes.sizes import human
from antipodes.tables.planning.plan import PROGRAM_BYTES, plan_partition
from antipodes.tables.store.manifest import TableManifest
from antipodes_tasks.errors import ResourceLimitError

BLOCKS_AT_ONCE = 12
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
    """The memory of a check of all that is committed, in bytes; ResourceLimitError if it does not fit.

    Without a limit it may take what a run may: the free memory, on a cluster the workers' share for runs.
    """
    space, chunk_rows = manifest.cut
    width = manifest.width * np.dtype(manifest.dtype).itemsize
    block = chunk_rows * width
    least = plan_partition(space, chunk_rows, scheduler.workers) * width
    described = PROGRAM_BYTES + space.rules.moves.memory_bytes + space.table_bytes
    working = max(space.building_bytes(scheduler.workers), scheduler.workers * (least + BLOCKS_AT_ONCE * block))
    free = scheduler.memory or available_memory()
    memory = CheckMemory(
        fixed=max(1, scheduler.processes) * described + working,
        limit=free if memory_limit is None else memory_limit,
        block=block,
    )
    memory.check(memory_limit is not None)
    return memory
