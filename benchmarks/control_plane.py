"""The processor time of a scheduler whose workers do no work: what the tasks of a layer cost, whatever they compute."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from distributed import Client, Worker

from antipodes.executors.api import never_stop
from antipodes.executors.distributed.cluster import Cluster
from antipodes.system.events import silence
from antipodes.tables.layers.layer_graph import NeighbourGraph
from benchmarks.measure import HERE, Row, median

TITLE = "Control plane"
WORKERS, PROCESSES = 64, 4
"""Number of workers, and of processes that they share."""
PARTITIONS = 65_536
MEASURED = 256
"""Number of partitions of the layers that are measured; the time grows in proportion."""
LAYERS = 1
NEIGHBOURS = (1, WORKERS // 8)
"""Distances between the workers whose partitions moves connect."""


class IdleShard:
    """A shard that finds nothing."""

    def __init__(self) -> None:
        self.token = ""

    def advance(self, offers: Any, links: Any, depth: int, layers: int, token: str) -> list[int]:
        """Return a position for each layer."""
        return [1] * layers

    def frontiers(self, depth: int) -> list[Any]:
        """Return no frontier."""
        return []

    @contextmanager
    def held_by(self, token: str) -> Iterator[None]:
        """Do nothing."""
        yield


def measure() -> list[Row]:
    """Return the processor time of the scheduler for a layer."""
    with (
        tempfile.TemporaryDirectory() as folder,
        _processes(Path(folder)) as (file, scheduler),
        Client(scheduler_file=file) as client,  # type: ignore[no-untyped-call]
        Cluster(client) as cluster,
    ):
        while len(client.scheduler_info(n_workers=-1)["workers"]) < WORKERS:
            time.sleep(0.1)
        assert cluster.wait_for_workers(silence, never_stop)
        seconds = _layer_seconds(cluster, scheduler)
    return [
        Row(
            f"{WORKERS} workers without work, {PARTITIONS:,} partitions: the scheduler's processor time for each layer",
            "at most 0.1 s",
            f"{seconds * PARTITIONS / MEASURED:.2f} s",
        )
    ]


def _layer_seconds(cluster: Cluster, scheduler: psutil.Process) -> float:
    handles = list(cluster.submit({("shard", number): (IdleShard,) for number in range(MEASURED)}).values())
    links = cluster.persist({("links", 0): (NoLinks,)})["links", 0]
    cluster.gather(list(cluster.persist({("first", 0): (len, [links, *handles])}).values()))
    each = MEASURED // WORKERS
    predecessors = [
        sorted({(number + sign * each * step) % MEASURED for step in NEIGHBOURS for sign in (1, -1)})
        for number in range(MEASURED)
    ]
    seconds = []
    for depth in range(LAYERS):
        graph = NeighbourGraph(
            run=f"layer{depth}",
            links=links,
            predecessors=predecessors,
            shares_memory=False,
            shards=handles,
            active=set(range(MEASURED)),
            token="",
            batches=[[[number] for number in group] for group in cluster.groups_by_process(handles)],
            rows=[range(number, number + 1) for number in range(MEASURED)],
        )
        begin = _seconds(scheduler)
        graph.add_layers(depth, 1)
        futures = cluster.persist(graph.calls, list(graph.advances), None, graph.places)
        cluster.gather(list(futures.values()))
        seconds.append(_seconds(scheduler) - begin)
    return median(seconds)


class NoLinks:
    """Moves that are not used."""

    tables = None


def _seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    seconds: float = times.user + times.system
    return seconds


@contextmanager
def _processes(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Run a scheduler in a process, and the workers in a few others."""
    file = str(folder / "scheduler.json")
    dask = [sys.executable, "-m", "dask", "scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard"]
    commands = [[*dask, "--scheduler-file", file]]
    commands += [[sys.executable, "-m", "benchmarks.control_plane", file] for _ in range(PROCESSES)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    processes = [subprocess.Popen(one, stderr=subprocess.DEVNULL, env=environment) for one in commands]
    try:
        yield file, psutil.Process(processes[0].pid)
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()


async def _work(file: str) -> None:
    """Run some workers in this process until it is terminated."""
    while not Path(file).exists():
        await asyncio.sleep(0.1)
    workers = [Worker(scheduler_file=file, nthreads=1, dashboard=False) for _ in range(WORKERS // PROCESSES)]
    await asyncio.gather(*workers)
    await asyncio.gather(*(worker.finished() for worker in workers))  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    asyncio.run(_work(sys.argv[1]))
