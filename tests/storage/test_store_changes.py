"""A reader of a store that a run changes meanwhile: what it finds is not taken for damage."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiling_stores import SQUARE, tiled

from antipodes.config import Config
from antipodes.errors import StoreChangedError, StoreDamagedError
from antipodes.executors.threads import Threads
from antipodes.storage.manifest import ManifestFile
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store import TableStore
from antipodes.tables.table import open_table
from antipodes.tables.verify import verify
from antipodes.tilings.config import BoardConfig
from antipodes.tilings.run import tile_board
from antipodes.tilings.store import TilingStore
from antipodes.tilings.table import open_tilings
from antipodes.tilings.verify import verify_tilings

LINE = {"name": "line", "family": "sliding", "rows": 1, "columns": 300, "start": " ".join(["0"] + ["1"] * 299)}
"""Its radius is more than a byte holds."""


@pytest.fixture
def searching(tmp_path: Path) -> Path:
    """Tilings of some partitions, found by a run that has not ended."""
    asked = iter(range(1000))
    options = RunOptions(workers=1, checkpoint_every=0)
    tile_board(BoardConfig(SQUARE), tmp_path / "t.zarr", options=options, interrupted=lambda: next(asked) >= 3)
    return tmp_path / "t.zarr"


@pytest.fixture
def narrow(tmp_path: Path) -> Path:
    """A table of a byte a depth, of a run that has not ended."""
    asked = iter(range(1000))
    options = RunOptions(workers=1, checkpoint_every=0)
    run_puzzle(Config(LINE), tmp_path / "t.zarr", options, interrupted=lambda: next(asked) >= 100)
    return tmp_path / "t.zarr"


def finish_tilings(store: Path) -> None:
    """The run goes on, and puts one array in place of those of the partitions."""
    tiled(SQUARE, store)


def finish_table(store: Path) -> None:
    """The run goes on, and widens the array."""
    run_puzzle(Config(LINE), store, RunOptions(workers=1))


def test_tilings_that_were_opened_before(searching: Path) -> None:
    with open_tilings(searching) as tilings:
        finish_tilings(searching)
        with pytest.raises(StoreChangedError, match="was changed by a run while it was read: try again"):
            _ = tilings.array


def test_a_table_that_was_opened_before(narrow: Path) -> None:
    with open_table(narrow) as table:
        finish_table(narrow)
        with pytest.raises(StoreChangedError):
            table.positions_at(3)


def after(first: Callable[..., Any], then: Callable[[], None]) -> Callable[..., Any]:
    """The function, after the first call of which something else happens."""
    calls = iter([then])

    def call(*arguments: Any) -> Any:
        result = first(*arguments)
        next(calls, lambda: None)()
        return result

    return call


def test_tilings_while_the_record_is_read(searching: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ManifestFile, "read", after(ManifestFile.read, lambda: finish_tilings(searching)))
    assert TilingStore(searching).read().complete


def test_a_table_while_the_record_is_read(narrow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ManifestFile, "read", after(ManifestFile.read, lambda: finish_table(narrow)))
    assert TableStore(narrow).read().complete


def test_tilings_while_they_are_verified(searching: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TilingStore, "read", after(TilingStore.read, lambda: finish_tilings(searching)))
    with pytest.raises(StoreChangedError):
        verify_tilings(searching)


def test_a_table_while_it_is_verified(narrow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TableStore, "read", after(TableStore.read, lambda: finish_table(narrow)))
    with pytest.raises(StoreChangedError):
        verify(narrow, Threads(1))


def test_damage_is_damage_while_no_run_changes_anything(searching: Path) -> None:
    tilings = open_tilings(searching)
    for chunk in (searching / "partitions").glob("*/c/0/0"):
        chunk.unlink()
    with pytest.raises(StoreDamagedError, match="is missing"):
        _ = tilings.array
