"""Breadth-first search of twisty puzzles with numpy, directly from the definition of a turn."""

from collections.abc import Iterable

import numpy as np
from brute_force import Rows, layers_by

from antipodes.puzzles.formats.definition import Turn, TwistyDefinition


def solved(definition: TwistyDefinition) -> Rows:
    """Return the solved position as one row, with the pieces and then the orientations of each orbit."""
    parts = [part for orbit in definition.orbits for part in (orbit.pieces, orbit.twists)]
    return np.array([[value for part in parts for value in part]], dtype=np.uint8)


def turned(positions: Rows, turn: Turn, definition: TwistyDefinition) -> Rows:
    """Return the positions after a turn."""
    parts, begin = [], 0
    for orbit, origin, twists in zip(definition.orbits, turn.permutations, turn.twists, strict=True):
        pieces, orientations = np.split(positions[:, begin : begin + 2 * len(origin)], 2, axis=1)
        added = np.array(twists, dtype=np.uint8)
        parts += [pieces[:, list(origin)], (orientations[:, list(origin)] + added) % np.uint8(orbit.orientations)]
        begin += 2 * len(origin)
    return np.concatenate(parts, axis=1)


def layers(definition: TwistyDefinition, turns: Iterable[Turn], most: int = 1000) -> list[int]:
    """Return the number of positions at each depth up to ``most``."""
    turns = list(turns)

    def after(rows: Rows) -> Rows:
        return np.concatenate([turned(rows, turn, definition) for turn in turns])

    return layers_by(solved(definition), after, most)
