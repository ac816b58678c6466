"""Part tables, which contain the number of each content of a part after each move; and rearrangements.

A *rearrangement* is the effect of a move on the order of the pieces on the places that the row leaves free.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import comb, factorial, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.move_tables import ILLEGAL, blocks
from antipodes_tasks.permutations.multisets import (
    ArrangementNumbering,
    number_rows,
    numbering,
    unrank_arrangement,
    unrank_arrangements,
)
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.orbit_parts import PartIndex, PiecesIndex

PartTable = NDArray[np.int32]
"""``(contents, moves)``: the number of each content after each move; ILLEGAL if the move is illegal in it."""


class Changes(NamedTuple):
    """The effect of moves on the places of a part."""

    origin: NDArray[np.uint16]
    """``(moves, places)``: the place of the part from which each place gets its label."""
    added: NDArray[np.uint8]
    """``(moves, places)``: the number that is added to the value."""
    allowed: NDArray[np.uint64]
    """``(moves, places)``: bit ``v`` is set if the place may hold ``v`` before the move; ``(0, places)`` if all
    moves are legal."""


@kernel
def _is_legal(labels: Labels, allowed: NDArray[np.uint64], move: int) -> bool:
    one = np.uint64(1)
    for place in range(allowed.shape[1]):  # noqa: SIM110  (numba has no all() over a generator)
        if (allowed[move, place] >> np.uint64(labels[place])) & one == 0:
            return False
    return True


@kernel
def fill_pieces(after: PartTable, first: int, numbering: ArrangementNumbering, changes: Changes) -> None:
    """Fill lines of a part table, beginning with the arrangement ``first``."""
    places = changes.origin.shape[1]
    labels, scratch = np.empty(places, dtype=np.uint8), np.empty(places, dtype=np.int64)
    for line in range(after.shape[0]):
        unrank_arrangement(first + line, numbering, labels, scratch)
        for move in range(after.shape[1]):
            if changes.allowed.shape[0] and not _is_legal(labels, changes.allowed, move):
                after[line, move] = ILLEGAL
                continue
            state, rank = np.uint64(0), np.int64(0)
            for place in range(places):
                label = labels[changes.origin[move, place]]
                rank += numbering.added[state, label]
                state += np.uint64(numbering.units[label])
            after[line, move] = rank


@kernel
def fill_values(after: PartTable, first: int, radix: int, total: int, changes: Changes) -> None:
    """Fill lines of a part table, beginning with the content ``first``; ``total`` is negative if any sum is allowed."""
    places = changes.origin.shape[1]
    digits = places if total < 0 else places - 1
    values = np.empty(places, dtype=np.uint8)
    for line in range(after.shape[0]):
        rest = first + line
        value_sum = np.int64(0)
        for place in range(digits - 1, -1, -1):
            values[place] = rest % radix
            value_sum += np.int64(values[place])
            rest //= radix
        if digits < places:
            values[digits] = (total - value_sum) % radix
        for move in range(after.shape[1]):
            if changes.allowed.shape[0] and not _is_legal(values, changes.allowed, move):
                after[line, move] = ILLEGAL
                continue
            rank = np.int64(0)
            for place in range(digits):
                value = np.int64(values[changes.origin[move, place]]) + np.int64(changes.added[move, place])
                rank = rank * radix + (value - radix if value >= radix else value)
            after[line, move] = rank


@kernel
def number_subsets(
    subsets: NDArray[np.int32], first: int, row: ArrangementNumbering, numbering: ArrangementNumbering
) -> None:
    """Fill in the number ``(lines,)`` of the set of free places for each arrangement, beginning with ``first``.

    ``row`` numbers the arrangements, in which the last label marks the free places. ``numbering`` numbers the sets of
    free places, as arrangements with label 1 on the free places and label 0 on the others.
    """
    places, free_label = int(row.counts.sum()), len(row.counts) - 1
    labels, scratch = np.empty(places, dtype=np.uint8), np.empty(places, dtype=np.int64)
    for line in range(len(subsets)):
        unrank_arrangement(first + line, row, labels, scratch)
        state, rank = np.int64(0), np.int64(0)
        for place in range(places):
            label = np.int64(labels[place] == free_label)
            rank += numbering.added[state, label]
            state += numbering.units[label]
        subsets[line] = rank


PartFill = Callable[[PartTable, int], None]
"""Fills lines of a part table, given the index of the content that belongs to the first line."""
NO_SUM = -1
"""Used instead of a total if values of any sum are numbered."""


def part_fill(part: PartIndex, transforms: Transforms, numbers: NDArray[np.int64]) -> PartFill:
    """Return a function that fills the table of a part for the transforms with these numbers."""
    origin = (transforms.origin[numbers, part.place_slice] - part.first).astype(np.uint16)
    conditions = transforms.conditions
    if conditions is None or not transforms.conditional[numbers, part.place_slice].any():
        masks = np.zeros((0, part.places), dtype=np.uint64)
    else:
        masks = conditions[numbers, part.place_slice].copy()
    changes = Changes(origin, transforms.added[numbers, part.place_slice].copy(), masks)
    if isinstance(part, PiecesIndex):
        return _pieces_fill(part, changes)
    total = NO_SUM if part.total is None else part.total
    return lambda after, first: fill_values(after, first, part.radix, total, changes)


def rearranged_fill(part: PartIndex, origins: NDArray[np.uint8]) -> PartFill:
    """Return a function that fills the table of the pieces on free places; moves are rearrangements ``(n, places)``."""
    assert isinstance(part, PiecesIndex)
    nothing = np.zeros(origins.shape, dtype=np.uint8)
    return _pieces_fill(part, Changes(origins.astype(np.uint16), nothing, np.zeros((0, part.places), dtype=np.uint64)))


def _pieces_fill(part: PiecesIndex, changes: Changes) -> PartFill:
    numbers = numbering(part.counts)
    return lambda after, first: fill_pieces(after, first, numbers, changes)


def filled(part: PartIndex, moves: int, fill: PartFill) -> PartTable:
    """Return the whole table of a part, ``(contents, moves)``. It is filled in blocks and can be interrupted."""
    table = np.empty((part.size, moves), dtype=np.int32)
    for first, end in blocks(part.size, (moves + 4) * part.places):
        fill(table[first:end], first)
    return table


def joined(tables: Sequence[PartTable]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the entries of all tables in one array, and where each table begins."""
    at = np.cumsum([0, *(table.size for table in tables)])[:-1]
    if len(tables) == 1:
        return tables[0].ravel(), at  # no copy
    return np.concatenate([np.zeros(0, dtype=np.int32), *(table.ravel() for table in tables)]), at


def weights(parts: Sequence[PartIndex]) -> NDArray[np.int64]:
    """Return the weight of the digit of each part."""
    return np.array([prod(part.size for part in parts[number + 1 :]) for number in range(len(parts))], dtype=np.int64)


Origins = NDArray[np.integer[Any]]
COUNTED = 1 << 20
"""Maximum number of entries, of all rearrangements together, for which a plan counts the distinct rearrangements. That
takes about 20 ms. With more entries, a plan uses an upper bound."""


class Rearrangements(NamedTuple):
    """The distinct rearrangements of the pieces on the free places; number 0 preserves their order."""

    numbers: NDArray[np.int64]
    """``(subsets, permutations)``: for each set of free places and each permutation, the index of the
    resulting rearrangement. Sets are numbered as arrangements with label 1 on the free places and 0 on the others."""
    origins: NDArray[np.uint8]
    """``(rearrangements, free)``: the index of the free place from which each free place gets its piece."""


def rearrangements(origins: Origins, free: int) -> Rearrangements:
    """Return the rearrangements of the pieces on ``free`` places by permutations ``(n, places)``.

    A permutation ``origin`` brings the piece on place ``origin[i]`` to place ``i``.
    """
    subsets = free_places(origins.shape[1], free)
    identity = np.arange(free, dtype=np.uint8)
    found = [np.tile(identity, (1, 1)), *(_rearranged(subsets, origin, free) for origin in origins)]
    numbers, firsts = number_rows(np.concatenate(found), free)
    every = np.concatenate(found)[firsts]  # in order of first occurrence, so the identity is 0
    return Rearrangements(np.ascontiguousarray(numbers[1:].reshape(len(origins), len(subsets)).T), every)


def most_rearrangements(origins: Origins, free: int) -> NDArray[np.int64]:
    """Return an upper bound ``(n,)`` on the rearrangements of ``free`` places by each permutation ``(n, places)``.

    A permutation moves runs of adjacent places together, possibly in reverse order. The numbers of free places in all
    runs determine the rearrangement.
    """
    most = min(comb(origins.shape[1], free), factorial(free))
    return np.array([min(most, _fillings(_runs(origin), free)) for origin in origins.tolist()], dtype=np.int64)


def can_be_counted(origins: Origins, free: int) -> bool:
    """Return whether `rearrangements` is quick."""
    return prod((comb(origins.shape[1], free), len(origins), free)) <= COUNTED


def free_places(places: int, free: int) -> NDArray[np.bool_]:
    """Return all sets of ``free`` places as masks ``(sets, places)``, numbered as in `Rearrangements`."""
    is_free: NDArray[np.bool_] = unrank_arrangements(np.arange(comb(places, free)), (places - free, free)) == 1
    return is_free


def _rearranged(subsets: NDArray[np.bool_], origin: NDArray[Any], free: int) -> NDArray[np.uint8]:
    """Return the rearrangement ``(subsets, free)`` of each set of free places."""
    before = (np.cumsum(subsets, axis=1) - 1).astype(np.uint8)
    moved: NDArray[np.uint8] = before[:, origin][subsets[:, origin]].reshape(len(subsets), free)
    return moved


def _runs(origin: list[int]) -> list[int]:
    """Return the lengths of the longest runs of places that stay adjacent, in the same order or in reverse order."""
    runs, direction = [1], 0
    for one, other in pairwise(origin):
        step = other - one
        if abs(step) == 1 and direction in (0, step):
            runs[-1] += 1
            direction = step
        else:
            runs.append(1)
            direction = 0
    return runs


def _fillings(runs: list[int], free: int) -> int:
    """Return the number of ways to distribute ``free`` free places among the runs."""
    ways = [1] + [0] * free
    for length in runs:
        ways = [sum(ways[max(0, total - length) : total + 1]) for total in range(free + 1)]
    return ways[free]
