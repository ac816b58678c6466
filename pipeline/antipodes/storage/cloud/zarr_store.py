"""Zarr's view of an array's objects: requests are retried, and writes fenced by a token."""

import asyncio
from collections.abc import Callable

from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import ObjectStore

from antipodes.storage.backend import Content
from antipodes.storage.cloud.bucket import Bucket


class RetryingStore(ObjectStore):  # type: ignore[type-arg]
    """Zarr's store for the objects under a prefix."""

    def __init__(
        self,
        bucket: Bucket,
        prefix: str,
        read_only: bool,
        check: Callable[[], None] | None,
        most: int,
        check_chunk: Callable[[Content], None],
    ) -> None:
        super().__init__(bucket.client, read_only=read_only)
        self._bucket = bucket
        self._prefix = prefix
        self._check = check
        self._most = most
        self._check_chunk = check_chunk

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """The content of a key; without any, None, or FileNotFoundError for a chunk, which zarr would invent."""
        assert byte_range is None, "chunks are read whole"
        try:
            content, _ = await asyncio.to_thread(self._bucket.get, self._path(key), self._most)
        except FileNotFoundError:
            if self.read_only and key.startswith("c/"):
                raise
            return None
        if key.startswith("c/"):
            self._check_chunk(content)
        return prototype.buffer.from_bytes(content)

    async def set(self, key: str, value: Buffer) -> None:
        """Put a value at a key."""
        await asyncio.to_thread(self._set, self._path(key), value.as_buffer_like())

    async def exists(self, key: str) -> bool:
        """Whether anything is at a key."""
        return await asyncio.to_thread(self._bucket.head, self._path(key)) is not None

    def _set(self, path: str, content: Content) -> None:
        if self._check is None:
            self._bucket.put(path, content)
        else:
            self._bucket.put_fenced(path, content, self._check)

    def _path(self, key: str) -> str:
        return f"{self._prefix}/{key}"
