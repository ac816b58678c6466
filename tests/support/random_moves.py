"""Random small puzzles with several parts, values and conditions, also with functions as moves."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from antipodes.puzzles.notation import Lists
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import Part, pieces, values
from antipodes_tasks.rules.transforms import Transforms


def puzzle_of(parts: tuple[Part, ...], start: tuple[int, ...], moves: Moves) -> Puzzle:
    sizes = tuple(part.places for part in parts)
    return Puzzle.of("random", "random", "", Lists(sizes), parts, (start,), moves)


@st.composite
def puzzles(draw: st.DrawFn) -> Puzzle:
    """Draw a puzzle with different or identical pieces and values; its moves may be reversible or not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parts, start = _parts(rng)
    count = int(rng.integers(1, 5))
    transforms = _transforms(rng, parts, count)
    if draw(st.booleans()):  # most real puzzles have the inverse of each move
        transforms = with_inverses(transforms)
    return puzzle_of(parts, start, transforms)


def _parts(rng: np.random.Generator) -> tuple[tuple[Part, ...], tuple[int, ...]]:
    parts: list[Part] = []
    start: list[int] = []
    for _ in range(int(rng.integers(1, 3))):
        places = int(rng.integers(2, 5))
        kind = int(rng.integers(3))
        if kind < 2:
            content = tuple(range(places)) if kind else tuple(sorted(rng.integers(0, 2, places).tolist()))
            parts.append(pieces(content, tuple("abcd"[: max(content) + 1])))
            start += content
        else:
            radix = int(rng.integers(2, 4))
            places = min(places, 3)
            parts.append(values(places, radix))
            start += rng.integers(0, radix, places).tolist()
    return tuple(parts), tuple(start)


def _transforms(rng: np.random.Generator, parts: tuple[Part, ...], count: int) -> Transforms:
    moduli = np.repeat([len(part.symbols) for part in parts], [part.places for part in parts])
    origin, added, allowed = [], [], []
    for _ in range(count):
        own: list[int] = []
        for part in parts:
            own += (len(own) + rng.permutation(part.places)).tolist()
        origin.append(own)
        adds = [part.counts is None for part in parts for _ in range(part.places)]
        added.append(rng.integers(0, moduli) * adds)
        some = rng.integers(1, 2**moduli).astype(np.uint64)
        allowed.append(np.where(rng.random(len(own)) < 0.2, some, ~np.uint64(0)))
    conditions = np.array(allowed) if rng.random() < 0.5 else None
    return Transforms([f"m{i}" for i in range(count)], origin, moduli, added, conditions)


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
