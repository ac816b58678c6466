"""Schedulers and clients that are killed: the run ends with the command that resumes it, and its tasks are removed."""

import re
import signal
import time
from pathlib import Path

import pytest
from clusters import Cluster
from program_runs import EVERY_LAYER, Begin, Run, Same
from waiting import wait_until

RESUMED_BY = "resume with: antipodes resume t.zarr --scheduler tcp://"


def begin_eight(cluster: Cluster, begin: Begin) -> Run:
    """A run that commits each layer and has committed depth 6."""
    cluster.add_workers(2)
    run = begin("run", "eight-puzzle", "--store", "t.zarr", "--scheduler", cluster.address, *EVERY_LAYER)
    run.wait_for("committed up to depth 6")
    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "command", "name", "moment"),
    [
        (signal.SIGKILL, "run", "eight-puzzle", "committed up to depth 6"),
        (signal.SIGTERM, "run", "eight-puzzle", "committed up to depth 6"),
        (signal.SIGKILL, "tile", "3x4x5", "committed 2 of"),
    ],
)
def test_a_killed_scheduler_ends_the_run(
    number: int, command: str, name: str, moment: str, cluster: Cluster, begin: Begin, same: Same
) -> None:
    cluster.add_workers(2)
    run = begin(command, name, "--store", "t.zarr", "--scheduler", cluster.address, *EVERY_LAYER)
    run.wait_for(moment)
    assert cluster.scheduler is not None
    killed = time.monotonic()
    cluster.scheduler.signal(number)
    run.fail(75, "scheduler", "are kept", RESUMED_BY)
    assert time.monotonic() - killed < 30
    cluster.start_scheduler()
    cluster.add_workers(1)
    report = begin("resume", "t.zarr", "--scheduler", cluster.address, "--json").finish()
    assert command == "tile" or report["resumed_from"] >= 6
    same(name)


@pytest.mark.slow
def test_a_scheduler_restarts_at_the_same_address(cluster: Cluster, begin: Begin, same: Same) -> None:
    """The run continues, or ends with the command that resumes it; the table is the same."""
    run = begin_eight(cluster, begin)
    assert cluster.scheduler is not None
    port = re.findall(r":(\d+)$", cluster.address)[0]
    cluster.scheduler.kill()
    cluster.start_scheduler("--host", "127.0.0.1", "--port", port)
    cluster.add_workers(2)
    status, _, err = run.end()
    assert "Traceback" not in err
    assert status in (0, 75), err
    if status == 75:
        assert RESUMED_BY in err
        begin("resume", "t.zarr", "--scheduler", cluster.address, "--json").finish()
    else:
        assert "lost: the connection to the dask scheduler was lost" in err
    same("eight-puzzle")


@pytest.mark.slow
def test_the_tasks_of_a_killed_run_are_removed(cluster: Cluster, begin: Begin, same: Same, tmp_path: Path) -> None:
    run = begin_eight(cluster, begin)
    assert cluster.tasks() > 0
    run.kill()
    wait_until(lambda: cluster.tasks() == 0, "the workers have stopped working on it", 10)
    assert (tmp_path / "t.zarr.lock").exists()
    report = begin("resume", "t.zarr", "--scheduler", cluster.address, "--json").finish()
    assert report["resumed_from"] >= 6
    same("eight-puzzle")


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["local", "address"])
def test_a_second_signal_stops_immediately(scheduler: str, cluster: Cluster, begin: Begin) -> None:
    if scheduler == "address":
        cluster.add_workers(1)
    at = ["--scheduler", cluster.address if scheduler == "address" else "local", "--workers", 1]
    run = begin("run", "five-tiles", "--store", "t.zarr", *at, *EVERY_LAYER)
    run.wait_for_depth(12)
    for _ in range(2):
        run.signal(signal.SIGINT)
        time.sleep(0.01)
    run.fail(75, "stopped immediately; resume with: antipodes resume t.zarr --scheduler")
