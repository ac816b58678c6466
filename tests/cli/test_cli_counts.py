"""The commands on a store of counts."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command

STORE = "outputs/eight-puzzle.counts.zarr"
SOLVED = "1 2 3 4 5 6 7 8 0"
TELLING = "found the layers of a counts-only run, which have no distances: antipodes run PUZZLE makes a table"


@pytest.fixture
def counted(cli: Command) -> str:
    """The output of a counts-only run of the eight-puzzle, whose store is in outputs/."""
    outcome = cli("run", "eight-puzzle", "--counts-only", "--quiet")
    assert outcome.status == 0
    return outcome.out


def test_run(counted: str) -> None:
    assert "181,440 positions reached" in counted
    assert f"counts  {STORE}" in counted
    assert "antipodes query" not in counted


def test_run_again_reports(counted: str, cli: Command) -> None:
    assert "it was already complete" in cli("run", "eight-puzzle", "--counts-only").out
    report = json.loads(cli("resume", STORE, "--json").out)
    assert (report["counts_only"], report["store"], report["antipodes"]) == (True, STORE, 2)


def test_status(counted: str, cli: Command) -> None:
    assert "eight-puzzle: finished, counts only" in cli("status", "eight-puzzle").out
    assert json.loads(cli("status", "eight-puzzle", "--json").out)["counts_only"]


def test_layers(counted: str, cli: Command, tmp_path: Path) -> None:
    assert cli("layers", "eight-puzzle", "--csv").out.endswith("30,221\n31,2\n")
    assert json.loads(cli("layers", "eight-puzzle", "--json").out)["radius"] == 31
    cli("layers", "eight-puzzle", "--plot", "layers.svg")
    assert (tmp_path / "layers.svg").exists()


def test_farthest(counted: str, cli: Command) -> None:
    assert "8 6 7 2 5 4 3 0 1" in cli("farthest", "eight-puzzle").out
    shown = json.loads(cli("farthest", "eight-puzzle", "--json", "--limit", 1).out)
    assert (shown["radius"], shown["count"], len(shown["positions"])) == (31, 2, 1)
    assert "and 1 more: --limit 2\n" in cli("farthest", "eight-puzzle", "--limit", 1).out


def test_farthest_says_what_is_kept(cli: Command) -> None:
    cli("run", "lights-out-5x5", "--counts-only", "--quiet")
    out = cli("farthest", "lights-out-5x5", "--limit", 1000).out
    assert out.endswith("and 6,350 more\n(a counts-only run keeps the first 1,000)\n")
    assert "and 7,338 more: --limit 1000" in cli("farthest", "lights-out-5x5").out


@pytest.mark.parametrize(
    "command",
    [
        ["query", STORE, SOLVED],
        ["verify", STORE],
        ["solve", "eight-puzzle", SOLVED, "--method", "table", "--store", STORE],
    ],
)
def test_what_needs_a_table_says_so(command: list[str], counted: str, refused: Callable[..., str]) -> None:
    assert TELLING in refused(*command)


def test_unfinished(cli: Command, refused: Callable[..., str], tmp_path: Path) -> None:
    from antipodes.config import load_config
    from antipodes.tables.run import RunOptions, run_puzzle

    run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr", RunOptions(counts_only=True), interrupted=lambda: True)
    assert "antipodes resume t.zarr" in cli("status", "t.zarr").out
    assert "antipodes resume t.zarr" in refused("farthest", "t.zarr", status=1)
    assert "counts  t.zarr" in cli("resume", "t.zarr", "--quiet").out


def test_the_config_may_ask_for_counts(cli: Command, tmp_path: Path) -> None:
    config = '[puzzle]\nname = "line"\nfamily = "sliding"\nrows = 1\ncolumns = 3\nstart = "1 2 0"\n'
    (tmp_path / "line.toml").write_text(f"{config}[run]\ncounts_only = true\n")
    assert json.loads(cli("run", "line.toml", "--json", "--quiet").out)["store"] == "outputs/line.counts.zarr"
    assert json.loads(cli("plan", "line.toml", "--json").out)["disk_bytes"] < 200_000


def test_plan(cli: Command) -> None:
    counts, table = (json.loads(cli("plan", "seven-tiles", *o, "--json").out) for o in (["--counts-only"], []))
    assert counts["memory_bytes"] == counts["least_memory_bytes"] < table["memory_bytes"]
    assert counts["disk_bytes"] < table["disk_bytes"] / 3


def test_progress(cli: Command) -> None:
    assert "reachable or not; counts only, no table" in cli("run", "eight-puzzle", "--counts-only").err
