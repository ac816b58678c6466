"""Stores in the file system: a directory of files, each on the disk before it has its name."""

import asyncio
import errno
import os
import shutil
import stat
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from zarr.core.buffer import Buffer
from zarr.storage import LocalStore

from antipodes.errors import StoreError, StoreLockedError
from antipodes.storage.backend import GROUP, MANIFEST, LockHandle, Storage, Version
from antipodes.storage.local.files import PARTIAL, replace_file, sync_directory
from antipodes.storage.local.lock import check_token, lock

NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
"""Errors of the system for a path at which nothing is; after any other error there may be something, unseen for now."""

STORED = {MANIFEST, GROUP, "depth", "depth.wide", "tilings", "partitions"}
"""All names directly in the directory of a store, of any kind."""


class DurableStore(LocalStore):
    """Zarr's store in the file system; each file is on the disk before it has its name."""

    def __init__(self, root: Path, *, read_only: bool = False, check: Callable[[], None] = lambda: None) -> None:
        super().__init__(root, read_only=read_only)
        self._check = check

    async def set(self, key: str, value: Buffer) -> None:
        """Put a value at a key."""
        await asyncio.to_thread(self.set_sync, key, value)

    def set_sync(self, key: str, value: Buffer) -> None:
        """Put a value at a key; newer versions of zarr call this one alone."""
        replace_file(self.root / key, value.as_buffer_like(), self._check)


class DirectoryStorage(Storage):
    """A directory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process may have another working directory, so the copy has the absolute path."""
        return DirectoryStorage, (Path(os.path.abspath(self.path)),)

    @property
    def address(self) -> str:
        return str(self.path)

    def name_of(self, key: str) -> str:
        return str(self.path / key)

    def exists(self) -> bool:
        return self._status() is not None

    def has(self, key: str) -> bool:
        status = self._status(key)
        return status is not None and stat.S_ISREG(status.st_mode)

    def read(self, key: str) -> tuple[bytes, Version]:
        if not self.has(key):
            raise FileNotFoundError(self.name_of(key))
        try:
            return (self.path / key).read_bytes(), {}
        except OSError as error:
            raise StoreError(f"cannot read {self.name_of(key)}: {error.strerror or error}") from error

    def replace(self, key: str, content: bytes, version: Version | None) -> Version:
        try:
            replace_file(self.path / key, content, self.check_lock)
        except StoreLockedError:
            raise
        except OSError as error:
            raise StoreError(f"cannot write {self.name_of(key)}: {error.strerror or error}") from error
        return {}

    def delete(self, folder: str) -> None:
        self.check_lock()
        shutil.rmtree(self.path / folder, ignore_errors=True)

    def folders(self, folder: str) -> list[str]:
        return [path.name for path in (self.path / folder).glob("*")]

    def size(self) -> int:
        return sum(status.st_size for file in self._files() if (status := self._status(file)))

    def _files(self) -> Iterator[str]:
        """The keys of all files; while a run writes, files come and go."""
        for folder, _, names in os.walk(self.path):
            yield from (os.path.relpath(os.path.join(folder, name), self.path) for name in names)

    def identity(self, key: str) -> tuple[object, ...]:
        status = self._status(key)
        return (status.st_dev, status.st_ino, status.st_mtime_ns) if status else ()

    def _status(self, key: str = "") -> os.stat_result | None:
        """The status of the file or directory at a key; None where nothing is, StoreError if the system cannot tell."""
        try:
            return os.stat(self.path / key)
        except OSError as error:
            if error.errno in NOTHING_THERE:
                return None
            raise StoreError(f"cannot read {self.name_of(key)}: {error.strerror or error}") from error

    def stage(self, overwrite: bool = False) -> "DirectoryStorage":
        self.check_lock()
        self._clear(self._removed)
        place = self.path.resolve()
        path = place.with_name(f".{place.name}.new")
        self._clear(path)
        path.mkdir(parents=True)
        staging = DirectoryStorage(path)
        staging._handle = self._handle
        return staging

    def discard(self, staging: Storage) -> None:
        assert isinstance(staging, DirectoryStorage)
        with suppress(StoreError):  # another run may have taken the lock over, and create its own store there
            self.check_lock()
            shutil.rmtree(staging.path, ignore_errors=True)

    def publish(self, staging: Storage, overwrite: bool = False) -> None:
        assert isinstance(staging, DirectoryStorage)
        place = self.path.resolve()
        self.check_lock()
        if overwrite:
            place.rename(self._removed)
        try:
            staging.path.rename(place)
        except OSError:
            if overwrite:
                self._removed.rename(place)
            raise
        sync_directory(place.parent)
        if overwrite:
            (self._removed / MANIFEST).unlink(missing_ok=True)  # first: a directory without a manifest is no store
            shutil.rmtree(self._removed, ignore_errors=True)

    def _restore(self) -> None:
        """Put the old store back if a run that was overwriting it died before the new store was in its place."""
        if not self.exists() and (self._removed / MANIFEST).is_file():
            self._removed.rename(self.path.resolve())
            sync_directory(self.path.resolve().parent)

    @property
    def _removed(self) -> Path:
        """Where an old store is moved before it is deleted: beside the store itself, not beside a link to it."""
        place = self.path.resolve()
        return place.with_name(f".{place.name}.old")

    def _clear(self, leftover: Path) -> None:
        """Delete what a crashed run left beside the store; StoreError where files of another origin are there."""
        with suppress(FileNotFoundError, NotADirectoryError):
            for name in sorted(os.listdir(leftover)):
                if name not in STORED and not name.endswith(PARTIAL):
                    raise StoreError(f"cannot write {self.address}: {leftover} is in the way, since {name} is in it")
        shutil.rmtree(leftover, ignore_errors=True)

    def remove_leftovers(self) -> None:
        self.check_lock()
        for leftover in self._files():
            if leftover.endswith(PARTIAL):
                (self.path / leftover).unlink(missing_ok=True)

    def sync(self, folder: str) -> None:
        last = self.path / folder
        parents = last.relative_to(self.path).parents
        for path in (last / "c", last, *(self.path / parent for parent in parents)):
            if path.is_dir():
                sync_directory(path)

    def probe(self) -> None:
        path = self.path / f".probe.{uuid.uuid4().hex}{PARTIAL}"
        try:
            replace_file(path, b"probe")
            path.unlink()
        except OSError as error:
            raise StoreError(f"cannot write {self.address}: {error.strerror or error}") from error

    @contextmanager
    def _lock(self) -> Iterator[LockHandle]:
        with lock(self.path) as handle:
            self._restore()
            yield handle

    def check_token(self, token: str) -> None:
        check_token(self.path, token)

    def known_missing(self, key: str) -> bool:
        return not self.has(key)

    def arrays(self, folder: str = "", read_only: bool = False, token: str | None = None) -> DurableStore:
        return DurableStore(self.path / folder, read_only=read_only, check=self.fence(token))
