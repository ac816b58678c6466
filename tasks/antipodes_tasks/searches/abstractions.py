"""Abstractions: maps from the positions of a puzzle to the positions of a simpler puzzle, the *pattern*.

A pattern has fewer pieces, or makes some pieces identical. Suppose that the map takes the goal to the pattern's start,
and each move to a move of the pattern or to no change. Then it maps every path to the goal to a path that is no longer.
So the pattern's distances are lower bounds of the puzzle's distances.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Effect, Transforms

NO_MOVE = -1
"""Stands for a move of the puzzle that changes nothing in the pattern."""


@dataclass(frozen=True, eq=False)
class Homomorphism:
    """A map of positions that has been proved to map moves to moves."""

    places: Numbers
    """``(places of the pattern,)``: the place of the puzzle that each place of the pattern represents."""
    twists: Numbers
    """``(places of the pattern,)``: for a point (see `abstraction_of`), the place that holds the piece's orientation;
    otherwise as in ``places``.
    """
    label_of: NDArray[np.uint8]
    """``(places of the pattern, labels, orientations)``: the label in the pattern of each label of the puzzle.

    It depends on the orientation only for points.
    """
    moves: Numbers
    """``(moves of the puzzle,)``: the move of the pattern with the same effect, or NO_MOVE."""

    def image(self, labels: Labels) -> Labels:
        """Return the images ``(n, places of the pattern)`` of positions ``(n, places)`` of the puzzle."""
        orientations = labels[:, self.twists] % self.label_of.shape[2]
        image: Labels = self.label_of[np.arange(len(self.places)), labels[:, self.places], orientations]
        return image


def abstraction_of(rules: Rules, goal: Labels, pattern: Rules) -> Homomorphism:
    """Return the map of a puzzle to a pattern that takes a goal ``(places,)`` to the pattern's only start.

    Each part of the pattern represents the part of the puzzle with the same name, or else the next compatible part. To
    find a piece's label in the pattern, take its place at the goal: the new label is the one on this place at the
    pattern's start. Values are reduced modulo the pattern's number of values.

    A part of the pattern may also consist of *points*, several per place. Point ``k`` of a place holds the label that
    the piece there shows in orientation ``k``. Sets in which some pieces have no orientation are represented in this
    way; see `antipodes.puzzles.formats.definition.orbit_from`.

    Raises InputError if there is no such map, or if it does not map moves to moves.
    """
    if rules.moves.free_moves or pattern.moves.free_moves:
        raise InputError(f"{option('tables')}: tables of patterns cannot be used with free moves")
    moves = _transforms(rules), _transforms(pattern)
    if len(pattern.starts) != 1:
        raise InputError(f"{option('tables')}: {pattern.name} must have one start, but has {len(pattern.starts)}")
    if not moves[1].reversible:
        raise InputError(
            f"{option('tables')}: {pattern.name} has irreversible moves, so its distances to the start are not known"
        )
    start = pattern.start_labels[0]
    shown = [(at, _Shown(rules, pattern.parts[own], of, turned)) for at, own, of, turned in _paired(rules, pattern)]
    most = max(len(part.symbols) for part in rules.parts)
    values = max([1, *(one.points for _, one in shown)])
    label_of = np.concatenate([one.labels(goal, start[at], (most, values), pattern.name) for at, one in shown])
    places, twists = (np.concatenate(both) for both in zip(*(one.places for _, one in shown), strict=True))
    effects = [one.effects(moves[0], at.start) for at, one in shown]
    origin, added = (np.concatenate(both, axis=1) for both in zip(*effects, strict=True))
    numbers = _moves_in(moves[0], moves[1], origin, added, (rules.name, pattern.name))
    # The moves correspond, but labels with a limited number of values may still take the goal to another position.
    found = Homomorphism(places, twists, label_of, numbers)
    if not np.array_equal(found.image(goal[np.newaxis])[0], start):
        raise InputError(
            f"{option('tables')}: the goal of {rules.name} does not correspond to the start of {pattern.name}"
        )
    return found


def _transforms(rules: Rules) -> Transforms:
    moves = Transforms.of(rules.moves)
    if moves is None or moves.allowed is not None:
        raise InputError(
            f"{option('tables')}: pattern tables need a sliding puzzle with one blank, or moves that are always legal; "
            f"this does not hold for {shorten(rules.name)}{_reason(rules)}"
        )
    return moves


def _reason(rules: Rules) -> str:
    """Return why the moves are not supported, for messages."""
    moves = Transforms.of(rules.moves)
    if moves is None:
        return ""
    moved = (moves.origin != np.arange(moves.places)).sum(axis=1)
    if rules.layout is not None and moved.max(initial=0) > 2:
        return ", whose moves take several tiles"
    return ", whose moves are not always legal"


def _paired(rules: Rules, pattern: Rules) -> Iterator[tuple[slice, int, slice, slice | None]]:
    """For each part of a pattern, yield its places, its number, and the places of the puzzle's part that it represents.

    The last item contains the places of the orientations if the part consists of points; otherwise it is None.
    """
    rest = dict(enumerate(rules.parts))
    for number, (own, at) in enumerate(zip(pattern.parts, pattern.ranges, strict=True)):
        alike = [k for k, part in rest.items() if _is_compatible(own, part)]
        points = [k for k in rest if _has_points(own, rules, k)]
        fitting = [*alike, *points]
        if not fitting:
            kind = "pieces" if own.holds_pieces else "values"
            where = f"{kind} on {own.places} places" + (f" of {quote(own.name)}" if own.name else "")
            raise InputError(f"{option('tables')}: no part of {rules.name} matches the {where} in {pattern.name}")
        chosen = next((k for k in fitting if rest[k].name == own.name), fitting[0])
        del rest[chosen]
        yield at, number, rules.ranges[chosen], None if chosen in alike else rules.ranges[chosen + 1]


def _has_points(own: Part, rules: Rules, number: int) -> bool:
    """Return whether a pattern's part can be the points of a puzzle's part, one per orientation of each place."""
    part, twists = rules.parts[number], rules.parts[number + 1 : number + 2]
    if not (own.holds_pieces and part.holds_pieces and twists and twists[0].twists):
        return False
    return twists[0].places == part.places and own.places == part.places * len(twists[0].symbols)


def _is_compatible(own: Part, part: Part) -> bool:
    """Return whether a part of a pattern can represent a part of a puzzle."""
    same_kind = (own.places, own.holds_pieces) == (part.places, part.holds_pieces)
    return same_kind and (own.holds_pieces or len(part.symbols) % len(own.symbols) == 0)


@dataclass(frozen=True)
class _Shown:
    """A part of a pattern, and the places of the puzzle that it represents."""

    rules: Rules
    part: Part
    of: slice
    """The places of the puzzle that the part represents."""
    turned: slice | None
    """The places of the orientations, if the part consists of points."""

    @property
    def points(self) -> int:
        """Number of places of the part per place of the puzzle."""
        return int(self.part.places // (self.of.stop - self.of.start))

    @property
    def places(self) -> tuple[Numbers, Numbers]:
        """The part's contribution to `Homomorphism.places` and `Homomorphism.twists`."""
        of, turned = (np.arange(at.start, at.stop).repeat(self.points) for at in (self.of, self.turned or self.of))
        return of, turned

    def labels(self, goal: Labels, start: Labels, shape: tuple[int, int], name: str) -> NDArray[np.uint8]:
        """Return the pattern's label for each label on each place of the part, ``(places, *shape)``.

        ``shape`` is the number of labels and the number of orientations in `Homomorphism.label_of`; ``start``
        ``(places,)`` contains the part's labels at the pattern's start.

        Raises InputError if pieces that are identical in the puzzle become different.
        """
        most, values = shape
        if not self.part.holds_pieces:
            kept = (np.arange(most) % len(self.part.symbols)).astype(np.uint8)
            return np.broadcast_to(kept[:, np.newaxis], (self.part.places, most, values))
        pieces, points = goal[self.of], start.reshape(-1, self.points)
        turns = np.zeros(len(pieces), dtype=np.int64) if self.turned is None else goal[self.turned].astype(np.int64)
        each = np.arange(self.points)
        unturned = points[np.arange(len(pieces))[:, np.newaxis], (each + turns[:, np.newaxis]) % self.points]
        become = np.zeros((most, self.points), dtype=np.uint8)
        become[pieces] = unturned
        if not np.array_equal(become[pieces], unturned):
            raise InputError(f"{option('tables')}: {name} distinguishes pieces that are identical in the puzzle")
        of_point = become[:, (each[:, np.newaxis] - np.arange(values)) % self.points]  # (most, points, values)
        return np.tile(of_point.transpose(1, 0, 2), (len(pieces), 1, 1))

    def effects(self, moves: Transforms, first: int) -> tuple[Numbers, Numbers]:
        """Return the effect of the puzzle's moves on the part, whose first place has number ``first`` in the pattern.

        The effect consists of two arrays ``(moves, places)``. The first contains the place from which each place gets
        its label, or -1 if this place is outside the part; the second contains the number that is added to the label.
        """
        origin = moves.origin[:, self.of].astype(np.int64) - self.of.start
        inside = (origin >= 0) & (origin < self.of.stop - self.of.start)
        origin = np.where(inside, origin, -1)
        if self.turned is None:
            return np.where(inside, origin + first, -1), moves.added[:, self.of].astype(np.int64)
        turns = moves.added[:, self.turned].astype(np.int64)
        points = origin[..., np.newaxis] * self.points + (np.arange(self.points) - turns[..., np.newaxis]) % self.points
        points = np.where(inside[..., np.newaxis], points + first, -1).reshape(len(origin), -1)
        return points, np.zeros_like(points)


def _moves_in(
    moves: Transforms, pattern: Transforms, origin: Numbers, added: Numbers, names: tuple[str, str]
) -> Numbers:
    """Return, for each of the puzzle's moves, the number of the pattern's move with the same effect, ``(moves,)``.

    The effects of the puzzle's moves are ``origin`` and ``added``, ``(moves, places)`` each.
    """
    number = {key: k for k, key in reversed(list(enumerate(pattern.effects.keys)))}
    number[Effect.identity(origin.shape[1]).key] = NO_MOVE
    # The modulus of a piece's place is the number of symbols, but nothing is ever added to pieces.
    found = [number.get(key) for key in Effect(origin, added % pattern.moduli).keys]
    for k, one in enumerate(found):
        if one is None:
            move = quote(moves.names[k]) if moves.names else str(k)
            raise InputError(f"{option('tables')}: no move of {names[1]} corresponds to the move {move} of {names[0]}")
    return np.array(found, dtype=np.int64)
