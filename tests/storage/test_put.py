"""Content that is put in parts and read in ranges, in a directory and in object storage."""

import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import obstore
import pytest
from mounts import small
from s3 import Bucket, Proxy

from antipodes.storage import files
from antipodes.storage.backend import Storage
from antipodes.storage.directory import DirectoryStorage
from antipodes.storage.opening import storage_at
from antipodes.system.output_files import PARTIAL
from antipodes_tasks.base.errors import StoreError, StoreLockedError

KEY = "journal/0001"
WORDS = np.arange(6, dtype=np.uint64).reshape(2, 3)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files and directories that are synced from now on."""
    names: list[str] = []

    def record(descriptor: int) -> None:
        names.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)

    monkeypatch.setattr(os, "fsync", record)
    return names


@pytest.mark.parametrize("durable", [True, False])
def test_parts_are_put_one_after_the_other(storage: Storage, durable: bool) -> None:
    storage.put(KEY, [b"head", WORDS.data, bytearray(), memoryview(b"tail")], durable=durable)
    storage.make_durable([KEY])
    assert storage.read(KEY, 1 << 30)[0] == b"head" + WORDS.tobytes() + b"tail"
    storage.put(KEY, [])
    assert storage.read(KEY, 1 << 30)[0] == b""


def test_a_later_try_replaces_an_earlier_one(storage: Storage) -> None:
    with storage.lock.hold() as handle:
        for content in (b"first", b"second", b"second"):
            storage.put(KEY, [content], handle.token)
            assert storage.read(KEY, 1 << 30)[0] == content


def test_ranges(storage: Storage) -> None:
    storage.put(KEY, [b"0123456789"])
    ranges = {(0, 3): b"012", (3, 7): b"3456789", (8, 5): b"89", (10, 1): b"", (99, 1): b"", (4, 0): b""}
    assert {asked: storage.read_range(KEY, *asked) for asked in ranges} == ranges
    with pytest.raises(FileNotFoundError):
        storage.read_range("journal/0002", 0, 1)


def test_sizes(storage: Storage) -> None:
    assert storage.sizes("journal") == {}
    for key, size in ((KEY, 5), ("journal/0002", 0), ("journal/deeper/0003", 7), ("journals/0004", 7)):
        storage.put(key, [bytes(size)])
    storage.put(f"{KEY}.0{PARTIAL}", [b"of a crashed run"])
    assert storage.sizes("journal") == {KEY: 5, "journal/0002": 0}


def test_some_keys_are_deleted(storage: Storage) -> None:
    storage.put(KEY, [b"1"])
    storage.put("journal/0002", [b"2"])
    storage.delete_keys([KEY, "journal/0003"])
    storage.delete_keys([])
    assert storage.sizes("journal") == {"journal/0002": 1}


def test_a_writer_that_was_declared_dead_puts_nothing(storage: Storage) -> None:
    with storage.lock.hold() as handle:
        old = handle.token
        storage.put(KEY, [b"before"], old)
        handle.rotate_token()
        for key in (KEY, "journal/0002"):
            with pytest.raises(StoreLockedError, match="taken over"):
                storage.put(key, [b"late"], old)
    assert storage.sizes("journal") == {KEY: 6}
    assert storage.read(KEY, 1 << 30)[0] == b"before"


def test_files_are_synced_when_they_are_put_or_later(tmp_path: Path, synced: list[str]) -> None:
    storage = DirectoryStorage(tmp_path / "t.zarr")
    storage.put("journal/a", [b"1"])
    assert [name.partition(".")[0] for name in synced] == ["a", "journal"]
    assert synced[0].endswith(PARTIAL), "before it has its name"
    synced.clear()
    storage.put("journal/b", [b"2"], durable=False)
    storage.put("journal/c", [b"3"], durable=False)
    assert synced == []
    storage.make_durable(["journal/b", "journal/c"])
    assert synced == ["b", "c", "journal"]


def test_a_missing_file_is_not_made_durable(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"^cannot write .*t.zarr: No such file or directory$"):
        DirectoryStorage(tmp_path / "t.zarr").make_durable([KEY])


@pytest.mark.parametrize("durable", [True, False])
def test_a_full_disk_leaves_no_part(durable: bool, tmp_path: Path) -> None:
    with small(tmp_path / "small", "1m") as disk:
        storage = DirectoryStorage(disk / "t.zarr")
        with pytest.raises(StoreError, match=f"^cannot write {storage.path / KEY}: No space left on device$"):
            storage.put(KEY, [bytes(600_000), bytes(600_000)], durable=durable)
        assert storage.sizes("journal") == {}
        assert list((storage.path / "journal").iterdir()) == []
        storage.put(KEY, [bytes(600_000)], durable=durable)


def test_large_parts_are_not_copied(tmp_path: Path) -> None:
    part = bytes(10_000_000)
    tracemalloc.start()
    try:
        files.replace_file(tmp_path / "file", [b"head", part, b"between", memoryview(part)])
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_the_free_space_is_that_of_the_nearest_folder(tmp_path: Path) -> None:
    with small(tmp_path / "small", "1m") as disk:
        assert DirectoryStorage(disk / "not" / "there" / "t.zarr").free_bytes() == 1024**2
        (disk / "t.zarr").mkdir()
        (disk / "t.zarr" / "file").write_bytes(bytes(4096))
        assert DirectoryStorage(disk / "t.zarr").free_bytes() == 1024**2 - 4096


def test_the_free_space_is_unknown(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: object) -> None:
        raise PermissionError(13, "Permission denied")

    assert storage_at(bucket.url()).free_bytes() is None
    monkeypatch.setattr("shutil.disk_usage", fail)
    assert DirectoryStorage(tmp_path).free_bytes() is None


def test_an_object_is_put_in_one_request(bucket: Bucket, proxy: Proxy) -> None:
    storage = storage_at(bucket.url())
    with storage.lock.hold() as handle:
        before = len(proxy.requests)
        storage.put(KEY, [b"content"], handle.token)
        assert [(method, path.rpartition("/")[2]) for method, path in proxy.requests[before:]] == [
            ("GET", "t.zarr.lock"),
            ("PUT", "0001"),
        ]


@pytest.mark.parametrize("fault", ["truncate", "503", "lose"])
def test_a_range_that_came_in_part_is_asked_for_again(fault: str, bucket: Bucket, proxy: Proxy) -> None:
    storage = storage_at(bucket.url())
    storage.put(KEY, [b"0123456789"])
    before = len(proxy.requests)
    proxy.fault = lambda number, method, path: fault if number == before else None
    assert storage.read_range(KEY, 2, 4) == b"2345"
    assert len(proxy.requests) == before + 2


def test_a_server_that_ignores_ranges(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes of another place are an error, not content."""
    storage = storage_at(bucket.url())
    storage.put(KEY, [b"0123456789"])
    get = obstore.get

    def whole(client: Any, key: str, *, options: Any) -> Any:
        return get(client, key)

    monkeypatch.setattr(obstore, "get", whole)
    monkeypatch.setenv("ANTIPODES_RETRY_SECONDS", "0")
    with pytest.raises(StoreError, match="received 10 bytes from byte 0, expected 10 from byte 2"):
        storage_at(bucket.url()).read_range(KEY, 2, 4)
