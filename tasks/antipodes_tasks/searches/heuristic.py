"""One interface for everything that can guide a depth-first search: named heuristics, pattern tables, or nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.keys.steps import CompiledSteps
from antipodes_tasks.properties.gaps import Gaps
from antipodes_tasks.properties.heuristics import heuristic_of
from antipodes_tasks.properties.lower_bounds import LowerBound, zero_bound
from antipodes_tasks.rules.swaps import swap_edges
from antipodes_tasks.searches.batch_dfs import descent_by_blocks
from antipodes_tasks.searches.blank_walk import descent_of_blank
from antipodes_tasks.searches.depth_first import Descent, descent_by_swaps
from antipodes_tasks.searches.gap_dfs import descent_by_gaps
from antipodes_tasks.searches.problem import Problem, Request
from antipodes_tasks.searches.progress import Heartbeat, no_pulse
from antipodes_tasks.searches.shares import WHOLE, Share
from antipodes_tasks.searches.word_dfs import descent_by_words


class Heuristic(ABC):
    """A lower bound of the distance to a goal, with the search that it guides."""

    uses_threads: ClassVar[bool] = False
    """Whether several threads can share a search."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the heuristic in answers."""

    @property
    def is_zero(self) -> bool:
        """Whether the bound is 0 for all positions, so that it prunes nothing."""
        return False

    @property
    def shows_reachable(self) -> bool:
        """Whether the bound shows that every position is reachable from every other one."""
        return False

    @abstractmethod
    def bounds(self, labels: Labels) -> Numbers:
        """Return the lower bounds ``(n,)`` of positions ``(n, places)`` of the puzzle."""

    def bound(self, position: Labels) -> int:
        """Return the lower bound of one position ``(places,)`` of the puzzle."""
        return int(self.bounds(position[np.newaxis])[0])

    def check(self, problem: Problem) -> None:  # noqa: B027  (bounds that are made for a problem apply to it)
        """Raise InputError if the bound does not apply to the problem's moves or goals."""

    def prepare(self, threads: int, pulse: Heartbeat = no_pulse) -> None:  # noqa: B027  (most have nothing to prepare)
        """Prepare structures that speed up a long search, using ``threads``; ``pulse`` may interrupt the work."""

    @abstractmethod
    def descent(self, depth: int, problem: Problem, request: Request, share: Share = WHOLE) -> Descent:
        """Return the search for paths of ``depth`` moves, pruned by the bound.

        If the heuristic `uses_threads`, it searches only one share of the tree.
        """


class GuidedByBound(Heuristic):
    """A lower bound from `properties`, with the fastest kernel for the bound and the moves."""

    def __init__(self, lower: LowerBound, name: str) -> None:
        self._lower, self._name = lower, name

    @classmethod
    def of(cls, problem: Problem, name: str | None) -> GuidedByBound:
        """Return the heuristic with a name, by default the strongest, for the goals of a problem.

        Raises InputError as `heuristic_of` does.
        """
        return cls(heuristic_of(problem.rules, problem.goals, name), name or "default")

    @property
    def name(self) -> str:
        """The name of the heuristic, or "default" if none was given."""
        return self._name

    @property
    def is_zero(self) -> bool:
        """Whether the bound is 0 for all positions."""
        return self._lower.tables is not None and self._lower.tables.is_zero

    @property
    def shows_reachable(self) -> bool:
        return isinstance(self._lower, Gaps) and self._lower.connects_all

    def bounds(self, labels: Labels) -> Numbers:
        """Return the lower bounds ``(n,)`` of positions ``(n, places)``."""
        return self._lower.bounds(labels)

    def descent(self, depth: int, problem: Problem, request: Request, share: Share = WHOLE) -> Descent:
        """Return the search for paths of ``depth`` moves; it always searches the whole tree."""
        if isinstance(self._lower, Gaps):
            return descent_by_gaps(depth, problem, self._lower, request)
        tables, steps, edges = self._lower.tables, problem.steps, swap_edges(problem.rules)
        if tables is None or not isinstance(steps, CompiledSteps):
            return descent_by_blocks(depth, problem, None if self.is_zero else self._lower, request)
        if edges is not None and problem.rules.counts[0] == 1 and problem.packing.words == 1 and self.is_zero:
            return descent_of_blank(depth, problem, edges, request)
        if edges is not None:
            return descent_by_swaps(depth, problem, tables, request)
        return descent_by_words(depth, problem, steps, request)


NO_HEURISTIC = GuidedByBound(zero_bound(), "none")
"""The heuristic that prunes nothing."""
