"""Stores that cannot be written: finished ones are reported and answer queries, in a directory and in a bucket."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import all_stores
import mounts
import pytest
from programs import Command
from s3 import Bucket, Proxy
from stores import contents

FINISHED = [kind for kind in all_stores.KINDS if not kind.startswith("unfinished") and "words" not in kind]
COMMANDS: list[list[str]] = [
    ["status"],
    ["resume", "--quiet"],
    ["layers"],
    ["verify", "--quiet"],
    ["farthest"],
    ["query", "--depth", "1"],
]


def commands(kind: str) -> list[list[str]]:
    if kind == "tilings":
        return [["status"], ["resume", "--quiet"], ["verify", "--quiet"], ["show"]]
    return [one for one in COMMANDS if not kind.startswith("counts") or one[0] not in ("verify", "query")]


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A file system that is made read-only before a test reads it: see `remount`."""
    with mounts.small(tmp_path / "mounted", "4m") as folder:
        yield folder


def remount(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)


@pytest.mark.slow
def test_finished_stores_on_a_read_only_file_system(read_only: Path, cli: Command) -> None:
    stores = {kind: all_stores.store_of(kind, read_only / kind.replace(" ", "-")) for kind in FINISHED}
    left = all_stores.store_of("table", read_only / "left")
    (left / "journal").mkdir()  # a killed run leaves it
    remount(read_only)
    before = contents(read_only)
    for kind, store in [*stores.items(), ("table", left)]:
        for command, *options in commands(kind):
            outcome = cli(command, store, *options)
            assert (outcome.status, outcome.err) == (0, ""), (kind, command, outcome)
    assert contents(read_only) == before


def test_run_reports_a_finished_table_on_a_read_only_file_system(read_only: Path, cli: Command) -> None:
    store = read_only / "t.zarr"
    assert cli("run", "eight-puzzle", "--store", store, "--quiet").status == 0
    assert cli("tile", "3x20", "--store", read_only / "b.zarr", "--quiet").status == 0
    remount(read_only)
    report = json.loads(cli("run", "eight-puzzle", "--store", store, "--quiet", "--json").out)
    assert (report["complete"], report["states"]) == (True, 181440)
    assert json.loads(cli("tile", "3x20", "--store", read_only / "b.zarr", "--quiet", "--json").out)["complete"]
    outcome = cli("run", "eight-puzzle", "--store", store, "--quiet", "--overwrite")
    assert (outcome.status, len(outcome.err.splitlines())) == (1, 1)
    assert "Read-only file system" in outcome.err


@pytest.mark.parametrize("kind", ["table", "counts", "keys", "tilings"])
def test_finished_stores_in_a_read_only_bucket(
    kind: str, proxy: Proxy, bucket: Bucket, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = all_stores.put_store(kind, bucket)
    monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
    proxy.fault = lambda number, method, path: None if method in ("GET", "HEAD") else "403"
    for command, *options in commands(kind):
        outcome = cli(command, url, *options)
        assert (outcome.status, outcome.err) == (0, ""), (command, outcome)
    assert {method for method, _ in proxy.requests} <= {"GET", "HEAD"}


def test_leftovers_of_a_killed_run_are_deleted(cli: Command, tmp_path: Path) -> None:
    for kind, folder in (("table", "journal"), ("counts", "checkpoint"), ("tilings", "partitions")):
        store = all_stores.store_of(kind, tmp_path / f"{kind}.zarr")
        (store / folder / "1").mkdir(parents=True)
        assert cli("resume", store, "--quiet").status == 0
        assert contents(store) == all_stores.files_of(kind)
        assert not (store / folder).exists()
