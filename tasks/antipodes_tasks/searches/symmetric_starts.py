"""Where the search of a symmetric position begins: of beginnings that symmetries lead to each other, with one.

A symmetry that keeps a position leads each path from it to the goal to another one. So the paths that come first in the
alphabet of the moves are enough. Such a path begins with a move to which no symmetry leads a later one; of those
symmetries that keep this move, none leads the next move to an earlier one; and so on, until only the identity is left.
Two moves that may change places are in the order of the alphabet there, too, so both may be asked for.

Of a *central* position, which may change places with every move, one may also begin a path anywhere: if the moves
``a b ... z`` lead from it to the goal, so do ``b ... z a``, for what ``b ... z`` does is what undoes the position and
``a``, in any order. So a path that has some move may begin with it. The first stage of the search has the paths that
begin with a move of one class (moves that symmetries lead to each other), the next one the paths without any of these
that begin with one of the next class, and so on; in the alphabet, these classes follow one another. For the superflip
of the cube, the half turns are the first class, and paths of quarter turns alone the second.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.reachability.position_set import Numbers
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.move_sequences import first_alike, followers_as_bits, transforms_in
from antipodes_tasks.searches.step_table_dfs import STEP_ROOM


class Stage(NamedTuple):
    """A part of a search."""

    beginnings: Numbers
    """``(n, moves)``: the first moves of its paths."""
    follow: NDArray[np.uint32]
    """``(moves + 1,)``: the moves that may follow each move, and those that may come first, as bits."""

    @property
    def moves(self) -> int:
        """The moves of each beginning."""
        return int(self.beginnings.shape[1])


def whole_tree(follow: NDArray[np.uint32]) -> Stage:
    """A search whose paths begin with any move."""
    return Stage(np.empty((1, 0), dtype=np.int64), follow)


def stages_of(rules: Rules, symmetries: Numbers, central: bool, follow: NDArray[np.uint32], depth: int) -> list[Stage]:
    """The parts of a search for one path of ``depth`` moves, from a position that some symmetries keep.

    ``symmetries`` ``(n, moves)`` are the moves that each makes of each move, the identity among them; they are a group.
    """
    images, order = first_alike(transforms_in(rules))[symmetries], np.arange(len(rules.moves))
    most = depth - 2  # a block below the beginnings, and the split, are left to the kernel
    if not central or most < 1:
        return [_stage(images, order, follow, most)]
    classes = _classes(images, bits_of(int(follow[-1])))
    order[[move for own in classes for move in own]] = np.arange(sum(map(len, classes)))
    ordered, stages = followers_as_bits(rules, False, order.tolist()), list[Stage]()
    for own in classes:
        of_class = np.uint32(sum(1 << move for move in own))
        first = ordered.copy()
        first[-1] &= of_class
        stages.append(_stage(images, order, first, most))
        ordered &= ~of_class
    return stages


def _classes(images: Numbers, moves: list[int]) -> list[list[int]]:
    """The moves by what symmetries make of them, small classes first: their moves are kept by more symmetries."""
    found = {tuple(sorted(set(images[:, move].tolist()))) for move in moves}
    return sorted(map(list, found), key=lambda own: (len(own), own))


def _stage(images: Numbers, order: Numbers, follow: NDArray[np.uint32], most: int) -> Stage:
    """The stage with beginnings of at most ``most`` moves, as long as symmetries are left, and a block has room."""
    begun, length = [(list[int](), images)], 0
    while length < most and any(len(kept) > 1 for _, kept in begun):
        longer = list(islice(_extended_prefixes(begun, order, follow), STEP_ROOM + 1))
        if len(longer) > STEP_ROOM:
            break
        begun, length = longer, length + 1
    beginnings = np.array([moves for moves, _ in begun], dtype=np.int64)
    return Stage(beginnings.reshape(len(begun), length), follow)


def _extended_prefixes(
    begun: list[tuple[list[int], Numbers]], order: Numbers, follow: NDArray[np.uint32]
) -> Iterator[tuple[list[int], Numbers]]:
    """The beginnings with a move more, and the symmetries that keep each."""
    for moves, kept in begun:
        for move in bits_of(int(follow[moves[-1] if moves else -1])):
            if (order[kept[:, move]] >= order[move]).all():
                yield [*moves, move], kept[kept[:, move] == move]


def bits_of(bits: int) -> list[int]:
    """The places of the bits that are set."""
    return [place for place in range(bits.bit_length()) if bits >> place & 1]
