"""The same tables and tilings on clusters as on threads, without any change for other users of the cluster."""

import signal
from operator import add
from pathlib import Path
from typing import Any

import key_puzzles
import pytest
from brute_force import layers
from clusters import Cluster
from distributed import Client, WorkerPlugin
from program_runs import EVERY_LAYER, Begin, Same
from puzzle_settings import TOWERS
from stores import contents, stop_after
from waiting import wait_until

from antipodes.puzzles.config import load_config
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.verify import verify
from antipodes.tilings.board_config import load_board
from antipodes.tilings.run import tile_board


@pytest.mark.slow
def test_the_same_table(shared: Cluster, begin: Begin, same: Same) -> None:
    at = ["--scheduler-file", shared.scheduler_file]
    report = begin("run", "knights-coloured", "--store", "t.zarr", *at, "--json").finish()
    assert (report["complete"], report["workers_lost"], report["states_found_again"]) == (True, 0, 0)
    same("knights-coloured")


@pytest.mark.slow
def test_the_same_table_reduced_by_symmetries(shared: Cluster, tmp_path: Path) -> None:
    options = RunOptions(symmetry="on", checkpoint_every=0)
    run_puzzle(TOWERS, tmp_path / "threads.zarr", RunOptions(symmetry="on"))
    with shared.client() as client:
        run_puzzle(TOWERS, tmp_path / "t.zarr", options, scheduler=client)
        assert verify(tmp_path / "t.zarr", client).ok
    assert contents(tmp_path / "t.zarr") == contents(tmp_path / "threads.zarr")


@pytest.mark.slow
def test_the_same_counts_and_tables_of_keys(shared: Cluster, tmp_path: Path) -> None:
    counting = RunOptions(counts_only=True, checkpoint_every=0)
    eight, blocks = load_config("eight-puzzle"), key_puzzles.config_of("blocks")
    with shared.client() as client:
        first = run_puzzle(eight, tmp_path / "c.zarr", counting, interrupted=stop_after(12), scheduler=client)
        last = run_puzzle(eight, tmp_path / "c.zarr", counting, scheduler=client)
        assert (first.complete, last.resumed_from) == (False, first.manifest.committed_depth)
        assert last.manifest == run_puzzle(eight, tmp_path / "threads.zarr", counting).manifest
        for options in (RunOptions(), RunOptions(counts_only=True)):
            report = run_puzzle(blocks, tmp_path / f"{options.counts_only}.zarr", options, scheduler=client)
            assert report.layers == layers(key_puzzles.brute_force("blocks"))


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


@pytest.mark.slow
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
        wait_until(lambda: shared.tasks() == 1, "the tasks of the runs are removed")
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


@pytest.mark.slow
def test_two_runs_on_one_cluster(shared: Cluster, begin: Begin, same: Same) -> None:
    at = ["--scheduler", shared.address, *EVERY_LAYER]
    puzzles = "eight-puzzle", "knights-coloured"
    runs = [begin("run", puzzle, "--store", puzzle, *at, "--json") for puzzle in puzzles]
    runs[0].wait_for_depth(1)
    runs[0].signal(signal.SIGSTOP)  # so that it does not end before the next one begins
    refused = begin("run", "eight-puzzle", "--store", "eight-puzzle", *at)
    refused.fail(1, f"in use by process {runs[0].process.pid}")
    runs[0].signal(signal.SIGCONT)
    for run, puzzle in zip(runs, puzzles, strict=True):
        run.finish()
        same(puzzle, puzzle)
