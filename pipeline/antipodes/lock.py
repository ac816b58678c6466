"""One run a store in the file system: a lock file beside it, held through the operating system."""

import fcntl
import json
import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from antipodes.errors import NotAStoreError, StoreError, StoreLockedError
from antipodes.storage.storage import Hold


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
def lock(store: Path) -> Iterator[Hold]:
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


def check_token(store: Path, token: str) -> None:
    """Raise StoreLockedError unless the lock of a store bears the token."""
    path = lock_path(store)
    if _signature(path).get("token") != token:
        raise StoreLockedError(f"{store} was taken over by {_holder(path)}; not written")


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
    signature = _signature(path)
    if "process" in signature and "host" in signature:
        return f"process {signature['process']} on {signature['host']}"
    return "another process"


def _signature(path: Path) -> dict[str, Any]:
    """What the holder wrote into the lock file; nothing where there is none, or it is not to be understood."""
    try:
        signature = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return signature if isinstance(signature, dict) else {}
