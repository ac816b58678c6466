import json
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command
from stores import toml

from antipodes.puzzles.config import load_config

TOWERS = {"name": "towers", "family": "hanoi", "pegs": 4, "discs": 5}


@pytest.fixture
def towers(tmp_path: Path) -> str:
    """The file of a puzzle with 6 symmetries."""
    (tmp_path / "towers.toml").write_text(toml(TOWERS))
    return "towers.toml"


def test_a_run_with_symmetries_counts_positions_and_says_so(cli: Command, towers: str) -> None:
    planned = json.loads(cli("plan", towers, "--symmetry", "on", "--json").out)
    assert (planned["index_size"], planned["symmetry"], planned["space"]) == (1024, 6, "reduced")
    assert planned["entries"] == planned["rows"] * planned["width"] < 1024
    reduced = f"  reduced      by 6 symmetries to {planned['entries']} entries"
    assert cli("plan", towers, "--symmetry", "on").out.splitlines()[:2] == ["towers: 1,024 positions", reduced]
    report = json.loads(cli("run", towers, "--symmetry", "on", "--quiet", "--json").out)
    assert f"reduced by 6 symmetries to {planned['entries']} entries" in cli("run", towers, "--quiet").out.splitlines()
    assert (report["states"], report["entries"]) == (1024, planned["entries"])
    status = json.loads(cli("status", "towers", "--json").out)
    assert (status["symmetry"], status["entries"], status["states"]) == (6, planned["entries"], 1024)
    text = cli("status", "towers").out
    assert "positions    1,024 of 1,024" in text
    assert reduced in text
    assert cli("verify", "towers").out.startswith("ok: checked 1,024 positions ")
    assert len(json.loads(cli("farthest", "towers", "--json").out)["positions"]) == report["antipodes"]


def test_the_config_says_whether_to_reduce(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "towers.toml").write_text(toml(TOWERS, {"symmetry": "on"}))
    assert json.loads(cli("run", "towers.toml", "--quiet", "--json").out)["symmetry"] == 6
    whole = json.loads(cli("run", "towers.toml", "--symmetry", "off", "--overwrite", "--quiet", "--json").out)
    assert (whole["symmetry"], whole["entries"]) == (1, 4**5)


def test_classes_of_positions_of_a_reduced_table(cli: Command, towers: str) -> None:
    shown = []
    for symmetry in ("on", "off"):
        assert cli("run", towers, "--symmetry", symmetry, "--overwrite", "--quiet").status == 0
        layers = json.loads(cli("layers", "towers", "--unique", "--json").out)
        farthest = json.loads(cli("farthest", "towers", "--unique", "--json").out)
        shown.append((layers, {**farthest, "positions": sorted(farthest["positions"])}))
    assert shown[0] == shown[1]


def test_a_store_with_another_symmetry_than_asked_is_refused_in_a_line(
    cli: Command, refused: Callable[..., str], towers: str
) -> None:
    for symmetry, other, found in (
        ("on", "off", "reduced by 6 symmetries"),
        ("off", "on", "not reduced by symmetries"),
    ):
        assert cli("run", towers, "--symmetry", symmetry, "--overwrite", "--quiet").status == 0
        expected = f"outputs/towers.zarr is {found}, so it cannot be resumed with --symmetry {other}"
        assert expected in refused("run", towers, "--symmetry", other)
        for fitting in ([], ["--symmetry", "auto"], ["--symmetry", symmetry]):
            assert cli("run", towers, *fitting, "--quiet").status == 0


@pytest.mark.slow
def test_large_tables_are_reduced_unless_the_run_says_otherwise(cli: Command) -> None:
    planned = json.loads(cli("plan", "2x2x2", "--counts-only", "--json").out)
    assert (planned["symmetry"], planned["index_size"], planned["entries"]) == (48, 88_179_840, 2_152_008)
    entries = "  reduced      by 48 symmetries to 2,152,008 entries, which saves time or memory"
    assert entries in cli("plan", "2x2x2").out.splitlines()
    assert (
        "  not reduced  searching all positions takes only about a second"
        in cli("plan", "eight-puzzle", "--verbose").out
    )
    assert "  not reduced  symmetry is off" in cli("plan", "2x2x2", "--symmetry", "off", "--verbose").out


@pytest.mark.slow
def test_patterns_of_sliding_puzzles_are_not_reduced(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`solve` would have to expand a reduced table of a sliding puzzle in memory, but not one of a turning puzzle."""
    monkeypatch.setattr("antipodes.cli.commands.abstract.is_reduced_by_default", lambda rules: True)
    (tmp_path / "pattern.toml").write_text(cli("abstract", "fifteen-puzzle", "--keep", "1,2,3").out)
    assert load_config("pattern.toml").run == {"symmetry": "off"}
    assert "[run]" not in cli("abstract", "3x3x3", "--omit", "EDGES").out
    assert json.loads(cli("plan", "3x3x3-corners", "--json").out)["symmetry"] == 48


def test_what_can_not_be_reduced_is_refused_in_a_line(refused: Callable[..., str]) -> None:
    for command in ("run", "plan"):
        message = refused(command, "three-colours", "--symmetry", "on")
        assert "the table of three-colours cannot be reduced: the puzzle has no symmetries" in message
        assert "symmetry: expected one of auto, on, off, found 'perhaps'" in refused(
            command, "eight-puzzle", "--symmetry", "perhaps"
        )
