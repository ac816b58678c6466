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
from types import SimpleNamespace
from typing import Any

import psutil
from distributed import Client, Worker

from antipodes.executors.api import Call, Key, never_stop
from antipodes.executors.distributed.cluster import Cluster
from antipodes.system.events import silence
from antipodes.tables.layers.residence import Neighbourhood, Residence, RowResidence, hold
from antipodes_tasks.bfs.partition import Partition
from benchmarks.measure import HERE, Row, median

TITLE = "Control plane"
WORKERS, PROCESSES = 64, 4
"""Number of workers, and of processes that they share."""
PARTITIONS = 16_384
"""Number of partitions. The processes share the time of a layer, which limits it; the scheduler sees none of them."""
LAYERS = 5
"""Number of layers, whose median is the result."""
IDLE_SECONDS = 10.0
"""Seconds in which the scheduler's processor time without layers is measured, such as for heartbeats."""
NEIGHBOURS = (1, WORKERS // 8)
"""Distances between the workers whose partitions moves connect."""


class IdleShard:
    """A shard that finds nothing."""

    token = ""

    def __init__(self, number: int) -> None:
        self.states = [SimpleNamespace(part=Partition(number, number, number + 1))]

    def advance(self, offers: Any, links: Any, depth: int, layers: int, token: str) -> list[int]:
        """Return a position for each layer."""
        return [1] * layers

    def check(self, token: str) -> None:
        """Do nothing."""

    settle = frontiers = lambda self, *arguments: ()
    """Do nothing, and return no frontier."""


def measure() -> list[Row]:
    """Return the processor time of the scheduler for a layer."""
    with (
        tempfile.TemporaryDirectory() as folder,
        _processes(Path(folder)) as (file, scheduler),
        Client(scheduler_file=file) as client,  # type: ignore[no-untyped-call]
        Cluster(client) as cluster,
    ):
        while len(cluster.members) < WORKERS:
            assert cluster.wait_for_workers(silence, never_stop)
            time.sleep(0.1)
        seconds = _layer_seconds(cluster, scheduler)
    return [
        Row(
            f"{WORKERS} workers without work, {PARTITIONS:,} partitions: the scheduler's processor time per layer and "
            "per task",
            "at most 0.1 s",
            f"{seconds:.2f} s, {1000 * seconds / WORKERS:.2f} ms per task",
        )
    ]


def _layer_seconds(cluster: Cluster, scheduler: psutil.Process) -> float:
    each = PARTITIONS // WORKERS
    shards = cluster.divide(range(PARTITIONS), {})
    everywhere = Neighbourhood("benchmark", shards, 1, cluster.channel)
    calls: dict[Key, Call] = {("residence", at): (residence_of, one, everywhere) for at, one in enumerate(shards)}
    residences = list(cluster.persist(calls, None, dict(zip(calls, shards, strict=True))).values())
    (links,) = cluster.persist(
        {("links", 0): (links_of_ring, PARTITIONS, [sign * each * step for step in NEIGHBOURS for sign in (1, -1)])}
    ).values()
    begin = _seconds(scheduler)
    time.sleep(IDLE_SECONDS)
    idle = (_seconds(scheduler) - begin) / IDLE_SECONDS
    seconds = []
    for depth in range(LAYERS + 1):
        begin, start = _seconds(scheduler), time.perf_counter()
        calls = {
            (f"advance-{depth}", at): (Residence.advance, one, links, depth, 1, each, "")
            for at, one in enumerate(residences)
        }
        cluster.gather(list(cluster.persist(calls, None, dict(zip(calls, shards, strict=True))).values()))
        seconds.append(_seconds(scheduler) - begin - idle * (time.perf_counter() - start))
    return median(seconds[1:])  # the first layer also sends the links to all workers


def residence_of(own: str, everywhere: Neighbourhood) -> Residence:
    """Return the residence of the idle shards of a worker."""
    shards = {number: (IdleShard, number) for number in everywhere.processes[own]}
    return hold(RowResidence, shards, None, own, everywhere, 1)


def links_of_ring(partitions: int, steps: list[int]) -> Any:
    """Return links like those of a sliding puzzle: from each partition to those that are so many steps away."""
    predecessors = [[(number + step) % partitions for step in steps] for number in range(partitions)]
    return SimpleNamespace(predecessors=predecessors, tables=SimpleNamespace(undirected=True))


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
