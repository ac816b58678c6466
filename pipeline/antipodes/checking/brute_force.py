"""A breadth-first search as simple as can be: a set of positions, moved one at a time by the puzzle's own moves."""

from dataclasses import dataclass

import numpy as np

from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.rules.moves import Labels, Moves

MOST_POSITIONS = 20_000
MOST_MOVED = 60_000
"""Positions times moves, at most, where each move is a call: they take a second or two."""


@dataclass(frozen=True)
class BruteForce:
    """The first layers of a puzzle."""

    layers: list[Labels]
    """The positions at each depth ``(n, places)``, all of them."""
    ended: bool
    """Whether there are no positions beyond the last layer."""

    @property
    def positions(self) -> Labels:
        """All positions ``(n, places)``."""
        return np.concatenate(self.layers)


def search(puzzle: Puzzle) -> BruteForce:
    """The layers of at most `MOST_POSITIONS` positions; a layer that would have more is left out."""
    calls = len(puzzle.moves) if type(puzzle.moves).successors is Moves.successors else 1
    most = min(MOST_POSITIONS, max(1, MOST_MOVED // calls))
    frontier = list(dict.fromkeys(map(bytes, puzzle.start_labels)))
    seen = set(frontier)
    layers = [frontier]
    while frontier:
        frontier = _next(puzzle, frontier, seen, most)
        if len(seen) > most:
            return BruteForce(_as_labels(puzzle, layers), ended=False)
        if frontier:
            layers.append(frontier)
    return BruteForce(_as_labels(puzzle, layers), ended=True)


def _next(puzzle: Puzzle, frontier: list[bytes], seen: set[bytes], most: int) -> list[bytes]:
    """The positions one move after the frontier that are not seen; they are added, until there are too many."""
    found = []
    for position in frontier:
        for after in puzzle.moves.successors(np.frombuffer(position, dtype=np.uint8)):
            if (key := bytes(after)) not in seen:
                seen.add(key)
                found.append(key)
        if len(seen) > most:
            break
    return found


def _as_labels(puzzle: Puzzle, layers: list[list[bytes]]) -> list[Labels]:
    return [np.frombuffer(b"".join(layer), dtype=np.uint8).reshape(-1, puzzle.places) for layer in layers]
