"""The digests of the chunks of an array, as stored in the manifest."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.storage.manifest_fields import FieldType, binary, expect

DIGEST = np.dtype("<u8")
"""The type of a digest in the manifest. 0: the chunk is not written."""


def chunk_key(name: str, number: int) -> str:
    """Return the key of a chunk of an array in the store, such as ``depth/c/17/0``."""
    return f"{name}/c/{number}/0"


def chunk_digest(identity: str, name: str, number: int, content: NDArray[Any]) -> int:
    """Return the digest of a chunk's content, its key and its owner: the first bytes of a SHA-256; never 0.

    SHA-256 is the fastest cryptographic hash in Python's library on processors with instructions for it. It releases
    the interpreter's lock, and it is available in every language.

    Parameters
    ----------
    identity
        The owner of the chunk: the fingerprint of a board, or the fingerprint of a puzzle and the digest of its space.
    name
        The name of the array.
    number
        The number of the chunk in the array.
    content
        The rows of the chunk, in order, as an array of any shape.
    """
    little = np.ascontiguousarray(content, dtype=content.dtype.newbyteorder("<"))
    hashed = hashlib.sha256(f"{identity} {chunk_key(name, number)}\n".encode())
    hashed.update(little.view(np.uint8).reshape(-1).data)
    return int.from_bytes(hashed.digest()[: DIGEST.itemsize], "little") or 1


@dataclass(frozen=True, eq=False)
class ChunkDigests:
    """The digests of consecutive chunks."""

    first: int
    """The number of the first of these chunks."""
    digests: NDArray[np.uint64]
    """``(chunks,)``."""

    @classmethod
    def empty(cls, count: int) -> "ChunkDigests":
        """Return the digests of ``count`` chunks that are not written."""
        return cls(0, np.zeros(count, dtype=DIGEST))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ChunkDigests):
            return NotImplemented
        return self.first == other.first and np.array_equal(self.digests, other.digests)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.digests)

    def get(self, number: int) -> int | None:
        """Return the digest of a chunk, or None if the chunk is not written."""
        return int(self.digests[number - self.first]) or None

    def part(self, first: int, end: int) -> "ChunkDigests":
        """Return the digests of the chunks from ``first`` to ``end - 1``, as a numpy view."""
        return ChunkDigests(first, self.digests[first - self.first : end - self.first])

    def updated(self, written: Mapping[int, int]) -> "ChunkDigests":
        """Return these digests, updated with those of ``written`` chunks by number."""
        digests = self.digests.copy()
        digests[np.array(list(written), dtype=np.int64) - self.first] = np.array(list(written.values()), dtype=DIGEST)
        return ChunkDigests(self.first, digests)

    def numbers(self) -> list[int]:
        """Return the numbers of the chunks that are written, in ascending order."""
        found: list[int] = (np.flatnonzero(self.digests) + self.first).tolist()
        return found

    def check(self, name: str, chunks: int) -> None:
        """Raise FieldError unless there is one digest for each of ``chunks`` chunks."""
        expect(len(self) == chunks, name, f"{chunks} digests", f"{len(self)} digests")


def chunk_digests() -> FieldType:
    """Return the field type for the digests of all chunks of an array."""
    entries = binary(DIGEST.itemsize)
    return FieldType(
        lambda value, name: ChunkDigests(0, np.frombuffer(entries.read(value, name), dtype=DIGEST)),
        lambda value: entries.write(value.digests.tobytes()),
    )
