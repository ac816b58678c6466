"""Klotski and a parking of cars as a person solves them, from the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command

from antipodes.executors.threads import Threads
from antipodes.tables.verify import verify

KLOTSKI = "BAAC/BAAC/DEEF/DGHF/I..J"
EXIT = "????/????/????/?AA?/?AA?"


@pytest.mark.parametrize(("puzzle", "moves"), [("klotski", 116), ("klotski-moves", 81)])
def test_the_large_block_of_klotski_leaves(cli: Command, puzzle: str, moves: int) -> None:
    """In 116 steps of one square, or 81 moves (M. Gardner, Scientific American, February 1964)."""
    solved = json.loads(cli("solve", puzzle, KLOTSKI, "--to", EXIT, "--json", "--quiet").out)
    assert solved["distance"] == len(solved["moves"]) == moves
    assert [row[1:3] for row in solved["solutions"][0][-1].split("/")[3:]] == ["AA", "AA"]
    to_the_end = json.loads(cli("solve", puzzle, "--moves", " ".join(solved["moves"]), "--to", EXIT, "--json").out)
    assert to_the_end["distance"] == 0


def test_klotski_has_a_table_as_any_puzzle_has(cli: Command, refused: Callable[..., str]) -> None:
    planned = json.loads(cli("plan", "klotski", "--json").out)
    assert (planned["index_size"], planned["reachable"], planned["space"]) == (25955, 25955, "enumerated")
    report = json.loads(cli("run", "klotski", "--quiet", "--json").out)
    assert (report["states"], report["index_size"]) == (25955, 25955)
    matches = json.loads(cli("query", "klotski", "--pattern", EXIT, "--json").out)
    assert matches["nearest"]["distance"] == 116
    assert matches["nearest"]["count"] == 2
    (found,) = json.loads(cli("query", "klotski", matches["nearest"]["positions"][0], "--path", "--json").out)
    assert (len(found["path"]), len(found["moves"])) == (117, 116)
    farthest = json.loads(cli("farthest", "klotski", "--json").out)
    assert (farthest["radius"], farthest["count"]) == (report["radius"], len(farthest["positions"]))
    rank = json.loads(cli("rank", "klotski", KLOTSKI, "--json").out)["index"]
    assert json.loads(cli("unrank", "klotski", str(rank), "--json").out)["position"] == KLOTSKI
    verdict = verify(Path("outputs/klotski.zarr"), Threads(2))
    assert (verdict.ok, verdict.checked_states) == (True, 25955)
    (apart,) = json.loads(cli("query", "klotski", "GHIJ/..BC/EEBC/DAAF/DAAF", "--json").out)
    assert apart["distance"] is None
    assert "expected 2 x '.', found 1" in refused("query", "klotski", KLOTSKI.replace(".", "K", 1))


@pytest.mark.parametrize(("goal", "layers"), [("B.A", None), (["B.A", "A.B", "BA."], [1, 2]), ("???", [3])])
def test_goals_that_the_start_cannot_reach_do_not_count(
    goal: str | list[str], layers: list[int] | None, cli: Command, refused: Callable[..., str]
) -> None:
    Path("p.toml").write_text(
        f'[puzzle]\nname = "p"\nfamily = "blocks"\ndistinct = true\nstart = "A.B"\ngoal = {json.dumps(goal)}\n'
    )
    if layers is None:
        assert "goal: expected one that the start can reach, found none in 1" in refused("run", "p.toml")
        return
    report = json.loads(cli("run", "p.toml", "--quiet", "--json").out)
    assert (report["layers"], report["index_size"]) == (layers, 3)
    assert verify(Path("outputs/p.zarr"), Threads(1)).ok
    assert json.loads(cli("solve", "p.toml", "--moves", "A-right", "--to", "A.B", "--json").out)["distance"] == 1
    assert "3 positions searched by brute force" in cli("check", "p.toml").out


def test_cars_are_as_far_as_from_the_nearest_exit(cli: Command) -> None:
    start = "BBBCC./DDE.../AAEFG./.HHFG./I.JJGK/ILL..K"
    solved = json.loads(cli("solve", "rush-hour", start, "--json", "--quiet").out)
    assert solved["distance"] == 20
    assert solved["solutions"][0][-1].split("/")[2].endswith("AA")
