"""A search on hosts whose links have a rate and a latency: the time that is lost, the bytes sent, and what `plan` says.

Bytes are counted in the workers, which load this module: what dask writes for each answer to another worker.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from antipodes.tables.planning.network import ROUND_TRIPS
from benchmarks import laboratory
from benchmarks.measure import HERE, Row, median, run

TITLE = "Networks"
PUZZLE = "seven-tiles"
WORKERS = 2
REPEATS = 1
SCHEDULER, CLIENT, FIRST_WORKER = 1, 2, 3
PORT = 8786
START_SECONDS = 120.0
PROGRAM = (
    sys.executable,
    "-c",
    """
from antipodes.tables.layers import division
division.SHARD_STATES = 1, min(division.SHARD_STATES[0], 1 << 22)
from antipodes.cli.program import main
main()
""",
)
"""The program with shards of at most 4 million entries, so that each worker has some of a small puzzle."""
FIRST = ("chrt", "--rr", "1")
"""The words with which commands begin that other programs of the machine should not delay."""
COUNTS = "ANTIPODES_BENCHMARK_COUNTS"
"""The environment variable with the folder into which workers write how many bytes they have sent."""


@dataclass(frozen=True)
class Link:
    """The rate and the latency of the links between all hosts."""

    name: str
    bits_per_second: float
    seconds: float
    """Time that a packet takes from host to host."""

    def __str__(self) -> str:
        return f"{self.name}, {1000 * self.seconds:g} ms"


LINKS = [Link(name, rate, seconds) for name, rate in (("1Gbit", 1e9), ("10Gbit", 1e10)) for seconds in (0.0002, 0.005)]


def measure(puzzle: str = PUZZLE, workers: int = WORKERS, repeats: int = REPEATS) -> list[Row]:
    """Return the time that each link takes; a single row says what is missing if there can be no laboratory."""
    if (needed := laboratory.missing()) is not None:
        return [Row(f"`{puzzle}` on {workers} hosts", "", f"skipped: needs {needed}")]
    with tempfile.TemporaryDirectory() as folder:
        with _cluster(Path(folder), workers) as lab:
            seconds, layers = _timed(lab, puzzle, Path(folder), repeats)
        sent = _sent(Path(folder) / "counts", 1 + repeats * len(seconds))
    free = median(seconds[None])
    print("\n".join(f"depth {depth}: {count / 1e6:.2f} MB" for depth, count in sent.items()), file=sys.stderr)
    return [
        Row(f"`{puzzle}` on {workers} hosts: search without a limit", "", f"{free:.2f} s"),
        *(
            Row(
                f"`{puzzle}` on {workers} hosts, {link}: search; time lost; as planned",
                "the plan within a factor of 1.5",
                f"{median(seconds[link]):.2f} s; {median(seconds[link]) - free:.2f} s; "
                f"{_planned(puzzle, workers, link.name) + ROUND_TRIPS * 2 * link.seconds * layers:.2f} s",
            )
            for link in LINKS
        ),
        Row(f"`{puzzle}` on {workers} hosts: bytes of rows sent", "", f"{sum(sent.values()) / 1e6:.1f} MB"),
    ]


def _timed(
    lab: laboratory.Laboratory, puzzle: str, folder: Path, repeats: int
) -> tuple[dict[Link | None, list[float]], int]:
    """Return the seconds of each search by link, None for no limit, and the number of layers."""
    seconds: dict[Link | None, list[float]] = {link: [] for link in (None, *LINKS)}
    layers = len(_search(lab, puzzle, folder)["layers"])  # warms up the workers
    for _ in range(repeats):
        for link, found in seconds.items():
            lab.limit(*((None, 0.0) if link is None else (link.bits_per_second, link.seconds)))
            found.append(_search(lab, puzzle, folder)["seconds"]["search"])
            print(f"{link or 'no limit'}: {found[-1]:.2f} s", file=sys.stderr)
    return seconds, layers


@contextmanager
def _cluster(folder: Path, workers: int) -> Iterator[laboratory.Laboratory]:
    """Run a scheduler and workers of one thread each, all on hosts of their own."""
    counts = folder / "counts"
    counts.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent), COUNTS: str(counts)}
    dask = [sys.executable, "-m", "dask"]
    local = ["--no-dashboard", "--local-directory", str(folder)]
    with laboratory.Laboratory(FIRST_WORKER - 1 + workers) as lab:
        at = f"tcp://{lab.address(SCHEDULER)}:{PORT}"
        alone = ["--no-dashboard", "--host", lab.address(SCHEDULER), "--port", str(PORT)]
        commands = [[*FIRST, *lab.at(SCHEDULER), *dask, "scheduler", *alone]]
        for host in range(FIRST_WORKER, FIRST_WORKER + workers):
            own = ["--host", lab.address(host), "--nthreads", "1", "--no-nanny", "--memory-limit", "0"]
            commands.append(
                [*FIRST, *lab.at(host), *dask, "worker", at, *own, *local, "--preload", "benchmarks.network"]
            )
        processes = [subprocess.Popen(one, stderr=subprocess.DEVNULL, env=environment) for one in commands]
        try:
            _wait_for(counts, workers)
            yield lab
        finally:
            for process in reversed(processes):
                process.terminate()
            for process in processes:
                process.wait()


def _wait_for(counts: Path, workers: int) -> None:
    """Wait until all workers have started."""
    end = time.monotonic() + START_SECONDS
    while len(list(counts.iterdir())) < workers:
        if time.monotonic() > end:
            raise RuntimeError(f"the workers did not start within {START_SECONDS:.0f} seconds")
        time.sleep(0.1)


def _search(lab: laboratory.Laboratory, puzzle: str, folder: Path) -> Any:
    address = f"tcp://{lab.address(SCHEDULER)}:{PORT}"
    options = ["--counts-only", "--store", str(folder / "counted.zarr"), "--overwrite", "--json", "--scheduler"]
    return json.loads(run([*FIRST, *lab.at(CLIENT), *PROGRAM, "run", puzzle, *options, address]).output)


@cache
def _planned(puzzle: str, workers: int, rate: str) -> float:
    """Return the seconds for the bytes, as `plan` prints them."""
    cluster = ["--cluster-workers", str(workers), "--worker-memory", "8GiB", "--network", rate]
    report = json.loads(run([*PROGRAM, "plan", puzzle, *cluster, "--json"]).output)
    return float(report["cluster"]["network"]["seconds"])


def _sent(folder: Path, runs: int) -> dict[int, int]:
    """Return the bytes that all workers sent at each depth, in one of several runs."""
    total: Counter[int] = Counter()
    for file in folder.iterdir():
        total.update({int(depth): count for depth, count in json.loads(file.read_text()).items()})
    return {depth: total[depth] // runs for depth in sorted(total)}


_sent_by_depth: Counter[int] = Counter()


def dask_setup(worker: Any) -> None:
    """Count what this worker sends; called when a worker has started."""
    from distributed.comm.tcp import TCP

    write: Any = TCP.write

    async def counted(comm: Any, message: Any, *arguments: Any, **named: Any) -> Any:
        count = await write(comm, message, *arguments, **named)
        answer = getattr(message.get("answer"), "data", None) if isinstance(message, dict) else None
        if (depth := getattr(answer, "depth", None)) is not None:
            _sent_by_depth[depth] += count
        return count

    TCP.write = counted  # type: ignore[assignment, method-assign]
    _note()


def dask_teardown(worker: Any) -> None:
    """Write how many bytes this worker has sent."""
    _note()


def _note() -> None:
    Path(os.environ[COUNTS], str(os.getpid())).write_text(json.dumps(_sent_by_depth))


def _end(*_: object) -> None:
    raise SystemExit(1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.network", description=__doc__)
    parser.add_argument("puzzle", nargs="?", default=PUZZLE)
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    signal.signal(signal.SIGTERM, _end)  # the hosts are removed
    for row in measure(**vars(parser.parse_args())):
        print(f"{row.what}: {row.measured}")
