"""The lock file of a store in the file system, which the system releases when the process ends."""

import fcntl
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Self

from antipodes.regular_file import open_descriptor, open_file
from antipodes.storage.files import restore
from antipodes.storage.lock import (
    MAX_BYTES,
    Holder,
    Owner,
    StoreLock,
    check_owner,
    format_owner,
    in_use,
    parse_owner,
    this_process,
)
from antipodes.storage.retry import RetryPolicy
from antipodes_tasks.errors import NotAStoreError, StoreError, StoreSilentError
from antipodes_tasks.quoting import quote

PROBE_PAUSES = (0.01, 0.05, 0.1)
"""Seconds to wait for a lock before it counts as held: a reader asks for a moment whether it is."""


class FileLock(StoreLock):
    """The lock file of a store, ``<store>.lock``; the system releases it when the process ends, however it ends."""

    def __init__(self, store: Path, waits: RetryPolicy) -> None:
        self._store = store
        self._waits = waits
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
        self._waits.call_unchanged("read", f"{self._store}.lock", partial(self._check_token, token))

    def _check_token(self, token: str) -> None:
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
        path, descriptor = self._waits.call_unchanged("lock", str(self._store), self._acquire)
        try:
            self._descriptor, self._owner = descriptor, this_process()
            self.rotate_token()
            self._waits.call_unchanged("read", str(self._store), partial(restore, self._store))
            yield self
        finally:
            self.token = ""
            with suppress(StoreSilentError):  # the call goes on as long as this process lives
                self._waits.call_unchanged("delete", str(path), partial(_release, descriptor, path), must=True)

    def _acquire(self) -> tuple[Path, int]:
        """The path of the lock file, and its descriptor, which is locked."""
        path = self.path
        return path, _acquire(path, self._store)

    def rotate_token(self) -> None:
        self._waits.call_unchanged("write", f"{self._store}.lock", self._rotate_token)

    def _rotate_token(self) -> None:
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


def _release(descriptor: int, path: Path) -> None:
    """Remove the lock file, and close it, which releases the lock."""
    try:
        with suppress(OSError):  # a file that is left behind locks nothing
            if _is_at(descriptor, path):  # else it was removed by hand, and this one is another run's
                path.unlink(missing_ok=True)
    finally:  # also after Ctrl-C
        os.close(descriptor)


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
            return parse_owner(file.read(MAX_BYTES + 1))
    except FileNotFoundError:
        return {}


def _readable_owner(path: Path) -> Owner:
    """As `_owner`, and empty where the file cannot be read."""
    try:
        return _owner(path)
    except OSError:
        return {}
