"""Runs that are killed repeatedly and resumed; the final tables are compared with those of undisturbed runs.

As a program, ``python tests/support/kills.py NUMBER SEED`` kills this many runs, and prints in which phases they were.
Runs are forked from this process, which has loaded the libraries, so a run takes little more time than its search.
"""

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from faults import die, fault_at
from stores import contents, read_manifest, toml

from antipodes.cli.commands import run as _run  # noqa: F401  (loaded before the first fork)
from antipodes.cli.main import run_command
from antipodes.puzzles.config import load_config
from antipodes.storage.backend import MANIFEST
from antipodes.tables.planning.plan import plan_run
from antipodes_tasks.bfs.partition import warm_up

TIMES = int(os.environ.get("KILLS", "1"))
"""Factor by which the tests kill more runs than by default."""
OWN: dict[str, dict[str, Any]] = {
    "ring": {  # its radius needs two bytes
        "family": "jump",
        "start": "-B" + "A" * 22,
        "edges": [[place, (place + 1) % 24] for place in range(24)],
    },
    "pancake-8": {"family": "pancake", "n": 8},
    "one-way": {
        "family": "generators",
        "n": 8,
        "moves": {"A": "(0 1 2 3 4 5 6 7)", "B": "(0 1)"},
        "turns": "single",
    },
    "reduced classes": {"family": "square-1", "start": "A1B23C4D-", "metric": "twist"},
}
"""Settings of puzzles that are not bundled."""
DIALS = '''
from antipodes import define_puzzle

def dials(count=8):
    """Dials; each one turns only if all dials before it are at 0."""
    def turn(dial, by):
        def move(dials):
            legal = ~dials[:, :dial].any(axis=1)
            dials[:, dial] = (dials[:, dial] + by) % 4
            return dials, legal
        return move
    moves = {f"{dial}{sign}": turn(dial, by) for dial in range(count) for sign, by in (("+", 1), ("-", -1))}
    inverses = {f"{dial}+": f"{dial}-" for dial in range(count)}
    return define_puzzle(name="dials", radices=[4] * count, start=[0] * count, moves=moves, inverses=inverses)
'''
"""A puzzle written in Python."""
PUZZLES = ("eight-puzzle", "ivy", "ring", "pancake-8", "one-way", "dials", "m12", "knights-coloured", "reduced classes")
"""Names of puzzles with all kinds of spaces."""
MAX_CALLS = 400
"""Maximum number of the file system call at which a run is killed; most runs make fewer calls."""
KILLED_WITHIN = 0.4
"""Maximum number of seconds after which a run is killed if it is not killed at a call."""
SECONDS = 300
"""Seconds after which a run is considered to hang."""


class Way(NamedTuple):
    """A way to start a run."""

    workers: int
    every: bool
    """Whether the run commits each layer."""
    spills: bool
    """Whether the memory limit is so low that all segments are spilled."""


def main(kills: int, seed: int) -> None:
    """Kill this many runs, check each table that they produce, and print in which phases they were killed."""
    warm_up()
    rng, phases = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        whole: dict[str, dict[str, bytes]] = {}
        number = 0
        while phases.total() < kills:
            number += 1
            name = PUZZLES[number % len(PUZZLES)]
            puzzle = config_file(name, Path(folder))
            if name not in whole:
                whole[name] = undisturbed(puzzle, Path(folder) / f"{name}.zarr")
            store = Path(folder) / f"{number}.zarr"
            phases.update(kill_until_complete(puzzle, store, rng))
            print(f"{phases.total()} kills, the last of {name}", flush=True)
            if contents(store) != whole[name]:
                sys.exit(f"run {number} of seed {seed}: {name} differs from the table of an undisturbed run")
    print(", ".join(f"{phase} {count}" for phase, count in sorted(phases.items())))


def config_file(name: str, folder: Path) -> str:
    """Return a puzzle as an argument of the program: the name of a bundled puzzle, or a file."""
    if name == "dials":
        (folder / "dials.py").write_text(DIALS)
        return f"{folder}/dials.py:dials"
    if name not in OWN:
        return name
    path = folder / f"{name}.toml"
    path.write_text(toml({"name": name, **OWN[name]}, {"symmetry": "on"} if name.startswith("reduced") else {}))
    return str(path)


def undisturbed(puzzle: str, store: Path) -> dict[str, bytes]:
    """Return the files of the store of an uninterrupted run."""
    assert waited(forked(["run", puzzle, "--store", str(store), "--quiet", "--json"])) == 0
    assert waited(forked(["verify", str(store)])) == 0
    return contents(store)


def kill_until_complete(puzzle: str, store: Path, rng: random.Random) -> list[str]:
    """Kill some runs of a puzzle, then let a run complete; return the phases of the killed runs.

    Each run is started in a random way.
    """
    phases = []
    for _ in range(rng.choice([1, 3, 6])):
        arguments = command(puzzle, store, random_way(rng))
        if rng.random() < 0.7:
            process = forked(arguments, int(MAX_CALLS ** rng.random()))
        else:
            process = forked(arguments)
            time.sleep(rng.uniform(0, KILLED_WITHIN))
            os.kill(process, signal.SIGKILL)
        if waited(process) == -signal.SIGKILL:
            phases.append(phase_of(store))
    run = command(puzzle, store, random_way(rng))
    assert waited(forked(["resume", str(store), *run[4:]] if store.exists() and rng.random() < 0.5 else run)) == 0
    return phases


def random_way(rng: random.Random) -> Way:
    """Return a random way to start a run."""
    return Way(rng.choice([1, 2, 3]), rng.random() < 0.5, rng.random() < 0.5)


def command(puzzle: str, store: Path, way: Way) -> list[str]:
    """Return the arguments of the program."""
    given = ["run", puzzle, "--store", str(store), "--quiet", "--json", "--workers", str(way.workers)]
    if way.every:
        given += ["--checkpoint-every", "0"]
    if way.spills:
        given += ["--memory-limit", str(plan_run(load_config(puzzle).puzzle, way.workers).min_bytes)]
    return given


def forked(arguments: Sequence[str], number: int = 0) -> int:
    """Start the program in a process that is killed at the file system call with this number; return its id."""
    process = os.fork()
    if process:
        return process
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    with fault_at(number, die):
        status = run_command(list(arguments))
    os._exit(status)


def waited(process: int) -> int:
    """Return the exit status of a process, negative for a signal; raise AssertionError if it hangs."""
    deadline = time.monotonic() + SECONDS
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        assert time.monotonic() < deadline, "a run hangs"
        time.sleep(0.002)


def phase_of(store: Path) -> str:
    """Return the phase in which a run was killed, judging by the files that it left."""
    if not (store / MANIFEST).exists():
        return "creation"
    manifest = read_manifest(store / MANIFEST)
    if manifest["complete"]:
        return "journal deletion" if (store / "journal").exists() else "end"
    if manifest["searched"]:
        return "final commit" if (store / "layer_counts").exists() else "assembly"
    if (store / "depth").exists():
        return "searched commit or assembly without commits"
    if any(path.name.endswith(".partial") for path in store.rglob("*")):
        return "flush or spill"
    return "search after a commit" if manifest["committed_depth"] >= 0 else "first layers"


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
