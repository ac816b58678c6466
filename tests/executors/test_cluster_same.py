"""The same tables and tilings on clusters as on threads, without any change for other users of the cluster."""

import signal
from collections.abc import Callable
from operator import add
from pathlib import Path
from typing import Any

import pytest
from clusters import Cluster
from distributed import Client, WorkerPlugin
from program_runs import EVERY_LAYER, Begin, Same
from stores import contents
from waiting import wait_until

from antipodes.puzzles.config import load_config
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.verify import verify
from antipodes.tilings.config import load_board
from antipodes.tilings.run import tile_board

ByThreads = Callable[[str], dict[str, bytes]]


@pytest.mark.parametrize(
    ("puzzle", "by_file", "options"),
    [
        ("eight-puzzle", True, []),
        ("knights-coloured", False, EVERY_LAYER),
        pytest.param("five-tiles", False, EVERY_LAYER, marks=pytest.mark.slow),
    ],
)
def test_the_same_table(
    puzzle: str, by_file: bool, options: list[object], shared: Cluster, begin: Begin, same: Same
) -> None:
    at = ["--scheduler-file", shared.scheduler_file] if by_file else ["--scheduler", shared.address]
    report = begin("run", puzzle, "--store", "t.zarr", *at, *options, "--json").finish()
    assert (report["complete"], report["workers_lost"], report["states_found_again"]) == (True, 0, 0)
    same(puzzle)


def test_the_same_table_reduced_by_symmetries(shared: Cluster, begin: Begin, tmp_path: Path) -> None:
    arguments = ["--symmetry", "on", "--scheduler", shared.address, *EVERY_LAYER]
    begin("run", "hanoi-4-pegs", "--store", "t.zarr", *arguments, "--json").finish()
    run_puzzle(load_config("hanoi-4-pegs"), tmp_path / "threads.zarr", RunOptions(symmetry="on"))
    assert contents(tmp_path / "t.zarr") == contents(tmp_path / "threads.zarr")
    with shared.client() as client:
        assert verify(tmp_path / "t.zarr", client).ok


@pytest.mark.slow
def test_the_same_table_after_an_interruption(shared: Cluster, begin: Begin, same: Same) -> None:
    first = begin("run", "five-tiles", "--store", "t.zarr", "--scheduler", shared.address, *EVERY_LAYER)
    first.wait_for_depth(5)
    first.signal(signal.SIGINT)
    first.fail(75, f"resume with: antipodes resume t.zarr --checkpoint-every 0 --scheduler {shared.address}")
    report = begin("resume", "t.zarr", "--scheduler", shared.address, "--json").finish()
    assert report["resumed_from"] >= 5
    same("five-tiles")


@pytest.mark.slow
def test_the_same_tilings(shared: Cluster, begin: Begin, same: Same) -> None:
    begin("tile", "3x20", "--store", "t.zarr", "--scheduler", shared.address, "--json").finish()
    same("3x20")


@pytest.mark.slow
def test_the_same_results_on_a_local_cluster(begin: Begin, same: Same) -> None:
    begin("run", "five-tiles", "--store", "t.zarr", "--scheduler", "local", "--workers", 2, "--json").finish()
    same("five-tiles")
    begin("tile", "3x20", "--store", "tilings.zarr", "--scheduler", "local", "--workers", 2, "--json").finish()
    same("3x20", "tilings.zarr")


def plugins_of(client: Client) -> dict[str, set[str]]:
    """The names of the plugins of each worker."""
    return dict(client.run(lambda dask_worker: set(dask_worker.plugins)))


def topics_of(client: Client) -> set[str]:
    """The topics that the client is subscribed to."""
    told = client.run_on_scheduler(
        lambda dask_scheduler, name: {
            topic for topic, to in dask_scheduler._broker._topics.items() if name in to.subscribers
        },
        name=client.id,
    )
    return set(told)


def test_the_same_results_with_a_client_that_stays_open(shared: Cluster, same: Same, tmp_path: Path) -> None:
    heard: list[Any] = []
    with shared.client() as client:
        client.register_plugin(WorkerPlugin(), name="theirs")
        client.subscribe_topic("all", heard.append)
        client.subscribe_topic("theirs", heard.append)
        wait_until(lambda: {"all", "theirs"} <= topics_of(client), "the scheduler knows the user's topics")
        before = plugins_of(client), topics_of(client)
        kept = client.submit(add, 20, 22)
        options = RunOptions(checkpoint_every=0)
        report = run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr", options, scheduler=client)
        tile_board(load_board("3x20"), tmp_path / "tilings.zarr", scheduler=client)
        assert verify(tmp_path / "t.zarr", client).ok
        assert client.status == "running"
        assert kept.result() == 42
        assert client.submit(add, 1, kept).result() == 43
        client.log_event(["theirs", "all"], "still there")
        wait_until(lambda: [event[1] for event in heard].count("still there") == 2, "the user's events arrive")
        assert plugins_of(client) == before[0]
        wait_until(lambda: topics_of(client) == before[1], "the client is subscribed to nothing else")
        client.unregister_worker_plugin("theirs")
    assert report.complete
    same("eight-puzzle")
    same("3x20", "tilings.zarr")


def test_no_task_of_a_run_stays_on_the_cluster(shared: Cluster, tmp_path: Path) -> None:
    with shared.client() as client:
        kept = client.submit(add, 1, 2)
        run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr", scheduler=client)
        wait_until(lambda: shared.tasks() == 1, "the tasks of the run are removed")
        assert kept.result() == 3


@pytest.mark.slow
def test_two_runs_on_one_cluster(shared: Cluster, begin: Begin, same: Same) -> None:
    at = ["--scheduler", shared.address, *EVERY_LAYER]
    runs = [begin("run", puzzle, "--store", puzzle, *at, "--json") for puzzle in ("five-tiles", "knights-coloured")]
    runs[0].wait_for_depth(1)
    refused = begin("run", "five-tiles", "--store", "five-tiles", *at)
    refused.fail(1, f"in use by process {runs[0].process.pid}")
    for run in runs:
        run.finish()
    for puzzle in ("five-tiles", "knights-coloured"):
        same(puzzle, puzzle)
