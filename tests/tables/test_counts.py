"""Counts-only runs: the layers and antipodes of a table, without one, from checkpoints that survive what may happen."""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from kills import TIMES
from programs import Process, kill_within
from stores import contents, flip_bit, resume, stop_after, toml

from antipodes.puzzles.config import load_config
from antipodes.system.events import Event, JournalCorrupt, SearchStarted
from antipodes.system.machine import MIB
from antipodes.tables.counts import open_counts
from antipodes.tables.planning.plan import CODE_BYTES, PROGRAM_BYTES, plan_run
from antipodes.tables.run import RunOptions, RunReport, run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.strategies.commitment import CHECKPOINTS
from antipodes.tables.table import open_table
from antipodes.tilings.board_config import load_board
from antipodes.tilings.run import tile_board
from antipodes_tasks.base.errors import (
    InputError,
    NotAStoreError,
    StoreDamagedError,
    StoreMismatchError,
    UnfinishedError,
)

COUNTING = RunOptions(workers=2, counts_only=True, checkpoint_every=0)
STOPPED_AT = 12


def counted(puzzle: str, store: Path, layers: int = 1000, events: list[Event] | None = None) -> RunReport:
    """The report of a counts-only run that is interrupted after some layers, or after those until then."""
    listener = (lambda _: None) if events is None else events.append
    return run_puzzle(load_config(puzzle), store, COUNTING, listener, stop_after(layers))


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """The counts of the eight-puzzle up to depth 12, with the checkpoint from there."""
    counted("eight-puzzle", tmp_path / "stopped.zarr", STOPPED_AT)
    return tmp_path / "stopped.zarr"


def checkpoint_files(store: Path) -> list[Path]:
    return sorted(path for path in (store / "checkpoint").rglob("*") if path.is_file())


def test_resumed_with_other_partitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.tables.layers.division.CHUNK_STATES", (1 << 13, 1 << 16))
    monkeypatch.setattr("antipodes.tables.layers.division.PARTITION_STATES", 1 << 16)
    counted("eight-puzzle", tmp_path / "t.zarr", 20)
    assert len(checkpoint_files(tmp_path / "t.zarr")) > 1
    monkeypatch.undo()
    report = resume(tmp_path / "t.zarr", RunOptions(workers=5))
    whole = run_puzzle(load_config("eight-puzzle"), tmp_path / "whole.zarr", RunOptions(workers=1, counts_only=True))
    assert (report.resumed_from, report.layers) == (20, whole.layers)


def test_only_the_last_checkpoint_is_kept(stopped: Path) -> None:
    assert [path.name for path in (stopped / "checkpoint").iterdir()] == [str(STOPPED_AT)]


def test_what_is_not_committed_is_removed(stopped: Path) -> None:
    file, *_ = checkpoint_files(stopped)
    later = stopped / "checkpoint" / "13"
    later.mkdir()
    (later / file.name).write_bytes(file.read_bytes())
    events: list[Event] = []
    assert counted("eight-puzzle", stopped, events=events).complete
    assert not any(isinstance(event, JournalCorrupt) for event in events)
    assert not (stopped / "checkpoint").exists() or not checkpoint_files(stopped)


@pytest.mark.parametrize("damage", ["removed", "of another depth"])
def test_a_damaged_checkpoint_is_found_and_the_search_starts_over(
    damage: str, stopped: Path, finished: Path, tmp_path: Path
) -> None:
    file, *_ = checkpoint_files(stopped)
    if damage == "removed":
        file.unlink()
    else:
        counted("eight-puzzle", tmp_path / "other.zarr", STOPPED_AT - 2)
        other, *_ = checkpoint_files(tmp_path / "other.zarr")
        file.write_bytes(other.read_bytes())
    events: list[Event] = []
    report = counted("eight-puzzle", stopped, events=events)
    (damaged,) = [event for event in events if isinstance(event, JournalCorrupt)]
    assert damaged.depth == -1
    assert "checkpoint/12" in damaged.damage[0]
    (start,) = [event for event in events if isinstance(event, SearchStarted)]
    assert (start.depth, start.resumed, start.assembles) == (0, False, False)
    assert report.manifest.layers == TableStore(finished).read().layers


def test_each_flipped_bit_is_found(stopped: Path, tmp_path: Path) -> None:
    file, *_ = checkpoint_files(stopped)
    for bit in range(0, 8000, 1954):
        flip_bit(file, bit)
        store, events = shutil.copytree(stopped, tmp_path / f"{bit}.zarr"), list[Event]()
        counted("eight-puzzle", store, 0, events)
        assert any(isinstance(event, JournalCorrupt) for event in events)
        flip_bit(file, bit)


def test_a_start_over_is_committed(stopped: Path) -> None:
    """Else a run that is killed again and again would find the damage each time."""
    checkpoint_files(stopped)[0].unlink()
    assert counted("eight-puzzle", stopped, 3).manifest.committed_depth == 3
    assert [path.name for path in (stopped / "checkpoint").iterdir()] == ["3"]


def test_antipodes_of_unfinished_counts_are_unknown(stopped: Path) -> None:
    with open_counts(stopped) as counts, pytest.raises(UnfinishedError, match="antipodes resume"):
        counts.antipodes()


def test_stores_of_other_kinds_are_refused(stopped: Path, finished: Path) -> None:
    with pytest.raises(NotAStoreError, match=r"counts-only run.*antipodes run PUZZLE makes a table"):
        open_table(stopped)
    with pytest.raises(NotAStoreError, match=r"counts-only run.*in place of this one"):
        run_puzzle(load_config("eight-puzzle"), stopped)
    with pytest.raises(NotAStoreError, match="found a table of distances, which has the layers, too"):
        counted("eight-puzzle", finished)
    with pytest.raises(StoreMismatchError, match="layers of another puzzle"):
        counted("five-tiles", stopped)


def test_tables_and_counts_overwrite_each_other(stopped: Path) -> None:
    table = run_puzzle(load_config("eight-puzzle"), stopped, RunOptions(overwrite=True))
    assert not table.manifest.COUNTS_ONLY
    counts = run_puzzle(load_config("eight-puzzle"), stopped, RunOptions(overwrite=True, counts_only=True))
    assert counts.manifest.layers == table.manifest.layers


def test_tilings_are_not_counted_only(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="counts_only"):
        tile_board(load_board("3x20"), tmp_path / "t.zarr", options=RunOptions(counts_only=True))


def test_a_wrong_manifest_is_refused(stopped: Path) -> None:
    from stores import change_manifest, read_manifest

    layers = read_manifest(stopped / "commit.json")["layers"]
    change_manifest(stopped, layers=[*layers[:-1], layers[-1] + 1])
    with pytest.raises(StoreDamagedError, match="positions at depth 12"):
        counted("eight-puzzle", stopped)


def test_the_plan_has_bits_and_checkpoints_alone() -> None:
    puzzle = load_config("two-by-seven").puzzle
    counts, table = plan_run(puzzle, 2, commitment=CHECKPOINTS), plan_run(puzzle, 2)
    assert counts.memory_bytes == counts.min_bytes < 20 << 30
    assert counts.disk_bytes < counts.space.size * 4 / 8 * 1.05 < table.disk_bytes
    assert counts.space.size == 43_589_145_600


@pytest.mark.slow
def test_killed_at_random(process: Process, tmp_path: Path) -> None:
    rng, options = random.Random(3), ["--counts-only", "--checkpoint-every", "0"]
    report, _ = process("run", "eight-puzzle", "--store", "timed.zarr", *options, "--quiet", "--json").communicate()
    seconds, whole = json.loads(report)["seconds"]["total"], contents(tmp_path / "timed.zarr")
    for number in range(TIMES):
        store = tmp_path / f"{number}.zarr"
        for _ in range(3):
            kill_within(seconds, process("run", "eight-puzzle", "--store", store, *options), rng)
        last = process("run", "eight-puzzle", "--store", store, *options, "--quiet")
        _, complaint = last.communicate()
        assert (last.returncode, complaint) == (0, "")
        assert contents(store) == whole


@pytest.mark.slow
def test_memory_stays_within_the_plan(process: Process, tmp_path: Path) -> None:
    """Of counts in memory, of a table with layers on disk, and of a check of this table."""
    planned = plan_run(load_config("three-colours").puzzle, commitment=CHECKPOINTS).memory_bytes
    little, tiles = PROGRAM_BYTES + 40 * MIB, tmp_path / "tiles.toml"
    start = "1 1 2 3 4 5 6 7 7 7 7 7 7 7 7 0"
    tiles.write_text(toml({"name": "tiles", "family": "sliding", "rows": 4, "columns": 4, "start": start}))
    runs = (("three-colours", planned, ["--counts-only"]), (str(tiles), little, ["--memory-limit", little]))
    for puzzle, limit, options in runs:
        running = process("run", puzzle, *options, "--workers", 2, "--quiet", "--json", fresh=True)
        report = json.loads(running.communicate()[0])
        assert report["peak_memory_bytes"] < limit - CODE_BYTES
        assert (report["complete"], sum(report["layers"])) == (True, plan_run(load_config(puzzle).puzzle).space.size)
    limit = 360 * MIB
    code = (
        "from antipodes.system.machine import peak_memory; from antipodes.executors.threads import Threads;"
        "from antipodes.tables.verify import verify;"
        f"verdict = verify('outputs/tiles.zarr', Threads(2), memory_limit={limit});"
        "print(verdict.ok, peak_memory())"
    )
    shown = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    ok, peak = shown.stdout.split()
    assert ok == "True"
    assert int(peak) < 1.1 * limit - CODE_BYTES
