"""A table as Python's users expect it: a mapping, arrays, samples, and clear errors for what is no position."""

import shutil
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
import xarray
import zarr
from stores import contents

from antipodes.config import load_config
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import Table, open_table
from antipodes_tasks.errors import ClosedError, InputError, UnfinishedError, UnreachableError

FAR = "8 6 7 2 5 4 3 0 1"
FAR_LABELS = [8, 6, 7, 2, 5, 4, 3, 0, 1]
ODD = "2 1 3 / 4 5 6 / 7 8 0"
NO_POSITIONS: list[Any] = [
    *(None, 5, 1.5, b"123456780", {}, frozenset(), range(8), "", "1 2 3", "1 2 3 4 5 6 7 8 9"),
    *([], [1, 2, 3], [0.5] * 9, ["a"] * 9, [True] * 9, [1] * 9, [10**30] * 9),
    *([-1, 1, 2, 3, 4, 5, 6, 7, 8], [300, 1, 2, 3, 4, 5, 6, 7, 8], np.eye(9), np.zeros(9)),
]


@pytest.fixture
def table(finished: Path) -> Table:
    return open_table(finished)


@pytest.mark.parametrize(
    "position", [FAR, FAR_LABELS, tuple(FAR_LABELS), np.array(FAR_LABELS), np.array(FAR_LABELS, dtype=np.uint8)]
)
def test_a_position_in_any_form(table: Table, position: Any) -> None:
    assert table[position] == table.distance(position) == 31
    assert type(table[position]) is int
    assert position in table


def test_what_cannot_be_reached_is_not_in_it(table: Table) -> None:
    assert ODD not in table
    with pytest.raises(KeyError, match="2 1 3 4 5 6 7 8 0 is unreachable") as raised:
        table[ODD]
    assert isinstance(raised.value, UnreachableError)
    assert str(raised.value) == "2 1 3 4 5 6 7 8 0 is unreachable"
    assert table.get_distance(ODD, default=-1) == -1


@pytest.mark.parametrize("wrong", NO_POSITIONS, ids=repr)
@pytest.mark.parametrize("ask", ["distance", "get_distance", "path", "__getitem__", "__contains__"])
def test_what_is_no_position(table: Table, ask: str, wrong: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="expected") as raised:
        getattr(table, ask)(wrong)
    assert isinstance(raised.value, InputError)
    assert len(str(raised.value)) < 200


def test_it_is_no_sequence(table: Table) -> None:
    with pytest.raises(TypeError, match="not iterable"):
        iter(table)  # type: ignore[call-overload]


def test_an_unfinished_table_does_not_guess(unfinished: Path) -> None:
    table = open_table(unfinished)
    assert "123456708" in table
    assert ODD not in table
    for ask in (lambda: FAR in table, lambda: table[FAR], lambda: table.depths, table.to_xarray):
        with pytest.raises(UnfinishedError, match="antipodes resume"):
            ask()
    assert "radius 10 so far, unfinished" in repr(table)


def test_single_and_many_distances_agree(table: Table) -> None:
    labels = np.random.default_rng(5).permuted(np.tile(np.arange(9, dtype=np.uint8), (300, 1)), axis=1)
    assert [table.get_distance(one) for one in labels] == table.get_distances(labels)
    assert [table.get_distance(table.puzzle.format(one)) for one in labels] == table.get_distances(labels)


def test_many_positions_of_many_chunks(tmp_path: Path) -> None:
    run_puzzle(load_config("three-colours"), tmp_path / "t.zarr", RunOptions(workers=2))
    with open_table(tmp_path / "t.zarr") as table:
        indices = np.random.default_rng(5).integers(0, table.index_size, 50_000)
        distances = table.distances(table.space.unrank(indices))
        assert np.array_equal(distances, table.depths[:].ravel()[indices])
        assert [table.distance(one) for one in table.space.unrank(indices[:50])] == distances[:50].tolist()


def test_the_array_of_depths(table: Table) -> None:
    depths = table.depths
    assert (depths.shape, depths.dtype, depths.read_only) == ((504, 360), np.uint8, True)
    assert np.bincount(depths[:].ravel()).tolist() == table.layers


def test_xarray(table: Table) -> None:
    depths = table.to_xarray()
    assert (depths.name, depths.dims, depths.shape) == ("depth", ("index",), (181440,))
    assert depths.attrs == {"puzzle": "eight-puzzle", "radius": 31, "unreached": 255}
    assert depths.chunks is not None, "read when it is needed"
    indices = table.space.rank(table.antipodes())
    assert depths.sel(index=indices).values.tolist() == [31, 31]
    assert depths.index[(depths == 31).compute()].values.tolist() == indices.tolist()


@pytest.mark.filterwarnings("error")
def test_a_store_opens_in_xarray_and_zarr_without_a_warning(eight: Path, unfinished: Path) -> None:
    dataset = xarray.open_zarr(eight)
    assert dict(dataset.sizes) == {"row": 504, "column": 360, "chunk": 2, "layer": 32}
    assert (sorted(dataset.data_vars), sorted(dataset.coords)) == (["depth", "layer_counts"], [])
    with dask.config.set(scheduler="threads"):
        counts = [int((dataset.depth == depth).sum()) for depth in (0, 30, 31)]
    assert counts == dataset.layer_counts.sum("chunk").values[[0, 30, 31]].tolist() == [1, 221, 2]
    assert sorted(name for name, _ in zarr.open_group(eight, mode="r").arrays()) == ["depth", "layer_counts"]
    assert not xarray.open_zarr(unfinished).variables, "nothing is finished"


def test_the_group_of_a_run_that_died_before_its_last_commit(unfinished: Path, tmp_path: Path) -> None:
    """It lists arrays that are not finished: a reader of the table takes no notice, and the next run ends that."""
    finished = tmp_path / "finished.zarr"
    run_puzzle(load_config("eight-puzzle"), finished)
    shutil.copy(finished / "zarr.json", unfinished)
    with open_table(unfinished) as table:
        assert table.radius == 10
    asked = iter(range(3))
    run_puzzle(load_config("eight-puzzle"), unfinished, interrupted=lambda: next(asked) >= 1)
    assert not xarray.open_zarr(unfinished).variables
    run_puzzle(load_config("eight-puzzle"), unfinished)
    assert contents(unfinished) == contents(finished)


def test_without_xarray(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(InputError, match=r"pip install '\.\[xarray\]'"):
        table.to_xarray()


def test_samples(table: Table) -> None:
    drawn = table.sample(20, 500, seed=3)
    assert drawn.shape == (500, 9)
    assert set(table.distances(drawn).tolist()) == {20}
    assert len({one.tobytes() for one in drawn}) == 500
    assert np.array_equal(drawn, table.sample(20, 500, seed=3))
    assert np.array_equal(drawn, table.sample(20, 500, np.random.default_rng(3)))
    assert not np.array_equal(drawn, table.sample(20, 500, seed=4))
    assert not np.array_equal(table.sample(20, 500), table.sample(20, 500))
    whole = table.sample(31, 2)
    assert sorted(whole.tolist()) == sorted(table.antipodes().tolist())
    assert table.sample(31, 0).shape == (0, 9)


def test_samples_are_uniform(table: Table) -> None:
    rng = np.random.default_rng(0)
    drawn = table.space.rank(np.concatenate([table.sample(4, 4, rng) for _ in range(500)]))
    counts = np.unique(drawn, return_counts=True)[1]
    assert len(counts) == table.layers[4] == 16
    assert counts.min() > 80, "125 are expected of each; less than 80 is five standard deviations away"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((32, 1), "a depth from 0 to 31"),
        ((31, 3), "positions at depth 31 from 0 to 2, found 3"),
        ((31, -1), "from 0 to 2"),
        ((31, 1.0), "as an integer"),
        ((31, 1, -1), "a seed of at least 0"),
        ((31, 1, "x"), "a seed as an integer"),
    ],
)
def test_no_sample(table: Table, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        table.sample(*arguments)


def test_threads_ask_for_single_positions_with_a_tiny_cache(finished: Path) -> None:
    labels = np.random.default_rng(6).permuted(np.tile(np.arange(9, dtype=np.uint8), (200, 1)), axis=1)
    with open_table(finished) as alone, open_table(finished, 1) as shared:
        expected = alone.get_distances(labels)
        barrier = threading.Barrier(8)

        def ask(thread: int) -> list[int | None]:
            barrier.wait()
            return [shared.get_distance(one) for one in labels]

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(ask, range(8))) == [expected] * 8


def test_closed(table: Table) -> None:
    table.close()
    asked: list[Callable[[], object]] = [lambda: table[FAR], lambda: FAR in table, lambda: table.sample(5, 1)]
    for ask in asked:
        with pytest.raises(ClosedError):
            ask()
    assert "eight-puzzle" in repr(table)
