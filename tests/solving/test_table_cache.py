"""The cache of tables in memory: what is kept, what is believed, and what makes room."""

import errno
import fcntl
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from antipodes.puzzles.config import load_config
from antipodes.solving import byte_cache, table_cache
from antipodes.solving.byte_cache import LIMIT_VARIABLE
from antipodes.solving.table_cache import fits_halves, keep_arrays, kept_arrays, values_of
from antipodes.system.options import RunOptions
from antipodes.tables.run import run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.searches.packed import BYTES, HALVES, Encoding, digest


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


def read(store: TableStore, encoding: Encoding) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    manifest = store.read()
    values = values_of(store, manifest, encoding)
    assert len(values) == encoding.size(manifest.index_size)
    return values


def test_encoded_distances_are_those_of_tables(
    store: TableStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fits_halves(store.read())
    monkeypatch.setattr(table_cache, "READ_TOGETHER", 1)  # as few chunks as may be read together
    for _ in range(2):  # from the store, then from the cache
        plain = read(store, BYTES)
        for encoding in (HALVES, Encoding(2, 3)):
            assert np.array_equal(read(store, encoding), encoding.encode(plain))
    assert len(list(folder.glob("*.depths"))) == 3


def test_arrays_are_read_with_their_shapes_unless_the_reading_is_ended(store: TableStore, folder: Path) -> None:
    manifest, dtypes = store.read(), (np.int64, np.uint32, np.int32, np.uint16)
    shapes = [(2, 3), (5,), (3, 1), (0,)]
    arrays = [
        np.arange(np.prod(shape), dtype=dtype).reshape(shape) for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    assert kept_arrays(manifest, "arrays", dtypes) is None
    keep_arrays(manifest, "arrays", arrays)
    found = kept_arrays(manifest, "arrays", dtypes)
    assert found is not None
    for one, other in zip(found, arrays, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
        assert one.flags.aligned
    with pytest.raises(KeyError):
        kept_arrays(manifest, "arrays", dtypes, lambda: {}["ended"])


def test_damaged_files_are_noticed(store: TableStore, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_cache, "BLOCK", 4096)
    expected = read(store, BYTES)
    (file,) = folder.glob("*.depths")
    content = file.read_bytes()
    damaged = bytearray(content)
    damaged[-1] ^= 1
    for other in (content[4096:8192] + content[:4096] + content[8192:], damaged, content[:-8], content[:20], b""):
        file.write_bytes(other)
        assert np.array_equal(read(store, BYTES), expected)
        assert file.read_bytes() == content


def test_distances_in_use_stay_when_their_file_is_replaced_or_deleted(store: TableStore, folder: Path) -> None:
    first, second = read(store, BYTES), read(store, BYTES)
    expected = first.copy()
    second[:] = 1  # nothing that is written to the distances reaches the file
    (file,) = folder.glob("*.depths")
    other = folder / "other"
    other.write_bytes(bytes(file.stat().st_size))
    other.replace(file)
    assert np.array_equal(first, expected)
    assert np.array_equal(read(store, BYTES), expected)
    file.unlink()
    assert np.array_equal(first, expected)


def test_without_room_on_the_disk_distances_are_read_from_the_store(
    store: TableStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    without = read(store, HALVES)
    assert files(folder) == []
    monkeypatch.undo()
    assert np.array_equal(read(store, HALVES), without)


def test_digests_depend_on_the_order_and_on_every_byte() -> None:
    values = np.arange(1000, dtype=np.uint16).view(np.uint8)
    others = [
        np.roll(values, 64),
        values[:-1],
        *(values ^ (np.arange(len(values)) == place).astype(np.uint8) for place in (0, 77, 1999)),
    ]
    assert len({digest(one) for one in (values, *others)}) == 1 + len(others)


def test_the_oldest_file_makes_room(store: TableStore, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(store, BYTES)
    (oldest,) = folder.glob("*.depths")
    os.utime(oldest, (1, 1))
    other = folder / "other.depths"
    other.write_bytes(bytes(100))
    size = store.read().index_size
    monkeypatch.setenv(LIMIT_VARIABLE, str(size + 200))
    read(store, HALVES)
    assert {file.name for file in folder.iterdir()} > {"other.depths"}
    assert not oldest.exists()
    for file in folder.iterdir():
        file.unlink()
    for none in ("0", "00", "000", " 0 ", "0GiB", "0 MB", "0.0", "+0", str(size // 4)):
        monkeypatch.setenv(LIMIT_VARIABLE, none)
        read(store, BYTES)
        assert files(folder) == []
    monkeypatch.setenv(LIMIT_VARIABLE, "much")
    with pytest.raises(InputError, match=r"ANTIPODES_CACHE_SIZE: expected a size such as 800MB or 2GiB, found 'much'"):
        read(store, BYTES)


def test_a_cache_that_may_only_be_read_is_used(
    store: TableStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = read(store, BYTES)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "utime", refused)
    monkeypatch.setattr(table_cache, "read_store", pytest.fail)
    assert np.array_equal(read(store, BYTES), expected)


def files(folder: Path) -> list[str]:
    """The names of all things in the cache except its lock."""
    return sorted(path.name for path in folder.iterdir() if path.name != byte_cache.LOCK)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 8 << 30), ("   ", 8 << 30), ("5", 5), ("+5", 5), ("1e3", 1000), ("007", 7), (" 2 GiB ", 2 << 30), ("0", 0)],
)
def test_the_limit_is_read_like_other_sizes(text: str, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, text)
    assert byte_cache.limit_of_cache() == expected


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "x", "0x10", "10**9", "9e30"])
def test_other_limits_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, text)
    with pytest.raises(InputError, match=LIMIT_VARIABLE):
        byte_cache.limit_of_cache()


@pytest.mark.parametrize("change", ["cut", "overwritten"])
def test_a_file_may_be_changed_while_its_distances_are_in_use(change: str, store: TableStore, folder: Path) -> None:
    """Of a file that is mapped, the first access after a cut would end the process."""
    for values in (read(store, BYTES), read(store, BYTES)):  # from the store, then from the cache
        expected = values.copy()
        (file,) = folder.glob("*.depths")
        content = file.read_bytes()
        if change == "cut":
            os.truncate(file, 0)
        else:
            file.write_bytes(bytes(len(content)))
        assert np.array_equal(values, expected)
        file.write_bytes(content)


@pytest.mark.parametrize("thing", ["pipe", "directory", "link to nothing"])
@pytest.mark.parametrize("place", ["file", "lock"])
def test_things_in_place_of_files_are_not_waited_for(thing: str, place: str, store: TableStore, folder: Path) -> None:
    expected = read(store, BYTES)
    path = next(folder.glob("*.depths")) if place == "file" else folder / byte_cache.LOCK
    path.unlink()
    if thing == "pipe":
        os.mkfifo(path)
    elif thing == "directory":
        path.mkdir()
    else:
        path.symlink_to(folder / "nothing")
    assert np.array_equal(read(store, BYTES), expected)
    assert np.array_equal(read(store, HALVES), read(store, HALVES))


def test_what_a_killed_process_left_is_deleted_and_what_another_one_makes_counts(
    store: TableStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = store.read().index_size
    left, under_way = folder / f"{byte_cache.MAKING}1", folder / f"{byte_cache.MAKING}2"
    for made in (left, under_way):
        made.mkdir(parents=True)
        (made / "other.depths").write_bytes(bytes(size))
    with (under_way / "other.depths").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        read(store, HALVES)
        (first,) = folder.glob("*.depths")
        assert files(folder) == sorted([first.name, under_way.name])
        monkeypatch.setenv(LIMIT_VARIABLE, str(2 * size + 200))  # room for the file and what is made, not for both
        read(store, BYTES)
        assert not first.exists()
        assert (under_way / "other.depths").exists()


def test_two_processes_that_make_files_share_the_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one sees what the first one will take, though nothing of it is written yet."""
    monkeypatch.setenv(LIMIT_VARIABLE, "1500")

    def fill(write: Any) -> None:
        assert byte_cache.keep_cached("large", 1000, pytest.fail) is None
        assert byte_cache.keep_cached("small", 400, lambda other: other(0, np.ones(400, dtype=np.uint8))) is not None
        write(0, np.zeros(1000, dtype=np.uint8))

    assert byte_cache.keep_cached("old", 400, lambda write: write(0, np.zeros(400, dtype=np.uint8))) is not None
    os.utime(folder / "old.depths", (1, 1))
    assert byte_cache.keep_cached("first", 1000, fill) is not None
    assert files(folder) == ["first.depths", "small.depths"]


def test_a_cache_whose_lock_is_held_is_not_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_cache, "LOCK_PAUSES", (0.0,))
    folder.mkdir(parents=True)
    with (folder / byte_cache.LOCK).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert byte_cache.keep_cached("x", 10, pytest.fail) is None
    assert byte_cache.keep_cached("x", 10, lambda write: write(0, np.ones(10, dtype=np.uint8))) is not None


def test_files_and_blocks_that_were_exchanged_are_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_cache, "BLOCK", 4096)
    values = {name: np.full(8192, number, dtype=np.uint8) for number, name in enumerate(("one", "other"))}
    values["one"][:4096] = 7
    for name, content in values.items():
        byte_cache.keep_cached(name, len(content), lambda write, content=content: write(0, content))
        found = byte_cache.open_cached(name)
        assert found is not None
        assert np.array_equal(found, content)
    one, other = folder / "one.depths", folder / "other.depths"
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content[4096:8192] + content[:4096] + content[8200:] + content[8192:8200])
    assert byte_cache.open_cached("one") is None
    assert byte_cache.open_cached("other") is None


@pytest.mark.parametrize("problem", ["other users can write to", "belongs to another user"])
def test_a_folder_of_other_users_is_refused(
    problem: str, store: TableStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = read(store, BYTES)
    assert folder.stat().st_mode & 0o777 == 0o700
    if problem.startswith("other"):
        folder.chmod(0o770)
    else:
        os.chown(folder, os.getuid() or 1000, -1)
        monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(InputError, match=f"cached tables are not used, because .*{problem}.*set XDG_CACHE_HOME"):
        read(store, BYTES)
    monkeypatch.setenv(LIMIT_VARIABLE, "0")
    assert np.array_equal(read(store, BYTES), expected)
