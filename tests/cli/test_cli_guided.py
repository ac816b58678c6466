"""`solve` guided by a function in a Python file, by A* and beam search, and by the gap heuristic."""

import json
import signal
from hashlib import sha256

import pytest
from waiting import PATIENCE

import antipodes as ap

FARTHEST = "8 6 7 / 2 5 4 / 3 0 1"
FUNCTIONS = """
import time
import numpy as np

def misplaced(positions):
    return ((positions != [1, 2, 3, 4, 5, 6, 7, 8, 0]) & (positions != 0)).sum(axis=1)

def triple(positions):
    return 3.0 * misplaced(positions)

def slow(positions):
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def functions(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(FUNCTIONS)
    monkeypatch.chdir(tmp_path)


def answer(cli, *arguments):
    outcome = cli("solve", *arguments, "--json")
    assert outcome.status == 0, outcome
    return json.loads(outcome.out)


@pytest.mark.slow
def test_a_function_guides_astar_and_beam(cli):
    found = answer(cli, "eight-puzzle", FARTHEST, "--heuristic", "own.py:misplaced")
    assert (found["method"], found["distance"], found["heuristic"]) == ("astar", 31, "misplaced")
    assert (found["proved"], found["bound"], found["violations"]) == ("shortest", 1, 0)
    assert found["conditional"] is True
    weighted = answer(
        cli, "eight-puzzle", FARTHEST, "--heuristic", "own.py:misplaced", "--method", "astar", "--weight", 2
    )
    assert 31 <= weighted["distance"] <= 62
    assert (weighted["proved"], weighted["bound"]) in (("within", 2), ("shortest", 1))
    high = answer(cli, "eight-puzzle", FARTHEST, "--heuristic", "own.py:triple")
    assert (high["proved"], high["bound"]) == ("path", None)
    assert high["violations"] > 0
    beam = answer(cli, "eight-puzzle", FARTHEST, "--heuristic", "own.py:misplaced", "--method", "beam", "--width", 100)
    assert (beam["proved"], beam["bound"]) == ("path", None)
    assert len(beam["solutions"][0]) == beam["distance"] + 1 >= 32


@pytest.mark.parametrize(
    ("options", "method"),
    [
        (("--heuristic", "manhattan"), "ida-star"),
        (("--heuristic", "linear-conflict", "--all"), "ida-star"),
        (("--weight", 2), "astar"),
        (("--heuristic", "manhattan", "--weight", 2), "astar"),
        (("--width", 50), "beam"),
        (("--heuristic", "own.py:misplaced", "--width", 50), "beam"),
    ],
)
def test_options_of_a_guided_search_choose_its_method(cli, options, method):
    assert answer(cli, "eight-puzzle", "1 2 3 4 0 5 7 8 6", *options)["method"] == method
    batch = [option for option in options if option != "--all"]
    row = cli("solve", "eight-puzzle", "--batch", "-", *batch, stdin="1 2 3 4 0 5 7 8 6\n").out.splitlines()[1]
    assert f"--method {method}" in row


def test_options_of_a_guided_search_choose_its_method_in_python():
    for options, method in (
        ({"heuristic": "manhattan"}, "ida-star"),
        ({"weight": 2}, "astar"),
        ({"heuristic": "manhattan", "width": 50}, "beam"),
    ):
        assert ap.solve("eight-puzzle", "1 2 3 4 0 5 7 8 6", **options).method == method
        assert [one.method for one in ap.solve_many("eight-puzzle", ["123405786"], **options)] == [method]


def test_the_text_states_what_is_proved(cli):
    text = cli("solve", "eight-puzzle", FARTHEST, "--heuristic", "own.py:misplaced").out
    assert "shortest path, if misplaced returns lower bounds" in text
    text = cli("solve", "eight-puzzle", FARTHEST, "--heuristic", "own.py:triple").out
    assert "not proved to be shortest" in text
    text = cli("solve", "eight-puzzle", FARTHEST, "--method", "astar").out
    assert "\nshortest path\n" in text
    text = cli("solve", "eight-puzzle", FARTHEST, "--method", "beam", "--width", 1).out
    assert "not proved to be shortest" in text or "try a greater --width" in text


def test_gap_for_a_hundred_pancakes(cli, tmp_path):
    (tmp_path / "stack.toml").write_text('[puzzle]\nname = "stack"\nfamily = "pancake"\nn = 100\n')
    found = answer(cli, "stack.toml", "--moves", "100 57 23 80", "--heuristic", "gap", "--method", "ida-star")
    assert (found["distance"], found["proved"], found["violations"]) == (4, "shortest", 0)
    assert answer(cli, "stack.toml", "--moves", "100 57 23 80", "--method", "astar")["distance"] == 4


def test_a_batch_with_a_function(cli, tmp_path):
    (tmp_path / "positions.txt").write_text(f"{FARTHEST.replace('/', '')}\n1 2 3 4 5 6 7 0 8\n")
    batch = ("eight-puzzle", "--batch", "positions.txt", "--heuristic", "own.py:misplaced")
    found = answer(cli, *batch)
    assert [(one["distance"], one["proved"]) for one in found] == [(31, "shortest"), (1, "shortest")]
    source = sha256(FUNCTIONS.encode()).hexdigest()[:8]
    assert found[0]["settings"].endswith(f"--method astar --heuristic misplaced@{source}")


def test_answers_found_with_another_version_of_a_function_are_not_continued(cli, tmp_path):
    (tmp_path / "positions.txt").write_text("123456708\n123456078\n")
    batch = ("solve", "eight-puzzle", "--batch", "positions.txt", "--heuristic", "own.py:misplaced", "--output")
    assert cli(*batch, "out.csv").status == 0
    assert cli(*batch, "out.csv").status == 0
    (tmp_path / "own.py").write_text(FUNCTIONS.replace("!= 0", "!= 1"))
    outcome = cli(*batch, "out.csv")
    assert outcome.status == 2
    assert "have the settings" in outcome.err


def test_a_beam_that_dropped_positions_proves_nothing(cli):
    deep = cli("solve", "eight-puzzle", FARTHEST, "--method", "beam", "--width", 1, "--max-depth", 9).out
    assert deep.startswith("no path found within --max-depth: the beam dropped positions")
    timed = cli("solve", "eight-puzzle", FARTHEST, "--method", "beam", "--width", 1, "--max-seconds", 0).out
    assert timed.startswith("the time limit was reached before a path was found\n")


def test_an_interrupt_ends_a_slow_function(process, tmp_path):
    (tmp_path / "own.py").write_text(FUNCTIONS.replace("time.sleep(60)", "print('called', flush=True); time.sleep(60)"))
    running = process("solve", "eight-puzzle", FARTHEST, "--heuristic", "own.py:slow")
    for line in running.stderr:
        if "called" in line:
            break
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 75, err
    assert "stopped after" in err
