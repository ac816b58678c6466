"""Stores in the file system: a directory of files, each on the disk before it has its name."""

import asyncio
import os
import shutil
import stat
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import LocalStore

from antipodes.storage.backend import MANIFEST, MOST_METADATA, Content, Storage, TooLargeError, Version
from antipodes.storage.local.files import NOTHING_THERE, PARTIAL, remove_file, replace_file, status_of, sync, sync_files
from antipodes.storage.local.lock import FileLock
from antipodes.storage.local.staging import create_staging, leftovers, publish, remove
from antipodes_tasks.errors import InputError, StoreError


class DurableStore(LocalStore):
    """Zarr's store in the file system; each file is on the disk before it has its name."""

    def __init__(
        self,
        root: Path,
        *,
        read_only: bool,
        check: Callable[[], None],
        most: int,
        check_chunk: Callable[[Content], None],
    ) -> None:
        super().__init__(root, read_only=read_only)
        self._check = check
        self._most = most
        self._check_chunk = check_chunk

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """The content of a key, None without any; TooLargeError for more than was written."""
        self._check_size(key)
        return self._checked(key, await super().get(key, prototype, byte_range))

    def get_sync(self, key: str, **options: Any) -> Buffer | None:
        """As `get`; newer versions of zarr call this one alone."""
        self._check_size(key)
        return self._checked(key, super().get_sync(key, **options))

    def _checked(self, key: str, found: Buffer | None) -> Buffer | None:
        if found is not None and key.startswith("c/"):
            self._check_chunk(found.as_buffer_like())
        return found

    def _check_size(self, key: str) -> None:
        status = status_of(self.root / key)
        if status is not None and status.st_size > self._most:
            raise TooLargeError.of(str(self.root / key), self._most, status.st_size)

    async def set(self, key: str, value: Buffer) -> None:
        """Put a value at a key."""
        await asyncio.to_thread(self.set_sync, key, value)

    def set_sync(self, key: str, value: Buffer) -> None:
        """Put a value at a key; newer versions of zarr call this one alone."""
        replace_file(self.root / key, [value.as_buffer_like()], self._check)


def storages_below(directory: Path) -> Iterator["DirectoryStorage"]:
    """See `antipodes.storage.address.storages_in`."""
    if not directory.is_dir():
        found = "something else" if directory.exists() else "nothing"
        raise InputError(f"expected a directory of stores, found {found} at {directory}")
    if (directory / MANIFEST).exists():
        yield DirectoryStorage(directory)
        return
    visible = (path for path in directory.iterdir() if path.is_dir() and not path.name.startswith("."))
    yield from map(DirectoryStorage, sorted(visible))


class DirectoryStorage(Storage):
    """A directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.address = str(path)
        self.lock = FileLock(path)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process may have another working directory, so the copy has the absolute path."""
        return DirectoryStorage, (Path(os.path.abspath(self.path)),)

    def name_of(self, key: str) -> str:
        return str(self.path / key)

    def exists(self) -> bool:
        return self._status() is not None

    def has(self, key: str) -> bool:
        status = self._status(key)
        return status is not None and stat.S_ISREG(status.st_mode)

    def read(self, key: str, most: int) -> tuple[bytes, Version]:
        with self._open(key) as file:
            content = file.read(most + 1) if (size := os.fstat(file.fileno()).st_size) <= most else b""
        if (size := max(size, len(content))) > most:
            raise TooLargeError.of(self.name_of(key), most, size)
        return content, {}

    def read_range(self, key: str, first: int, count: int) -> bytes:
        with self._open(key) as file:
            file.seek(first)
            return file.read(count)

    @contextmanager
    def _open(self, key: str) -> Iterator[BinaryIO]:
        """A file to be read; FileNotFoundError where there is none."""
        if not self.has(key):
            raise FileNotFoundError(self.name_of(key))
        try:
            with (self.path / key).open("rb") as file:
                yield file
        except OSError as error:
            raise StoreError(f"cannot read {self.name_of(key)}: {error.strerror or error}") from error

    def replace(self, key: str, content: bytes, version: Version | None) -> Version:
        self.put(key, [content])
        return {}

    def put(self, key: str, parts: Sequence[Content], token: str | None = None, durable: bool = True) -> None:
        with self.writing(key):
            replace_file(self.path / key, parts, self.lock.fence(token), durable)

    def make_durable(self, keys: Iterable[str]) -> None:
        with self.writing():
            sync_files([self.path / key for key in keys])

    def delete(self, folder: str) -> None:
        self.lock.check()
        shutil.rmtree(self.path / folder, ignore_errors=True)

    def delete_keys(self, keys: Iterable[str]) -> None:
        self.lock.check()
        with self.writing():
            for key in keys:
                remove_file(self.path / key)

    def folders(self, folder: str) -> list[str]:
        return [path.name for path in (self.path / folder).glob("*")]

    def sizes(self, folder: str) -> dict[str, int]:
        keys = [f"{folder}/{name}" for name in self.folders(folder) if not name.endswith(PARTIAL)]
        found = {key: self._status(key) for key in keys}
        return {key: status.st_size for key, status in found.items() if status and stat.S_ISREG(status.st_mode)}

    def size(self) -> int:
        return sum(status.st_size for file in self._files() if (status := self._status(file)))

    def free_bytes(self) -> int | None:
        place = self.path.resolve()
        for folder in (place, *place.parents):
            try:
                return shutil.disk_usage(folder).free
            except OSError as error:
                if error.errno not in NOTHING_THERE:
                    return None
        return None

    def _files(self) -> Iterator[str]:
        """The keys of all files; while a run writes, files come and go."""
        for folder, _, names in os.walk(self.path):
            yield from (os.path.relpath(os.path.join(folder, name), self.path) for name in names)

    def modified(self, key: str) -> datetime | None:
        status = self._status(key)
        return datetime.fromtimestamp(status.st_mtime).astimezone() if status else None

    def identity(self, key: str) -> tuple[object, ...]:
        status = self._status(key)
        return (status.st_dev, status.st_ino, status.st_mtime_ns) if status else ()

    def _status(self, key: str = "") -> os.stat_result | None:
        return status_of(self.path / key)

    @contextmanager
    def staged(self, overwrite: bool = False) -> Iterator["DirectoryStorage"]:
        self.lock.check()
        staging = DirectoryStorage(create_staging(self.path))
        staging.lock = self.lock
        try:
            yield staging
            self.lock.check()
            publish(staging.path, self.path, overwrite)
        except BaseException:
            with suppress(StoreError):  # another run may have taken the lock over, and create its own store there
                self.lock.check()
                shutil.rmtree(staging.path, ignore_errors=True)
            raise

    def has_leftovers(self) -> bool:
        return not self.exists() and bool(leftovers(self.path))

    def remove(self) -> int:
        self.lock.check()
        freed = self.size() + sum(DirectoryStorage(one).size() for one in leftovers(self.path))
        try:
            remove(self.path)
        except StoreError:
            raise
        except OSError as error:
            raise StoreError(f"cannot remove {error.filename or self.path}: {error.strerror or error}") from error
        return freed

    def remove_leftovers(self) -> None:
        self.lock.check()
        self._check_links()
        for leftover in self._files():
            if leftover.endswith(PARTIAL):
                (self.path / leftover).unlink(missing_ok=True)

    def _check_links(self) -> None:
        """Raise StoreError if a folder of the store is a link: a run would write and delete files elsewhere."""
        for folder, names, _ in os.walk(self.path):
            for path in (Path(folder, name) for name in names):
                if path.is_symlink():
                    raise StoreError(f"cannot write {self.path}: expected a folder at {path}, found a link to another")

    def sync(self, folder: str) -> None:
        last = self.path / folder
        parents = last.relative_to(self.path).parents
        for path in (last / "c", last, *(self.path / parent for parent in parents)):
            if path.is_dir():
                sync(path)

    def probe(self) -> None:
        path = self.path / f".probe.{uuid.uuid4().hex}{PARTIAL}"
        with self.writing():
            replace_file(path, [b"probe"])
            path.unlink()

    def known_missing(self, key: str) -> bool:
        return not self.has(key)

    def arrays(
        self,
        folder: str = "",
        read_only: bool = False,
        token: str | None = None,
        most: int = MOST_METADATA,
        check_chunk: Callable[[Content], None] = lambda chunk: None,
    ) -> DurableStore:
        return DurableStore(
            self.path / folder,
            read_only=read_only,
            check=self.lock.fence(token),
            most=most,
            check_chunk=check_chunk,
        )
