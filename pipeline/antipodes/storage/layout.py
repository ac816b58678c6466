"""The layout of the zarr arrays of stores, and the digest that binds a chunk to its place."""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.abc.codec import BytesBytesCodec
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, ZstdCodec

from antipodes.storage.backend import MOST_METADATA, Content
from antipodes.storage.fields import expect

DIGEST_BYTES = 8
LONGEST_HEADER = 18
"""Bytes of the header of a compressed chunk, at most."""
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
        return max(MOST_METADATA, self._chunk_bytes + self._chunk_bytes // 64 + 4096)

    @property
    def _chunk_bytes(self) -> int:
        """The bytes of the numbers of a chunk."""
        return self.chunk_rows * self.shape[1] * np.dtype(self.dtype).itemsize

    def check_chunk(self, written: Content) -> None:
        """Raise ValueError unless a compressed chunk expands to its numbers: some KiB may expand to GiB."""
        read = _zstd_bytes if self.compression == "zstd" else _blosc_bytes
        found = read(bytes(written[:LONGEST_HEADER]))
        if found != self._chunk_bytes:
            raise ValueError(f"expected {self._chunk_bytes:,} compressed bytes, found a header of {found:,}")

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
        codecs = (
            [codec.get("name") for codec in metadata["codecs"]] if _is_list_of_objects(metadata, "codecs") else None
        )
        compressor = "zstd" if self.compression == "zstd" else "blosc"
        expect(codecs == ["bytes", compressor, "crc32c"], f"{name}: codecs", f"bytes, {compressor}, crc32c", codecs)


def _is_list_of_objects(metadata: dict[str, Any], key: str) -> bool:
    found = metadata.get(key)
    return isinstance(found, list) and all(isinstance(one, dict) for one in found)


def _blosc_bytes(header: bytes) -> int:
    """The bytes to which a text of Blosc expands, by its header."""
    return int.from_bytes(header[4:8], "little")


def _zstd_bytes(header: bytes) -> int:
    """The bytes to which a frame of Zstandard (RFC 8878) expands, by its header; 0 where it does not say.

    After 4 bytes of magic, a descriptor has the sizes of the fields: of the window, the dictionary, and the content.
    """
    descriptor = header[4] if len(header) > 4 else 0
    is_single = descriptor >> 5 & 1
    begin = 5 + (not is_single) + (0, 1, 2, 4)[descriptor & 3]
    length = (is_single, 2, 4, 8)[descriptor >> 6]
    return int.from_bytes(header[begin : begin + length], "little") + 256 * (length == 2)


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
