"""Check before a run whether it fits into a cluster, whose workers are queried or described by the user."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

from antipodes.executors.api import WORKER_SHARE
from antipodes.executors.distributed.choice import capacity_of, largest_set_that_fits
from antipodes.puzzles.config import Config
from antipodes.system.machine import MIB, human
from antipodes.system.options import RunOptions
from antipodes.system.records import optional
from antipodes.tables.planning.fitting import fits_into, plan_for
from antipodes.tables.planning.network import NetworkCost, network_cost
from antipodes.tables.planning.plan import Plan
from antipodes.tables.store.manifest import ChunkedSpace
from antipodes_tasks.base.quoting import counted

Workers = Mapping[str, Any]
"""The workers by name, described as by dask: their ``memory_limit`` in bytes (0: none) and their ``nthreads``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCluster:
    """The result of fitting a run into a cluster, for JSON output."""

    fits: bool
    workers: int
    used_workers: int
    threads: int
    memory_bytes: int | None
    least_memory_bytes: int
    least_worker_memory_bytes: int
    network: NetworkCost | None = optional()


@dataclass(frozen=True)
class ClusterFit:
    """The result of fitting a run into a cluster."""

    workers: Workers
    used: frozenset[str]
    """The largest set of workers into which the run fits. Empty if it fits into no set."""
    plan: Plan
    """The plan for the workers in ``used``, or for all workers if no set fits."""
    within: int | None
    """Bytes that the run may take on these workers, or None if there is no limit."""
    is_limited: bool
    """Whether these bytes are the memory limit of the run, not a share of the workers' limits."""

    @property
    def planned(self) -> int:
        """Number of workers of the plan."""
        return len(self.used) or len(self.workers)

    @property
    def worker_memory(self) -> int:
        """The memory limit, in bytes, that each worker of the plan needs, rounded up to whole MiB."""
        return ceil(self.plan.min_bytes / self.planned / WORKER_SHARE / MIB) * MIB

    def network_cost(self, search_seconds: float, rate: float) -> NetworkCost | None:
        """Return what the network costs the workers of the plan; see `network_cost`."""
        threads = max(1, sum(int(worker["nthreads"]) for worker in self.workers.values()) // len(self.workers))
        return network_cost(self.plan, self.planned, threads, search_seconds, rate)

    def to_record(self, network: NetworkCost | None) -> PlannedCluster:
        """Return the value of the key ``cluster`` of ``plan --json``; ``network`` is ABSENT if no rate is given."""
        return PlannedCluster(
            fits=bool(self.used),
            workers=len(self.workers),
            used_workers=len(self.used),
            threads=sum(int(worker["nthreads"]) for worker in self.workers.values()),
            memory_bytes=self.within,
            least_memory_bytes=self.plan.min_bytes,
            least_worker_memory_bytes=self.worker_memory,
            network=network,
        )

    def __str__(self) -> str:
        every = counted(len(self.workers), "worker")
        if not self.used and self.is_limited:
            least, limit = human(self.plan.min_bytes), human(self.within or 0)
            return f"does not fit {every}: they need {least} together; the memory limit of the run is {limit}"
        if not self.used:
            least = f"{self.worker_memory // MIB}MiB"
            return f"does not fit {every}: each needs a memory limit of {least} or more"
        rest = len(self.workers) - len(self.used)
        which = every if not rest else f"{len(self.used)} of {every}; too little memory for the other{'s' * (rest > 1)}"
        most = "" if self.within is None else f" of the {human(self.within)} that it may use there"
        return f"fits {which}; it needs {human(self.plan.min_bytes)}{most}"


def fit_cluster(config: Config, options: RunOptions, cut: ChunkedSpace, workers: Workers) -> ClusterFit | None:
    """Return how a run with these options fits into a cluster, or None if there are no workers."""
    if not workers:
        return None
    used = largest_set_that_fits(workers, (), partial(fits_into, config, options, cut, None)) or set()
    capacity = capacity_of([workers[worker] for worker in used or workers])
    plan = plan_for(config, options, cut, None, capacity)
    return ClusterFit(
        workers, frozenset(used), plan, options.memory_limit or capacity.memory, bool(options.memory_limit)
    )


def identical_workers(count: int, memory_limit: int, threads: int) -> Workers:
    """Return descriptions of workers with the same memory limit in bytes and the same number of threads."""
    return {str(number): {"memory_limit": memory_limit, "nthreads": threads} for number in range(count)}
