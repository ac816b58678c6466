"""Footprints: the places that the blocks of a sliding-block puzzle cover."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from antipodes_tasks.rules.transforms import Transforms

EMPTY = 0


class Footprint(NamedTuple):
    """The places that a block covers. One of them holds the block's label, the others hold `Footprints.rest`."""

    place: int
    label: int
    others: tuple[int, ...]
    """The other places that the block covers, ascending."""


class Footprints(NamedTuple):
    """All footprints of all blocks. A move takes one block to another footprint, onto empty places."""

    rest: int
    """The label on all places of a block except one. Empty places have the label EMPTY."""
    every: tuple[Footprint, ...]


class BlockStep(NamedTuple):
    """A move of a block from one place to another."""

    label: int
    origin: int
    destination: int
    empty: tuple[int, ...]
    """The places that must be empty before the move."""


def block_steps(moves: Transforms) -> Iterator[BlockStep]:
    """Yield the moves of a sliding-block puzzle; each requires a block on one place, and certain empty places."""
    for number in range(len(moves)):
        conditions = np.flatnonzero(moves.conditional[number]).tolist()
        masks = {place: int(moves.conditions[number, place]) for place in conditions if moves.conditions is not None}
        ((origin, mask),) = ((place, mask) for place, mask in masks.items() if mask != 1 << EMPTY)
        destination = int(np.flatnonzero(moves.origin[number] == origin)[0])
        empty = tuple(place for place in conditions if place != origin)
        yield BlockStep(mask.bit_length() - 1, origin, destination, empty)
