"""The moves of a puzzle as arrays, for the kernels of the searches."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.move import Labels, Move, Moves, Pairs, Swaps

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
    return _swap_steps(moves.pairs, places) if isinstance(moves, Swaps) else _any_steps(moves, places)


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


def _any_steps(moves: Sequence[Move], places: int) -> Steps:
    ordered = sorted(moves, key=lambda move: move.empty[0] if move.empty else places)
    firsts = [move.empty[0] if move.empty else places for move in ordered]
    origin = np.array([move.origin(places) for move in ordered], dtype=np.int64).reshape(-1, places)
    swap_at, swaps = _lists([[pair for cycle in move.cycles for pair in swaps_of(cycle)] for move in ordered])
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
        inverse=_inverse(ordered, origin),
        origin=origin,
        ambiguous=not _single_pieces(ordered),
    )


def reversed_moves(moves: Moves) -> Moves:
    """The moves that undo the moves, each legal exactly in the positions that its move leads to."""
    return Swaps(moves.pairs[:, ::-1]) if isinstance(moves, Swaps) else tuple(map(_reverse, moves))


def replay(labels: Labels, move: int, steps: Steps) -> Labels:
    """The position after a move."""
    after = labels.copy()
    for a, b in steps.swaps[steps.swap_at[move] : steps.swap_at[move + 1]].tolist():
        after[[a, b]] = after[[b, a]]
    return after


def _reverse(move: Move) -> Move:
    """The move that undoes a move, legal exactly in the positions that the move leads to."""
    goes_to = {cycle[i - 1]: cycle[i] for cycle in move.cycles for i in range(len(cycle))}
    return Move(
        move.inverse().cycles,
        empty=tuple(goes_to.get(place, place) for place in move.empty),
        occupied=tuple(goes_to.get(place, place) for place in move.occupied),
    )


def swaps_of(cycle: tuple[int, ...]) -> list[tuple[int, int]]:
    """The swaps of two places, one after another, that make a cycle."""
    return [(cycle[i], cycle[i + 1]) for i in range(len(cycle) - 2, -1, -1)]


def _lists(lists: Sequence[Sequence[object]]) -> tuple[Numbers, Numbers]:
    ends = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return ends, np.array([entry for entries in lists for entry in entries], dtype=np.int64)


def _inverse(moves: Sequence[Move], origin: Numbers) -> Numbers:
    number = {_essence(move, permutation): i for i, (move, permutation) in enumerate(zip(moves, origin, strict=True))}
    backwards = zip(map(_reverse, moves), np.argsort(origin, axis=1), strict=True)
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
