"""A store is resumed, verified and queried by its own cut, whatever cut a later version would choose."""

from pathlib import Path

import numpy as np
import pytest
from puzzle_settings import LINE
from stores import change_manifest, contents, stop_after

from antipodes.config import Config, load_config
from antipodes.executors.threads import Threads
from antipodes.machine import GIB
from antipodes.tables.planning import plan
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.stores import TableStore
from antipodes.tables.table import open_table
from antipodes.tables.verify import verify
from antipodes_tasks.errors import StoreDamagedError
from antipodes_tasks.spaces import move_tables
from antipodes_tasks.spaces.space import SpaceRecord

TILES = {"name": "tiles", "family": "sliding", "rows": 3, "columns": 4, "start": "1 2 3 4 / 5 5 5 5 / 5 5 5 0"}


def other_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose other cuts and chunks than any version so far."""
    monkeypatch.setattr(move_tables, "ROW_COST", 0)
    monkeypatch.setattr(plan, "CHUNK_STATES", (1, 1000))


def test_another_version_resumes_with_the_cut_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, path = Config(TILES), tmp_path / "t.zarr"
    begun = run_puzzle(config, path, RunOptions(workers=2), interrupted=stop_after(5))
    assert not begun.complete
    other_choices(monkeypatch)
    assert plan.plan_cut(config.puzzle) != begun.manifest.cut
    report = run_puzzle(config, path, RunOptions(workers=2))
    assert report.complete
    assert report.manifest.cut == begun.manifest.cut
    assert verify(path, Threads(2)).ok
    fresh = run_puzzle(config, tmp_path / "fresh.zarr", RunOptions(workers=2))
    assert fresh.manifest.cut != report.manifest.cut
    assert fresh.manifest.layers == report.manifest.layers


def test_a_table_is_queried_by_its_own_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_puzzle(Config(TILES), tmp_path / "t.zarr")
    with open_table(tmp_path / "t.zarr") as table:
        expected = table.distances_by_index(np.arange(table.index_size))
    other_choices(monkeypatch)
    with open_table(tmp_path / "t.zarr") as table:
        assert np.array_equal(table.distances_by_index(np.arange(table.index_size)), expected)


def test_a_wrong_cut_is_refused(eight: Path) -> None:
    manifest = TableStore(eight).read()
    assert manifest.cut[0].record == SpaceRecord(manifest.space, manifest.rows, manifest.width, manifest.details)
    change_manifest(eight, rows=manifest.rows - 1)
    with pytest.raises(StoreDamagedError, match="rows of"):
        TableStore(eight).read()


@pytest.mark.parametrize(
    ("piece", "board", "positions"),
    [("king", "8x8", 3_812_256), ("knight", "32x32", 1_047_552)],
)
def test_wide_boards_with_few_pieces_take_little_memory(piece: str, board: str, positions: int) -> None:
    rows, columns = (int(number) for number in board.split("x"))
    pieces = "AABB" if piece == "king" else "AB"
    start = pieces + "-" * (rows * columns - len(pieces))
    drawing = "\n".join(start[row : row + columns] for row in range(0, len(start), columns))
    puzzle = Config({"name": "wide", "family": "jump", "moves": piece, "start": drawing}).puzzle
    planned = plan.plan_run(puzzle, 2)
    assert planned.space.size == positions
    assert planned.memory_bytes < 5 * GIB


def test_three_colours_takes_300_megabytes() -> None:
    assert plan.plan_run(load_config("three-colours").puzzle, 2).memory_bytes < 300e6


def test_depths_of_two_bytes_within_the_memory_limit(tmp_path: Path) -> None:
    config, path = Config(LINE), tmp_path
    run_puzzle(config, path / "whole.zarr", RunOptions(workers=1))
    limit = plan.plan_run(config.puzzle, 1).least_bytes
    begun = run_puzzle(config, path / "t.zarr", RunOptions(workers=1), interrupted=stop_after(270))
    assert (begun.complete, begun.manifest.dtype) == (False, "uint16")
    assert run_puzzle(config, path / "t.zarr", RunOptions(workers=1, memory_limit=limit)).complete
    assert contents(path / "t.zarr") == contents(path / "whole.zarr")
