"""Puzzles as a user may define them in Python: towers, lights, jugs, and puzzles with random functions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from antipodes.puzzles.custom import CustomNotation, define_puzzle
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.rules.functions import Function, Functions
from antipodes_tasks.rules.parts import Part, pieces, values
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.mixed_radix import MixedRadix, fields_of
from antipodes_tasks.spaces.space import Space

CAPACITY = (8, 5, 3)


def towers(pegs: int, discs: int, **more: Any) -> Puzzle:
    """Return a puzzle of discs on pegs, the smallest disc first; a move takes the top disc of a peg to another peg."""

    def top(positions: Any, peg: int) -> Any:
        on = positions == peg
        return np.where(on.any(axis=1), on.argmax(axis=1), discs)

    def move(origin: int, destination: int) -> Function:
        def moved(positions: Any) -> Any:
            disc = top(positions, origin)
            legal = disc < top(positions, destination)
            positions[legal, disc[legal]] = destination
            return positions, legal

        return moved

    pairs = [(a, b) for a in range(pegs) for b in range(pegs) if a != b]
    return define_puzzle(
        name="own-towers",
        radices=[pegs] * discs,
        start=[0] * discs,
        moves={f"{a}-{b}": move(a, b) for a, b in pairs},
        inverses={f"{a}-{b}": f"{b}-{a}" for a, b in pairs},
        **more,
    )


def pegs_exchanged(one: int, other: int) -> Any:
    """Return the map of positions that exchanges two pegs."""

    def exchanged(positions: Any) -> Any:
        names = np.arange(positions.max(initial=other) + 1)
        names[[one, other]] = other, one
        return names[positions]

    return exchanged


def symmetric_towers(pegs: int, discs: int, **more: Any) -> Puzzle:
    """Return towers that declare the exchanges of all pegs but the first as symmetries."""
    named = {f"pegs {peg} and {peg + 1}": pegs_exchanged(peg, peg + 1) for peg in range(1, pegs - 1)}
    return towers(pegs, discs, symmetries=named, **more)


def lights(rows: int, columns: int, **more: Any) -> Puzzle:
    """Return a puzzle in which a press changes a light and its neighbours."""

    def press(row: int, column: int) -> Function:
        near = [(row, column), (row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        changed = [r * columns + c for r, c in near if 0 <= r < rows and 0 <= c < columns]

        def pressed(positions: Any) -> Any:
            positions[:, changed] ^= 1
            return positions

        return pressed

    names = [f"{row}{column}" for row in range(rows) for column in range(columns)]
    return define_puzzle(
        name="own-lights",
        radices=[2] * len(names),
        start="0" * len(names),
        moves={name: press(int(name[0]), int(name[1])) for name in names},
        inverses={name: name for name in names},
        **more,
    )


def jugs() -> Puzzle:
    """Return three jugs, the largest full; a move pours from one jug into another and is generally irreversible."""

    def pour(origin: int, destination: int) -> Function:
        def poured(positions: Any) -> Any:
            amount = np.minimum(positions[:, origin], CAPACITY[destination] - positions[:, destination])
            positions[:, origin] -= amount
            positions[:, destination] += amount
            return positions, amount > 0

        return poured

    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    moves = {f"{a}{b}": pour(a, b) for a, b in pairs}
    return define_puzzle(name="own-jugs", radices=[9, 6, 4], start=[8, 0, 0], moves=moves)


def random_puzzle(seed: int) -> Puzzle:
    """Return a random puzzle of values and pieces with some hundred positions; each move depends on a few places."""
    rng = np.random.default_rng(seed)
    parts: list[Part] = [values(int(rng.integers(1, 4)), int(rng.integers(1, 4)))]
    if rng.integers(2):
        parts.insert(0, pieces(tuple(rng.integers(0, 2, 3).tolist()), ("a", "b")))
    if rng.integers(2):
        parts.append(values(2, 3))
    moves = {f"m{number}": _random_move(parts, rng) for number in range(int(rng.integers(1, 4)))}
    start = [piece for part in parts for piece in _any_content(part)]
    functions = Functions(moves, parts)
    return Puzzle.of("own-random", "python", "", CustomNotation(tuple(parts)), tuple(parts), (tuple(start),), functions)


def _any_content(part: Part) -> list[int]:
    counts = part.counts or (part.places,)
    return [label for label, count in enumerate(counts) for _ in range(count)]


def _random_move(parts: list[Part], rng: np.random.Generator) -> Function:
    """Return a move that replaces some values by functions of two places, and permutes some parts with pieces."""
    places = sum(part.places for part in parts)
    changes = []
    first = 0
    for part in parts:
        here = range(first, first + part.places)
        first += part.places
        if part.counts is not None:
            origin = rng.permutation(here) if rng.integers(2) else np.array(here)
            changes.append((list(here), origin, None))
        else:
            for place in here:
                if rng.integers(2):
                    table = rng.integers(0, len(part.symbols), size=(256, 2))
                    changes.append(([place], rng.integers(0, places, 2), table))
    condition, allowed = int(rng.integers(places)), rng.random(256) < 0.7

    def moved(positions: Any) -> Any:
        after = positions.copy()
        for here, origin, table in changes:
            if table is None:
                after[:, here] = positions[:, origin]
            else:
                after[:, here[0]] = table[positions[:, origin[0]] * 16 + positions[:, origin[1]], 0]
        return after, allowed[positions[:, condition]]

    return moved


def divided(rules: Rules, order: Sequence[int], leading: int) -> Space | None:
    """Return the space whose rows are the leading fields; None if they do not determine the effect of moves."""
    fields = fields_of(rules.parts)
    numbering = MixedRadix(tuple(fields[number] for number in order), tuple(order), leading, 1)
    most = numbering.filler(rules, leading).estimated_maps()
    return None if most is None else Space(rules, replace(numbering, max_maps=most), leading)
