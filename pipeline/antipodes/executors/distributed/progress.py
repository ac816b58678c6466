"""Workers that answer but make no progress: they run none of their tasks, or cannot send a result that they have.

The heartbeat of such a worker says nothing, and dask would wait for it forever: it repeats a request that fails, and
after an error in a transfer between workers it does nothing at all. Progress is a task that runs, for as long as it
takes, a task that ends, or an input that arrives.
"""

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from antipodes.executors.distributed.connection import one_line

STUCK_SECONDS = 60.0
"""Seconds without progress after which a worker that answers counts as lost, plus those for the bytes that it moves."""
SLOWEST = 1 << 20
"""Bytes per second, at least, of a transfer that makes progress."""
BUSY_SECONDS = 0.15
"""Seconds between two requests to a worker that is busy with other transfers; dask's own value."""
LONGEST_REASON = 200
"""Characters of the reason of a failed transfer that a message shows."""

Still = tuple[int, int]
"""The fingerprint of the tasks and inputs of a worker that runs nothing, and the bytes that it waits for."""


class Progress:
    """Finds members without progress from what the heartbeats report; used in the client's loop."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._still: dict[str, tuple[Still, int]] = {}
        """By worker, what was last reported of it, and for how many heartbeats that has been so."""
        self._inquiry: asyncio.Future[dict[str, str]] | None = None

    def note(self, still: Mapping[str, Still]) -> None:
        """Note the workers that run none of their tasks, as one heartbeat reports them."""
        before = self._still
        self._still = {
            worker: (now, before[worker][1] + 1 if worker in before and before[worker][0] == now else 0)
            for worker, now in still.items()
        }

    def stuck(self, beat: float) -> dict[str, str]:
        """Return the workers known to be stuck, and why; ``beat`` is the number of seconds between heartbeats.

        A worker without progress for too long is looked into first, which takes until a later call.
        """
        if self._inquiry is None:
            overdue = [
                worker
                for worker, ((_, size), beats) in self._still.items()
                if beats * beat > allowed_seconds(STUCK_SECONDS, size)
            ]
            if overdue:
                self._inquiry = asyncio.ensure_future(self._look_into(overdue[0]))
        elif self._inquiry.done():
            inquiry, self._inquiry, self._still = self._inquiry, None, {}
            return inquiry.result()
        return {}

    def stop(self) -> None:
        """Stop waiting for an answer."""
        if self._inquiry is not None:
            self._inquiry.cancel()
        self._inquiry = None

    async def _look_into(self, worker: str) -> dict[str, str]:
        try:
            stuck: dict[str, str] = await self._client.run_on_scheduler(why_stuck, worker, STUCK_SECONDS)
        except Exception:  # the connection broke, which the client itself finds out and mends
            return {}
        return stuck


def allowed_seconds(base: float, size: int) -> float:
    """Return the seconds that a transfer of this many bytes may take."""
    return base + size / SLOWEST


def still_workers(dask_scheduler: Any, unheard: Collection[str]) -> dict[str, Still]:
    """On a scheduler: the workers that run none of their tasks, except those that were not heard of lately."""
    return {
        worker.address: _state(worker)
        for worker in dask_scheduler.workers.values()
        if worker.processing and not worker.executing and worker.address not in unheard
    }


def transfer_seconds(keys: Collection[Any], base: float, dask_scheduler: Any) -> float:
    """On a scheduler: the seconds that the transfer of these results may take."""
    tasks = (dask_scheduler.tasks.get(key) for key in keys)
    return allowed_seconds(base, sum(task.get_nbytes() for task in tasks if task is not None))


def keys_on(workers: Collection[str], dask_scheduler: Any) -> set[Any]:
    """On a scheduler: the keys of the tasks and the results of these workers."""
    found = [worker for address in workers if (worker := dask_scheduler.workers.get(address)) is not None]
    return {task.key for worker in found for task in (*worker.processing, *worker.has_what)}


async def why_stuck(address: str, base: float, dask_scheduler: Any) -> dict[str, str]:
    """On a scheduler: the workers because of which this one runs none of its tasks, and what each cannot do."""
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
    """Return whether a thread of a worker runs a task that the scheduler has forgotten, as one of an interrupted run.

    Other tasks wait until that ends, but heartbeats do not tell of it.
    """
    with suppress(OSError):  # also if it does not answer in time
        async with asyncio.timeout(base):
            return bool((await dask_scheduler.broadcast(msg={"op": "call_stack"}, workers=[address]))[address])
    return False


async def unable_to_send(keys: Collection[Any], base: float, dask_scheduler: Any) -> dict[str, str]:
    """On a scheduler: the workers that have some of these results and cannot send them, and why."""
    held: dict[str, list[Any]] = {}
    for key in keys:
        task = dask_scheduler.tasks.get(key)
        for worker in (task.who_has or ()) if task else ():
            held.setdefault(worker.address, []).append(key)
    whys = await asyncio.gather(*(_why_unsent(*one, base, dask_scheduler) for one in held.items()))
    return {worker: f"cannot send its results: {why}" for worker, why in zip(held, whys, strict=True) if why}


async def _why_unsent(address: str, keys: Collection[Any], base: float, dask_scheduler: Any) -> str | None:
    """Return why a worker does not send results, None if it does; they are dropped."""
    from distributed.worker import get_data_from_worker

    seconds = transfer_seconds(keys, base, dask_scheduler)
    try:
        async with asyncio.timeout(seconds) as limit:
            while (answer := await get_data_from_worker(dask_scheduler.rpc, keys, address))["status"] == "busy":
                await asyncio.sleep(BUSY_SECONDS)
    except Exception as error:
        if limit.expired():
            return f"they did not arrive within {seconds:.0f} seconds"
        if isinstance(error, OSError):  # dask's own messages name objects of dask
            return f"the connection breaks{f': {error.strerror}' if error.strerror else ''}"
        kind = "" if type(error) is Exception else f"{type(error).__name__}: "  # dask's message begins with the type
        return f"{kind}{one_line(error)}"[:LONGEST_REASON]
    values = answer["data"].values()
    # dask sends a text in place of a value that it cannot serialize
    if any(getattr(value, "header", {}).get("serializer") == "error" for value in values):
        return "they cannot be serialized"
    return None


def _state(worker: Any) -> Still:
    fingerprint = hash((frozenset(task.key for task in worker.processing), len(worker.has_what)))
    return fingerprint, sum(task.get_nbytes() for task in _awaited(worker))


def _awaited(worker: Any) -> set[Any]:
    """Return the inputs of a worker's tasks that it does not have yet."""
    return {one for task in worker.processing for one in task.dependencies if worker not in one.who_has}
