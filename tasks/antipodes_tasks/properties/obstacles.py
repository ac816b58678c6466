"""Why a position cannot reach a goal, in words, as far as this is known without a search."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.properties.solvability import WrongSum, invariants, parities, solvable, wrong_sum
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.rules import Rules

MAX_GOALS = 4096
"""Maximum number of goals with which a position is compared."""


def unreachable(reason: str | None) -> str:
    """Return the word "unreachable", followed by the reason if it is known."""
    return "unreachable" if reason is None else f"unreachable ({reason})"


def obstacle(rules: Rules, position: Labels, goals: Labels, kind: str = "start") -> str | None:
    """Return why a position ``(places,)`` cannot reach any of the goals ``(goals, places)``.

    ``kind`` is the word for a goal in the text. The result is None if a goal may be reachable, which only a search can
    decide, or if there are too many goals.
    """
    if len(goals) > MAX_GOALS or solvable(rules, position, goals).possible.any():
        return None
    if len(goals) != 1:
        return f"it differs from every {kind} in a parity or sum that no move changes"
    wrong = wrong_sum(replace(rules, starts=(tuple(goals[0].tolist()),), origin=None), position)
    if wrong is not None:
        return _wrong_parities(rules.parts) if wrong.part is None else _wrong_sum(wrong.part, wrong)
    if not parities(rules, position, goals).any():
        return "odd permutation: with the empty square back in its place, two pieces are swapped"
    return "the pieces never change their order on this board"


def obstacles(rules: Rules, positions: Labels, goals: Labels, kind: str = "start") -> list[str | None]:
    """Return the `obstacle` of each of the unreachable positions ``(n, places)``.

    It is found once for positions with equal parities and sums: if these allow a goal, then what excludes it is the
    same for all, the order of the pieces on a line.
    """
    _, first, group = np.unique(invariants(rules, positions), axis=0, return_index=True, return_inverse=True)
    reasons = [obstacle(rules, position, goals, kind) for position in positions[first]]
    return [reasons[number] for number in group.ravel().tolist()]


def _wrong_sum(part: Part, wrong: WrongSum) -> str:
    if part.holds_pieces:
        return f"odd permutation{f' of {part.name}' if part.name else ''}: two pieces are swapped"
    what = "orientations" if part.twists else "values"
    of_part = f" of {part.name}" if part.name else ""
    cause = ": a piece is turned on its place" if part.twists else ""
    total = f"the {what}{of_part} have the sum {wrong.found} modulo {len(part.symbols)}"
    return f"{total}, which no sequence of moves can produce{cause}"


def _wrong_parities(parts: Sequence[Part]) -> str:
    arrangements = [part for part in parts if part.holds_pieces and part.all_different]
    names = [part.name for part in arrangements if part.name]
    if len(arrangements) > 1 and len(names) == len(arrangements):
        return f"the parities of {' and '.join(names)} contradict each other: two pieces are swapped"
    return "its parities and sums contradict each other, although each one is possible"
