"""One run a store in object storage: a lock object beside the store, a lease that its owner renews while it lives.

No server deletes the lock when its owner dies. If the owner was a process of this machine that has ended, another run
takes the lock over immediately; else it does so when the lock has not been renewed for a while by the server's clock.
If several runs try, conditional puts let one succeed. Each lock object is used to show that the server supports these.
"""

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

from antipodes.storage.backend import LockHandle, StoreLock, TooLargeError, Version
from antipodes.storage.cloud.bucket import Bucket, Changed, Meta, version_of
from antipodes.storage.lock_owner import (
    MOST_BYTES,
    Holder,
    Owner,
    check_owner,
    format_owner,
    in_use,
    is_dead,
    owning_process,
    parse_owner,
    taken_over,
)
from antipodes_tasks.errors import StoreError, StoreLockedError

HEARTBEAT_SECONDS = 10.0
"""Seconds between two renewals of a lock."""
EXPIRY_SECONDS = 60.0
"""Seconds without a renewal after which another run may take the lock over."""
SAFE_SECONDS = 15.0
"""Seconds after a renewal within which a request may start; it ends before another run can hold the lock.

With the timeout of a request they are less than EXPIRY_SECONDS.
"""
TRIES = 5
"""Attempts while other runs acquire or release the lock at the same moment, or while the server is slow."""

_undeleted: set[str] = set()
"""Fencing tokens of the locks that this process released but could not delete, since the server did not answer."""


class Lease(StoreLock):
    """The lock object of the store at an address."""

    def __init__(self, bucket: Bucket, key: str, address: str) -> None:
        self.bucket, self.key, self.address = bucket, key, address

    def check_token(self, token: str) -> None:
        check_owner(self.address, self.read()[0], token)

    def holder(self) -> Holder | None:
        """The run is alive if it renewed the lock lately by this machine's clock: nothing is put to see the server's.

        Clocks that differ by much may make a living run look dead here, and nowhere else.
        """
        owner, meta = self.read()
        if meta is None:
            return None
        age = (datetime.now(UTC) - meta["last_modified"]).total_seconds()
        ended = is_dead(owner) or owner.get("token") in _undeleted
        return Holder(owner, alive=not ended and age <= EXPIRY_SECONDS)

    def read(self) -> tuple[Owner, Meta | None]:
        """The owner, empty if not understood, and the storage's description of the lock object, if there is one."""
        try:
            content, meta = self.bucket.get(self.key, MOST_BYTES)
        except TooLargeError:
            return {}, self.bucket.head(self.key)
        except FileNotFoundError:
            return {}, None
        return parse_owner(content), meta

    @contextmanager
    def _acquired(self) -> Iterator[LockHandle]:
        handle = self._acquire()
        try:
            yield handle
        finally:
            handle.release()

    def _acquire(self) -> "LeaseHandle":
        """Put the lock object; StoreError where the server does not support conditional writes."""
        owner = {**owning_process(), "token": uuid.uuid4().hex, "beat": 0}
        found: Owner = {}
        for _ in range(TRIES):
            found, meta = self.read()
            abandoned = is_dead(found) or found.get("token") in _undeleted
            if meta and not abandoned and not self._has_expired(meta):
                break
            begun = _elapsed()
            with suppress(Changed):
                version = self.bucket.put(self.key, format_owner(owner), version_of(meta) if meta else "create")
                return self._proved(owner, version, begun)
        raise in_use(self.address, found)

    def _has_expired(self, meta: Meta) -> bool:
        """Whether a lock has not been renewed for long, by the server's clock, the only one that tells its age."""
        renewed: datetime = meta["last_modified"]
        return (server_time(self.bucket, self.clock_key) - renewed).total_seconds() > EXPIRY_SECONDS

    @property
    def clock_key(self) -> str:
        """The key of the object that shows the server's time; of one name, so that killed runs leave one at most."""
        return f"{self.key}.time"

    def _proved(self, owner: Owner, version: Version, begun: float) -> "LeaseHandle":
        """Renew the lock that was just put, and show that no other condition could; after an error it is deleted.

        Raises
        ------
        StoreError
            The server puts objects though a condition is not met.
        """
        try:
            renewed = {**owner, "beat": 1}
            newer = self.bucket.put(self.key, format_owner(renewed), version)
            if any(self._is_put({**owner, "beat": 2}, unmet) for unmet in ("create", version)):
                raise StoreError(f"cannot lock {self.address}: the server does not support conditional writes")
        except BaseException:
            _undeleted.add(owner["token"])
            with suppress(StoreError):
                self.bucket.delete([self.key], partial(self.check_token, owner["token"]))
            raise
        return LeaseHandle(self, renewed, newer, begun)

    def _is_put(self, owner: Owner, unmet: Any) -> bool:
        """Whether the server puts a lock though the condition is not met."""
        try:
            self.bucket.put(self.key, format_owner(owner), unmet)
        except Changed:
            return False
        return True


class LeaseHandle:
    """A lock object that is held; a thread renews it."""

    def __init__(self, lease: Lease, owner: Owner, version: Version, renewed: float) -> None:
        self._lease = lease
        self._owner, self._version = owner, version
        self._tokens = {self.token}  # all that were put, or may have been
        self._renewed = renewed
        self._writing = threading.Lock()
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"lock of {lease.address}", daemon=True)
        self._thread.start()

    @property
    def token(self) -> str:
        """The fencing token in the lock."""
        return str(self._owner["token"])

    def rotate_token(self) -> None:
        """Put another fencing token into the lock."""
        self._put(token=uuid.uuid4().hex)

    def confirm(self) -> None:
        """Renew the lock unless that was done a moment ago; check its fencing token in any case."""
        for _ in range(TRIES):
            if _elapsed() - self._renewed > HEARTBEAT_SECONDS:
                self._put()
            else:
                self._lease.check_token(self.token)
            if _elapsed() - self._renewed <= SAFE_SECONDS:
                return
        raise StoreError(f"cannot renew the lock of {self._lease.address} in time: the server is too slow")

    def release(self) -> None:
        """Delete the lock, but only while no other run can hold it; else it stays until it expires."""
        self._released.set()
        try:
            self._lease.bucket.delete([self._lease.key, self._lease.clock_key], self.confirm)
        except StoreError:  # the commits are safe; this process may lock again, others when the lock has expired
            _undeleted.add(self.token)

    def _beat(self) -> None:
        while not self._released.wait(HEARTBEAT_SECONDS):
            try:
                self._put()
            except StoreLockedError:
                return  # the next write raises this error too
            except StoreError:
                continue  # the server may come back before another run takes the lock over

    def _put(self, **changes: str) -> None:
        with self._writing:
            for _ in range(TRIES):
                owner = {**self._owner, **changes, "beat": self._owner["beat"] + 1}
                self._tokens.add(owner["token"])
                begun = _elapsed()
                try:
                    self._version = self._lease.bucket.put(self._lease.key, format_owner(owner), self._version)
                except Changed:
                    self._adopt()
                    continue
                self._owner, self._renewed = owner, begun
                return
        raise StoreError(f"cannot write the lock of {self._lease.address}: it changes all the time")

    def _adopt(self) -> None:
        """Continue from the lock that is there if this process put it: a put may succeed though its answer is lost."""
        found, meta = self._lease.read()
        if meta is None or found.get("token") not in self._tokens:
            raise taken_over(self._lease.address, found)
        self._owner = {**self._owner, "beat": found["beat"]}
        self._version = version_of(meta)


def server_time(bucket: Bucket, key: str) -> datetime:
    """The server's time: the date of an object that is put, and deleted again."""
    bucket.put(key, b"")
    meta = bucket.head(key)
    bucket.delete([key])
    if meta is None:  # another run has deleted it in between
        return datetime.min.replace(tzinfo=UTC)
    now: datetime = meta["last_modified"]
    return now


def _elapsed() -> float:
    """Seconds of a clock that also runs while the machine is suspended, where the system has one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
