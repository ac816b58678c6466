"""Sums over the entries of a layer: the positions they represent, and how many of these symmetries leave unchanged."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.bfs.bitmaps import WORD, Bitmap


class SymmetricEntries(NamedTuple):
    """The entries with a position that some symmetry other than the identity leaves unchanged."""

    order: int
    """Number of symmetries, including the identity."""
    rows: NDArray[np.int32]
    """``(n,)``: their rows, ascending."""
    columns: NDArray[np.int32]
    """``(n,)``: their columns."""
    unchanged: NDArray[np.int64]
    """``(n,)``: over all symmetries other than the identity, how many positions of the entry they leave unchanged."""

    def unchanged_in(self, bits: Bitmap, mask: Bitmap | None, first_row: int) -> int:
        """Return the sum of ``unchanged`` over the entries of a layer.

        The layer's ``bits`` ``(rows, words)`` cover the rows from ``first_row`` on. If there is a ``mask``, only bits
        that are also set in the mask belong to the layer.
        """
        bounds = np.array([first_row, first_row + len(bits)], dtype=self.rows.dtype)  # else all rows would be converted
        here = slice(*np.searchsorted(self.rows, bounds))
        row, (word, bit) = self.rows[here] - first_row, np.divmod(self.columns[here], WORD)
        found = bits[row, word]
        if mask is not None:
            found &= mask[row, word]
        inside = found >> bit.astype(np.uint64) & np.uint64(1)
        return int(self.unchanged[here] @ inside.astype(np.int64))


class LayerSums(NamedTuple):
    """Sums over the entries of a layer."""

    positions: int = 0
    unchanged: int = 0
    """Over all symmetries other than the identity, how many positions they leave unchanged."""


def total(sums: Iterable[LayerSums]) -> LayerSums:
    """Return the sums over the parts of a layer, given those over each part."""
    return LayerSums(*map(sum, zip(LayerSums(), *sums, strict=True)))


class LayerWeights(NamedTuple):
    """The weights that are summed over the entries of a layer."""

    of_rows: NDArray[np.int64] | None = None
    """``(rows of the space,)``: the number of positions that an entry of each row represents; None if it is 1."""
    symmetric: SymmetricEntries | None = None
    """The entries by which symmetry classes are counted; None if they are not counted."""

    def of_part(self, first_row: int, end_row: int) -> "LayerWeights":
        """Return the weights for a part of the rows, with only the symmetric entries of this part."""
        if self.symmetric is None:
            return self
        order, rows, columns, unchanged = self.symmetric
        here = slice(*np.searchsorted(rows, np.array([first_row, end_row], dtype=rows.dtype)))
        return self._replace(symmetric=SymmetricEntries(order, rows[here], columns[here], unchanged[here]))

    @property
    def all_one(self) -> bool:
        """Whether the number of entries is all that is needed."""
        return self.of_rows is None and self.symmetric is None

    def unchanged_in(self, bits: Bitmap, mask: Bitmap | None, first_row: int) -> int:
        """Return `SymmetricEntries.unchanged_in`; 0 if symmetry classes are not counted."""
        return self.symmetric.unchanged_in(bits, mask, first_row) if self.symmetric else 0

    def classes(self, sums: LayerSums, depth: int) -> int | None:
        """Return the number of symmetry classes of a layer with these sums, or None if they are not counted.

        It is the mean number of positions that a symmetry leaves unchanged (Burnside's lemma). Raises StoreDamagedError
        if the layer is less symmetric than the puzzle.
        """
        if self.symmetric is None:
            return None
        classes, rest = divmod(sums.positions + sums.unchanged, self.symmetric.order)
        if rest:
            raise StoreDamagedError(f"the layer at depth {depth} is corrupt: it is less symmetric than the puzzle")
        return classes


NO_WEIGHTS = LayerWeights()
"""The weights of a search that only counts entries."""
