"""The towers of Hanoi: discs on pegs, never a larger one on a smaller one."""

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any

import numpy as np

from antipodes.puzzles.drawings.towers import Towers
from antipodes.puzzles.notation import symbols_in
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import MAX_PLACES, bounded_integer, identity, refuse_unknown, starts_in
from antipodes_tasks.errors import ConfigError
from antipodes_tasks.quoting import quote
from antipodes_tasks.rules.parts import values
from antipodes_tasks.rules.transforms import MOST_MASKED, Transforms

EVERY_PEG = ~np.uint64(0)
MOST_MOVES = 1 << 16
"""Moves of a disc from one peg to another, over all discs: far more than a table that fits into memory needs."""


def hanoi(settings: Mapping[str, Any]) -> Puzzle:
    """``discs`` on ``pegs``: a position is the peg of each disc, the smallest first.

    They begin on peg 0, or where ``start`` puts them. A move is named after its two pegs: ``0-2``.

    Raises
    ------
    ConfigError
        A key is unknown, missing or out of range; the message names it.
    """
    refuse_unknown(settings, {"pegs", "discs", "start"})
    pegs = bounded_integer(settings, "pegs", 2, MOST_MASKED, 3)
    discs = bounded_integer(settings, "discs", 1, MAX_PLACES)
    if discs * pegs * (pegs - 1) > MOST_MOVES:
        raise ConfigError(f"discs, pegs: expected at most {MOST_MOVES:,} moves, found {discs * pegs * (pegs - 1):,}")
    texts = starts_in(settings) if "start" in settings else ["0 " * discs]
    return Puzzle.of(
        **identity(settings),
        family="hanoi",
        notation=Towers(pegs, discs),
        parts=(values(discs, pegs),),
        starts=tuple(dict.fromkeys(_start(text, pegs, discs) for text in texts)),
        moves=_moves(pegs, discs),
    )


def _start(text: str, pegs: int, discs: int) -> tuple[int, ...]:
    written = symbols_in(text, discs)
    if len(written) != discs:
        raise ConfigError(f"start: expected the peg of each of {discs} discs, found {len(written)}")
    for peg in written:
        if not (peg.isdecimal() and peg.isascii() and int(peg) < pegs):
            raise ConfigError(f"start: expected pegs from 0 to {pegs - 1}, found {quote(peg)}")
    return tuple(map(int, written))


def _moves(pegs: int, discs: int) -> Transforms:
    """A move for each disc and each two pegs, legal where no smaller disc is on either."""
    names, added, allowed = zip(*_steps(pegs, discs), strict=True)
    return Transforms(names, np.tile(np.arange(discs), (len(names), 1)), [pegs] * discs, added, allowed)


def _steps(pegs: int, discs: int) -> Iterator[tuple[str, Any, Any]]:
    one = np.uint64(1)
    for disc in range(discs):
        for a, b in permutations(range(pegs), 2):
            added = np.zeros(discs, dtype=np.uint8)
            added[disc] = (b - a) % pegs
            allowed = np.full(discs, EVERY_PEG)
            allowed[:disc] = ~(one << np.uint64(a) | one << np.uint64(b))
            allowed[disc] = one << np.uint64(a)
            yield f"{a}-{b}", added, allowed
