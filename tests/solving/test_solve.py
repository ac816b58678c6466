"""The searches and the table method agree, called from Python."""

import gc
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import puzzle_settings

import antipodes as ap
from antipodes.puzzles.config import Config, load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.solving.solve import ONE_PATH, SEARCHES, choose_method, solve, solve_by_table
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import open_table
from antipodes_tasks.base import jit
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.searches.answer import Outcome
from antipodes_tasks.searches.problem import Problem


@settings(max_examples=max(1, settings().max_examples // 3))  # half of them search all positions by every method
@given(st.integers(0, 2**32 - 1))
def test_every_method_agrees_with_the_table(finished: Path, seed: int) -> None:
    puzzle = load_config("eight-puzzle").puzzle
    position = np.random.default_rng(seed).permutation(9).astype(np.uint8)
    problem = Problem.of(puzzle.rules, position)
    with open_table(finished) as table:
        expected = solve_by_table(problem, table, every=True)
        assert expected.distance == table.distance(position, None)
    for method in SEARCHES:
        found = solve(problem, method, every=True)
        assert (found.outcome, found.distance, found.solution_count) == (
            expected.outcome,
            expected.distance,
            expected.solution_count,
        )
        assert paths_of(found.solutions) == paths_of(expected.solutions)


@given(puzzle_settings(), st.integers(0, 2**32 - 1))
def test_random_puzzles_by_their_tables(config: dict[str, Any], seed: int) -> None:
    """Several starts, moves there and back or one way, boards that fall apart."""
    with TemporaryDirectory() as folder:
        store = Path(folder) / "table.zarr"
        run_puzzle(Config(config), store, RunOptions(workers=1))
        puzzle = Config(config).puzzle
        problem = Problem.of(puzzle.rules, np.random.default_rng(seed).permutation(puzzle.start_labels[0]))
        with open_table(store) as table:
            assert table.match("?" * puzzle.places).by_distance == dict(enumerate(table.layers))
            if not problem.rules.moves.reversible:
                with pytest.raises(InputError, match="needs reversible moves"):
                    solve_by_table(problem, table)
                return
            found = solve_by_table(problem, table, every=True)
    expected = solve(problem, "bfs", every=True)
    assert (found.outcome, found.distance, found.solution_count) == (
        expected.outcome,
        expected.distance,
        expected.solution_count,
    )
    assert paths_of(found.solutions) == paths_of(expected.solutions)


def paths_of(solutions: tuple[Labels, ...]) -> set[bytes]:
    return {path.tobytes() for path in solutions}


def test_which_method_suits() -> None:
    fifteen = load_config("seven-tiles").puzzle
    assert choose_method(Problem.of(fifteen.rules, fifteen.start_labels[0])).method == "ida-star"


@pytest.mark.slow
def test_a_puzzle_of_more_positions_than_can_be_counted() -> None:
    edges = [[place, place + 1] for place in range(69)]
    lights = puzzle_from({"name": "lights", "family": "lights-out", "lights": 70, "edges": edges})
    assert choose_method(Problem.of(lights.rules, lights.start_labels[0])).method == "bidirectional"


def test_nothing_is_listed_to_choose_a_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("antipodes_tasks.spaces.keyed.layers")
    blocks = puzzle_from({"name": "b", "family": "blocks", "start": "AB../CD../EF../GH.."})
    problem = Problem.of(blocks.rules, blocks.parse("..AB/CD../EF../GH.."))
    assert choose_method(problem, tmp_path).method == choose_method(problem).method == "bidirectional"


@pytest.mark.parametrize("method", SEARCHES)
def test_a_search_ends_when_its_time_is_up(method: str) -> None:
    eight = load_config("eight-puzzle").puzzle
    problem = Problem.of(eight.rules, eight.parse("867254301"))
    answer = solve(problem, method, max_seconds=0)
    assert (answer.outcome, answer.distance, answer.solutions) == (Outcome.TIME_LIMIT, None, ())
    assert answer.least is not None
    assert 0 <= answer.least <= 31
    assert solve(problem, method, max_seconds=1000).distance == 31
    with pytest.raises(InputError, match="expected max_seconds of at least 0, found -1"):
        solve(problem, method, max_seconds=-1.0)


@pytest.fixture
def kernels_load_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels as in a new process, each of which takes 1000 s to load, on a clock on which nothing else takes time."""
    now = [0.0]
    monkeypatch.setattr(jit.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(jit, "loading", jit.Stopwatch())

    def slowly(load: Callable[[Any], Any], loaded: Any) -> Callable[[Any], Any]:
        def slow(function: Any) -> Any:
            now[0] += 1000
            return loaded or load(function)

        return slow

    for kernel in [one for one in gc.get_objects() if type(one) is jit.Lazy]:
        monkeypatch.setattr(kernel, "_make", slowly(kernel._make, kernel._made))
        monkeypatch.setattr(kernel, "_made", None)


@pytest.mark.usefixtures("kernels_load_slowly")
@pytest.mark.parametrize("method", [*SEARCHES, *ONE_PATH])
def test_a_time_limit_does_not_include_the_loading_of_kernels(method: str) -> None:
    assert ap.solve("eight-puzzle", "123456078", method=method, max_seconds=1.0).distance == 2
    (answer,) = ap.solve_many("eight-puzzle", ["123456078"], method=method, max_seconds=1.0)
    assert answer.distance == 2


def test_an_answer_has_a_path_its_moves_and_the_seconds() -> None:
    cube = ap.load_puzzle("2x2x2-corner")
    position = cube.follow("R U R2")[-1]
    answer = ap.solve(cube, position)
    assert answer.path is not None
    assert answer.moves is not None
    assert np.array_equal(answer.path, answer.solutions[0])
    assert np.array_equal(cube.follow(" ".join(answer.moves), position), answer.path)
    assert answer.seconds > 0
    limited = ap.solve(cube, position, max_seconds=0)
    assert (limited.path, limited.moves, limited.seconds > 0) == (None, None, True)


@pytest.mark.parametrize("method", SEARCHES)
def test_what_a_depth_limit_proves(method: str) -> None:
    eight = load_config("eight-puzzle").puzzle
    answer = solve(Problem.of(eight.rules, eight.parse("867254301")), method, max_depth=10)
    assert answer.outcome == Outcome.DEPTH_LIMIT
    assert 11 <= (answer.least or 0) <= 31
