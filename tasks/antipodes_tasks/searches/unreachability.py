"""A proof that no goal can be reached, beside a search that cannot find that out."""

from antipodes_tasks.errors import ResourceLimitError
from antipodes_tasks.searches.breadth_first.frontiers import Frontiers
from antipodes_tasks.searches.problem import Problem

SHARE = 8
"""Positions that the search expands for each position that the proof expands."""
WORTH_IT = 1 << 16
"""Positions that the search expands before the proof begins."""
PROOF_MEMORY = 1 << 30
"""Bytes that the proof may take by default."""


class UnreachableProof:
    """Proves that no goal can be reached, beside iterative deepening.

    Iterative deepening remembers no positions. So where moves lead in circles, it never finds out that it has seen all
    positions. The proof takes a fixed share of the search's work. It ends when its two frontiers meet (a goal can be
    reached), when one side has no more positions (no goal can be reached), or when its memory is full (unknown).
    """

    def __init__(self, problem: Problem, memory_limit: int = PROOF_MEMORY) -> None:
        self._problem = problem
        self._memory_limit = memory_limit
        self._frontiers: Frontiers | None = None
        self._over = False

    def advance(self, expanded: int) -> bool:
        """Do the share that is due once the search has expanded ``expanded`` positions; whether the proof succeeded."""
        if self._over or expanded < WORTH_IT:
            return False
        try:
            return self._expand(expanded // SHARE)
        except ResourceLimitError:
            self._end()
            return False

    def _expand(self, most: int) -> bool:
        if self._frontiers is None:
            if self._problem.known_reachable:
                self._end()
                return False
            self._frontiers = Frontiers(self._problem, self._memory_limit)
        while not len(self._frontiers.common):
            if self._frontiers.expanded + self._frontiers.next_size > most:
                return False
            if not self._frontiers.expand():
                return True
        self._end()
        return False

    def _end(self) -> None:
        self._over, self._frontiers = True, None
