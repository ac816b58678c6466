"""Stores in object storage, on a real server: the same bytes, commands and promises as in a directory."""

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import Command, Process
from s3 import KEY, SECRET, Bucket
from stores import contents, stop_after
from tiling_stores import SQUARE, board_file, tiled
from waiting import PATIENCE

from antipodes.puzzles.config import load_config
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import open_table
from antipodes.tilings.store import TilingStore
from antipodes.tilings.table import open_tilings
from antipodes_tasks.base.errors import StoreError

FARTHEST = "8 6 7 2 5 4 3 0 1"


@pytest.fixture
def remote(bucket: Bucket, finished: Path) -> str:
    """The URL of a copy of the finished table of the eight-puzzle."""
    for key, content in contents(finished).items():
        bucket.put(f"t.zarr/{key}", content)
    return bucket.url()


def test_a_run_writes_the_same_bytes_as_in_a_directory(bucket: Bucket, finished: Path) -> None:
    report = run_puzzle(load_config("eight-puzzle"), bucket.url(), RunOptions(workers=2))
    assert (report.store, report.complete, report.manifest.radius) == (bucket.url(), True, 31)
    assert bucket.contents() == contents(finished)
    assert bucket.listing() == [f"t.zarr/{key}" for key in sorted(contents(finished))], "no lock and no probe is left"


def test_the_commands(bucket: Bucket, cli: Command, tmp_path: Path) -> None:
    url = bucket.url("some folder/eight.zarr")
    ran = cli("run", "eight-puzzle", "--store", url, "--quiet")
    assert ran.status == 0
    assert f"antipodes query --path '{url}' " in ran.out
    again = json.loads(cli("run", "eight-puzzle", "--store", url, "--json").out)
    assert (again["store"], again["complete"], again["resumed_from"]) == (url, True, 31)
    assert json.loads(cli("resume", url, "--json").out)["complete"]
    status = json.loads(cli("status", url, "--json").out)
    assert (status["store"], status["states"]) == (url, 181440)
    assert status["bytes"] == sum(map(len, bucket.contents("some folder/eight.zarr").values()))
    assert json.loads(cli("layers", url, "--json").out)["radius"] == 31
    assert json.loads(cli("farthest", url, "--json").out)["count"] == 2
    assert json.loads(cli("query", url, FARTHEST, "--json").out)[0]["distance"] == 31
    assert cli("verify", url).status == 0
    assert "8 6 7" in cli("solve", "eight-puzzle", FARTHEST, "--store", url).out
    assert not list(tmp_path.iterdir()), "nothing is written here"


def test_tilings(bucket: Bucket, cli: Command, tmp_path: Path) -> None:
    local = tiled(SQUARE, tmp_path / "local.zarr")
    board = board_file(SQUARE, tmp_path / "board.toml")
    said = json.loads(cli("tile", board, "--store", bucket.url(), "--workers", 2, "--json").out)
    assert (said["store"], said["solutions"]) == (bucket.url(), 10)
    assert bucket.contents() == contents(local)
    for command in (("status",), ("verify",), ("resume",), ("show", "--number", "1")):
        assert cli(command[0], bucket.url(), *command[1:]).status == 0
    with open_tilings(bucket.url()) as tilings, open_tilings(local) as expected:
        assert list(tilings) == list(expected)
        assert repr(tilings) == f"open_tilings('{bucket.url()}')"


def test_tilings_that_are_stopped_and_resumed(bucket: Bucket, cli: Command, tmp_path: Path) -> None:
    from antipodes.tilings.board_config import BoardConfig
    from antipodes.tilings.run import tile_board

    tiled(SQUARE, tmp_path / "local.zarr")
    options = RunOptions(workers=1, checkpoint_every=0)
    report = tile_board(BoardConfig(SQUARE), bucket.url(), options=options, interrupted=stop_after(2))
    assert not report.complete
    bucket.put("t.zarr/partitions/5/zarr.json", b"of a crashed run")
    assert cli("resume", bucket.url(), "--workers", 2).status == 0
    assert bucket.contents() == contents(tmp_path / "local.zarr")
    assert TilingStore(bucket.url()).read().complete


def test_a_second_writer_does_not_replace_the_manifest(remote: str) -> None:
    first, second = TableStore(remote), TableStore(remote)
    manifest, same = first.read(), second.read()
    first.commit(replace(manifest, layer_counts=manifest.layer_counts.updated({0: 1})))
    first.commit(replace(manifest, puzzle={**manifest.puzzle, "description": "another"}))
    with pytest.raises(StoreError, match=r"t.zarr/commit.json was replaced by another run since it was read"):
        second.commit(same)
    assert second.read().puzzle["description"] == "another"
    second.commit(same)


def test_foreign_objects_are_not_replaced(bucket: Bucket, cli: Command) -> None:
    bucket.put("t.zarr/precious", b"text")
    for options in ((), ("--overwrite",)):
        outcome = cli("run", "eight-puzzle", "--store", bucket.url(), *options)
        assert outcome.status == 2
        assert "there is no store" in outcome.err or "was not overwritten" in outcome.err
    assert bucket.listing() == ["t.zarr/precious"]
    with pytest.raises(StoreError, match="other objects exist there"):
        TableStore(bucket.url()).storage.staged().__enter__()


def test_a_store_that_is_replaced_while_open(bucket: Bucket, remote: str) -> None:
    with open_table(remote) as table:
        bucket.put("t.zarr/zarr.json", b'{"attributes": {}}')
        with pytest.raises(StoreError, match="finished or replaced after it was opened"):
            table.distance(FARTHEST)


def test_a_chunk_is_read_in_one_request(remote: str, proxy: Any, bucket: Bucket) -> None:
    store = TableStore(remote)
    manifest = store.read()
    before = len(proxy.requests)
    depths = store.read_chunk(manifest, 0)
    assert np.unique(depths).size > 1
    assert [method for method, path in proxy.requests[before:] if "/c/" in path] == ["GET"]


def test_reachable(remote: str, bucket: Bucket) -> None:
    store = TableStore(remote)
    digest = store.manifest_file.current_digest()
    before = bucket.listing()
    pickle.loads(pickle.dumps(store)).check_reachable(digest)
    assert bucket.listing() == before
    with pytest.raises(StoreError, match="a different store on this machine"):
        store.check_reachable("0" * 64)
    bucket.delete("t.zarr/commit.json")
    with pytest.raises(StoreError, match="there is no store at"):
        store.check_reachable(digest)


@pytest.mark.slow
def test_credentials_stay_in_the_environment(bucket: Bucket, process: Process) -> None:
    outcome = process("run", "knights-coloured", "--store", bucket.url())
    written = "".join(outcome.communicate(timeout=PATIENCE))
    assert outcome.returncode == 0
    written += repr(pickle.dumps(TableStore(bucket.url()))) + repr([bucket.get(key) for key in bucket.listing()])
    assert KEY not in written
    assert SECRET not in written


def test_the_retry_policy_is_sent_to_other_processes(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    store = TableStore(bucket.url())
    monkeypatch.setenv("ANTIPODES_RETRY_SECONDS", "7")
    assert TableStore(bucket.url()).storage._bucket.retries.seconds == 7
    assert pickle.loads(pickle.dumps(store)).storage._bucket.retries.seconds == 30
