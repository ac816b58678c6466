import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command

from antipodes.tables.planning.duration import described_range

KEYS = {"seconds_at_least", "index_size", "rows", "width", "partitions", "memory_bytes", "disk_bytes", "table_bytes"}


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


def test_the_time_of_a_run(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.tables.planning.duration.TRIAL_SECONDS", 60.0)
    planned = json.loads(cli("plan", "pancake-10", "--json", "--workers", 1).out)
    assert planned["fits"]
    assert planned["seconds_at_least"] is None
    assert planned["seconds"] == pytest.approx(sum(planned["phases"].values()))
    assert min(planned["phases"].values()) > 0
    text = cli("plan", "eight-puzzle", "--workers", 1).out
    assert re.search(r"^  time         (about )?\d.* seconds? with 1 thread, judging by", text, re.MULTILINE)
    low, high = planned["seconds_range"]
    assert low < planned["seconds"] < high
    assert text.endswith("  can run      yes\n")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ((0.02, 0.04), "about 1 second"),
        ((0.7, 1.6), "1 to 2 seconds"),
        ((4.26, 43.9), "4 to 44 seconds"),
        ((43.9, 4e3), "44 seconds to 67 minutes"),
        ((9e4, 9e9), "25 hours to 100,000 days"),
    ],
)
def test_times_are_ranges_of_two_digits(seconds: tuple[float, float], said: str) -> None:
    assert described_range(seconds) == said


def test_what_a_run_has_too_little_of(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = json.loads(cli("plan", "seven-tiles", "--json", "--memory-limit", "10MB").out)
    assert not planned["fits"]
    assert planned["phases"]["search"] > 0, "on a machine that has the memory"
    monkeypatch.setattr("antipodes.storage.directory.DirectoryStorage.free_bytes", lambda self: 1000)
    assert cli("plan", "seven-tiles").out.endswith("  can run      no: too little disk\n")
    out = cli("plan", "seven-tiles", "--memory-limit", "10MB").out
    assert re.search(r"  time         .* to .*\n  can run      no: too little memory and disk\n$", out)


def test_how_the_work_is_divided_is_said_on_request(cli: Command) -> None:
    plain = cli("plan", "eight-puzzle", "--workers", 2).out
    assert not re.search("column|partition|move table", plain)
    verbose = cli("plan", "eight-puzzle", "--workers", 2, "--verbose").out
    assert "504 rows of 360 columns, 14 column maps; move tables" in verbose
    assert "2 partitions" in verbose


def test_a_time_that_a_trial_does_not_tell(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.tables.planning.duration.TRIAL_SECONDS", 0.0)
    planned = json.loads(cli("plan", "hanoi-3-pegs", "--json").out)
    assert planned["seconds"] is None
    assert planned["seconds_at_least"] == pytest.approx(sum(planned["phases"].values()))
    low, high = planned["seconds_range"]
    assert low <= planned["seconds_at_least"] < high
    assert re.search(r"  time         .* seconds? with .*, a rough estimate", cli("plan", "hanoi-3-pegs").out)
    assert planned["table_bytes"] == planned["move_table_bytes"] > 0


@pytest.mark.parametrize("size", ["much", "0", "-1", "nan", "inf", "1e400"])
def test_no_sizes(size: str, refused: Callable[..., str]) -> None:
    assert "memory" in refused("plan", "eight-puzzle", f"--memory-limit={size}")


def test_larger_than_any_disk(cli: Command, refused: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "big.toml"
    start = " ".join(map(str, range(25)))
    path.write_text(f'[puzzle]\nname="big"\nfamily="sliding"\nrows=5\ncolumns=5\nstart="{start}"')
    assert "2^63" in refused("run", path)
    assert "some 10^25 positions\n  can run      no: " in cli("plan", path).out
    start = " ".join(map(str, range(16)))
    path.write_text(f'[puzzle]\nname="big"\nfamily="sliding"\nrows=4\ncolumns=4\nstart="{start}"')
    assert "10,461,394,944,000 positions" in cli("plan", path).out
    assert "10,461,394,944,000 positions take at least" in refused("run", path)
