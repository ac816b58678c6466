"""The time of a storage server, the only clock that tells how old a lock is.

An object is put and deleted, and its date is the time; on the way the server shows that it supports conditional writes.
"""

import uuid
from contextlib import suppress
from datetime import datetime
from typing import Literal

from antipodes.errors import StoreError
from antipodes.storage.backend import Version
from antipodes.storage.cloud.bucket import Bucket, Changed

KEPT_SECONDS = 3600.0
"""Seconds after which such an object is the leftover of a crashed run."""


def server_time(bucket: Bucket, lock_key: str, address: str) -> datetime:
    """The server's time; StoreError where the server does not support conditional writes."""
    key = f"{_folder(lock_key)}/{uuid.uuid4().hex}"
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


def remove_leftovers(bucket: Bucket, lock_key: str, now: datetime) -> None:
    """Delete such objects of crashed runs; a failure to do so prevents nothing else."""
    with suppress(StoreError):
        found = bucket.list(_folder(lock_key))
        if old := [key for key in found if (now - found[key]["last_modified"]).total_seconds() > KEPT_SECONDS]:
            bucket.delete(old)


def _folder(lock_key: str) -> str:
    """The folder of such objects: NAME.clock for a lock NAME.lock."""
    return f"{lock_key.removesuffix('.lock')}.clock"


def _is_put(bucket: Bucket, key: str, unmet: Literal["create"] | Version) -> bool:
    """Whether the server puts an object though the condition is not met."""
    try:
        bucket.put(key, b"3", unmet)
    except Changed:
        return False
    return True
