"""Burnt pancakes: a stack in which each pancake has a burnt side."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from antipodes.puzzles.drawings.pancakes import BurntPancakes
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import MAX_SYMBOLS, bounded_integer, identity, refuse_unknown
from antipodes_tasks.rules.parts import pieces, values
from antipodes_tasks.rules.transforms import Transforms


def burnt_pancake(settings: Mapping[str, Any]) -> Puzzle:
    """A stack of ``n`` pancakes, burnt side down; a move turns over the topmost ones, each of them included.

    A move is named after the number of pancakes that it turns over.

    Raises
    ------
    ConfigError
        A key is unknown, missing or out of range; the message names it.
    """
    refuse_unknown(settings, {"n"})
    n = bounded_integer(settings, "n", 1, MAX_SYMBOLS)
    stack, symbols = tuple(range(n)), tuple(str(number) for number in range(1, n + 1))
    flipped = np.tri(n, dtype=np.uint8)
    origin = np.where(flipped == 1, np.arange(n)[:, np.newaxis] - np.arange(n), np.arange(n))
    moves = Transforms(
        names=[str(count) for count in range(1, n + 1)],
        origin=np.concatenate((origin, n + origin), axis=1),
        moduli=[n] * n + [2] * n,
        added=np.concatenate((np.zeros_like(flipped), flipped), axis=1),
    )
    return Puzzle.of(
        **identity(settings),
        family="burnt-pancake",
        notation=BurntPancakes(n, symbols),
        parts=(pieces(stack, symbols), values(n, 2, twists=True)),
        starts=(stack + (0,) * n,),
        moves=moves,
    )
