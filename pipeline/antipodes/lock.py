"""One run a store: a lock file beside it, held through the operating system."""

import fcntl
import json
import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from antipodes.errors import NotAStoreError, StoreError, StoreLockedError


class Hold(Protocol):
    """A lock that is held."""

    token: str
    """What the lock bears now; whoever writes with an older one was given up for lost, and is refused."""

    def renew(self) -> str:
        """Give the lock another token, and return it: from now on no writer with the old one gets through."""


class FileHold:
    """A lock file that is held."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path
        self.token = self.renew()

    def renew(self) -> str:
        """Write another token into the file.

        The new text goes over the old one in one call and is never shorter, so that no reader finds half of it.
        """
        token = uuid.uuid4().hex
        signature = {"process": os.getpid(), "host": socket.gethostname(), "token": token}
        try:
            os.ftruncate(self._descriptor, os.pwrite(self._descriptor, json.dumps(signature).encode(), 0))
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror or error}") from error
        self.token = token
        return token


@contextmanager
def lock(store: Path) -> Iterator[FileHold]:
    """Hold ``<store>.lock``; the system lets go of it when the process ends, however it ends.

    Raises
    ------
    StoreLockedError
        Another process holds it.
    """
    path = lock_path(store)
    descriptor = _acquire(path, store)
    try:
        yield FileHold(descriptor, path)
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def lock_path(store: Path) -> Path:
    """Where the lock of a store lies; NotAStoreError where the path cannot be that of a store."""
    if not store.name:
        raise NotAStoreError(f"expected the path of a store, found {str(store)!r}")
    place = store.resolve()  # of two names of one store, too, one is refused
    return place.with_name(place.name + ".lock")


def bears(store: Path, token: str) -> bool:
    """Whether the lock of a store bears the token."""
    try:
        return bool(json.loads(lock_path(store).read_bytes())["token"] == token)
    except FileNotFoundError:
        return False
    except (ValueError, KeyError, TypeError):
        return False


def _acquire(path: Path, store: Path) -> int:
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StoreError(f"cannot create {path}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise StoreLockedError(f"{store} is in use by {_holder(path)}; wait for it, or stop it") from error
        if _is_at(descriptor, path):
            return descriptor
        os.close(descriptor)  # its last holder removed it between our two calls


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _holder(path: Path) -> str:
    try:
        holder = json.loads(path.read_text())
        return f"process {holder['process']} on {holder['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
