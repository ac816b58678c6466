"""Health checks of a cluster while a run waits for results: does the scheduler answer, do the workers make progress?

A worker may answer and still make no progress: it runs none of its tasks, or cannot send one of its results. Its
heartbeat does not reveal this, and dask would wait forever: it repeats failing requests, and ignores errors in
transfers between workers. A worker makes progress if a task runs (however long), a task ends, or an input arrives.
"""

import asyncio
import logging
import math
import time
from collections.abc import Callable, Collection, Coroutine, Iterable
from contextlib import suppress
from typing import Any

from distributed.worker import get_data_from_worker

from antipodes.executors.distributed import connection
from antipodes.executors.distributed.connection import one_line, silent, timeout_of
from antipodes.executors.distributed.membership import Membership
from antipodes.executors.distributed.worker import give_back_freed_memory
from antipodes.system.events import Waiting
from antipodes.system.machine import human
from antipodes.system.waits import end_waits
from antipodes_tasks.base.errors import WorkerFailedError

HEARTBEAT_SECONDS = 1.0
"""Seconds between two requests to the scheduler."""
UNHEARD_SECONDS = 15.0
"""Seconds without a heartbeat of a worker (one per second is normal) after which the listener is notified."""
UNHEARD_LIMIT = 60.0
"""Seconds that a worker then has to be heard of, before it counts as lost. dask would wait for up to 10 minutes."""
STUCK_SECONDS = 60.0
"""Seconds without progress, besides the time for transfers, after which a worker that answers counts as lost."""
PAUSED_SECONDS = 60
"""Seconds that a paused worker has to move results to disk before it counts as failed."""
SLOWEST = 1 << 20
"""Minimum rate, in bytes per second, of a transfer that makes progress."""
BUSY_SECONDS = 0.15
"""Seconds between two requests to a worker that is busy with other transfers; the same value as in dask."""
LONGEST_REASON = 200
"""Maximum number of characters of the reason for a failed transfer in a message."""
logger = logging.getLogger(__name__)

Still = tuple[int, int]
"""State of an idle worker: a fingerprint of its tasks and inputs, and the number of bytes that it waits for."""


class Health:
    """Checks of scheduler and members, with one request at a time; used in the client's loop."""

    def __init__(self, client: Any, membership: Membership) -> None:
        self._client = client
        self._membership = membership
        self._request: asyncio.Future[None] | None = None
        self._last = 0.0
        self._missed = 0
        """Number of heartbeats without an answer; unlike a time, it does not grow while this process is suspended."""
        self._unheard: dict[str, int] = {}
        """Number of heartbeats of the scheduler for which each silent member has been reported."""
        self._still: dict[str, tuple[Still, int]] = {}
        """The state of each idle worker, and the number of heartbeats for which it has been unchanged."""
        self._inquiry: asyncio.Future[dict[str, str]] | None = None
        self._asked: set[str] = set()
        """Paused members that have been asked to free memory."""
        self._stopped: set[str] = set()
        """Members that have been notified that the run has to stop."""
        self._requests: set[asyncio.Future[Any]] = set()
        """Requests under way, to which asyncio itself keeps no reference."""

    def beat(self) -> None:
        """Check whether the last request was answered, and send the next one, at most once in `HEARTBEAT_SECONDS`.

        Raises SchedulerSilentError if the scheduler has not answered for too long.
        """
        if time.monotonic() - self._last < 0.9 * HEARTBEAT_SECONDS:
            return
        self._last = time.monotonic()
        self._end_waits()
        if self._request is None or self._request.done():
            self._missed = 0
            self._request = asyncio.ensure_future(self._ask())
            return
        self._missed += 1
        if self._missed == int(connection.ANNOUNCE_SECONDS / HEARTBEAT_SECONDS):
            self._membership.listener(Waiting("the dask scheduler to answer"))
        if self._missed >= timeout_of(self._client) / HEARTBEAT_SECONDS:
            self.stop()
            raise silent(timeout_of(self._client))

    def _end_waits(self) -> None:
        """End the members' waits for the storage after the run has been asked to stop."""
        waits, members = self._membership.watch.waits, self._membership.members.keys()
        if waits is not None and members - self._stopped and self._membership.stop():
            self._start(self._client.run(end_waits, waits.run, workers=list(members), on_error="ignore"))
            self._stopped |= members

    def stop(self) -> None:
        """Stop waiting for answers."""
        for request in (self._request, self._inquiry):
            if request is not None:
                request.cancel()
        self._request = self._inquiry = None
        self._missed = 0

    async def _ask(self) -> None:
        members = self._membership.members.keys()
        try:
            silent_workers, still = await self._client.run_on_scheduler(_report, UNHEARD_SECONDS)
        except Exception:  # the connection broke; the client notices this and reconnects
            return
        before = self._still
        self._still = {
            worker: (now, before[worker][1] + 1 if worker in before and before[worker][0] == now else 0)
            for worker, now in still.items()
            if worker in members
        }
        unheard = silent_workers & members
        for worker in sorted(unheard - self._unheard.keys()):
            self._membership.listener(Waiting(f"worker {worker}, which {_not_heard(UNHEARD_SECONDS)}"))
        self._unheard = {worker: self._unheard.get(worker, 0) + 1 for worker in unheard}

    def stuck(self) -> dict[str, str]:
        """Return the members that are known to make no progress, and the reasons.

        If a worker makes no progress for too long, this call starts to investigate it; a later call returns the result.
        """
        gone = [one for one, beats in self._unheard.items() if beats * HEARTBEAT_SECONDS > UNHEARD_LIMIT]
        if gone:
            self._unheard = {}
            return dict.fromkeys(gone, _not_heard(UNHEARD_SECONDS + UNHEARD_LIMIT))
        if self._inquiry is None:
            for worker, ((_, size), beats) in self._still.items():
                if beats * HEARTBEAT_SECONDS > allowed_seconds(STUCK_SECONDS, size):
                    self._inquiry = asyncio.ensure_future(self._look_into(worker))
                    break
        elif self._inquiry.done():
            inquiry, self._inquiry, self._still = self._inquiry, None, {}
            return inquiry.result()
        return {}

    async def _look_into(self, worker: str) -> dict[str, str]:
        try:
            stuck: dict[str, str] = await self._client.run_on_scheduler(why_stuck, worker, STUCK_SECONDS)
        except Exception:  # the connection broke; the client notices this and reconnects
            return {}
        return stuck

    def trim_paused(self) -> None:
        """Ask members that were just paused to return freed memory to the system.

        dask pauses a worker, that is, starts no task on it, if its memory is nearly full.
        """
        paused = self._membership.watch.paused
        for worker in paused.keys() - self._asked:
            self._start(self._client.run(give_back_freed_memory, workers=[worker], on_error="ignore"))
        self._asked = set(paused)

    def _start(self, call: Coroutine[Any, Any, Any]) -> None:
        """Start a request to workers, without waiting for it."""
        request = asyncio.ensure_future(call)
        self._requests.add(request)
        request.add_done_callback(self._end_request)

    def _end_request(self, request: asyncio.Future[Any]) -> None:
        self._requests.discard(request)
        if not request.cancelled() and (error := request.exception()):  # asyncio would log an error that is not read
            logger.info("a request to a worker, to return memory or to stop, failed: %r", error)

    def check_paused(self, quantity: Callable[[Iterable[bool]], bool]) -> None:
        """Raise WorkerFailedError if ``any`` or ``all`` of the members have been paused for too long."""
        since, members = self._membership.watch.paused, self._membership.members
        overdue = [time.monotonic() - since.get(worker, math.inf) > PAUSED_SECONDS for worker in members]
        if quantity(overdue):
            worker = list(members)[overdue.index(True)]
            raise WorkerFailedError(
                f"worker {worker} has been paused for {PAUSED_SECONDS} seconds: its memory limit of "
                f"{human(members[worker]['memory_limit'])} is nearly used up; give workers more memory, or add workers"
            )


def _not_heard(seconds: float) -> str:
    return f"has not been heard of for {seconds:.0f} seconds"


def allowed_seconds(base: float, size: int) -> float:
    """Return the seconds that a transfer of this many bytes may take."""
    return base + size / SLOWEST


def _report(seconds: float, dask_scheduler: Any) -> tuple[set[str], dict[str, Still]]:
    """Return the workers that have been silent for ``seconds``, and the states of the other idle workers.

    Called on the scheduler.
    """
    now = time.time()
    unheard = {worker.address for worker in dask_scheduler.workers.values() if now - worker.last_seen > seconds}
    still = {
        worker.address: _state(worker)
        for worker in dask_scheduler.workers.values()
        if worker.processing and not worker.executing and worker.address not in unheard
    }
    return unheard, still


def transfer_seconds(keys: Collection[Any], base: float, dask_scheduler: Any) -> float:
    """Return the number of seconds that the transfer of these results may take; called on the scheduler."""
    tasks = (dask_scheduler.tasks.get(key) for key in keys)
    return allowed_seconds(base, sum(task.get_nbytes() for task in tasks if task is not None))


def keys_on(workers: Collection[str], dask_scheduler: Any) -> set[Any]:
    """Return the keys of the tasks and results of these workers; called on the scheduler."""
    found = [worker for address in workers if (worker := dask_scheduler.workers.get(address)) is not None]
    return {task.key for worker in found for task in (*worker.processing, *worker.has_what)}


async def why_stuck(address: str, base: float, dask_scheduler: Any) -> dict[str, str]:
    """Return the workers that keep this worker idle, possibly itself, and their problems; called on the scheduler."""
    worker = dask_scheduler.workers.get(address)
    if worker is None:
        return {}
    before, inputs = _state(worker), _awaited(worker)
    senders = await unable_to_send([task.key for task in inputs], base, dask_scheduler)
    if worker.executing or not worker.processing or _state(worker) != before:
        return {}
    if senders or await _runs_forgotten_task(address, base, dask_scheduler):
        return senders
    return {address: "cannot receive results of other workers" if inputs else "runs none of its tasks"}


async def _runs_forgotten_task(address: str, base: float, dask_scheduler: Any) -> bool:
    """Return whether a worker runs a task that the scheduler has forgotten, for example of an interrupted run.

    Other tasks wait until that task ends, but heartbeats do not report it.
    """
    with suppress(OSError):  # also if it does not answer in time
        async with asyncio.timeout(base):
            return bool((await dask_scheduler.broadcast(msg={"op": "call_stack"}, workers=[address]))[address])
    return False


async def unable_to_send(keys: Collection[Any], base: float, dask_scheduler: Any) -> dict[str, str]:
    """Return the workers that cannot send some of these results, and the reasons; called on the scheduler."""
    held: dict[str, list[Any]] = {}
    for key in keys:
        task = dask_scheduler.tasks.get(key)
        for worker in (task.who_has or ()) if task else ():
            held.setdefault(worker.address, []).append(key)
    whys = await asyncio.gather(*(_why_unsent(*one, base, dask_scheduler) for one in held.items()))
    return {worker: f"cannot send its results: {why}" for worker, why in zip(held, whys, strict=True) if why}


async def _why_unsent(address: str, keys: Collection[Any], base: float, dask_scheduler: Any) -> str | None:
    """Return the reason why a worker cannot send results, or None if it can; the results are discarded."""
    seconds = transfer_seconds(keys, base, dask_scheduler)
    try:
        async with asyncio.timeout(seconds) as limit:
            while (answer := await get_data_from_worker(dask_scheduler.rpc, keys, address))["status"] == "busy":
                await asyncio.sleep(BUSY_SECONDS)
    except Exception as error:
        if limit.expired():
            return f"they did not arrive within {seconds:.0f} seconds"
        if isinstance(error, OSError):  # dask's own messages name objects of dask
            return f"the connection fails{f': {error.strerror}' if error.strerror else ''}"
        kind = "" if type(error) is Exception else f"{type(error).__name__}: "  # dask's message begins with the type
        return f"{kind}{one_line(error)}"[:LONGEST_REASON]
    values = answer["data"].values()
    # dask sends a string in place of a value that it cannot serialize
    if any(getattr(value, "header", {}).get("serializer") == "error" for value in values):
        return "they cannot be serialized"
    return None


def _state(worker: Any) -> Still:
    fingerprint = hash((frozenset(task.key for task in worker.processing), len(worker.has_what)))
    return fingerprint, sum(task.get_nbytes() for task in _awaited(worker))


def _awaited(worker: Any) -> set[Any]:
    """Return the inputs of a worker's tasks that it does not have yet."""
    return {one for task in worker.processing for one in task.dependencies if worker not in one.who_has}
