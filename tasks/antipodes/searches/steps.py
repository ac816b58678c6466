"""The moves of a puzzle as arrays, for the kernels of the searches."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.errors import InputError
from antipodes.puzzles.moves.moves import Labels, Moves
from antipodes.puzzles.moves.swaps import Pairs, Swaps
from antipodes.puzzles.moves.transforms import Transforms

Numbers = NDArray[np.int64]


class Steps(NamedTuple):
    """Moves, grouped by the first place that must be empty; moves that need no empty place come last.

    The lists of a move ``m`` are the entries from ``..._at[m]`` to ``..._at[m + 1]``.
    """

    group: Numbers
    """``(places + 2,)``: the moves onto an empty place ``p`` are ``group[p]`` to ``group[p + 1]``."""
    swap_at: Numbers
    swaps: Numbers
    """``(swaps, 2)``: the pairs of places to swap, one after another."""
    empty_at: Numbers
    empty: Numbers
    """Further places that must be empty."""
    occupied_at: Numbers
    occupied: Numbers
    """Places that must hold a piece."""
    inverse: Numbers
    """The number of the move that undoes each move, or -1."""
    origin: Numbers
    """``(moves, places)``: from which place each place gets its piece; no lines unless moves are ambiguous."""
    ambiguous: bool
    """Whether two different moves can lead from one position to the same one."""


def steps_of(moves: Moves, places: int) -> Steps:
    """The moves as arrays; a swap given twice counts once."""
    if isinstance(moves, Swaps):
        return _swap_steps(moves.pairs, places)
    if isinstance(moves, Transforms) and moves.allowed is None and not moves.added.any():
        return _transform_steps(moves)
    raise InputError("expected moves that permute the places")


def _swap_steps(pairs: Pairs, places: int) -> Steps:
    ends = np.unique(pairs[:, 1].astype(np.int64) * places + pairs[:, 0])  # by destination, ascending
    destination, origin = np.divmod(ends, places)
    backwards = origin * places + destination
    undo = np.minimum(np.searchsorted(ends, backwards), max(0, len(ends) - 1))
    each, none = np.arange(len(ends) + 1), np.empty(0, dtype=np.int64)
    return Steps(
        group=np.searchsorted(destination, np.arange(places + 2)).astype(np.int64),
        swap_at=each,
        swaps=np.stack((origin, destination), axis=1),
        empty_at=np.zeros_like(each),
        empty=none,
        occupied_at=each,
        occupied=origin,
        inverse=np.where(ends[undo] == backwards, undo, -1),
        origin=none.reshape(0, places),
        ambiguous=False,
    )


def _transform_steps(moves: Transforms) -> Steps:
    """Permutations, which need no empty place."""
    swap_at, swaps = _lists([_swaps_of(origin) for origin in moves.origin.tolist()])
    none = np.empty(0, dtype=np.int64)
    return Steps(
        group=np.array([0] * (moves.places + 1) + [len(moves)], dtype=np.int64),
        swap_at=swap_at,
        swaps=swaps.reshape(-1, 2),
        empty_at=np.zeros(len(moves) + 1, dtype=np.int64),
        empty=none,
        occupied_at=np.zeros(len(moves) + 1, dtype=np.int64),
        occupied=none,
        inverse=moves.inverse,
        origin=moves.origin.astype(np.int64),
        ambiguous=True,
    )


def reversed_moves(moves: Moves) -> Moves:
    """The moves that undo the moves, each legal exactly in the positions that its move leads to."""
    assert isinstance(moves, Swaps | Transforms)
    return moves.reversed()


def replay(labels: Labels, move: int, steps: Steps) -> Labels:
    """The position after a move."""
    after = labels.copy()
    for a, b in steps.swaps[steps.swap_at[move] : steps.swap_at[move + 1]].tolist():
        after[[a, b]] = after[[b, a]]
    return after


def _swaps_of(origin: Sequence[int]) -> list[tuple[int, int]]:
    """The swaps of two places, one after another, that bring each place the label of its origin."""
    swaps, now = [], list(range(len(origin)))
    for place, wanted in enumerate(origin):
        other = now.index(wanted)
        if other != place:
            swaps.append((place, other))
            now[place], now[other] = now[other], now[place]
    return swaps


def _lists(lists: Sequence[Sequence[object]]) -> tuple[Numbers, Numbers]:
    ends = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return ends, np.array([entry for entries in lists for entry in entries], dtype=np.int64)
