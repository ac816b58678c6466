"""The bytes of the arrays: the same from every version, zarr setting and number of threads, or an error."""

import copy
import json
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import zarr
from numcodecs import blosc
from numpy.typing import NDArray
from stores import contents

from antipodes.puzzles.config import load_config
from antipodes.storage.arrays import Arrays, Layout
from antipodes.storage.backend import Storage
from antipodes.storage.chunk_digests import ChunkDigests, chunk_key
from antipodes.storage.directory import DirectoryStorage
from antipodes.tables.run import run_puzzle
from antipodes.tables.table import Table, open_table
from antipodes_tasks.base.errors import StoreDamagedError, StoreError, StoreLockedError

ROWS, WIDTH, CHUNKS = 64, 3000, 6


def written(
    folder: Path, content: NDArray[Any], threads: int = 1, compression: Literal["lz4", "zstd"] = "lz4"
) -> dict[str, bytes]:
    """The files of an array to which threads have written the content, each of them whole chunks."""
    arrays = Arrays(DirectoryStorage(folder))
    layout = layout_of(content, compression)
    arrays.create("a", layout)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda first: write(arrays, layout, content, first), range(0, len(content), ROWS)))
    array = arrays.open("a", layout, ChunkDigests.empty(layout.chunks))
    assert array.dtype == content.dtype
    assert np.array_equal(array[:], content)
    return contents(folder)


def layout_of(content: NDArray[Any], compression: Literal["lz4", "zstd"] = "lz4") -> Layout:
    return Layout(content.shape, ROWS, str(content.dtype), 255, ("row", "column"), compression)  # type: ignore[arg-type]


def write(arrays: Arrays, layout: Layout, content: NDArray[Any], first: int) -> None:
    arrays.open_to_write("a", layout)[first : first + ROWS] = content[first : first + ROWS]


def depths(dtype: str) -> NDArray[Any]:
    """Numbers that resemble depths: few are far from the most frequent one."""
    return np.random.default_rng(1).binomial(60, 0.7, (CHUNKS * ROWS, WIDTH)).astype(dtype)


@pytest.mark.parametrize(
    ("compression", "dtype"), [("lz4", "uint8"), ("lz4", "uint16"), ("lz4", "uint32"), ("zstd", "uint8")]
)
def test_threads_write_the_same_bytes(compression: Literal["lz4", "zstd"], dtype: str, tmp_path: Path) -> None:
    content = depths(dtype)
    alone = written(tmp_path / "alone", content, 1, compression)
    assert len(alone) == 1 + CHUNKS
    assert written(tmp_path / "together", content, 4, compression) == alone


@pytest.mark.parametrize(("dtype", "size"), [("uint8", 1), ("uint16", 2), ("uint32", 4)])
def test_blosc_knows_the_size_of_the_numbers(dtype: str, size: int, tmp_path: Path) -> None:
    files = written(tmp_path, depths(dtype))
    _, compressor, checksum = json.loads(files["a/zarr.json"])["codecs"]
    settings = {"typesize": size, "cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "blocksize": 65536}
    assert compressor == {"name": "blosc", "configuration": settings}
    assert checksum["name"] == "crc32c"
    assert sum(map(len, files.values())) < 0.7 * CHUNKS * ROWS * WIDTH, "bytes of zeros cost next to nothing"


def test_a_chunk_of_fill_values_is_written(tmp_path: Path) -> None:
    assert len(written(tmp_path, np.full((2 * ROWS, WIDTH), 255, dtype=np.uint8))) == 3


def test_a_missing_chunk_has_fill_values_only_if_it_is_not_listed(storage: Storage) -> None:
    content = depths("uint8")[: 2 * ROWS]
    arrays, layout = Arrays(storage), layout_of(content)
    arrays.create("a", layout)
    listed = ChunkDigests.empty(2).updated({0: arrays.write_chunk("a", layout, 0, content[:ROWS], "depths")})
    array = arrays.open("a", layout, listed)
    assert np.array_equal(array[:ROWS], content[:ROWS])
    assert (array[ROWS:] == 255).all()
    assert array.nchunks_initialized == 1
    assert array.nbytes_stored() == sum(storage.sizes("a").values()) + sum(storage.sizes("a/c/0").values())
    storage.delete("a/c/0")
    for read in (lambda: array[:], lambda: arrays.read_chunk("a", layout, 0, "depths", listed)):
        with pytest.raises(StoreDamagedError, match=f"^chunk {storage.address}/a/c/0/0 is missing, although"):
            read()


def test_an_array_for_reading_is_not_written(storage: Storage) -> None:
    content = depths("uint8")
    arrays, layout = Arrays(storage), layout_of(content)
    digests = arrays.write("a", layout, content, "depths")
    before = storage.read(chunk_key("a", 0), 1 << 20)
    with pytest.raises(ValueError, match="read-only"):
        arrays.open("a", layout, digests)[0] = 1
    assert storage.read(chunk_key("a", 0), 1 << 20) == before


def test_an_array_that_a_run_opened_is_not_written_after_the_run(storage: Storage) -> None:
    """Zarr continues to write other chunks after an error, perhaps until another run has the lock."""
    content = depths("uint8")
    arrays, layout = Arrays(storage), layout_of(content)
    with storage.lock.hold():
        arrays.create("a", layout)
        array = arrays.open_to_write("a", layout)
        array[:ROWS] = content[:ROWS]
    with pytest.raises(StoreLockedError):
        array[ROWS : 2 * ROWS] = content[ROWS : 2 * ROWS]
    assert not storage.has(chunk_key("a", 1))


@pytest.mark.parametrize("setting", [True, None])
def test_threads_of_blosc_are_refused(setting: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They put the blocks of a chunk in the order in which they end."""
    content = depths("uint8")
    written(tmp_path, content)
    monkeypatch.setattr(blosc, "use_threads", setting)
    with pytest.raises(StoreError, match=f"numcodecs.blosc.use_threads: expected False, .*, found {setting}$"):
        write(Arrays(DirectoryStorage(tmp_path)), layout_of(content), content, 0)
    array = Arrays(DirectoryStorage(tmp_path)).open("a", layout_of(content), ChunkDigests.empty(CHUNKS))
    assert np.array_equal(array[:], content), "reading is not affected"


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
            with pytest.raises(StoreError, match=f"cannot use zarr with these settings: {name}: expected") as caught:
                use()
            assert not isinstance(caught.value, StoreDamagedError)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))])
def test_a_copy_of_a_table_reads_the_store_itself(copied: Callable[[Table], Table], finished: Path) -> None:
    with open_table(finished) as table:
        other = copied(table)
        known = table.antipodes().tolist()
    assert other.antipodes().tolist() == known
