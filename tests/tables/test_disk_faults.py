"""A disk that is full, or fails, at any moment of a run: it says so, commits nothing wrong, and can be resumed."""

import errno
import os
from pathlib import Path

import pytest
from faults import NAMES, SYNCS, WRITES, error, fault_at
from programs import Command
from stores import contents, toml

from antipodes.config import load_config
from antipodes.storage.directory import DirectoryStorage
from antipodes.storage.files import PARTIAL
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import run_puzzle

SMALL = {"name": "small", "family": "hanoi", "pegs": 3, "discs": 2}
FAULTS = [(WRITES, errno.ENOSPC), (SYNCS, errno.EIO), (NAMES, errno.ENOSPC)]
EVERY_LAYER = ["--checkpoint-every", "0"]


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
    return ["--memory-limit", str(plan_run(load_config(str(puzzle)).puzzle, 1).least_bytes), "--workers", "1"]


@pytest.mark.parametrize("mode", ["at the end", "spills and every layer"])
@pytest.mark.parametrize(("kind", "number"), FAULTS)
def test_a_fault_at_some_calls(
    kind: str, number: int, mode: str, cli: Command, puzzle: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    check_faults(kind, number, mode, 7, cli, puzzle, whole, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["at the end", "every layer", "spills", "spills and every layer"])
@pytest.mark.parametrize(("kind", "number"), FAULTS)
def test_a_fault_at_any_call(
    kind: str, number: int, mode: str, cli: Command, puzzle: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    check_faults(kind, number, mode, 1, cli, puzzle, whole, tmp_path)


def check_faults(
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
    assert "of free disk for" in outcome.err
    assert "found 9.8 KiB; 9 positions take at most" in outcome.err
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
