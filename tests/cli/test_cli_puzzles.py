import json

import pytest
from programs import Command

from antipodes.config import bundled_configs, bundled_puzzles
from atlas.__main__ import index_sizes


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
    assert max(map(len, lines)) <= max(columns, 26)  # the longest name
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert sorted(listed) == sorted(bundled_configs())
    assert [line for line in lines if line[0] != " "] == sorted({one["family"] for one in bundled_puzzles()})
    text = " ".join(" ".join(lines).split())
    assert "5,765,760 Tiles 1 to 5 among ten equal ones on a 4x4 board" in text
    assert text.count("3,149,280") == 1  # the description of the cube ends with it, too


def test_the_sizes_in_the_file_are_those_of_the_tables() -> None:
    """``make atlas`` writes them; here each puzzle is built and counted anew."""
    assert {one["name"]: one["index_size"] for one in bundled_puzzles()} == index_sizes()


def test_nothing_is_searched_or_built(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(settings: object) -> None:
        raise AssertionError(f"expected no puzzle to be built, found {settings}")

    monkeypatch.setattr("antipodes.config.puzzle_from", refuse)
    assert cli("puzzles").status == 0
