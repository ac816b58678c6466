"""Estimates of the number of column maps of a reduced space, by formula, before any row is listed.

A column map is the effect of a move and of a symmetry on the column. If the row stores nothing about the places of the
column, this effect depends only on the move and the symmetry. If the row shows which places the pieces of the column
are on, it also depends on these places, because the pieces are listed in the order of their places.
"""

from itertools import product
from math import factorial, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.properties.symmetry_images import Images
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.part_tables import most_rearrangements
from antipodes_tasks.spaces.rows_and_columns import ColumnBlock, Cut

PAIRS = 256
"""Maximum number of pairs of a symmetry and a move whose rearrangements are counted."""


class _Actions(NamedTuple):
    """The different effects on some places."""

    symmetries: NDArray[np.int64]
    """The numbers of symmetries with different effects."""
    moves: NDArray[np.int64]
    """The numbers of moves with different effects; -1 for no move."""

    @property
    def pairs(self) -> int:
        """Number of pairs of a symmetry and a move."""
        return len(self.symmetries) * len(self.moves)


def estimated_maps(frame: Cut, images: Images, transforms: Transforms) -> float:
    """Return an estimate of the number of column maps of a large number of rows. It is usually too large."""
    mixed = [block for block in frame.blocks if not _is_alone(frame, block)]
    alone = _actions(frame.column_places & _of_column(frame), images, transforms)
    if not mixed:
        return alone.pairs * _turned(frame, images)
    everywhere = _actions(_of_column(frame), images, transforms)
    orders = alone.pairs * _renamings(frame, images) * prod(factorial(block.end - block.first) for block in mixed)
    return min(orders, everywhere.pairs * _mean_rearrangements(frame, mixed, images, transforms, everywhere))


def _is_alone(frame: Cut, block: ColumnBlock) -> bool:
    """Return whether the row stores nothing about the places of a block."""
    places = frame.parts[block.part].place_slice
    return block.values is not None or bool(frame.column_places[places].all())


def _of_column(frame: Cut) -> NDArray[np.bool_]:
    """Return ``(places,)``: whether the column stores something about the place."""
    return np.asarray((frame.block_of >= 0).any(axis=1))


def _actions(places: NDArray[np.bool_], images: Images, transforms: Transforms) -> _Actions:
    """Return the symmetries and moves with different effects on some places."""
    every = len(images), -1
    of_images = np.concatenate(
        [
            images.origins[:, places],
            images.labels[:, places].reshape(every),
            images.turns[:, places].reshape(every),
        ],
        axis=1,
    )
    columns: list[NDArray[Any]] = [transforms.origin[:, places], transforms.added[:, places]]
    if transforms.conditions is not None:
        columns.append(transforms.conditions[:, places])
    of_moves = np.concatenate([each.astype(np.int64) for each in columns], axis=1)
    moves = np.sort(np.unique(of_moves, axis=0, return_index=True)[1])
    return _Actions(
        np.sort(np.unique(of_images, axis=0, return_index=True)[1]), np.concatenate((np.array([-1]), moves))
    )


def _turned(frame: Cut, images: Images) -> float:
    """Return in how many ways a symmetry may turn the twists of the column, depending on their pieces in the row."""
    turned = _of_column(frame) & (images.carriers != np.arange(frame.places)) & ~frame.carried
    ways = 1.0
    for place in np.flatnonzero(turned).tolist():
        known = int(images.moduli[images.carriers[place]])
        turns = np.sort(images.turns[:, place, :known], axis=1)
        ways *= float((1 + (turns[:, 1:] != turns[:, :-1]).sum(axis=1)).mean())
    return ways


def _renamings(frame: Cut, images: Images) -> int:
    """Return the number of different renamings of the pieces of the column."""
    inside = frame.block_of >= 0
    return len(np.unique(np.where(inside, images.labels[:, : frame.places, : frame.labels], 0), axis=0))


def _mean_rearrangements(
    frame: Cut, mixed: list[ColumnBlock], images: Images, transforms: Transforms, actions: _Actions
) -> float:
    """Return the mean number of orders into which a pair brings the pieces on the places that the row shows."""
    pairs = list(product(actions.symmetries.tolist(), actions.moves.tolist()))
    pairs = pairs[:: max(1, len(pairs) // PAIRS)]
    still = np.arange(frame.places)
    origins = np.array(
        [(still if move < 0 else transforms.origin[move])[images.origins[symmetry]] for symmetry, move in pairs]
    )
    ways = np.ones(len(pairs))
    for block in mixed:
        ways *= most_rearrangements(origins[:, frame.parts[block.part].place_slice], block.end - block.first)
    return float(ways.mean())
