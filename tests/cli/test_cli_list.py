import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from programs import Command
from s3 import Bucket
from stores import change_manifest, contents, toml
from tiling_stores import SQUARE, tiled

from antipodes.storage import lock

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
    assert f"expected a URL with stores under it, found nothing at {url}/none" in refused("list", f"{url}/none")
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
    assert text[2].startswith(f"t: the lock is left from process {dead.pid} on {socket.gethostname()} since 2")
    shown = cli("status", bucket.url()).out
    assert "which has ended or does not reach the storage" in shown
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
    assert "puzzle: name: expected a text, found None" in shown["line"]
    assert "board: name: expected a text, found ['square']" in shown["square"]
    assert shown["line.counts"] is None


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
