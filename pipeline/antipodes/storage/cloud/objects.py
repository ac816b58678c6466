"""Stores in object storage: objects under a prefix of a bucket, each put in one request.

A store exists once its manifest does, which is put last and deleted first. Objects cannot be renamed, so an unfinished
store is at its own URL, without a manifest; the next run that creates a store there deletes it.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from antipodes.storage.backend import GROUP, MANIFEST, MOST_METADATA, Content, Storage, Version
from antipodes.storage.cloud.bucket import Bucket, Changed, Meta, version_of
from antipodes.storage.cloud.lease import Lease
from antipodes.storage.cloud.retry import Watch
from antipodes.storage.cloud.zarr_store import RetryingStore
from antipodes.storage.local.files import PARTIAL
from antipodes.storage.local.staging import is_foreign
from antipodes_tasks.errors import InputError, StoreError


def storages_under(url: str) -> Iterator["ObjectStorage"]:
    """See `antipodes.storage.address.storages_in`; the URL may be that of a bucket alone."""
    scheme, _, rest = url.partition("://")
    name, _, prefix = rest.partition("/")
    bucket = Bucket(f"{scheme}://{name}")
    bucket.open()
    folders, others = bucket.list_folders(prefix)
    if not (folders or others) and prefix:
        raise InputError(f"expected a URL with stores under it, found nothing at {url}")
    if f"{prefix}/{MANIFEST}" in others:
        yield ObjectStorage(url)
        return
    for folder in folders:
        yield ObjectStorage(f"{bucket.url}/{folder}")


class ObjectStorage(Storage):
    """The objects whose keys begin with the path of a URL."""

    def __init__(self, url: str, bucket: Bucket | None = None) -> None:
        self.address = url
        scheme, _, rest = url.partition("://")
        name, _, self._prefix = rest.partition("/")
        self._bucket = bucket or Bucket(f"{scheme}://{name}")
        if bucket is None:
            self._bucket.open()  # now, so that errors of the environment come before any work
        self.lock = Lease(self._bucket, f"{self._prefix}.lock", url)

    def __reduce__(self) -> tuple[Any, ...]:
        return ObjectStorage, (self.address, self._bucket)

    @contextmanager
    def watched(self, tell: Callable[[str], None], stop: Callable[[], bool]) -> Iterator[None]:
        self._bucket.retries.watch = Watch(tell, stop)
        try:
            yield
        finally:
            self._bucket.retries.watch = None

    def exists(self) -> bool:
        """Objects without a manifest whose group has a format of ours are an unfinished or half-deleted store."""
        return self.has(MANIFEST) or (bool(self._list()) and not self.has_leftovers())

    def has(self, key: str) -> bool:
        return self._bucket.head(self._path(key)) is not None

    def read(self, key: str, most: int) -> tuple[bytes, Version]:
        content, meta = self._bucket.get(self._path(key), most)
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
        content = b"".join(parts)
        if check := self._check(token):
            self._bucket.put_fenced(self._path(key), content, check)
        else:
            self._bucket.put(self._path(key), content)

    def make_durable(self, keys: Iterable[str]) -> None:
        """Nothing to do: an object is durable when its put is answered."""

    def delete(self, folder: str) -> None:
        self.delete_keys(self._list(folder))

    def delete_keys(self, keys: Iterable[str]) -> None:
        """A lock that is held here is checked before each try."""
        self._bucket.delete([self._path(key) for key in keys], self.lock.check)

    def folders(self, folder: str) -> list[str]:
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
        return None

    def modified(self, key: str) -> datetime | None:
        meta = self._bucket.head(self._path(key))
        return None if meta is None else meta["last_modified"].astimezone()

    def identity(self, key: str) -> tuple[object, ...]:
        meta = self._bucket.head(self._path(key))
        return () if meta is None else (meta["last_modified"], *version_of(meta).values())

    @contextmanager
    def staged(self, overwrite: bool = False) -> Iterator["ObjectStorage"]:
        """The storage itself: the new store is published when its manifest is put."""
        if overwrite:
            self.delete_keys([MANIFEST])  # first: objects without a manifest are no store
            self._clear()
        if self.exists():
            raise StoreError(f"expected nothing at {self.address}, where a store is to be created; found something")
        self._clear()
        yield self  # after an error, objects without a manifest are no store, and the next run deletes them

    def _clear(self) -> None:
        """Delete all objects; last the group, by which `exists` recognises the others."""
        self.delete_keys(key for key in self._list() if key != GROUP)
        self.delete_keys([GROUP])

    def has_leftovers(self) -> bool:
        """Objects whose group has a format of ours."""
        return not self.has(MANIFEST) and (self.group_format() or "").startswith("antipodes-")

    def remove(self) -> int:
        found = self._list()
        if foreign := next((key for key in sorted(found) if is_foreign(key.partition("/")[0])), None):
            raise StoreError(f"cannot remove {self.address}: {foreign} in it is no part of a store; nothing is removed")
        self.delete_keys([MANIFEST])
        self._clear()
        return sum(meta["size"] for meta in found.values())

    def remove_leftovers(self) -> None:
        self.delete_keys(key for key in self._list() if key.endswith(PARTIAL))

    def sync(self, folder: str) -> None:
        """Nothing to do: an object is durable when its put is answered."""

    def probe(self) -> None:
        path = self._path(f".probe.{uuid.uuid4().hex}{PARTIAL}")
        self._bucket.put(path, b"probe")
        self._bucket.delete([path])

    def arrays(
        self,
        folder: str = "",
        read_only: bool = False,
        token: str | None = None,
        most: int = MOST_METADATA,
        check_chunk: Callable[[Content], None] = lambda chunk: None,
    ) -> RetryingStore:
        prefix = self._path(folder) if folder else self._prefix
        return RetryingStore(self._bucket, prefix, read_only, self._check(token), most, check_chunk)

    def _check(self, token: str | None) -> Callable[[], None] | None:
        """The check before a write; None where no lock is held and no token given."""
        return self.lock.fence(token) if token is not None or self.lock.is_held else None

    def _list(self, folder: str = "") -> dict[str, Meta]:
        """The keys in a folder, and the storage's description of the object at each."""
        found = self._bucket.list(self._path(folder) if folder else self._prefix)
        return {key.removeprefix(f"{self._prefix}/"): meta for key, meta in found.items()}

    def _path(self, key: str) -> str:
        return f"{self._prefix}/{key}"
