import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command, Process
from stores import set_depth
from tiling_stores import SQUARE

from antipodes.config import load_config
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions
from antipodes.tables.store.stores import TableStore
from antipodes.tilings.config import BoardConfig
from antipodes.tilings.run import tile_board
from antipodes.tilings.store import TilingStore


def test_json(cli: Command, finished: Path) -> None:
    outcome = cli("verify", finished, "--json", "--workers", 1)
    assert outcome.status == 0
    shown = json.loads(outcome.out)
    assert (shown["ok"], shown["checked_states"], shown["problems"]) == (True, 181440, [])
    assert (shown["complete"], shown["committed_depth"]) == (True, 31)
    assert shown["sampled_states"] == 1000


def test_text(cli: Command, finished: Path, unfinished: Path) -> None:
    assert cli("verify", finished).out.startswith("ok: 181,440 positions checked, 1,000 of them by the rules alone, ")
    outcome = cli("verify", unfinished)
    assert (outcome.status, outcome.out) == (
        0,
        "ok, but unfinished: 181,440 positions checked, 1,000 of them by the rules alone, "
        "every distance up to depth 10 is correct\n",
    )


def test_nothing_is_committed(cli: Command, tmp_path: Path) -> None:
    config, board = load_config("eight-puzzle"), BoardConfig(SQUARE)
    TableStore(tmp_path / "t.zarr").create(config, plan_run(config.puzzle).cut)
    TilingStore(tmp_path / "s.zarr").create(board, "pruning", 6)
    for store in ("t.zarr", "s.zarr"):
        outcome = cli("verify", store)
        assert outcome.status == 0
        assert outcome.out.startswith("unfinished: ")
        assert "nothing to check" in outcome.out


def test_unfinished_tilings(cli: Command, tmp_path: Path) -> None:
    asked = iter(range(1000))
    options = RunOptions(workers=1, checkpoint_every=0)
    tile_board(BoardConfig(SQUARE), tmp_path / "s.zarr", options=options, interrupted=lambda: next(asked) >= 3)
    outcome = cli("verify", "s.zarr")
    assert outcome.out.startswith("ok: ")
    assert outcome.out.endswith("; the search is unfinished, 2 of 6 partitions are searched\n")


def test_a_wrong_depth(cli: Command, eight: Path) -> None:
    set_depth(eight, 4711, lambda depth: (depth + 3) % 32)
    outcome = cli("verify", eight, "--json")
    assert outcome.status == 1
    verdict = json.loads(outcome.out)
    assert not verdict["ok"]
    assert verdict["problems"]
    assert cli("verify", eight).status == 1


def test_progress(cli: Command, finished: Path) -> None:
    lines = cli("verify", finished).err.splitlines()
    assert lines[0].endswith(" eight-puzzle: checks 181,440 positions")
    assert lines[-1].endswith(" checking: 181,440 of 181,440 positions compared")
    assert cli("verify", finished, "--quiet").err == ""


def test_a_memory_limit(cli: Command, refused: Callable[..., str], finished: Path) -> None:
    assert cli("verify", finished, "--workers", 1, "--memory-limit", "400MiB").out.startswith("ok: ")
    assert "the check takes at least " in refused("verify", finished, "--memory-limit", "10MiB")
    assert "memory limit: expected a size" in refused("verify", finished, "--memory-limit", "much")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_check_with_one_line(
    refused: Callable[..., str], finished: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    before = {one: signal.signal(one, signal.default_int_handler) for one in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr("antipodes.progress.show.describe", lambda event: signal.raise_signal(number))
    assert refused("verify", finished, status=75) == "antipodes: stopped\n"
    for one, handler in before.items():
        signal.signal(one, handler)


@pytest.mark.slow
def test_the_memory_limit_is_kept(process: Process, tmp_path: Path) -> None:
    limit = 400
    assert process("run", "seven-tiles", "--store", "t.zarr", "--quiet").wait() == 0
    code = (
        "from antipodes.machine import peak_memory; from antipodes.executors.threads import Threads;"
        "from antipodes.tables.verify import verify;"
        f"verdict = verify('t.zarr', Threads(2), memory_limit={limit} << 20); print(verdict.ok, peak_memory())"
    )
    shown = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    ok, peak = shown.stdout.split()
    assert ok == "True"
    assert int(peak) < 1.1 * (limit << 20)


def test_bad_usage(refused: Callable[..., str], finished: Path) -> None:
    refused("verify")
    refused("verify", "none.zarr")
    refused("verify", finished, "--workers", "0")
