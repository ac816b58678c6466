"""Two worker processes compared with two threads, and the traffic between workers."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from distributed import Client
from distributed.comm.tcp import TCP

from antipodes.puzzles.config import Config, load_config
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.table import open_table
from antipodes_tasks.move_tables import ILLEGAL
from benchmarks.measure import ANTIPODES, HERE, Row, Run, median, run

TITLE = "Clusters"
REPEATS = 5
LARGE_REPEATS = 3
PUZZLE, LARGE_PUZZLE = "three-colours", "seven-tiles"
WORKERS = 2
_sent: list[int] = []
"""The bytes of each answer that this worker has sent."""


def measure() -> list[Row]:
    """Return all rows; runs on threads and on the cluster alternate, so that both see the same load of the machine."""
    with tempfile.TemporaryDirectory() as folder, _cluster(Path(folder)) as cluster:
        on_cluster = ["--scheduler-file", cluster.scheduler_file]
        _run_table(PUZZLE, folder, on_cluster)  # warms up the workers
        small = [(_run_table(PUZZLE, folder), _run_table(PUZZLE, folder, on_cluster)) for _ in range(REPEATS)]
        large = [
            (_run_table(LARGE_PUZZLE, folder), _run_table(LARGE_PUZZLE, folder, on_cluster))
            for _ in range(LARGE_REPEATS)
        ]
        return [
            *_side_by_side(PUZZLE, small, search="at most 6 times the threads' time", whole=""),
            *_side_by_side(LARGE_PUZZLE, large, search="", whole="at most 1.4 times the threads' time"),
            *_traffic(cluster, folder),
        ]


@dataclass(frozen=True)
class _Processes:
    scheduler_file: str
    scheduler: psutil.Process


@contextmanager
def _cluster(folder: Path) -> Iterator[_Processes]:
    """Run a scheduler and workers of one thread each, all in separate processes."""
    file = str(folder / "scheduler.json")
    dask = [sys.executable, "-m", "dask"]
    commands = [
        [*dask, "scheduler", "--port", "0", "--host", "127.0.0.1", "--scheduler-file", file, "--no-dashboard"],
        *[[*dask, "worker", "--nthreads", "1", "--scheduler-file", file, "--no-dashboard"] for _ in range(WORKERS)],
    ]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}  # workers import this module
    processes = [subprocess.Popen(one, stderr=subprocess.DEVNULL, env=environment) for one in commands]
    try:
        with Client(scheduler_file=file) as client:
            client.wait_for_workers(WORKERS)
        yield _Processes(file, psutil.Process(processes[0].pid))
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()


def _run_table(puzzle: str, folder: str, options: Sequence[str] = ()) -> Run:
    store = str(Path(folder) / f"{puzzle}.zarr")
    return run([*ANTIPODES, "run", puzzle, "--store", store, "--overwrite", "--json", *options])


def _side_by_side(puzzle: str, turns: list[tuple[Run, Run]], search: str, whole: str) -> list[Row]:
    reports = [tuple(json.loads(one.output) for one in turn) for turn in turns]
    if any(threads["layers"] != cluster["layers"] for threads, cluster in reports):
        raise RuntimeError("threads and the cluster disagree")
    searches = [tuple(one["seconds"]["search"] for one in pair) for pair in reports]
    seconds = [tuple(one.seconds for one in turn) for turn in turns]
    return [
        Row(f"`{puzzle}` on {WORKERS} threads and on {WORKERS} processes, search phase", search, _compared(searches)),
        Row(
            f"`antipodes run {puzzle}` on {WORKERS} threads and on {WORKERS} processes, whole command",
            whole,
            _compared(seconds),
        ),
    ]


def _compared(pairs: Sequence[Sequence[float]]) -> str:
    threads, cluster = (median(values) for values in zip(*pairs, strict=True))
    ratio = median([ours / theirs for theirs, ours in pairs])
    return f"{threads:.2f} s and {cluster:.2f} s, {ratio:.2f} times"


def _traffic(cluster: _Processes, folder: str) -> list[Row]:
    """Measure the bytes of frontiers sent between workers, and compare them with the lower bound."""
    store = str(Path(folder) / "moved.zarr")
    with Client(scheduler_file=cluster.scheduler_file) as client:
        client.run(_count_answers)
        run_puzzle(load_config(LARGE_PUZZLE), store, RunOptions(), scheduler=client)
        moved = sum(client.run(_frontier_bytes).values())
    if not moved:
        raise RuntimeError("the workers sent each other no boundaries of shards")
    lines, bits = _crossing(load_config(LARGE_PUZZLE), store)
    return [
        Row(
            f"`{LARGE_PUZZLE}` on {WORKERS} processes: bytes of frontiers sent between the workers, compared with all "
            "rows of bits from which a move leads to the other worker",
            "at most 1.05 times",
            f"{moved / 1e6:.0f} MB, {moved / lines:.2f} times; {bits / 1e6:.0f} million positions",
        )
    ]


def _count_answers() -> None:
    """Count the bytes that this worker sends when it answers other workers, as dask writes them to the connection."""
    write = TCP.write

    async def counted(connection: Any, message: Any, *arguments: Any, **named: Any) -> int:
        sent: int = await write(connection, message, *arguments, **named)
        if isinstance(message, dict) and "answer" in message:
            _sent.append(sent)
        return sent

    TCP.write = counted  # type: ignore[assignment, method-assign]


def _frontier_bytes() -> int:
    return sum(_sent)


def _crossing(config: Config, store: str) -> tuple[int, int]:
    """Return the total bytes of the bitmap rows that must be sent, and the number of positions in them."""
    planned = plan_run(config.puzzle, WORKERS, processes=WORKERS)
    _, (other, *_) = planned.shards
    border = other.first_row
    target = planned.space.filler.filled().target
    upper = target < border
    legal = target != ILLEGAL
    leaves = (legal & upper).any(axis=1)
    leaves[:border] = (legal & ~upper).any(axis=1)[:border]
    lines = positions = 0
    with open_table(store, cache_bytes=0) as table:
        for part in planned.partitions:
            first, end = part.first_row * planned.space.width, part.end_row * planned.space.width
            depths = table.distances_by_index(np.arange(first, end)).reshape(part.rows, -1)[
                leaves[part.first_row : part.end_row]
            ]
            for depth in range(table.radius + 1):
                here = depths == depth
                lines += int(here.any(axis=1).sum())
                positions += int(here.sum())
    return lines * planned.space.width // 8, positions
