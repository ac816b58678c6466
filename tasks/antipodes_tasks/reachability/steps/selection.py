"""The implementation of `Steps` for each kind of moves."""

from collections.abc import Sequence

from antipodes_tasks.reachability.steps.batch_steps import BatchSteps
from antipodes_tasks.reachability.steps.compiled_steps import CompiledSteps
from antipodes_tasks.reachability.steps.steps import Steps
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.rules.transforms import Transforms


def steps_of(moves: Moves, parts: Sequence[Part], *, backwards: bool = False) -> Steps:
    """The moves, or the moves that undo them: in machine code if they are arrays, else in numpy."""
    if isinstance(moves, Swaps | Transforms):
        return CompiledSteps(moves.reversed() if backwards else moves, parts)
    return BatchSteps(len(moves), moves.before if backwards else moves.after)


def undoable(moves: Moves) -> bool:
    """Whether the positions before a position are known: some functions come without an inverse."""
    return not isinstance(moves, Functions) or moves.invertible
