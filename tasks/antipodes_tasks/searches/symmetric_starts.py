"""First moves of the search from a symmetric position: only one of several symmetric prefixes is searched.

A symmetry that leaves a position unchanged maps each path from the position to the goal to another such path. So it is
enough to search the paths that are lexicographically first among their images. The first move of such a path is the
smallest of its images under the symmetries. None of the symmetries that fix this move maps the second move to a smaller
one, and so on, until only the identity is left. This rule can be combined with the fixed order of commuting moves,
since both refer to the same order of moves.

A *central* position commutes with every move. The moves of a path from a central position can be rotated: if the moves
``a b ... z`` lead from the position to the goal, so do ``b ... z a``. So if some path contains a certain move, another
path of the same length begins with it. Moves that symmetries map to each other form a class. The first stage of the
search covers the paths that begin with a move of the first class. The next stage covers the paths that contain no move
of this class and begin with a move of the second class, and so on. Moves are ordered by class. For the superflip of the
cube, the half turns are the first class, so the second stage searches only paths of quarter turns.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Numbers
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.searches.move_sequences import first_alike, followers_as_bits
from antipodes_tasks.searches.step_lookups import STEP_ROOM


class Stage(NamedTuple):
    """The part of a search whose paths begin with certain prefixes."""

    beginnings: Numbers
    """``(n, moves)``: the prefixes."""
    follow: NDArray[np.uint32]
    """``(moves + 1,)``: the moves that may follow each move, and the possible first moves, as bits."""

    @property
    def moves(self) -> int:
        """Number of moves of each prefix."""
        return int(self.beginnings.shape[1])


def whole_tree(follow: NDArray[np.uint32]) -> Stage:
    """Return the stage of a search whose paths begin with any move."""
    return Stage(np.empty((1, 0), dtype=np.int64), follow)


def stages_of(rules: Rules, symmetries: Numbers, central: bool, follow: NDArray[np.uint32], depth: int) -> list[Stage]:
    """Return the stages of a search for one path of ``depth`` moves from a symmetric position.

    ``symmetries`` ``(n, moves)`` contains the image of each move under each symmetry that leaves the position
    unchanged. These symmetries form a group, including the identity.
    """
    images, order = first_alike(transforms_of(rules))[symmetries], np.arange(len(rules.moves))
    most = depth - 2  # the kernel needs two moves after the prefixes: it splits the tree one move below them
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
    """Return the classes of moves under the symmetries; small classes, whose moves more symmetries fix, come first."""
    found = {tuple(sorted(set(images[:, move].tolist()))) for move in moves}
    return sorted(map(list, found), key=lambda own: (len(own), own))


def _stage(images: Numbers, order: Numbers, follow: NDArray[np.uint32], max_moves: int) -> Stage:
    """Return a stage. Its prefixes are extended until no symmetry fixes them, a block is full, or they have
    ``max_moves`` moves.
    """
    prefixes, length = [(list[int](), images)], 0
    while length < max_moves and any(len(kept) > 1 for _, kept in prefixes):
        longer = list(islice(_extended_prefixes(prefixes, order, follow), STEP_ROOM + 1))
        if len(longer) > STEP_ROOM:
            break
        prefixes, length = longer, length + 1
    beginnings = np.array([moves for moves, _ in prefixes], dtype=np.int64)
    return Stage(beginnings.reshape(len(prefixes), length), follow)


def _extended_prefixes(
    prefixes: list[tuple[list[int], Numbers]], order: Numbers, follow: NDArray[np.uint32]
) -> Iterator[tuple[list[int], Numbers]]:
    """Yield the prefixes extended by one move, each with the symmetries that fix it."""
    for moves, kept in prefixes:
        for move in bits_of(int(follow[moves[-1] if moves else -1])):
            if (order[kept[:, move]] >= order[move]).all():
                yield [*moves, move], kept[kept[:, move] == move]


def bits_of(bits: int) -> list[int]:
    """Return the indices of the bits that are set."""
    return [place for place in range(bits.bit_length()) if bits >> place & 1]
