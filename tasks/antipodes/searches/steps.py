"""The moves of a puzzle as arrays, for the kernels of the searches."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.move import Move

Numbers = NDArray[np.int64]


class Steps(NamedTuple):
    """Moves, grouped by the first place that must be empty; those that need none come last.

    The lists of a move ``m`` are the entries from ``..._at[m]`` to ``..._at[m + 1]``.
    """

    group: Numbers
    """``(places + 2,)``: the moves onto an empty place ``p`` are ``group[p]`` to ``group[p + 1]``."""
    swap_at: Numbers
    swaps: Numbers
    """``(swaps, 2)``: places whose pieces are exchanged, one pair after another."""
    empty_at: Numbers
    empty: Numbers
    """Further places that must be empty."""
    occupied_at: Numbers
    occupied: Numbers
    """Places that must bear a piece."""
    undo: Numbers
    """Which move takes each one back, or -1."""
    origin: Numbers
    """``(moves, places)``: from which place each place gets its piece."""
    ambiguous: bool
    """Whether different moves may lead from a position to the same one."""


def steps_of(moves: Sequence[Move], places: int) -> Steps:
    """The moves as arrays."""
    ordered = sorted(moves, key=lambda move: move.empty[0] if move.empty else places)
    firsts = [move.empty[0] if move.empty else places for move in ordered]
    origin = np.array([move.origin(places) for move in ordered], dtype=np.int64).reshape(-1, places)
    swap_at, swaps = _lists([[pair for cycle in move.cycles for pair in exchanges(cycle)] for move in ordered])
    empty_at, empty = _lists([list(move.empty[1:]) for move in ordered])
    occupied_at, occupied = _lists([list(move.occupied) for move in ordered])
    return Steps(
        group=np.searchsorted(firsts, np.arange(places + 2)).astype(np.int64),
        swap_at=swap_at,
        swaps=swaps.reshape(-1, 2),
        empty_at=empty_at,
        empty=empty,
        occupied_at=occupied_at,
        occupied=occupied,
        undo=_undo(ordered, origin),
        origin=origin,
        ambiguous=not _single_pieces(ordered),
    )


def reverse(move: Move) -> Move:
    """The move that takes a move back: legal exactly where that move can have led."""
    goes_to = {cycle[i - 1]: cycle[i] for cycle in move.cycles for i in range(len(cycle))}
    return Move(
        move.inverse().cycles,
        empty=tuple(goes_to.get(place, place) for place in move.empty),
        occupied=tuple(goes_to.get(place, place) for place in move.occupied),
    )


def exchanges(cycle: tuple[int, ...]) -> list[tuple[int, int]]:
    """The pairs of places whose pieces are to be exchanged, one after another, for a cycle."""
    return [(cycle[i], cycle[i + 1]) for i in range(len(cycle) - 2, -1, -1)]


def _lists(lists: Sequence[Sequence[object]]) -> tuple[Numbers, Numbers]:
    ends = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return ends, np.array([entry for entries in lists for entry in entries], dtype=np.int64)


def _undo(moves: Sequence[Move], origin: Numbers) -> Numbers:
    number = {_essence(move, permutation): i for i, (move, permutation) in enumerate(zip(moves, origin, strict=True))}
    backwards = zip(map(reverse, moves), np.argsort(origin, axis=1), strict=True)
    return np.array([number.get(_essence(move, permutation), -1) for move, permutation in backwards], dtype=np.int64)


def _essence(move: Move, permutation: Numbers) -> tuple[bytes, frozenset[int], frozenset[int]]:
    """What makes two moves the same."""
    return permutation.tobytes(), frozenset(move.empty), frozenset(move.occupied)


def _single_pieces(moves: Sequence[Move]) -> bool:
    """Whether each move takes one piece from one place to one empty place, no two moves the same."""
    ends = {(move.occupied, move.empty) for move in moves}
    single = all(
        len(move.cycles) == 1
        and len(move.cycles[0]) == 2
        and {*move.cycles[0]} == {*move.occupied, *move.empty}
        and len(move.empty) == 1
        for move in moves
    )
    return single and len(ends) == len(moves)
