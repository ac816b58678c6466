"""A table: distances, paths, antipodes, and positions at a depth."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from brute_force import sliding_distances
from stores import set_depth

from antipodes.config import Config, load_config
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.solve import solve_by_table
from antipodes.tables.store.stores import TableStore
from antipodes.tables.table import UNKNOWN, UNREACHABLE, Table, open_table
from antipodes_tasks.errors import (
    ClosedError,
    InputError,
    NotAStoreError,
    PositionError,
    StoreDamagedError,
    StoreError,
    UnfinishedError,
    UnreachableError,
)
from antipodes_tasks.searches.problem import Problem

FAR = "8 6 7 2 5 4 3 0 1"
ODD = "2 1 3 / 4 5 6 / 7 8 0"


def test_attributes(finished: Path) -> None:
    with open_table(finished) as table:
        assert (len(table), table.radius, table.index_size, table.complete) == (181440, 31, 181440, True)
        assert table.layers[-1] == 2
        assert sum(table.layers) == 181440
        table.layers.clear()
        assert len(table.layers) == 32
        assert repr(table).startswith("<Table of eight-puzzle: 181,440 positions, radius 31, in ")
        assert repr(table).endswith("/eight-puzzle.zarr>")


def test_one_position(finished: Path) -> None:
    with open_table(finished) as table:
        assert table.distance(FAR) == 31
        assert table.distance("123456780") == 0
        assert table.distance(table.space.labels(FAR)) == 31
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
        assert np.bincount(every).tolist() == table.layers
        assert table.distances(labels[:, [1, 0, 2, 3, 4, 5, 6, 7, 8]][labels[:, :2].all(axis=1)]).max() == UNREACHABLE


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


@pytest.mark.parametrize("index", [-1, 181440])
def test_no_index(index: int, finished: Path) -> None:
    with open_table(finished) as table, pytest.raises(InputError, match="from 0 to 181439"):
        table.distances_by_index(np.array([0, index]))


@pytest.mark.parametrize("position", [FAR, "123456780", "123456708", "647850321"])
def test_paths(position: str, finished: Path) -> None:
    with open_table(finished) as table:
        path = table.path(position)
        assert table.distances(path).tolist() == list(range(table.distance(position), -1, -1))
        for here, there in pairwise(path):
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
        with pytest.raises(UnfinishedError, match="antipodes resume"):
            table.distance(FAR)
        with pytest.raises(UnfinishedError):
            table.get_distance(FAR)
        with pytest.raises(UnreachableError, match="2 1 3 4 5 6 7 8 0 is unreachable"):
            table.distance(ODD)
        assert table.get_distances(table.puzzle.parse_many([ODD, "123456708"])) == [None, 1]
        with pytest.raises(UnfinishedError):
            table.antipodes()
        assert len(table.path(table.positions_at(10)[0])) == 11


def test_messages_cut_positions_of_large_boards(tmp_path: Path) -> None:
    squares = "A" + "-" * 299
    config = Config({"name": "every-other", "family": "jump", "start": squares, "offsets": [[0, 2], [0, -2]]})
    TableStore(tmp_path / "t.zarr").create(config, plan_run(config.puzzle).cut)
    with open_table(tmp_path / "t.zarr") as table, pytest.raises(UnfinishedError) as unfinished:
        table.distance(squares)
    run_puzzle(config, tmp_path / "t.zarr", RunOptions(workers=1))
    with open_table(tmp_path / "t.zarr") as table, pytest.raises(UnreachableError) as unreachable:
        table.distance(squares[::-1])
    for raised in (unfinished, unreachable):
        assert "-" * 50 + "…" in str(raised.value)


def test_nothing_committed(tmp_path: Path) -> None:
    config = load_config("eight-puzzle")
    TableStore(tmp_path / "t.zarr").create(config, plan_run(config.puzzle).cut)
    with open_table(tmp_path / "t.zarr") as table, pytest.raises(UnfinishedError):
        table.distance("123456780")


def test_no_table(tmp_path: Path) -> None:
    with pytest.raises(NotAStoreError):
        open_table(tmp_path)


def in_threads(work: Callable[[int], object], threads: int = 8) -> list[object]:
    """The results of threads that start at the same time."""
    barrier = threading.Barrier(threads)

    def run(seed: int) -> object:
        barrier.wait()
        return work(seed)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


@pytest.fixture
def in_many_chunks(tmp_path: Path) -> Path:
    """The table of the eight-puzzle in 18 chunks."""
    config = load_config("eight-puzzle")
    plan = plan_run(config.puzzle)
    store = TableStore(tmp_path / "many.zarr")
    store.create(config, (plan.space, -(-plan.space.rows // 18)))
    run_puzzle(config, tmp_path / "many.zarr", RunOptions(workers=1))
    return tmp_path / "many.zarr"


def queries(table: Table, seed: int) -> list[object]:
    rng = np.random.default_rng(seed)
    answers: list[object] = []
    for _ in range(5):
        answers.append(table.distances_by_index(rng.integers(0, table.index_size, 500)).tolist())
        answers.append(table.path(table.random_position(9, rng)).tolist())
        answers.append(table.positions_at(int(rng.integers(32)), 5).tolist())
    return answers


def test_threads_share_a_table_with_a_tiny_cache(in_many_chunks: Path) -> None:
    with open_table(in_many_chunks) as alone, open_table(in_many_chunks, 1) as shared:
        assert len(TableStore(in_many_chunks).read().chunks) > 10
        expected = [queries(alone, seed) for seed in range(8)]
        assert in_threads(lambda seed: queries(shared, seed)) == expected


def test_a_table_that_is_closed_while_threads_read_it(finished: Path) -> None:
    table = open_table(finished, 0)

    def read_until_closed(seed: int) -> bool:
        rng = np.random.default_rng(seed)
        if seed == 0:
            table.close()
        try:
            while True:
                table.distances_by_index(rng.integers(0, table.index_size, 10))
        except ClosedError as error:
            return "was closed: open it again" in str(error)

    assert all(in_threads(read_until_closed))
    table.close()
    assert (table.radius, len(table)) == (31, 181440)
    for query in (lambda: table.distance(FAR), table.antipodes, lambda: table.path(FAR)):
        with pytest.raises(ClosedError):
            query()


def test_a_store_that_is_replaced_while_threads_read_it(in_many_chunks: Path, tmp_path: Path) -> None:
    """Each distance is that of the opened table, or an error says that the table was replaced."""
    other = replace(load_config("eight-puzzle"), settings={**load_config("eight-puzzle").settings, "start": FAR})
    run_puzzle(other, tmp_path / "other.zarr", RunOptions(workers=1))
    with open_table(in_many_chunks, 1) as table:
        every = np.arange(table.index_size)
        expected = table.distances_by_index(every)
        replaced = threading.Event()

        def read(seed: int) -> bool:
            rng = np.random.default_rng(seed)
            if seed == 0:
                in_many_chunks.rename(tmp_path / "old.zarr")
                (tmp_path / "other.zarr").rename(in_many_chunks)
                replaced.set()
            while True:
                last = replaced.is_set()
                indices = rng.integers(0, table.index_size, 500)
                try:
                    assert np.array_equal(table.distances_by_index(indices), expected[indices])
                except StoreError:
                    return True
                assert not last, "the replacement was not noticed"

        assert all(in_threads(read))


def test_a_path_that_breaks_off_names_the_damaged_chunk(eight: Path) -> None:
    with open_table(eight) as table:
        here = table.positions_at(12, 1)[0]
        before = table.puzzle.predecessors(here)
        indices = table.space.rank(before[table.distances(before) == 11])
        start = table.space.rank([table.space.labels("123456780")])[0]
    for index in indices:
        set_depth(eight, int(index), lambda _: 13)
    with open_table(eight) as table:
        with pytest.raises(StoreDamagedError, match=f"chunk 0 has {table.puzzle.format(here)} at depth 12"):
            table.path(here)
        with pytest.raises(StoreDamagedError, match="no position at depth 11 leads there"):
            solve_by_table(Problem.of(table.puzzle.rules, here), table, every=True)
        with pytest.raises(StoreDamagedError, match="no position at depth 11 leads there"):
            solve_by_table(Problem.of(table.puzzle.rules, here), table)
    set_depth(eight, int(start), lambda _: 5)
    for index in (0, 1):
        set_depth(eight, index, lambda _: 0)
    with open_table(eight) as table, pytest.raises(StoreDamagedError, match="at depth 0, which is no start"):
        table.path(table.space.unrank([0])[0])


@pytest.mark.slow
def test_a_million_distances(tmp_path: Path) -> None:
    run_puzzle(load_config("three-colours"), tmp_path / "t.zarr", RunOptions(workers=2))
    with open_table(tmp_path / "t.zarr") as table:
        labels = table.space.unrank(np.random.default_rng(5).integers(0, table.index_size, 1_000_000))
        begin = time.perf_counter()
        distances = table.distances(labels)
        assert time.perf_counter() - begin < 2
    assert distances.min() >= 0
    assert distances.max() == 57


@pytest.fixture
def table(finished: Path) -> Iterator[Table]:
    with open_table(finished) as opened:
        yield opened


@pytest.mark.parametrize("limit", [None, 0, 1, 99, 100, 101, 1234, 10**9])
def test_batches_are_the_positions_at_the_depth(
    table: Table, limit: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antipodes.tables.table.BATCH", 100)
    depth = 14
    batches = list(table.batches_at(depth, limit))
    assert all(1 <= len(batch) <= 100 for batch in batches)
    assert np.array_equal(np.concatenate([table.positions_at(depth, 0), *batches]), table.positions_at(depth, limit))


def test_only_the_chunks_that_are_needed_are_read(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    with open_table(table._chunks.address) as fresh:
        chunks = fresh._chunks
        reading = chunks._read
        monkeypatch.setattr(chunks._chunks, "_read", lambda number: read.append(number) or reading(number))
        next(fresh.batches_at(14))
        assert len(read) == 1


def test_samples(table: Table) -> None:
    drawn = table.sample(14, 500, seed=3)
    assert (table.distances(drawn) == 14).all()
    assert len(np.unique(drawn, axis=0)) == 500
    assert np.array_equal(drawn, table.sample(14, 500, seed=3))
    assert len(table.sample(11, table.layers[11])) == table.layers[11]


def test_samples_are_uniform(table: Table) -> None:
    """Each of the 8 positions at depth 3 is drawn about as often."""
    rng = np.random.default_rng(7)
    drawn = np.concatenate([table.sample(3, 1, rng) for _ in range(240)])
    counts = np.unique(drawn, axis=0, return_counts=True)[1]
    assert len(counts) == 8
    assert ((counts - 30) ** 2 / 30).sum() < 28, "chi squared with 7 degrees of freedom: 1 in 5,000"


def test_no_such_depth(table: Table) -> None:
    for depth in (-1, 32):
        with pytest.raises(InputError, match="depth"):
            table.batches_at(depth)
