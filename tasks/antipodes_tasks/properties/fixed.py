"""Generation of the arrangements that a symmetry leaves unchanged, without testing all arrangements.

In such an arrangement, the label on one place determines the labels on all places of the same cycle of the symmetry. So
the arrangement is a choice of a label for each cycle of places.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.permutations.parity import cycles
from antipodes_tasks.properties.symmetry import Symmetry

BATCH_BYTES = 1 << 22
"""Approximate memory, in bytes, of a batch of arrangements in which one cycle of places is filled. Since the cycles are
filled recursively, each of them may hold a batch."""
UNLIMITED = 1 << 62
"""More arrangements than can ever be made."""
PieceCounts = NDArray[np.int16]


class Cycle(NamedTuple):
    """A cycle of places of a symmetry."""

    places: tuple[int, ...]
    contents: tuple[tuple[tuple[int, ...], PieceCounts], ...]
    """If the places hold pieces, each possible choice of labels, together with the number of pieces that it uses of
    each label of all parts."""


class _Budget:
    """The number of arrangements, complete or not, that may still be made."""

    def __init__(self, rows: int) -> None:
        self._rows = rows

    def spend(self, rows: int) -> None:
        """Count more arrangements; raise ResourceLimitError if there are too many."""
        self._rows -= rows
        if self._rows < 0:
            raise ResourceLimitError("a symmetry leaves too many arrangements unchanged")


def fixed_positions(symmetry: Symmetry, max_arrangements: int = UNLIMITED) -> Iterator[Labels]:
    """Yield all arrangements that the symmetry leaves unchanged, reachable or not, in batches ``(n, places)``.

    Raises
    ------
    ResourceLimitError
        More than ``max_arrangements`` arrangements were made, including incomplete ones.
    """
    rules = symmetry.rules
    counts = [np.array(part.counts or (), dtype=np.int16) for part in rules.parts]
    ends = np.cumsum([len(count) for count in counts])
    first_label = np.repeat(ends - [len(count) for count in counts], [part.places for part in rules.parts])
    has_piece = np.repeat([part.holds_pieces for part in rules.parts], [part.places for part in rules.parts])
    every = map(tuple, cycles(symmetry.places.tolist()))
    chosen = [
        Cycle(places, _choices(symmetry, places, first_label, int(ends[-1])) if has_piece[places[0]] else ())
        for places in sorted(every, key=lambda places: (not has_piece[places[0]], -len(places)))
    ]
    empty = np.zeros((1, rules.places), dtype=np.uint8)
    yield from _completed(symmetry, empty, np.concatenate(counts)[np.newaxis], chosen, _Budget(max_arrangements))


def _choices(
    symmetry: Symmetry, places: tuple[int, ...], first_label: Numbers, labels: int
) -> tuple[tuple[tuple[int, ...], PieceCounts], ...]:
    """Return the possible labels of the places of a cycle, one choice for each possible label of its first place."""
    found = []
    for label in range(int(symmetry.moduli[places[0]])):
        chosen = [label]
        for place in places:
            chosen.append(int(symmetry.labels[place, chosen[-1]]))
        if chosen.pop() == label:
            taken = np.bincount([int(first_label[place]) + one for place, one in zip(places, chosen, strict=True)])
            found.append((tuple(chosen), np.pad(taken, (0, labels - len(taken))).astype(np.int16)))
    return tuple(found)


def _completed(
    symmetry: Symmetry, positions: Labels, left: PieceCounts, cycles: Sequence[Cycle], budget: _Budget
) -> Iterator[Labels]:
    """Yield the positions ``(n, places)`` completed by all choices for the cycles; ``left`` counts unplaced pieces."""
    budget.spend(len(positions))
    if not cycles:
        yield positions
        return
    cycle, *rest = cycles
    choices = len(cycle.contents) or int(symmetry.moduli[cycle.places[0]])
    size = max(1, BATCH_BYTES // ((positions.itemsize * positions.shape[1] + left.itemsize * left.shape[1]) * choices))
    for begin in range(0, len(positions), size):
        batch = positions[begin : begin + size], left[begin : begin + size]
        chosen = _with_pieces(*batch, cycle) if cycle.contents else _with_values(symmetry, *batch, cycle)
        yield from _completed(symmetry, *chosen, rest, budget)


def _with_pieces(positions: Labels, left: PieceCounts, cycle: Cycle) -> tuple[Labels, PieceCounts]:
    found, still_left = [positions[:0]], [left[:0]]
    for labels, taken in cycle.contents:
        fitting = (left >= taken).all(axis=1)
        found.append(positions[fitting])
        found[-1][:, cycle.places] = labels
        still_left.append(left[fitting] - taken)
    return np.concatenate(found), np.concatenate(still_left)


def _with_values(symmetry: Symmetry, positions: Labels, left: PieceCounts, cycle: Cycle) -> tuple[Labels, PieceCounts]:
    found, still_left = [positions[:0]], [left[:0]]
    for value in range(int(symmetry.moduli[cycle.places[0]])):
        chosen = positions.copy()
        contents = np.full(len(chosen), value, dtype=np.int64)
        for place in cycle.places:
            chosen[:, place] = contents
            turned = symmetry.turns[place, chosen[:, symmetry.carriers[place]]].astype(np.int64)
            contents = (symmetry.labels[place, contents] + turned) % symmetry.moduli[place]
        same = contents == value
        found.append(chosen[same])
        still_left.append(left[same])
    return np.concatenate(found), np.concatenate(still_left)
