"""The frame of a verification: order of reading, cache of blocks, tasks, workers and memory, progress, and verdict.

A store is divided into numbered *blocks*, such as chunks of depths. A check consists of *jobs*: each job reads some
blocks and has one finding. The module of a kind of store defines its blocks, its jobs, and the comparisons that lead to
the findings: `antipodes.tables.check_bytes`, `check_depths` and `check_keys`, and `antipodes.tilings.verify`. The frame
compares nothing, so no two kinds of stores depend on the same comparison.
"""

import heapq
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from antipodes.executors.api import (
    Call,
    Capacity,
    Key,
    OnResult,
    Scheduler,
    Stop,
    capacity,
    describe_misfit,
    never_stop,
)
from antipodes.system.events import CheckStarted, Listener, PositionsChecked
from antipodes.system.machine import human
from antipodes.system.records import as_dict, record_of
from antipodes_tasks.base.errors import ResourceLimitError, StoreDamagedError
from antipodes_tasks.base.quoting import printable, shorten

B = TypeVar("B")
"""A block."""
F = TypeVar("F")
"""A finding."""
P = TypeVar("P")
"""A plan of the memory of a check."""
BATCHES_A_WORKER = 8
"""Tasks per worker if workers do not share memory. The number is small since each task reads its own blocks."""


def reading_order(needs: Sequence[Sequence[int]], capacity: int) -> list[int]:
    """Return the numbers of the tasks in an order in which few blocks are read twice.

    Memory holds ``capacity`` blocks. The next task is always a task for which the fewest blocks must be read. ``needs``
    lists the blocks of each task, without duplicates. With the 1008 blocks of a table of 4.15 billion positions and a
    capacity of 100, the tasks read 1069 blocks in this order, and 2842 in the order of their rows.
    """
    return _Greedy(needs, capacity).order()


class _Greedy:
    """The remaining tasks and the blocks in memory, for a greedy choice of the next task."""

    def __init__(self, needs: Sequence[Sequence[int]], capacity: int) -> None:
        self._needs = needs
        self._capacity = capacity
        self._users: dict[int, set[int]] = {}
        """For each block, the remaining tasks that need it."""
        for task, blocks in enumerate(needs):
            for block in blocks:
                self._users.setdefault(block, set()).add(task)
        self._missing = [len(blocks) for blocks in needs]
        """For each task, the number of its blocks that are not in memory."""
        self._remaining = [(missing, task) for task, missing in enumerate(self._missing)]
        """A heap of pairs (missing blocks, task). Pairs whose first number differs from `_missing` are out of date."""
        heapq.heapify(self._remaining)
        self._held: dict[int, None] = {}
        """The blocks in memory, the most recently used last."""

    def order(self) -> list[int]:
        order: dict[int, None] = {}
        while self._remaining:
            missing, task = heapq.heappop(self._remaining)
            if missing == self._missing[task] and task not in order:
                order[task] = None
                self._run(task)
        return list(order)

    def _run(self, task: int) -> None:
        """Record that a task runs.

        Blocks that other tasks need stay in memory. If there are too many, the least recently used are dropped.
        """
        for block in self._needs[task]:
            self._users[block].remove(task)
            if block in self._held:
                del self._held[block]
            else:
                self._change(block, -1)
            if self._users[block]:
                self._held[block] = None
        while len(self._held) > self._capacity:
            oldest = next(iter(self._held))
            del self._held[oldest]
            self._change(oldest, 1)

    def _change(self, block: int, by: int) -> None:
        for task in self._users[block]:
            self._missing[task] += by
            heapq.heappush(self._remaining, (self._missing[task], task))


class BlockCache(Generic[B]):
    """A cache of blocks, of which at most ``capacity`` stay in memory between two uses. Threads can share it.

    The order of the tasks is known in advance, and so is the next use of each block. If memory is full, the block whose
    next use is farthest away is dropped. No strategy reads fewer blocks (L. A. Belady, A study of replacement
    algorithms, 1966).

    Parameters
    ----------
    read
        Reads a block. It is sent to workers together with this object, which arrives there without blocks in memory.
    uses
        The numbers of the blocks that each task uses, in the order of the tasks. A block that a task uses twice is
        listed twice.
    capacity
        Maximum number of blocks in memory, apart from those that tasks are using.
    """

    def __init__(self, read: Callable[[int], B], uses: Sequence[Sequence[int]], capacity: int) -> None:
        self._read = read
        self._uses = uses
        self._capacity = capacity
        self._lock = threading.Lock()
        self._next_uses = _places(uses)
        self._held: dict[int, tuple[Future[B], int]] = {}
        """Each block that is in memory or being read, and the number of the next task that uses it."""
        self._farthest: list[tuple[int, int]] = []
        """A heap of pairs (negated next use, block). Pairs whose next use has changed are ignored."""

    def __reduce__(self) -> tuple[object, ...]:
        return BlockCache, (self._read, self._uses, self._capacity)

    def get(self, number: int) -> B:
        """Return the block with a number, from memory or from the store; wait if another thread is reading it."""
        with self._lock:
            held = self._held.pop(number, None)
            block: Future[B] = held[0] if held else Future()
            self._hold(number, block)
        if not held:
            self._fill(block, number)
        return block.result()

    def _hold(self, number: int, block: "Future[B]") -> None:
        """Keep a block if it will be used again; if there are too many, drop the block whose next use is farthest."""
        places = self._next_uses[number]
        places.popleft()
        if not places:
            return
        self._held[number] = block, places[0]
        heapq.heappush(self._farthest, (-places[0], number))
        while len(self._held) > self._capacity:
            place, farthest = heapq.heappop(self._farthest)
            if farthest in self._held and self._held[farthest][1] == -place:
                del self._held[farthest]

    def _fill(self, block: "Future[B]", number: int) -> None:
        try:
            block.set_result(self._read(number))
        except BaseException as error:
            block.set_exception(error)  # for other threads that wait for the block; this thread raises it in `get`


def _places(uses: Iterable[Sequence[int]]) -> dict[int, deque[int]]:
    """Return for each block the tasks that use it, counted from 0 in the order of ``uses``, in ascending order."""
    places: dict[int, deque[int]] = {}
    for place, numbers in enumerate(uses):
        for number in numbers:
            places.setdefault(number, deque()).append(place)
    return places


@dataclass(frozen=True)
class Verification:
    """A verification in progress: where its tasks run, which memory it may take, and the listener that it notifies."""

    scheduler: Scheduler
    memory_limit: int | None
    """Bytes of memory, on all workers together. None: the free memory."""
    seed: int
    """Seed of all random choices."""
    listener: Listener

    def choose_workers(self, plan_on: Callable[[Capacity], P], fits: Callable[[P], bool]) -> P:
        """Choose the largest set of workers on which the check fits, or all if it fits on none; return the plan."""
        self.scheduler.choose_workers(
            lambda workers: fits(plan_on(workers)), partial(describe_misfit, self.memory_limit)
        )
        return plan_on(capacity(self.scheduler))

    def start(self, name: str, positions: int, entries: int) -> "VerificationProgress":
        """Notify the listener of the start of a check of this many positions; return the progress of the check."""
        self.listener(CheckStarted(name, positions))
        return VerificationProgress(self.listener, positions, entries)


@dataclass
class VerificationProgress:
    """The progress of a check, of which the listener is notified."""

    listener: Listener
    positions: int
    entries: int
    """Number of entries of the table, each of which stands for one or more positions."""
    done: int = 0
    """Number of entries that were checked."""

    def add(self, entries: int) -> None:
        """Notify the listener that more entries were checked."""
        self.done += entries
        self.listener(PositionsChecked(min(self.positions, self.done * self.positions // self.entries), self.positions))


@dataclass(frozen=True)
class CheckMemory:
    """Memory of a check in bytes, of all processes together."""

    fixed: int
    """Bytes for the program and its tables in each process, and for the working memory of the tasks."""
    limit: int
    block: int
    """Bytes of a block."""

    @property
    def blocks(self) -> int:
        """Maximum number of blocks that stay in memory."""
        return (self.limit - self.fixed) // self.block

    @property
    def fits(self) -> bool:
        """Whether the check stays within the limit."""
        return self.fixed <= self.limit

    def check(self, given: bool) -> None:
        """Raise ResourceLimitError if the check takes more than the limit: a ``given`` limit, or the free memory."""
        if not self.fits:
            expected = f"the check takes at least {human(self.fixed)} of memory with this many workers"
            found = f"the limit is {human(self.limit)}" if given else f"{human(self.limit)} are available"
            raise ResourceLimitError(f"{expected}; {found}")


class Job(Protocol):
    """A job of a check."""

    @property
    def uses(self) -> Sequence[int]:
        """The numbers of the blocks that the job reads, in this order. A block that it reads twice is listed twice."""


@dataclass(frozen=True)
class OneBlock:
    """A job that reads only one block."""

    number: int

    @property
    def uses(self) -> Sequence[int]:
        """The number of the block."""
        return (self.number,)


class BlockReader(Generic[B]):
    """Runs the jobs of a check as tasks, in an order in which few blocks are read twice.

    Tasks that share memory also share a cache of blocks, and each of them runs one job. Otherwise, a task runs several
    jobs and has its own cache.

    Parameters
    ----------
    scheduler
        Runs the tasks.
    read
        Reads the block with a number. It is sent to the workers.
    jobs
        The jobs of the check.
    blocks
        Maximum number of blocks in memory between two uses, in all processes together.
    again
        The numbers of the blocks that other jobs may read afterwards.
    """

    def __init__(
        self,
        scheduler: "Scheduler | CallingThread",
        read: Callable[[int], B],
        jobs: Sequence[Job],
        blocks: int = 0,
        again: Sequence[int] = (),
    ) -> None:
        self._scheduler = scheduler
        self._read = read
        self._jobs = jobs
        self._blocks = blocks
        self._order = reading_order([sorted(set(job.uses)) for job in jobs], blocks)
        uses = [*(jobs[number].uses for number in self._order), again]
        self._shared = BlockCache(read, uses, blocks) if scheduler.shares_memory else None

    def run(
        self,
        check: Callable[..., F],
        *arguments: Any,
        jobs: Sequence[Job] | None = None,
        on_findings: Callable[[Iterable[F]], None] | None = None,
    ) -> list[F]:
        """Return ``check(blocks, job, *arguments)`` for each job, in the order of the jobs.

        ``blocks`` is the `BlockCache` from which the job reads. ``on_findings`` is called after each task. Other
        ``jobs`` may be run afterwards, in their own order, if they only read the blocks ``again``.
        """
        found: dict[int, F] = {}
        chosen = {number: self._jobs[number] for number in self._order} if jobs is None else dict(enumerate(jobs))

        def collect(key: Key, findings: dict[int, F]) -> None:
            found.update(findings)
            if on_findings:
                on_findings(findings.values())

        calls: dict[Key, Call] = {
            ("check", number): (run_jobs, blocks, batch, check, *arguments)
            for number, (blocks, batch) in enumerate(self._batches(chosen))
        }
        self._scheduler.run_unordered(calls, collect, never_stop)
        return [found[number] for number in range(len(chosen))]

    def _batches(self, jobs: Mapping[int, Job]) -> list[tuple[BlockCache[B], dict[int, Job]]]:
        """Return the jobs of each task, and the blocks from which the task reads."""
        if self._shared is not None:
            return [(self._shared, {number: job}) for number, job in jobs.items()]
        workers, numbers = self._scheduler.workers, list(jobs)
        size = max(1, ceil(len(jobs) / (BATCHES_A_WORKER * workers)))
        batches = [{one: jobs[one] for one in numbers[first : first + size]} for first in range(0, len(jobs), size)]
        return [
            (BlockCache(self._read, [job.uses for job in batch.values()], self._blocks // workers), batch)
            for batch in batches
        ]


def run_jobs(blocks: BlockCache[B], jobs: Mapping[int, Job], check: Callable[..., F], *arguments: Any) -> dict[int, F]:
    """Return the finding of each of these jobs, by the job's number."""
    return {number: check(blocks, job, *arguments) for number, job in jobs.items()}


class CallingThread:
    """Runs tasks one after another in the thread that asks for them, without loading the library of the schedulers."""

    shares_memory = True
    workers = 1

    def run_unordered(self, calls: Mapping[Key, Call], on_result: OnResult, stop: Stop) -> None:
        """Run independent calls in order; see `Scheduler.run_unordered`."""
        for key, (function, *arguments) in calls.items():
            if not stop():
                on_result(key, function(*arguments))


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict:
    """The problems found in a store; its string has one line per problem."""

    RECORD: ClassVar[type]
    """The record with the keys of ``verify --json``, whose fields are attributes of the verdict."""

    problems: tuple[str, ...] = ()
    complete: bool | None = None
    """Whether the store is finished; None if it is too corrupt to decide."""

    @classmethod
    def of(cls, check: Callable[[], Self]) -> Self:
        """Return the verdict of a check or, if a file is corrupt, a verdict with this single problem."""
        try:
            return check()
        except StoreDamagedError as error:
            return cls(problems=(str(error),))

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.problems

    def __str__(self) -> str:
        return "\n".join(map(printable, self.problems))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {shorten(str(self), 80)}>"

    def to_json(self) -> dict[str, Any]:
        """Return the verdict with the keys of ``verify --json``."""
        return as_dict(record_of(self.RECORD, self))
