"""The arrays of the search."""

import numpy as np
from numpy.typing import NDArray

WORD = 64
Bitmap = NDArray[np.uint64]
"""A layer, ``(rows, words)``: column ``c`` of a row is bit ``c % 64`` of word ``c // 64``."""
Depths = NDArray[np.uint8] | NDArray[np.uint16]
"""The depth of each position, ``(rows, columns)``."""
UNREACHED = {"uint8": 255, "uint16": 65535}
"""The depth of an unreached position, by dtype: its greatest value."""


def words(width: int) -> int:
    """The number of words of a row of ``width`` columns."""
    return -(-width // WORD)


def bitmap_bytes(rows: int, width: int) -> int:
    """The bytes of the bitmap of ``rows`` rows of ``width`` columns, which no segment of them exceeds."""
    return rows * words(width) * (WORD // 8)
