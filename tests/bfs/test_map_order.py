"""A push and a pull in the order of column maps give the bits that they give in the order of rows."""

import numpy as np
import random_tables
from hypothesis import assume, given
from hypothesis import strategies as st

from antipodes_tasks.bfs import map_order
from antipodes_tasks.bfs.bitmaps import Bitmap, expand, pull, words


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_order_does_not_matter(seed: int, undirected: bool) -> None:
    rng = np.random.default_rng(seed)
    rows, width = int(rng.integers(1, 12)), int(rng.choice([1, 63, 64, 130]))
    tables = random_tables.random_tables(rng, rows, width, undirected)
    assume(tables.column_map.shape[1])  # without column maps, there is no order

    def some_rows() -> tuple[int, Bitmap]:
        first, end = sorted(rng.integers(0, rows + 1, 2).tolist())
        bits = rng.integers(0, 2**63, (end - first, words(width)), dtype=np.uint64)
        bits &= rng.integers(0, 2**63, bits.shape, dtype=np.uint64)
        bits[:, -1:] &= ~np.uint64(0) >> np.uint64(-width % 64)
        return first, bits

    (first_line, frontier), (first_row, incoming) = some_rows(), some_rows()
    lines, moves = np.arange(first_line, first_line + len(frontier), dtype=np.int32), tables[:3]
    expected, found = incoming.copy(), incoming.copy()
    expand(expected, first_row, frontier, None, lines, *moves)
    map_order.push(found, first_row, frontier, first_line, tables)
    assert np.array_equal(found, expected)
    expected, found = incoming.copy(), incoming.copy()
    pull(expected, expected, first_row, frontier, None, lines, *moves)
    map_order.pull(found, first_row, frontier, first_line, tables)
    assert np.array_equal(found, expected)
