import json
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command

FAR = ["6 4 7 8 5 0 3 2 1", "8 6 7 2 5 4 3 0 1"]


def test_json(cli: Command, finished: Path) -> None:
    shown = json.loads(cli("farthest", finished, "--json").out)
    assert (shown["radius"], shown["count"], sorted(shown["positions"])) == (31, 2, FAR)


def test_limit(cli: Command, finished: Path) -> None:
    shown = json.loads(cli("farthest", finished, "--json", "--limit", 1).out)
    assert (shown["count"], len(shown["positions"])) == (2, 1)
    assert "and 1 more" in cli("farthest", finished, "--limit", 1).out
    assert len(json.loads(cli("farthest", finished, "--json", "--limit", 10**9).out)["positions"]) == 2


def test_text(cli: Command, finished: Path) -> None:
    out = cli("farthest", finished).out
    assert "2 positions at distance 31" in out
    assert "│ 8 6 7 │" in out
    for position in FAR:
        assert position in out


def test_unfinished(refused: Callable[..., str], unfinished: Path) -> None:
    assert "antipodes resume" in refused("farthest", unfinished, status=1)


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "many", "1.5"])
def test_no_limits(limit: str, refused: Callable[..., str], finished: Path) -> None:
    assert "--limit" in refused("farthest", finished, f"--limit={limit}")
