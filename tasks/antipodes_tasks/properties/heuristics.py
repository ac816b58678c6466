"""The heuristics that users choose by name."""

from collections.abc import Callable
from typing import NamedTuple

from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.properties.gaps import gaps, turns_over
from antipodes_tasks.properties.lower_bounds import LowerBound
from antipodes_tasks.properties.piece_distances import is_grid, is_large_grid, linear_conflict, manhattan, moves_pieces
from antipodes_tasks.rules.rules import Rules


class Named(NamedTuple):
    """A heuristic with a name."""

    bound: Callable[[Rules, Labels], LowerBound]
    """Function from a puzzle and goals ``(goals, places)`` to the lower bound of the distance to the nearest goal."""
    suits: Callable[[Rules], bool]
    """Function that returns whether the heuristic supports the moves of a puzzle."""
    needs: str
    """The moves that the heuristic supports, for error messages."""
    is_default: Callable[[Rules], bool]
    """Function that returns whether searches use the heuristic by default. The last default in `NAMED` counts."""


SWAPS, TILES = "moves that take one piece to an empty place", "tiles that slide on a full rectangle"
NAMED = {
    "manhattan": Named(manhattan, moves_pieces, SWAPS, moves_pieces),
    "linear-conflict": Named(linear_conflict, is_grid, TILES, is_large_grid),
    "gap": Named(gaps, turns_over, "moves that turn over the top of a stack of different pieces", turns_over),
}


def has_heuristic(rules: Rules) -> bool:
    """Return whether searches of the puzzle have a default heuristic."""
    return not rules.moves.free_moves and any(named.is_default(rules) for named in NAMED.values())


def heuristic_of(rules: Rules, goals: Labels, name: str | None = None) -> LowerBound:
    """Return the heuristic with a name, one of `NAMED`, by default the strongest for the puzzle.

    Raises
    ------
    InputError
        The heuristic does not support the moves of the puzzle, no heuristic is the default, or there is no heuristic
        with this name.
    """
    if name is None:
        strongest = [named for named in NAMED.values() if named.is_default(rules)][-1:] if has_heuristic(rules) else []
        if not strongest:
            raise InputError(
                "no heuristic is known for the moves of this puzzle; give a function as heuristic, "
                "or choose iddfs or bfs"
            )
        return strongest[0].bound(rules, goals)
    named = NAMED[arguments.choice(name, "a heuristic", tuple(NAMED))]
    _refuse_free(rules, name)
    if not named.suits(rules):
        others = [other for other, one in NAMED.items() if one.suits(rules)]
        raise InputError(f"{name} needs {named.needs}; choose {' or '.join(others or ('iddfs', 'bfs'))}")
    return named.bound(rules, goals)


def from_start(rules: Rules, name: str) -> Callable[[Labels], Numbers]:
    """Return the named heuristic for distances from the nearest start, a function from ``(n, places)`` to ``(n,)``.

    Raises
    ------
    InputError
        As for `heuristic_of`; or some move is irreversible, so that the distance to a start may differ from the
        distance from this start.
    """
    named = NAMED[arguments.choice(name, "a heuristic", tuple(NAMED))]
    _refuse_free(rules, name)
    if not named.suits(rules):
        raise InputError(f"{name} needs {named.needs}, but {rules.name} has other moves")
    if not rules.moves.reversible:
        raise InputError(f"{name} needs reversible moves, since it counts the moves to the start")
    return named.bound(rules, rules.start_labels).bounds


def _refuse_free(rules: Rules, name: str) -> None:
    """Raise InputError if the puzzle has free moves: heuristics count moves from positions, not from classes."""
    if rules.moves.free_moves:
        raise InputError(f"{name} cannot be used with free moves; choose iddfs or bfs, or a table")
