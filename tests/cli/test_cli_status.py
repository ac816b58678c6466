import json
import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from programs import Command
from s3 import Bucket

from antipodes.config import load_config
from antipodes.events import Committed, Event
from antipodes.storage.address import address_from
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.stores import TableStore


def test_json(cli: Command, finished: Path) -> None:
    shown = json.loads(cli("status", finished, "--json").out)
    assert {"puzzle", "complete", "committed_depth", "states", "layers", "bytes"} <= set(shown)
    assert (shown["puzzle"], shown["complete"], shown["committed_depth"]) == ("eight-puzzle", True, 31)
    assert shown["states"] == sum(shown["layers"]) == 181440
    assert shown["bytes"] == sum(path.stat().st_size for path in finished.rglob("*") if path.is_file())


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
        assert run.endswith(" is at work; depths 0 to 3 are committed")

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
