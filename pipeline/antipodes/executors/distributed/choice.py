"""The choice of the workers that a run uses, by their memory, and messages about unused workers."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from antipodes.executors.api import WORKER_SHARE, Capacity, Fits
from antipodes.system.events import Listener, WaitingForWorkers, WorkerNotUsed, WorkerRefused

SHORT_STAY_SECONDS = 60.0
"""Maximum duration of a short stay in seconds. A worker that leaves so soon was of no use."""
FREE_SHORT_STAYS = 2
"""Number of short stays that a machine may have before its workers are put on probation."""
MAX_PROBATION_SECONDS = 60.0
"""Maximum number of seconds that a worker must stay before the run uses it."""

Workers = Mapping[str, Any]
"""Dask's descriptions of workers, by address."""


def capacity_of(workers: Collection[Any]) -> Capacity:
    """Return the capacity of workers: each counts as if it had the smallest of their memory limits."""
    limits = [worker["memory_limit"] for worker in workers if worker["memory_limit"]]
    memory = int(WORKER_SHARE * len(workers) * min(limits)) if limits else None
    return Capacity(sum(int(worker["nthreads"]) for worker in workers), len(workers), memory)


def largest_set_that_fits(able: Workers, preferred: Collection[str], fits: Fits) -> set[str] | None:
    """Return the addresses of the largest set of workers that fits, or None if no set fits.

    Among sets of equal size, the preferred workers come first, then sets with large memory limits and many threads.
    """
    kept = able.keys() & set(preferred)
    orders = list(_orders(able, kept))
    fits = cache(fits)  # the answer depends only on the capacity
    for size in range(len(able), 0, -1):
        sets = [kept] if len(kept) == size else []
        sets += [set(order[:size]) for order in orders if len(order) >= size]
        for chosen in sets:
            if fits(capacity_of([able[worker] for worker in chosen])):
                return chosen
    return None


def _orders(able: Workers, preferred: Collection[str]) -> Iterator[list[str]]:
    """Yield two orders of the workers with at least a certain memory limit, for each limit that occurs.

    The first order begins with preferred workers, the second with workers that have few threads, because preferred
    workers with many threads may not fit when others do.
    """
    limits = {worker: float(described["memory_limit"] or math.inf) for worker, described in able.items()}
    for limit in sorted(set(limits.values()), reverse=True):
        enough = sorted(worker for worker in able if limits[worker] >= limit)
        yield sorted(enough, key=lambda worker: (worker not in preferred, -int(able[worker]["nthreads"])))
        yield sorted(enough, key=lambda worker: int(able[worker]["nthreads"]))


def host_of(address: str) -> str:
    """Return the address of a worker without its port, which changes whenever the worker restarts."""
    return address.rpartition(":")[0]


class Refusals:
    """Notifications about workers that are not used, with the reasons.

    A worker that returns on the same machine with the same problem is not reported again.
    """

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, str]] = {}
        """The machine and the reason that were reported, by address."""

    def report(
        self,
        listener: Listener,
        event: type[WorkerRefused | WorkerNotUsed | WaitingForWorkers],
        reasons: Workers,
        present: Collection[str],
    ) -> None:
        """Report each worker in ``reasons`` and its reason, such as "does not answer".

        ``present`` contains the addresses of all workers that are present.
        """
        for worker, reason in sorted(reasons.items()):
            problem = host_of(worker), reason
            if self._told.get(worker) == problem:
                continue
            before = next((one for one, told in self._told.items() if told == problem and one not in present), None)
            if before is None:
                listener(event(f"worker {worker} {reason}"))
            else:
                del self._told[before]
            self._told[worker] = problem

    def forget(self, workers: Iterable[str]) -> None:
        """Forget the problems of workers that are used now."""
        for worker in workers:
            self._told.pop(worker, None)


class Probation:
    """Probation for machines whose workers leave soon after they join: workers must stay longer before they are used.

    Each worker that joins costs a commit and the restoration of all shards.
    """

    def __init__(self) -> None:
        self._joined: dict[str, float] = {}
        """The time at which each worker joined, by address."""
        self._short_stays: Counter[str] = Counter()
        """Number of short stays, by machine."""

    def note_join(self, worker: str, now: float) -> None:
        """Record that a worker has joined."""
        self._joined[worker] = now

    def note_departure(self, worker: str, now: float) -> None:
        """Record that a worker has left."""
        if now - self._joined.pop(worker, -math.inf) < SHORT_STAY_SECONDS:
            self._short_stays[host_of(worker)] += 1

    def is_over(self, worker: str, now: float) -> bool:
        """Return whether a worker has stayed long enough to be used."""
        short = self._short_stays[host_of(worker)]
        needed = min(MAX_PROBATION_SECONDS, 2.0**short) if short > FREE_SHORT_STAYS else 0.0
        return now - self._joined.get(worker, -math.inf) >= needed
