"""What public functions are given: anything reasonable is taken, anything else refused with one clear error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from search_problems import EIGHT, bfs, bidirectional, ida_star, iddfs
from tiling_stores import SQUARE, tiled

from antipodes.executors.threads import Threads
from antipodes.puzzles.config import Config, load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.solving.solve import choose_method, solve, solve_by_table
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import Table, open_table
from antipodes.tables.verify import verify
from antipodes.tilings.board_config import BoardConfig, load_board
from antipodes.tilings.run import tile_board
from antipodes.tilings.table import open_tilings
from antipodes.tilings.verify import verify_tilings
from antipodes_tasks.base.errors import AntipodesError, InputError
from antipodes_tasks.permutations import ranks as permutations
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.searches.routes import exchanges

ANY: Any = None
GOAL = [1, 2, 3, 4, 5, 6, 7, 8, 0]
ROW = np.array(GOAL)
NOT_INTEGERS = [True, np.True_, 1.0, float("nan"), "1", b"1", [1], (), np.array([1]), np.float32(1), np.timedelta64(1)]
NOT_INTEGERS += [np.ma.masked, np.array(1.0), object(), 1j]
NOT_POSITIONS: list[Any] = [None, 5, 1.5, b"123456780", {}, set(GOAL), object(), ROW[np.newaxis], [], [[1], [2, 3]]]
NOT_POSITIONS += [
    ROW.astype(float),
    ROW.astype(object),
    ROW.astype(str),
    np.ma.array(ROW),
    ROW > 0,
    [*GOAL[:-1], False],
]
NOT_POSITIONS += [[256 + label for label in GOAL], [label - 256 for label in GOAL], ROW.astype("m8[s]"), GOAL[:-1]]
NOT_POSITIONS += [[*GOAL[:-1], 2**63], [*GOAL[:-1], 10**5000], [0.5] * 9, ["a"] * 9, range(8), np.eye(9)]
NOT_POSITIONS += ["", "1 2 3", "1 2 3 4 5 6 7 8 9"]
NOT_ADDRESSES = [None, 5, b"t.zarr", "", "a\0b", [], True]


def refused(call: Callable[..., Any], *arguments: Any, says: str = "expected", **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    message = str(caught.value)
    assert says in message
    assert len(message) < 400
    return message


@pytest.fixture(scope="module")
def table(finished: Path) -> Table:
    return open_table(finished)


@pytest.mark.parametrize("wrong", NOT_POSITIONS, ids=lambda wrong: type(wrong).__name__)
def test_no_position(table: Table, wrong: Any) -> None:
    for method in (
        table.distance,
        table.path,
        table.__getitem__,
        table.__contains__,
        table.space.labels,
        table.puzzle.format,
        table.puzzle.draw,
        table.puzzle.successors,
        table.puzzle.predecessors,
    ):
        refused(method, wrong)
    refused(Problem.of, EIGHT, wrong)
    if wrong is not None:
        refused(Problem.of, EIGHT, GOAL, [wrong, wrong])
        refused(exchanges, EIGHT, 3, wrong)
    for method in (table.distances, table.space.rank):
        refused(method, [wrong])
        refused(method, [wrong, GOAL])


@pytest.mark.parametrize("wrong", NOT_INTEGERS, ids=lambda wrong: type(wrong).__name__)
def test_no_number(table: Table, wrong: Any) -> None:
    refused(table.positions_at, wrong)
    refused(table.positions_at, 3, wrong)
    refused(table.antipodes, wrong)
    refused(table.random_position, wrong)
    for method in (table.space.unrank, table.distances_by_index):
        if not isinstance(wrong, list | tuple | np.ndarray):
            refused(method, [wrong])
            refused(method, [0, wrong])
    refused(open_table, "t.zarr", wrong)
    refused(permutations.unrank, [0], wrong)
    refused(permutations.unrank, [[0, wrong]], 3)
    problem = Problem.of(EIGHT.rules, GOAL)
    for search in (bfs, bidirectional, iddfs, ida_star):
        refused(search, problem, max_depth=wrong)
        refused(search, problem, listed=wrong)
    refused(solve, problem, "bfs", max_depth=wrong)
    refused(solve_by_table, problem, table, max_depth=wrong)
    refused(exchanges, EIGHT, wrong)
    refused(RunOptions, workers=wrong)
    if not isinstance(wrong, str):
        refused(RunOptions, memory_limit=wrong)
    if not isinstance(wrong, float | np.floating) or wrong != wrong:
        refused(RunOptions, checkpoint_every=wrong)
    for name, number in (("workers", 0), ("checkpoint_every", -1), ("memory_limit", 1 << 70)):
        refused(RunOptions, **{name: number})


def test_numbers_out_of_range(table: Table) -> None:
    for depth, limit in (
        (5, -1),
        (5, np.int8(-1)),
        (-1, 1),
        (32, 1),
        (2**70, 1),
        (np.uint64(2**63), 1),
        (0, -(10**5000)),
    ):
        refused(table.positions_at, depth, limit)
    for indices in ([-1], [181440], [2**63], np.array([2**63], dtype=np.uint64), [10**30], 5, [[1]], {1}, "1", None):
        refused(table.space.unrank, indices)
        refused(table.distances_by_index, indices)
    refused(table.random_position, 3, "a seed")
    refused(table.random_position, 3, np.random.RandomState(1))
    refused(open_table, "t.zarr", -1)


def test_what_is_reasonable_is_taken(table: Table) -> None:
    expected = table.positions_at(5, 3)
    for five in (np.uint8(5), np.int64(5), np.uint64(5), np.array(5)):
        assert np.array_equal(table.positions_at(five, np.array(3, dtype=np.int16)), expected)  # type: ignore[arg-type]
    for kind in (np.int8, np.int16, np.uint32, np.uint64, np.int64):
        assert table.distance(ROW.astype(kind)) == 0
        assert table.distances(np.stack([ROW, ROW]).astype(kind)).tolist() == [0, 0]
    assert table.distance(tuple(GOAL)) == table.distances([GOAL])[0] == 0
    assert (
        table.space.unrank(range(3)).tolist()
        == table.space.unrank([0, 1, 2]).tolist()
        == table.space.unrank((0, 1, 2)).tolist()
    )
    assert table.space.unrank([]).shape == (0, 9)
    assert table.distances_by_index(np.arange(3, dtype=np.uint64)).dtype == np.int32
    assert Problem.of(EIGHT.rules, GOAL, [GOAL, GOAL]).goals.shape == (1, 9)  # each once
    assert Problem.of(EIGHT.rules, GOAL, GOAL).goals.shape == (1, 9)


@pytest.mark.parametrize("wrong", [5, None, b"?", ["?"]], ids=lambda wrong: type(wrong).__name__)
def test_no_text(table: Table, wrong: Any) -> None:
    refused(table.match, wrong)
    refused(table.puzzle.parse, wrong)
    refused(table.puzzle.parse_many, [wrong])
    refused(solve, Problem.of(EIGHT.rules, GOAL), wrong)
    refused(permutations.rank, [[0]], wrong)
    refused(load_config, wrong)
    refused(load_board, wrong)
    refused(ida_star, Problem.of(EIGHT.rules, GOAL), heuristic=wrong or 0)


@pytest.mark.parametrize("wrong", NOT_ADDRESSES, ids=lambda wrong: type(wrong).__name__)
def test_no_address(wrong: Any) -> None:
    for call in (open_table, open_tilings, verify_tilings):
        refused(call, wrong)
    refused(verify, wrong, Threads(1))
    refused(run_puzzle, load_config("eight-puzzle"), wrong)
    refused(tile_board, load_board("3x20"), wrong)


def test_other_things_than_configs_problems_and_tables(tmp_path: Path, table: Table) -> None:
    config, board, store = load_config("eight-puzzle"), load_board("3x20"), tmp_path / "t.zarr"
    for wrong in (config.puzzle, "eight-puzzle", None, {}, board, Config):
        assert "Config" in refused(run_puzzle, wrong, store)
    for wrong in (board.problem, "3x20", None, config):
        assert "BoardConfig" in refused(tile_board, wrong, store)
    for wrong in (EIGHT, None, GOAL):
        refused(solve, wrong, "bfs")
        refused(bfs, wrong)
        refused(choose_method, wrong)
        refused(solve_by_table, wrong, table)
    for wrong in (config, None, "eight-puzzle"):
        refused(Problem.of, wrong, GOAL)
        refused(exchanges, wrong, 3)
        refused(plan_run, wrong)
        refused(puzzle_from, wrong)
    refused(solve_by_table, Problem.of(EIGHT.rules, GOAL), "t.zarr")
    refused(Config, config.puzzle)
    refused(BoardConfig, board.problem)
    for name, wrong in (("options", {"workers": 2}), ("listener", 5), ("interrupted", True), ("scheduler", "local")):
        refused(run_puzzle, config, store, **{name: wrong})
        refused(tile_board, board, store, **{name: wrong})
    refused(verify, store, "threads")
    for option, wrong in (("overwrite", 1), ("scheduler", 5), ("scheduler_file", 5), ("scheduler_timeout", 1)):
        refused(RunOptions, **{option: wrong})
    refused(solve, Problem.of(EIGHT.rules, GOAL), "bfs", every=1)
    refused(solve, Problem.of(EIGHT.rules, GOAL), "bfs", says="bfs has no option heuristic", heuristic="manhattan")
    assert not store.exists()


def test_tilings(tmp_path: Path) -> None:
    tiled(SQUARE, tmp_path / "t.zarr")
    with open_tilings(tmp_path / "t.zarr") as tilings:
        assert tilings[np.int64(0)] == tilings[0] == tilings[-len(tilings)]  # type: ignore[call-overload]
        for wrong in (*NOT_INTEGERS, len(tilings), -len(tilings) - 1, 10**5000, slice(0.5, None)):
            refused(lambda wrong=wrong: tilings[wrong])
        refused(lambda: tilings[::0], says="the step of a slice must not be 0")
        for wrong in (*NOT_INTEGERS, -1, 10**5000):
            refused(tilings.find, wrong)
        piece = next(iter(tilings[0].cells))
        cells = tilings[0].cells[piece]
        for same in (np.array(cells), iter(cells), set(cells)):
            assert 0 in tilings.containing(piece, same)
        for wrong in (5, "01", [(0.0, 1)], [(True, 0)], [(0, 1), (0,)], [(10**9, 0)], None, [0, 1]):
            refused(tilings.containing, piece, wrong)
        refused(tilings.containing, 5, cells)
        refused(tilings[0].draw, "lnes")
        refused(tilings[0].steps, 5)
        with pytest.raises(IndexError):
            tilings[len(tilings)]
    refused(open_tilings, tmp_path / "t.zarr", 1)
    with pytest.raises(AntipodesError, match="closed"):
        tilings[0]
