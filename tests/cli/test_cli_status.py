"""What is stored: the status of a store, lists of stores, and their verification."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import every_kind
import pytest
from programs import Command
from s3 import Bucket
from stores import change_manifest, contents, set_depth, stop_after, toml
from tiling_stores import SQUARE, tiled

from antipodes.puzzles.config import load_config
from antipodes.storage import lock
from antipodes.system.addresses import address_from
from antipodes.system.events import Committed, Event
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tilings.board_config import BoardConfig
from antipodes.tilings.run import tile_board
from antipodes.tilings.store import TilingStore


def test_json(cli: Command, finished: Path) -> None:
    shown = json.loads(cli("status", finished, "--json").out)
    assert {"puzzle", "complete", "committed_depth", "states", "layers", "bytes"} <= set(shown)
    assert (shown["puzzle"], shown["complete"], shown["committed_depth"]) == ("eight-puzzle", True, 31)
    assert shown["states"] == sum(shown["layers"]) == 181440
    assert shown["bytes"] == sum(path.stat().st_size for path in finished.rglob("*") if path.is_file())


def test_how_many_keys_there_are_is_known_at_the_end(cli: Command, tmp_path: Path) -> None:
    options = RunOptions(workers=1, checkpoint_every=0, counts_only=True)
    stopped = run_puzzle(every_kind.config_of("blocks"), tmp_path / "k.zarr", options, interrupted=stop_after(4))
    assert f" {sum(stopped.layers):,} so far" in cli("status", tmp_path / "k.zarr").out
    count = sum(run_puzzle(every_kind.config_of("blocks"), tmp_path / "k.zarr", options).layers)
    assert f" {count:,} of {count:,}" in cli("status", tmp_path / "k.zarr").out


def test_unfinished(cli: Command, unfinished: Path) -> None:
    shown = json.loads(cli("status", unfinished, "--json").out)
    assert (shown["complete"], shown["committed_depth"], len(shown["layers"])) == (False, 10, 11)
    assert f"antipodes resume {unfinished}" in cli("status", unfinished).out


@pytest.mark.parametrize("kind", ["directory", "bucket"])
def test_a_run_in_progress(kind: str, cli: Command, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The run holds the lock while `status` and `list` read it, and notices nothing."""
    bucket: Bucket | None = request.getfixturevalue("bucket") if kind == "bucket" else None
    place, store = ("s3://" + bucket.name, bucket.url()) if bucket else (str(tmp_path), str(tmp_path / "t.zarr"))
    seen: list[dict[str, Any]] = []

    def look(event: Event) -> None:
        if event != Committed(3):
            return
        (listed,) = json.loads(cli("list", place, "--json").out)
        seen.extend((listed, json.loads(cli("status", store, "--json").out)))
        text = cli("status", store).out
        assert "eight-puzzle: in progress\n  committed    depths 0 to 3\n" in text
        assert f"  run          {holder} since 2" in text
        assert "resume" not in text
        _, line, run = cli("list", place).out.splitlines()
        assert " in progress " in line
        assert run.startswith(f"t: {holder} since 2")
        assert run.endswith(" is running; depths 0 to 3 are committed")

    holder = f"process {os.getpid()} on {socket.gethostname()}"
    options = RunOptions(workers=2, checkpoint_every=0)
    run_puzzle(load_config("eight-puzzle"), address_from(store), options, look, lambda: bool(seen))
    assert seen[0]["path"] == store
    for shown in seen:
        assert shown["run"]["alive"]
        assert (shown["run"]["process"], shown["run"]["host"]) == (os.getpid(), socket.gethostname())
        assert datetime.now(UTC) - datetime.fromisoformat(shown["run"]["since"]) < timedelta(minutes=10)
    after = json.loads(cli("status", store, "--json").out)
    assert (after["run"], after["complete"]) == (None, False)
    assert "resume with" in cli("status", store).out


def test_nothing_committed(cli: Command, tmp_path: Path) -> None:
    config = load_config("eight-puzzle")
    TableStore(tmp_path / "t.zarr").create(config, plan_run(config.puzzle).cut)
    shown = json.loads(cli("status", "t.zarr", "--json").out)
    assert (shown["committed_depth"], shown["states"], shown["layers"]) == (None, 0, [])
    assert "nothing yet" in cli("status", "t.zarr").out


def test_by_the_name_of_a_puzzle(cli: Command) -> None:
    cli("run", "eight-puzzle", "--quiet")
    assert "finished" in cli("status", "eight-puzzle").out


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
    assert "is corrupt: it is not JSON, or has no checksum" in shown["damaged"]
    assert shown["foreign"] == "foreign: not a store: it has no commit.json"
    assert len(lines) == 6


def test_the_remedy_for_a_damaged_store_is_named(outputs: Path, refused: Callable[..., str]) -> None:
    message = refused("resume", outputs / "damaged.zarr", status=1)
    assert "restore it from a copy, or start over by the command that created it, with --overwrite" in message


def test_json_of_a_list(cli: Command, outputs: Path) -> None:
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


def test_a_bucket(cli: Command, refused: Callable[..., str], bucket: Bucket, finished: Path, outputs: Path) -> None:
    stores = {"line.zarr": outputs / "line.zarr", "deep/er/square.zarr": outputs / "square.zarr"}
    for path, store in stores.items():
        bucket.fill(contents(store), path)
    bucket.put("deep/er/damaged.zarr/commit.json", b"{}")
    bucket.put("deep/er/old.zarr.lock", json.dumps({"process": 1, "host": "elsewhere"}).encode())
    bucket.put("notes.txt", b"")
    url = f"s3://{bucket.name}"
    line, deep = json.loads(cli("list", url, "--json").out)[::-1]
    assert (line["name"], line["path"], line["complete"], line["states"]) == ("line", f"{url}/line.zarr", True, 3)
    assert line["bytes"] == sum(map(len, contents(outputs / "line.zarr").values()))
    assert datetime.now(UTC) - datetime.fromisoformat(line["committed"]) < timedelta(minutes=10)
    assert (deep["name"], deep["problem"]) == ("deep", "not a store: it has no commit.json")
    below = json.loads(cli("list", f"{url}/deep/er/", "--json").out)
    assert [(one["name"], one["kind"]) for one in below] == [("damaged", None), ("square", "tilings")]
    (only,) = json.loads(cli("list", f"{url}/line.zarr", "--json").out)
    assert only["path"] == f"{url}/line.zarr"
    assert f"{url}/none does not exist" in refused("list", f"{url}/none")
    assert "NoSuchBucket" in refused("list", "s3://no-such-bucket-anywhere", status=1)


def test_a_lock_of_a_run_that_ended(cli: Command, bucket: Bucket, outputs: Path) -> None:
    """The server dates the lock now; without a renewal for long, or without its process, its run counts as dead."""
    bucket.fill(contents(outputs / "unfinished.zarr"))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    owner = {**lock.owning_process(), "process": dead.pid, "started": 0}
    bucket.put("t.zarr.lock", json.dumps(owner).encode())
    text = cli("list", f"s3://{bucket.name}").out.splitlines()
    assert " unfinished " in text[1]
    assert text[2].startswith(f"t: the lock was left by process {dead.pid} on {socket.gethostname()} since 2")
    shown = cli("status", bucket.url()).out
    assert "which has ended or cannot reach the storage" in shown
    assert f"resume with  antipodes resume {bucket.url()}" in shown
    assert not json.loads(cli("status", bucket.url(), "--json").out)["run"]["alive"]
    bucket.put("t.zarr.lock", b"[]")
    assert json.loads(cli("status", bucket.url(), "--json").out)["run"] == {
        "process": None,
        "host": None,
        "since": None,
        "alive": True,
    }


def test_a_puzzle_without_a_name_hides_no_other(cli: Command, outputs: Path) -> None:
    change_manifest(outputs / "line.zarr", puzzle={"family": "sliding"})
    change_manifest(outputs / "square.zarr", board={"name": ["square"]})
    shown = {one["name"]: one["problem"] for one in json.loads(cli("list", "--json").out)}
    assert "puzzle: name: expected a string, found None" in shown["line"]
    assert "board: name: expected a string, found ['square']" in shown["square"]
    assert shown["line.counts"] is None


def test_every_name_is_one_that_commands_take(cli: Command, outputs: Path) -> None:
    for one in json.loads(cli("list", "--json").out):
        if one["problem"] is None:
            assert cli("status", one["name"]).status == 0


def test_a_store_itself_and_nothing(cli: Command, finished: Path) -> None:
    (only,) = json.loads(cli("list", finished, "--json").out)
    assert only["states"] == 181440
    assert cli("list").out == "no stores in outputs/; create one with: antipodes run PUZZLE\n"
    assert json.loads(cli("list", "--json").out) == []


def test_json_of_a_verdict(cli: Command, finished: Path) -> None:
    outcome = cli("verify", finished, "--json", "--workers", 1)
    assert outcome.status == 0
    shown = json.loads(outcome.out)
    assert (shown["ok"], shown["checked_states"], shown["problems"]) == (True, 181440, [])
    assert (shown["complete"], shown["committed_depth"]) == (True, 31)
    assert shown["sampled_states"] == 1000


def test_text_of_a_verdict(cli: Command, finished: Path, unfinished: Path) -> None:
    assert cli("verify", finished).out.startswith(
        "ok: checked 181,440 positions (1,000 of them using only the rules); all "
    )
    outcome = cli("verify", unfinished)
    assert (outcome.status, outcome.out) == (
        0,
        "ok, but unfinished: checked 181,440 positions (1,000 of them using only the rules); "
        "all distances up to depth 10 are correct\n"
        "not checked: whether this is the puzzle that you mean, with its names of moves; name it with --puzzle to "
        "check this\n",
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
    assert lines[0].endswith(" eight-puzzle: checking 181,440 positions")
    assert lines[-1].endswith(" checking: 181,440 of 181,440 positions compared")
    assert cli("verify", finished, "--quiet").err == ""


def test_a_memory_limit(cli: Command, finished: Path) -> None:
    assert cli("verify", finished, "--workers", 1, "--memory-limit", "400MiB").out.startswith("ok: ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_check_with_one_line(
    refused: Callable[..., str], finished: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    before = {one: signal.signal(one, signal.default_int_handler) for one in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr("antipodes.progress.show.describe", lambda event: signal.raise_signal(number))
    assert refused("verify", finished, status=75) == "antipodes: stopped\n"
    for one, handler in before.items():
        signal.signal(one, handler)
