"""Random faults of clusters: cut and frozen workers, lost ones, full disks, slow workers, clients that die.

    python -m workshop.faults --seed 1 --minutes 30

Scheduler, clients and workers run on hosts of a laboratory (`benchmarks.laboratory`, which needs root). Each trial
draws a puzzle, the size of the shards, the time between commits and a fault. Within three minutes of the fault, the run
has to end with the right layers, or in one line of the program, or still find layers. In the last two cases the fault
is removed, and the run, or the command that resumes it, has to end with the right layers.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SUPPORT = ROOT / "tests" / "support"
sys.path.insert(0, str(SUPPORT))

from clusters import Cluster, Group  # noqa: E402
from program_runs import Run, check_no_noise  # noqa: E402

from benchmarks import laboratory  # noqa: E402

SCHEDULER, CLIENT, OTHER_CLIENT, FIRST_WORKER = 1, 2, 3, 4
WORKERS = 4
LIMIT_SECONDS = 180.0
LAYER_SECONDS = "0.3"
DISK_BYTES = 32 << 20
"""Size of the disk of each worker, and of the disk of the store."""
SHARDS = (1 << 12, 1 << 16, 1 << 20)
"""The maximum number of entries of a shard: many small ones, about one for each worker, or fewer than workers."""
PUZZLES = {
    "rows to few blocks": "eight-puzzle",
    "rows to all": "2x2x2-corner-quarter",
    "identical pieces": "knights-labelled",
    "keys": """
[puzzle]
name = "keys"
family = "sliding"
rows = 3
columns = 3
start = "1 2 3 4 5 6 7 8 0"
enumerated = true
""",
}


@dataclass
class Stage:
    """The cluster and the run of a trial."""

    lab: laboratory.Laboratory
    cluster: Cluster
    folder: Path
    draw: random.Random
    workers: dict[int, Group] = field(default_factory=dict)
    """The processes of each worker, by host."""
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when the faults of the trial end."""
    threads: list[threading.Thread] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def one(self) -> int:
        """Return a host with a worker."""
        return self.draw.choice(sorted(self.workers))

    def start_missing(self) -> None:
        """Start a worker on each host that has none."""
        for host in range(FIRST_WORKER, FIRST_WORKER + WORKERS):
            if host not in self.workers or self.workers[host].process.poll() is not None:
                disk = self.folder / f"disk-{host}"
                options = ["--host", self.lab.address(host), "--nthreads", 1 + host % 2, "--local-directory", disk]
                options += ["--preload", SUPPORT / "slow_layers.py"]
                self.workers[host] = self.cluster.add_worker(*options, prefix=self.lab.at(host))

    def heal(self, *, restart: bool = True) -> None:
        """End the faults, and replace the workers that they have ended."""
        self.ended.set()
        for thread in self.threads:
            thread.join()
        self.threads.clear()
        self.ended = threading.Event()
        self.lab.network.cut.clear()
        for group in self.alive():
            group.thaw()
        for filler in self.folder.glob("disk-*/filler"):
            filler.unlink()
        if restart:
            self.start_missing()

    def alive(self) -> list[Group]:
        """Return the groups of processes that have not ended; the numbers of others may belong to other programs."""
        return [group for group in self.cluster.groups if group.process.poll() is None]

    def end_runs(self) -> None:
        """Kill the runs that have not ended."""
        for run in self.runs:
            if run.process.poll() is None:
                run.kill()
        self.runs.clear()

    def later(self, act: Callable[[], object]) -> None:
        """Act in a thread of its own."""
        self.threads.append(threading.Thread(target=act, daemon=True))
        self.threads[-1].start()


def cut_for(seconds: float) -> Callable[[Stage], str]:
    """Return a fault: a worker is cut off for a time."""

    def cut(stage: Stage) -> str:
        host = stage.one()
        stage.lab.network.cut.add(host)

        def heal() -> None:
            stage.ended.wait(seconds)
            stage.lab.network.cut.discard(host)

        stage.later(heal)
        return f"worker {host} is cut off for {seconds:g} seconds"

    return cut


def freeze_for(seconds: float) -> Callable[[Stage], str]:
    """Return a fault: a worker is suspended for a time."""

    def freeze(stage: Stage) -> str:
        host = stage.one()
        group = stage.workers[host]
        group.stop()

        def thaw() -> None:
            stage.ended.wait(seconds)
            if group in stage.alive():
                group.thaw()

        stage.later(thaw)
        return f"worker {host} is frozen for {seconds:g} seconds"

    return freeze


def lose_half(stage: Stage) -> str:
    """Kill half of the workers at once."""
    hosts = stage.draw.sample(sorted(stage.workers), WORKERS // 2)
    for host in hosts:
        stage.workers[host].signal(signal.SIGKILL)
    return f"workers {hosts} are killed"


def cut_half(stage: Stage) -> str:
    """Cut half of the workers off at once, for good."""
    hosts = stage.draw.sample(sorted(stage.workers), WORKERS // 2)
    stage.lab.network.cut.update(hosts)
    return f"workers {hosts} are cut off for good"


def terminate_one(stage: Stage) -> str:
    """End a worker with SIGTERM, so that it retires."""
    host = stage.one()
    stage.workers[host].signal(signal.SIGTERM)
    return f"worker {host} is terminated"


def fill_disk_of_worker(stage: Stage) -> str:
    """Fill the disk of a worker."""
    host = stage.one()
    fill(stage.folder / f"disk-{host}")
    return f"the disk of worker {host} is full"


def fill_disk_of_store(stage: Stage) -> str:
    """Fill the disk of the store."""
    fill(stage.folder / "disk-store")
    return "the disk of the store is full"


def fill(disk: Path) -> None:
    """Fill a disk."""
    with (disk / "filler").open("wb", buffering=0) as file:
        try:
            while file.write(bytes(1 << 16)):
                pass
        except OSError:
            pass


def slow_down(stage: Stage) -> str:
    """Give a worker a tenth of its time."""
    host, ended = stage.one(), stage.ended
    group = stage.workers[host]

    def pulse() -> None:
        while not ended.is_set() and group.process.poll() is None:
            group.stop()
            ended.wait(0.9)
            group.thaw()
            ended.wait(0.1)

    stage.later(pulse)
    return f"worker {host} is ten times slower"


def kill_client(stage: Stage) -> str:
    """The run is killed by the trial itself, and resumed on another host."""
    return "the client is killed, and started on another host in another folder"


FAULTS: list[Callable[[Stage], str]] = [
    cut_for(10),
    cut_for(90),
    cut_for(10 * LIMIT_SECONDS),
    freeze_for(10),
    freeze_for(90),
    freeze_for(10 * LIMIT_SECONDS),
    lose_half,
    cut_half,
    terminate_one,
    fill_disk_of_worker,
    fill_disk_of_store,
    slow_down,
    kill_client,
]


def trial(stage: Stage, fault: Callable[[Stage], str], known: dict[str, Any]) -> str:
    """Run a search with a fault, and return the result in words; raise AssertionError if it is wrong."""
    kind = stage.draw.choice(list(PUZZLES))
    shards = stage.draw.choice(SHARDS)
    commit = stage.draw.choice([0, 5, 30])
    begin = (stage.draw.randrange(2, 8), stage.draw.random() * 2)
    print(f"  {kind}, shards of {shards:,} entries, commits every {commit} s", flush=True)
    store = stage.folder / "disk-store" / "t.zarr"
    options = ["--store", store, "--overwrite", "--checkpoint-every", commit, *at_scheduler(stage)]
    run = start(stage, CLIENT, shards, "run", puzzle(stage, kind), *options)
    run.wait_for_depth(begin[0])
    time.sleep(begin[1])
    what = fault(stage)
    since, lines = time.monotonic(), len(run.lines)
    print(f"  depth {begin[0]}: {what}", flush=True)
    if fault is kill_client:
        run.kill()
        run = resumed(stage, shards, store)
    status = ending(run)
    told = f"status {status} after {time.monotonic() - since:.0f} s: {run.lines[-1].strip() if run.lines else ''}"
    if status is None:
        assert any(" depth " in line for line in run.lines[lines:]), f"no progress:\n{run.err}"
        told = f"continues after {LIMIT_SECONDS:.0f} s"
        stage.heal()
        status = ending(run)
    check_no_noise(run.err)
    if status:
        assert run.lines[-1].startswith("antipodes: "), run.err
        stage.heal()
        run = resumed(stage, shards, store)
        status = ending(run)
        told += f"; resumed: status {status}"
    assert status == 0, f"{status}: {run.err}"
    _, out, err = run.end()
    check_no_noise(err)
    assert json.loads(out)["layers"] == known[kind], "WRONG LAYERS"
    return told


def at_scheduler(stage: Stage) -> list[object]:
    """Return the options that name the scheduler."""
    return ["--scheduler", f"tcp://{stage.lab.address(SCHEDULER)}:8786", "--json"]


def start(stage: Stage, host: int, shards: int, *arguments: object, cwd: Path | None = None) -> Run:
    """Start the program on a host."""
    command: list[object] = [*stage.lab.at(host), sys.executable, SUPPORT / "small_shards.py", *arguments]
    stage.runs.append(Program(command, cwd or stage.folder, {"SHARD_ENTRIES": str(shards)}))
    return stage.runs[-1]


class Program(Run):
    """A run of the program with small shards."""

    def __init__(self, command: list[object], cwd: Path, environment: dict[str, str]) -> None:
        import program_runs

        program, program_runs.PROGRAM = program_runs.PROGRAM, []
        try:
            super().__init__(command, cwd, environment, ())
        finally:
            program_runs.PROGRAM = program


def resumed(stage: Stage, shards: int, store: Path) -> Run:
    """Resume a run on the other client's host, from another folder, with another path of the store."""
    elsewhere = stage.folder / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    link = elsewhere / "tables"
    if not link.is_symlink():
        link.symlink_to(store.parent)
    return start(stage, OTHER_CLIENT, shards, "resume", f"tables/{store.name}", *at_scheduler(stage), cwd=elsewhere)


def ending(run: Run) -> int | None:
    """Return the exit status of a run, or None if it does not end within the limit."""
    try:
        status, _, _ = run.end(LIMIT_SECONDS)
    except AssertionError:
        return None
    return status


def puzzle(stage: Stage, kind: str) -> str:
    """Return the name of a bundled puzzle, or the path of a file with the puzzle."""
    text = PUZZLES[kind]
    if "\n" not in text:
        return text
    path = stage.folder / f"{kind}.toml"
    path.write_text(text)
    return str(path)


@contextmanager
def staged(seed: int) -> Iterator[Stage]:
    """Start a cluster; all disks are file systems of their own."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for name in (*range(FIRST_WORKER, FIRST_WORKER + WORKERS), "store"):
            stack.enter_context(disk(folder / f"disk-{name}"))
        lab = stack.enter_context(laboratory.Laboratory(FIRST_WORKER - 1 + WORKERS))
        cluster = stack.enter_context(Cluster(folder, {"LAYER_SECONDS": LAYER_SECONDS}))
        cluster.start_scheduler("--host", lab.address(SCHEDULER), "--port", 8786, prefix=lab.at(SCHEDULER))
        stage = Stage(lab, cluster, folder, random.Random(seed))
        stack.callback(lambda: cluster.groups.__setitem__(slice(None), stage.alive()))
        stack.callback(stage.end_runs)
        stack.callback(stage.heal, restart=False)
        stage.start_missing()
        yield stage


@contextmanager
def disk(path: Path) -> Iterator[None]:
    """Mount a small file system at a path."""
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "faults", str(path)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=False)


def noise(stage: Stage) -> set[str]:
    """Return the errors, and the last line of each traceback, in the logs of workers and scheduler; forget the logs."""
    found = set[str]()
    for group in stage.cluster.groups:
        in_traceback = False
        for line in group.log.read_text(errors="replace").splitlines():
            if in_traceback and line[:1].strip():
                found.add(line)
            in_traceback = line.startswith("Traceback") or (in_traceback and not line[:1].strip())
            if " - ERROR - " in line:
                found.add(line.partition(" - ")[2])
        os.truncate(group.log, 0)
    return found


def known_layers(folder: Path) -> dict[str, Any]:
    """Return the layers of each puzzle, found in threads of one process."""
    found = {}
    for kind, text in PUZZLES.items():
        (folder / "known.toml").write_text(text)
        name = text if "\n" not in text else str(folder / "known.toml")
        run = Run(["run", name, "--store", folder / f"{len(found)}.zarr", "--json"], folder, {}, ())
        found[kind] = run.finish()["layers"]
    return found


def main() -> int:
    """Run trials until the time is over; return 1 if a trial failed."""
    parser = argparse.ArgumentParser(prog="python -m workshop.faults", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--only", help="the number of a fault in the list")
    chosen = parser.parse_args()
    if (needed := laboratory.missing()) is not None:
        print(f"skipped: needs {needed}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the hosts and disks are removed
    end, failures, number = time.monotonic() + 60 * chosen.minutes, 0, 0
    order: list[Callable[[Stage], str]] = []
    with staged(chosen.seed) as stage, tempfile.TemporaryDirectory() as folder:
        known = known_layers(Path(folder))
        while time.monotonic() < end:
            number += 1
            order = order or stage.draw.sample(FAULTS, len(FAULTS))
            fault = order.pop() if chosen.only is None else FAULTS[int(chosen.only)]
            print(f"trial {number}", flush=True)
            try:
                print(f"  right: {trial(stage, fault, known)}", flush=True)
            except AssertionError as error:
                failures += 1
                print(f"  FAILED: {error}", flush=True)
            stage.end_runs()
            stage.heal()
            for line in sorted(noise(stage)):
                print(f"  log: {line[:200]}", flush=True)
    print(f"{number} trials, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
