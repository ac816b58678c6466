"""A reader does not take the changes of a run for damage."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from puzzle_settings import LINE
from stores import stop_after
from tiling_stores import SQUARE, tiled

from antipodes.executors.threads import Threads
from antipodes.puzzles.config import Config
from antipodes.storage.manifest_file import ManifestFile
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import open_table
from antipodes.tables.verify import verify
from antipodes.tilings.board_config import BoardConfig
from antipodes.tilings.run import tile_board
from antipodes.tilings.store import TilingStore
from antipodes.tilings.table import open_tilings
from antipodes.tilings.verify import verify_tilings
from antipodes_tasks.base.errors import StoreChangedError, StoreDamagedError, UnfinishedError


@pytest.fixture
def searching(tmp_path: Path) -> Path:
    """The tilings of some partitions, in the store of an unfinished run."""
    options = RunOptions(workers=1, checkpoint_every=0)
    tile_board(BoardConfig(SQUARE), tmp_path / "t.zarr", options=options, interrupted=stop_after(3))
    return tmp_path / "t.zarr"


@pytest.fixture
def narrow(tmp_path: Path) -> Path:
    """A table whose committed depths fit into a byte, in the store of an unfinished run."""
    run_puzzle(Config(LINE), tmp_path / "t.zarr", RunOptions(workers=1), interrupted=stop_after(250))
    return tmp_path / "t.zarr"


def finish_tilings(store: Path) -> None:
    """Resume the run, which replaces the arrays of the partitions by one array."""
    tiled(SQUARE, store)


def finish_table(store: Path) -> None:
    """Resume the run, which deletes the journal."""
    run_puzzle(Config(LINE), store, RunOptions(workers=1))


def test_tilings_that_were_opened_before_the_change(searching: Path) -> None:
    with open_tilings(searching) as tilings:
        finish_tilings(searching)
        with pytest.raises(StoreChangedError, match="was changed by a run while it was being read; try again"):
            _ = tilings.array


def test_a_table_that_was_opened_before_the_change(narrow: Path) -> None:
    with open_table(narrow) as table:
        finish_table(narrow)
        with pytest.raises(StoreChangedError):
            table.positions_at(3)
        beyond_a_byte = " ".join(["1"] * 256 + ["0"] + ["1"] * 43)
        with pytest.raises((UnfinishedError, StoreChangedError)):  # a depth of 256 must not be taken for 0
            table.distance(beyond_a_byte)


def after(first: Callable[..., Any], then: Callable[[], None]) -> Callable[..., Any]:
    """The function; its first call is followed by ``then``."""
    calls = iter([then])

    def call(*arguments: Any) -> Any:
        result = first(*arguments)
        next(calls, lambda: None)()
        return result

    return call


def test_tilings_that_change_while_the_manifest_is_read(searching: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ManifestFile, "read", after(ManifestFile.read, lambda: finish_tilings(searching)))
    assert TilingStore(searching).read().complete


def test_a_table_that_changes_while_the_manifest_is_read(narrow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ManifestFile, "read", after(ManifestFile.read, lambda: finish_table(narrow)))
    store = TableStore(narrow)
    manifest = store.read()
    assert not manifest.complete
    with pytest.raises(StoreChangedError):
        store.read_chunk(manifest, 0)


def test_tilings_that_change_while_they_are_verified(searching: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TilingStore, "read", after(TilingStore.read, lambda: finish_tilings(searching)))
    with pytest.raises(StoreChangedError):
        verify_tilings(searching)


def test_a_table_that_changes_while_it_is_verified(narrow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TableStore, "read", after(TableStore.read, lambda: finish_table(narrow)))
    with pytest.raises(StoreChangedError):
        verify(narrow, Threads(1))


def test_damage_without_a_change_is_damage(searching: Path) -> None:
    tilings = open_tilings(searching)
    for chunk in (searching / "partitions").glob("*/c/0/0"):
        chunk.unlink()
    with pytest.raises(StoreDamagedError, match="is missing"):
        _ = tilings.array
