import json
from collections.abc import Callable
from pathlib import Path

import pytest
from oracles import ORACLES
from programs import Command

from antipodes.puzzles.config import load_config
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.store.search_stores import TableStore

ORACLE = ORACLES["sliding/eight-puzzle"]


def test_json(cli: Command, finished: Path) -> None:
    shown = json.loads(cli("layers", finished, "--json").out)
    assert (shown["radius"], shown["layers"]) == (31, ORACLE["layers"])


def test_csv(cli: Command, finished: Path) -> None:
    lines = cli("layers", finished, "--csv").out.splitlines()
    assert lines[0] == "depth,positions"
    assert [line.split(",") for line in lines[1:]] == [[str(d), str(n)] for d, n in enumerate(ORACLE["layers"])]


def test_text(cli: Command, finished: Path) -> None:
    lines = cli("layers", finished).out.splitlines()
    assert lines[1 + 24].split()[:2] == ["24", "24,047"]
    assert len(lines) == 33


def test_unfinished(cli: Command, unfinished: Path) -> None:
    outcome = cli("layers", unfinished)
    assert len(outcome.out.splitlines()) == 12
    assert "unfinished" in outcome.err


@pytest.mark.parametrize("option", [[], ["--csv"], ["--plot", "none.svg"]])
def test_before_the_first_commit(option: list[str], cli: Command, tmp_path: Path) -> None:
    config = load_config("eight-puzzle")
    TableStore(tmp_path / "t.zarr").create(config, plan_run(config.puzzle).cut)
    outcome = cli("layers", "t.zarr", *option)
    assert outcome.status in (0, 1, 2)
    assert len(outcome.err.splitlines()) <= 1
    shown = json.loads(cli("layers", "t.zarr", "--json").out)
    assert (shown["radius"], shown["layers"], shown["complete"]) == (None, [], False)


@pytest.mark.parametrize("suffix", ["svg", "PNG"])
def test_plot(suffix: str, cli: Command, finished: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    outcome = cli("layers", finished, "--plot", f"picture.{suffix}")
    assert (outcome.status, outcome.out) == (0, "")
    assert (tmp_path / f"picture.{suffix}").stat().st_size > 3000


@pytest.mark.parametrize(("file", "status"), [("picture.docx", 2), ("picture", 2), ("no/such/picture.svg", 1)])
def test_files_that_cannot_be_drawn(file: str, status: int, finished: Path, refused: Callable[..., str]) -> None:
    pytest.importorskip("matplotlib")
    assert file in refused("layers", finished, "--plot", file, status=status)


FAR = ["6 4 7 8 5 0 3 2 1", "8 6 7 2 5 4 3 0 1"]


def test_json_of_antipodes(cli: Command, finished: Path) -> None:
    shown = json.loads(cli("farthest", finished, "--json").out)
    assert (shown["radius"], shown["count"], sorted(shown["positions"])) == (31, 2, FAR)


def test_limit(cli: Command, finished: Path) -> None:
    shown = json.loads(cli("farthest", finished, "--json", "--limit", 1).out)
    assert (shown["count"], len(shown["positions"])) == (2, 1)
    assert "and 1 more" in cli("farthest", finished, "--limit", 1).out
    assert len(json.loads(cli("farthest", finished, "--json", "--limit", 10**9).out)["positions"]) == 2


def test_text_of_antipodes(cli: Command, finished: Path) -> None:
    out = cli("farthest", finished).out
    assert "2 positions at distance 31" in out
    assert "│ 8 6 7 │" in out
    for position in FAR:
        assert position in out
