"""The partitions of a search: disjoint subtrees, given by prefixes of choices, that together contain every tiling.

*Roots* break the symmetry. A root has some fixed placements, and some placements that are allowed besides them. If
several symmetric copies of a tiling are in roots, all of them are in the same root. A root is divided into partitions
by the choices for further items.
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base import arguments, option_names
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.exact_cover.placements import (
    PlacementSymmetries,
    copies_left,
    placements_of,
    precedes,
    symmetry_of,
)
from antipodes_tasks.exact_cover.tiling_problem import TilingProblem

PRUNING, PLAIN = "pruning", "plain"
METHODS = (PRUNING, PLAIN)
MAX_SCANNED = 80
"""Limit for a search in scan order: the maximum product of the board's cross-section and the number of different
pieces. It was measured, see docs/explanation/tilings.md."""
SCANNED_CELLS = 128
"""Maximum number of cells of a board that is searched in scan order: two machine words."""
ENOUGH_PARTITIONS = 4
"""Minimum number of partitions of a short search: enough to keep a second worker busy."""
MIN_PARTITIONS = 128
"""Minimum number of partitions of a search that may be long, so that each partition is a small part of the search."""
SMALL_CELLS, SMALL_PIECES = 64, 12
"""Maximum number of cells and of different pieces for which few partitions are enough: the search takes seconds."""
MAX_PATTERNS = 512
"""Maximum number of ways to cover a set of items if these ways become roots; if there are more, each root fixes only
one placement."""
NONE = np.iinfo(np.int32).max
"""Stands for no placement: after the last placement of a pattern, and as the label of placements that cannot be an
anchor."""


@dataclass(frozen=True, eq=False)
class Subproblem:
    """The tilings that consist of the fixed placements and of allowed placements."""

    fixed: NDArray[np.int32]
    """``(fixed,)``: the placements that all of the tilings contain, ascending."""
    allowed: NDArray[np.bool_]
    """``(placements,)``: whether a placement may be used besides the fixed ones."""
    unique: bool
    """Whether the root contains only one of the symmetric copies of each tiling."""
    share: float
    """Expected share of the whole search; roots with the largest shares are divided first."""

    def keeps(self, copies: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return a mask ``(tilings,)`` of the tilings that represent their orbits.

        ``copies`` are their symmetric copies, see `PlacementSymmetries.copies`.

        The representative is the lexicographically smallest of the symmetric copies in the root.
        """
        kept = np.ones(copies.shape[1], dtype=np.bool_)
        for copy in () if self.unique else copies[1:]:
            kept &= ~(self.has(copy) & precedes(copy, copies[0]))
        return kept

    def has(self, tilings: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return a mask ``(tilings,)`` of the tilings that are in the root."""
        fixed = np.zeros(len(self.allowed), dtype=np.bool_)
        fixed[self.fixed] = True
        found: NDArray[np.bool_] = fixed[tilings].sum(axis=1) == len(self.fixed)
        found &= (self.allowed | fixed)[tilings].all(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class TilingPartition:
    """The tilings of a root that consist of the fixed placements and of allowed placements."""

    root: Subproblem
    fixed: NDArray[np.int32]
    """``(fixed,)``: the placements that all of the tilings contain, beginning with the fixed placements of the root."""
    allowed: NDArray[np.bool_]
    """``(placements,)``: whether a placement may be used besides the fixed ones."""
    new: int
    """Number of fixed placements that the previous partition does not have; they count as tried in this partition."""


@lru_cache(maxsize=8)
def partitions_of(problem: TilingProblem, method: str = PRUNING) -> tuple[TilingPartition, ...]:
    """Return the partitions of a search by one of the `METHODS`, in a deterministic order.

    Raises
    ------
    InputError
        The method does not exist, or does not support the board.
    """
    in_order = in_scan_order(problem, method)
    if not possible(problem):
        return ()
    small = problem.board.size <= SMALL_CELLS and problem.copies == len(problem.pieces) <= SMALL_PIECES
    wanted = ENOUGH_PARTITIONS if small else MIN_PARTITIONS
    choices = _Choices(problem)
    roots = _plain_roots(choices) if method == PLAIN else _roots(choices)
    return tuple(_divided(roots, choices, in_order, method == PLAIN, wanted))


def in_scan_order(problem: TilingProblem, method: str) -> bool:
    """Return whether the search fills the first empty cell, rather than the item with the fewest options.

    Raises
    ------
    InputError
        The method does not exist, or is "plain", which does not support the board.
    """
    if not isinstance(method, str) or method not in METHODS:  # type: ignore[redundant-expr]  # callers may be untyped
        raise InputError(
            f"{option_names.option('method')}: expected {' or '.join(METHODS)}, found {arguments.found(method)}"
        )
    scannable = problem.board.size <= SCANNED_CELLS and problem.area == problem.board.size
    if method == PLAIN and not scannable:
        raise InputError(
            f"the method {PLAIN} needs a board of at most {SCANNED_CELLS} cells that the pieces fill completely; "
            f"this board has {problem.board.size:,} cells, and the pieces fill {problem.area:,}"
        )
    return scannable and (method == PLAIN or problem.board.cross_section * len(problem.pieces) <= MAX_SCANNED)


def possible(problem: TilingProblem) -> bool:
    """Return whether tilings may exist: every piece fits, every required cell can be covered, and the colours match.

    The cells are coloured like a chessboard. The surplus of one colour over the other, summed over the placements of a
    tiling, equals the surplus of the board, unless cells stay empty.
    """
    placements, colours = placements_of(problem), np.append(problem.board.colours, 0)
    if not np.isin(np.flatnonzero(problem.required), placements.cells).all():
        return False
    surplus = colours[placements.cells].sum(axis=1)
    sums = {0}
    for number, piece in enumerate(problem.pieces):
        of_piece = set(surplus[placements.of(number)].tolist())
        for _ in range(piece.count):
            sums = {total + one for total in sums for one in of_piece}
    return int(colours.sum()) in sums or (bool(sums) and problem.area < problem.board.size)


def first_piece(problem: TilingProblem) -> int:
    """Return the piece whose placements become the roots of the pruning method, if the piece occurs only once.

    Of the pieces that occur only once and give enough roots, the broadest are chosen, because they restrict the others
    most; of these, the piece with the fewest orbits of placements. For the pentominoes, it is X.
    """
    placements, symmetry = placements_of(problem), symmetry_of(problem)
    smallest = representatives(symmetry.placements) == np.arange(len(placements))
    counts = np.bincount(placements.piece[smallest], minlength=len(problem.pieces)).tolist()
    enough = min(ENOUGH_PARTITIONS, max(counts))
    copied, breadths = ([piece.count > 1 for piece in problem.pieces], [piece.breadth for piece in problem.pieces])
    return min(
        range(len(counts)), key=lambda piece: (counts[piece] < enough, copied[piece], -breadths[piece], counts[piece])
    )


def representatives(actions: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the representative of each placement's orbit, ``(placements,)``: the smallest symmetric copy.

    ``actions`` ``(symmetries, placements)`` contains the image of each placement.
    """
    smallest: NDArray[np.int32] = actions.min(axis=0)
    return smallest


class _Choices:
    """The placements that cover each item of a problem. The items are numbered: first the cells, then the pieces."""

    def __init__(self, problem: TilingProblem) -> None:
        self.problem, self.placements, self.symmetry = problem, placements_of(problem), symmetry_of(problem)
        self.all = np.ones(len(self.placements), dtype=np.bool_)
        self._required = problem.required | (problem.area == problem.board.size)
        """``(cells,)``: whether every tiling covers the cell; True for all if the pieces fill the board."""
        self.single = np.array([piece.count == 1 for piece in problem.pieces])
        """``(pieces,)``: whether the piece occurs only once."""

    def of(self, item: int, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask ``(placements,)`` of the allowed placements that cover an item."""
        piece = item - self.problem.board.size
        return allowed & (self.placements.covers(item) if piece < 0 else self.placements.piece == piece)

    def covers(self, fixed: Sequence[int], item: int) -> bool:
        """Return whether the fixed placements cover an item."""
        piece = item - self.problem.board.size
        if piece >= 0:
            return bool(self.copies_left(fixed)[piece] == 0)
        return bool((self.placements.cells[_indices(fixed)] == item).any())

    def has_single(self, fixed: Sequence[int]) -> bool:
        """Return whether a piece that occurs only once is left."""
        return bool((self.copies_left(fixed)[self.single] > 0).any())

    def compatible(self, fixed: Sequence[int], allowed: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Return a mask of the allowed placements (default: all) that can be added to the fixed ones.

        They do not overlap a fixed placement, and an unused copy of their piece is left.
        """
        masks = self.placements.masks
        filled = np.bitwise_or.reduce(masks[_indices(fixed)], axis=0)
        beside: NDArray[np.bool_] = ~(masks & filled).any(axis=1) & (self.copies_left(fixed) > 0)[self.placements.piece]
        return beside if allowed is None else beside & allowed

    def copies_left(self, fixed: Sequence[int]) -> NDArray[np.int64]:
        """Return the number of unused copies of each piece, ``(pieces,)``."""
        return copies_left(self.problem, self.placements, _indices(fixed))

    def to_cover(self, fixed: Sequence[int]) -> NDArray[np.bool_]:
        """Return a mask ``(cells,)`` of the cells that still have to be covered."""
        to_cover = np.append(self._required, False)  # the index -1, which pads the cells of small pieces, refers to it
        to_cover[self.placements.cells[_indices(fixed)]] = False
        return to_cover[:-1]

    def options_of_cells(self, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the number of allowed placements that cover each cell, ``(cells,)``."""
        return np.bincount(self.placements.cells[allowed].ravel() + 1, minlength=self.problem.board.size + 1)[1:]


def _indices(placements: Sequence[int]) -> NDArray[np.int64]:
    return np.array(placements, dtype=np.int64)  # an empty list would become floats


def _roots(choices: _Choices) -> list[Subproblem]:
    """Return the roots of the pruning method: ways to cover some items, one way of each orbit.

    The items are a piece that occurs only once (and its mirror image), or else the cells with the fewest ways to be
    covered. Symmetries map the set of items to itself. If there are too many ways, `_anchored_roots` makes the roots.
    """
    problem, symmetry = choices.problem, choices.symmetry
    first, all_tilings = first_piece(problem), _Way((), np.arange(len(symmetry)), 1.0)
    items, copied = np.unique(symmetry.pieces[:, first]).astype(np.int64) + problem.board.size, False
    if problem.pieces[first].count > 1:
        copied = not choices.to_cover(()).any()
        items = items if copied else _fewest_ways(all_tilings, choices)
    ways = None if copied else _ways(all_tilings, items, choices)
    if ways is None:
        return _anchored_roots(items, choices)
    return [_root(way, True, choices) for way in ways]


class _Way(NamedTuple):
    """A way to cover some items: a set of placements."""

    fixed: tuple[int, ...]
    """The placements, ascending."""
    group: NDArray[np.int64]
    """The symmetries that map the way to itself."""
    share: float
    """see `Subproblem.share`."""


def _fewest_ways(way: _Way, choices: _Choices) -> NDArray[np.int64]:
    """Return the orbit of uncovered cells, under the way's group, with the fewest combinations of placements.

    There must be an uncovered cell.
    """
    ways = np.maximum(choices.options_of_cells(choices.compatible(way.fixed)), 1)
    to_cover, images = np.flatnonzero(choices.to_cover(way.fixed)), choices.symmetry.cells[way.group]
    orbits = [np.unique(images[:, cell]) for cell in to_cover]
    # The products are integers: all workers must make the same partitions, but logarithms may depend on the processor.
    return min(orbits, key=lambda cells: (math.prod(ways[cells].tolist()), int(cells[0])))


def _ways(before: _Way, items: NDArray[np.int64], choices: _Choices, levels: int = 2) -> list[_Way] | None:
    """Return ways to cover the items that extend ``before``, one way of each orbit; None if there are too many.

    If symmetries map a way to itself, and no piece that occurs only once is left to break them, the way is extended to
    cover further items, at most ``levels`` times. The group of ``before`` must map the set of items to itself.
    """
    patterns = _patterns(before.fixed, items, choices)
    if patterns is None:
        return None
    ways, orbits = [], list(_of_each_orbit(patterns, before.group, choices.symmetry))
    for pattern, fixing in orbits:
        way, further = _Way(pattern, fixing, before.share / len(orbits)), None
        if levels and len(fixing) > 1 and choices.to_cover(pattern).any() and not choices.has_single(pattern):
            further = _ways(way, _fewest_ways(way, choices), choices, levels - 1)
        ways += [way] if further is None else further
    return ways


def _patterns(fixed: tuple[int, ...], items: NDArray[np.int64], choices: _Choices) -> list[tuple[int, ...]] | None:
    """Return all sets of placements that include the fixed ones and cover the items; None if there are too many."""
    patterns: list[tuple[int, ...]] = [fixed]
    for item in items.tolist():
        longer = []
        for pattern in patterns:
            if choices.covers(pattern, item):
                longer.append(pattern)
            else:
                options = np.flatnonzero(choices.of(item, choices.compatible(pattern))).tolist()
                longer += [(*pattern, option) for option in options]
            if len(items) > 1 and len(longer) > MAX_PATTERNS:
                return None
        patterns = longer
    return patterns


def _of_each_orbit(
    patterns: list[tuple[int, ...]], group: NDArray[np.int64], symmetry: PlacementSymmetries
) -> Iterator[tuple[tuple[int, ...], NDArray[np.int64]]]:
    """Yield the smallest pattern of each orbit under a group, in ascending order, with the elements that fix it."""
    if not patterns:
        return
    rows = np.full((len(patterns), max(map(len, patterns))), NONE, dtype=np.int32)
    for row, pattern in zip(rows, patterns, strict=True):
        row[: len(pattern)] = sorted(pattern)
    actions = np.append(symmetry.placements[group], np.full((len(group), 1), NONE, dtype=np.int32), axis=1)
    images = np.sort(actions[:, np.where(rows == NONE, -1, rows)], axis=2)
    smallest = ~np.any([precedes(image, rows) for image in images], axis=0)
    fixing = (images == rows).all(axis=2)
    for number in np.flatnonzero(smallest).tolist():
        yield tuple(rows[number][rows[number] < NONE].tolist()), group[fixing[:, number]]


def _anchored_roots(items: NDArray[np.int64], choices: _Choices) -> list[Subproblem]:
    """Return roots with one fixed placement each, the *anchor*, which covers one of the items.

    The anchor represents its orbit. Other placements that cover an item are only allowed if their representative is not
    smaller than the anchor. A root may contain several symmetric copies of a tiling, one for each placement of the
    tiling that the anchor represents.
    """
    symmetry = choices.symmetry
    covering = np.any([choices.of(item, choices.all) for item in items.tolist()], axis=0)
    labels = np.where(covering, representatives(symmetry.placements), NONE)
    anchors = np.flatnonzero(labels == np.arange(len(labels)))
    roots = []
    for anchor in anchors.tolist():
        way = _Way((anchor,), np.flatnonzero(symmetry.placements[:, anchor] == anchor), 1.0 / len(anchors))
        roots.append(_root(way, False, choices, labels >= anchor))
    return roots


def _root(way: _Way, closed: bool, choices: _Choices, may: NDArray[np.bool_] | None = None) -> Subproblem:
    """Return a root with the placements of a way fixed, in which the symmetries of the way's group are broken.

    These symmetries would map tilings of the root to other tilings of the root. To break them, the placements of a
    second piece are restricted to one per orbit under the group. It is the piece, of those that occur only once, for
    which the smallest share of placements remains.

    Parameters
    ----------
    closed
        Whether no symmetry outside the group maps a tiling of the root to a tiling of the root.
    may
        Mask of the placements that may be in the root, by default all.
    """
    placements, symmetry, group = choices.placements, choices.symmetry, way.group
    allowed = choices.compatible(way.fixed, may)
    if len(group) > 1:
        representative = representatives(symmetry.placements[group]) == np.arange(len(placements))
        itself = (symmetry.pieces[group] == np.arange(placements.piece_count)).all(axis=0) & choices.single
        available = np.bincount(placements.piece[allowed], minlength=placements.piece_count)
        kept = np.bincount(placements.piece[allowed & representative], minlength=placements.piece_count)
        share = np.where(itself & (available > 0), kept / np.maximum(available, 1), 1.0)
        if share.min() < 1.0:
            allowed &= representative | (placements.piece != share.argmin())
    return Subproblem(np.array(way.fixed, dtype=np.int32), allowed, closed and len(group) == 1, way.share)


def _plain_roots(choices: _Choices) -> list[Subproblem]:
    """Return one root, in which one piece is restricted to one orientation per orbit under the symmetries of the board.

    It is the first piece, of those that occur only once, for which the smallest share of placements remains. On a 6x10
    board it is F, with two of eight orientations.
    """
    symmetry, orientation = choices.symmetry, choices.placements.orientation
    allowed, least = choices.all, 1.0
    for piece in np.flatnonzero(choices.single).tolist():
        numbers, fixing = choices.placements.of(piece), symmetry.placements[symmetry.pieces[:, piece] == piece]
        kept = orientation[fixing[:, numbers]].min(axis=0) == orientation[numbers]
        if kept.mean() < least:
            allowed, least = choices.all.copy(), float(kept.mean())
            allowed[numbers] = kept
    return [Subproblem(np.empty(0, dtype=np.int32), allowed, len(symmetry) == 1, 1.0)]


@dataclass(frozen=True, eq=False)
class _Node:
    """A node of the search tree: a prefix of choices."""

    root: Subproblem
    path: tuple[int, ...]
    """The index of the root, and then the index of the option chosen at each step."""
    fixed: tuple[int, ...]
    allowed: NDArray[np.bool_]
    choices: _Choices = field(repr=False)
    in_order: bool

    @cached_property
    def options(self) -> list[int]:
        """The placements from which the next one is chosen; may be empty.

        They cover the first empty cell, or the item with the fewest options.
        """
        open_cells = np.flatnonzero(self.choices.to_cover(self.fixed))
        if self.in_order:
            item = int(open_cells[0]) if len(open_cells) else 0
            return np.flatnonzero(self.choices.of(item, self.allowed)).tolist()
        left, placements = self.choices.copies_left(self.fixed), self.choices.placements
        of_cells = self.choices.options_of_cells(self.allowed)[open_cells]
        pieces = np.flatnonzero(left)
        of_pieces = np.bincount(placements.piece[self.allowed], minlength=len(left))[pieces] - left[pieces] + 1
        ways = np.append(of_cells, of_pieces)
        if not len(ways) or ways.min() < 1:
            return []
        item = int(np.append(open_cells, pieces + placements.board_size)[ways.argmin()])
        return np.flatnonzero(self.choices.of(item, self.allowed)).tolist()[: int(ways.min())]

    @property
    def is_dead(self) -> bool:
        """Whether there are no options left and the node is not a tiling."""
        is_tiling = len(self.fixed) == self.choices.problem.copies and not self.choices.to_cover(self.fixed).any()
        return not self.options and not is_tiling

    def children(self) -> list["_Node"]:
        """Return one node per option; each node excludes the options before its own."""
        children, allowed = [], self.allowed.copy()
        for number, option in enumerate(self.options):
            fixed = (*self.fixed, option)
            allowed[option] = False
            beside = self.choices.compatible(fixed, allowed)
            children.append(_Node(self.root, (*self.path, number), fixed, beside, self.choices, self.in_order))
        return children


def _divided(
    roots: Sequence[Subproblem], choices: _Choices, in_order: bool, keep_dead: bool, wanted: int
) -> Iterator[TilingPartition]:
    """Yield partitions in depth-first order, at least ``wanted`` of them if possible.

    If ``keep_dead`` is True, dead nodes become partitions, too, so that their placements count as tried.
    """
    nodes = [
        _Node(root, (number,), tuple(root.fixed.tolist()), root.allowed, choices, in_order)
        for number, root in enumerate(roots)
    ]
    heap = [(-node.root.share, node.path, node) for node in nodes if keep_dead or not node.is_dead]
    heapq.heapify(heap)
    done: list[_Node] = []
    expanded = 0
    while heap and len(heap) + len(done) < wanted and expanded < 4 * wanted:
        share, _, node = heapq.heappop(heap)
        expanded += 1
        children = [child for child in node.children() if keep_dead or not child.is_dead]
        if not node.options:
            done.append(node)
        for child in children:
            heapq.heappush(heap, (share / len(children), child.path, child))
    before: tuple[int, ...] = ()
    for node in sorted([*done, *(node for _, _, node in heap)], key=lambda node: node.path):
        shared = next((k for k, (a, b) in enumerate(zip(node.path, before, strict=False)) if a != b), 0)
        new = len(node.fixed) if shared == 0 else len(node.path) - shared
        yield TilingPartition(node.root, np.array(node.fixed, dtype=np.int32), node.allowed, new)
        before = node.path
