"""Processes that are killed, interrupted or out of disk space, and the tables that resumed runs complete."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import kills
import pytest
from mounts import small
from programs import Command, Process, kill_within
from stores import contents, toml

from antipodes.config import load_config
from antipodes.tables.run import RunOptions, run_puzzle

EVERY_LAYER = ["--checkpoint-every", "0"]
KILLS = [
    ("eight-puzzle", EVERY_LAYER, 3),
    ("eight-puzzle", [], 2),
    ("knights-labelled", EVERY_LAYER, 2),
    ("three-colours", EVERY_LAYER, 2),
    ("three-colours", [], 2),
    ("ring", EVERY_LAYER, 2),
]
RING = {
    "name": "ring",
    "family": "jump",
    "start": "-B" + "A" * 22,
    "edges": [[place, (place + 1) % 24] for place in range(24)],
}


@pytest.fixture(autouse=True)
def _ring(tmp_path: Path) -> None:
    (tmp_path / "ring").write_text(toml(RING))


def undisturbed(puzzle: str, tmp_path: Path) -> dict[str, bytes]:
    """The files of the store of an uninterrupted run."""
    path = str(tmp_path / puzzle) if puzzle == "ring" else puzzle
    run_puzzle(load_config(path), tmp_path / "whole.zarr", RunOptions(workers=2))
    return contents(tmp_path / "whole.zarr")


def check_killed(puzzle: str, options: list[str], kills: int, process: Process, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    whole = undisturbed(puzzle, tmp_path)
    report, _ = process("run", puzzle, "--store", "timed.zarr", *options, "--quiet", "--json").communicate()
    phases = json.loads(report)["seconds"]
    seconds = phases["tables"] + phases["search"] + phases["write"]  # libraries load before the first message
    left_something = 0
    for number in range(kills):
        store = tmp_path / f"{number}.zarr"
        for _ in range(rng.choice([1, 1, 3])):
            kill_within(seconds, process("run", puzzle, "--store", store, *options), rng)
        left_something += store.exists()
        again = ["resume", store] if store.exists() and rng.random() < 0.5 else ["run", puzzle, "--store", store]
        last = process(*again, *options, "--quiet")
        _, complaint = last.communicate()
        assert (last.returncode, complaint) == (0, "")
        assert contents(store) == whole
    assert left_something, "no process created a store before it was killed"


@pytest.mark.slow
@pytest.mark.parametrize(("puzzle", "options", "number"), KILLS)
def test_killed_at_random(puzzle: str, options: list[str], number: int, process: Process, tmp_path: Path) -> None:
    check_killed(puzzle, options, number * kills.TIMES, process, tmp_path, seed=2)


@pytest.mark.slow
def test_killed_in_every_phase() -> None:
    """`kills` starts each run in another way, and kills it at a call of the file system or at a random time."""
    command = [sys.executable, Path(kills.__file__), str(10 * kills.TIMES), "1"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def wait_for_layer(running: "subprocess.Popen[str]", depth: int) -> None:
    """Read the progress until a layer is complete."""
    assert running.stderr is not None
    for line in running.stderr:
        if f" depth {depth}:" in line:  # after the time
            return
    pytest.fail("it ended too early")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_commits_and_ends_the_run(number: int, process: Process, tmp_path: Path) -> None:
    running = process("run", "three-colours", "--store", "t.zarr", *EVERY_LAYER, "--json")
    wait_for_layer(running, 12)
    running.send_signal(number)
    out, err = running.communicate(timeout=20)
    assert running.returncode == 75
    assert "Traceback" not in err
    assert "antipodes resume t.zarr" in err.splitlines()[-1]
    committed = json.loads(out)
    assert not committed["complete"]
    assert committed["radius"] >= 12
    resumed = process("resume", "t.zarr", "--json", "--quiet")
    out, err = resumed.communicate(timeout=20)
    assert (resumed.returncode, err) == (0, "")
    assert json.loads(out)["resumed_from"] == committed["radius"]
    assert contents(tmp_path / "t.zarr") == undisturbed("three-colours", tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_stops_immediately(number: int, process: Process, tmp_path: Path) -> None:
    running = process("run", "three-colours", "--store", "t.zarr", *EVERY_LAYER)
    wait_for_layer(running, 12)
    for _ in range(2):
        running.send_signal(number)
        time.sleep(0.005)
    _, err = running.communicate(timeout=20)
    assert running.returncode == 75
    assert "Traceback" not in err
    assert "antipodes resume t.zarr" in err
    assert process("resume", "t.zarr", "--quiet").wait(20) == 0
    assert contents(tmp_path / "t.zarr") == undisturbed("three-colours", tmp_path)


@pytest.mark.slow
def test_ctrl_c_with_processes(process: Process, tmp_path: Path) -> None:
    """A terminal sends SIGINT to every process of the group."""
    options = ["--scheduler", "local", "--workers", "2", *EVERY_LAYER]
    running = process("run", "five-tiles", "--store", "t.zarr", *options, start_new_session=True)
    wait_for_layer(running, 5)
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, "Traceback" in err) == (75, False)
    assert process("resume", "t.zarr", "--quiet").wait(30) == 0
    assert contents(tmp_path / "t.zarr") == undisturbed("five-tiles", tmp_path)


def test_two_runs_on_one_store(process: Process, cli: Command, tmp_path: Path) -> None:
    first = process("run", "three-colours", "--store", "t.zarr", *EVERY_LAYER)
    wait_for_layer(first, 3)
    for command in (["run", "three-colours", "--store", "t.zarr"], ["resume", "t.zarr"]):
        second = cli(*command)
        assert second.status == 1
        assert len(second.err.splitlines()) == 1
        assert f"in use by process {first.pid}" in second.err
    first.communicate()
    assert first.returncode == 0
    assert contents(tmp_path / "t.zarr") == undisturbed("three-colours", tmp_path)
    assert not (tmp_path / "t.zarr.lock").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for the table of five-tiles and its journal, and little more."""
    with small(tmp_path / "disk", "14m") as disk:
        yield disk


@pytest.mark.parametrize("options", [EVERY_LAYER, pytest.param([], marks=pytest.mark.slow)])
def test_a_full_disk(options: list[str], small_disk: Path, process: Process, tmp_path: Path) -> None:
    store = small_disk / "t.zarr"
    running = process("run", "five-tiles", "--store", store, *options)
    wait_for_layer(running, 3)
    running.send_signal(signal.SIGSTOP)
    with contextlib.suppress(OSError):
        (small_disk / "filler").write_bytes(bytes(14 << 20))
    running.send_signal(signal.SIGCONT)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 1
    assert "No space left on device" in err.splitlines()[-1]
    for command in (["resume", store], ["run", "five-tiles", "--store", store]):
        again = process(*command, "--quiet", *options)
        _, err = again.communicate(timeout=30)
        assert (again.returncode, len(err.splitlines())) == (2, 1), err
        assert "more of free disk" in err
    (small_disk / "filler").unlink()
    last = process("resume", store, "--quiet", *options)
    _, err = last.communicate(timeout=30)
    assert (last.returncode, err) == (0, "")
    assert contents(store) == undisturbed("five-tiles", tmp_path)


def test_a_full_stdout_is_an_error(finished: Path, process: Process) -> None:
    with open("/dev/full", "w") as full:
        running = process("layers", finished, stdout=full)
        _, err = running.communicate(timeout=20)
    assert (running.returncode, len(err.splitlines())) == (1, 1)
    assert "No space left on device" in err


def test_a_closed_reader_is_ignored(finished: Path, process: Process) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    running = process("layers", finished, stdout=writing)
    os.close(writing)
    _, err = running.communicate(timeout=20)
    assert err == ""
