"""The objects of an array as zarr reads and writes them: patiently, and fenced where a token is given."""

import asyncio
from collections.abc import Callable

from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import ObjectStore

from antipodes.errors import StoreError
from antipodes.storage.cloud.bucket import Bucket, Changed, version_of

FENCED_TRIES = 10
"""Writes that are begun anew since the object has changed meanwhile: by other tries of the same task, which are few."""


class PatientStore(ObjectStore):  # type: ignore[type-arg]
    """Zarr's store for the objects under a prefix; requests are made again while there is hope."""

    def __init__(self, bucket: Bucket, prefix: str, read_only: bool, check: Callable[[], None] | None) -> None:
        super().__init__(bucket.client, read_only=read_only)
        self._bucket = bucket
        self._prefix = prefix
        self._check = check

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """What is at a key; None where nothing is, but FileNotFoundError for a chunk, which zarr would invent."""
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
        """Put an object only if the check passes right before.

        After the check there is a moment in which the lock may get another token, and the object newer bytes. These
        are not replaced, since it is the version from before the check that is.
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
        raise StoreError(f"cannot write {self._bucket.url}/{path}: it is being written by others")

    def _path(self, key: str) -> str:
        return f"{self._prefix}/{key}"
