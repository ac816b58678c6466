"""The storage is silent or fails while workers of a cluster use it: the run says so, obeys a signal, and ends soon."""

import re
import signal
from pathlib import Path

import pytest
from clusters import Cluster, python_path
from program_runs import EVERY_LAYER, Begin, Run, Same
from s3 import Bucket, Proxy
from waiting import wait_until

pytestmark = pytest.mark.slow


def stall(proxy: Proxy, *parts: str) -> None:
    """Let requests that put an object never be answered if their path has one of the parts."""
    proxy.fault = lambda number, method, path: "stall" if any(part in path for part in parts) else None


def interrupt(run: Run, *texts: str) -> str:
    """Tell a run to stop, which it does with status 75 although the storage hangs; its last message has the texts."""
    run.signal(signal.SIGTERM)
    return run.fail(75, *texts)


@pytest.mark.parametrize("silent", ["commit.json", "depth/c/"])
def test_a_signal_is_obeyed_while_the_bucket_is_silent(
    silent: str, cluster: Cluster, bucket: Bucket, proxy: Proxy, begin: Begin
) -> None:
    """Of the run itself in a commit, and of a worker in the assembly."""
    cluster.add_workers(1, environment={"AWS_ENDPOINT_URL": proxy.url})
    run = begin("run", "eight-puzzle", "--store", bucket.url(), "--scheduler", cluster.address, *EVERY_LAYER)
    run.wait_for("committed up to depth 3")
    said = len(run.lines)  # a busy server may have been waited for before
    stall(proxy, silent)
    run.wait_for(f"waiting for {bucket.url()}", since=said)
    last = interrupt(run, "interrupted: cannot ", "no answer", "are kept; resume with: antipodes resume ")
    assert "depths 0 to " in last
    proxy.fault = lambda number, method, path: None
    assert begin("resume", bucket.url(), "--scheduler", cluster.address, "--json").finish()["complete"]


def test_waits_of_workers_are_told_every_ten_seconds(
    cluster: Cluster, bucket: Bucket, proxy: Proxy, begin: Begin
) -> None:
    cluster.add_workers(2, environment={"AWS_ENDPOINT_URL": proxy.url})
    run = begin("run", "eight-puzzle", "--store", bucket.url(), "--scheduler", cluster.address, *EVERY_LAYER)
    run.wait_for("committed up to depth 3")
    said = len(run.lines)
    stall(proxy, "journal")

    def waits() -> list[int]:
        told = "".join(run.lines[said:])
        return [int(one) for one in re.findall(rf"waiting for {re.escape(bucket.url())}/journal.* for (\d+) s", told)]

    first, second, *_ = wait_until(lambda: len(waits()) > 1 and waits(), "the run has told of two waits")
    assert second >= first + 5, "not one message of each worker"
    interrupt(run, "resume with:")


def test_a_failure_is_told_without_another_wait(cluster: Cluster, bucket: Bucket, proxy: Proxy, begin: Begin) -> None:
    """A worker has waited for long enough: the message about what is saved is composed from memory."""
    seconds = {"ANTIPODES_RETRY_SECONDS": "4"}
    cluster.add_workers(1, environment={"AWS_ENDPOINT_URL": proxy.url, **seconds})
    at = ["--scheduler", cluster.address, *EVERY_LAYER]
    run = begin("run", "eight-puzzle", "--store", bucket.url(), *at, environment={"ANTIPODES_RETRY_SECONDS": "4"})
    run.wait_for("committed up to depth 3")
    proxy.fault = lambda number, method, path: "503" if "journal" in path else "stall" if "commit" in path else None
    run.fail(1, "worker tcp://", "503", "depths 0 to ", "are kept; resume with: antipodes resume ")


def test_a_signal_before_the_first_answer(idle: Cluster, bucket: Bucket, proxy: Proxy, begin: Begin) -> None:
    proxy.fault = lambda number, method, path: "stall"
    for command in (["run", "eight-puzzle", "--store", bucket.url()], ["resume", bucket.url()]):
        run = begin(*command, "--scheduler", idle.address)
        run.wait_for(f"waiting for {bucket.url()}")
        interrupt(run, "interrupted: cannot ", "no answer")


def test_the_bucket_and_the_scheduler_are_silent(cluster: Cluster, bucket: Bucket, proxy: Proxy, begin: Begin) -> None:
    cluster.add_workers(1, environment={"AWS_ENDPOINT_URL": proxy.url})
    at = ["--scheduler", cluster.address, "--scheduler-timeout", 30, *EVERY_LAYER]
    run = begin("run", "eight-puzzle", "--store", bucket.url(), *at)
    run.wait_for("committed up to depth 3")
    assert cluster.scheduler is not None
    said = len(run.lines)
    stall(proxy, "")
    run.wait_for(f"waiting for {bucket.url()}", since=said)
    with cluster.scheduler.frozen():
        interrupt(run, "are kept; resume with: antipodes resume ")


HANGING_DISK = """
import os, time
fsync = os.fsync
def hang(descriptor):
    while os.path.exists({flag!r}):
        time.sleep(0.1)
    fsync(descriptor)
os.fsync = hang
"""


@pytest.mark.parametrize("where", ["worker", "threads"])
def test_a_signal_is_obeyed_while_a_directory_hangs(
    where: str, cluster: Cluster, begin: Begin, same: Same, tmp_path: Path
) -> None:
    """Of a worker, and of the run itself on threads; dask then waits for none of its threads."""
    flag = tmp_path / "hangs"
    hanging = python_path(tmp_path / "site", sitecustomize=HANGING_DISK.format(flag=str(flag)))
    if where != "threads":
        cluster.add_workers(1, environment=hanging if where == "worker" else None)
    at = ["--workers", 2] if where == "threads" else ["--scheduler", cluster.address]
    own = {} if where == "worker" else hanging
    run = begin("run", "eight-puzzle", "--store", "t.zarr", *at, *EVERY_LAYER, environment=own)
    run.wait_for("committed up to depth 3")
    said = len(run.lines)
    flag.touch()
    run.wait_for("no answer yet", since=said)
    run.signal(signal.SIGTERM)
    run.fail(75, "interrupted: cannot write ", "no answer for ", "are kept; resume with: antipodes resume t.zarr")
    flag.unlink()
    begin("resume", "t.zarr", *at, "--json").finish()
    same("eight-puzzle")
