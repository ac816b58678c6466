"""Footprints: the places that blocks cover, where pieces of a puzzle take more than one."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from antipodes_tasks.rules.transforms import Transforms

EMPTY = 0


class Footprint(NamedTuple):
    """A block where it can stand: one of its places has its label, the others `Footprints.rest`."""

    place: int
    label: int
    others: tuple[int, ...]
    """The other places that it covers, ascending."""


class Footprints(NamedTuple):
    """All ways to put each block on the board, where a move takes one block to another place, onto empty ones."""

    rest: int
    """The label of all places of a block but one; that of an empty place is EMPTY."""
    every: tuple[Footprint, ...]


class BlockStep(NamedTuple):
    """A block goes from one place to another."""

    label: int
    origin: int
    destination: int
    empty: tuple[int, ...]
    """The places that must be empty."""


def block_steps(moves: Transforms) -> Iterator[BlockStep]:
    """The moves of a puzzle with footprints: each has a condition on one block, and else on places to be empty."""
    for number in range(len(moves)):
        conditions = np.flatnonzero(moves.conditional[number]).tolist()
        masks = {place: int(moves.conditions[number, place]) for place in conditions if moves.conditions is not None}
        ((origin, mask),) = ((place, mask) for place, mask in masks.items() if mask != 1 << EMPTY)
        destination = int(np.flatnonzero(moves.origin[number] == origin)[0])
        empty = tuple(place for place in conditions if place != origin)
        yield BlockStep(mask.bit_length() - 1, origin, destination, empty)
