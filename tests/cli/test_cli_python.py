"""Puzzles written in Python, at the command line: check, run, resume, query, verify, solve."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command

JUGS = '''
import numpy as np
from antipodes import define_puzzle

CAPACITY = (8, 5, 3)

def pour(origin, destination):
    def move(jugs):
        amount = np.minimum(jugs[:, origin], CAPACITY[destination] - jugs[:, destination])
        jugs[:, origin] -= amount
        jugs[:, destination] += amount
        return jugs, amount > 0
    return move

def jugs():
    moves = {f"{a}{b}": pour(a, b) for a in range(3) for b in range(3) if a != b}
    return define_puzzle(name="jugs", radices=[9, 6, 4], start=[8, 0, 0], moves=moves)

def wrong():
    moves = {"pour": pour(0, 1)}
    return define_puzzle(name="wrong", radices=[9, 6, 4], start=[8, 0, 0], moves=moves, inverses={"pour": "pour"})

def dials(count=6):
    """Dials, each of which turns if those before it are at 0."""
    def turn(dial, by):
        def move(dials):
            legal = ~dials[:, :dial].any(axis=1)
            dials[:, dial] = (dials[:, dial] + by) % 4
            return dials, legal
        return move
    moves = {f"{dial}{'+' if by > 0 else '-'}": turn(dial, by) for dial in range(count) for by in (1, -1)}
    inverses = {f"{dial}+": f"{dial}-" for dial in range(count)}
    return define_puzzle(name="dials", radices=[4] * count, start=[0] * count, moves=moves, inverses=inverses)
'''

LOCK = "\nimport threading\nlock = threading.Lock()\n"


@pytest.fixture
def jugs(cli: Command, tmp_path: Path) -> Path:
    """The file in the current directory."""
    path = tmp_path / "jugs.py"
    path.write_text(JUGS)
    return path


def test_check(cli: Command, jugs: Path) -> None:
    outcome = cli("check", "jugs.py:jugs", "--json")
    assert (outcome.status, outcome.err) == (0, "")
    assert json.loads(outcome.out)["ok"] is True
    assert json.loads(outcome.out)["problems"] == []
    assert "jugs is ok: 216 positions moved" in cli("check", "jugs.py:jugs").out


def test_check_with_problems(cli: Command, jugs: Path) -> None:
    outcome = cli("check", "jugs.py:wrong", "--json")
    assert outcome.status == 1
    found = json.loads(outcome.out)
    assert found["ok"] is False
    assert found["problems"][0].startswith("move 'pour' leads from 8 0 0 to 3 5 0, but its inverse ")
    assert cli("check", "jugs.py:wrong").out.endswith("wrong: 1 problem\n")


def test_run_refuses_moves_that_differ_between_processes(
    jugs: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    jugs.write_text(JUGS.replace("(8, 5, 3)", "(8, 5, 3 - int(os.environ.get('PYTHONHASHSEED') == '1'))\nimport os"))
    jugs.write_text("import os\n" + jugs.read_text())
    assert "jugs makes different moves or starts in a second process" in refused("run", "jugs.py:jugs")
    assert not list(tmp_path.glob("outputs/*/*"))


def test_prints_do_not_break_json(cli: Command, jugs: Path) -> None:
    jugs.write_text(JUGS.replace("return jugs, amount > 0", "print(1); return jugs, amount > 0"))
    outcome = cli("solve", "jugs.py:jugs", "8 0 0", "--to", "5 0 3", "--json", "--quiet")
    assert json.loads(outcome.out)["distance"] == 1
    assert set(outcome.err.split()) == {"1"}


def test_no_puzzle_to_check(jugs: Path, refused: Callable[..., str]) -> None:
    assert "does not define 'nothing'" in refused("check", "jugs.py:nothing")


def test_run_query_and_verify(cli: Command, jugs: Path) -> None:
    outcome = cli("run", "jugs.py:jugs", "--json", "--quiet")
    assert outcome.status == 0
    assert json.loads(outcome.out)["layers"] == [1, 2, 3, 2, 2, 2, 2, 2]
    assert json.loads(cli("query", "jugs", "4 4 0", "--json").out)[0]["distance"] == 7
    path = json.loads(cli("query", "jugs", "4 4 0", "--path", "--json").out)[0]["path"]
    assert path == ["4 4 0", "1 4 3", "1 5 2", "6 0 2", "6 2 0", "3 2 3", "3 5 0", "8 0 0"]
    assert cli("verify", "jugs").status == 0
    assert json.loads(cli("solve", "jugs.py:jugs", "8 0 0", "--to", "4 4 0", "--json").out)["distance"] == 7


def test_tables_of_rows_and_columns(cli: Command, jugs: Path) -> None:
    assert json.loads(cli("plan", "jugs.py:dials", "--json").out)["width"] > 1
    outcome = cli("run", "jugs.py:dials", "--json", "--quiet")
    assert json.loads(outcome.out)["states"] == 4**6
    assert cli("verify", "dials").status == 0
    path = json.loads(cli("query", "dials", "1 0 0 2 0 3", "--path", "--json").out)[0]["path"]
    assert path == ["1 0 0 2 0 3", "0 0 0 2 0 3", "0 0 0 1 0 3", "0 0 0 0 0 3", "0 0 0 0 0 0"]


def test_a_store_needs_its_file(cli: Command, jugs: Path, refused: Callable[..., str]) -> None:
    assert cli("run", "jugs.py:jugs", "--quiet").status == 0
    jugs.write_text(JUGS + "\n# a remark\n")
    assert "jugs.py, which has changed since" in refused("query", "jugs", "4 4 0")
    assert "jugs.py, which has changed since" in refused("run", "jugs.py:jugs")
    assert cli("run", "jugs.py:jugs", "--quiet", "--overwrite").status == 0
    assert cli("query", "jugs", "4 4 0").status == 0
    jugs.unlink()
    assert "cannot be read as a Python file: No such file" in refused("query", "jugs", "4 4 0")


def test_errors_of_the_file(cli: Command, jugs: Path, refused: Callable[..., str]) -> None:
    jugs.write_text(JUGS.replace("amount > 0", "amount.no_such_thing"))
    assert "move '01': AttributeError (jugs.py, line 12)" in refused("run", "jugs.py:jugs")
    jugs.write_text(JUGS.replace("return jugs, amount > 0", "raise SystemExit"))
    assert "move '01': SystemExit (jugs.py, line 12)" in refused("run", "jugs.py:jugs")
    jugs.write_text("def x(:")
    assert "SyntaxError (jugs.py, line 1)" in refused("run", "jugs.py:x")


@pytest.mark.slow
def test_functions_that_other_processes_cannot_get(cli: Command, jugs: Path) -> None:
    jugs.write_text(JUGS.replace("CAPACITY[destination] -", "lock and CAPACITY[destination] -") + LOCK)
    outcome = cli("run", "jugs.py:jugs", "--scheduler", "local", "--workers", 1, "--quiet")
    assert outcome.status == 2
    assert re.search(r"moves, for other processes: TypeError.*: cannot pickle '_thread.lock'", outcome.err)
