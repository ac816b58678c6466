"""Partitions on disk: the partitions and chunks that a partition reads, and the memory for its bits."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes_tasks.bfs.on_disk import _lent_bits, disk_links
from antipodes_tasks.bfs.partition import links
from antipodes_tasks.move_tables import MoveTables

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@given(seeds, st.integers(1, 40), st.integers(1, 5), st.integers(1, 4))
def test_disk_links(rng: np.random.Generator, rows: int, chunk_rows: int, chunks_together: int) -> None:
    target = rng.integers(0, rows, (rows, 3)).astype(np.int32)
    target[np.arange(3) >= rng.integers(0, 4, rows)[:, np.newaxis]] = -1
    maps = np.zeros((1, 1), dtype=np.int32)
    tables = MoveTables(target, np.zeros((rows, 0), dtype=np.int8), maps, False)
    partition_rows = chunk_rows * chunks_together
    found = disk_links(tables, partition_rows, chunk_rows)
    expected = {(int(to) // partition_rows, row // chunk_rows) for row in range(rows) for to in target[row] if to >= 0}
    assert set(zip(*map(np.ndarray.tolist, np.nonzero(found.chunks)), strict=True)) == expected
    assert found.chunks.shape == (-(-rows // partition_rows), -(-rows // chunk_rows))
    bounds = [*range(0, rows, partition_rows), rows]
    assert found.predecessors == links(tables, bounds).predecessors


def test_bits_are_empty_even_after_a_failure_that_left_some() -> None:
    memory = threading.local()
    with _lent_bits(memory, 2, 65) as first:
        assert (first.shape, first.any()) == ((2, 2), False)
    with _lent_bits(memory, 1, 65) as again:
        assert np.shares_memory(first, again)

    def fail() -> None:
        with _lent_bits(memory, 2, 65) as bits:
            bits.fill(1)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with _lent_bits(memory, 2, 65) as bits:
        assert not bits.any()
