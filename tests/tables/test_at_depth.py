"""The positions at a depth, in batches."""

import numpy as np
import pytest

from antipodes.config import load_config
from antipodes.tables import table as at_depth
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import Table, open_table
from antipodes_tasks.errors import InputError


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """A table of several chunks."""
    store = tmp_path_factory.mktemp("tables") / "pancake-10.zarr"
    run_puzzle(load_config("pancake-10"), store, RunOptions(workers=2))
    return open_table(store)


@pytest.mark.parametrize("limit", [None, 0, 1, 99, 100, 101, 1234, 10**9])
def test_batches_are_the_positions_at_the_depth(
    table: Table, limit: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(at_depth, "BATCH", 100)
    depth = 5
    batches = list(table.batches_at(depth, limit))
    assert all(1 <= len(batch) <= 100 for batch in batches)
    assert np.array_equal(np.concatenate([table.positions_at(depth, 0), *batches]), table.positions_at(depth, limit))


def test_only_the_chunks_that_are_needed_are_read(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    with open_table(table._chunks.address) as fresh:
        chunks = fresh._chunks
        reading = chunks._read
        monkeypatch.setattr(chunks._chunks, "_read", lambda number: read.append(number) or reading(number))
        next(fresh.batches_at(6))
        assert len(read) == 1


def test_samples(table: Table) -> None:
    drawn = table.sample(6, 500, seed=3)
    assert (table.distances(drawn) == 6).all()
    assert len(np.unique(drawn, axis=0)) == 500
    assert np.array_equal(drawn, table.sample(6, 500, seed=3))
    assert len(table.sample(11, table.layers[11])) == table.layers[11]


def test_samples_are_uniform(table: Table) -> None:
    """Each of the 9 positions at depth 1 is drawn about as often."""
    rng = np.random.default_rng(7)
    drawn = np.concatenate([table.sample(1, 1, rng) for _ in range(270)])
    counts = np.unique(drawn, axis=0, return_counts=True)[1]
    assert len(counts) == 9
    assert ((counts - 30) ** 2 / 30).sum() < 30, "chi squared with 8 degrees of freedom: 1 in 5,000"


def test_no_such_depth(table: Table) -> None:
    for depth in (-1, 12):
        with pytest.raises(InputError, match="depth"):
            table.batches_at(depth)
