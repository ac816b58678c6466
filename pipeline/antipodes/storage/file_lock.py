"""The lock file of a store in the file system. The operating system releases the lock when the process ends."""

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Self

from antipodes.storage.files import resolved, restore
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
from antipodes.system.file_errors import file_errors
from antipodes_tasks.base.errors import NotAStoreError, StoreError, StoreSilentError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.base.regular_file import lock_soon, open_descriptor, open_file

PROBE_PAUSES = (0.01, 0.05, 0.1)
"""Pauses in seconds between attempts to lock. One attempt is not enough, because readers briefly share the lock."""


class FileLock(StoreLock):
    """The lock file of a store, ``<store>.lock``. The system releases it however the process ends."""

    def __init__(self, store: Path, waits: RetryPolicy) -> None:
        self._store = store
        self._waits = waits
        self._descriptor = -1
        """Descriptor of the open lock file while this object holds the lock, else -1."""
        self._owner: Owner = {}

    @property
    def path(self) -> Path:
        """The path of the lock file. Raises NotAStoreError if no store can have the path."""
        store = self._store
        if not store.name:
            raise NotAStoreError(f"not the path of a store: {quote(str(store))}")
        place = resolved(store)  # all names of one store share one lock
        return place.with_name(place.name + ".lock")

    def check_token(self, token: str) -> None:
        self._waits.call_unchanged("read", f"{self._store}.lock", partial(self._check_token, token))

    def _check_token(self, token: str) -> None:
        path = self.path
        with file_errors("read", path):
            owner = _owner(path)
        check_owner(self._store, owner, token)

    def holder(self) -> Holder | None:
        """Return the holder. To test whether the file is locked, this method tries to share the lock for a moment."""
        try:
            descriptor = open_descriptor(self.path, links=False)
        except OSError:  # there is no lock file, or another user's that cannot be read
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
            with suppress(StoreSilentError):  # the call continues in its thread as long as this process lives
                self._waits.call_unchanged("delete", str(path), partial(_release, descriptor, path), must=True)

    def _acquire(self) -> tuple[Path, int]:
        """Lock the lock file; return its path and its descriptor."""
        path = self.path
        return path, _acquire(path, self._store)

    def rotate_token(self) -> None:
        self._waits.call_unchanged("write", f"{self._store}.lock", self._rotate_token)

    def _rotate_token(self) -> None:
        """Write a new fencing token into the file.

        The new text replaces the old text in one call and is never shorter, so readers never see a mixture. The file is
        not closed afterwards, so it is synced explicitly: otherwise other hosts that share the directory might see the
        old text for a long time.
        """
        token = uuid.uuid4().hex
        owner = {**self._owner, "token": token}
        with file_errors("write", self.path):
            os.ftruncate(self._descriptor, os.pwrite(self._descriptor, format_owner(owner), 0))
            os.fsync(self._descriptor)
        self.token = token


def _release(descriptor: int, path: Path) -> None:
    """Remove the lock file, then close it, which releases the lock."""
    try:
        with suppress(OSError):  # a lock file that is left behind locks nothing
            if _is_at(descriptor, path):  # otherwise it was removed by hand, and the file there is another run's
                path.unlink(missing_ok=True)
    finally:  # also after Ctrl-C
        os.close(descriptor)


def _acquire(path: Path, store: Path) -> int:
    """Lock the lock file; return its descriptor."""
    while True:
        with file_errors("create", path):
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = _created(path)
        try:
            lock_soon(descriptor, PROBE_PAUSES)
            if _is_at(descriptor, path):
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            raise in_use(store, _readable_owner(path)) from error
        except OSError as error:  # for example on a file system without locks
            os.close(descriptor)
            raise StoreError(f"cannot lock {path}: {error.strerror}") from error
        os.close(descriptor)  # the previous owner removed the file between the two calls


def _created(path: Path) -> int:
    """Open the lock file, creating it if necessary; return its descriptor. Raises the errors of `open_descriptor`."""
    with suppress(FileExistsError):
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    return open_descriptor(path, os.O_RDWR, links=False)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _owner(path: Path) -> Owner:
    """Return the owner named in the lock file. Empty if there is no file or its content is not valid."""
    try:
        with open_file(path, links=False) as file:
            return parse_owner(file.read(MAX_BYTES + 1))
    except FileNotFoundError:
        return {}


def _readable_owner(path: Path) -> Owner:
    """Return the owner named in the lock file. Empty also if the file cannot be read."""
    try:
        return _owner(path)
    except OSError:
        return {}
