"""Workers without enough memory or disk: messages name them, and the run resumes on better workers."""

import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from clusters import Cluster
from mounts import small
from program_runs import Run
from stores import contents
from waiting import wait_until

from antipodes.sizes import KIB

ByThreads = Callable[[str], dict[str, bytes]]
Begin = Callable[..., Run]
EVERY_LAYER = ["--checkpoint-every", 0]
pytestmark = pytest.mark.slow


def resume_elsewhere(cluster: Cluster, begin: Begin, store: object) -> None:
    """Resume a store on a worker with enough memory and disk."""
    for group in cluster.groups:
        if group is not cluster.scheduler:
            group.kill()
    cluster.wait_for_workers(0)
    cluster.add_workers(1)
    begin("resume", store, "--scheduler", cluster.address, "--json").finish()


def test_a_nanny_stops_a_worker_without_memory(
    cluster: Cluster, begin: Begin, by_threads: ByThreads, tmp_path: Path
) -> None:
    cluster.add_workers(1, "--memory-limit", "160MB", nanny=True)
    at = ["--scheduler", cluster.address, "--memory-limit", "8GB"]
    run = begin("run", "three-colours", "--store", "t.zarr", *at)
    run.fail(1, "worker tcp://", "memory", "resume with: antipodes resume t.zarr")
    resume_elsewhere(cluster, begin, "t.zarr")
    assert contents(tmp_path / "t.zarr") == by_threads("three-colours")


def test_a_worker_without_a_nanny_runs_out_of_memory(
    cluster: Cluster, begin: Begin, by_threads: ByThreads, tmp_path: Path
) -> None:
    """The system gives the worker little more memory than it needs to join: the worker reports that, or dies."""
    cluster.add_workers(1, prefix=("sh", "-c", 'ulimit -d 190000 && exec "$@"', "sh"))
    at = ["--scheduler", cluster.address, "--memory-limit", "8GB"]
    run = begin("run", "three-colours", "--store", "t.zarr", *at)
    wait_until(lambda: run.process.poll() is not None or "waiting for some to join" in run.err, "the worker fails")
    if run.process.poll() is None:
        assert "lost: worker tcp://" in run.err
        run.signal(signal.SIGINT)
        run.fail(75, "resume with: antipodes resume t.zarr")
    else:
        run.fail(1, "worker tcp://", "resume with: antipodes resume t.zarr")
    resume_elsewhere(cluster, begin, "t.zarr")
    assert contents(tmp_path / "t.zarr") == by_threads("three-colours")


@pytest.mark.parametrize("options", [EVERY_LAYER, []])
def test_a_full_disk(
    options: list[object], cluster: Cluster, begin: Begin, by_threads: ByThreads, tmp_path: Path
) -> None:
    """There is enough free disk when the run begins, but another program fills it."""
    cluster.add_workers(1)
    with small(tmp_path / "disk", "16m") as disk:
        store, other = disk / "t.zarr", disk / "other"
        run = begin("run", "five-tiles", "--store", store, "--scheduler", cluster.address, *options)
        run.wait_for_depth(3)
        other.write_bytes(bytes(shutil.disk_usage(disk).free - 64 * KIB))
        run.fail(1, "worker tcp://", f"{store}", "No space left on device", f"antipodes resume {store}")
        other.unlink()
        begin("resume", store, "--scheduler", cluster.address, "--json").finish()
        assert contents(store) == by_threads("five-tiles")


def test_workers_may_not_write_large_files(
    cluster: Cluster, begin: Begin, by_threads: ByThreads, tmp_path: Path
) -> None:
    """The system limits the size of their files, but not of those of the program."""
    cluster.add_workers(1, prefix=("sh", "-c", 'trap "" XFSZ; ulimit -f 128 && exec "$@"', "sh"))
    run = begin("run", "three-colours", "--store", "t.zarr", "--scheduler", cluster.address)
    run.fail(1, "worker tcp://", "t.zarr", "File too large", "antipodes resume t.zarr")
    resume_elsewhere(cluster, begin, "t.zarr")
    assert contents(tmp_path / "t.zarr") == by_threads("three-colours")
