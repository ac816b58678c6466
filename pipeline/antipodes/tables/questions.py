"""The declared questions to a table, from which `antipodes.system.declared_questions` makes commands and endpoints.

The overview of commands is made from this module, so it imports no libraries and none of the modules with the answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from antipodes.system.declared_questions import question, questions_of
from antipodes.system.parameters import Parameter, excludes
from antipodes_tasks.base.values import FLAG, integer

if TYPE_CHECKING:
    from antipodes.tables.branching_factors import BranchingFactors
    from antipodes.tables.checked_space import CheckedSpace
    from antipodes.tables.reached_positions import ReachedPositions
    from antipodes.tables.store.chunks import TableChunks

MAX_SAMPLE = 10_000_000
"""Maximum size of a sample, whose positions are all kept in memory."""
Sample = Annotated[
    int | None,
    Parameter(
        integer(1, MAX_SAMPLE), "Only count the moves of N random positions, about equally many from each depth.", "N"
    ),
]
Exact = Annotated[
    bool,
    Parameter(FLAG, "Count the moves of all positions, even if the table is large.", over_http=False),
]
Seed = Annotated[int, Parameter(integer(0, 2**63 - 1), "Seed of the sample. [default: 0]", "S")]


class TableQuestions:
    """The declared questions, as methods of a table."""

    if TYPE_CHECKING:
        space: CheckedSpace
        complete: bool
        _chunks: TableChunks
        _reached: ReachedPositions

        @property
        def layers(self) -> list[int]: ...
        def _depth(self, depth: int) -> int: ...

    @question(
        "antipodes.tables.branching_factors",
        "antipodes branching eight-puzzle",
        "antipodes branching eight-puzzle --csv > branching.csv",
        "antipodes branching 2x2x2 --sample 100000 --seed 7",
        rules=(excludes("exact", "sample"),),
    )
    def branching(self, *, exact: Exact = False, sample: Sample = None, seed: Seed = 0) -> BranchingFactors:
        """Count the legal moves of a position at each depth, and how many lead farther, nearer or to the same depth.

        The numbers are means over all positions at a depth, the branching factors. If the table has more than 2,000,000
        entries, they are estimates from a random sample of 100,000 positions, about equally many from each depth. Moves
        that lead to the same position count separately.

        Raises UnfinishedError if no layer is committed yet.
        """
        from antipodes.tables.branching_factors import MoveCounter

        self._depth(0)
        counter = MoveCounter(self.space.stored, self._chunks, self._reached, self.layers, self.complete)
        return counter.count(exact, sample, seed)


QUESTIONS = tuple(questions_of(TableQuestions))
"""All declared questions."""
