"""Breadth-first search of twisty puzzles with numpy, straight from the formula of a turn."""

from collections.abc import Iterable
from math import prod

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.formats.definition import Turn, TwistyDefinition

Positions = NDArray[np.uint8]
"""One position a row: of each orbit the pieces and then the orientations."""


def solved(definition: TwistyDefinition) -> Positions:
    """The solved position."""
    parts = [part for orbit in definition.orbits for part in (orbit.pieces, orbit.twists)]
    return np.array([[value for part in parts for value in part]], dtype=np.uint8)


def turned(positions: Positions, turn: Turn, definition: TwistyDefinition) -> Positions:
    """The positions after a turn."""
    parts, begin = [], 0
    for orbit, origin, twists in zip(definition.orbits, turn.permutations, turn.twists, strict=True):
        pieces, orientations = np.split(positions[:, begin : begin + 2 * len(origin)], 2, axis=1)
        added = np.array(twists, dtype=np.uint8)
        parts += [pieces[:, list(origin)], (orientations[:, list(origin)] + added) % np.uint8(orbit.orientations)]
        begin += 2 * len(origin)
    return np.concatenate(parts, axis=1)


def layers(definition: TwistyDefinition, turns: Iterable[Turn], most: int = 1000) -> list[int]:
    """The number of positions at each depth, down to depth ``most``."""
    turns = list(turns)
    orbits = definition.orbits
    radices = [radix for one in orbits for radix in (max(one.pieces) + 1, one.orientations) for _ in one.pieces]
    assert prod(radices) < 2**64
    weights = np.array([prod(radices[place + 1 :]) for place in range(len(radices))], dtype=np.uint64)
    frontier = solved(definition)
    seen, found = frontier @ weights, [1]
    while len(found) <= most:
        after = np.concatenate([turned(frontier, turn, definition) for turn in turns])
        numbers, first = np.unique(after @ weights, return_index=True)
        new = ~np.isin(numbers, seen, assume_unique=True)
        if not new.any():
            break
        frontier = after[first[new]]
        seen = np.concatenate((seen, numbers[new]))
        found.append(int(new.sum()))
    return found
