"""Stores in object storage: objects with a common prefix in a bucket, each put in one request, and a lock object.

A store exists if its manifest exists. The manifest is put last and deleted first. Objects cannot be renamed, so a new
store is filled at its final URL before it has a manifest. If this is interrupted, the next run that creates a store
there deletes the objects.

The lock object is a lease that its owner renews while it lives, because no server deletes the object when the owner
dies. If the owner was a process of this machine that has ended, another run can take over the lock immediately.
Otherwise it can do so once the lock has not been renewed for EXPIRY_SECONDS by the server's clock. If several runs try,
conditional puts let only one succeed. Each new lock object is also used to check that the server supports conditional
puts.
"""

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Self

from antipodes.storage.backend import GROUP, MANIFEST, Content, Storage, TooLargeError, Version
from antipodes.storage.bucket import Bucket, Changed, Meta, version_of
from antipodes.storage.files import is_foreign
from antipodes.storage.lock import (
    MAX_BYTES,
    Holder,
    Owner,
    StoreLock,
    check_owner,
    format_owner,
    in_use,
    is_dead,
    owning_process,
    parse_owner,
    taken_over,
)
from antipodes.system.output_files import PARTIAL
from antipodes_tasks.base.errors import InputError, StoreError, StoreLockedError

HEARTBEAT_SECONDS = 10.0
"""Seconds between two renewals of a lock."""
EXPIRY_SECONDS = 60.0
"""Seconds without a renewal after which another run may take over the lock."""
SAFE_SECONDS = 15.0
"""Seconds after a renewal during which a request may start. The request then ends before another run can take over the
lock, because this value and the timeout of a request add up to less than EXPIRY_SECONDS."""
TRIES = 5
"""Number of attempts while other runs acquire or release the lock at the same moment, or while the server is slow."""

_undeleted: set[str] = set()
"""Fencing tokens of locks that this process released but could not delete because the server did not answer."""


class ObjectStorage(Storage):
    """A storage of the objects whose keys begin with the path of a URL."""

    def __init__(self, url: str, bucket: Bucket | None = None) -> None:
        self.address = url
        name, self._prefix = _split(url)
        self._bucket = bucket or Bucket(name)
        if bucket is None:
            self._bucket.open()  # now, so that errors in the environment are reported before any work
        self.lock = Lease(self._bucket, f"{self._prefix}.lock", url)

    @classmethod
    def list_stores(cls, url: str) -> list["ObjectStorage"]:
        """Return the storages under a URL, which may be a bucket's; see `antipodes.storage.opening.storages_in`."""
        name, prefix = _split(url)
        bucket = Bucket(name)
        bucket.open()
        folders, others = bucket.list_folders(prefix)
        if not (folders or others) and prefix:
            raise InputError(f"{url} does not exist; name a URL under which there are stores")
        if f"{prefix}/{MANIFEST}" in others:
            return [cls(url)]
        return [cls(f"{bucket.url}/{folder}") for folder in folders]

    def __reduce__(self) -> tuple[Any, ...]:
        return ObjectStorage, (self.address, self._bucket)

    def watched(
        self, tell: Callable[[str], None], stop: Callable[[], bool], run: str = ""
    ) -> AbstractContextManager[None]:
        return self._bucket.retries.watched(tell, stop, run)

    def expect_failures(self) -> None:
        self._bucket.retries.expect_failures()

    def exists(self) -> bool:
        """Return whether anything but an unfinished or half-deleted store exists."""
        return self.has(MANIFEST) or (bool(self._list()) and not self.has_leftovers())

    def has(self, key: str) -> bool:
        return self._bucket.head(self._path(key)) is not None

    def read(self, key: str, max_bytes: int) -> tuple[bytes, Version]:
        content, meta = self._bucket.get(self._path(key), max_bytes)
        return content, version_of(meta)

    def read_range(self, key: str, first: int, count: int) -> bytes:
        return self._bucket.get_range(self._path(key), first, count)

    def replace(self, key: str, content: bytes, version: Version | None) -> Version:
        try:
            return self._bucket.put(self._path(key), content, "create" if version is None else version, self.lock.check)
        except Changed:
            name = self.name_of(key)
            how = "was replaced by another run since it was read, or removed"
            raise StoreError(f"{name} {how}; nothing was written") from None

    def put(self, key: str, parts: Sequence[Content], token: str | None = None, durable: bool = True) -> None:
        content = parts[0] if len(parts) == 1 else b"".join(parts)  # a chunk is not copied
        if check := self._check(token):
            self._bucket.put_fenced(self._path(key), content, check)
        else:
            self._bucket.put(self._path(key), content)

    def make_durable(self, keys: Iterable[str]) -> None:
        """Do nothing: an object is durable when its put is answered."""

    def delete(self, folder: str) -> None:
        self.delete_keys(self._list(folder))

    def delete_keys(self, keys: Iterable[str]) -> None:
        """Delete these keys. If the lock is held here, it is checked before each try."""
        self._bucket.delete([self._path(key) for key in keys], self.lock.check)

    def names_in_folder(self, folder: str) -> list[str]:
        return sorted({key.removeprefix(f"{folder}/").partition("/")[0] for key in self._list(folder)})

    def sizes(self, folder: str) -> dict[str, int]:
        return {
            key: meta["size"]
            for key, meta in self._list(folder).items()
            if "/" not in key.removeprefix(f"{folder}/") and not key.endswith(PARTIAL)
        }

    def size(self) -> int:
        return sum(meta["size"] for meta in self._list().values())

    def free_bytes(self) -> int | None:
        """Return None: the free space of a bucket is unknown."""
        return None

    def modified(self, key: str) -> datetime | None:
        meta = self._bucket.head(self._path(key))
        return None if meta is None else meta["last_modified"].astimezone()

    def identity(self, key: str) -> tuple[object, ...]:
        """Return the modification time of the object and its version."""
        meta = self._bucket.head(self._path(key))
        return () if meta is None else (meta["last_modified"], *version_of(meta).values())

    @contextmanager
    def staged(self, overwrite: bool = False) -> Iterator["ObjectStorage"]:
        """Yield the storage itself: the new store is published when its manifest is put."""
        if overwrite:
            self.delete_keys([MANIFEST])  # first, since objects without a manifest are not a store
            self._clear()
        if self.exists():
            raise StoreError(f"cannot create a store at {self.address}: other objects exist there")
        self._clear()
        yield self  # after an error there is no manifest, so no store, and the next run deletes the objects

    def _clear(self) -> None:
        """Delete all objects. The group is deleted last, because `exists` recognises leftovers by it."""
        self.delete_keys(key for key in self._list() if key != GROUP)
        self.delete_keys([GROUP])

    def has_leftovers(self) -> bool:
        """Return whether there is no manifest, but a group with one of this program's formats."""
        return not self.has(MANIFEST) and (self.group_format() or "").startswith("antipodes-")

    def remove(self, first: Callable[[], int] = lambda: 0) -> int:
        """Delete the manifest first, since objects without it are not a store, and the group last."""
        found = self._list()
        if foreign := next((key for key in sorted(found) if is_foreign(key.partition("/")[0])), None):
            raise StoreError(f"cannot remove {self.address}: {foreign} does not belong to a store; nothing was removed")
        freed = first()
        self.delete_keys([MANIFEST])
        self._clear()
        return freed + sum(int(meta["size"]) for meta in found.values())

    def remove_leftovers(self) -> None:
        self.delete_keys(key for key in self._list() if key.endswith(PARTIAL))

    def sync(self, folder: str) -> None:
        """Do nothing: an object is durable when its put is answered."""

    def probe(self) -> None:
        path = self._path(f".probe.{uuid.uuid4().hex}{PARTIAL}")
        self._bucket.put(path, b"probe")
        self._bucket.delete([path])

    def _check(self, token: str | None) -> Callable[[], None] | None:
        """Return the check before a write, or None if no lock is held here and no token is given."""
        return self.lock.fence(token) if token is not None or self.lock.is_held else None

    def _list(self, folder: str = "") -> dict[str, Meta]:
        """Return the keys in a folder, and the server's description of each object."""
        found = self._bucket.list(self._path(folder) if folder else self._prefix)
        return {key.removeprefix(f"{self._prefix}/"): meta for key, meta in found.items()}

    def _path(self, key: str) -> str:
        return f"{self._prefix}/{key}"


def _split(url: str) -> tuple[str, str]:
    """Return the URL of the bucket, and the prefix of the keys."""
    scheme, _, rest = url.partition("://")
    name, _, prefix = rest.partition("/")
    return f"{scheme}://{name}", prefix


class Lease(StoreLock):
    """The lock object of the store at an address. While it is held, a thread renews it."""

    def __init__(self, bucket: Bucket, key: str, address: str) -> None:
        self.bucket, self.key, self.address = bucket, key, address
        self._held: _Held | None = None

    @property
    def clock_key(self) -> str:
        """Key of the object that shows the server's time. It is always the same, so killed runs leave at most one."""
        return f"{self.key}.time"

    @contextmanager
    def hold(self) -> Iterator[Self]:
        held, released = self._acquire(), threading.Event()
        self._held, self.token = held, held.owner["token"]
        thread = threading.Thread(target=self._beat, args=[held, released], name=f"lock of {self.address}", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            released.set()
            self._release()
            self._held, self.token = None, ""

    def rotate_token(self) -> None:
        """Put a new fencing token into the lock."""
        assert self._held is not None, "the lock is held"
        self._put(self._held, token=uuid.uuid4().hex)
        self.token = self._held.owner["token"]

    def check(self) -> None:
        """Check that the lock is still held, if it was acquired here; renew it if the last renewal is not recent."""
        held = self._held
        if held is None:
            return
        for _ in range(TRIES):
            if _elapsed() - held.renewed > HEARTBEAT_SECONDS:
                self._put(held)
            else:
                self.check_token(held.owner["token"])
            if _elapsed() - held.renewed <= SAFE_SECONDS:
                return
        raise StoreError(f"cannot renew the lock of {self.address} in time: the server is too slow")

    def check_token(self, token: str) -> None:
        check_owner(self.address, self.read()[0], token)

    def holder(self) -> Holder | None:
        """Return the holder, which is alive if it renewed the lock recently by this machine's clock.

        The server's clock is not used, because that would require putting an object. If the clocks differ a lot, a
        living run may appear dead in this result, but nowhere else.
        """
        owner, meta = self.read()
        if meta is None:
            return None
        age = (datetime.now(UTC) - meta["last_modified"]).total_seconds()
        return Holder(owner, alive=not _is_abandoned(owner) and age <= EXPIRY_SECONDS)

    def read(self) -> tuple[Owner, Meta | None]:
        """Return the owner (empty if not valid) and the server's description of the lock object (None if missing)."""
        try:
            content, meta = self.bucket.get(self.key, MAX_BYTES)
        except TooLargeError:
            return {}, self.bucket.head(self.key)
        except FileNotFoundError:
            return {}, None
        return parse_owner(content), meta

    def _acquire(self) -> "_Held":
        """Put the lock object; raise StoreError if the server does not support conditional writes."""
        owner = {**owning_process(), "token": uuid.uuid4().hex, "beat": 0}
        found: Owner = {}
        for _ in range(TRIES):
            found, meta = self.read()
            if meta and not _is_abandoned(found) and not self._has_expired(meta):
                break
            begun = _elapsed()
            with suppress(Changed):
                version = self.bucket.put(self.key, format_owner(owner), version_of(meta) if meta else "create")
                return self._proved(owner, version, begun)
        raise in_use(self.address, found)

    def _has_expired(self, meta: Meta) -> bool:
        """Return whether a lock has expired by the server's clock, which also gives the time of its renewal."""
        renewed: datetime = meta["last_modified"]
        return (server_time(self.bucket, self.clock_key) - renewed).total_seconds() > EXPIRY_SECONDS

    def _proved(self, owner: Owner, version: Version, begun: float) -> "_Held":
        """Renew the lock that was just put, and check that the server refuses puts whose condition is not met.

        Raises StoreError if the server does not refuse them. After an error the lock is deleted.
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
        return _Held(renewed, newer, begun, {owner["token"]})

    def _is_put(self, owner: Owner, unmet: Any) -> bool:
        """Return whether the server puts a lock although the condition is not met."""
        try:
            self.bucket.put(self.key, format_owner(owner), unmet)
        except Changed:
            return False
        return True

    def _release(self) -> None:
        """Delete the lock if no other run can hold it; otherwise it remains until it expires."""
        try:
            self.bucket.delete([self.key, self.clock_key], self.check)
        except StoreError:  # commits are safe; other processes have to wait until the lock expires
            _undeleted.add(self.token)

    def _beat(self, held: "_Held", released: threading.Event) -> None:
        while not released.wait(HEARTBEAT_SECONDS):
            try:
                self._put(held)
            except StoreLockedError:
                return  # the next write raises this error too
            except StoreError:
                continue  # the server may come back before another run takes the lock over

    def _put(self, held: "_Held", **changes: str) -> None:
        with held.writing:
            for _ in range(TRIES):
                owner = {**held.owner, **changes, "beat": held.owner["beat"] + 1}
                held.tokens.add(owner["token"])
                begun = _elapsed()
                try:
                    held.version = self.bucket.put(self.key, format_owner(owner), held.version)
                except Changed:
                    self._adopt(held)
                    continue
                held.owner, held.renewed = owner, begun
                return
        raise StoreError(f"cannot write the lock of {self.address}: it keeps changing")

    def _adopt(self, held: "_Held") -> None:
        """Continue from the existing lock if this process put it: a put may succeed although its answer is lost."""
        found, meta = self.read()
        if meta is None or found.get("token") not in held.tokens:
            raise taken_over(self.address, found)
        held.owner = {**held.owner, "beat": found["beat"]}
        held.version = version_of(meta)


@dataclass
class _Held:
    """The lock object as this process last put it. Each acquisition of the lock has its own instance."""

    owner: Owner
    version: Version
    renewed: float
    """When the last successful put began, on the clock of `_elapsed`."""
    tokens: set[str]
    """All fencing tokens that were put, or may have been put."""
    writing: threading.Lock = field(default_factory=threading.Lock)


def _is_abandoned(owner: Owner) -> bool:
    """Return whether the process that put the lock has ended or has released it."""
    return is_dead(owner) or owner.get("token") in _undeleted


def server_time(bucket: Bucket, key: str) -> datetime:
    """Return the server's time: the modification time of an object that is put and then deleted."""
    bucket.put(key, b"")
    meta = bucket.head(key)
    bucket.delete([key])
    if meta is None:  # another run has deleted the object in between
        return datetime.min.replace(tzinfo=UTC)
    now: datetime = meta["last_modified"]
    return now


def _elapsed() -> float:
    """Return the seconds of a clock that continues while the machine is suspended, if the system has such a clock."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
