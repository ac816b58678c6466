"""The partitions of a search: prefixes of choices, disjoint, which together have every tiling.

*Roots* break the symmetry. Each is a set of fixed placements and of allowed ones beside them; the symmetric copies of a
tiling are all found in one root, or not at all. A root is divided into partitions by the ways to cover further cells.
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks import arguments, option_names
from antipodes_tasks.errors import InputError
from antipodes_tasks.exact_cover.placements import (
    Symmetry,
    copies_left,
    placements_of,
    precedes,
    symmetry_of,
)
from antipodes_tasks.exact_cover.problem import TilingProblem

PRUNING, PLAIN = "pruning", "plain"
METHODS = (PRUNING, PLAIN)
MAX_SCANNED = 80
"""The largest product of a board's cross-section and the number of different pieces that is searched in scan order;
measured, see docs/explanation/tilings.md."""
SCANNED_CELLS = 128
"""The largest board that is searched in scan order, two machine words."""
ENOUGH_PARTITIONS = 4
"""Partitions that keep a second worker busy."""
MIN_PARTITIONS = 128
"""Partitions of a search that may be long, so that each is a small part of it."""
SMALL_CELLS, SMALL_PIECES = 64, 12
"""The most cells of a board, and different pieces, for which few partitions are enough: the search takes seconds."""
MAX_PATTERNS = 512
"""Ways to cover a set of items that roots are made of; where there are more, one placement makes a root."""
NONE = np.iinfo(np.int32).max
"""A placement that is none: after the last of a pattern, or the label of those that label no root."""


@dataclass(frozen=True, eq=False)
class Root:
    """Tilings that contain fixed placements and, beside these, allowed ones only."""

    fixed: NDArray[np.int32]
    """Placements in all of the tilings, ascending, ``(fixed,)``."""
    allowed: NDArray[np.bool_]
    """Which placements there may be beside them, ``(placements,)``."""
    unique: bool
    """Whether the root has only one of the symmetric copies of each tiling."""
    share: float
    """The share of the search that is expected here, by which roots are divided."""

    def keeps(self, copies: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which tilings of the root stand for their orbits, by their `Symmetry.copies`, ``(tilings,)``.

        Of the symmetric copies that the root has, that is the lexicographically smallest.
        """
        kept = np.ones(copies.shape[1], dtype=np.bool_)
        for copy in () if self.unique else copies[1:]:
            kept &= ~(self.has(copy) & precedes(copy, copies[0]))
        return kept

    def has(self, tilings: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which tilings are in the root, ``(tilings,)``."""
        fixed = np.zeros(len(self.allowed), dtype=np.bool_)
        fixed[self.fixed] = True
        found: NDArray[np.bool_] = fixed[tilings].sum(axis=1) == len(self.fixed)
        found &= (self.allowed | fixed)[tilings].all(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class TilingPartition:
    """The tilings of a root that contain some more fixed placements, and allowed ones beside these."""

    root: Root
    fixed: NDArray[np.int32]
    """Placements in all of its tilings, those of the root first, ``(fixed,)``."""
    allowed: NDArray[np.bool_]
    """Which placements there may be beside them, ``(placements,)``."""
    new: int
    """How many of the fixed placements the partition before does not share: those that count as tried here."""


@lru_cache(maxsize=8)
def partitions_of(problem: TilingProblem, method: str = PRUNING) -> tuple[TilingPartition, ...]:
    """The partitions of a search by one of the `METHODS`, in an order that depends on nothing else.

    Raises
    ------
    InputError
        There is no such method, or it does not take such boards.
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
    """Whether a problem is searched by filling the first empty cell, and not the item with the fewest options.

    Raises
    ------
    InputError
        There is no such method, or it is "plain", which does not take such boards.
    """
    if not isinstance(method, str) or method not in METHODS:  # type: ignore[redundant-expr]  # callers may be untyped
        raise InputError(
            f"{option_names.option('method')}: expected {' or '.join(METHODS)}, found {arguments.found(method)}"
        )
    scannable = problem.board.size <= SCANNED_CELLS and problem.area == problem.board.size
    if method == PLAIN and not scannable:
        raise InputError(
            f"the method {PLAIN} takes boards of at most {SCANNED_CELLS} cells, all of which the pieces fill; "
            f"found {problem.board.size:,} cells, and pieces that fill {problem.area:,}"
        )
    return scannable and (method == PLAIN or problem.board.cross_section * len(problem.pieces) <= MAX_SCANNED)


def possible(problem: TilingProblem) -> bool:
    """Whether each piece fits, each cell can be covered, and a checkerboard colouring does not rule out a tiling.

    The surplus of one colour over the other, summed over the placements of a tiling, is the surplus of the board.
    Where cells may stay empty, that says nothing.
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
    """The piece whose placements make the roots of the pruning method, if it has no copies.

    Of the pieces without copies that give enough roots, it is one of the broadest, which leave the least room to the
    others; of these, the piece with the fewest orbits of placements. Of the pentominoes it is X.
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
    """The representative of the orbit of each placement, its smallest symmetric copy, ``(placements,)``."""
    smallest: NDArray[np.int32] = actions.min(axis=0)
    return smallest


class _Choices:
    """The placements that cover each item of a problem; items are its cells, then its pieces."""

    def __init__(self, problem: TilingProblem) -> None:
        self.problem, self.placements, self.symmetry = problem, placements_of(problem), symmetry_of(problem)
        self.all = np.ones(len(self.placements), dtype=np.bool_)
        self._required = problem.required | (problem.area == problem.board.size)
        """The cells that every tiling covers: all of them, if the pieces fill the board, ``(cells,)``."""
        self.single = np.array([piece.count == 1 for piece in problem.pieces])
        """Which pieces have no copies, ``(pieces,)``."""

    def of(self, item: int, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which of the allowed placements cover an item, ``(placements,)``."""
        piece = item - self.problem.board.size
        return allowed & (self.placements.covers(item) if piece < 0 else self.placements.piece == piece)

    def covers(self, fixed: Sequence[int], item: int) -> bool:
        """Whether fixed placements cover an item."""
        piece = item - self.problem.board.size
        if piece >= 0:
            return bool(self.copies_left(fixed)[piece] == 0)
        return bool((self.placements.cells[_indices(fixed)] == item).any())

    def has_single(self, fixed: Sequence[int]) -> bool:
        """Whether a piece without copies is left."""
        return bool((self.copies_left(fixed)[self.single] > 0).any())

    def compatible(self, fixed: Sequence[int], allowed: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Which of the allowed placements, by default all, overlap no fixed one and are of a piece with copies left."""
        masks = self.placements.masks
        filled = np.bitwise_or.reduce(masks[_indices(fixed)], axis=0)
        beside: NDArray[np.bool_] = ~(masks & filled).any(axis=1) & (self.copies_left(fixed) > 0)[self.placements.piece]
        return beside if allowed is None else beside & allowed

    def copies_left(self, fixed: Sequence[int]) -> NDArray[np.int64]:
        """How many copies of each piece are left, ``(pieces,)``."""
        return copies_left(self.problem, self.placements, _indices(fixed))

    def to_cover(self, fixed: Sequence[int]) -> NDArray[np.bool_]:
        """Which cells still have to be covered, ``(cells,)``."""
        to_cover = np.append(self._required, False)  # the cell -1, after the last of a piece, is none
        to_cover[self.placements.cells[_indices(fixed)]] = False
        return to_cover[:-1]

    def options_of_cells(self, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many of the allowed placements cover each cell, ``(cells,)``."""
        return np.bincount(self.placements.cells[allowed].ravel() + 1, minlength=self.problem.board.size + 1)[1:]


def _indices(placements: Sequence[int]) -> NDArray[np.int64]:
    return np.array(placements, dtype=np.int64)  # an empty list would become floats


def _roots(choices: _Choices) -> list[Root]:
    """The roots of the pruning method: the ways to cover a set of items that the symmetries map to itself.

    The items are a piece without copies (and its mirror image), or else cells: those that have the fewest ways to be
    covered. Of each orbit of ways, one makes a root. Where there are too many, see `_anchored_roots`.
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
    """A way to cover some items."""

    fixed: tuple[int, ...]
    """Its placements, ascending."""
    group: NDArray[np.int64]
    """The symmetries that map it to itself."""
    share: float
    """See `Root.share`."""


def _fewest_ways(way: _Way, choices: _Choices) -> NDArray[np.int64]:
    """The cells of an orbit under the group with the fewest ways to cover all of them, one by one, beside this way.

    There must be cells to cover.
    """
    ways = np.maximum(choices.options_of_cells(choices.compatible(way.fixed)), 1)
    to_cover, images = np.flatnonzero(choices.to_cover(way.fixed)), choices.symmetry.cells[way.group]
    orbits = [np.unique(images[:, cell]) for cell in to_cover]
    # integers: logarithms differ between processors in the last bit, and all workers must make the same partitions
    return min(orbits, key=lambda cells: (math.prod(ways[cells].tolist()), int(cells[0])))


def _ways(before: _Way, items: NDArray[np.int64], choices: _Choices, levels: int = 2) -> list[_Way] | None:
    """One way to cover the items of each orbit of ways, beside the way before; None if there are too many.

    Where symmetries are left that map it to itself, and no piece without copies to break them, further items are
    covered, at most ``levels`` times. The group of the way before maps the items to themselves.
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
    """The sets of placements that cover all the items beside fixed placements; None if there are too many."""
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
    patterns: list[tuple[int, ...]], group: NDArray[np.int64], symmetry: Symmetry
) -> Iterator[tuple[tuple[int, ...], NDArray[np.int64]]]:
    """The smallest pattern, ascending, of each orbit under a group, and the symmetries of it that map it to itself."""
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


def _anchored_roots(items: NDArray[np.int64], choices: _Choices) -> list[Root]:
    """Roots of one fixed placement each, its *anchor*, which covers one of the items.

    The anchor represents its orbit. Beside it there is no placement that covers an item and whose representative is
    smaller. A tiling may have symmetric copies in the root: those in which other placements represented by the anchor
    lie in its place.
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


def _root(way: _Way, closed: bool, choices: _Choices, may: NDArray[np.bool_] | None = None) -> Root:
    """A root with the placements of a way fixed. The way's group would find symmetric copies of each tiling.

    To break them, a second piece keeps one placement of each orbit under them: the piece that keeps the smallest share,
    of those without copies.

    Parameters
    ----------
    closed
        Whether all symmetries that are not in the group map each of its tilings out of the root.
    may
        The placements that may be in the root, by default all.
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
    return Root(np.array(way.fixed, dtype=np.int32), allowed, closed and len(group) == 1, way.share)


def _plain_roots(choices: _Choices) -> list[Root]:
    """One root, in which one piece keeps one orientation of each orbit under the symmetries of the board.

    It is the first piece, of those without copies, that keeps the smallest share of its orientations. On 6x10 that is
    F, with two of eight.
    """
    symmetry, orientation = choices.symmetry, choices.placements.orientation
    allowed, least = choices.all, 1.0
    for piece in np.flatnonzero(choices.single).tolist():
        numbers, fixing = choices.placements.of(piece), symmetry.placements[symmetry.pieces[:, piece] == piece]
        kept = orientation[fixing[:, numbers]].min(axis=0) == orientation[numbers]
        if kept.mean() < least:
            allowed, least = choices.all.copy(), float(kept.mean())
            allowed[numbers] = kept
    return [Root(np.empty(0, dtype=np.int32), allowed, len(symmetry) == 1, 1.0)]


@dataclass(frozen=True, eq=False)
class _Node:
    """A prefix of choices."""

    root: Root
    path: tuple[int, ...]
    """The root, then which option was chosen each time."""
    fixed: tuple[int, ...]
    allowed: NDArray[np.bool_]
    choices: _Choices = field(repr=False)
    in_order: bool

    @cached_property
    def options(self) -> list[int]:
        """The placements to choose from, those of the first empty cell or of the item with the fewest; perhaps none."""
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
        """Whether nothing is left to choose, and the node is no tiling."""
        is_tiling = len(self.fixed) == self.choices.problem.copies and not self.choices.to_cover(self.fixed).any()
        return not self.options and not is_tiling

    def children(self) -> list["_Node"]:
        """A node for each option, in which those before it are not used."""
        children, allowed = [], self.allowed.copy()
        for number, option in enumerate(self.options):
            fixed = (*self.fixed, option)
            allowed[option] = False
            beside = self.choices.compatible(fixed, allowed)
            children.append(_Node(self.root, (*self.path, number), fixed, beside, self.choices, self.in_order))
        return children


def _divided(
    roots: Sequence[Root], choices: _Choices, in_order: bool, keep_dead: bool, wanted: int
) -> Iterator[TilingPartition]:
    """Partitions in the order of a depth-first search; at least as many as wanted, if there are.

    Dead nodes stay partitions if ``keep_dead``, so that their placements count as tried.
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
