"""Layers on disk: the same tables and counts as with bits in memory, resumed after kills, faults and corrupt files."""

import errno
import os
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import disk_kills
import pytest
from every_kind import FEW, NUMBERED, REDUCED, SEARCHED, config_of, files_by_bits, options_of, slow_unless_in
from faults import NAMES, SYNCS, WRITES, error, fault_at
from forgetful import Forgetful
from forks import popen
from stores import LayersSeen, contents, resume, stop_after

from antipodes.executors.threads import Threads
from antipodes.puzzles.config import Config, load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.storage.directory import DirectoryStorage
from antipodes.storage.opening import storage_at
from antipodes.stores import remove_any
from antipodes.system.events import Event, JournalCorrupt, LayerFinished, SearchStarted
from antipodes.system.machine import MIB
from antipodes.tables.layers import disk_segments, disk_shard
from antipodes.tables.layers import division as dividing
from antipodes.tables.planning import plan as planning
from antipodes.tables.planning.plan import PROGRAM_BYTES, plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.search.shards import Shards
from antipodes.tables.store.manifest import IN_STORE
from antipodes.tables.store.search_stores import CountsStore
from antipodes.tables.strategies import disk_strategy
from antipodes.tables.strategies.commitment import CHECKPOINTS, JOURNAL, Commitment
from antipodes.tables.strategies.disk_strategy import DiskStrategy
from antipodes.tables.verify import verify
from antipodes_tasks.base.errors import AntipodesError, DiskLimitError, InputError, ResourceLimitError, StoreError
from antipodes_tasks.bfs import encoded_layers, map_order
from antipodes_tasks.bfs import on_disk as on_disk_layers

COUNTED = ["one-way", "reduced one-way", "topspin"]
"""Puzzles whose layers are counted: one-way and reversible ones, whole and reduced spaces."""


def small_pieces(patch: pytest.MonkeyPatch) -> None:
    """Divide tables into chunks, partitions and files of a few positions."""
    patch.setattr(dividing, "CHUNK_STATES", (8, 64))
    patch.setattr(disk_shard, "LOG_BYTES", 16)
    patch.setattr(disk_strategy, "LOGS_BYTES", 64)
    patch.setattr(disk_segments, "READ_BYTES", 16)
    patch.setattr(disk_segments, "MIN_BYTES_AHEAD", 32)


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep layers on disk, in small pieces, and and search in a random direction and order."""
    random.seed(0)
    monkeypatch.setattr(planning, "STRATEGIES", (DiskStrategy(),))
    monkeypatch.setattr(on_disk_layers, "pull_is_cheaper", lambda *_: random.random() < 0.5)
    monkeypatch.setattr(on_disk_layers, "LINE_BYTES", 1 << 20)
    monkeypatch.setattr(encoded_layers, "MAX_COLUMNS", 3)
    monkeypatch.setattr(map_order, "is_worthwhile", lambda _, width: width > 1 and random.random() < 0.5)
    monkeypatch.setattr(on_disk_layers, "WINDOWS", 2)
    small_pieces(monkeypatch)


@pytest.fixture(scope="module", params=COUNTED)
def counted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Layers that were counted with bits in memory."""
    store = tmp_path_factory.mktemp("counted") / f"{request.param}.zarr"
    with pytest.MonkeyPatch.context() as patch:
        small_pieces(patch)
        run_puzzle(config_of(request.param), store, options_of(request.param, workers=2, counts_only=True, unique=True))
    return store


@pytest.mark.usefixtures("on_disk")
@pytest.mark.parametrize("name", slow_unless_in(FEW, [name for name in NUMBERED if name in SEARCHED]))
def test_every_kind_of_table(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, store = config_of(name), tmp_path / "t.zarr"
    planned = plan_run(config.puzzle, 2, symmetry=options_of(name).symmetry)
    assert planned.partition_count > 1 or planned.space.rows < 3
    elsewhere = str(tmp_path / "spill") if name in REDUCED else None
    options = options_of(name, workers=2, spill=elsewhere)
    run_puzzle(config, store, options, interrupted=stop_after(3))
    assert (tmp_path / "spill/t.zarr.spill/journal").exists() == (elsewhere is not None)
    assert verify(store, Threads(2)).ok
    resume(store, options)
    monkeypatch.undo()
    assert contents(store) == files_by_bits(name)
    assert elsewhere is None or not os.listdir(elsewhere)


@pytest.mark.parametrize(
    ("name", "commitment", "max_gaps"),
    [("topspin", CHECKPOINTS, 0.5), ("topspin", JOURNAL, 1.0), ("one-way", CHECKPOINTS, 1.0)],
)
def test_lists_of_gaps_are_shorter_if_only_the_last_layers_are_kept(
    name: str, commitment: Commitment, max_gaps: float
) -> None:
    plan = plan_run(config_of(name).puzzle, commitment=commitment, on_disk=True)
    assert plan.commitment.max_gaps == max_gaps


@pytest.mark.usefixtures("on_disk")
def test_counts_that_are_resumed_after_each_layer(counted: Path, tmp_path: Path) -> None:
    """The layers of reduced spaces are in a directory of their own."""
    store, spill = tmp_path / "t.zarr", counted.stem in REDUCED
    spilled = str(tmp_path / "spill") if spill else None
    options = options_of(counted.stem, workers=2, counts_only=True, unique=True, spill=spilled)
    while not run_puzzle(config_of(counted.stem), store, options, seen := LayersSeen(3), seen.enough).complete:
        manifest = CountsStore(store).read()
        depths = {int(path.name.split("-")[2]) for path in tmp_path.rglob("checkpoint/*")}
        assert config_of(counted.stem).puzzle.moves.reversible is False or min(depths) >= manifest.committed_depth - 1
    assert contents(store) == contents(counted)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spill", "t.zarr"][not spill :]


@pytest.mark.usefixtures("on_disk")
def test_layers_that_a_killed_run_did_not_delete_are_deleted_first(tmp_path: Path) -> None:
    store, options = tmp_path / "t.zarr", RunOptions(workers=2, counts_only=True)

    def depths() -> set[int]:
        return {int(path.name.split("-")[2]) for path in store.glob("checkpoint/*")}

    found = dict[bool, set[int]]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Shards, "forget", lambda *_: None)
        run_puzzle(config_of("topspin"), store, options, interrupted=stop_after(4))
    assert depths() == {0, 1, 2, 3, 4}
    run_puzzle(
        config_of("topspin"),
        store,
        options,
        lambda event: found.setdefault(isinstance(event, SearchStarted), depths()),
    )
    assert found == {False: {0, 1, 2, 3, 4}, True: {3, 4}}


@pytest.mark.usefixtures("on_disk")
@pytest.mark.parametrize(
    ("change", "counts_only"),
    [("flip", True), pytest.param("truncate", False, marks=pytest.mark.slow), ("delete", False)],
)
def test_a_corrupt_file_is_named_and_its_layers_are_found_again(change: str, counts_only: bool, tmp_path: Path) -> None:
    name, events = "reduced one-way", list[Event]()
    options = options_of(name, workers=2, counts_only=counts_only)
    run_puzzle(config_of(name), tmp_path / "t.zarr", options, interrupted=stop_after(5))
    last = max(
        (tmp_path / "t.zarr").glob("checkpoint/*" if counts_only else "journal/*"),
        key=lambda path: int(path.name.split("-")[2]),
    )
    if change == "delete":
        last.unlink()
    else:
        content = bytearray(last.read_bytes())
        content[-1] ^= 1
        last.write_bytes(content[: len(content) // 2] if change == "truncate" else content)
    report = run_puzzle(config_of(name), tmp_path / "t.zarr", options, events.append)
    (corrupt,) = (event for event in events if isinstance(event, JournalCorrupt))
    assert str(last.parent) in str(corrupt.damage) or (change == "delete" and not counts_only)
    expected = run_puzzle(config_of(name), tmp_path / "expected.zarr", options)
    assert report.manifest == expected.manifest


@pytest.mark.usefixtures("on_disk")
@pytest.mark.parametrize("counts_only", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("kind", "number"), [(WRITES, errno.ENOSPC), (SYNCS, errno.EIO), (NAMES, errno.ENOSPC)])
def test_a_fault_at_some_calls(kind: str, number: int, counts_only: bool, tmp_path: Path) -> None:
    config = Config({"name": "small", "family": "pancake", "n": 4})

    def options(spill: str) -> RunOptions:
        return RunOptions(workers=1, counts_only=counts_only, spill=str(tmp_path / spill))

    with fault_at(0, error(number), (kind,)) as calls:
        whole = run_puzzle(config, tmp_path / "whole.zarr", options("whole"))
    for at in range(1, calls.count + 1, max(1, calls.count // 2)):
        store = tmp_path / f"{at}.zarr"
        with fault_at(at, error(number), (kind,), lasts=True), pytest.raises(AntipodesError, match=os.strerror(number)):
            run_puzzle(config, store, options("spill"))
        assert run_puzzle(config, store, options("spill")).manifest == whole.manifest
        assert not os.listdir(tmp_path / "spill")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "counts_only"), [("reduced tiles", False), ("reduced one-way", True)])
def test_killed_at_random_calls(name: str, counts_only: bool, tmp_path: Path) -> None:
    store, more = tmp_path / "t.zarr", ["--counts-only"] if counts_only else []
    command = [sys.executable, disk_kills.__file__, name, str(store), "6", "1", *more]
    with popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        out, err = process.communicate()
    assert process.returncode == 0, err
    assert int(out) >= 3
    with pytest.MonkeyPatch.context() as patch:
        small_pieces(patch)
        run_puzzle(config_of(name), tmp_path / "memory.zarr", options_of(name, workers=2, counts_only=counts_only))
    assert contents(store) == contents(tmp_path / "memory.zarr")


def test_disk_is_chosen_if_two_bits_do_not_fit() -> None:
    puzzle = load_config("seven-tiles").puzzle
    two = plan_run(puzzle, 2, 1, commitment=CHECKPOINTS, on_disk=False)
    fits, disk = (plan_run(puzzle, 2, two.min_bytes - less, commitment=CHECKPOINTS) for less in (0, 1))
    assert (fits.strategy.bits, fits.strategy.on_disk) == (2, False)
    assert (disk.strategy.bits, disk.strategy.on_disk) == (1, True)
    assert disk.memory_bytes < two.min_bytes
    tight = plan_run(puzzle, 2, PROGRAM_BYTES + 40 * MIB, commitment=CHECKPOINTS)
    assert tight.memory_bytes <= PROGRAM_BYTES + 40 * MIB
    assert tight.partition_count > disk.partition_count
    assert not plan_run(puzzle, 2, PROGRAM_BYTES + 40 * MIB, processes=2).strategy.on_disk


def test_four_billion_positions_fit_into_256_mib() -> None:
    tiles = "1 2 3 4 5 6 7 8 9 9 9 9 9 9 9 0"
    puzzle = puzzle_from({"name": "eight-tiles", "family": "sliding", "rows": 4, "columns": 4, "start": tiles})
    assert plan_run(puzzle, 2, 256 * MIB).min_bytes <= 256 * MIB


def test_counts_begun_in_memory_need_as_much_memory_to_be_resumed(tmp_path: Path) -> None:
    config, limit = load_config("seven-tiles"), PROGRAM_BYTES + 60 * MIB
    options = RunOptions(workers=2, counts_only=True, checkpoint_every=0)
    run_puzzle(config, tmp_path / "t.zarr", options, interrupted=stop_after(3))
    assert plan_run(config.puzzle, 2, limit, commitment=CHECKPOINTS).strategy.on_disk
    with pytest.raises(ResourceLimitError, match=r"does not fit .*; counts that were begun in memory cannot"):
        run_puzzle(config, tmp_path / "t.zarr", replace(options, memory_limit=limit))


@pytest.mark.usefixtures("on_disk")
def test_counts_stay_on_disk_or_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, options = config_of("reduced tiles"), RunOptions(workers=2, counts_only=True, checkpoint_every=0)
    run_puzzle(config, tmp_path / "t.zarr", options, interrupted=stop_after(9))
    monkeypatch.undo()
    assert CountsStore(tmp_path / "t.zarr").read().spill == IN_STORE
    report = run_puzzle(config, tmp_path / "t.zarr", options, interrupted=stop_after(2))
    assert (report.resumed_from, CountsStore(tmp_path / "t.zarr").read().spill) == (9, IN_STORE)
    assert run_puzzle(config, tmp_path / "t.zarr", options).manifest.layers == (
        run_puzzle(config, tmp_path / "memory.zarr", options).manifest.layers
    )


@pytest.mark.usefixtures("on_disk")
class TestSpill:
    """Directories that ``spill`` names."""

    def test_one_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        with pytest.raises(StoreError, match=r"cannot write .*file/t.zarr.spill: Not a directory"):
            run_puzzle(config_of("topspin"), tmp_path / "t.zarr", RunOptions(spill=str(tmp_path / "file")))
        assert not (tmp_path / "t.zarr").exists()

    def test_one_that_is_full(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        free = DirectoryStorage.free_bytes
        monkeypatch.setattr(
            DirectoryStorage,
            "free_bytes",
            lambda storage: 10 if storage.path.name.endswith("spill") else free(storage),
        )
        with pytest.raises(DiskLimitError, match=r"t.zarr.spill needs .* of free disk space for the layers, but 10"):
            run_puzzle(config_of("topspin"), tmp_path / "t.zarr", RunOptions(spill=str(tmp_path / "full")))
        assert not list(tmp_path.iterdir())

    def test_one_of_another_run(self, tmp_path: Path) -> None:
        spill = RunOptions(spill=str(tmp_path / "spill"))
        (tmp_path / "other").mkdir()
        run_puzzle(config_of("topspin"), tmp_path / "t.zarr", spill, interrupted=stop_after(2))
        before = contents(tmp_path)
        with pytest.raises(StoreError, match=r"t.zarr.spill contains the layers of another store, .*/t.zarr; choose"):
            run_puzzle(config_of("topspin"), tmp_path / "other/t.zarr", spill)
        assert contents(tmp_path) == before

    def test_one_with_other_files(self, tmp_path: Path) -> None:
        foreign = tmp_path / "spill/t.zarr.spill/mine"
        foreign.parent.mkdir(parents=True)
        foreign.write_text("x")
        with pytest.raises(StoreError, match=r"not belong to a run: it has no file store.txt; choose another spill"):
            run_puzzle(config_of("topspin"), tmp_path / "t.zarr", RunOptions(spill=str(tmp_path / "spill")))
        assert foreign.read_text() == "x"

    @pytest.mark.parametrize("counts_only", slow_unless_in([False], [False, True]))
    def test_one_that_is_gone(self, counts_only: bool, tmp_path: Path) -> None:
        options = RunOptions(spill=str(tmp_path / "spill"), counts_only=counts_only)
        run_puzzle(config_of("topspin"), tmp_path / "t.zarr", options, interrupted=stop_after(3))
        (tmp_path / "spill").rename(tmp_path / "moved")
        before = contents(tmp_path)
        for spill in (None, str(tmp_path / "spill")):
            with pytest.raises(StoreError, match=r"layers of .* are in .*t.zarr.spill, which is missing"):
                run_puzzle(config_of("topspin"), tmp_path / "t.zarr", RunOptions(spill=spill, counts_only=counts_only))
        assert contents(tmp_path) == before
        moved = RunOptions(spill=str(tmp_path / "moved"), counts_only=counts_only)
        report = run_puzzle(config_of("topspin"), tmp_path / "t.zarr", moved)
        assert (report.complete, report.resumed_from) == (True, 3)
        assert not os.listdir(tmp_path / "moved")

    @pytest.mark.parametrize("counts_only", slow_unless_in([True], [False, True]))
    def test_one_that_disappears_during_a_run(self, counts_only: bool, tmp_path: Path) -> None:
        spill, store = tmp_path / "spill", tmp_path / "t.zarr"
        options = RunOptions(spill=str(spill), counts_only=counts_only, workers=1)

        def unmount(event: Event) -> None:
            if isinstance(event, LayerFinished) and event.depth == 4:
                spill.rename(tmp_path / "unmounted")

        with pytest.raises(StoreError, match=r"t.zarr.spill"):
            run_puzzle(config_of("topspin"), store, options, unmount)
        assert not (spill / "t.zarr.spill" / "store.txt").exists()
        shutil.rmtree(spill, ignore_errors=True)
        (tmp_path / "unmounted").rename(spill)
        report = run_puzzle(config_of("topspin"), store, options)
        assert (report.resumed_from, report.complete) == (3, True)
        memory = RunOptions(counts_only=counts_only)
        assert (
            report.manifest.layers == run_puzzle(config_of("topspin"), tmp_path / "whole.zarr", memory).manifest.layers
        )

    @pytest.mark.parametrize("counts_only", slow_unless_in([False], [False, True]))
    def test_one_of_a_store_that_is_removed_or_overwritten(self, counts_only: bool, tmp_path: Path) -> None:
        store, spill = tmp_path / "t.zarr", tmp_path / "spill"
        options = RunOptions(spill=str(spill), counts_only=counts_only, workers=1)
        run_puzzle(config_of("topspin"), store, options, interrupted=stop_after(3))
        other = replace(options, spill=str(tmp_path / "other"), overwrite=True)
        run_puzzle(config_of("topspin"), store, other, interrupted=stop_after(3))
        assert not os.listdir(spill)
        size = sum(len(content) for content in contents(tmp_path).values())
        assert remove_any(storage_at(store)) >= size - MIB
        assert not os.listdir(tmp_path / "other")

    def test_one_of_a_link_to_a_store_is_kept(self, tmp_path: Path) -> None:
        store, spill = tmp_path / "t.zarr", tmp_path / "spill"
        run_puzzle(config_of("topspin"), store, RunOptions(spill=str(spill)), interrupted=stop_after(3))
        (tmp_path / "link.zarr").symlink_to(store)
        before = contents(spill)
        assert remove_any(storage_at(tmp_path / "link.zarr")) == 0
        assert contents(spill) == before

    def test_on_a_cluster(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.undo()
        options = RunOptions(spill=str(tmp_path))
        with pytest.raises(InputError, match="threads of this process; the run uses a cluster"):
            run_puzzle(config_of("topspin"), tmp_path / "t.zarr", options, scheduler=Forgetful(()))

    def test_keys(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.undo()
        with pytest.raises(InputError, match="positions of this puzzle are searched as keys"):
            run_puzzle(config_of("blocks"), tmp_path / "t.zarr", RunOptions(spill=str(tmp_path)))
