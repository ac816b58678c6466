"""Puzzles, and positions and permutations as numbers."""

import json
from collections.abc import Callable
from itertools import permutations

import pytest
from oracles import ORACLES
from programs import Command

from antipodes.puzzles.config import bundled_configs, bundled_puzzles
from antipodes_tasks.permutations.ranks import ALGORITHMS
from workshop.atlas.__main__ import index_sizes


def test_json(cli: Command) -> None:
    outcome = cli("puzzles", "--json")
    listed = json.loads(outcome.out)
    assert (outcome.status, outcome.err) == (0, "")
    assert [one["name"] for one in listed] == list(bundled_configs())
    assert all({"name", "family", "index_size", "description"} <= set(one) for one in listed)
    assert {one["name"]: one["index_size"] for one in listed}["seven-tiles"] == 518_918_400


@pytest.mark.parametrize("columns", [1, 24, 40, 79, 80, 200])
def test_lines_fit_the_terminal(columns: int, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = cli("puzzles").out.splitlines()
    assert max(map(len, lines)) <= max(columns, 27)  # the longest name
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert sorted(listed) == sorted(bundled_configs())
    assert [line for line in lines if line[0] != " "] == sorted({one.family for one in bundled_puzzles()})
    text = " ".join(" ".join(lines).split())
    assert "5,765,760 Tiles 1 to 5 and ten identical tiles on a 4x4 board" in text
    assert text.count("3,149,280") == 1  # the description of the cube ends with it, too


@pytest.mark.slow
def test_the_sizes_in_the_file_are_those_of_the_tables() -> None:
    """``make atlas`` writes them; here each puzzle is built and counted anew."""
    sizes = {one.name: one.index_size for one in bundled_puzzles()}
    assert sizes == index_sizes(sizes)


def test_nothing_is_searched_or_built(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(settings: object) -> None:
        raise AssertionError(f"expected no puzzle to be built, found {settings}")

    monkeypatch.setattr("antipodes.puzzles.config.puzzle_from", refuse)
    assert cli("puzzles").status == 0


def test_a_position_that_begins_with_a_dash(cli: Command) -> None:
    outcomes = [
        cli("rank", "knights-coloured", *words)
        for words in (["-B-B-BW-W-W-"], ["--json", "-BBBWWW-----"], ["--", "---BBBWWW---"])
    ]
    assert [outcome.status for outcome in outcomes] == [0, 0, 0]
    assert len({outcome.out for outcome in outcomes}) == 3


@pytest.mark.parametrize("index", [0, 1, 12345, 181439])
def test_inverse(index: int, cli: Command) -> None:
    position = json.loads(cli("unrank", "eight-puzzle", index, "--json").out)
    assert position["index"] == index
    ranked = json.loads(cli("rank", "eight-puzzle", position["position"], "--json").out)
    assert ranked == position
    assert cli("rank", "eight-puzzle", position["position"]).out == f"{index}\n"


def test_text(cli: Command) -> None:
    out = cli("unrank", "eight-puzzle", 0).out.splitlines()
    assert len(out) == 1 + 5
    assert cli("rank", "eight-puzzle", out[0]).out == "0\n"


def test_a_position_without_an_index(cli: Command, refused: Callable[..., str]) -> None:
    odd = "2 1 3 4 5 6 7 8 0"
    assert json.loads(cli("rank", "eight-puzzle", odd, "--json").out) == {"position": odd, "index": None}
    assert f"position '{odd}' is unreachable, so it has no index" in refused("rank", "eight-puzzle", odd)


def test_a_large_one(cli: Command) -> None:
    last = 518_918_399
    position = json.loads(cli("unrank", "seven-tiles", last, "--json").out)["position"]
    assert cli("rank", "seven-tiles", position).out == f"{last}\n"


ORACLE = ORACLES["permutation"]


@pytest.mark.parametrize("written", ["3 1 2 0", "3,1,2,0", "3120", " 3/1 2,0 "])
def test_the_published_digits(cli: Command, written: str) -> None:
    assert cli("rank", "--permutation", written).out == "permutation  3 1 2 0\ndigits       3 1 1\nnumber       21\n"
    found = json.loads(cli("rank", "--permutation", written, "--json").out)
    assert found["factorial_digits"] == ORACLE["3120"]["factorial_digits"]
    assert (found["permutation"], found["index"], found["algorithm"]) == ([3, 1, 2, 0], 21, "counting")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_unrank_is_the_inverse(cli: Command, algorithm: str) -> None:
    seen = set()
    for elements in permutations(range(4)):
        text = " ".join(map(str, elements))
        ranked = json.loads(cli("rank", "--permutation", text, "--algorithm", algorithm, "--json").out)
        back = cli("unrank", "--permutation", ranked["index"], "--elements", 4, "--algorithm", algorithm, "--json")
        assert json.loads(back.out) == ranked
        seen.add(ranked["index"])
    assert seen == set(range(24))


def test_the_greatest(cli: Command) -> None:
    backwards = " ".join(map(str, range(19, -1, -1)))
    out = cli("rank", "--permutation", backwards).out
    assert "number       2432902008176639999\n" in out
    assert cli("unrank", "--permutation", 2432902008176639999, "--elements", 20).out == out


def test_one_element(cli: Command) -> None:
    assert cli("rank", "--permutation", "0").out == "permutation  0\ndigits       none\nnumber       0\n"
