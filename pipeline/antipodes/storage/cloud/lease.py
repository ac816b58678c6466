"""One run a store in object storage: an object beside it, which its holder refreshes as long as it lives.

No server lets go of it when the holder dies. So it says who holds it: where that was a process of this very machine
that is gone, it is taken over at once; else when it was not refreshed for a while by the server's clock, which is the
only one that is asked. Of those who would take it over, conditional puts let one succeed.
"""

import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Literal

from antipodes.errors import StoreError, StoreLockedError
from antipodes.storage.backend import LockHandle, Version
from antipodes.storage.cloud.bucket import Bucket, Changed, Meta, version_of
from antipodes.storage.lock_owner import Signature, check_bears, in_use, serialised, signature_from, taken_over

REFRESH_EVERY = 10.0
"""Seconds between two refreshes."""
STALE_AFTER = 60.0
"""Seconds without a refresh after which another run may take the lock over."""
SURE_FOR = 15.0
"""Seconds after a refresh in which a request may begin that must end while nobody else can hold the lock.

With the request's own timeout they are less than STALE_AFTER.
"""
TRIES = 5
"""Attempts while others acquire or release the lock at the same moment, or while the server is slow."""
CLOCKS_LAST = 3600.0
"""Seconds after which an object that the server's time was read off was left by a run that died."""

_left_behind: set[str] = set()
"""Tokens of the locks that this process let go of but could not delete, since the server did not answer."""


class LeaseHandle:
    """A lock object that is held, and refreshed by a thread."""

    def __init__(
        self, bucket: Bucket, key: str, address: str, signature: Signature, version: Version, begun: float
    ) -> None:
        self._bucket, self._key, self._address = bucket, key, address
        self._signature, self._version = signature, version
        self._tokens = {self.token}  # all that were put, or may have been
        self._refreshed = begun
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._refresh_always, name=f"lock of {address}", daemon=True)
        self._thread.start()

    @property
    def token(self) -> str:
        """What the lock bears now."""
        return str(self._signature["token"])

    def rotate_token(self) -> None:
        """Put another token into the lock."""
        self._put(token=uuid.uuid4().hex)

    def confirm(self) -> None:
        """Refresh the lock unless that was done a moment ago; what it bears is looked at in any case."""
        for _ in range(TRIES):
            if _elapsed() - self._refreshed > REFRESH_EVERY:
                self._put()
            else:
                check_token(self._bucket, self._key, self._address, self.token)
            if _elapsed() - self._refreshed <= SURE_FOR:
                return
        raise StoreError(f"cannot refresh the lock of {self._address} in time: the server is too slow")

    def release(self) -> None:
        """Delete the lock, but only while nobody else can hold it: else it is left to become stale."""
        self._ended.set()
        try:
            self._bucket.delete([self._key], self.confirm)
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
            for _ in range(TRIES):
                signature = {**self._signature, **changes, "beat": self._signature["beat"] + 1}
                self._tokens.add(signature["token"])
                begun = _elapsed()
                try:
                    self._version = self._bucket.put(self._key, serialised(signature), self._version)
                except Changed:
                    self._adopt()
                    continue
                self._signature, self._refreshed = signature, begun
                return
        raise StoreError(f"cannot write the lock of {self._address}: it changes all the time")

    def _adopt(self) -> None:
        """Go on from what is there if we put it: a put may be obeyed, though it was given up as failed."""
        found, meta = _read(self._bucket, self._key)
        if meta is None or found.get("token") not in self._tokens:
            raise taken_over(self._address, found)
        self._signature = {**self._signature, "beat": found["beat"]}
        self._version = version_of(meta)


@contextmanager
def lease(bucket: Bucket, key: str, address: str) -> Iterator[LockHandle]:
    """LockHandle the lock object of the store at an address.

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
    check_bears(address, _read(bucket, key)[0], token)


def _acquire(bucket: Bucket, key: str, address: str) -> LeaseHandle:
    signature = {**_this_process(), "token": uuid.uuid4().hex, "beat": 0}
    found: Signature = {}
    for _ in range(TRIES):
        found, meta = _read(bucket, key)
        now = _server_time(bucket, f"{_clocks(key)}/{uuid.uuid4().hex}", address)
        abandoned = _is_dead(found) or found.get("token") in _left_behind
        if meta and not abandoned and (now - meta["last_modified"]).total_seconds() <= STALE_AFTER:
            break
        _clear_clocks(bucket, _clocks(key), now)
        begun = _elapsed()
        with suppress(Changed):
            version = bucket.put(key, serialised(signature), version_of(meta) if meta else "create")
            return LeaseHandle(bucket, key, address, signature, version, begun)
    raise in_use(address, found)


def _clocks(key: str) -> str:
    """The folder of the objects that the server's time is read off: for a lock NAME.lock, it is NAME.clock."""
    return f"{key.removesuffix('.lock')}.clock"


def _clear_clocks(bucket: Bucket, folder: str, now: datetime) -> None:
    """Delete those that runs which died have left; that it fails is no reason to do nothing else."""
    with suppress(StoreError):
        found = bucket.list(folder)
        if old := [key for key in found if (now - found[key]["last_modified"]).total_seconds() > CLOCKS_LAST]:
            bucket.delete(old)


def _server_time(bucket: Bucket, key: str, address: str) -> datetime:
    """The server's time, by an object that is put and deleted; StoreError unless it obeys conditions."""
    gone = StoreError(f"cannot lock {address}: the server does not show what was just put there")
    try:
        first = bucket.put(key, b"1", "create")
        bucket.put(key, b"2", first)
        if _is_put(bucket, key, "create") or _is_put(bucket, key, first):
            raise StoreError(f"cannot lock {address}: the server does not support conditional writes")
        meta = bucket.head(key)
        if meta is None:
            raise gone
        now: datetime = meta["last_modified"]
        return now
    except Changed:
        raise gone from None
    finally:
        bucket.delete([key])


def _is_put(bucket: Bucket, key: str, unmet: Literal["create"] | Version) -> bool:
    """Whether the server puts an object under a condition that is not met."""
    try:
        bucket.put(key, b"3", unmet)
    except Changed:
        return False
    return True


def _read(bucket: Bucket, key: str) -> tuple[Signature, Meta | None]:
    """What a lock says, which is nothing if it is not to be understood, and what the storage says about it."""
    try:
        content, meta = bucket.get(key)
    except FileNotFoundError:
        return {}, None
    return signature_from(content), meta


def _elapsed() -> float:
    """Seconds that go on while the machine is suspended, where the system has such a clock."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


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
        number = int(signature["process"])
        process = psutil.Process(number)
        alive = process.status() != psutil.STATUS_ZOMBIE
        return not alive or abs(process.create_time() - float(signature["started"])) > 2
    except psutil.NoSuchProcess:
        return _is_free(number)
    except (psutil.Error, KeyError, ValueError, TypeError):
        return False


def _is_free(number: int) -> bool:
    """Whether no process has this number; those of other users may be hidden (mount option hidepid)."""
    try:
        os.kill(number, 0)
    except (OSError, OverflowError) as error:
        return not isinstance(error, PermissionError)
    return False
