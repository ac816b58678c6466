"""Settings of zarr that would spoil stores are refused."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zarr

from antipodes.config import load_config
from antipodes.tables.run import run_puzzle
from antipodes.tables.table import Table, open_table
from antipodes_tasks.errors import StoreDamagedError, StoreError


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("codec_pipeline.path", "nonsense"),
        ("codecs.zstd", "nonsense.X"),
        ("codecs.blosc", "nonsense.X"),
        ("buffer", "x.y"),
        ("ndbuffer", "x.y"),
        ("default_zarr_format", 2),
        ("array.order", "x"),
        ("async.concurrency", "x"),
        ("async.concurrency", 0),
    ],
)
def test_settings_of_zarr_are_neither_damage_nor_a_hang(name: str, value: Any, finished: Path, tmp_path: Path) -> None:
    with zarr.config.set({name: value}):
        for use in (
            lambda: open_table(finished).antipodes(),
            lambda: run_puzzle(load_config("knights-coloured"), tmp_path / "t.zarr"),
        ):
            with pytest.raises(StoreError, match=f"cannot use zarr as it is set here: {name}: expected") as caught:
                use()
            assert not isinstance(caught.value, StoreDamagedError)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))])
def test_a_copy_of_a_table_reads_the_store_itself(copied: Callable[[Table], Table], finished: Path) -> None:
    with open_table(finished) as table:
        other = copied(table)
        known = table.antipodes().tolist()
    assert other.antipodes().tolist() == known
