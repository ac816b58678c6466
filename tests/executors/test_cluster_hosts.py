"""Scheduler, workers and the program on separate hosts, whose network links are cut."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import Cluster
from hosts import Hosts
from program_runs import Begin, Run, Same
from waiting import wait_until

pytestmark = pytest.mark.slow
SCHEDULER, FIRST, SECOND, CLIENT = range(1, 5)
SHORT, LONG = ({"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": f"{seconds}s"} for seconds in (11, 300))
"""dask closes a connection after this time without an answer, and accepts no shorter one."""


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    """Four hosts: for the scheduler, for two workers, and for the program."""
    with Hosts(4) as plugged_in:
        yield plugged_in


@pytest.fixture(params=[SHORT])
def apart(request: pytest.FixtureRequest, hosts: Hosts, tmp_path: Path) -> Iterator[Cluster]:
    """A cluster on these hosts; both workers have joined."""
    with Cluster(tmp_path, request.param) as cluster:
        own = ("--host", hosts.address(SCHEDULER), "--port", 8786)
        cluster.start_scheduler(*own, prefix=hosts.at(SCHEDULER))
        for host in (FIRST, SECOND):
            cluster.add_worker("--host", hosts.address(host), prefix=hosts.at(host))
        assert cluster.scheduler is not None
        log = cluster.scheduler.log
        wait_until(lambda: log.read_text().count("Register worker") == 2, "both workers have joined")
        yield cluster


def begin_apart(apart: Cluster, hosts: Hosts, begin: Begin, *options: object) -> Run:
    """A run from the host of the program, as far as depth 6; the first worker has its only shard."""
    at = ["--scheduler", f"tcp://{hosts.address(SCHEDULER)}:8786", "--checkpoint-every", 0]
    command = ["run", "eight-puzzle", "--store", "t.zarr", *at, *options, "--json"]
    run = begin(*command, environment=apart.environment, prefix=hosts.at(CLIENT))
    run.wait_for("committed up to depth 6")
    return run


@pytest.mark.parametrize("apart", [LONG], indirect=True)
def test_short_cuts_of_links_lose_nothing(apart: Cluster, hosts: Hosts, begin: Begin, same: Same) -> None:
    run = begin_apart(apart, hosts, begin)
    for host in (FIRST, CLIENT):
        hosts.cut(host)
    time.sleep(2)
    assert run.process.poll() is None
    for host in (FIRST, CLIENT):
        hosts.heal(host)
    report = run.finish()
    assert (report["workers_lost"], report["states_found_again"]) == (0, 0)
    same("eight-puzzle")


def test_a_worker_that_is_cut_off_cannot_write(apart: Cluster, hosts: Hosts, begin: Begin, same: Same) -> None:
    """The worker still runs and sees the same directory, but can no longer write into the table."""
    run = begin_apart(apart, hosts, begin)
    hosts.cut(FIRST)
    run.wait_for(f"lost: worker tcp://{hosts.address(FIRST)}:")
    hosts.heal(FIRST)
    report = run.finish()
    assert report["workers_lost"] >= 1
    assert report["states_found_again"] < report["states"] / 2
    same("eight-puzzle")


def test_a_program_that_is_cut_off_ends(apart: Cluster, hosts: Hosts, begin: Begin, same: Same) -> None:
    """Its message names the command that resumes the run."""
    run = begin_apart(apart, hosts, begin, "--scheduler-timeout", 30)
    hosts.cut(CLIENT)
    run.fail(
        75,
        "scheduler",
        f"antipodes resume t.zarr --checkpoint-every 0 --scheduler tcp://{hosts.address(SCHEDULER)}:8786",
    )
    hosts.heal(CLIENT)
    again = ["resume", "t.zarr", "--scheduler", f"tcp://{hosts.address(SCHEDULER)}:8786", "--json"]
    assert begin(*again, prefix=hosts.at(CLIENT)).finish()["resumed_from"] >= 6
    same("eight-puzzle")
