import json
from collections.abc import Callable
from pathlib import Path

from conftest import Command
from stores import set_depth


def test_json(cli: Command, finished: Path) -> None:
    outcome = cli("verify", finished, "--json", "--workers", 1)
    assert outcome.status == 0
    assert json.loads(outcome.out) == {"ok": True, "checked_states": 362880, "sampled_states": 1000, "problems": []}


def test_text(cli: Command, finished: Path, unfinished: Path) -> None:
    for store in (finished, unfinished):
        outcome = cli("verify", store)
        assert (outcome.status, outcome.out[:3]) == (0, "ok:")


def test_a_wrong_depth(cli: Command, eight: Path) -> None:
    set_depth(eight, 4711, lambda depth: (depth + 3) % 32)
    outcome = cli("verify", eight, "--json")
    assert outcome.status == 1
    verdict = json.loads(outcome.out)
    assert not verdict["ok"]
    assert verdict["problems"]
    assert cli("verify", eight).status == 1


def test_bad_usage(refused: Callable[..., str], finished: Path) -> None:
    refused("verify")
    refused("verify", "none.zarr")
    refused("verify", finished, "--workers", "0")
