"""The cache of tables in memory: what is kept, what is believed, and what makes room."""

import os
from pathlib import Path

import numpy as np
import pytest

from antipodes.config import load_config
from antipodes.runs.options import RunOptions
from antipodes.tables import table_cache
from antipodes.tables.run import run_puzzle
from antipodes.tables.store.stores import TableStore
from antipodes.tables.table_cache import LIMIT_VARIABLE, can_be_packed, read_distances
from antipodes_tasks.errors import InputError
from antipodes_tasks.searches.packed import digest, packed_size


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> TableStore:
    """A table with several chunks, the last of which has an odd number of entries."""
    path = tmp_path_factory.mktemp("cached") / "ivy.zarr"
    run_puzzle(load_config("ivy"), path, RunOptions(workers=1))
    return TableStore(path)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(table_cache, "LEAST_CACHED", 1)
    return tmp_path / "antipodes" / "tables"


def read(store: TableStore, packed: bool) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    manifest = store.read()
    values = np.full(packed_size(manifest.index_size, packed), 99, dtype=np.uint8)
    read_distances(store, manifest, packed, values)
    return values


def test_packed_distances_are_the_distances(store: TableStore, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert can_be_packed(store.read())
    monkeypatch.setattr(table_cache, "READ_TOGETHER", 1)  # as few chunks as may be read together
    for _ in range(2):  # from the store, then from the cache
        plain, packed = read(store, packed=False), read(store, packed=True)
        halves = np.stack((packed & 15, packed >> 4), axis=1).ravel()[: len(plain)]
        assert np.array_equal(halves, np.minimum(plain, 15))
    assert len(list(folder.iterdir())) == 2


def test_swapped_blocks_are_noticed(store: TableStore, folder: Path) -> None:
    expected = read(store, packed=False)
    (file,) = folder.iterdir()
    content = file.read_bytes()
    file.write_bytes(content[4096:8192] + content[:4096] + content[8192:])
    assert np.array_equal(read(store, packed=False), expected)
    assert file.read_bytes() == content


def test_digests_depend_on_the_order_and_on_every_byte() -> None:
    values = np.arange(1000, dtype=np.uint16).view(np.uint8)
    others = [
        np.roll(values, 64),
        values[:-1],
        *(values ^ (np.arange(len(values)) == place).astype(np.uint8) for place in (0, 77, 1999)),
    ]
    assert len({digest(one) for one in (values, *others)}) == 1 + len(others)


def test_the_oldest_file_makes_room(store: TableStore, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(store, packed=False)
    (oldest,) = folder.iterdir()
    os.utime(oldest, (1, 1))
    other = folder / "other.depths"
    other.write_bytes(bytes(100))
    size = store.read().index_size
    monkeypatch.setenv(LIMIT_VARIABLE, str(size + 200))
    read(store, packed=True)
    assert {file.name for file in folder.iterdir()} > {"other.depths"}
    assert not oldest.exists()
    for file in folder.iterdir():
        file.unlink()
    for none in ("0", str(size // 4)):
        monkeypatch.setenv(LIMIT_VARIABLE, none)
        read(store, packed=False)
        assert list(folder.iterdir()) == []
    monkeypatch.setenv(LIMIT_VARIABLE, "much")
    with pytest.raises(InputError, match=r"ANTIPODES.CACHE.SIZE: expected a size such as 800MB or 2GiB, found 'much'"):
        read(store, packed=False)
