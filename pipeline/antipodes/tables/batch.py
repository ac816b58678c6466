"""Many positions solved as tasks, on this machine or on a cluster; each process loads the tables of patterns once."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np

from antipodes.executors.api import Call, Key, Scheduler, never_stop
from antipodes.storage.address import Address
from antipodes.tables.pattern_heuristic import load_patterns
from antipodes.tables.solve import IDA_STAR, Solved, solve_many
from antipodes_tasks.rules.moves import GoalTest, Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.pattern_databases import Patterns
from antipodes_tasks.searches.problem import Problem

TASKS_A_WORKER = 8
"""Tasks for each worker at least, where there are positions enough: some positions take much longer than others."""
MAX_TOGETHER = 64
"""Positions of a task at most: what an interruption loses."""


@dataclass(frozen=True)
class Search:
    """How each of many positions is solved; it travels to workers."""

    rules: Rules
    goal: Labels | GoalTest | None
    """``(goals, places)``, or which positions are goals; None: those of the puzzle."""
    method: str | None
    heuristic: str | None
    tables: Sequence[Address]
    """Tables of patterns, as heuristic."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of `solve_many`."""

    def solve(self, positions: Labels, threads: int | None = None) -> Iterator[Solved]:
        """The answers for positions ``(n, places)``, in their order; raises as `load_patterns` and `solve_many`."""
        problems = [Problem.of(self.rules, labels, self.goal) for labels in positions]
        heuristic = self.heuristic if not self.tables or not problems else _LOADED.patterns(self)
        settings: dict[str, Any] = {} if heuristic is None else {"heuristic": heuristic}
        return solve_many(
            problems, IDA_STAR if self.tables else self.method, threads=threads, **settings, **self.limits
        )


class _Loaded:
    """The tables that this process has loaded last, for all of its tasks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: object = None
        self._patterns: Patterns | None = None

    def patterns(self, search: Search) -> Patterns:
        """The tables of a search, loaded if they are not."""
        goal = search.goal.tobytes() if isinstance(search.goal, np.ndarray) else None
        key = search.rules.fingerprint, goal, tuple(map(str, search.tables))
        with self._lock:
            if self._patterns is None or key != self._key:
                self._patterns = None  # makes room for the others
                self._patterns = load_patterns(search.rules, search.goal, search.tables)
                self._key = key
            return self._patterns


_LOADED = _Loaded()


def solve_on(scheduler: Scheduler, search: Search, positions: Labels, tell: Callable[[Solved], None]) -> None:
    """Solve positions ``(n, places)`` as tasks; the answers are told in the order of the positions.

    Raises as `Search.solve`; SchedulerError where the cluster is gone.
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


def _solved(search: Search, positions: Labels) -> list[Solved]:
    """The answers for some positions, one after another: the worker has other tasks for its other threads."""
    return list(search.solve(positions, threads=1))
