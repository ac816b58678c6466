"""Breadth-first searches from a position and from its goals, until they meet or one of them has seen all."""

from collections.abc import Callable

from antipodes.errors import ResourceLimitError
from antipodes.searches.breadth_first import Reached
from antipodes.searches.packing import Words
from antipodes.searches.problem import Problem

SHARE = 8
"""A proof beside another search expands one position in so many."""
WORTH_IT = 1 << 16
"""Positions that a search has expanded before a proof is begun."""
PROOF_MEMORY = 1 << 30
"""Bytes that a proof may take unless told otherwise."""


class TwoEnds:
    """The positions within some distance of a position, and those from which a goal is within some distance."""

    def __init__(self, problem: Problem, memory_limit: int, pulse: Callable[[], None] = lambda: None) -> None:
        half = memory_limit // 2
        self.near = Reached(problem.position[None], problem.steps, problem.packing, half, pulse)
        self.far = Reached(problem.goals, problem.steps_back, problem.packing, half, pulse)
        self.meetings = self._common()
        """The positions ``(n, words)`` halfway on all shortest ways; none unless the two sets meet."""

    @property
    def distance(self) -> int:
        """How long ways are that were looked for."""
        return self.near.depth + self.far.depth

    @property
    def expanded(self) -> int:
        """Positions expanded on both sides."""
        return self.near.expanded + self.far.expanded

    @property
    def held(self) -> int:
        """Positions in memory."""
        return len(self.near) + len(self.far)

    @property
    def next_size(self) -> int:
        """How many positions the next step expands."""
        return self._side().last_layer_size

    def expand(self) -> bool:
        """Expand the side with the smaller frontier; False where it has no more positions, so that no way exists."""
        if not self._side().expand():
            return False
        self.meetings = self._common()
        return True

    def _side(self) -> Reached:
        return self.near if self.near.last_layer_size <= self.far.last_layer_size else self.far

    def _common(self) -> Words:
        """The positions in both last layers; no earlier layer can hold one before these do."""
        layer, other = self.near.layer(self.near.depth), self.far
        if self.near.last_layer_size > self.far.last_layer_size:
            layer, other = self.far.layer(self.far.depth), self.near
        common: Words = layer[other.depths(layer) == other.depth]
        return common


class UnreachableProof:
    """Finds out that no way exists, beside a search that would never notice.

    Iterative deepening holds no positions, so where moves lead in circles it never knows that it has seen all of
    them. This takes a fixed share of the search's work, and ends where the two sides meet (there is a way), where one
    of them is complete (there is none), or where the memory is full (nobody knows).
    """

    def __init__(self, problem: Problem, memory_limit: int = PROOF_MEMORY) -> None:
        self._problem = problem
        self._memory_limit = memory_limit
        self._ends: TwoEnds | None = None
        self._over = False

    def succeeds(self, expanded: int) -> bool:
        """Go on as far as is in proportion to the positions expanded by the search; whether no way exists."""
        if self._over or expanded < WORTH_IT:
            return False
        try:
            return self._advance(expanded // SHARE)
        except ResourceLimitError:
            self._end()
            return False

    def _advance(self, most: int) -> bool:
        if self._ends is None:
            if self._problem.surely_solvable:
                self._end()
                return False
            self._ends = TwoEnds(self._problem, self._memory_limit)
        while not len(self._ends.meetings):
            if self._ends.expanded + self._ends.next_size > most:
                return False
            if not self._ends.expand():
                return True
        self._end()
        return False

    def _end(self) -> None:
        self._over, self._ends = True, None
