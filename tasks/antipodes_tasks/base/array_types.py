"""Names of the array types that many packages use."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
"""Indices, ranks, counts and other integers."""
Words = NDArray[np.uint64]
"""Words of 64 bits, such as bitmaps and keys."""
Bytes = NDArray[np.uint8]
Labels = NDArray[np.uint8]
"""Positions as arrays ``(..., places)``: the label on each place."""
Mask = NDArray[np.bool_]
