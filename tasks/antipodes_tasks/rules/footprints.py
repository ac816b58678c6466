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
    """A move of a block, which is given by the place that holds its label, from one footprint to another."""

    label: int
    origin: int
    destination: int
    empty: tuple[int, ...]
    """The places that must be empty before the move, ascending."""


def block_step(moves: Transforms, number: int) -> BlockStep | None:
    """Return a move as the step of a block; None unless it requires a label on one place, and other places empty."""
    if moves.conditions is None or moves.added[number].any():
        return None
    conditional = np.flatnonzero(moves.conditional[number]).tolist()
    masks = moves.conditions[number, conditional].tolist()
    labelled = [(place, mask) for place, mask in zip(conditional, masks, strict=True) if mask != 1 << EMPTY]
    if len(labelled) != 1 or labelled[0][1].bit_count() != 1:
        return None
    origin, mask = labelled[0]
    destination = int(np.argmax(moves.origin[number] == origin))
    empty = tuple(place for place in conditional if place != origin)
    return None if destination == origin else BlockStep(mask.bit_length() - 1, origin, destination, empty)


def block_steps(moves: Transforms) -> Iterator[BlockStep]:
    """Yield the moves of a sliding-block puzzle as steps of blocks."""
    for number in range(len(moves)):
        step = block_step(moves, number)
        assert step is not None
        yield step
