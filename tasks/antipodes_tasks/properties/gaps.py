"""The gap heuristic of pancakes: the number of neighbours in the stack that are not neighbours in a goal.

Turning over the topmost pancakes separates only one pair of neighbours, and joins only one new pair. Therefore each
move changes the number of gaps by at most one, and at a goal there are none (M. Helmert, Landmark heuristics for the
pancake problem, 2010). The plate counts as the neighbour of the lowest pancake. Two burnt pancakes are neighbours in a
goal only if their burnt sides fit, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.properties.lower_bounds import LowerBound
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms


@dataclass(frozen=True, eq=False)
class Gaps(LowerBound):
    """The gap heuristic for some goals. A pancake's *code* is twice its label, plus 1 if its burnt side is up."""

    sizes: Numbers
    """``(moves,)``: the number of pancakes that each move turns over."""
    burnt: bool
    """Whether a move also turns the burnt sides."""
    gap: NDArray[np.uint8]
    """``(codes, codes)``: 0 if the second code is directly below the first one in a goal, possibly after both are
    turned over together; otherwise 1. The last code is the plate."""

    @classmethod
    def of(cls, rules: Rules, goals: Labels) -> Gaps | None:
        """Return the heuristic for goals ``(goals, places)``.

        Returns None unless all pancakes differ and each move turns over the top of the stack.
        """
        moves = Transforms.of(rules.moves)
        sizes = None if moves is None else _sizes_of_flips(rules, moves)
        if sizes is None:
            return None
        found = cls(sizes, len(rules.parts) == 2, np.ones((2 * len(rules.parts[0].symbols) + 1,) * 2, dtype=np.uint8))
        codes = found.codes(goals)
        above, below = codes[:, :-1], codes[:, 1:]
        found.gap[above, below] = 0
        turned = int(found.burnt)
        found.gap[below[:, :-1] ^ turned, above[:, :-1] ^ turned] = 0
        return found

    @property
    def plate(self) -> int:
        """The code of the plate."""
        return len(self.gap) - 1

    @property
    def connects_all(self) -> bool:
        """Whether every position is reachable from every other one, because any number of pancakes can be turned."""
        pancakes, least = (len(self.gap) - 1) // 2, 1 if self.burnt else 2
        return set(self.sizes.tolist()) >= set(range(least, pancakes + 1))

    def codes(self, labels: Labels) -> Numbers:
        """Return the codes ``(n, pancakes + 1)`` of positions ``(n, places)``, from the top, with the plate."""
        pancakes = labels.shape[1] // (2 if self.burnt else 1)
        codes = np.full((len(labels), pancakes + 1), self.plate, dtype=np.int64)
        codes[:, :-1] = 2 * labels[:, :pancakes].astype(np.int64)
        if self.burnt:
            codes[:, :-1] += labels[:, pancakes:]
        return codes

    def bounds(self, labels: Labels) -> Numbers:
        """Return the number of gaps ``(n,)`` of positions ``(n, places)``."""
        codes = self.codes(labels)
        gaps: Numbers = self.gap[codes[:, :-1], codes[:, 1:]].sum(axis=1, dtype=np.int64)
        return gaps


def turns_over(rules: Rules) -> bool:
    """Return whether each move turns over the top of a stack of different pieces."""
    return Gaps.of(rules, rules.start_labels) is not None


def gaps(rules: Rules, goals: Labels) -> Gaps:
    """Return the gap heuristic for goals ``(goals, places)``; raise InputError for other moves or identical pieces."""
    found = Gaps.of(rules, goals)
    if found is None:
        raise InputError(f"gap needs moves that turn over the top of a stack of different pieces, unlike {rules.name}")
    return found


def _sizes_of_flips(rules: Rules, moves: Transforms) -> Numbers | None:
    """Return how many pancakes each move turns over; None if the moves do anything else."""
    if moves.allowed is not None or not len(moves) or len(rules.parts) > 2 or not rules.parts[0].holds_pieces:
        return None
    if not rules.parts[0].all_different:
        return None
    size, burnt = rules.parts[0].places, len(rules.parts) == 2
    if burnt and (rules.places != 2 * size or rules.parts[1].holds_pieces or (moves.moduli[size:] != 2).any()):
        return None
    origin = moves.origin.astype(np.int64)
    sizes = origin[:, 0] + 1  # the pancake that comes to the top was the lowest of those turned over
    places = np.arange(size)
    turned = places < sizes[:, np.newaxis]
    flipped = np.where(turned, sizes[:, np.newaxis] - 1 - places, places)
    expected, added = [flipped], [np.zeros_like(flipped)]
    if burnt:
        expected.append(size + flipped)
        added.append(turned.astype(np.int64))
    same = np.array_equal(origin, np.concatenate(expected, axis=1))
    return sizes if same and np.array_equal(moves.added, np.concatenate(added, axis=1)) else None
