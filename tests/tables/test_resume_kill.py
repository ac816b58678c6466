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
from program_runs import EVERY_LAYER, Same
from programs import Command, Process, kill_within


@pytest.mark.slow
@pytest.mark.parametrize(("puzzle", "options"), [("eight-puzzle", EVERY_LAYER), ("three-colours", [])])
def test_killed_at_random(puzzle: str, options: list[str], process: Process, same: Same, tmp_path: Path) -> None:
    rng = random.Random(2)
    report, _ = process("run", puzzle, "--store", "timed.zarr", *options, "--quiet", "--json").communicate()
    phases = json.loads(report)["seconds"]
    seconds = phases["tables"] + phases["search"] + phases["write"]  # libraries load before the first message
    left_something = 0
    for number in range(2 * kills.TIMES):
        store = tmp_path / f"{number}.zarr"
        for _ in range(rng.choice([1, 1, 3])):
            kill_within(seconds, process("run", puzzle, "--store", store, *options), rng)
        left_something += store.exists()
        again = ["resume", store] if store.exists() and rng.random() < 0.5 else ["run", puzzle, "--store", store]
        last = process(*again, *options, "--quiet")
        _, complaint = last.communicate()
        assert (last.returncode, complaint) == (0, "")
        same(puzzle, store.name)
    assert left_something, "no process created a store before it was killed"


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
def test_a_signal_commits_and_ends_the_run(number: int, process: Process, same: Same) -> None:
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
    same("three-colours")


def test_a_second_signal_stops_immediately(process: Process, same: Same) -> None:
    running = process("run", "three-colours", "--store", "t.zarr", *EVERY_LAYER)
    wait_for_layer(running, 12)
    for number in (signal.SIGTERM, signal.SIGINT):
        running.send_signal(number)
        time.sleep(0.005)
    _, err = running.communicate(timeout=20)
    assert running.returncode == 75
    assert "Traceback" not in err
    assert "antipodes resume t.zarr" in err
    assert process("resume", "t.zarr", "--quiet").wait(20) == 0
    same("three-colours")


@pytest.mark.slow
def test_ctrl_c_with_processes(process: Process, same: Same) -> None:
    """A terminal sends SIGINT to every process of the group."""
    options = ["--scheduler", "local", "--workers", "2", *EVERY_LAYER]
    running = process("run", "five-tiles", "--store", "t.zarr", *options, start_new_session=True)
    wait_for_layer(running, 5)
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, "Traceback" in err) == (75, False)
    assert process("resume", "t.zarr", "--quiet").wait(30) == 0
    same("five-tiles")


def test_two_runs_on_one_store(process: Process, cli: Command, tmp_path: Path, same: Same) -> None:
    first = process("run", "three-colours", "--store", "t.zarr", *EVERY_LAYER)
    wait_for_layer(first, 3)
    for command in (["run", "three-colours", "--store", "t.zarr"], ["resume", "t.zarr"]):
        second = cli(*command)
        assert second.status == 1
        assert len(second.err.splitlines()) == 1
        assert f"in use by process {first.pid}" in second.err
    first.communicate()
    assert first.returncode == 0
    same("three-colours")
    assert not (tmp_path / "t.zarr.lock").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for the table of five-tiles and its journal, and little more."""
    with small(tmp_path / "disk", "14m") as disk:
        yield disk


@pytest.mark.parametrize("options", [EVERY_LAYER, pytest.param([], marks=pytest.mark.slow)])
def test_a_full_disk(options: list[str], small_disk: Path, process: Process, same: Same) -> None:
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
    same("five-tiles", store)


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
