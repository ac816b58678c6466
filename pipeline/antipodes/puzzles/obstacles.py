"""Reasons why a position is unreachable, as far as they can be found without a search."""

from collections.abc import Sequence
from dataclasses import replace

from antipodes_tasks.properties.solvability import WrongSum, parities, solvable, wrong_sum
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.rules import Rules

MAX_STARTS = 4096
"""Maximum number of starts with which a position is compared."""


def obstacle(rules: Rules, position: Labels) -> str | None:
    """Return why a position ``(places,)`` is unreachable from every start; None if only a search can decide this."""
    starts = rules.start_labels
    if len(starts) > MAX_STARTS or solvable(rules, position, starts).possible.any():
        return None
    if len(starts) > 1:
        return "it differs from every start in a parity or sum that no move changes"
    wrong = wrong_sum(replace(rules, starts=(tuple(starts[0].tolist()),), origin=None), position)
    if wrong is not None:
        return _wrong_parities(rules.parts) if wrong.part is None else _wrong_sum(wrong.part, wrong)
    if not parities(rules, position, starts).any():
        return "odd permutation: with the empty square back in its place, two pieces are swapped"
    return "the pieces never change their order on this board"


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
