"""Zarr's view of an array's objects: requests are retried, and writes fenced by a token."""

import asyncio
from collections.abc import Callable

from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import ObjectStore

from antipodes.errors import StoreError
from antipodes.storage.cloud.bucket import Bucket, Changed, version_of

FENCED_TRIES = 10
"""Tries of a write whose object keeps changing: only other attempts at the same task change it, and they are few."""


class RetryingStore(ObjectStore):  # type: ignore[type-arg]
    """Zarr's store for the objects under a prefix."""

    def __init__(self, bucket: Bucket, prefix: str, read_only: bool, check: Callable[[], None] | None) -> None:
        super().__init__(bucket.client, read_only=read_only)
        self._bucket = bucket
        self._prefix = prefix
        self._check = check

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """The content of a key; without any, None, or FileNotFoundError for a chunk, which zarr would invent."""
        assert byte_range is None, "chunks are read whole"
        try:
            content, _ = await asyncio.to_thread(self._bucket.get, self._path(key))
        except FileNotFoundError:
            if self.read_only and key.startswith("c/"):
                raise
            return None
        return prototype.buffer.from_bytes(content)

    async def set(self, key: str, value: Buffer) -> None:
        """Put a value at a key."""
        content = value.as_buffer_like()
        await asyncio.to_thread(self._set if self._check is None else self._set_fenced, self._path(key), content)

    async def exists(self, key: str) -> bool:
        """Whether anything is at a key."""
        return await asyncio.to_thread(self._bucket.head, self._path(key)) is not None

    def _set(self, path: str, content: bytes | bytearray | memoryview) -> None:
        self._bucket.put(path, content)

    def _set_fenced(self, path: str, content: bytes | bytearray | memoryview) -> None:
        """Put an object right after the check has passed.

        Between the check and the put, the lock may get another token and the object newer bytes. The put does not
        replace these, since it names the version from before the check.
        """
        assert self._check is not None
        for _ in range(FENCED_TRIES):
            meta = self._bucket.head(path)
            self._check()
            try:
                self._bucket.put(path, content, "create" if meta is None else version_of(meta))
            except Changed:
                continue
            return
        raise StoreError(f"cannot write {self._bucket.url}/{path}: other tasks are writing it")

    def _path(self, key: str) -> str:
        return f"{self._prefix}/{key}"
