"""Look-ups of inverse positions in a table of bundles.

The inverse of a position is as far from the goal as the position itself, so its bounds are bounds of the position, too:
a *dual look-up* (A. Felner, U. Zahavi, J. Schaeffer and R. C. Holte, Dual lookups in pattern databases, 2005). A move
of the position changes its inverse at the other end: the moves that lead from the goal to the inverse are the inverses
of the moves taken, the last one first, followed by the moves to the inverse of the first position. So the digits of an
inverse follow from those of the goal: the last moves are undone one by one, and a map, made once for all positions with
the same *prefix* of moves, replaces the others.

Some moves, such as the half turns of the cube, *keep* the goal's index in a view. Such a move does not change the index
of the inverse either, since the inverse of the move is the first one that is applied to the goal. So if the bound of
the inverse is the number of moves left, no shortest path continues with such a move. (T. Rokicki's and S. Tronto's
programs for the cube use this.)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Words
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.searches.block_path import ONE, ZERO, BlockPath
from antipodes_tasks.searches.bundle_arrays import (
    BASE,
    FIRST_AFTER,
    LEADING,
    MOVES,
    NO_VIEW,
    BundleArrays,
    BundleBlocks,
    Sought,
    is_pruned,
    locate,
    value_in,
)
from antipodes_tasks.searches.digits import split
from antipodes_tasks.searches.move_sequences import Inverses
from antipodes_tasks.searches.permutation_views import TableLookup
from antipodes_tasks.searches.prefetch import prefetch
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.part_tables import filled, part_fill

DUAL = 3
"""Inverses are looked up if at most ``base + DUAL`` moves are left, which is the largest clipped bound (`Encoding`)."""
FORK = DUAL + 3
"""A prefix ends if at most ``base + FORK`` moves are left. The positions there are expanded one at a time."""
MAX_VALUES = 1 << 18
"""Maximum number of values of all digits together; the maps of a prefix have this size in each view."""
Maps = NDArray[np.uint16 | np.uint32]
"""``(views, values)``: a new digit for each value of each digit; the values of all digits are concatenated."""


class DualTables(NamedTuple):
    """How the digits of an inverse position follow from moves, as arrays for the kernels."""

    inverse: Words
    """``(moves,)``: the inverse of each move of the puzzle."""
    keeping: Words
    """``(moves,)``: the views in which a move keeps the goal's index, as bits."""
    goal: Words
    """``(digits,)``: the digits of the goal, in all views."""
    first: Words
    """``(digits,)``: the number of the first value of each digit."""
    moved: NDArray[np.uint16 | np.uint32]
    """``(moves of the pattern + 1, values)``: the number of the new value after each move, for each value of each
    digit; the last move changes nothing."""


@dataclass(frozen=True, eq=False)
class DualViews:
    """Views of a table of bundles in which inverse positions are looked up."""

    inverses: Inverses
    views: Sequence[TableLookup]
    tables: DualTables
    _last: dict[str, tuple[bytes, Maps]] = field(default_factory=dict)
    """The maps that were computed last, with the position for which they were computed."""

    @classmethod
    def of(cls, rules: Rules, inverses: Inverses, views: Sequence[TableLookup]) -> "DualViews | None":
        """Return the views of one table.

        Returns None if the pattern consists of points, if its digits are not parts, or if they have too many values.
        """
        bundles, abstraction = views[0].table.bundles, views[0].table.abstraction
        assert bundles is not None
        digits = bundles.rows.digits
        first = np.cumsum([0, *(digit.size for digit in digits)])
        of_parts = isinstance(bundles.rows.numbering, Orbits) and abstraction.label_of.shape[2] == 1
        if not of_parts or first[-1] > MAX_VALUES:
            return None
        goal = inverses.goal[np.newaxis]
        moved = np.concatenate([rules.moves.move(move, goal)[0] for move in range(len(rules.moves))])
        kept = [(view.entries(moved) == view.entries(goal)).astype(np.uint64) for view in views]
        after = np.concatenate([at + digit.after for at, digit in zip(first.tolist(), digits, strict=False)])
        tables = DualTables(
            inverse=inverses.moves.astype(np.uint64),
            keeping=np.bitwise_or.reduce([own << np.uint64(u) for u, own in enumerate(kept)]),
            goal=np.array(split(int(views[0].entries(goal)[0]), digits), dtype=np.uint64),
            first=first[:-1].astype(np.uint64),
            moved=np.ascontiguousarray(after.T, dtype=_word(int(first[-1]))),
        )
        return cls(inverses, views, tables)

    def maps_of(self, root: Labels) -> Maps:
        """Return how the effect of the inverse of a position ``(places,)`` changes the digits in each view.

        The maps are kept, since all threads of a search ask for the same ones.
        """
        key, known = root.tobytes(), self._last.get("root")
        if known is None or known[0] != key:
            inverse = self.inverses.image(root)
            maps = np.array([self._map_of(view, inverse) for view in self.views])
            known = key, maps.astype(_word(maps.max() + 1))
            self._last["root"] = known
        return known[1]

    def _map_of(self, view: TableLookup, position: Labels) -> NDArray[np.int32]:
        """Return how the effect that leads from the goal to a position changes the digits in a view, ``(values,)``."""
        numbering, places = view.table.numbering, view.table.abstraction.places
        assert isinstance(numbering, Orbits)
        image = position if view.symmetry is None else view.symmetry.image(position[np.newaxis])[0]
        origin, added = self.inverses.effect_of(image)
        place_of, moduli = np.zeros(len(position), dtype=np.int64), transforms_of(view.table.rules).moduli
        place_of[places] = np.arange(len(places))
        effect = Transforms([""], [place_of[origin[places]]], moduli, [added[places] % moduli])
        parts = [part for part in numbering.parts if part.size > 1]
        digits = [filled(part, 1, part_fill(part, effect, np.arange(1)))[:, 0] for part in parts]
        rest = len(self.tables.first) - len(digits)  # a single column
        return np.concatenate([*digits, *[np.zeros(1, dtype=np.int32)] * rest])


def _word(values: int) -> type[np.uint16 | np.uint32]:
    return np.uint16 if values <= 1 << 16 else np.uint32


class DualBlocks(NamedTuple):
    """The inverses of the positions of the blocks of a search."""

    tables: DualTables
    maps: NDArray[np.uint16 | np.uint32]
    """``(bound + 1, views, values)``: the `Maps` of the inverses after each number of moves of a prefix."""
    prefix: Words
    """``(bound + 1,)``: the moves of the prefix to which the maps belong; the last entry is their number."""
    bounds: NDArray[np.uint8]
    """``(bound + 1, room, views)``: a bound of the position's inverse in each view; 0 if none is known."""
    looked_up: Words
    """``(bound + 1, room)``: the views in which the bound results from a look-up, as bits."""

    @classmethod
    def of(cls, tables: DualTables, maps: Maps, depth: int, room: int) -> "DualBlocks":
        """Return empty blocks of ``room`` positions, for paths of ``depth`` moves from a position with these maps."""
        of_prefix = np.empty((depth + 1, *maps.shape), dtype=maps.dtype)
        of_prefix[0] = maps
        return cls(
            tables=tables,
            maps=of_prefix,
            prefix=np.zeros(depth + 1, dtype=np.uint64),
            bounds=np.zeros((depth + 1, room, len(maps)), dtype=np.uint8),
            looked_up=np.zeros((depth + 1, room), dtype=np.uint64),
        )

    def forget(self, depth: int) -> None:
        """Forget the bounds at a depth, before a block of other positions is written there."""
        self.bounds[depth], self.looked_up[depth] = 0, 0


@kernel
def follow_prefix(path: BlockPath, depth: np.uint64, k: np.uint64, moves: Words, dual: DualBlocks) -> None:
    """Compute the maps of the prefix of position ``k`` of a block; keep those that it shares with the last prefix.

    ``moves`` are those of `BundleArrays`.
    """
    taken, prefix, maps, moved, at, level = path.taken, dual.prefix, dual.maps, dual.tables.moved, k, depth
    while level > ZERO:
        taken[level - ONE], at = np.uint64(path.move[level, at]), np.uint64(path.parent[level, at])
        level -= ONE
    end = np.uint64(len(prefix)) - ONE
    while level < depth and level < prefix[end] and prefix[level] == taken[level]:
        level += ONE
    while level < depth:
        prefix[level] = taken[level]
        for u in range(np.uint64(len(moves))):
            move = moves[u, dual.tables.inverse[taken[level]]]
            for value in range(np.uint64(moved.shape[1])):
                maps[level + ONE, u, value] = maps[level, u, np.uint64(moved[move, value])]
        level += ONE
    prefix[end] = depth


@kernel
def inherit_bounds(path: BlockPath, blocks: BundleBlocks, depth: np.uint64, kept: np.uint64, dual: DualBlocks) -> None:
    """Take over the bounds of predecessors for the positions of a block that are left.

    Bounds are taken over in views in which the move keeps the goal's index. In the other views, the index of the
    inverse may change arbitrarily, since a move of the position is not a move of its inverse.
    """
    bounds, looked_up, of_move = dual.bounds, dual.looked_up, dual.tables.keeping
    left, parent, move, above = blocks.left, path.parent, path.move, depth - ONE
    for n in range(kept):
        k = left[n]
        j, keeping = np.uint64(parent[depth, k]), of_move[np.uint64(move[depth, k])]
        looked_up[depth, k] = looked_up[above, j] & keeping
        for u in range(np.uint64(bounds.shape[2])):
            bounds[depth, k, u] = bounds[above, j, u] * np.uint8((keeping >> np.uint64(u)) & ONE)


@kernel
def look_up_dual(
    path: BlockPath,
    blocks: BundleBlocks,
    depth: np.uint64,
    kept: np.uint64,
    fork: np.uint64,
    bundles: BundleArrays,
    dual: DualBlocks,
) -> np.uint64:
    """Look up the inverse of each position of a block in a further view; return the number of positions left."""
    left, chosen, sought, words, shift = blocks.left, blocks.chosen, blocks.sought, bundles.words, bundles.shift
    bounds, looked_up, base = dual.bounds, dual.looked_up, np.int64(bundles.sizes[BASE])
    limit, tally = np.int64(len(path.taken)), path.tally
    count, near, at = choose_views(path, blocks, depth, kept, bundles, dual), ZERO, ZERO
    undo_moves(path, depth, fork, sought, count, bundles, dual)
    locate(sought, count, bundles)
    for n in range(kept):
        k, u = left[n], chosen[n]
        if u != NO_VIEW:
            value = value_in(words[sought.place[at]], sought.slot[at], shift)
            at += ONE
            if is_pruned(value, depth, base, limit, tally):
                continue
            looked_up[depth, k] |= ONE << u
            if value > ZERO:
                bounds[depth, k, u] = np.uint8(base + np.int64(value))
        left[near] = k
        near += ONE
    return near


@kernel
def choose_views(
    path: BlockPath, blocks: BundleBlocks, depth: np.uint64, kept: np.uint64, bundles: BundleArrays, dual: DualBlocks
) -> np.uint64:
    """Choose a view in which the inverse of each position is looked up next; return the number of look-ups.

    If the number of moves left is the largest clipped bound, no look-up prunes the position. Then the first bound that
    equals this number is enough.
    """
    left, chosen, place, view = blocks.left, blocks.chosen, blocks.sought.place, blocks.sought.turn
    bounds, looked_up, moves_left = dual.bounds, dual.looked_up, np.int64(len(path.taken)) - np.int64(depth)
    enough, count = moves_left == np.int64(bundles.sizes[BASE]) + DUAL, ZERO
    for n in range(kept):
        k, best = left[n], NO_VIEW
        for u in range(np.uint64(bounds.shape[2])):
            if enough and np.int64(bounds[depth, k, u]) == moves_left:
                best = NO_VIEW
                break
            if best == NO_VIEW and not (looked_up[depth, k] >> np.uint64(u)) & ONE:
                best = np.uint64(u)
        chosen[n] = best
        if best != NO_VIEW:
            place[count], view[count] = k, best
            count += ONE
    return count


@kernel
def undo_moves(
    path: BlockPath,
    depth: np.uint64,
    fork: np.uint64,
    sought: Sought,
    count: np.uint64,
    bundles: BundleArrays,
    dual: DualBlocks,
) -> None:
    """Compute the digits of the inverses of some positions of a block in some views; see `Sought.place`.

    The moves since the depth ``fork`` are undone, the last one first; the rest follows from the maps of the prefix. A
    move is undone for all positions, and the entries for the next move are prefetched. In the end, ``place`` contains
    the numbers of the predecessors at the depth ``fork``.
    """
    digits, place, view = sought.digits, sought.place, sought.turn
    parent, move, of_view, after, meta = path.parent, path.move, bundles.moves, bundles.after, bundles.digits
    goal, first, inverse, maps = dual.tables.goal, dual.tables.first, dual.tables.inverse, dual.maps
    moves, leading, size, level = bundles.sizes[MOVES], bundles.sizes[LEADING], np.uint64(len(meta)), depth
    for c in range(count):
        for d in range(size):
            digits[c, d] = goal[d]
    # The outer loop is over the levels, so that prefetched entries arrive while the other positions are processed.
    while level > fork:
        above = level - ONE
        for c in range(count):
            u, k = view[c], place[c]
            m = of_view[u, inverse[np.uint64(move[level, k])]]
            for d in range(size):
                digits[c, d] = after[meta[d, FIRST_AFTER] + np.uint64(digits[c, d]) * moves + m]
            k = np.uint64(parent[level, k])
            place[c] = k
            m = of_view[u, inverse[np.uint64(move[above, k])]]
            prefetch(after, meta[leading, FIRST_AFTER] + np.uint64(digits[c, leading]) * moves + m)
        level = above
    for c in range(count):
        for d in range(size):
            digits[c, d] = maps[fork, view[c], first[d] + np.uint64(digits[c, d])]
