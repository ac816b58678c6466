"""Solve many positions in tasks, on this machine or on a cluster. Each process loads the pattern tables only once."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np

from antipodes.executors.api import Call, Key, Scheduler, never_stop
from antipodes.solving.pattern_heuristic import load_patterns
from antipodes.solving.solve import IDA_STAR, Solved, solve_many
from antipodes.system.addresses import Address
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.rules.moves import GoalTest
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.guides import Guidance
from antipodes_tasks.searches.pattern_databases import Patterns
from antipodes_tasks.searches.problem import Problem

TASKS_A_WORKER = 8
"""Minimum number of tasks per worker, if there are enough positions. Some positions take much longer than others."""
MAX_TOGETHER = 64
"""Maximum number of positions per task. An interrupted task loses at most this many answers."""


@dataclass(frozen=True)
class BatchSearch:
    """The puzzle, goal, pattern tables and limits with which positions are solved. It is sent to workers."""

    rules: Rules
    goal: Labels | GoalTest | None
    """The goals ``(goals, places)``, or a test for goals. None: the goals of the puzzle."""
    method: str | None
    heuristic: Guidance
    tables: Sequence[Address]
    """Addresses of the pattern tables that serve as the heuristic."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of `solve_many`."""

    def solve(self, positions: Labels, threads: int | None = None) -> Iterator[Solved]:
        """Yield the answers for positions ``(n, places)``, in order; raise as `load_patterns` and `solve_many` do."""
        problems = [Problem.of(self.rules, labels, self.goal) for labels in positions]
        heuristic = self.heuristic if not self.tables or not problems else _LOADED.patterns(self)
        settings: dict[str, Any] = {} if heuristic is None else {"heuristic": heuristic}
        return solve_many(
            problems, IDA_STAR if self.tables else self.method, threads=threads, **settings, **self.limits
        )


class _Loaded:
    """The pattern tables that this process loaded last, shared by all of its tasks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: object = None
        self._patterns: Patterns | None = None

    def patterns(self, search: BatchSearch) -> Patterns:
        """Return the pattern tables of a search, loading them if necessary."""
        goal = search.goal.tobytes() if isinstance(search.goal, np.ndarray) else None
        key = search.rules.fingerprint, goal, tuple(map(str, search.tables))
        with self._lock:
            if self._patterns is None or key != self._key:
                self._patterns = None  # frees their memory before other tables are loaded
                self._patterns = load_patterns(search.rules, search.goal, search.tables)
                self._key = key
            return self._patterns


_LOADED = _Loaded()


def solve_on(scheduler: Scheduler, search: BatchSearch, positions: Labels, tell: Callable[[Solved], None]) -> None:
    """Solve positions ``(n, places)`` as tasks; call ``tell`` with the answers in the order of the positions.

    Raises as `BatchSearch.solve` does, and SchedulerError if the cluster is gone.
    """
    size = max(1, min(MAX_TOGETHER, ceil(len(positions) / (TASKS_A_WORKER * scheduler.workers))))
    parts = [positions[first : first + size] for first in range(0, len(positions), size)]
    calls: dict[Key, Call] = {("solve", number): (_solved, search, part) for number, part in enumerate(parts)}
    found: dict[int, list[Solved]] = {}
    due = 0

    def collect(key: Key, answers: list[Solved]) -> None:
        nonlocal due
        found[key[1]] = answers
        while due in found:
            for answer in found.pop(due):
                tell(answer)
            due += 1

    scheduler.run_unordered(calls, collect, never_stop)


def _solved(search: BatchSearch, positions: Labels) -> list[Solved]:
    """Return the answers for some positions, found in one thread, since the other threads run other tasks."""
    return list(search.solve(positions, threads=1))
