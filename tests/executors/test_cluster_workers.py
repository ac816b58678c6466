"""Workers, schedulers and clients that are killed: the run continues, or ends with the command that resumes it."""

import itertools
import re
import signal
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from clusters import Cluster, Group, python_path
from ports import free_port
from program_runs import EVERY_LAYER, Begin, Run, Same
from waiting import wait_until


def kill_in_the_middle(workers: list[Group], run: Run) -> None:
    """Freeze one worker after the other; kill the one that the run waits for, in a layer or in a commit."""
    for worker in itertools.cycle(workers):
        worker.stop()
        if stands_still(run):
            assert run.process.poll() is None
            worker.kill()
            return
        worker.thaw()


def stands_still(run: Run) -> bool:
    """Whether the run writes no message for a second."""
    before = len(run.lines)
    deadline = time.monotonic() + 1
    while len(run.lines) == before and time.monotonic() < deadline:
        assert run.process.poll() is None, run.err
        time.sleep(0.02)
    return len(run.lines) == before


def check_losses(report: dict[str, Any], losses: int) -> None:
    """Workers were lost N times, and less than half of the positions had to be recomputed."""
    assert report["complete"]
    assert report["workers_lost"] == losses
    assert report["states_found_again"] < report["states"] / 2


@pytest.mark.slow
def test_a_worker_is_killed_during_a_layer(cluster: Cluster, begin: Begin, same: Same) -> None:
    workers = cluster.add_workers(2)
    at = ["--scheduler", cluster.address]
    run = begin("run", "eight-puzzle", "--store", "t.zarr", *at, *EVERY_LAYER, "--json")
    run.wait_for_depth(6)
    kill_in_the_middle(workers, run)
    report = run.finish()
    check_losses(report, 1)
    (line,) = re.findall(" lost: worker tcp.*$", run.err, re.MULTILINE)
    again = report["states_found_again"]
    assert line.endswith(f", {again:,} positions to recompute" if again else ", nothing to recompute")
    assert "1 worker with 1 thread" in run.err
    same("eight-puzzle")


@pytest.mark.slow
def test_workers_are_killed_several_times(cluster: Cluster, begin: Begin, same: Same) -> None:
    """One has a nanny, which restarts it."""
    workers = [*cluster.add_workers(1, nanny=True), *cluster.add_workers(1)]
    run = begin("run", "three-colours", "--store", "t.zarr", "--scheduler", cluster.address, *EVERY_LAYER, "--json")
    for depth in (10, 20):
        run.wait_for_depth(depth)
        workers[0].nannied.kill()
        run.wait_for_depth(depth + 4)
    workers[1].kill()
    report = run.finish()
    # a worker that was restarted late is no member yet when it is killed again; the run may end before the last loss
    assert 1 <= report["workers_lost"] <= 3
    check_losses(report, report["workers_lost"])
    same("three-colours")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "name", "moment"), [("run", "eight-puzzle", "depth 6:"), ("tile", "3x4x5", "partition 2 of")]
)
def test_all_workers_are_killed_and_others_join(
    command: str, name: str, moment: str, cluster: Cluster, begin: Begin, same: Same
) -> None:
    workers = cluster.add_workers(2)
    every = EVERY_LAYER if command == "run" else []
    run = begin(command, name, "--store", "t.zarr", "--scheduler", cluster.address, *every, "--json")
    run.wait_for(moment)
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.kill()
    run.wait_for("there are no workers; waiting for workers to join")
    cluster.add_worker()
    report = run.finish()
    if command == "run":
        check_losses(report, report["workers_lost"])
    same(name)


@pytest.mark.parametrize("what", [["run", "eight-puzzle"], ["tile", "3x20"]])
def test_a_run_is_interrupted_while_it_waits_for_workers(what: list[str], idle: Cluster, begin: Begin) -> None:
    run = begin(*what, "--store", "t.zarr", "--scheduler", idle.address)
    run.wait_for("waiting for workers to join")
    run.signal(signal.SIGINT)
    run.fail(75, "interrupted")


@pytest.mark.slow
def test_a_worker_that_joins_late_gets_tasks(cluster: Cluster, begin: Begin, same: Same) -> None:
    (first,) = cluster.add_workers(1)
    at = ["--scheduler", cluster.address]
    run = begin("run", "eight-puzzle", "--store", "t.zarr", *at, *EVERY_LAYER, "--json")
    run.wait_for_depth(4)
    first.stop()
    cluster.add_workers(1, examined=True)
    first.thaw()
    run.wait_for("2 workers with 2 threads")
    first.kill()
    report = run.finish()
    assert report["workers_lost"] <= 1
    same("eight-puzzle")


SLOW_DISK = """
import os, time
fsync = os.fsync
def slow(descriptor):
    if os.path.exists({flag!r}):
        time.sleep(60)
    fsync(descriptor)
os.fsync = slow
"""


@pytest.mark.slow
def test_a_worker_is_killed_while_it_writes(cluster: Cluster, begin: Begin, same: Same, tmp_path: Path) -> None:
    flag = tmp_path / "slow"
    (worker,) = cluster.add_workers(
        1, environment=python_path(tmp_path / "site", sitecustomize=SLOW_DISK.format(flag=str(flag)))
    )
    at = ["--scheduler", cluster.address]
    run = begin("run", "eight-puzzle", "--store", "t.zarr", *at, *EVERY_LAYER, "--json")
    run.wait_for_depth(4)
    flag.touch()
    wait_until(lambda: list((tmp_path / "t.zarr").rglob("journal/*.partial")), "the worker writes")
    cluster.add_workers(1)
    worker.kill()
    assert run.finish()["workers_lost"] == 1
    same("eight-puzzle")


RESUMED_BY = "resume with: antipodes resume t.zarr --checkpoint-every 0 --scheduler tcp://"


def begin_eight(cluster: Cluster, begin: Begin) -> Run:
    """A run that commits each layer and has committed depth 6."""
    cluster.add_workers(2)
    at = "--scheduler", cluster.address, "--scheduler-timeout", 30
    run = begin("run", "eight-puzzle", "--store", "t.zarr", *at, *EVERY_LAYER)
    run.wait_for("committed up to depth 6")
    return run


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_scheduler_ends_the_run(number: int, cluster: Cluster, begin: Begin, same: Same) -> None:
    run = begin_eight(cluster, begin)
    assert cluster.scheduler is not None
    cluster.scheduler.signal(number)
    run.fail(75, "scheduler", "are kept", RESUMED_BY)
    cluster.start_scheduler()
    cluster.add_workers(1)
    report = begin("resume", "t.zarr", "--scheduler", cluster.address, "--json").finish()
    assert report["resumed_from"] >= 6
    same("eight-puzzle")


@pytest.mark.slow
def test_a_scheduler_restarts_at_the_same_address(cluster: Cluster, begin: Begin, same: Same) -> None:
    """The run continues, or ends with the command that resumes it; the table is the same."""
    here = ("--host", "127.0.0.1", "--port", free_port())
    scheduler = cluster.start_scheduler(*here)
    run = begin_eight(cluster, begin)
    scheduler.kill()
    cluster.start_scheduler(*here)
    cluster.add_workers(2)
    status, _, err = run.end()
    assert "Traceback" not in err
    assert status in (0, 75), err
    if status == 75:
        assert RESUMED_BY in err
        begin("resume", "t.zarr", "--scheduler", cluster.address, "--json").finish()
    else:
        # between two layers the run only learns from the next scheduler that its tasks are gone
        assert re.search("lost: the (connection to the dask scheduler was lost|dask scheduler has lost the tasks)", err)
    same("eight-puzzle")


@pytest.mark.slow
def test_the_tasks_of_a_killed_run_are_removed(cluster: Cluster, begin: Begin, same: Same, tmp_path: Path) -> None:
    run = begin_eight(cluster, begin)
    with ExitStack() as frozen:  # so that the run cannot end
        for worker in cluster.groups[1:]:
            frozen.enter_context(worker.frozen())
        wait_until(lambda: cluster.tasks() > 0, "the workers work on it")  # there are no tasks between two layers
        run.kill()
    wait_until(lambda: cluster.tasks() == 0, "the workers have stopped working on it")
    assert (tmp_path / "t.zarr.lock").exists()
    report = begin("resume", "t.zarr", "--scheduler", cluster.address, "--json").finish()
    assert report["resumed_from"] >= 6
    same("eight-puzzle")


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["local", "address"])
def test_a_second_signal_stops_immediately(scheduler: str, cluster: Cluster, begin: Begin) -> None:
    """The worker is frozen, so that the layer cannot end between the signals."""
    at = ["--scheduler", cluster.address if scheduler == "address" else "local", "--workers", 1]
    workers = cluster.add_workers(1) if scheduler == "address" else []
    run = begin("run", "five-tiles", "--store", "t.zarr", *at, *EVERY_LAYER)
    run.wait_for_depth(12)
    frozen = [psutil.Process(worker.process.pid) for worker in workers] or run.worker_processes()
    for process in frozen:
        process.suspend()
    wait_until(lambda: stands_still(run), "the run waits for a task")
    run.signal(signal.SIGINT)
    run.wait_for("interrupt again to stop immediately")
    run.signal(signal.SIGINT)
    run.fail(75, "stopped immediately; resume with: antipodes resume t.zarr ", f"--scheduler {at[1]}")
    for process in frozen:
        with suppress(psutil.NoSuchProcess):  # a local cluster ends its own
            process.kill()


SLOW_CHUNKS = """
import os, time
fsync = os.fsync
def slow(descriptor):
    if "/depth/" in os.readlink(f"/proc/self/fd/{descriptor}"):
        time.sleep(60)
    fsync(descriptor)
os.fsync = slow
"""


@pytest.mark.slow
def test_a_worker_is_killed_while_it_writes_a_chunk(cluster: Cluster, begin: Begin, same: Same, tmp_path: Path) -> None:
    (worker,) = cluster.add_workers(1, environment=python_path(tmp_path / "site", sitecustomize=SLOW_CHUNKS))
    run = begin("run", "eight-puzzle", "--store", "t.zarr", "--scheduler", cluster.address, "--json")
    wait_until(lambda: list((tmp_path / "t.zarr").rglob("c/**/*.partial")), "the worker writes a chunk")
    cluster.add_workers(1)
    worker.kill()
    assert run.finish()["workers_lost"] == 1
    assert re.search(r" lost: worker tcp\S+; its tasks are repeated$", run.err, re.MULTILINE)
    assert not list((tmp_path / "t.zarr").rglob("*.partial"))
    same("eight-puzzle")
