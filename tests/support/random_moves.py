"""Moves with their inverses, moves as functions, and positions near the start."""

from typing import Any

import numpy as np

from antipodes.puzzles.notation import Lists
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import Part, values
from antipodes_tasks.rules.transforms import Transforms


def puzzle_of(parts: tuple[Part, ...], start: tuple[int, ...], moves: Moves) -> Puzzle:
    sizes = tuple(part.places for part in parts)
    return Puzzle.of("random", "random", "", Lists(sizes), parts, (start,), moves)


def with_inverses(moves: Transforms) -> Transforms:
    back = moves.reversed()
    conditions = None
    if moves.allowed is not None and back.allowed is not None:
        conditions = np.concatenate((moves.allowed, back.allowed))
    names = [*moves.names, *(f"{name}'" for name in moves.names)]
    both = (np.concatenate(pair) for pair in ((moves.origin, back.origin), (moves.added, back.added)))
    origin, added = both
    return Transforms(names, origin, moves.moduli, added, conditions)


def hanoi(pegs: int, discs: int) -> Puzzle:
    """Return the towers of Hanoi; the value of place ``i`` is the peg of disc ``i``, the smallest disc first."""
    names, added, allowed = [], [], []
    for disc in range(discs):
        for a in range(pegs):
            for b in set(range(pegs)) - {a}:
                names.append(f"{a}-{b}")
                added.append([(b - a) % pegs if d == disc else 0 for d in range(discs)])
                free = ~(1 << a | 1 << b) & 2**64 - 1
                allowed.append([free if d < disc else 1 << a if d == disc else 2**64 - 1 for d in range(discs)])
    origin = [list(range(discs))] * len(names)
    moves = Transforms(names, origin, [pegs] * discs, added, np.array(allowed, dtype=np.uint64))
    return puzzle_of((values(discs, pegs),), (0,) * discs, moves)


def near(puzzle: Puzzle) -> Labels:
    """Return positions of the first layers, up to a hundred of each layer."""
    found = layer = puzzle.start_labels[:100]
    for _ in range(4):
        after = [layer[:0], *map(puzzle.moves.successors, layer)]
        layer = np.unique(np.concatenate(after), axis=0)[:100]
        found = np.concatenate((found, layer))
    return np.unique(found, axis=0)


def as_functions(puzzle: Puzzle, inverses: bool) -> Puzzle:
    """Return the same puzzle with its moves as functions, with or without declared inverses."""
    functions: dict[str, Any] = {}
    undo: dict[str, Any] = {}
    for number in range(len(puzzle.moves)):
        functions[f"f{number}"] = _Applied(puzzle.moves, number, backwards=False)
        undo[f"f{number}"] = _Applied(puzzle.moves, number, backwards=True) if inverses else None
    return puzzle_of(puzzle.parts, puzzle.starts[0], Functions(functions, puzzle.parts, undo))


class _Applied:
    def __init__(self, moves: Moves, number: int, backwards: bool) -> None:
        self.make, self.number = moves.undo if backwards else moves.move, number

    def __call__(self, labels: Any) -> Any:
        after, legal = self.make(self.number, labels.astype(np.uint8))
        return after.astype(np.int64), legal
