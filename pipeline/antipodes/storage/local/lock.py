"""One run a store in the file system: a lock file beside it, held through the operating system."""

import fcntl
import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from antipodes.errors import NotAStoreError, StoreError
from antipodes.quoting import quote
from antipodes.storage.backend import LockHandle
from antipodes.storage.lock_owner import Signature, check_bears, in_use, serialised, signature_from


class FileHold:
    """A lock file that is held."""

    def __init__(self, descriptor: int, store: Path) -> None:
        self._descriptor = descriptor
        self._store = store
        self._path = lock_path(store)
        self._token = ""
        self.rotate_token()

    @property
    def token(self) -> str:
        """What the file bears now."""
        return self._token

    def rotate_token(self) -> None:
        """Write another token into the file.

        The new text goes over the old one in one call and is never shorter, so that no reader finds half of it. It is
        synced since the file stays open: on other hosts, which share a directory, the old one would be read for long.
        """
        token = uuid.uuid4().hex
        signature = {"process": os.getpid(), "host": socket.gethostname(), "token": token}
        try:
            os.ftruncate(self._descriptor, os.pwrite(self._descriptor, serialised(signature), 0))
            os.fsync(self._descriptor)
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror or error}") from error
        self._token = token

    def confirm(self) -> None:
        """Raise StoreLockedError unless the file is still this one."""
        check_token(self._store, self._token)


@contextmanager
def lock(store: Path) -> Iterator[LockHandle]:
    """LockHandle ``<store>.lock``; the system lets go of it when the process ends, however it ends.

    Raises
    ------
    StoreLockedError
        Another process holds it.
    """
    path = lock_path(store)
    descriptor = _acquire(path, store)
    try:
        yield FileHold(descriptor, store)
    finally:
        with suppress(OSError):  # a file that is left behind locks nothing
            if _is_at(descriptor, path):  # else somebody removed it, and it is another run's
                path.unlink(missing_ok=True)
        os.close(descriptor)


def lock_path(store: Path) -> Path:
    """Where the lock of a store lies; NotAStoreError where the path cannot be that of a store."""
    if not store.name:
        raise NotAStoreError(f"expected the path of a store, found {quote(str(store))}")
    try:
        place = store.resolve()  # of two names of one store, too, one is refused
        itself = os.path.islink(place)  # as newer versions of Python leave it
    except RuntimeError:
        itself = True
    if itself:
        raise NotAStoreError(f"expected the path of a store, found a link to itself: {quote(str(store))}")
    return place.with_name(place.name + ".lock")


def check_token(store: Path, token: str) -> None:
    """Raise StoreLockedError unless the lock of a store bears the token; StoreError where that cannot be told."""
    path = lock_path(store)
    try:
        signature = _signature(path)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error
    check_bears(store, signature, token)


def _acquire(path: Path, store: Path) -> int:
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StoreError(f"cannot create {path}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(descriptor, path):
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            raise in_use(store, _holder(path)) from error
        except OSError as error:  # of a file system without locks, for example
            os.close(descriptor)
            raise StoreError(f"cannot lock {path}: {error.strerror}") from error
        os.close(descriptor)  # its last holder removed it between our two calls


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _signature(path: Path) -> Signature:
    """What the holder wrote into the lock file; nothing where there is none, or it is not to be understood."""
    try:
        return signature_from(path.read_bytes())
    except FileNotFoundError:
        return {}


def _holder(path: Path) -> Signature:
    """As `_signature`, and nothing where the file cannot be read."""
    try:
        return _signature(path)
    except OSError:
        return {}
