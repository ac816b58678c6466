"""Sequences of always-legal moves: which moves a search may skip after another move, and inverse positions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Mask, Numbers
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.rules.transforms import Effect, Transforms

MAX_PAIRED = 128
"""Maximum number of moves for which all pairs of moves are compared, which takes less than 0.1 s. If there are more, a
move and its inverse are the only pair that is known to be redundant."""


def followers(moves: Transforms, every: bool, order: Sequence[int] | None = None) -> list[list[int]]:
    """Return the moves that may follow each move; the last item contains the moves that may come first.

    A move is left out if it changes nothing or has the same effect as an earlier move. A move may not follow another
    move if the two together have the effect of a single move, or no effect, since no shortest path contains such a
    pair. Unless ``every`` shortest path is wanted, two commuting moves are allowed only in one order: by ascending
    ``order``, which contains a number for each move, by default the move's own number.
    """
    effects, rank = moves.effects.keys, np.arange(len(moves)) if order is None else np.asarray(order)
    nothing = Effect.identity(moves.places).key
    used = [move for move, effect in enumerate(effects) if effect != nothing and effect not in effects[:move]]
    if len(used) > MAX_PAIRED:
        return [[move for move in used if move != moves.inverse[before]] for before in range(len(moves))] + [used]
    redundant, commuting = _pairs(moves, used)
    ascending = rank[used][:, np.newaxis] <= rank[used]
    allowed = ~redundant & (every | ascending | ~commuting)
    after = {one: [used[k] for k in np.flatnonzero(own)] for one, own in zip(used, allowed, strict=True)}
    return [after.get(one, []) for one in range(len(moves))] + [used]


def redundant_pairs(moves: Transforms) -> Mask:
    """Return which pairs of moves in a row have the effect of a single move, or no effect, ``(moves, moves)``.

    The result is empty if moves have conditions or there are more than MAX_PAIRED moves.
    """
    if moves.allowed is not None or len(moves) > MAX_PAIRED:
        return np.empty((0, 0), dtype=np.bool_)
    return _pairs(moves, range(len(moves)))[0]


def _pairs(moves: Transforms, used: Sequence[int]) -> tuple[Mask, Mask]:
    """Return two masks of the pairs of some moves, ``(used, used)``: the pairs that have the effect of one of these
    moves or no effect, and the pairs that commute.
    """
    effects = Effect(*(values[list(used)] for values in moves.effects))
    numbers = {key: number for number, key in enumerate({Effect.identity(moves.places).key, *effects.keys})}
    short = len(numbers)
    products = np.empty((len(used), len(used)), dtype=np.int64)
    for row, one in enumerate(used):
        both = moves.effect(one).then(effects, moves.moduli)
        products[row] = [numbers.setdefault(key, len(numbers)) for key in both.keys]
    return products < short, products == products.T


def followers_as_bits(rules: Rules, every: bool, order: Sequence[int] | None = None) -> NDArray[np.uint32]:
    """Return `followers` as bit masks ``(moves + 1,)``; the puzzle must have at most 32 moves."""
    listed = followers(transforms_of(rules), every, order)
    return np.array([sum(1 << move for move in own) for own in listed], dtype=np.uint32)


def first_alike(moves: Transforms) -> Numbers:
    """Return, for each move, the first move with the same effect, ``(moves,)``."""
    effects = moves.effects.keys
    return np.array([effects.index(effect) for effect in effects], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Inverses:
    """The map from positions to their inverse positions.

    If some moves lead from the goal to a position, their inverses in reverse order lead from the goal to the inverse of
    the position. Since the inverse of each move is a move, both positions are equally far from the goal.
    """

    goal: Labels
    """``(places,)``: the goal."""
    home: Numbers
    """``(places, labels)``: the place of a piece at the goal; for a place that holds a value, the place itself."""
    carriers: Numbers
    """``(places,)``: for a place that holds a twist, the place of the twisted piece; otherwise the place itself."""
    pieces: NDArray[np.bool_]
    """``(places,)``: whether the place holds a piece, not a value."""
    moduli: Numbers
    moves: Numbers
    """``(moves,)``: the inverse of each move."""

    @classmethod
    def of(cls, rules: Rules, goal: Labels) -> "Inverses | None":
        """Return the map for a goal.

        Returns None if pieces are identical, values move separately from pieces, or a move is irreversible.
        """
        moves = transforms_of(rules)
        home = np.repeat(np.arange(rules.places)[:, np.newaxis], int(moves.moduli.max()), axis=1)
        carriers, pieces = np.arange(rules.places), np.zeros(rules.places, dtype=np.bool_)
        for part, at, before in zip(rules.parts, rules.ranges, (slice(0, 0), *rules.ranges), strict=False):
            if part.holds_pieces:
                pieces[at] = True
                home[at, goal[at]] = np.arange(at.start, at.stop)
            elif part.twists and before.stop - before.start == part.places:
                carriers[at] = np.arange(before.start, before.stop)
        shift = np.arange(rules.places) - carriers
        known = np.where(pieces | (shift > 0), moves.origin[:, carriers] + shift, np.arange(rules.places))
        different = all(part.all_different for part in rules.parts)
        if not (different and moves.reversible and np.array_equal(known, moves.origin)):
            return None
        return cls(goal, home, carriers, pieces, moves.moduli.astype(np.int64), moves.inverse)

    def image(self, position: Labels) -> Labels:
        """Return the inverse of a position ``(places,)``."""
        origin, added = self.effect_of(position)
        inverse = np.empty_like(position)
        inverse[origin] = (self.goal - added) % self.moduli
        return inverse

    def commute(self, moves: Transforms, position: Labels) -> bool:
        """Return whether the transformation from the goal to a position ``(places,)`` commutes with every move."""
        origin, added = self.effect_of(position)
        return all(
            np.array_equal(
                (moves.move(move, self.goal[np.newaxis])[0][0][origin] + added) % self.moduli,
                moves.move(move, position[np.newaxis])[0][0],
            )
            for move in range(len(moves))
        )

    def effect_of(self, position: Labels) -> Effect:
        """Return the transformation from the goal to a position ``(places,)``; its added numbers may be negative."""
        origin = self.home[self.carriers, position[self.carriers]] + np.arange(len(position)) - self.carriers
        return Effect(origin, np.where(self.pieces, 0, position.astype(np.int64) - self.goal[origin]))
