"""The choice of the workers that a run uses, by their memory, and the messages about those that it does not use."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from antipodes.events import Listener, WaitingForWorkers, WorkerNotUsed, WorkerRefused
from antipodes.executors.api import WORKER_SHARE, Capacity, Fits

SHORT_STAY_SECONDS = 60.0
"""Seconds within which a worker that leaves again was of no use."""
FREE_SHORT_STAYS = 2
"""Short stays on a machine that have no consequence."""
MAX_PROBATION_SECONDS = 60.0
"""Maximum number of seconds that a worker has to stay before the run uses it."""

Workers = Mapping[str, Any]
"""Dask's descriptions of workers, by address."""


def capacity_of(workers: Collection[Any]) -> Capacity:
    """Return the capacity of workers: each counts as if it had the smallest of their memory limits."""
    limits = [worker["memory_limit"] for worker in workers if worker["memory_limit"]]
    memory = int(WORKER_SHARE * len(workers) * min(limits)) if limits else None
    return Capacity(sum(int(worker["nthreads"]) for worker in workers), len(workers), memory)


def largest_set_that_fits(able: Workers, preferred: Collection[str], fits: Fits) -> set[str] | None:
    """Return the addresses of the largest set of workers that fits, None if no set fits.

    Of equally large sets, the preferred one is first, then those with large memory limits and many threads.
    """
    kept = able.keys() & set(preferred)
    orders = list(_orders(able, kept))
    for size in range(len(able), 0, -1):
        sets = [kept] if len(kept) == size else []
        sets += [set(order[:size]) for order in orders if len(order) >= size]
        for chosen in sets:
            if fits(capacity_of([able[worker] for worker in chosen])):
                return chosen
    return None


def _orders(able: Workers, preferred: Collection[str]) -> Iterator[list[str]]:
    """Yield, for each memory limit, the workers that have at least this limit: preferred ones first, and few threads.

    Preferred workers with many threads may not fit although others with few threads do.
    """
    limits = {worker: float(described["memory_limit"] or math.inf) for worker, described in able.items()}
    for limit in sorted(set(limits.values()), reverse=True):
        enough = sorted(worker for worker in able if limits[worker] >= limit)
        yield sorted(enough, key=lambda worker: (worker not in preferred, -int(able[worker]["nthreads"])))
        yield sorted(enough, key=lambda worker: int(able[worker]["nthreads"]))


def host_of(address: str) -> str:
    """Return the address of a worker without its port, which is another one whenever the worker starts again."""
    return address.rpartition(":")[0]


class Refusals:
    """Tells the listener which workers are not used, and why.

    A worker that comes back to the same machine, with the same problem, is not named again.
    """

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, str]] = {}
        """By address, the machine and the reason that the listener was told."""

    def report(
        self,
        listener: Listener,
        event: type[WorkerRefused | WorkerNotUsed | WaitingForWorkers],
        reasons: Workers,
        present: Collection[str],
    ) -> None:
        """Tell the listener of each worker and its reason, such as "does not answer"; others may be ``present``."""
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
    """The machines whose workers leave as soon as they have joined: each has to stay longer before the run uses it.

    A worker that joins costs a commit and the restoration of all shards.
    """

    def __init__(self) -> None:
        self._joined: dict[str, float] = {}
        """By address, when the worker joined."""
        self._short_stays: Counter[str] = Counter()
        """By machine, how many workers left soon."""

    def note_join(self, worker: str, now: float) -> None:
        """Note that a worker has joined."""
        self._joined[worker] = now

    def note_departure(self, worker: str, now: float) -> None:
        """Note that a worker has left."""
        if now - self._joined.pop(worker, -math.inf) < SHORT_STAY_SECONDS:
            self._short_stays[host_of(worker)] += 1

    def is_over(self, worker: str, now: float) -> bool:
        """Return whether a worker has stayed long enough to be used."""
        short = self._short_stays[host_of(worker)]
        needed = min(MAX_PROBATION_SECONDS, 2.0**short) if short > FREE_SHORT_STAYS else 0.0
        return now - self._joined.get(worker, -math.inf) >= needed
