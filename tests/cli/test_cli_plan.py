import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command

from antipodes.cli.commands.plan import described_time

KEYS = {"index_size", "rows", "width", "partitions", "memory_bytes", "disk_bytes", "table_bytes"}


@pytest.mark.parametrize(("name", "size"), [("seven-tiles", 518_918_400), ("eight-puzzle", 181_440)])
def test_json(name: str, size: int, cli: Command) -> None:
    outcome = cli("plan", name, "--json", "--workers", 2)
    planned = json.loads(outcome.out)
    assert set(planned) >= KEYS
    assert planned["index_size"] == planned["rows"] * planned["width"] == size
    assert (outcome.status, outcome.err) == (0, "")


def test_text(cli: Command) -> None:
    assert "12,108,096 positions" in cli("plan", "three-colours").out
    too_little = cli("plan", "three-colours", "--memory-limit", "1MB").out
    assert "does not fit: at least" in too_little
    assert "limit 976.6 KiB" in too_little


def test_the_time_of_a_run(cli: Command) -> None:
    planned = json.loads(cli("plan", "seven-tiles", "--json", "--workers", 1).out)
    assert planned["fits"]
    assert planned["seconds"] == pytest.approx(sum(planned["phases"].values()))
    assert planned["phases"]["search"] > 0.1, "518,918,400 positions"
    assert planned["phases"]["write"] > 0.1
    text = cli("plan", "eight-puzzle", "--workers", 1).out
    assert re.search(r"^  time         about [\d.]+ seconds with 1 thread, judging by", text, re.MULTILINE)
    assert text.endswith("  can run      yes\n")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.02, "0.02 seconds"),
        (4.26, "4 seconds"),
        (43.9, "44 seconds"),
        (4e3, "67 minutes"),
        (9e4, "25 hours"),
        (9e9, "100,000 days"),
    ],
)
def test_times_are_said_to_two_digits(seconds: float, said: str) -> None:
    assert described_time(seconds) == f"about {said}"


def test_what_a_run_has_too_little_of(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = json.loads(cli("plan", "seven-tiles", "--json", "--memory-limit", "10MB").out)
    assert (planned["fits"], planned["seconds"]) == (False, None)
    monkeypatch.setattr("antipodes.storage.local.directory.DirectoryStorage.free_bytes", lambda self: 1000)
    assert cli("plan", "seven-tiles").out.endswith("  can run      no: too little disk\n")
    out = cli("plan", "seven-tiles", "--memory-limit", "10MB").out
    assert out.endswith("  can run      no: too little memory and disk\n")
    assert "time" not in out


@pytest.mark.parametrize("size", ["much", "0", "-1", "nan", "inf", "1e400"])
def test_no_sizes(size: str, refused: Callable[..., str]) -> None:
    assert "memory" in refused("plan", "eight-puzzle", f"--memory-limit={size}")


def test_larger_than_any_disk(cli: Command, refused: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "big.toml"
    start = " ".join(map(str, range(25)))
    path.write_text(f'[puzzle]\nname="big"\nfamily="sliding"\nrows=5\ncolumns=5\nstart="{start}"')
    assert "2^63" in refused("plan", path)
    start = " ".join(map(str, range(16)))
    path.write_text(f'[puzzle]\nname="big"\nfamily="sliding"\nrows=4\ncolumns=4\nstart="{start}"')
    assert "10,461,394,944,000 positions" in cli("plan", path).out
    assert "10,461,394,944,000 positions take at least" in refused("run", path)
