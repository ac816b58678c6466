import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command
from stores import toml
from tiling_stores import SQUARE, tiled

LINE = {"name": "line", "family": "sliding", "rows": 1, "columns": 3, "start": "1 2 0"}


@pytest.fixture
def outputs(cli: Command, tmp_path: Path, unfinished: Path) -> Path:
    """A directory with stores of every kind, and other things."""
    (tmp_path / "line.toml").write_text(toml(LINE))
    cli("run", "line.toml", "--quiet")
    cli("run", "line.toml", "--quiet", "--counts-only")
    outputs = tmp_path / "outputs"
    unfinished.rename(outputs / "unfinished.zarr")
    tiled(SQUARE, outputs / "square.zarr")
    tiled(SQUARE, outputs / "damaged.zarr")
    (outputs / "damaged.zarr" / "commit.json").write_text("{}")
    (outputs / "foreign").mkdir()
    (outputs / ".hidden").mkdir()
    (outputs / "file").write_text("")
    return outputs


def test_text(cli: Command, outputs: Path) -> None:
    outcome = cli("list")
    assert (outcome.status, outcome.err) == (0, "")
    heading, *lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert heading == "name kind state holds radius size last commit"
    shown = {re.split("[: ]", line)[0]: line for line in lines}
    assert shown["line"].startswith("line table finished 3 positions 2 ")
    assert shown["line.counts"].startswith("line.counts counts finished 3 positions 2 ")
    assert shown["unfinished"].startswith("unfinished table unfinished 706 positions 10 so far ")
    assert shown["square"].startswith("square tilings finished 10 tilings - ")
    assert "is damaged: expected a manifest with a checksum" in shown["damaged"]
    assert shown["foreign"] == "foreign: not a store: it has no commit.json"
    assert len(lines) == 6


def test_json(cli: Command, outputs: Path) -> None:
    shown = {one["name"]: one for one in json.loads(cli("list", outputs, "--json").out)}
    kinds = {name: (one["kind"], one["complete"]) for name, one in shown.items()}
    assert kinds == {
        "line": ("table", True),
        "line.counts": ("counts", True),
        "unfinished": ("table", False),
        "square": ("tilings", True),
        "damaged": (None, None),
        "foreign": (None, None),
    }
    assert shown["line"]["path"] == str(outputs / "line.zarr")
    assert (shown["line"]["states"], shown["line"]["radius"], shown["square"]["tilings"]) == (3, 2, 10)


def test_every_name_is_one_that_commands_take(cli: Command, outputs: Path) -> None:
    for one in json.loads(cli("list", "--json").out):
        if one["problem"] is None:
            assert cli("status", one["name"]).status == 0


def test_a_store_itself_and_nothing(cli: Command, refused: Callable[..., str], finished: Path) -> None:
    (only,) = json.loads(cli("list", finished, "--json").out)
    assert only["states"] == 181440
    assert cli("list").out == "no stores in outputs/: antipodes run PUZZLE makes one\n"
    assert json.loads(cli("list", "--json").out) == []
    assert "found nothing at none" in refused("list", "none")
    assert "found something else at /dev/null" in refused("list", "/dev/null")
