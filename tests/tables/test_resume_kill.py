"""Runs that are killed, interrupted, or out of disk space at any moment, and the tables that resumed runs complete."""

import contextlib
import errno
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import kills
import pytest
from faults import NAMES, SYNCS, WRITES, error, fault_at
from mounts import small
from program_runs import EVERY_LAYER, Same
from programs import Command, Process
from stores import contents, toml
from waiting import PATIENCE

from antipodes.puzzles.config import load_config
from antipodes.storage.directory import DirectoryStorage
from antipodes.system.output_files import PARTIAL
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import run_puzzle


@pytest.mark.slow
def test_killed_in_every_phase() -> None:
    """`kills` starts each run in another way, and kills it at a call of the file system or at a random time."""
    command = [sys.executable, Path(kills.__file__), str(6 * kills.TIMES), "1"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def wait_for_layer(running: "subprocess.Popen[str]", depth: int) -> None:
    """Read the progress until a layer is complete."""
    assert running.stderr is not None
    for line in running.stderr:
        if f" depth {depth}:" in line:  # after the time
            return
    pytest.fail("it ended too early")


def said(err: str) -> list[str]:
    """The lines on stderr, except that kernels are compiled if this process is the first that needs them."""
    return [line for line in err.splitlines() if "compiling machine code" not in line]


@pytest.mark.slow
def test_signals_commit_and_end_the_run(process: Process, tmp_path: Path) -> None:
    """The puzzle has 512 layers, so that a run is still at it when a signal arrives late."""
    discs, depth = tmp_path / "discs.toml", 12
    discs.write_text(toml({"name": "discs", "family": "hanoi", "pegs": 3, "discs": 9}))
    for number, command in ((signal.SIGINT, ["run", discs, "--store"]), (signal.SIGTERM, ["resume"])):
        running = process(*command, "t.zarr", *EVERY_LAYER, "--json")
        wait_for_layer(running, depth)
        running.send_signal(number)
        out, err = running.communicate(timeout=PATIENCE)
        assert running.returncode == 75
        assert "Traceback" not in err
        assert "antipodes resume t.zarr" in err.splitlines()[-1]
        committed = json.loads(out)
        assert not committed["complete"]
        assert committed["radius"] >= depth
        depth = committed["radius"] + 3
    resumed = process("resume", "t.zarr", "--json", "--quiet")
    out, err = resumed.communicate(timeout=PATIENCE)
    assert (resumed.returncode, said(err)) == (0, [])
    assert json.loads(out)["resumed_from"] == committed["radius"]
    run_puzzle(load_config(str(discs)), tmp_path / "whole.zarr")
    assert contents(tmp_path / "t.zarr") == contents(tmp_path / "whole.zarr")


@pytest.mark.slow
def test_a_second_signal_stops_immediately(process: Process, same: Same) -> None:
    running = process("run", "three-colours", "--store", "t.zarr", *EVERY_LAYER)
    wait_for_layer(running, 12)
    running.send_signal(signal.SIGTERM)
    assert running.stderr is not None
    assert any("interrupt again to stop immediately" in line for line in running.stderr)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 75
    assert "Traceback" not in err
    assert "antipodes resume t.zarr" in err
    assert process("resume", "t.zarr", "--quiet").wait(PATIENCE) == 0
    same("three-colours")


@pytest.mark.slow
def test_ctrl_c_with_processes(process: Process, same: Same) -> None:
    """A terminal sends SIGINT to every process of the group."""
    options = ["--scheduler", "local", "--workers", "1", *EVERY_LAYER]
    running = process("run", "five-tiles", "--store", "t.zarr", *options, start_new_session=True)
    wait_for_layer(running, 5)
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, "Traceback" in err) == (75, False)
    assert process("resume", "t.zarr", "--quiet").wait(PATIENCE) == 0
    same("five-tiles")


@pytest.mark.slow
def test_two_runs_on_one_store(process: Process, cli: Command, tmp_path: Path, same: Same) -> None:
    first = process("run", "three-colours", "--store", "t.zarr", *EVERY_LAYER)
    wait_for_layer(first, 3)
    first.send_signal(signal.SIGSTOP)  # so that it cannot end
    for command in (["run", "three-colours", "--store", "t.zarr"], ["resume", "t.zarr"]):
        second = cli(*command)
        assert second.status == 1
        assert len(second.err.splitlines()) == 1
        assert f"in use by process {first.pid}" in second.err
    first.send_signal(signal.SIGCONT)
    first.communicate()
    assert first.returncode == 0
    same("three-colours")
    assert not (tmp_path / "t.zarr.lock").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for the table of five-tiles and its journal, and little more."""
    with small(tmp_path / "disk", "14m") as disk:
        yield disk


@pytest.mark.slow
def test_a_full_disk(small_disk: Path, process: Process, same: Same) -> None:
    store = small_disk / "t.zarr"
    running = process("run", "five-tiles", "--store", store, *EVERY_LAYER)
    wait_for_layer(running, 3)
    running.send_signal(signal.SIGSTOP)
    with contextlib.suppress(OSError):
        (small_disk / "filler").write_bytes(bytes(14 << 20))
    running.send_signal(signal.SIGCONT)
    _, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 1
    assert "No space left on device" in err.splitlines()[-1]
    for command in (["resume", store], ["run", "five-tiles", "--store", store]):
        again = process(*command, "--quiet", *EVERY_LAYER)
        _, err = again.communicate(timeout=PATIENCE)
        assert (again.returncode, len(err.splitlines())) == (2, 1), err
        assert re.search(r"needs another \d.* of free disk space, but \d", err)
    (small_disk / "filler").unlink()
    last = process("resume", store, "--quiet", *EVERY_LAYER)
    _, err = last.communicate(timeout=PATIENCE)
    assert (last.returncode, said(err)) == (0, [])
    same("five-tiles", store)


SMALL = {"name": "small", "family": "hanoi", "pegs": 3, "discs": 2}
FAULTS = [(WRITES, errno.ENOSPC), (SYNCS, errno.EIO), (NAMES, errno.ENOSPC)]


@pytest.fixture
def puzzle(tmp_path: Path) -> Path:
    """The config of a puzzle of 9 positions."""
    path = tmp_path / "small.toml"
    path.write_text(toml(SMALL))
    return path


@pytest.fixture
def whole(puzzle: Path, tmp_path: Path) -> dict[str, bytes]:
    """The files of the store of an uninterrupted run."""
    run_puzzle(load_config(str(puzzle)), tmp_path / "whole.zarr")
    return contents(tmp_path / "whole.zarr")


def spilling(puzzle: Path) -> list[str]:
    """Options with which memory holds no segments."""
    return ["--memory-limit", str(plan_run(load_config(str(puzzle)).puzzle, 1).min_bytes), "--workers", "1"]


@pytest.mark.parametrize(
    ("kind", "number", "mode", "step"),
    [
        *((*fault, "spills and every layer", 17) for fault in FAULTS),
        *(
            pytest.param(*fault, mode, 5, marks=pytest.mark.slow)
            for fault in FAULTS
            for mode in ("every layer", "spills")
        ),
    ],
)
def test_a_fault_at_some_calls(
    kind: str, number: int, mode: str, step: int, cli: Command, puzzle: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    """Let a call of the file system fail, and all after it, for each ``step``-th call of a run."""
    options = [*(spilling(puzzle) if "spills" in mode else []), *(EVERY_LAYER if "every" in mode else [])]
    with fault_at(0, error(number), (kind,)) as calls:
        assert cli("run", puzzle, "--store", "counted.zarr", "--quiet", *options).status == 0
    assert calls.count >= 4
    for at in range(1, calls.count + 1, step):
        store = tmp_path / f"{at}.zarr"
        with fault_at(at, error(number), (kind,), lasts=True):
            outcome = cli("run", puzzle, "--store", store, "--quiet", *options)
        assert (outcome.status, len(outcome.err.splitlines())) == (1, 1), (at, outcome)
        assert os.strerror(number) in outcome.err
        assert not [path for path in tmp_path.rglob("*") if path.name.endswith(PARTIAL)]
        if store.exists():
            assert "resume with: antipodes resume" in outcome.err
            assert cli("status", store).status == 0
        assert cli("run", puzzle, "--store", store, "--quiet").status == 0
        assert contents(store) == whole


def test_a_fault_that_a_commit_reports_is_not_committed(puzzle: Path, cli: Command, tmp_path: Path) -> None:
    """What spilled files hold is committed only once they are durable, also by the next run."""
    options = [*spilling(puzzle), *EVERY_LAYER]
    store, lost = tmp_path / "t.zarr", []
    durable = DirectoryStorage.make_durable

    def fail(storage: DirectoryStorage, keys: list[str]) -> None:
        lost.append(len(keys))
        with fault_at(1, error(errno.EIO), (SYNCS,)):
            durable(storage, keys)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DirectoryStorage, "make_durable", fail)
        outcome = cli("run", puzzle, "--store", store, "--quiet", *options)
    assert (outcome.status, lost[-1]) == (1, 1)
    assert "depth 0 is kept" in outcome.err
    assert list((store / "journal").iterdir())


@pytest.mark.parametrize("overwrite", [False, True])
def test_too_little_disk_is_refused_before_anything_is_written(
    overwrite: bool, puzzle: Path, cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "t.zarr"
    if overwrite:
        cli("run", puzzle, "--store", store)
    before = {**contents(tmp_path)}
    monkeypatch.setattr(DirectoryStorage, "free_bytes", lambda storage: 10_000)
    outcome = cli("run", puzzle, "--store", store, "--quiet", *(["--overwrite"] if overwrite else []))
    assert (outcome.status, outcome.out) == (2, "")
    need = "needs another " if overwrite else "needs "
    assert re.search(rf"{need}\d.* of free disk space, but 9\.8 KiB are free; 9 positions take at most", outcome.err)
    assert contents(tmp_path) == before


def test_a_resumed_run_needs_only_what_is_missing(
    puzzle: Path, cli: Command, tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "t.zarr"
    with fault_at(9, error(errno.ENOSPC), (WRITES,), lasts=True):
        assert cli("run", puzzle, "--store", store, *EVERY_LAYER).status == 1
    stored = sum(map(len, contents(store).values()))
    needed = plan_run(load_config(str(puzzle)).puzzle, settings=SMALL).disk_bytes - stored
    for free, status in ((needed - 1, 2), (needed, 0)):
        monkeypatch.setattr(DirectoryStorage, "free_bytes", lambda storage, free=free: free)
        assert cli("resume", store).status == status
    assert contents(store) == whole


def test_an_unknown_free_space_is_not_checked(puzzle: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DirectoryStorage, "free_bytes", lambda storage: None)
    assert cli("run", puzzle, "--store", "t.zarr", "--quiet").status == 0
    assert "free" not in cli("plan", puzzle).out
