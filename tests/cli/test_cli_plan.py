import json
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command

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
