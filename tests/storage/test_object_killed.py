"""Runs on stores in object storage that are killed: before any change to the bucket, or by a signal."""

import itertools
import json
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from faults import killed_from
from programs import Command, Process
from s3 import Bucket, Proxy
from stores import contents
from waiting import wait_until

from antipodes.puzzles.config import load_config
from antipodes.storage.bucket import Bucket as Client
from antipodes.tables.run import RunOptions, run_puzzle


def killed_at_request(step: int, run: Callable[[], object]) -> bool:
    """Whether the run reached that change to the bucket, right before which it is killed."""
    return killed_from(step, Client, ("put", "delete"), run)


KNIGHTS = RunOptions(workers=1, checkpoint_every=1000, overwrite=True)
EVERY_LAYER = RunOptions(workers=1, checkpoint_every=0)


@pytest.mark.slow
def test_killed_at_any_step_of_overwriting(bucket: Bucket, tmp_path: Path) -> None:
    """The test deletes the lock, since its owner, this process, is alive."""
    run_puzzle(load_config("knights-coloured"), tmp_path / "whole.zarr", RunOptions(workers=1))
    whole, step = contents(tmp_path / "whole.zarr"), 1
    config = load_config("knights-coloured")
    while killed_at_request(step, lambda: run_puzzle(config, bucket.url(), KNIGHTS)):
        bucket.delete("t.zarr.lock")
        run_puzzle(config, bucket.url(), RunOptions(workers=1))
        assert bucket.contents() == whole
        step += 3
        for key in bucket.listing():
            if not key.startswith("t.zarr/"):
                bucket.delete(key)  # probes
    assert step > 8


@pytest.mark.slow
@pytest.mark.parametrize("step", [21, 40])
def test_killed_between_commits(step: int, bucket: Bucket, finished: Path) -> None:
    config = load_config("eight-puzzle")
    assert killed_at_request(step, lambda: run_puzzle(config, bucket.url(), EVERY_LAYER))
    assert any("/journal/" in key for key in bucket.listing())
    bucket.delete("t.zarr.lock")
    run_puzzle(config, bucket.url(), RunOptions(workers=1))
    assert bucket.contents() == contents(finished)


@pytest.mark.slow
def test_resumed_after_a_kill(bucket: Bucket, proxy: Proxy, process: Process, cli: Command, finished: Path) -> None:
    """The lock of the killed run is taken over immediately, since its process has ended."""
    commits, stuck = itertools.count(1), threading.Event()

    def fault(number: int, method: str, path: str) -> str | None:
        if method != "PUT" or not path.endswith("/commit.json") or next(commits) < 8:
            return None
        stuck.set()
        return "stall"

    proxy.fault = fault
    running = process("run", "eight-puzzle", "--store", bucket.url(), "--checkpoint-every", 0, "--workers", 2)
    wait_until(lambda: running.poll() is not None or stuck.is_set(), "it waits for its eighth commit")
    running.send_signal(signal.SIGKILL)
    running.communicate()
    proxy.fault = lambda number, method, path: None
    assert "t.zarr.lock" in bucket.listing()
    said = json.loads(cli("resume", bucket.url(), "--workers", 2, "--json").out)
    assert 3 <= said["resumed_from"] < 31
    assert bucket.contents() == contents(finished)
    assert "t.zarr.lock" not in bucket.listing()
