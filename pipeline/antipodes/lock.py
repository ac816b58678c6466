"""One run a store: a lock file beside it, held through the operating system."""

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from antipodes.errors import NotAStoreError, StoreError, StoreLockedError


@contextmanager
def lock(store: Path) -> Iterator[None]:
    """Hold ``<store>.lock``; the system lets go of it when the process ends, however it ends.

    Raises
    ------
    StoreLockedError
        Another process holds it.
    """
    if not store.name:
        raise NotAStoreError(f"expected the path of a store, found {str(store)!r}")
    place = store.resolve()  # of two names of one store, too, one is refused
    path = place.with_name(place.name + ".lock")
    descriptor = _acquire(path, store)
    try:
        _sign(descriptor)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


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


def _sign(descriptor: int) -> None:
    """Say who holds the lock; on a full disk nobody does, and the lock holds all the same."""
    with suppress(OSError):
        os.truncate(descriptor, 0)
        os.write(descriptor, json.dumps({"process": os.getpid(), "host": socket.gethostname()}).encode())


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
