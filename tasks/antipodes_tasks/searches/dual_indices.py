"""The indices of inverse positions in the views of a table, for kernels.

The inverse of a position is as far from the goal as the position itself, so its bounds are bounds of the position, too:
a *dual look-up* (A. Felner, U. Zahavi, J. Schaeffer and R. C. Holte, Dual lookups in pattern databases, 2005). A search
cannot follow the index of the inverse from move to move, because a move changes it differently depending on the whole
position. So it is computed from the labels of the position.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.keys.position_set import Words
from antipodes_tasks.permutations.arrangements import MAX_STATES, rank_tables
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.block_path import ONE, ZERO
from antipodes_tasks.searches.move_sequences import Inverses
from antipodes_tasks.searches.permutation_views import TableLookup
from antipodes_tasks.spaces.orbit_parts import PartIndex, PiecesIndex
from antipodes_tasks.spaces.orbits import Orbits

FIRST, END, RANKED, KINDS = np.arange(4, dtype=np.uint64)
"""Columns of ``digits``: the first place of a digit's part in the pattern, one past the last; where its rank table
begins in ``added``, or NO_RANK for values; and the number of different labels."""
NO_RANK = ~ZERO


class DualIndices(NamedTuple):
    """How the digits of an inverse position follow from the labels of a position."""

    goal: NDArray[np.int64]
    """``(places,)``: the goal of the puzzle."""
    pieces: NDArray[np.bool_]
    """``(places,)``: whether a place holds a piece, not a value."""
    carriers: NDArray[np.uint8]
    """``(places,)``: see `Inverses.carriers`."""
    homes: NDArray[np.uint8]
    """``(places, labels)``: the place in the inverse position that gets its label from this place, by the label of the
    carrier."""
    moduli: NDArray[np.int64]
    """``(places,)``: the number of values of each place."""
    sources: NDArray[np.uint8]
    """``(views, places of the pattern, 2)``: the place of the puzzle whose label decides, and its carrier."""
    shown: NDArray[np.uint32]
    """``(views, places of the pattern, labels, labels)``: the label in the pattern, by the labels of the carrier and of
    the place. For values, it is multiplied by the weight of the place in the digit."""
    digits: Words
    """``(digits, 4)``: see `FIRST`."""
    added: NDArray[np.int64]
    """Rank tables of the parts that hold pieces, see `rank_tables`."""
    units: NDArray[np.int64]
    """``(digits, labels)``: the change of the state by each label, see `rank_tables`."""

    @classmethod
    def of(cls, inverses: Inverses, views: Sequence[TableLookup]) -> "DualIndices | None":
        """Return the arrays for some views of one table.

        Returns None if the pattern consists of points, or if the rank of a part does not follow from counts of labels.
        """
        numbering, rules = views[0].table.numbering, views[0].table.rules
        if not isinstance(numbering, Orbits) or views[0].table.abstraction.label_of.shape[2] > 1:
            return None
        parts = [part for part in numbering.parts if part.size > 1]
        if not all(_is_counted(part) for part in parts):
            return None
        weights = np.zeros(rules.places, dtype=np.int64)
        labels = max(inverses.home.shape[1], *(len(part.symbols) for part in rules.parts))
        digits, added, units = (
            list[list[int]](),
            [np.empty(0, dtype=np.int64)],
            np.zeros((len(parts), labels), np.int64),
        )
        for number, part in enumerate(parts):
            at, ranked, kinds = part.place_slice, int(NO_RANK), 0
            if isinstance(part, PiecesIndex):
                table, unit = rank_tables(part.counts)
                ranked, kinds = sum(map(len, added)), len(part.counts)
                added.append(table.ravel())
                units[number, :kinds], weights[at] = unit, 1
            else:
                each = part.radix ** np.arange(part.free_places)[::-1]
                weights[at.start : at.start + part.free_places] = each
            digits.append([at.start, at.stop, ranked, kinds])
        shown = [_shown(view, labels) for view in views]
        places = np.arange(len(inverses.goal))
        homes = inverses.home[inverses.carriers] + (places - inverses.carriers)[:, np.newaxis]
        return cls(
            goal=inverses.goal.astype(np.int64),
            pieces=inverses.pieces,
            carriers=inverses.carriers.astype(np.uint8),
            homes=homes.astype(np.uint8),
            moduli=inverses.moduli,
            sources=np.array([sources for sources, _ in shown], dtype=np.uint8),
            shown=np.array([of * weights[:, np.newaxis, np.newaxis] for _, of in shown], dtype=np.uint32),
            digits=np.array(digits, dtype=np.uint64),
            added=np.concatenate(added),
            units=units,
        )


def _is_counted(part: PartIndex) -> bool:
    """Return whether the rank of a part follows from its values, or from counts of labels in a small table."""
    if not isinstance(part, PiecesIndex):
        return True
    return part.parity is None and prod(count + 1 for count in part.counts) <= MAX_STATES


def _shown(view: TableLookup, labels: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the arrays ``sources`` and ``shown`` of a view, the latter without weights."""
    abstraction, symmetry = view.table.abstraction, view.symmetry
    source, carrier, become = _before(symmetry, abstraction.places, labels)
    become = np.minimum(become, abstraction.label_of.shape[1] - 1)
    shown = abstraction.label_of[np.arange(len(source))[:, np.newaxis, np.newaxis], become, 0]
    return np.stack((source, carrier), axis=1), shown.astype(np.int64)


def _before(
    symmetry: Symmetry | None, places: NDArray[np.int64], labels: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the places from which a symmetry takes labels to some places, and the carriers of their labels.

    Also return the new labels, ``(places, labels of the carrier, labels)``.
    """
    if symmetry is None:
        return places, places, np.broadcast_to(np.arange(labels), (len(places), labels, labels))
    source = np.argsort(symmetry.places)[places]
    known = np.minimum(np.arange(labels), symmetry.labels.shape[1] - 1)
    become = symmetry.labels[source[:, np.newaxis], known].astype(np.int64)
    turned = symmetry.turns[source[:, np.newaxis], known].astype(np.int64)
    moduli = symmetry.moduli[source][:, np.newaxis, np.newaxis]
    return source, symmetry.carriers[source], (become[:, np.newaxis] + turned[:, :, np.newaxis]) % moduli


@kernel
def write_inverse(labels: Labels, inverse: Labels, dual: DualIndices) -> None:
    """Write the inverse of a position ``(places,)``."""
    for i in range(np.uint64(len(labels))):
        home = np.uint64(dual.homes[i, np.uint64(labels[np.uint64(dual.carriers[i])])])
        label = dual.goal[i]
        if not dual.pieces[i]:
            label += dual.goal[home] - np.int64(labels[i])
            label += dual.moduli[i] if label < 0 else 0
            label -= dual.moduli[i] if label >= dual.moduli[i] else 0
        inverse[home] = np.uint8(label)


@kernel
def write_digits(
    inverse: Labels, view: np.uint64, digits: NDArray[np.uint16 | np.uint32], k: np.uint64, dual: DualIndices
) -> None:
    """Write the digits of the index of an inverse position in a view to row ``k`` of ``digits``."""
    for d in range(np.uint64(len(dual.digits))):
        first, end = dual.digits[d, FIRST], dual.digits[d, END]
        ranked, kinds = dual.digits[d, RANKED], dual.digits[d, KINDS]
        index, state = np.int64(0), np.int64(0)
        for q in range(first, end):
            piece = np.uint64(inverse[np.uint64(dual.sources[view, q, ONE])])
            label = np.int64(dual.shown[view, q, piece, np.uint64(inverse[np.uint64(dual.sources[view, q, ZERO])])])
            if ranked == NO_RANK:
                index += label
            else:
                index += dual.added[ranked + np.uint64(state) * kinds + np.uint64(label)]
                state += dual.units[d, np.uint64(label)]
        digits[k, d] = index
