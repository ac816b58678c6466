"""The members of a run: the workers of a cluster that get its tasks.

Workers with other versions, or with too little memory for their share of the run, are excluded. The scheduler's events
report which members leave or are paused.
"""

import asyncio
import logging
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from functools import partial
from inspect import isawaitable
from typing import Any

from antipodes.executors.api import Call, DescribeMisfit, Fits, Stop, never_stop
from antipodes.executors.distributed import connection
from antipodes.executors.distributed.choice import Refusals, largest_set_that_fits
from antipodes.executors.distributed.connection import (
    POLL_SECONDS,
    announced,
    ask,
    dashboard_of,
    identity,
    translated,
)
from antipodes.executors.distributed.storage_waits import WaitRelay
from antipodes.executors.distributed.version_check import NO_ANSWER, VersionCheck, judge
from antipodes.executors.distributed.worker import begin_run, end_run
from antipodes.system.events import ClusterReady, Listener, WaitingForWorkers, WorkerNotUsed, WorkerRefused, silence
from antipodes_tasks.base.errors import SchedulerError

PRESENT = ("init", "running", "paused")
"""The states of workers that are present or about to be; a worker in another state is about to leave."""
WORKER_EVENTS = "all"
"""The topic under which a dask scheduler reports that workers join and leave."""
OUT_OF_MEMORY = "worker-restart-memory"
"""The topic under which the nanny of a worker reports that it has stopped the worker."""
logger = logging.getLogger(__name__)

Handler = Callable[[tuple[float, Any]], Any]
"""Called with the time of an event and the event; the result may be awaitable."""


class Membership:
    """The workers that joined the run when it last waited for workers, and the changes since then."""

    def __init__(self, client: Any) -> None:
        self.members: dict[str, Any] = {}
        """dask's description of each member, by address; members on one machine are adjacent."""
        self.listener: Listener = silence
        self.stop: Stop = never_stop
        """Returns whether the run has been asked to stop."""
        self.first_call: Call | None = None
        """A call that each member runs concurrently with its first tasks."""
        self._client = client
        self._run = uuid.uuid4().hex
        self._versions = VersionCheck(client)
        self.watch = WorkerWatch(client, self._versions)
        self._excluded: set[str] = set()
        """Workers that cannot be members, for example because of their versions."""
        self._unused: set[str] = set()
        """Workers that could be members, but have too little memory."""
        self._fits: Fits | None = None
        self._describe_misfit: DescribeMisfit = lambda limit: ""
        self._refusals = Refusals()

    @property
    def threads(self) -> int:
        """Number of tasks that the members run at the same time, at least 1."""
        return max(1, sum(int(worker["nthreads"]) for worker in self.members.values()))

    @property
    def remaining(self) -> set[str]:
        """The members that are still present."""
        return self.members.keys() - self.watch.retired - set(self.watch.lost)

    @property
    def changed(self) -> bool:
        """Whether a member has retired, or workers have joined that `wait_for_workers` would make members.

        A worker that joins is examined in the background. If it cannot be used, the run continues undisturbed.
        """
        if not self.watch.changed and (answers := self._versions.take_answers()):
            self.watch.changed = self._brings_members(answers)
        return self.watch.changed

    def choose(self, fits: Fits, describe_misfit: DescribeMisfit) -> None:
        """From now on, make the largest set of usable workers that fits the members, or all of them if no set fits."""
        self._fits, self._describe_misfit = fits, describe_misfit
        able = self._described(self._present(), self.remaining | self._unused)
        if self._chosen(able).keys() != self.members.keys():
            self.wait_for_workers(self.listener, self.stop)

    def close(self, tell_members: bool) -> None:
        """Stop listening to the scheduler and waiting for answers; optionally notify the members that the run ends."""
        self._versions.close()
        self.watch.close()
        if tell_members and self.first_call:
            self._run_on_members(end_run)

    def warm_up(self) -> None:
        """Start the first call on the members without waiting for it; it is fast on a member that has run it before."""
        if self.first_call:
            self._run_on_members(begin_run, self.first_call, wait=False)

    def _run_on_members(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        """Run a function on each member that answers in time; errors are only logged, since tasks raise them again."""
        try:
            with translated(self._client):
                run: Any = partial(
                    self._client.run, function, self._run, *arguments, workers=list(self.members), **named
                )
                self._client.sync(run, callback_timeout=connection.NOTICE_SECONDS)
        except Exception as error:
            if self._client.status != "running":
                raise
            logger.info("not every worker could %s: %r", function.__name__, error)

    def wait_for_workers(self, listener: Listener, stop: Stop) -> bool:
        """Wait for workers, make the usable ones members, and warm them up; return False if the run is stopped first.

        Raises SchedulerError if the scheduler or one of the first workers has other versions than this process, and
        SchedulerLostError if the scheduler does not answer.
        """
        self.listener, self.stop, before = listener, stop, self.members.keys()
        with announced(listener, "the dask scheduler to load antipodes"):
            self._versions.check_scheduler()
        while workers := self._wait_for_candidates(stop):
            if self._admit(workers, first=not before):
                if self.members.keys() != before:
                    listener(ClusterReady(len(self.members), self.threads, dashboard_of(self._client)))
                self.warm_up()
                return True
            time.sleep(POLL_SECONDS)
        return False

    def _wait_for_candidates(self, stop: Stop) -> dict[str, Any]:
        """Return the workers as soon as some of them may be usable; empty if the run is stopped first."""
        told = False
        while not stop():
            workers = self._present()
            # an excluded worker may have restarted at the same address with the right versions
            if workers.keys() - self._excluded or (workers and self.changed):
                return workers
            if not told:
                self.listener(WaitingForWorkers("there are no workers"))
                told = True
            time.sleep(POLL_SECONDS)
        return {}

    def _present(self) -> dict[str, Any]:
        workers = identity(self._client, -1, self.listener)["workers"]
        return {address: worker for address, worker in workers.items() if worker["status"] in PRESENT}

    def _admit(self, workers: Mapping[str, Any], first: bool) -> bool:
        """Make the usable workers members; return False if there are none, or if workers joined or left meanwhile.

        Workers that were given up become members again only if no other worker is usable.

        Raises SchedulerError if one of the ``first`` workers is unusable.
        """
        able, unable = self._versions.examine(workers.keys(), self.listener)
        silent = workers.keys() - able - unable.keys()
        if unable and first:
            raise SchedulerError(f"worker {min(unable)} {unable[min(unable)]}")
        self._exclude(unable, able, workers.keys())
        spare = able & self.watch.given_up
        if spare < able:
            able -= spare
        self.members = self._chosen(self._described(workers, able))
        self._unused = able - self.members.keys()
        self._refusals.forget(self.members)
        with translated(self._client):
            paused = {address for address in self.members if workers[address]["status"] == "paused"}
            self.watch.begin(self.members.keys(), paused)
        kind = WorkerRefused if self.members else WaitingForWorkers
        self._refusals.report(self.listener, kind, dict.fromkeys(silent, NO_ANSWER), workers.keys())
        self._tell_unused(workers)
        others = self._excluded | silent | self._unused | (spare - able)
        return bool(self.members) and self._present().keys() - others == self.members.keys()

    def _brings_members(self, answers: Mapping[str, Any]) -> bool:
        """Return whether workers that joined and gave these answers make a larger set of members possible."""
        present = self._present()
        able, unable, silent = judge(answers)
        self._exclude(unable, able, present.keys())
        silent &= present.keys()
        self._refusals.report(self.listener, WorkerRefused, dict.fromkeys(silent, NO_ANSWER), present.keys())
        if not (able := able & present.keys()):
            return False
        remaining = self.remaining
        candidates = self._described(present, remaining | self._unused | able)
        self._unused = candidates.keys() - remaining
        if self._fits is None:
            return True
        chosen = largest_set_that_fits(candidates, remaining, self._fits)
        if chosen == remaining:
            self._tell_unused(present)
        return chosen not in (None, remaining)

    def _exclude(self, unable: Mapping[str, str], able: Set[str], present: Set[str]) -> None:
        """Exclude the workers that are ``unable`` to be members, and notify the listener of the reasons."""
        new = {worker: reason for worker, reason in unable.items() if worker in present}
        self._refusals.report(self.listener, WorkerRefused, new, present)
        self._excluded = (self._excluded | unable.keys()) - able

    def _chosen(self, able: dict[str, Any]) -> dict[str, Any]:
        """Return the largest set of these workers that fits, or all of them if no set fits."""
        if self._fits is None or not able:
            return able
        chosen = largest_set_that_fits(able, self.remaining, self._fits)
        return able if chosen is None else self._described(able, chosen)

    def _described(self, workers: Mapping[str, Any], wanted: Set[str]) -> dict[str, Any]:
        """Return dask's description of each wanted worker; workers on one machine are adjacent."""
        return {address: workers[address] for address in sorted(wanted & workers.keys())}

    def _tell_unused(self, present: Mapping[str, Any]) -> None:
        """Notify the listener why present workers are not used."""
        unused = self._described(present, self._unused)
        reasons = {worker: self._describe_misfit(described["memory_limit"]) for worker, described in unused.items()}
        self._refusals.report(self.listener, WorkerNotUsed, reasons, present.keys())


class WorkerWatch:
    """A record of members that are lost, retired or paused, and of workers that join; kept in the client's loop."""

    def __init__(self, client: Any, versions_of: VersionCheck) -> None:
        self.members: frozenset[str] = frozenset()
        self.all_lost: list[str] = []
        """Members that left with tasks or results, which are lost, since the run began."""
        self._lost_before = 0
        """Number of members that were lost before `begin`."""
        self.retired: set[str] = set()
        """Members that left without tasks or results, or are about to leave and start no more tasks."""
        self.given_up: set[str] = set()
        """Workers that answer but count as lost because they made no progress."""
        self.out_of_memory: set[str] = set()
        """Workers that were stopped because they exceeded their memory limit."""
        self.paused: dict[str, float] = {}
        """Members that start no tasks because their memory is nearly full, and the monotonic time of the pause."""
        self.changed = False
        """Whether a member has retired, or a worker has joined that can be a member."""
        self.waits: WaitRelay | None = None
        """The relay for the members' waits."""
        self.departures: Counter[str] = Counter()
        """Number of workers that have left, by address; another worker may later have the same address."""
        self._client = client
        self._versions = versions_of
        self._connection: Any = None
        """The connection to the scheduler at the time of `begin`; the client replaces a broken connection."""
        self._subscriptions = Subscriptions(client)
        self.loss = asyncio.Event()
        """Event that is set when a member is lost."""

    @property
    def lost(self) -> list[str]:
        """The members that were lost since `begin`."""
        return self.all_lost[self._lost_before :]

    @property
    def reconnected(self) -> bool:
        """Whether the client has reconnected, possibly to a new scheduler without our members and tasks."""
        return self._client.scheduler_comm is not self._connection

    def begin(self, members: Set[str], paused: Set[str]) -> None:
        """Watch these members from now on; some of them are already ``paused``."""
        self._client.sync(self._begin, members, paused)
        self._subscriptions.confirm()  # otherwise a member could leave unnoticed before the subscription is active

    def close(self) -> None:
        """Stop listening."""
        self._client.sync(self._end)

    def give_up(self, workers: Iterable[str]) -> None:
        """Treat these workers as lost although they answer; their results are no longer used."""
        for worker in workers:
            self.departures[worker] += 1
            self.given_up.add(worker)
            self.all_lost.append(worker)

    async def _begin(self, members: Set[str], paused: Set[str]) -> None:
        before, self.members = self.members, frozenset(members)
        self._connection = self._client.scheduler_comm
        self._subscriptions.forget(before - self.members)
        self._lost_before = len(self.all_lost)
        self.retired.clear()
        self.paused = {worker: self.paused.get(worker, time.monotonic()) for worker in paused}
        self.changed = False
        self.loss.clear()
        # a new scheduler does not have the subscriptions of the previous one
        self._subscriptions.listen(WORKER_EVENTS, self._on_worker_event)
        self._subscriptions.listen(OUT_OF_MEMORY, self._on_out_of_memory)
        if self.waits is not None:
            self._subscriptions.listen(self.waits.topic, self.waits.on_wait)
        for member in self.members:
            self._subscriptions.listen(member, partial(self._on_status, member))

    async def _end(self) -> None:
        self._subscriptions.forget(self._subscriptions.topics)

    def _on_worker_event(self, event: tuple[float, Any]) -> None:
        match event[1]:
            case {"action": "remove-worker", "worker": worker}:
                self.departures[worker] += 1
                self._versions.end(worker)
                if worker in self.members - self.retired:
                    self._on_departure(worker, event[1])
            case {"action": "add-worker", "worker": worker}:
                self.given_up.discard(worker)
                self._versions.begin(worker)

    def _on_departure(self, worker: str, message: dict[str, Any]) -> None:
        had_tasks = message["lost-computed-tasks"] or message["lost-scattered-tasks"] or message["processing-tasks"]
        if message["expected"] and not had_tasks:
            self._retire(worker)
        else:
            self.all_lost.append(worker)
            self.loss.set()

    def _retire(self, worker: str) -> None:
        self.changed = True
        self.retired.add(worker)

    def _on_out_of_memory(self, event: tuple[float, Any]) -> None:
        self.out_of_memory.add(event[1]["worker"])

    def _on_status(self, member: str, event: tuple[float, Any]) -> None:
        match event[1]:
            case {"action": "worker-status-change", "status": "paused"}:
                self.paused.setdefault(member, time.monotonic())
            case {"action": "worker-status-change", "status": "closing_gracefully"}:
                self._retire(member)
            case {"action": "worker-status-change"}:
                self.paused.pop(member, None)


class Subscriptions:
    """The topics to which a run listens; all methods except `confirm` are called in the client's loop."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._theirs: dict[str, Handler | None] = {}
        """The user's own handler of each topic, because a client has only one handler per topic."""

    @property
    def topics(self) -> Set[str]:
        """The topics to which the run listens."""
        return self._theirs.keys()

    def listen(self, topic: str, handler: Handler) -> None:
        """Call the handler, and the handler of the client's user, for each event of the topic."""
        if topic not in self._theirs:
            theirs = self._client._event_handlers.get(topic)
            self._theirs[topic] = None if theirs is _ignore else theirs
        theirs = self._theirs[topic]
        self._client.subscribe_topic(topic, partial(_call_both, handler, theirs) if theirs else handler)

    def forget(self, topics: Iterable[str]) -> None:
        """Stop listening to the topics, and restore the handlers of the client's user."""
        for topic in set(topics) & self.topics:
            if theirs := self._theirs.pop(topic):
                self._client.subscribe_topic(topic, theirs)
            else:
                self._client.unsubscribe_topic(topic)
                self._client._event_handlers[topic] = _ignore

    def confirm(self) -> None:
        """Wait until the subscriptions are active; dask sends them in batches, with a delay."""
        ask(self._client, self._client.run_on_scheduler, _subscribe, sorted(self.topics), self._client.id)


def _subscribe(topics: Iterable[str], client: str, dask_scheduler: Any) -> None:
    """Subscribe a client to these topics; called on the scheduler."""
    for topic in topics:
        dask_scheduler.subscribe_topic(topic, client)


def _ignore(event: tuple[float, Any]) -> None:
    """Ignore an event that arrives after the run has stopped listening; without a handler dask would log an error."""


async def _call_both(ours: Handler, theirs: Handler, event: tuple[float, Any]) -> None:
    ours(event)
    if isawaitable(answer := theirs(event)):
        await answer
