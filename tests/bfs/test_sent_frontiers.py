"""Frontiers that are sent to another process: sparse ones are encoded as in the journal."""

import pickle

import numpy as np
import pytest

from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.bfs.bitmaps import Bitmap
from antipodes_tasks.bfs.partition import Frontier
from antipodes_tasks.bfs.segments import decode_sparse, encode_sparse

ROWS = np.arange(7, 407, dtype=np.int32)


def bits_of(share: float) -> Bitmap:
    """A bitmap of 25,600 bytes, in which this share of all bits is set."""
    flags = np.random.default_rng(0).random((len(ROWS), 8, 64)) < share
    bits: Bitmap = (flags * (np.uint64(1) << np.arange(64, dtype=np.uint64))).sum(axis=2, dtype=np.uint64)
    return bits


@pytest.mark.parametrize(("share", "smaller"), [(0.0, 100), (0.001, 50), (0.05, 2), (0.5, 1), (1.0, 1)])
def test_a_frontier_on_its_way_to_another_process(share: float, smaller: float) -> None:
    bits = bits_of(share)
    count = int(np.bitwise_count(bits).sum())
    sent = pickle.dumps(Frontier(3, ROWS, bits, count, 9), protocol=5)
    received = pickle.loads(sent)
    assert np.array_equal(received.rows, ROWS)
    assert np.array_equal(received.layer, bits)
    assert (received.number, received.count, received.unvisited) == (3, count, 9)
    assert len(sent) < ROWS.nbytes + bits.nbytes / smaller + 1000


def test_only_positions_in_the_mask_are_sent() -> None:
    mask = bits_of(0.01)
    received = pickle.loads(pickle.dumps(Frontier(0, ROWS, bits_of(1), 1, 1, mask=mask)))
    assert np.array_equal(received.layer, mask)
    assert received.mask is None


def test_malformed_positions_are_refused() -> None:
    sent = encode_sparse(bits_of(0.01))
    assert sent is not None
    with pytest.raises(StoreDamagedError):
        decode_sparse(sent._replace(data=sent.data[:-1]), (len(ROWS), 8))
