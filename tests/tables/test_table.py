"""A table: distances, paths, antipodes, and positions at a depth."""

import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
import zarr
from stores import contents, set_depth, stop_after

from antipodes.puzzles.config import Config, load_config
from antipodes.solving.solve import solve_by_table
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import UNKNOWN, UNREACHABLE, Table, open_table
from antipodes_tasks.base.errors import (
    ClosedError,
    InputError,
    PositionError,
    StoreDamagedError,
    StoreError,
    UnfinishedError,
    UnreachableError,
)
from antipodes_tasks.searches.problem import Problem

FAR = "8 6 7 2 5 4 3 0 1"
ODD = "2 1 3 / 4 5 6 / 7 8 0"


@pytest.fixture
def table(finished: Path) -> Iterator[Table]:
    with open_table(finished) as opened:
        yield opened


def test_attributes(table: Table) -> None:
    assert (len(table), table.radius, table.index_size, table.complete) == (181440, 31, 181440, True)
    assert table.layers[-1] == 2
    assert sum(table.layers) == 181440
    table.layers.clear()
    assert len(table.layers) == 32
    assert repr(table).startswith("<Table of eight-puzzle: 181,440 positions, radius 31, in ")
    assert repr(table).endswith("/eight-puzzle.zarr>")


def test_one_position(table: Table) -> None:
    assert table.distance(FAR) == 31
    assert table.distance("123456780") == 0
    assert table.distance(table.space.labels(FAR)) == 31
    assert table.distance(ODD, None) is None
    assert table.distance(ODD, 99) == 99
    assert table.distances(table.puzzle.parse(ODD)[np.newaxis]).tolist() == [UNREACHABLE]
    for ask in (table.distance, table.path):
        with pytest.raises(UnreachableError, match="2 1 3 4 5 6 7 8 0"):
            ask(ODD)
    for method in (table.distance, table.path, table.__getitem__, table.__contains__):
        for wrong in ("1 2 3", [1] * 9):
            with pytest.raises(PositionError):
                method(wrong)


def test_no_positions_at_all(table: Table) -> None:
    assert table.distances(np.zeros((0, 9), dtype=np.uint8)).tolist() == []
    assert table.distances_by_index(np.zeros(0, dtype=np.int64)).tolist() == []


def test_antipodes(table: Table) -> None:
    assert [table.puzzle.format(one) for one in table.antipodes(1)] in (["6 4 7 8 5 0 3 2 1"], [FAR])
    assert sorted(table.puzzle.format(one) for one in table.antipodes()) == ["6 4 7 8 5 0 3 2 1", FAR]


def test_positions_at_a_depth(table: Table) -> None:
    for depth, count in enumerate(table.layers[:12]):
        found = table.positions_at(depth)
        assert len(found) == count
        assert (table.distances(found) == depth).all()
    assert len(table.positions_at(20, 7)) == 7
    assert len(table.positions_at(20, 0)) == 0
    for depth in (-1, 32):
        for ask in (table.positions_at, table.batches_at):
            with pytest.raises(InputError, match="expected a depth from 0 to 31"):
                ask(depth)


def test_random_positions(table: Table) -> None:
    rng = np.random.default_rng(4)
    for depth in (0, 7, 31):
        assert table.distance(table.random_position(depth, rng)) == depth
    drawn = [table.distance(table.random_position(seed=rng)) for _ in range(60)]
    expected = float(np.average(range(32), weights=table.layers))
    assert abs(np.mean(drawn) - expected) < 2
    assert len({tuple(table.random_position(3, rng).tolist()) for _ in range(100)}) == 8
    assert table.random_position(20, seed=4).tolist() == table.random_position(20, seed=4).tolist()


def test_an_unfinished_table(unfinished: Path, finished: Path) -> None:
    with open_table(unfinished) as table, open_table(finished) as whole:
        assert (table.complete, table.radius, len(table.layers)) == (False, 10, 11)
        every = np.arange(table.index_size)
        known = whole.distances_by_index(every)
        expected = np.where((known >= 0) & (known <= 10), known, UNKNOWN)
        assert np.array_equal(table.distances_by_index(every), expected)
        for unknown in (
            *(lambda ask=ask: ask(FAR) for ask in (table.distance, table.__contains__)),
            *(lambda: table[FAR], lambda: table.depths, table.to_xarray),
        ):
            with pytest.raises(UnfinishedError, match="antipodes resume"):
                unknown()
        assert ("123456708" in table, ODD in table) == (True, False)
        assert "radius 10 so far, unfinished" in repr(table)
        with pytest.raises(UnreachableError, match="2 1 3 4 5 6 7 8 0 is unreachable"):
            table.distance(ODD)
        assert table.distances([ODD, "123456708"]).tolist() == [UNREACHABLE, 1]
        with pytest.raises(UnfinishedError):
            table.antipodes()
        for depth in (0, 3, 10):
            assert table.positions_at(depth).tolist() == whole.positions_at(depth).tolist()
        assert len(table.path(table.positions_at(10)[0])) == 11


def test_messages_cut_positions_of_large_boards(tmp_path: Path) -> None:
    squares = "A" + "-" * 299
    config = Config({"name": "every-other", "family": "jump", "start": squares, "offsets": [[0, 2], [0, -2]]})
    run_puzzle(config, tmp_path / "t.zarr", RunOptions(workers=1), interrupted=stop_after(2))
    with open_table(tmp_path / "t.zarr") as table, pytest.raises(UnfinishedError) as unfinished:
        table.distance(squares[::-1])
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


def test_a_pattern_counts_positions_that_free_moves_join_once(tmp_path: Path) -> None:
    settings = {"name": "free", "family": "sliding", "rows": 2, "columns": 3, "free": ["x"], "start": "1 x 2 x 0 x"}
    run_puzzle(Config(settings), tmp_path / "t.zarr")
    with open_table(tmp_path / "t.zarr") as table:
        assert table.match("? ? ? ? ? ?").by_distance == dict(enumerate(table.layers))
        assert len(table.match("1 ? 2 ? ? ?").nearest) == 1


def in_threads(work: Callable[[int], object], threads: int = 8) -> list[object]:
    """The results of threads that start at the same time."""
    barrier = threading.Barrier(threads)

    def run(seed: int) -> object:
        barrier.wait()
        return work(seed)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


@pytest.fixture(scope="module")
def in_many_chunks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of the eight-puzzle in 18 chunks; not to be changed."""
    config, path = load_config("eight-puzzle"), tmp_path_factory.mktemp("chunks") / "many.zarr"
    plan = plan_run(config.puzzle)
    TableStore(path).create(config, (plan.space, -(-plan.space.rows // 18)))
    run_puzzle(config, path, RunOptions(workers=1))
    return path


def queries(table: Table, seed: int) -> list[object]:
    rng = np.random.default_rng(seed)
    answers: list[object] = []
    answers.append(table.distances_by_index(rng.integers(0, table.index_size, 500)).tolist())
    answers += [
        table.distance(one, None) for one in rng.permuted(np.tile(np.arange(9, dtype=np.uint8), (9, 1)), axis=1)
    ]
    answers.append(table.path(table.random_position(5, rng)).tolist())
    answers.append(table.positions_at(int(rng.integers(32)), 5).tolist())
    return answers


def test_threads_share_a_table_with_a_tiny_cache(in_many_chunks: Path) -> None:
    with open_table(in_many_chunks) as alone, open_table(in_many_chunks, 1) as shared:
        assert len(TableStore(in_many_chunks).read().chunks) > 10
        expected = [queries(alone, seed) for seed in range(3)]
        assert in_threads(lambda seed: queries(shared, seed), threads=3) == expected


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
            return "was closed; open it again" in str(error)

    assert all(in_threads(read_until_closed))
    table.close()
    assert (table.radius, len(table)) == (31, 181440)
    assert "eight-puzzle" in repr(table)
    for query in (
        lambda: table.distance(FAR),
        lambda: FAR in table,
        lambda: table.sample(5, 1),
        table.antipodes,
        lambda: table.path(FAR),
    ):
        with pytest.raises(ClosedError):
            query()


def test_a_store_that_is_replaced_while_threads_read_it(in_many_chunks: Path, tmp_path: Path) -> None:
    """Each distance is that of the opened table, or an error says that the table was replaced."""
    other = replace(load_config("eight-puzzle"), settings={**load_config("eight-puzzle").settings, "start": FAR})
    run_puzzle(other, tmp_path / "other.zarr", RunOptions(workers=1))
    store = Path(shutil.copytree(in_many_chunks, tmp_path / "many.zarr"))
    with open_table(store, 1) as table:
        every = np.arange(table.index_size)
        expected = table.distances_by_index(every)
        replaced = threading.Event()

        def read(seed: int) -> bool:
            rng = np.random.default_rng(seed)
            if seed == 0:
                store.rename(tmp_path / "old.zarr")
                (tmp_path / "other.zarr").rename(store)
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
        with pytest.raises(StoreDamagedError, match="it has no predecessor at depth 11"):
            solve_by_table(Problem.of(table.puzzle.rules, here), table, every=True)
        with pytest.raises(StoreDamagedError, match="it has no predecessor at depth 11"):
            solve_by_table(Problem.of(table.puzzle.rules, here), table)
    set_depth(eight, int(start), lambda _: 5)
    for index in (0, 1):
        set_depth(eight, index, lambda _: 0)
    with open_table(eight) as table, pytest.raises(StoreDamagedError, match="at depth 0, but it is not a start"):
        table.path(table.space.unrank([0])[0])


@pytest.mark.parametrize("limit", [None, 0, 1, 99, 100, 101, 1234, 10**9])
def test_batches_are_the_positions_at_the_depth(
    table: Table, limit: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antipodes.tables.reached_positions.BATCH", 100)
    depth = 14
    batches = list(table.batches_at(depth, limit))
    assert all(1 <= len(batch) <= 100 for batch in batches)
    assert np.array_equal(np.concatenate([table.positions_at(depth, 0), *batches]), table.positions_at(depth, limit))


def test_only_the_chunks_that_are_needed_are_read(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    with open_table(table._chunks.address) as fresh:
        chunks = fresh._chunks
        reading = chunks._read
        monkeypatch.setattr(chunks, "_read", lambda number: read.append(number) or reading(number))
        next(fresh.batches_at(14))
        assert len(read) == 1


FAR_LABELS = [8, 6, 7, 2, 5, 4, 3, 0, 1]


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
    assert str(raised.value) == f"2 1 3 4 5 6 7 8 0 is unreachable ({table.obstacle(ODD)})"
    assert str(table.obstacle(ODD)).startswith("odd permutation: ")
    assert table.obstacle(FAR) is None
    assert table.distance(ODD, default=-1) == -1


def test_it_is_no_sequence(table: Table) -> None:
    with pytest.raises(TypeError, match="not iterable"):
        iter(table)  # type: ignore[call-overload]


def test_many_positions_of_many_chunks(in_many_chunks: Path) -> None:
    with open_table(in_many_chunks) as table:
        indices = np.random.default_rng(5).integers(0, table.index_size, 5_000)
        distances = table.distances(table.space.unrank(indices))
        assert np.array_equal(distances, table.depths[:].ravel()[indices])
        assert [table.distance(one) for one in table.space.unrank(indices[:50])] == distances[:50].tolist()


def test_the_array_of_depths(table: Table) -> None:
    depths = table.depths
    assert (depths.shape, depths.dtype, depths.read_only) == ((504, 360), np.uint8, True)
    assert np.bincount(depths[:].ravel()).tolist() == table.layers


@pytest.mark.slow
def test_xarray(table: Table) -> None:
    depths = table.to_xarray()
    assert (depths.name, depths.dims, depths.shape) == ("depth", ("index",), (181440,))
    assert depths.attrs == {"puzzle": "eight-puzzle", "radius": 31}
    assert depths.chunks is not None, "read when it is needed"
    indices = table.space.rank(table.antipodes())
    assert depths.sel(index=indices).values.tolist() == [31, 31]
    assert depths.index[(depths == 31).compute()].values.tolist() == indices.tolist()


def test_means_in_xarray_do_not_count_unreached_positions(tmp_path: Path) -> None:
    import xarray

    config = Config({"name": "one-way", "family": "jump", "start": "AB---", "offsets": [[0, 1]]})
    run_puzzle(config, tmp_path / "t.zarr")
    with open_table(tmp_path / "t.zarr") as table:
        assert len(table) < table.index_size
        true = np.average(np.arange(len(table.layers)), weights=table.layers)
        means = [float(one.mean()) for one in (table.to_xarray(), xarray.open_zarr(tmp_path / "t.zarr").depth)]
    assert means == pytest.approx([true, true])


def test_weights_in_xarray_count_the_positions_of_each_entry(tmp_path: Path) -> None:
    config = Config({"name": "ring", "family": "topspin", "n": 7, "k": 3})
    run_puzzle(config, tmp_path / "t.zarr", RunOptions(symmetry="on"))
    with open_table(tmp_path / "t.zarr") as table:
        true = np.average(np.arange(len(table.layers)), weights=table.layers)
        depths = table.to_xarray()
        assert np.bincount(depths.values.astype(int), weights=depths.weight).tolist() == table.layers
        assert float(depths.mean()) != pytest.approx(true), "an entry counts once"
        assert float(depths.weighted(depths.weight).mean()) == pytest.approx(true)


@pytest.mark.filterwarnings("error")
def test_a_store_opens_in_xarray_and_zarr_without_a_warning(eight: Path, unfinished: Path) -> None:
    import xarray

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
    import xarray

    finished = tmp_path / "finished.zarr"
    run_puzzle(load_config("eight-puzzle"), finished)
    shutil.copy(finished / "zarr.json", unfinished)
    with open_table(unfinished) as table:
        assert table.radius == 10
    run_puzzle(load_config("eight-puzzle"), unfinished, interrupted=stop_after(1))
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
    assert len(table.sample(11, table.layers[11])) == table.layers[11]
    whole = table.sample(31, 2)
    assert sorted(whole.tolist()) == sorted(table.antipodes().tolist())
    assert table.sample(31, 0).shape == (0, 9)


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
