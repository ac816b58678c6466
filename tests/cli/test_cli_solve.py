"""Shortest paths from one position, and the progress of a search."""

import json
import re
import shlex
import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from oracles import ORACLES
from programs import Command, Process, first_message
from stores import toml
from waiting import PATIENCE

from antipodes.progress.search_progress import SearchProgress
from antipodes.puzzles import goals
from antipodes.puzzles.config import load_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes.solving.solve import SEARCHES, choose_method
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.searches.progress import Progress

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


def check_path(puzzle: Puzzle, path: list[str], first: str, last: str) -> None:
    positions = [puzzle.parse(text) for text in path]
    assert (path[0], path[-1]) == (puzzle.format(puzzle.parse(first)), puzzle.format(puzzle.parse(last)))
    for before, after in pairwise(positions):
        assert (puzzle.successors(before) == after).all(axis=1).any()


@pytest.mark.parametrize(
    ("position", "what"),
    [
        ("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0", "is the start of"),
        ("1 2 3 4 5 6 7 8 9 10 11 12 13 14 0 15", "is reachable in"),
    ],
)
def test_an_unreachable_position_that_belongs_to_another_bundled_puzzle(cli: Command, position: str, what: str) -> None:
    found = cli("solve", "fifteen-puzzle", position, "--quiet")
    advice = f"antipodes solve fifteen-puzzle-blank-last '{position}'"
    assert (found.status, found.err) == (0, f"antipodes: this position {what} another bundled puzzle: {advice}\n")
    assert cli(*shlex.split(advice)[1:], "--quiet").out.startswith("0 moves" if "start" in what else "1 move")


@pytest.mark.parametrize("method", [*SEARCHES, "table"])
def test_the_farthest_position_by_every_method(cli: Command, finished: Path, method: str) -> None:
    oracle = ORACLES["eight-puzzle-solve"]
    store = ["--store", finished] if method == "table" else []
    found = answer(cli, "eight-puzzle", FARTHEST, "--method", method, "--all", "--list", 2**63, *store)
    assert (found["method"], found["outcome"]) == (method, "solved")
    assert (found["distance"], found["solution_count"]) == (oracle["length"], oracle["optimal_solutions"])
    assert found["expanded"] > 0
    assert found["seconds"] >= 0
    assert len({tuple(path) for path in found["solutions"]}) == oracle["optimal_solutions"]
    puzzle = load_config("eight-puzzle").puzzle
    for path in found["solutions"]:
        assert len(path) == oracle["length"] + 1
        check_path(puzzle, path, FARTHEST, "123456780")


def test_another_goal(cli: Command) -> None:
    goal = "1 2 3 4 5 6 7 0 8"
    found = answer(cli, "eight-puzzle", FARTHEST, "--to", goal)
    assert found["distance"] == 30
    check_path(load_config("eight-puzzle").puzzle, found["solutions"][0], FARTHEST, goal)


def test_symbols_as_separate_arguments_are_one_position(cli: Command) -> None:
    assert answer(cli, "eight-puzzle", *"867254301")["distance"] == 31


@pytest.mark.parametrize("method", [*SEARCHES, "table"])
def test_an_unreachable_position(cli: Command, finished: Path, method: str) -> None:
    store = ["--store", finished] if method == "table" else []
    found = answer(cli, "eight-puzzle", WRONG_PARITY, "--method", method, *store)
    assert (found["outcome"], found["distance"], found["solutions"]) == ("unreachable", None, [])
    assert (found["expanded"], found["solution_count"]) == (0, 0)
    assert found["obstacle"].startswith("odd permutation: ")
    text = cli("solve", "eight-puzzle", WRONG_PARITY, "--method", method, *store).out
    assert text.startswith(f"unreachable ({found['obstacle']}): no sequence of moves leads to the goal\n")


@pytest.mark.parametrize("method", [*SEARCHES, "table"])
def test_a_goal_beyond_the_bound(cli: Command, finished: Path, method: str) -> None:
    store = ["--store", finished] if method == "table" else []
    found = answer(cli, "eight-puzzle", "1 2 3 / 4 0 5 / 7 8 6", "--max-depth", 1, "--method", method, *store)
    assert (found["outcome"], found["distance"]) == ("depth-limit", None)
    assert answer(cli, "eight-puzzle", "123405786", "--max-depth", 2, "--method", method, *store)["distance"] == 2
    text = cli("solve", "eight-puzzle", "123405786", "--max-depth", 1, "--method", method, *store).out
    assert text.startswith("no path has fewer than 2 moves; the goal is farther or unreachable\n")


def test_text(cli: Command) -> None:
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
        "moves: L U",
    ]


def test_more_solutions_than_are_listed(cli: Command) -> None:
    arguments = ("eight-puzzle", FARTHEST, "--all", "--method", "ida-star", "--list", 3)
    found = answer(cli, *arguments)
    assert (len(found["solutions"]), found["solution_count"]) == (3, 40)
    text = cli("solve", *arguments).out
    assert text.startswith("31 moves, 40 shortest paths\n")
    assert "solution 3 of 40" in text
    assert text.endswith("and 37 more: --list 40\n")


def test_twenty_solutions_are_listed_and_the_memory_limit_is_that_of_the_search(cli: Command, finished: Path) -> None:
    for method in ("ida-star", "table"):
        store = ["--store", finished] if method == "table" else []
        found = answer(cli, "eight-puzzle", FARTHEST, "--method", method, "--all", *store, "--memory-limit", "1GiB")
        assert (found["solution_count"], len(found["solutions"])) == (40, 20)


def test_the_table_at_its_default_place_is_used_where_that_is_faster(
    cli: Command, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "eight-puzzle.zarr").symlink_to(finished)
    assert answer(cli, "eight-puzzle", FARTHEST)["method"] == "bidirectional"
    monkeypatch.setattr("antipodes.solving.solve.MAX_WITHOUT_TABLE", 1 << 17)  # less than the size of the eight-puzzle
    found = answer(cli, "eight-puzzle", FARTHEST)
    assert (found["method"], found["distance"]) == ("table", 31)
    assert found["reason"] == "outputs/eight-puzzle.zarr contains the table"
    assert answer(cli, "eight-puzzle", FARTHEST, "--to", "1 2 3 4 5 6 7 0 8")["method"] == "bidirectional"
    assert answer(cli, "eight-puzzle", FARTHEST, "--method", "bfs")["reason"] is None


def test_an_unfinished_table_is_used_only_if_it_is_named(cli: Command, unfinished: Path) -> None:
    problem = Problem.of(load_config("eight-puzzle").puzzle.rules, load_config("eight-puzzle").puzzle.parse(FARTHEST))
    assert choose_method(problem, unfinished).method == "bidirectional"
    assert answer(cli, "eight-puzzle", "123405786", "--store", unfinished, "--all")["distance"] == 2


def test_the_table_method_needs_reversible_moves(cli: Command, refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "one-way.toml").write_text(ONE_WAY, encoding="utf-8")
    assert cli("run", "one-way.toml", "--quiet").status == 0
    found = answer(cli, "one-way.toml", "-A-")
    assert (found["method"], found["distance"]) == ("bidirectional", 2)
    assert "needs reversible moves" in refused("solve", "one-way.toml", "-A-", "--method", "table")


@pytest.mark.parametrize("limit", [3, 4, 5])
def test_exchanges_along_routes(cli: Command, limit: int) -> None:
    found = answer(cli, "knights-labelled", "--method", "routes", "--limit", limit, "--list", 1000)
    assert found["solution_count"] == ROUTES["solutions_by_limit"][str(limit)] == len(found["solutions"])
    assert found["distance"] == 16
    assert [len(path) - 1 for path in found["solutions"]] == found["moves"]
    if limit < 5:
        assert sorted(found["moves"]) == ROUTES["moves_by_limit"][str(limit)]
    else:
        assert found["histogram"] == ROUTES["moves_histogram_limit_5"]
    assert found["expanded"] > found["combinations"]


def test_exchanges_as_text(cli: Command) -> None:
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_search_with_one_line(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    ignored_where_tests_run_in_the_background = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr("antipodes.solving.solve.check_functions", lambda *_, **__: signal.raise_signal(number))
    assert re.search(r"stopped after \d+\.\d s", refused("solve", "eight-puzzle", FARTHEST, status=75))
    assert signal.getsignal(signal.SIGTERM) == before
    signal.signal(signal.SIGINT, ignored_where_tests_run_in_the_background)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bfs", "bidirectional", "iddfs", "ida-star"])
def test_a_signal_interrupts_machine_code(process: Process, tmp_path: Path, method: str) -> None:
    tiles = " ".join(map(str, [*range(1, 16), 0]))
    puzzle = {"name": "fifteen", "family": "sliding", "rows": 4, "columns": 4, "start": tiles}
    (tmp_path / "fifteen.toml").write_text(toml(puzzle), encoding="utf-8")
    position = "15 14 13 12 11 10 9 8 7 6 5 4 3 1 2 0"  # far away
    running = process("solve", "fifteen.toml", position, "--method", method)
    told = re.compile(rf"{method}: no path of fewer than \d+ moves so far, .* million/s")
    assert told.match(first_message(running))
    running.send_signal(signal.SIGTERM)
    output, errors = running.communicate(timeout=PATIENCE)
    assert (running.returncode, output) == (75, "")
    *others, last = errors.splitlines()
    assert all(map(told.match, others)), "every ten seconds"
    assert re.match(
        r"antipodes: (\S+ \S+ )?stopped after \d+\.\d s: no path of fewer than \d+ moves; nothing is saved", last
    )


@pytest.mark.parametrize("method", ["bfs", "bidirectional", "iddfs", "ida-star"])
def test_a_search_shows_its_progress(cli: Command, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setattr("antipodes.progress.search_progress.FIRST", 0)
    monkeypatch.setattr("antipodes.progress.search_progress.REPEATED", 0)
    loud = cli("solve", "eight-puzzle", FARTHEST, "--method", method)
    assert loud.status == 0
    assert re.search(rf"{method}: no path of fewer than \d+ moves so far, [\d,]+ positions expanded", loud.err)
    quiet = cli("solve", "eight-puzzle", FARTHEST, "--method", method, "--quiet")
    assert (quiet.status, quiet.err) == (0, "")


def test_an_interrupted_search_says_what_is_ruled_out(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(progress: SearchProgress, latest: Progress) -> None:
        if (latest.least or 0) > 12:
            progress._last = latest
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(SearchProgress, "__call__", stop)
    arguments = ("solve", "eight-puzzle", FARTHEST, "--method", "bfs")
    assert "s: no path of fewer than 13 moves; nothing is saved" in refused(*arguments, status=75)


GOAL = """
[puzzle]
name = "first-five"
family = "sliding"
rows = 2
columns = 3
start = "1 2 3 4 5 0"
goal = "5 ? ? ? ? ?"
"""


def test_the_start_of_a_config_with_a_goal_is_solved_and_its_distance_is_reported(cli: Command) -> None:
    Path("first.toml").write_text(GOAL)
    solved = json.loads(cli("solve", "first.toml", "--json").out)
    assert solved["solutions"][0][0] == "1 2 3 4 5 0"
    assert solved["solutions"][0][-1].startswith("5")
    assert solved["distance"] == 6
    assert "start   6 moves from the goal\n" in cli("run", "first.toml", "--quiet").out
    assert json.loads(cli("run", "first.toml", "--quiet", "--json").out)["start_distance"] == 6
    counted = cli("run", "first.toml", "--counts-only", "--store", "counts.zarr", "--quiet", "--json")
    assert json.loads(counted.out)["start_distance"] is None
    refused = cli("solve", "eight-puzzle")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == ("antipodes: no position given; give one, because eight-puzzle has no separate goal\n")
    assert json.loads(cli("run", "eight-puzzle", "--quiet", "--json").out)["start_distance"] is None


FIFTEEN = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 0 15"
ONE_BELOW = "? ? ? ? 0 1" + " ?" * 10


@pytest.mark.slow
def test_a_goal_pattern_may_match_more_positions_than_can_be_listed(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = json.loads(cli("solve", "fifteen-puzzle", FIFTEEN, "--to", ONE_BELOW, "--all", "--json").out)
    assert (found["method"], found["distance"]) == ("bfs", 8)
    assert all(path[-1].split()[4:6] == ["0", "1"] for path in found["solutions"])
    batch = cli("solve", "fifteen-puzzle", "--batch", "-", "--to", ONE_BELOW, "--quiet", stdin=f"{FIFTEEN}\n")
    assert f"\n{FIFTEEN},8,solved," in batch.out
    refused = cli("solve", "fifteen-puzzle", FIFTEEN, "--to", ONE_BELOW, "--method", "iddfs")
    assert (refused.status, refused.err) == (
        2,
        "antipodes: iddfs needs a list of goals, but the pattern matches too many positions; choose bfs\n",
    )
    goal = "? ? 3 / ? 0 ? / ? 1 ?"
    asked = ("solve", "eight-puzzle", "867254301", "--to", goal, "--all", "--json")
    listed = json.loads(cli(*asked, "--method", "bfs").out)
    monkeypatch.setattr(goals, "MAX_GOALS", 100)
    matched = json.loads(cli(*asked).out)
    assert matched["reason"] == "the goal pattern matches too many positions to list them"
    same = ("distance", "solution_count", "solutions")
    assert [matched[key] for key in same] == [listed[key] for key in same]


@pytest.mark.slow
def test_goal_patterns_of_dials_and_orientations(cli: Command) -> None:
    tower = json.loads(
        cli("solve", "hanoi-3-pegs", "1 1 1 1 1 1 1 1 1 1 1 1", "--to", "? " * 9 + "2 2 2", "--json").out
    )
    assert tower["solutions"][0][-1].split()[-3:] == ["2", "2", "2"]
