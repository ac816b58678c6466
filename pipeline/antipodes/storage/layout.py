"""The layout of the zarr arrays of stores, and the digest that binds a chunk to its place."""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.abc.codec import BytesBytesCodec
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, ZstdCodec

from antipodes.storage.backend import MOST_METADATA
from antipodes.storage.fields import expect

DIGEST_BYTES = 8
BLOCK_BYTES = 65536
"""The bytes that Blosc compresses together; given, since another version of it might choose others."""


@dataclass(frozen=True)
class Layout:
    """The layout of an array: its chunks are whole rows."""

    shape: tuple[int, int]
    chunk_rows: int
    dtype: str
    fill: int
    axes: tuple[str, str]
    """The names of the dimensions."""
    compression: Literal["lz4", "zstd"] = "lz4"
    """lz4, after the bits of the numbers are sorted by their places, is five times as fast; zstd may be denser."""

    @property
    def chunks(self) -> int:
        """How many chunks the array has."""
        return -(-self.shape[0] // self.chunk_rows)

    @property
    def most_bytes(self) -> int:
        """An upper bound of the bytes of a file of the array: compressed, a chunk is hardly larger than its numbers."""
        numbers = self.chunk_rows * self.shape[1] * np.dtype(self.dtype).itemsize
        return max(MOST_METADATA, numbers + numbers // 64 + 4096)

    def create(self, place: Any) -> None:
        """Create an empty array of this layout, whose chunks carry checksums, in a zarr store."""
        zarr.create_array(
            place,
            shape=self.shape,
            chunks=(self.chunk_rows, self.shape[1]),
            dtype=self.dtype,
            fill_value=self.fill,
            serializer=BytesCodec(),
            compressors=(self._compressor, Crc32cCodec()),
            dimension_names=self.axes,
        )

    @property
    def _compressor(self) -> BytesBytesCodec:
        if self.compression == "zstd":
            return ZstdCodec(level=1)
        size = np.dtype(self.dtype).itemsize
        return BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle", typesize=size, blocksize=BLOCK_BYTES)

    def check(self, metadata: Any, name: str) -> None:
        """Raise FieldError unless the content of a ``zarr.json`` describes an array of this layout."""
        expect(isinstance(metadata, dict), name, "an object", metadata)
        for key, expected in (
            ("zarr_format", 3),
            ("node_type", "array"),
            ("shape", list(self.shape)),
            ("data_type", self.dtype),
            ("fill_value", self.fill),
            ("chunk_grid", {"name": "regular", "configuration": {"chunk_shape": [self.chunk_rows, self.shape[1]]}}),
        ):
            found = metadata.get(key)
            expect(found == expected and type(found) is type(expected), f"{name}: {key}", repr(expected), found)


def chunk_key(name: str, number: int) -> str:
    """The key of a chunk of an array in the store."""
    return f"{name}/c/{number}/0"


def chunk_digest(identity: str, key: str, content: NDArray[Any]) -> bytes:
    """The digest of a chunk's content at its place: the first bytes of a SHA-256.

    SHA-256 is the fastest of the cryptographic hashes of Python's library where processors have instructions for it,
    it releases the interpreter's lock, and every language has it.

    Parameters
    ----------
    identity
        What the chunk belongs to: the fingerprint of the puzzle or the board, of a table with the digest of its space.
    key
        The chunk's key in the store, such as ``depth/c/17/0``.
    content
        The rows of the chunk, of any shape, the first row first.
    """
    little = np.ascontiguousarray(content, dtype=content.dtype.newbyteorder("<"))
    hashed = hashlib.sha256(f"{identity} {key}\n".encode())
    hashed.update(little.view(np.uint8).reshape(-1).data)
    return hashed.digest()[:DIGEST_BYTES]
