"""Stores in the file system: a directory of files, each on the disk before it has its name; a lock file beside it."""

import asyncio
import fcntl
import os
import shutil
import stat
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Self

from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype
from zarr.storage import LocalStore

from antipodes.regular_file import open_descriptor, open_file
from antipodes.storage.backend import GROUP, MANIFEST, MOST_METADATA, Content, Storage, TooLargeError, Version
from antipodes.storage.files import (
    NOTHING_THERE,
    PARTIAL,
    create_staging,
    leftovers,
    names_in,
    open_in,
    publish,
    remove,
    remove_file,
    replace_file,
    restore,
    status_in,
    status_of,
    sync,
    sync_files,
)
from antipodes.storage.lock import (
    MOST_BYTES,
    Holder,
    Owner,
    StoreLock,
    check_owner,
    format_owner,
    in_use,
    parse_owner,
    this_process,
)
from antipodes_tasks.errors import InputError, NotAStoreError, StoreError
from antipodes_tasks.quoting import quote

PROBE_PAUSES = (0.01, 0.05, 0.1)
"""Seconds to wait for a lock before it counts as held: a reader asks for a moment whether it is."""


class DurableStore(LocalStore):
    """Zarr's store in the file system; each file is on the disk before it has its name."""

    def __init__(
        self,
        store: Path,
        folder: str,
        *,
        read_only: bool,
        check: Callable[[], None],
        most: int,
        check_chunk: Callable[[Content], None],
    ) -> None:
        super().__init__(store / folder, read_only=read_only)
        self._store, self._folder = store, folder
        self._check = check
        self._most = most
        self._check_chunk = check_chunk

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """The content of a key, None without any; TooLargeError for more than was written."""
        return await asyncio.to_thread(self.get_sync, key, prototype=prototype, byte_range=byte_range)

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """As `get`; newer versions of zarr call this one alone."""
        assert byte_range is None, "chunks are read whole"
        try:
            content = read_in(self._store, f"{self._folder}/{key}" if self._folder else key, self._most)
        except FileNotFoundError:
            return None
        if key != GROUP:
            self._check_chunk(content)
        return (prototype or default_buffer_prototype()).buffer.from_bytes(content)

    async def set(self, key: str, value: Buffer) -> None:
        """Put a value at a key."""
        await asyncio.to_thread(self.set_sync, key, value)

    def set_sync(self, key: str, value: Buffer) -> None:
        """Put a value at a key; newer versions of zarr call this one alone."""
        replace_file(self.root / key, [value.as_buffer_like()], self._check)


@contextmanager
def reading_in(store: Path, key: str) -> Iterator[BinaryIO]:
    """Open the file of a key of a store to be read in the block; raises as `open_in`, and StoreError if it fails."""
    try:
        with open(open_in(store, key), "rb") as file:
            yield file
    except (FileNotFoundError, StoreError):
        raise
    except OSError as error:
        raise StoreError(f"cannot read {store / key}: {error.strerror or error}") from error


def read_in(store: Path, key: str, most: int) -> bytes:
    """Read the file of a key of a store; raises as `reading_in`, and TooLargeError for more than ``most`` bytes."""
    with reading_in(store, key) as file:
        content = file.read(most + 1) if (size := os.fstat(file.fileno()).st_size) <= most else b""
    if (size := max(size, len(content))) > most:
        raise TooLargeError.of(str(store / key), most, size)
    return content


class DirectoryStorage(Storage):
    """A directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.address = str(path)
        self.lock = FileLock(path)

    @classmethod
    def within(cls, directory: Path) -> list["DirectoryStorage"]:
        """See `antipodes.storage.address.storages_in`."""
        if not directory.is_dir():
            found = "something else" if directory.exists() else "nothing"
            raise InputError(f"expected a directory of stores, found {found} at {directory}")
        if (directory / MANIFEST).exists():
            return [cls(directory)]
        return [cls(path) for path in sorted(directory.iterdir()) if path.is_dir() and not path.name.startswith(".")]

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process may have another working directory, so the copy has the absolute path."""
        return DirectoryStorage, (Path(os.path.abspath(self.path)),)

    def name_of(self, key: str) -> str:
        return str(self.path / key)

    def exists(self) -> bool:
        return status_of(self.path) is not None

    def has(self, key: str) -> bool:
        status = status_in(self.path, key)
        return status is not None and stat.S_ISREG(status.st_mode)

    def read(self, key: str, most: int) -> tuple[bytes, Version]:
        return read_in(self.path, key, most), {}

    def read_range(self, key: str, first: int, count: int) -> bytes:
        with reading_in(self.path, key) as file:
            file.seek(first)
            return file.read(count)

    def replace(self, key: str, content: bytes, version: Version | None) -> Version:
        """Replace the file in any case: files have no versions."""
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
        with suppress(OSError):
            remove_file(self.path / folder)

    def delete_keys(self, keys: Iterable[str]) -> None:
        self.lock.check()
        with self.writing():
            for key in keys:
                remove_file(self.path / key)

    def folders(self, folder: str) -> list[str]:
        return names_in(self.path, folder)

    def sizes(self, folder: str) -> dict[str, int]:
        keys = [f"{folder}/{name}" for name in self.folders(folder) if not name.endswith(PARTIAL)]
        found = {key: status_in(self.path, key) for key in keys}
        return {key: status.st_size for key, status in found.items() if status and stat.S_ISREG(status.st_mode)}

    def size(self) -> int:
        """The bytes of all files that are there when they are looked at; links count as themselves."""
        return sum(status.st_size for file in self._files() if (status := status_in(self.path, file)))

    def free_bytes(self) -> int | None:
        """Those of the disk of the nearest folder that is there."""
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
        status = status_in(self.path, key)
        return datetime.fromtimestamp(status.st_mtime).astimezone() if status else None

    def identity(self, key: str) -> tuple[object, ...]:
        """The device, the inode and the date of the file."""
        status = status_in(self.path, key)
        return (status.st_dev, status.st_ino, status.st_mtime_ns) if status else ()

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

    @property
    def is_link(self) -> bool:
        return self.path.is_symlink()

    def remove_link(self) -> None:
        with self.writing():
            self.path.unlink()

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
        return status_in(self.path, key) is None

    def arrays(
        self,
        folder: str = "",
        read_only: bool = False,
        token: str | None = None,
        most: int = MOST_METADATA,
        check_chunk: Callable[[Content], None] = lambda chunk: None,
    ) -> DurableStore:
        check = self.lock.fence(token)
        return DurableStore(self.path, folder, read_only=read_only, check=check, most=most, check_chunk=check_chunk)


class FileLock(StoreLock):
    """The lock file of a store, ``<store>.lock``; the system releases it when the process ends, however it ends."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._descriptor = -1
        """The open lock file, while it is locked here."""
        self._owner: Owner = {}

    @property
    def path(self) -> Path:
        """The path of the lock file; NotAStoreError where no store can have the path."""
        store = self._store
        if not store.name:
            raise NotAStoreError(f"expected the path of a store, found {quote(str(store))}")
        try:
            place = store.resolve()  # two names of one store have one lock
            circular = os.path.islink(place)  # newer versions of Python leave such a link as it is
        except RuntimeError:
            circular = True
        if circular:
            raise NotAStoreError(f"expected the path of a store, found a link to itself: {quote(str(store))}")
        return place.with_name(place.name + ".lock")

    def check_token(self, token: str) -> None:
        path = self.path
        try:
            owner = _owner(path)
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror or error}") from error
        check_owner(self._store, owner, token)

    def holder(self) -> Holder | None:
        """The system knows whether the file is locked: the reader shares the lock for a moment, where no run has it."""
        try:
            descriptor = open_descriptor(self.path, links=False)
        except OSError:  # there is none, or it is another user's secret
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return Holder(_readable_owner(self.path), alive=True)
        except OSError:  # a file system without locks
            return None
        finally:
            os.close(descriptor)
        return None

    @contextmanager
    def hold(self) -> Iterator[Self]:
        path = self.path
        descriptor = _acquire(path, self._store)
        try:
            self._descriptor, self._owner = descriptor, this_process()
            self.rotate_token()
            restore(self._store)
            yield self
        finally:
            self.token = ""
            try:
                with suppress(OSError):  # a file that is left behind locks nothing
                    if _is_at(descriptor, path):  # else it was removed by hand, and this one is another run's
                        path.unlink(missing_ok=True)
            finally:  # also after Ctrl-C
                os.close(descriptor)

    def rotate_token(self) -> None:
        """Write another fencing token into the file.

        The new text replaces the old one in one call and is never shorter, so no reader finds a half of each. It is
        synced because the file stays open: other hosts, which share the directory, would read the old text for long.
        """
        token = uuid.uuid4().hex
        owner = {**self._owner, "token": token}
        try:
            os.ftruncate(self._descriptor, os.pwrite(self._descriptor, format_owner(owner), 0))
            os.fsync(self._descriptor)
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror or error}") from error
        self.token = token


def _acquire(path: Path, store: Path) -> int:
    """The descriptor of the lock file, locked."""
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = _created(path)
        except OSError as error:
            raise StoreError(f"cannot create {path}: {error.strerror or error}") from error
        try:
            _lock(descriptor)
            if _is_at(descriptor, path):
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            raise in_use(store, _readable_owner(path)) from error
        except OSError as error:  # for example of a file system without locks
            os.close(descriptor)
            raise StoreError(f"cannot lock {path}: {error.strerror}") from error
        os.close(descriptor)  # its last owner removed it between the two calls


def _created(path: Path) -> int:
    """The descriptor of the lock file, which is created if it is not there; raises as `open_descriptor`."""
    with suppress(FileExistsError):
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    return open_descriptor(path, os.O_RDWR, links=False)


def _lock(descriptor: int) -> None:
    """Lock an open file; BlockingIOError where it is locked for longer than a reader needs."""
    for pause in PROBE_PAUSES:
        with suppress(BlockingIOError):
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        time.sleep(pause)
    return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _owner(path: Path) -> Owner:
    """The owner that the lock file names; empty where there is no file, or it is not understood."""
    try:
        with open_file(path, links=False) as file:
            return parse_owner(file.read(MOST_BYTES + 1))
    except FileNotFoundError:
        return {}


def _readable_owner(path: Path) -> Owner:
    """As `_owner`, and empty where the file cannot be read."""
    try:
        return _owner(path)
    except OSError:
        return {}
