"""`solve` as a user calls it: every method, the table, routes, and what is refused."""

import json
import re
import signal
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import ORACLES
from programs import Command, Process
from stores import toml
from strategies import puzzle_settings

from antipodes.cli.search_progress import SearchProgress
from antipodes.config import Config, load_config
from antipodes.errors import InputError
from antipodes.puzzles.puzzle import Labels, Puzzle
from antipodes.searches.problem import Problem
from antipodes.searches.progress import Progress
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.solve import SEARCHES, choose_method, solve, solve_by_table
from antipodes.tables.table import open_table

ROUTES = ORACLES["jump/knights-routes"]
FARTHEST = "8 6 7 / 2 5 4 / 3 0 1"
WRONG_PARITY = "2 1 3 4 5 6 7 8 0"
ONE_WAY = """
[puzzle]
name = "one-way"
family = "jump"
start = "A--"
offsets = [[0, 1], [0, -2]]
"""


def answer(cli: Command, *arguments: object) -> dict[str, Any]:
    outcome = cli("solve", *arguments, "--json")
    assert outcome.status == 0, outcome
    found: dict[str, Any] = json.loads(outcome.out)
    return found


def check_way(puzzle: Puzzle, way: list[str], first: str, last: str) -> None:
    positions = [puzzle.parse(text) for text in way]
    assert (way[0], way[-1]) == (puzzle.format(puzzle.parse(first)), puzzle.format(puzzle.parse(last)))
    for before, after in pairwise(positions):
        assert (puzzle.successors(before) == after).all(axis=1).any()


@pytest.mark.parametrize("method", [*SEARCHES, "table"])
def test_the_farthest_position_by_every_method(cli: Command, finished: Path, method: str) -> None:
    oracle = ORACLES["eight-puzzle-solve"]
    store = ["--store", finished] if method == "table" else []
    found = answer(cli, "eight-puzzle", FARTHEST, "--method", method, "--all", *store)
    assert (found["method"], found["outcome"]) == (method, "solved")
    assert (found["distance"], found["solution_count"]) == (oracle["length"], oracle["optimal_solutions"])
    assert found["expanded"] > 0
    assert found["seconds"] >= 0
    assert len({tuple(way) for way in found["solutions"]}) == oracle["optimal_solutions"]
    puzzle = load_config("eight-puzzle").puzzle
    for way in found["solutions"]:
        assert len(way) == oracle["length"] + 1
        check_way(puzzle, way, FARTHEST, "123456780")


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=20)
def test_every_method_agrees_with_the_table(finished: Path, seed: int) -> None:
    puzzle = load_config("eight-puzzle").puzzle
    position = np.random.default_rng(seed).permutation(9).astype(np.uint8)
    problem = Problem.of(puzzle, position)
    with open_table(finished) as table:
        expected = solve_by_table(problem, table, every=True)
        assert expected.distance == table.get_distance(position)
    for method in SEARCHES:
        found = solve(problem, method, every=True)
        assert (found.outcome, found.distance, found.solution_count) == (
            expected.outcome,
            expected.distance,
            expected.solution_count,
        )
        assert ways(found.solutions) == ways(expected.solutions)


@given(puzzle_settings(), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=25)
def test_random_puzzles_by_their_tables(config: dict[str, Any], seed: int) -> None:
    """Several starts, moves there and back or one way, boards that fall apart."""
    with TemporaryDirectory() as folder:
        store = Path(folder) / "table.zarr"
        run_puzzle(Config(config), store, RunOptions(workers=1))
        puzzle = Config(config).puzzle
        problem = Problem.of(puzzle, np.random.default_rng(seed).permutation(puzzle.start_labels[0]))
        with open_table(store) as table:
            assert table.match("?" * puzzle.places).by_distance == dict(enumerate(table.layers))
            if not (problem.steps.inverse >= 0).all():
                with pytest.raises(InputError, match="can be taken back"):
                    solve_by_table(problem, table)
                return
            found = solve_by_table(problem, table, every=True)
    expected = solve(problem, "bfs", every=True)
    assert (found.outcome, found.distance, found.solution_count) == (
        expected.outcome,
        expected.distance,
        expected.solution_count,
    )
    assert ways(found.solutions) == ways(expected.solutions)


def ways(solutions: tuple[Labels, ...]) -> set[bytes]:
    return {way.tobytes() for way in solutions}


def test_another_goal(cli: Command) -> None:
    goal = "1 2 3 4 5 6 7 0 8"
    found = answer(cli, "eight-puzzle", FARTHEST, "--to", goal)
    assert found["distance"] == 30
    check_way(load_config("eight-puzzle").puzzle, found["solutions"][0], FARTHEST, goal)


def test_symbols_as_arguments_of_their_own_are_one_position(cli: Command) -> None:
    assert answer(cli, "eight-puzzle", *"867254301")["distance"] == 31


@pytest.mark.parametrize("method", [*SEARCHES, "table"])
def test_an_unsolvable_position_is_said_to_be(cli: Command, finished: Path, method: str) -> None:
    store = ["--store", finished] if method == "table" else []
    found = answer(cli, "eight-puzzle", WRONG_PARITY, "--method", method, *store)
    assert (found["outcome"], found["distance"], found["solutions"]) == ("unreachable", None, [])
    assert (found["expanded"], found["solution_count"]) == (0, 0)
    text = cli("solve", "eight-puzzle", WRONG_PARITY, "--method", method, *store).out
    assert text.startswith("unsolvable: no moves lead to the goal\n")


@pytest.mark.parametrize("method", [*SEARCHES, "table"])
def test_a_bound_gives_up(cli: Command, finished: Path, method: str) -> None:
    store = ["--store", finished] if method == "table" else []
    found = answer(cli, "eight-puzzle", "1 2 3 / 4 0 5 / 7 8 6", "--bound", 1, "--method", method, *store)
    assert (found["outcome"], found["distance"]) == ("bound", None)
    assert answer(cli, "eight-puzzle", "123405786", "--bound", 2, "--method", method, *store)["distance"] == 2
    text = cli("solve", "eight-puzzle", "123405786", "--bound", 1, "--method", method, *store).out
    assert text.startswith("not solved within 1 move: it takes more, if there is a way at all\n")


def test_what_people_read(cli: Command) -> None:
    text = cli("solve", "eight-puzzle", "1 2 3 / 4 0 5 / 7 8 6").out
    first, second, *boards = text.splitlines()
    assert first == "2 moves"
    assert second.startswith("bidirectional, chosen because all positions fit into memory: ")
    assert boards == [
        "    2          1          0",
        "╭───────╮  ╭───────╮  ╭───────╮",
        "│ 1 2 3 │  │ 1 2 3 │  │ 1 2 3 │",
        "│ 4 · 5 │  │ 4 5 · │  │ 4 5 6 │",
        "│ 7 8 6 │  │ 7 8 6 │  │ 7 8 · │",
        "╰───────╯  ╰───────╯  ╰───────╯",
    ]


def test_more_solutions_than_are_listed(cli: Command) -> None:
    arguments = ("eight-puzzle", FARTHEST, "--all", "--method", "ida-star", "--list", 3)
    found = answer(cli, *arguments)
    assert (len(found["solutions"]), found["solution_count"]) == (3, 40)
    text = cli("solve", *arguments).out
    assert text.startswith("31 moves, 40 shortest ways\n")
    assert "solution 3 of 40" in text
    assert text.endswith("and 37 more: --list 40\n")


def test_the_table_at_its_default_place_is_asked(cli: Command, finished: Path, tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "eight-puzzle.zarr").symlink_to(finished)
    found = answer(cli, "eight-puzzle", FARTHEST)
    assert (found["method"], found["distance"]) == ("table", 31)
    assert found["reason"] == "there is one in outputs/eight-puzzle.zarr"
    assert answer(cli, "eight-puzzle", FARTHEST, "--to", "1 2 3 4 5 6 7 0 8")["method"] == "bidirectional"
    assert answer(cli, "eight-puzzle", FARTHEST, "--method", "bfs")["reason"] is None


def test_an_unfinished_table_is_not_asked_unless_told_to(
    cli: Command, refused: Callable[..., str], unfinished: Path
) -> None:
    problem = Problem.of(load_config("eight-puzzle").puzzle, load_config("eight-puzzle").puzzle.parse(FARTHEST))
    assert choose_method(problem, unfinished).method == "bidirectional"
    assert "lies beyond depth" in refused("solve", "eight-puzzle", FARTHEST, "--store", unfinished, status=1)
    assert answer(cli, "eight-puzzle", "123405786", "--store", unfinished, "--all")["distance"] == 2


def test_which_method_suits() -> None:
    fifteen = load_config("seven-tiles").puzzle
    assert choose_method(Problem.of(fifteen, fifteen.start_labels[0])).method == "ida-star"


def test_moves_that_cannot_be_taken_back_are_not_read_from_a_table(
    cli: Command, refused: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "one-way.toml").write_text(ONE_WAY, encoding="utf-8")
    assert cli("run", "one-way.toml", "--quiet").status == 0
    found = answer(cli, "one-way.toml", "-A-")
    assert (found["method"], found["distance"]) == ("bidirectional", 2)
    assert "moves that can be taken back" in refused("solve", "one-way.toml", "-A-", "--method", "table")


@pytest.mark.parametrize("limit", [3, 4, 5])
def test_exchanges_along_routes(cli: Command, limit: int) -> None:
    found = answer(cli, "knights-labelled", "--method", "routes", "--limit", limit)
    assert found["solution_count"] == ROUTES["solutions_by_limit"][str(limit)] == len(found["solutions"])
    assert found["distance"] == 16
    assert [len(way) - 1 for way in found["solutions"]] == found["moves"]
    if limit < 5:
        assert sorted(found["moves"]) == ROUTES["moves_by_limit"][str(limit)]
    else:
        assert found["histogram"] == ROUTES["moves_histogram_limit_5"]
    assert found["expanded"] > found["combinations"]


def test_exchanges_for_people(cli: Command) -> None:
    text = cli("solve", "knights-labelled", "--method", "routes", "--limit", 4, "--list", 1).out
    assert text.startswith("solution 1 of 4, 16 moves\n    16 ")
    assert "and 3 more: --list 4\n4 solutions with routes of at most 4 moves\n" in text
    assert "    18 moves       2\n" in text


def test_exchanges_from_another_position(cli: Command) -> None:
    found = answer(cli, "knights-labelled", "---/ABC/XYZ/---", "--method", "routes", "--limit", 3)
    assert found["solutions"][0][0] == "---ABCXYZ---"


def test_no_exchange_with_short_routes(cli: Command) -> None:
    found = answer(cli, "knights-labelled", "--method", "routes", "--limit", 2)
    assert (found["distance"], found["solution_count"], found["solutions"]) == (None, 0, [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eight-puzzle"], "expected a position"),
        (["eight-puzzle", "123"], "expected 9 symbols"),
        (["eight-puzzle", FARTHEST, "--to", "12"], "expected 9 symbols"),
        (["eight-puzzle", FARTHEST, "--method", "dfs"], "expected one of bfs, bidirectional"),
        (["eight-puzzle", FARTHEST, "--bound", "-1"], "--bound"),
        (["eight-puzzle", FARTHEST, "--limit", "3"], "--limit: expected --method routes"),
        (["eight-puzzle", FARTHEST, "--heuristic", "manhattan"], "--heuristic: expected --method ida-star"),
        (["eight-puzzle", FARTHEST, "--method", "ida-star", "--heuristic", "x"], "expected a heuristic of"),
        (["eight-puzzle", FARTHEST, "--method", "bfs", "--store", "x"], "--store: expected --method table"),
        (["eight-puzzle", FARTHEST, "--store", "nowhere"], "expected a store at nowhere"),
        (["eight-puzzle", FARTHEST, "--method", "table"], "expected a store at outputs/eight-puzzle.zarr"),
        (["eight-puzzle", "--method", "routes"], "half turn"),
        (["knights-labelled", "--method", "routes", "--to", "ABC------XYZ"], "--to: not with"),
        (["knights-labelled", "--method", "routes", "--bound", "16"], "--bound: not with"),
        (["knights-labelled", "--method", "routes", "--limit", "0"], "--limit"),
        (["nothing-of-the-kind", FARTHEST], "expected the name of a puzzle"),
    ],
)
def test_what_is_refused(refused: Callable[..., str], arguments: list[str], message: str) -> None:
    assert message in refused("solve", *arguments)


def test_the_table_of_another_puzzle_is_refused(refused: Callable[..., str], finished: Path) -> None:
    arguments = ("solve", "eight-puzzle-blank-first", FARTHEST, "--store", finished)
    assert "expected the table of eight-puzzle-blank-first, found that of eight-puzzle" in refused(*arguments)


def test_a_table_is_not_asked_for_another_goal(refused: Callable[..., str], finished: Path) -> None:
    arguments = ("solve", "eight-puzzle", FARTHEST, "--store", finished, "--to", "1 2 3 4 5 6 7 0 8")
    assert "expected the puzzle's start as the goal" in refused(*arguments)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_search_with_one_line(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    ignored_where_tests_run_in_the_background = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr("antipodes.tables.solve.load_kernels", lambda *_, **__: signal.raise_signal(number))
    assert "stopped after 0." in refused("solve", "eight-puzzle", FARTHEST, status=75)
    assert signal.getsignal(signal.SIGTERM) == before
    signal.signal(signal.SIGINT, ignored_where_tests_run_in_the_background)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bfs", "bidirectional", "iddfs", "ida-star"])
def test_machine_code_is_interrupted_soon(process: Process, tmp_path: Path, method: str) -> None:
    tiles = " ".join(map(str, [*range(1, 16), 0]))
    puzzle = {"name": "fifteen", "family": "sliding", "rows": 4, "columns": 4, "start": tiles}
    (tmp_path / "fifteen.toml").write_text(toml(puzzle), encoding="utf-8")
    position = "15 14 13 12 11 10 9 8 7 6 5 4 3 1 2 0"  # far away
    running = process("solve", "fifteen.toml", position, "--method", method)
    assert running.stderr is not None
    assert re.match(rf"{method}: no way of fewer than \d+ moves so far, .* million/s", running.stderr.readline())
    running.send_signal(signal.SIGTERM)
    begin = time.perf_counter()
    output, errors = running.communicate(timeout=30)
    assert time.perf_counter() - begin < 2
    assert (running.returncode, output) == (75, "")
    assert re.match(r"antipodes: stopped after \d+\.\d s: no way of fewer than \d+ moves; nothing was saved", errors)
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize("method", ["bfs", "bidirectional", "iddfs", "ida-star"])
def test_a_search_says_how_far_it_is(cli: Command, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setattr("antipodes.cli.search_progress.FIRST", 0)
    monkeypatch.setattr("antipodes.cli.search_progress.REPEATED", 0)
    loud = cli("solve", "eight-puzzle", FARTHEST, "--method", method)
    assert loud.status == 0
    assert re.search(rf"{method}: no way of fewer than \d+ moves so far, [\d,]+ positions expanded", loud.err)
    quiet = cli("solve", "eight-puzzle", FARTHEST, "--method", method, "--quiet")
    assert (quiet.status, quiet.err) == (0, "")


def test_an_interrupted_search_says_what_is_certain(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(progress: SearchProgress, standing: Progress) -> None:
        if (standing.least or 0) > 12:
            progress._last = standing
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(SearchProgress, "__call__", stop)
    arguments = ("solve", "eight-puzzle", FARTHEST, "--method", "bfs")
    assert "s: no way of fewer than 13 moves; nothing was saved" in refused(*arguments, status=75)
