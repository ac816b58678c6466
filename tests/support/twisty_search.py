"""Breadth-first search of twisty puzzles with numpy, straight from the formula of a turn."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.formats.definition import Turn, TwistyDefinition

Position = tuple[NDArray[np.uint8], ...]
"""Of each orbit the pieces and then the orientations, one position a row."""


def solved(definition: TwistyDefinition) -> Position:
    """The solved position."""
    parts = [part for orbit in definition.orbits for part in (orbit.pieces, orbit.twists)]
    return tuple(np.array([part], dtype=np.uint8) for part in parts)


def turned(position: Position, turn: Turn, definition: TwistyDefinition) -> Position:
    """The positions after a turn."""
    parts = []
    for k, orbit in enumerate(definition.orbits):
        origin = list(turn.permutations[k])
        added = np.array(turn.twists[k], dtype=np.uint8)
        parts.append(position[2 * k][:, origin])
        parts.append((position[2 * k + 1][:, origin] + added) % np.uint8(orbit.orientations))
    return tuple(parts)


def numbers(position: Position, definition: TwistyDefinition) -> NDArray[np.uint64]:
    """A different number for each position."""
    found = np.zeros(len(position[0]), dtype=np.uint64)
    size = 1
    for part, radices in zip(position, radices_of(definition), strict=True):
        for place, radix in enumerate(radices):
            found = found * np.uint64(radix) + part[:, place]
            size *= radix
    assert size < 2**64
    return found


def radices_of(definition: TwistyDefinition) -> list[list[int]]:
    """For each part of a position the number of values on each place."""
    return [
        [radix] * len(orbit.pieces)
        for orbit in definition.orbits
        for radix in (max(orbit.pieces) + 1, orbit.orientations)
    ]


def layers(definition: TwistyDefinition, turns: Iterable[Turn], most: int = 1000) -> list[int]:
    """The number of positions at each depth, down to depth ``most``."""
    turns = list(turns)
    frontier = solved(definition)
    seen = numbers(frontier, definition)
    found = [1]
    while len(found) <= most:
        after = [turned(frontier, turn, definition) for turn in turns]
        every = tuple(np.concatenate(parts) for parts in zip(*after, strict=True))
        keys, first = np.unique(numbers(every, definition), return_index=True)
        new = ~np.isin(keys, seen, assume_unique=True)
        if not new.any():
            break
        frontier = tuple(part[first[new]] for part in every)
        seen = np.concatenate((seen, keys[new]))
        found.append(int(new.sum()))
    return found
