"""One run a store in object storage: an object beside it, which its holder refreshes as long as it lives.

No server lets go of it when the holder dies. So it says who holds it: where that was a process of this very machine
that is gone, it is taken over at once; else when it was not refreshed for a while by the server's clock, which is the
only one that is asked. Of those who would take it over, conditional puts let one succeed.
"""

import json
import os
import socket
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from antipodes.errors import StoreError, StoreLockedError
from antipodes.storage.client import Bucket, Changed, version_of
from antipodes.storage.storage import Hold, Version

REFRESH_EVERY = 10.0
"""Seconds between two refreshes."""
STALE_AFTER = 60.0
"""Seconds without a refresh after which another run may take the lock over."""
ACQUIRE_TRIES = 5
"""Attempts while others acquire or release the lock at the same moment."""

_left_behind: set[str] = set()
"""Tokens of the locks that this process let go of but could not delete, since the server did not answer."""

Signature = Mapping[str, Any]
"""Who holds a lock: ``process``, ``host``, ``machine``, ``started``; its ``token``; ``beat``, a count of refreshes."""


class LeaseHold:
    """A lock object that is held, and refreshed by a thread."""

    def __init__(self, bucket: Bucket, key: str, address: str, signature: Signature, version: Version) -> None:
        self._bucket, self._key, self._address = bucket, key, address
        self._signature, self._version = dict(signature), version
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._refresh_always, name=f"lock of {address}", daemon=True)
        self._thread.start()

    @property
    def token(self) -> str:
        """What the lock bears now."""
        return str(self._signature["token"])

    def renew(self) -> str:
        """Put another token into the lock."""
        self._put(token=uuid.uuid4().hex)
        return self.token

    def release(self) -> None:
        """Delete the lock if it is still this one.

        It is refreshed right before, which fails if it is another's, and keeps others off until it is deleted.
        """
        self._ended.set()
        try:
            self._put()
            self._bucket.delete([self._key])
        except StoreError:  # what was committed is safe; this process may lock again, others when the lock is stale
            _left_behind.add(self.token)

    def _refresh_always(self) -> None:
        while not self._ended.wait(REFRESH_EVERY):
            try:
                self._put()
            except StoreLockedError:
                return  # who goes on to write finds out by the token
            except StoreError:
                continue  # the server may come back before another run takes the lock over

    def _put(self, **changes: str) -> None:
        with self._writing:
            signature = {**self._signature, **changes, "beat": self._signature["beat"] + 1}
            try:
                self._version = self._bucket.put(self._key, _serialised(signature), self._version)
            except Changed:
                raise _taken_over(self._bucket, self._key, self._address) from None
            self._signature = signature


@contextmanager
def lease(bucket: Bucket, key: str, address: str) -> Iterator[Hold]:
    """Hold the lock object of the store at an address.

    Raises
    ------
    StoreLockedError
        Another process holds it.
    StoreError
        The server does not obey conditions, so that no lock can be held there.
    """
    hold = _acquire(bucket, key, address)
    try:
        yield hold
    finally:
        hold.release()


def check_token(bucket: Bucket, key: str, address: str, token: str) -> None:
    """Raise StoreLockedError unless the lock of the store at an address bears the token."""
    if _read(bucket, key)[0].get("token") != token:
        raise _taken_over(bucket, key, address)


def _acquire(bucket: Bucket, key: str, address: str) -> LeaseHold:
    signature = {**_this_process(), "token": uuid.uuid4().hex, "beat": 0}
    found: Signature = {}
    for _ in range(ACQUIRE_TRIES):
        found, meta = _read(bucket, key)
        now = _server_time(bucket, f"{key}.{uuid.uuid4().hex}", address)
        abandoned = _is_dead(found) or found.get("token") in _left_behind
        if meta and not abandoned and (now - meta["last_modified"]).total_seconds() <= STALE_AFTER:
            break
        with suppress(Changed):
            version = bucket.put(key, _serialised(signature), version_of(meta) if meta else "create")
            return LeaseHold(bucket, key, address, signature, version)
    raise StoreLockedError(f"{address} is in use by {_holder(found)}; wait for it, or stop it")


def _server_time(bucket: Bucket, key: str, address: str) -> datetime:
    """The server's time, by an object that is put and deleted; StoreError unless it obeys conditions."""
    try:
        first = bucket.put(key, b"1", "create")
        bucket.put(key, b"2", first)
        if _is_put(bucket, key, "create") or _is_put(bucket, key, first):
            raise StoreError(f"cannot lock {address}: the server does not support conditional writes")
        meta = bucket.head(key)
        assert meta is not None, "nobody else knows the key"
        now: datetime = meta["last_modified"]
        return now
    finally:
        bucket.delete([key])


def _is_put(bucket: Bucket, key: str, unmet: Literal["create"] | Version) -> bool:
    """Whether the server puts an object under a condition that is not met."""
    try:
        bucket.put(key, b"3", unmet)
    except Changed:
        return False
    return True


def _read(bucket: Bucket, key: str) -> tuple[Signature, dict[str, Any] | None]:
    """What a lock says, which is nothing if it is not to be understood, and what the storage says about it."""
    try:
        content, meta = bucket.get(key)
    except FileNotFoundError:
        return {}, None
    try:
        signature = json.loads(content)
    except ValueError:
        return {}, meta
    return signature if isinstance(signature, dict) else {}, meta


def _taken_over(bucket: Bucket, key: str, address: str) -> StoreLockedError:
    return StoreLockedError(f"{address} was taken over by {_holder(_read(bucket, key)[0])}; not written")


def _holder(signature: Signature) -> str:
    if "process" in signature and "host" in signature:
        return f"process {signature['process']} on {signature['host']}"
    return "another process"


def _serialised(signature: Signature) -> bytes:
    return json.dumps(signature).encode()


def _this_process() -> Signature:
    import psutil

    started = psutil.Process().create_time()
    return {"process": os.getpid(), "host": socket.gethostname(), "machine": _machine(), "started": started}


def _machine() -> str:
    """What tells one boot of one machine, and one container's set of processes, from others; empty where unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _is_dead(signature: Signature) -> bool:
    """Whether the holder was a process of this machine that is gone; False where that cannot be told."""
    import psutil

    here = _machine()
    if not here or signature.get("machine") != here:
        return False
    try:
        process = psutil.Process(int(signature["process"]))
        alive = process.status() != psutil.STATUS_ZOMBIE
        return not alive or abs(process.create_time() - float(signature["started"])) > 2
    except psutil.NoSuchProcess:
        return True
    except (psutil.Error, KeyError, ValueError, TypeError):
        return False
