"""Footprints: the places that a block covers, where pieces of a puzzle take more than one."""

from typing import NamedTuple


class Footprint(NamedTuple):
    """A block on one of its places: the first square in reading order has its label, the others `Footprints.rest`."""

    place: int
    label: int
    others: tuple[int, ...]
    """The other places that it covers, ascending."""


class Footprints(NamedTuple):
    """All ways to put each block on the board.

    A label 0 stands for an empty place. Each move takes one block to another place, and needs some places empty.
    """

    rest: int
    """The label of all squares of a block but the first."""
    every: tuple[Footprint, ...]
