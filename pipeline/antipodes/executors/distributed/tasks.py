"""Tasks on the members of a run, and waits for their results, which end with an error if the results cannot arrive.

A `TaskQueue` runs independent tasks: a few are under way on the members, the others wait in the queue.
"""

import asyncio
import time
import uuid
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import cloudpickle
from dask.base import annotate
from dask.tokenize import TokenizationError
from distributed import wait

from antipodes.executors.api import Call, Handle, Key, OnResult, Stop, graph_of, never_stop
from antipodes.executors.distributed import health
from antipodes.executors.distributed.connection import ask, one_line, translated
from antipodes.executors.distributed.membership import Membership
from antipodes.executors.distributed.worker import named
from antipodes.system.events import WorkersLost
from antipodes.system.machine import human
from antipodes_tasks.base.errors import (
    AntipodesError,
    InterruptedRunError,
    SchedulerLostError,
    WorkerFailedError,
    WorkersLostError,
    WorkersRetiredError,
    WorkersStuckError,
    WorkerUnreachableError,
)

REASON_SECONDS = 0.5
"""Seconds to wait for the reason why a worker was lost."""
UNSENT_SECONDS = 5.0
"""Seconds for which results that a worker fails to send are requested again, before the worker counts as lost."""
TASKS_PER_THREAD = 2
"""Number of tasks submitted for each thread of the members, so that no thread has to wait for its next task."""
STUCK_ALLOWED = 3
"""Maximum number of times that workers may get stuck before the next result arrives. One more time ends the run."""


class Tasks:
    """Submission of tasks to members, and waiting for their results."""

    def __init__(self, client: Any, membership: Membership) -> None:
        self._client = client
        self._membership = membership
        self._watch = membership.watch
        self._health = health.Health(client, membership)
        self._required: set[str] = set()
        """Workers with tasks under way that must not run on other workers."""

    def submit(self, calls: Mapping[Key, Call], workers: Mapping[Key, str] | None = None) -> list[Handle]:
        """Start the calls on the members, some on specific ``workers``; return the futures of the results."""
        members = list(self._membership.members)
        if not workers:
            return self._submit(calls, members)
        self._required.update(workers.values())
        places = {key: [workers[key]] if key in workers else members for key in calls}
        with annotate(workers=places.get):  # the scheduler calls this function for each task
            return self._submit(calls, ())

    def submit_to(self, worker: str, calls: Mapping[Key, Call]) -> list[Handle]:
        """Start the calls on one member and on no other; return the futures of the results."""
        if calls:
            self._required.add(worker)
        return self._submit(calls, [worker])

    def gather(self, futures: Sequence[Handle], stop: Stop = never_stop) -> list[Any]:
        """Wait for the results and fetch them.

        Raises
        ------
        WorkersLostError, SchedulerLostError, SchedulerSilentError
            The results cannot arrive any more. WorkersStuckError, a subclass, means that workers answer but make no
            progress.
        WorkerFailedError
            A task failed, or a member has no memory left.
        InterruptedRunError
            ``stop`` returned True.
        """
        try:
            with translated(self._client):
                results: list[Any] = self._client.sync(self._gather, list(futures), stop)
        except AntipodesError:
            raise
        except Exception as error:  # raised by a task that did not start, such as one that a worker cannot unpack
            raise WorkerFailedError(f"a task failed: {type(error).__name__}: {one_line(error)}") from error
        finally:
            self._required.clear()
        return results

    def first_done(self, futures: Iterable[Handle]) -> list[Handle]:
        """Return the futures whose tasks have ended as soon as there are any; empty after `HEARTBEAT_SECONDS`."""
        with translated(self._client), self._client.as_current(), suppress(TimeoutError):
            wait(list(futures), timeout=health.HEARTBEAT_SECONDS, return_when="FIRST_COMPLETED")
        done = [future for future in futures if future.status in ("finished", "error")]
        if not done:
            with translated(self._client):
                self._client.sync(self._check_idle)
        return done

    def keys_on_lost_workers(self) -> set[Any]:
        """Return the keys of the tasks and results of stuck members: lost members that the scheduler still has."""
        found: set[Any] = ask(self._client, self._client.run_on_scheduler, health.keys_on, list(self._watch.lost))
        return found

    def _submit(self, calls: Mapping[Key, Call], workers: Sequence[str]) -> list[Handle]:
        if not calls:
            return []
        try:
            with translated(self._client):
                futures: list[Handle] = self._client.get(
                    graph_of(calls, (named,)), list(calls), workers=list(workers) or None, sync=False
                )
        except TokenizationError:  # its message does not give the reason
            cloudpickle.dumps(dict(calls))  # raises the error about the object that cannot be sent
            raise
        return futures

    async def _gather(self, futures: list[Handle], stop: Stop) -> Any:
        gathering = asyncio.ensure_future(self._fetch(futures))
        loss = asyncio.ensure_future(self._watch.loss.wait())
        try:
            while not gathering.done() and not loss.done():
                await asyncio.wait(
                    {gathering, loss}, timeout=health.HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                self._check_connection()
                self._check_retired()
                self._health.trim_paused()
                if not gathering.done():
                    if stop():
                        await self._client.cancel(futures, asynchronous=True)
                        raise InterruptedRunError("interrupted before the workers completed their first tasks")
                    self._health.check_paused(any)
                    self._beat()
            if loss.done():
                await self._raise_loss()
            return await gathering
        except WorkerUnreachableError as error:
            self._cancel_required(futures)
            self._give_up({str(error): "cannot be reached by another worker"})
        except Exception:
            self._cancel_required(futures)
            raise
        finally:
            self._health.stop()
            loss.cancel()
            gathering.cancel()
            gathering.add_done_callback(_ignore_error)

    def _cancel_required(self, futures: Sequence[Handle]) -> None:
        """Cancel tasks that wait for others, which will not come; if the tasks are independent, do nothing."""
        if self._required:
            cancelling = asyncio.ensure_future(self._client.cancel(futures, asynchronous=True))
            cancelling.add_done_callback(_ignore_error)

    async def _fetch(self, futures: Sequence[Handle]) -> list[Any]:
        """Return the results; `Client.gather` would repeat its request forever if a worker cannot send them."""
        keys = list({future.key for future in futures})
        failing_since: float | None = None
        waited = 0.0
        while True:
            await asyncio.gather(*map(_exists, futures))
            begin = time.monotonic()
            data, error = await self._received(keys, 2 * waited)
            waited = time.monotonic() - begin
            if data is not None:
                return [data[future.key] for future in futures]
            if failing_since is None:
                failing_since = time.monotonic()
            stuck = await self._client.run_on_scheduler(health.unable_to_send, keys, health.STUCK_SECONDS)
            if time.monotonic() - failing_since > UNSENT_SECONDS:
                self._give_up(stuck)
                if error is not None:  # all workers can send
                    reason = f"{type(error).__name__}: {one_line(error)}"
                    raise WorkerFailedError(f"this process cannot unpack the results of tasks: {reason}") from error
            await asyncio.sleep(REASON_SECONDS)

    async def _received(self, keys: list[Any], min_seconds: float) -> tuple[dict[Any, Any] | None, Exception | None]:
        """Return the results by key, or None with an error if they arrived but cannot be unpacked here.

        The time limit is at least ``min_seconds``; it grows with each attempt, so that slow connections succeed.
        """
        answer = asyncio.ensure_future(self._client.scheduler.gather(keys=keys))
        try:
            await asyncio.wait({answer}, timeout=health.STUCK_SECONDS)
            if not answer.done():
                seconds = await self._client.run_on_scheduler(health.transfer_seconds, keys, 0)
                await asyncio.wait({answer}, timeout=max(seconds, min_seconds))
            return (answer.result().get("data"), None) if answer.done() else (None, None)
        except OSError:
            raise
        except Exception as error:
            return None, error
        finally:
            answer.cancel()

    def _give_up(self, stuck: Mapping[str, str]) -> None:
        """Raise WorkersStuckError if there are ``stuck`` workers, which count as lost."""
        if stuck:
            self._watch.give_up(stuck)
            raise WorkersStuckError("; ".join(f"worker {worker}, which {why}" for worker, why in stuck.items()))

    async def _check_idle(self) -> None:
        """Raise an error if no task can end any more. One working member is enough for independent tasks."""
        self._health.trim_paused()
        self._health.check_paused(all)
        self._beat()

    def _beat(self) -> None:
        self._health.beat()
        self._give_up(self._health.stuck())

    def _check_connection(self) -> None:
        """Raise SchedulerLostError if the scheduler may have been replaced by one without our earlier tasks."""
        if self._watch.reconnected:
            raise SchedulerLostError("the connection to the dask scheduler was lost")

    def _check_retired(self) -> None:
        """Raise WorkersRetiredError if all members have retired, or one that must run tasks under way has retired."""
        retired = self._watch.retired
        if retired & self._required or retired >= self._membership.members.keys():
            raise WorkersRetiredError(_listed(sorted(retired)))

    async def _raise_loss(self) -> None:
        await asyncio.sleep(REASON_SECONDS)
        lost = self._watch.lost
        stopped = [worker for worker in lost if worker in self._watch.out_of_memory]
        if stopped:
            limit = human(self._membership.members[stopped[0]]["memory_limit"])
            raise WorkerFailedError(
                f"worker {stopped[0]} exceeded its memory limit of {limit} and was stopped; "
                "give workers more memory, or add workers"
            )
        raise WorkersLostError(_listed(lost))


async def _exists(future: Handle) -> None:
    """Wait until the result exists; raise the error of its task, if any."""
    state = future._state
    await state.wait()
    if state.status != "finished":
        raise state.exception.with_traceback(state.traceback)


def _ignore_error(ended: asyncio.Future[Any]) -> None:
    """Read the error of a wait that was ended by another error; asyncio would log an error that nobody reads."""
    if not ended.cancelled():
        ended.exception()


def _listed(workers: Iterable[str]) -> str:
    return ", ".join(f"worker {worker}" for worker in workers)


class TaskQueue:
    """A queue that starts each task on one of the current members, and restarts it if all of these members are gone."""

    def __init__(
        self, membership: Membership, tasks: Tasks, calls: Mapping[Key, Call], on_result: OnResult, stop: Stop
    ) -> None:
        self._membership = membership
        self._tasks = tasks
        self._calls = calls
        self._on_result = on_result
        self._stop = stop
        self._waiting = deque(calls)
        self._under_way: dict[Handle, tuple[Key, frozenset[str]]] = {}
        """The key of the call and the workers that may run the task, by future."""
        self.losses = 0
        """Number of times that workers or the scheduler were lost."""
        self._told = len(membership.watch.all_lost)
        """Number of lost members of which the listener has been notified."""
        self._stuck = 0
        """Number of times that workers were stuck since the last result."""

    def run(self) -> None:
        """Run all tasks; after a stop, only wait for the tasks under way, and drop them if all their workers are gone.

        Raises WorkersLostError if one task killed several workers or workers were stuck too often, and
        SchedulerLostError if the scheduler does not return.
        """
        while True:
            if lost := self._membership.watch.all_lost[self._told :]:
                self._tell_loss(_listed(lost))
            try:
                if not self._start_some():
                    return
                self._collect_some()
            except WorkersStuckError as error:
                self._tell_loss(str(error))
                self._stuck += 1
                if self._stuck > STUCK_ALLOWED:
                    raise
                self._restart_stuck()
            except WorkersLostError:
                if not (self._membership.watch.lost or self._membership.changed):
                    raise
            except SchedulerLostError as error:
                self._tell_loss(str(error))
                if not self._restart_all():
                    return
            if (self._membership.watch.lost or self._membership.changed) and not self._change_workers():
                return

    def _start_some(self) -> bool:
        """Start as many tasks as there is room for; return whether any are under way."""
        members = frozenset(self._membership.members)
        room = 0 if self._stop() else TASKS_PER_THREAD * self._membership.threads - len(self._under_way)
        # a restarted task needs a new name
        names = {(f"{key[0]}-{uuid.uuid4().hex}", key[1]): key for key in islice(self._waiting, max(0, room))}
        futures = self._tasks.submit({name: self._calls[key] for name, key in names.items()})
        for future, key in zip(futures, names.values(), strict=True):
            self._under_way[future] = key, members
            self._waiting.popleft()
        return bool(self._under_way)

    def _collect_some(self) -> None:
        if not (done := self._tasks.first_done(self._under_way)):
            return
        for future, result in zip(done, self._tasks.gather(done), strict=True):
            key, _ = self._under_way.pop(future)
            self._stuck = 0
            self._on_result(key, result)

    def _tell_loss(self, reason: str) -> None:
        """Count a loss, and notify the listener of it."""
        self.losses += 1
        self._told = len(self._membership.watch.all_lost)
        self._membership.listener(WorkersLost(reason))

    def _restart_stuck(self) -> None:
        """Requeue the tasks that are on stuck workers, and the tasks whose results are on them."""
        stuck = self._tasks.keys_on_lost_workers()
        for future in [one for one in self._under_way if one.key in stuck]:
            self._waiting.appendleft(self._under_way.pop(future)[0])

    def _restart_all(self) -> bool:
        """Requeue all tasks under way for a scheduler that has returned without them; return False after a stop."""
        self._waiting.extendleft(key for key, _ in self._under_way.values())
        self._under_way.clear()
        return self._membership.wait_for_workers(self._membership.listener, self._stop)

    def _change_workers(self) -> bool:
        """Make the present workers members; return False after a stop if all previous members are gone."""

        def stop() -> bool:
            return self._stop() and not self._membership.remaining

        if not self._membership.wait_for_workers(self._membership.listener, stop):
            return False
        members = self._membership.members.keys()
        for future, (key, workers) in list(self._under_way.items()):
            if not workers & members:
                del self._under_way[future]
                self._waiting.appendleft(key)
        return True
