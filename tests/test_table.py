import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from brute_force import sliding_distances

from antipodes.config import load_config
from antipodes.errors import InputError, NotAStoreError, PositionError, UnreachableError
from antipodes.plan import plan_run
from antipodes.run import RunOptions, run_puzzle
from antipodes.store import TableStore
from antipodes.table import UNKNOWN, UNREACHABLE, UnfinishedError, open_table

FAR = "8 6 7 2 5 4 3 0 1"
ODD = "2 1 3 / 4 5 6 / 7 8 0"


def test_what_it_says_of_itself(finished: Path) -> None:
    with open_table(finished) as table:
        assert (len(table), table.radius, table.index_size, table.complete) == (181440, 31, 362880, True)
        assert table.layers[-1] == 2
        assert sum(table.layers) == 181440
        assert repr(table) == f"open_table({str(finished)!r})"


def test_one_position(finished: Path) -> None:
    with open_table(finished) as table:
        assert table.distance(FAR) == 31
        assert table.distance("123456780") == 0
        assert table.distance(table.labels(FAR)) == 31
        assert table.get_distance(ODD) is None
        assert table.get_distance(ODD, 99) == 99
        with pytest.raises(UnreachableError, match="2 1 3 4 5 6 7 8 0"):
            table.distance(ODD)
        for method in (table.distance, table.get_distance, table.path):
            with pytest.raises(PositionError):
                method("1 2 3")


def test_all_positions_by_brute_force(finished: Path) -> None:
    expected = sliding_distances({"columns": 3, "start": "1 2 3 4 5 6 7 8 0"})
    with open_table(finished) as table:
        labels = np.array([[int(symbol) for symbol in position] for position in expected], dtype=np.uint8)
        assert table.distances(labels).tolist() == list(expected.values())
        every = table.distances_by_index(np.arange(table.index_size))
        assert (every == UNREACHABLE).sum() == 181440


@pytest.mark.parametrize("cache_bytes", [0, 1, 300_000])
def test_a_small_cache_changes_nothing(cache_bytes: int, finished: Path) -> None:
    rng = np.random.default_rng(3)
    with open_table(finished) as table, open_table(finished, cache_bytes) as small:
        indices = rng.integers(0, table.index_size, 1000)
        assert np.array_equal(table.distances_by_index(indices), small.distances_by_index(indices))


def test_no_positions_at_all(finished: Path) -> None:
    with open_table(finished) as table:
        assert table.distances(np.zeros((0, 9), dtype=np.uint8)).tolist() == []
        assert table.distances_by_index(np.zeros(0, dtype=np.int64)).tolist() == []


@pytest.mark.parametrize("index", [-1, 362880])
def test_no_index(index: int, finished: Path) -> None:
    with open_table(finished) as table, pytest.raises(InputError, match="from 0 to 362879"):
        table.distances_by_index(np.array([0, index]))


@pytest.mark.parametrize("position", [FAR, "123456780", "123456708", "647850321"])
def test_paths(position: str, finished: Path) -> None:
    with open_table(finished) as table:
        way = table.path(position)
        assert table.distances(way).tolist() == list(range(table.distance(position), -1, -1))
        for here, there in pairwise(way):
            assert (table.puzzle.successors(here) == there).all(axis=1).any()
        with pytest.raises(UnreachableError):
            table.path(ODD)


def test_antipodes(finished: Path) -> None:
    with open_table(finished) as table:
        assert [table.puzzle.format(one) for one in table.antipodes(1)] in (["6 4 7 8 5 0 3 2 1"], [FAR])
        assert sorted(table.puzzle.format(one) for one in table.antipodes()) == ["6 4 7 8 5 0 3 2 1", FAR]


def test_positions_at_a_depth(finished: Path) -> None:
    with open_table(finished) as table:
        for depth, count in enumerate(table.layers[:12]):
            found = table.positions_at(depth)
            assert len(found) == count
            assert (table.distances(found) == depth).all()
        assert len(table.positions_at(20, 7)) == 7
        assert len(table.positions_at(20, 0)) == 0
        for depth in (-1, 32):
            with pytest.raises(InputError, match="expected a depth from 0 to 31"):
                table.positions_at(depth)


def test_random_positions(finished: Path) -> None:
    rng = np.random.default_rng(4)
    with open_table(finished) as table:
        for depth in (0, 7, 31):
            assert table.distance(table.random_position(depth, rng)) == depth
        drawn = [table.distance(table.random_position(rng=rng)) for _ in range(60)]
        expected = float(np.average(range(32), weights=table.layers))
        assert abs(np.mean(drawn) - expected) < 2
        assert len({tuple(table.random_position(3, rng).tolist()) for _ in range(100)}) == 8


def test_an_unfinished_table(unfinished: Path, finished: Path) -> None:
    with open_table(unfinished) as table, open_table(finished) as whole:
        assert (table.complete, table.radius, len(table.layers)) == (False, 10, 11)
        every = np.arange(table.index_size)
        known = whole.distances_by_index(every)
        expected = np.where((known >= 0) & (known <= 10), known, UNKNOWN)
        assert np.array_equal(table.distances_by_index(every), expected)
        for position in (FAR, ODD):
            with pytest.raises(UnfinishedError, match="antipodes resume"):
                table.distance(position)
            with pytest.raises(UnfinishedError):
                table.get_distance(position)
        with pytest.raises(UnfinishedError):
            table.antipodes()
        assert len(table.path(table.positions_at(10)[0])) == 11


def test_nothing_committed(tmp_path: Path) -> None:
    config = load_config("eight-puzzle")
    TableStore(tmp_path / "t.zarr").create(config, plan_run(config.puzzle))
    with open_table(tmp_path / "t.zarr") as table, pytest.raises(UnfinishedError):
        table.distance("123456780")


def test_no_table(tmp_path: Path) -> None:
    with pytest.raises(NotAStoreError):
        open_table(tmp_path)


@pytest.mark.slow
def test_a_million_distances(tmp_path: Path) -> None:
    run_puzzle(load_config("three-colours"), tmp_path / "t.zarr", RunOptions(workers=2))
    with open_table(tmp_path / "t.zarr") as table:
        labels = table._index.unrank(np.random.default_rng(5).integers(0, table.index_size, 1_000_000))
        begin = time.perf_counter()
        distances = table.distances(labels)
        assert time.perf_counter() - begin < 2
    assert distances.min() >= 0
    assert distances.max() == 57
