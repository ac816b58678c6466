"""Puzzles whose positions are searched as keys, and their distances by brute force."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from brute_force import positions_of

from antipodes.puzzles.config import Config, as_config
from antipodes.puzzles.custom import define_puzzle
from antipodes.puzzles.puzzle import Puzzle

BLOCKS = {"name": "blocks", "family": "blocks", "start": "AABB\nCCDE\n.F.."}
TILES = {"name": "tiles", "family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 4 5 0", "enumerated": True}
WORDS = 9
"""Number of dials; with 8 bits each, a key needs two words."""


def step(dial: int, by: int, below: int, dials: Any) -> Any:
    """Turn a dial by ``by``; the move is legal if its value stays from 0 to ``below`` - 1."""
    after = dials.copy()
    after[:, dial] += by
    return after, (after[:, dial] >= 0) & (after[:, dial] < below)


def add(dials: Any, *, by: tuple[int, ...], radix: int) -> Any:
    """Add numbers to all dials; the move is legal if the first dial differs from the last."""
    return (dials + np.array(by)) % radix, dials[:, 0] != dials[:, -1]


def wide() -> Puzzle:
    """Return a puzzle of dials that are turned up and down; each has many values."""
    moves = {f"{dial}{'+' if by > 0 else '-'}": partial(step, dial, by, 3) for dial in range(5) for by in (1, -1)}
    inverses = {f"{dial}+": f"{dial}-" for dial in range(5)}
    start = [0] * WORDS
    radices = [200] * WORDS
    return define_puzzle(name="wide", radices=radices, start=start, moves=moves, inverses=inverses, enumerated=True)


def one_way() -> Puzzle:
    """Return a puzzle with irreversible moves and two starts."""
    moves = {"a": partial(add, by=(1, 2, 0), radix=9), "b": partial(add, by=(0, 1, 3), radix=9)}
    return define_puzzle(name="one-way", radices=[9] * 3, start=[[0, 0, 1], [4, 2, 1]], moves=moves, enumerated=True)


def tiles() -> Config:
    """Return a sliding puzzle as a puzzle in Python, whose positions are not numbered."""
    numbered = Config({"name": "tiles", "family": "sliding", "rows": 2, "columns": 3, "start": "1 1 2 2 3 0"})
    rules = numbered.puzzle.rules
    edges = {f"{pair[0]}-{pair[1]}": tuple(pair) for pair in rules.moves.pairs.tolist()}  # type: ignore[attr-defined]

    def exchange(first: int, second: int, labels: Any) -> Any:
        after = labels.copy()
        after[:, [first, second]] = labels[:, [second, first]]
        return after, (labels[:, first] == 0) | (labels[:, second] == 0)

    moves = {name: partial(exchange, *pair) for name, pair in edges.items()}
    start = list(rules.starts[0])
    own = define_puzzle(
        name="tiles", radices=[6] * 6, start=start, moves=moves, inverses={n: n for n in moves}, enumerated=True
    )
    return as_config(own)


PUZZLES: dict[str, Callable[[], Config]] = {
    "blocks": lambda: Config(BLOCKS),
    "wide": lambda: as_config(wide()),
    "one-way": lambda: as_config(one_way()),
    "tiles": lambda: Config(TILES),
}


@cache
def config_of(name: str) -> Config:
    """Return the config of a puzzle."""
    return PUZZLES[name]()


@cache
def brute_force(name: str) -> dict[bytes, int]:
    """Return the distance of each position, which is given as the bytes of its labels."""
    layers = positions_of(config_of(name).puzzle)
    return {bytes(one): depth for depth, layer in enumerate(layers) for one in layer}
