"""The digests of the chunks of an array, as a manifest keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes.storage.manifest_fields import FieldType, binary, expect

DIGEST = np.dtype("<u8")
"""A digest in the manifest; 0 where no chunk is written."""


@dataclass(frozen=True, eq=False)
class ChunkDigests:
    """The digests of consecutive chunks."""

    first: int
    """The number of the first of these chunks."""
    digests: NDArray[np.uint64]
    """``(chunks,)``."""

    @classmethod
    def empty(cls, count: int) -> "ChunkDigests":
        """No digest of any of ``count`` chunks."""
        return cls(0, np.zeros(count, dtype=DIGEST))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ChunkDigests):
            return NotImplemented
        return self.first == other.first and np.array_equal(self.digests, other.digests)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.digests)

    def get(self, number: int) -> int | None:
        """The digest of a chunk; None if the chunk is not written."""
        return int(self.digests[number - self.first]) or None

    def part(self, first: int, end: int) -> "ChunkDigests":
        """The digests of the chunks ``first`` to ``end - 1``, a view."""
        return ChunkDigests(first, self.digests[first - self.first : end - self.first])

    def updated(self, written: Mapping[int, int]) -> "ChunkDigests":
        """These digests with those of the chunks that were ``written``, by their numbers."""
        digests = self.digests.copy()
        digests[np.array(list(written), dtype=np.int64) - self.first] = np.array(list(written.values()), dtype=DIGEST)
        return ChunkDigests(self.first, digests)

    def numbers(self) -> list[int]:
        """The chunks that are written, in ascending order."""
        found: list[int] = (np.flatnonzero(self.digests) + self.first).tolist()
        return found

    def check(self, name: str, chunks: int) -> None:
        """Raise FieldError unless these can be the digests of all ``chunks``."""
        expect(len(self) == chunks, name, f"digests of {chunks} chunks", len(self))


def chunk_digests() -> FieldType:
    """The digests of all chunks of an array."""
    entries = binary(DIGEST.itemsize)
    return FieldType(
        lambda value, name: ChunkDigests(0, np.frombuffer(entries.read(value, name), dtype=DIGEST)),
        lambda value: entries.write(value.digests.tobytes()),
    )
