"""Stores in the file system: directories of files that are durable before they get their names, with lock files."""

import os
import shutil
import stat
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from functools import partial, wraps
from pathlib import Path
from typing import Any, BinaryIO, ParamSpec, TypeVar

from antipodes.storage.backend import MANIFEST, Content, Storage, TooLargeError, Version
from antipodes.storage.file_lock import FileLock
from antipodes.storage.files import (
    NOTHING_THERE,
    check_own,
    create_staging,
    leftovers,
    names_in,
    open_in,
    publish,
    remove,
    remove_file,
    replace_file,
    status_in,
    status_of,
    sync_files,
)
from antipodes.storage.retry import RetryPolicy
from antipodes.system.file_errors import file_errors
from antipodes.system.output_files import PARTIAL, sync
from antipodes_tasks.base.errors import InputError, StoreError

PATIENCE = 7.0
"""Seconds that a call to the file system may take after a run was told to stop, in addition to the three seconds that
any request may take: on a disk that is busy with other programs' writes, syncing a small file takes a long time."""

P = ParamSpec("P")
T = TypeVar("T")


def _waits(what: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a `DirectoryStorage` method: its calls end if the run is told to stop while the file system hangs."""

    def waiting(method: Callable[P, T]) -> Callable[P, T]:
        @wraps(method)
        def call(*arguments: P.args, **named: P.kwargs) -> T:
            storage: Any = arguments[0]
            size = partial(storage.bytes_of, *arguments[1:])
            result: T = storage.waits.call_unchanged(
                what, _named(*arguments[:2]), partial(method, *arguments, **named), size
            )
            return result

        return call

    return waiting


def _named(storage: Any, keys: object = "") -> str:
    """Return the name of a file or folder of a storage, of its files if they are several, or of the storage itself."""
    if not isinstance(keys, str):
        return f"files of {storage.address}"
    return str(storage.name_of(keys)) if keys else str(storage.address)


@contextmanager
def reading_in(store: Path, key: str) -> Iterator[BinaryIO]:
    """Open a key's file for reading in the block. Raises the errors of `open_in`, and StoreError if reading fails."""
    with file_errors("read", store / key, but=(FileNotFoundError,)), open(open_in(store, key), "rb") as file:
        yield file


def read_in(store: Path, key: str, max_bytes: int) -> bytes:
    """Return the content of a key's file. Raises the errors of `reading_in`, and TooLargeError above ``max_bytes``."""
    with reading_in(store, key) as file:
        content = file.read(max_bytes + 1) if (size := os.fstat(file.fileno()).st_size) <= max_bytes else b""
    if (size := max(size, len(content))) > max_bytes:
        raise TooLargeError.of(str(store / key), max_bytes, size)
    return content


class DirectoryStorage(Storage):
    """A storage in a directory of the file system."""

    def __init__(self, path: Path, run: str = "") -> None:
        """Create the storage; ``run`` is the name of the run in another process that uses it here, if there is one."""
        self.path = path
        self.address = str(path)
        self.waits = RetryPolicy(self.address, 0.0, run, PATIENCE)
        self.lock = FileLock(path, self.waits)
        self._unsynced = 0
        """Number of bytes that were put but are not yet durable."""

    @classmethod
    def list_stores(cls, directory: Path) -> list["DirectoryStorage"]:
        """Return the storages of the stores in a directory; see `antipodes.storage.opening.storages_in`."""
        if not directory.is_dir():
            found = "is not a directory" if directory.exists() else "does not exist"
            raise InputError(f"{directory} {found}; name a directory of stores")
        if (directory / MANIFEST).exists():
            return [cls(directory)]
        return [cls(path) for path in sorted(directory.iterdir()) if path.is_dir() and not path.name.startswith(".")]

    def __reduce__(self) -> tuple[Any, ...]:
        """Reduce to the absolute path, since another process may have another working directory."""
        return type(self), (Path(os.path.abspath(self.path)), self.waits.run_name)

    def watched(
        self, tell: Callable[[str], None], stop: Callable[[], bool], run: str = ""
    ) -> AbstractContextManager[None]:
        return self.waits.watched(tell, stop, run)

    def bytes_of(self, key: Any = None, parts: Any = (), *others: Any) -> int:
        """Return the number of bytes that a call with these arguments writes or makes durable."""
        if isinstance(key, str):
            return sum(memoryview(part).nbytes for part in parts) if isinstance(parts, list | tuple) else 0
        return self._unsynced

    def expect_failures(self) -> None:
        """Do nothing: a file system reports errors immediately."""

    def name_of(self, key: str) -> str:
        return str(self.path / key)

    def exists(self) -> bool:
        return self._status() is not None

    def has(self, key: str) -> bool:
        status = self._status(key)
        return status is not None and stat.S_ISREG(status.st_mode)

    @_waits("read")
    def read(self, key: str, max_bytes: int) -> tuple[bytes, Version]:
        return read_in(self.path, key, max_bytes), {}

    @_waits("read")
    def read_range(self, key: str, first: int, count: int) -> bytes:
        with reading_in(self.path, key) as file:
            file.seek(first)
            return file.read(count)

    def replace(self, key: str, content: bytes, version: Version | None) -> Version:
        """Replace the file unconditionally, since files have no versions."""
        self.put(key, [content])
        return {}

    @_waits("write")
    def put(self, key: str, parts: Sequence[Content], token: str | None = None, durable: bool = True) -> None:
        with self.writing(key):
            replace_file(self.path / key, parts, self._fence(token), durable, self.remove_path)
        self._unsynced += 0 if durable else self.bytes_of(key, parts)

    def _fence(self, token: str | None) -> Callable[[], None]:
        """Return the check to call before a write. After the lock is released, abandoned calls fail this check."""
        return self.lock.fence(self.lock.token or None if token is None else token)

    @_waits("write")
    def make_durable(self, keys: Iterable[str]) -> None:
        with self.writing():
            sync_files([self.path / key for key in keys])
        self._unsynced = 0

    @_waits("delete")
    def delete(self, folder: str) -> None:
        self.lock.check()
        with suppress(OSError):
            self.remove_path(self.path / folder)

    @_waits("delete")
    def delete_keys(self, keys: Iterable[str]) -> None:
        self.lock.check()
        with self.writing():
            for key in keys:
                self.remove_path(self.path / key)

    def remove_path(self, path: Path) -> None:
        """Delete a file, a folder with its content, or a link (not its target), if anything exists at the path."""
        remove_file(path)

    @_waits("list")
    def names_in_folder(self, folder: str) -> list[str]:
        return names_in(self.path, folder)

    @_waits("list")
    def sizes(self, folder: str) -> dict[str, int]:
        keys = [f"{folder}/{name}" for name in self.names_in_folder(folder) if not name.endswith(PARTIAL)]
        found = {key: self._status(key) for key in keys}
        return {key: status.st_size for key, status in found.items() if status and stat.S_ISREG(status.st_mode)}

    @_waits("list")
    def size(self) -> int:
        """Return the total size of all files that exist at this moment. Links count with their own size."""
        return sum(status.st_size for file in self._files() if (status := self._status(file)))

    @_waits("read")
    def free_bytes(self) -> int | None:
        """Return the free space of the disk of the nearest existing parent folder."""
        place = self.path.resolve()
        for folder in (place, *place.parents):
            try:
                return shutil.disk_usage(folder).free
            except OSError as error:
                if error.errno not in NOTHING_THERE:
                    return None
        return None

    def _files(self) -> Iterator[str]:
        """Yield the keys of all files. While a run writes, files appear and disappear."""
        for folder, _, names in os.walk(self.path):
            yield from (os.path.relpath(os.path.join(folder, name), self.path) for name in names)

    def modified(self, key: str) -> datetime | None:
        status = self._status(key)
        return datetime.fromtimestamp(status.st_mtime).astimezone() if status else None

    def identity(self, key: str) -> tuple[object, ...]:
        """Return the device, the inode and the modification time of the file."""
        status = self._status(key)
        return (status.st_dev, status.st_ino, status.st_mtime_ns) if status else ()

    @_waits("read")
    def _status(self, key: str = "") -> os.stat_result | None:
        return status_in(self.path, key) if key else status_of(self.path)

    @contextmanager
    def staged(self, overwrite: bool = False) -> Iterator["DirectoryStorage"]:
        self.lock.check()
        staging = DirectoryStorage(self.waits.call_unchanged("write", self.address, partial(create_staging, self.path)))
        staging.lock, staging.waits = self.lock, self.waits
        try:
            yield staging
            self.lock.check()
            self.waits.call_unchanged("write", self.address, partial(publish, staging.path, self.path, overwrite))
        except BaseException:
            with suppress(StoreError):  # another run may have taken over the lock, and be creating its own store there
                self.lock.check()
                remove = partial(shutil.rmtree, staging.path, ignore_errors=True)
                self.waits.call_unchanged("delete", staging.address, remove)
            raise

    def has_leftovers(self) -> bool:
        return not self.exists() and bool(leftovers(self.path))

    def remove(self, first: Callable[[], int] = lambda: 0) -> int:
        self.lock.check()
        freed = self.size() + sum(DirectoryStorage(one).size() for one in leftovers(self.path))
        try:
            check_own(self.path)
            freed += first()
            remove(self.path)
        except StoreError:
            raise
        except OSError as error:
            raise StoreError(f"cannot remove {error.filename or self.path}: {error.strerror or error}") from error
        return freed

    @property
    def is_link(self) -> bool:
        return self.path.is_symlink()

    @_waits("delete")
    def remove_link(self) -> bool:
        if self.is_link:
            with self.writing():
                self.path.unlink()
            return True
        return False

    @_waits("delete")
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
                    raise StoreError(f"cannot write {self.path}: {path} is a link, but must be a folder")

    @_waits("write")
    def sync(self, folder: str) -> None:
        last = self.path / folder
        parents = last.relative_to(self.path).parents
        for path in (last / "c", last, *(self.path / parent for parent in parents)):
            if path.is_dir():
                sync(path)

    @_waits("write")
    def probe(self) -> None:
        path = self.path / f".probe.{uuid.uuid4().hex}{PARTIAL}"
        with self.writing():
            replace_file(path, [b"probe"])
            path.unlink()
