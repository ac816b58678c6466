"""What the manifest says of each chunk of depths: a digest that binds it to its place, and the range of its depths."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.bfs.arrays import UNREACHED, Depths
from antipodes.storage.fields import FieldType, binary, expect

ENTRY = np.dtype([("digest", "<u8"), ("least", "<u2"), ("greatest", "<u2")])
"""A summary in the manifest: 12 bytes, which are 16 characters in base64."""
NO_DEPTH = 65535
"""The least and the greatest depth of a chunk that holds none."""


class Summary(NamedTuple):
    """The digest and the depths of a chunk that holds a committed depth."""

    digest: int
    """As in ENTRY."""
    least: int
    """The least depth in the chunk."""
    greatest: int
    """The greatest committed one."""


def committed(depths: Depths, depth: int) -> tuple[Depths, int, int]:
    """The depths with those greater than ``depth`` unreached, and the least and the greatest of the others.

    If there are no others, the last two are NO_DEPTH. The array itself is returned if nothing in it changes.
    """
    greatest = _greatest(depths)
    if greatest > depth:
        depths = np.where(depths > depth, depths.dtype.type(UNREACHED[depths.dtype.name]), depths)
        greatest = _greatest(depths)
    if greatest < 0:
        return depths, NO_DEPTH, NO_DEPTH
    return depths, int(depths.min()), greatest


def _greatest(depths: Depths) -> int:
    """The greatest depth that is not unreached; -1 if there is none. (Unreached plus one is zero.)"""
    return int((depths + depths.dtype.type(1)).max()) - 1


@dataclass(frozen=True, eq=False)
class Summaries:
    """The summaries of consecutive chunks."""

    first: int
    """The number of the first of these chunks."""
    entries: NDArray[np.void]
    """``(chunks,)`` of ENTRY; NO_DEPTH where a chunk holds no committed depth."""

    @classmethod
    def empty(cls, first: int, count: int) -> "Summaries":
        """The summaries of ``count`` chunks without any depth."""
        entries = np.zeros(count, dtype=ENTRY)
        entries["least"] = entries["greatest"] = NO_DEPTH
        return cls(first, entries)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Summaries):
            return NotImplemented
        return self.first == other.first and np.array_equal(self.entries, other.entries)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.entries)

    def get(self, number: int) -> Summary | None:
        """The summary of a chunk; None if the chunk holds no committed depth."""
        digest, least, greatest = self.entries[number - self.first].item()
        return None if least == NO_DEPTH else Summary(digest, least, greatest)

    def set(self, number: int, summary: Summary) -> None:
        """Change the summary of a chunk."""
        self.entries[number - self.first] = tuple(summary)

    def part(self, first: int, end: int) -> "Summaries":
        """The summaries of the chunks ``first`` to ``end - 1``, a view."""
        return Summaries(first, self.entries[first - self.first : end - self.first])

    def updated(self, others: Iterable["Summaries"]) -> "Summaries":
        """These summaries with others in place of those of the same chunks."""
        entries = self.entries.copy()
        for one in others:
            begin = one.first - self.first
            entries[begin : begin + len(one)] = one.entries
        return Summaries(self.first, entries)

    def numbers(self) -> list[int]:
        """The chunks that hold a committed depth, in ascending order."""
        found: list[int] = (np.flatnonzero(self.entries["least"] != NO_DEPTH) + self.first).tolist()
        return found

    def holding(self, depth: int) -> list[int]:
        """The chunks that can hold positions at a depth, in ascending order."""
        possible = (self.entries["least"] <= depth) & (self.entries["greatest"] >= depth)
        found: list[int] = (np.flatnonzero(possible) + self.first).tolist()
        return found

    def check(self, name: str, chunks: int, deepest: int) -> None:
        """Raise FieldError unless these can be the summaries of all ``chunks``, with depths from 0 to ``deepest``."""
        expect(len(self) == chunks, name, f"summaries of {chunks} chunks", len(self))
        least, greatest = self.entries["least"], self.entries["greatest"]
        absent = least == NO_DEPTH
        expect(bool((absent == (greatest == NO_DEPTH)).all()), name, "chunks with both depths or neither", "others")
        expect(not self.entries["digest"][absent].any(), name, "no digest of a chunk without depths", "one")
        expect(bool((least <= greatest).all()), name, "a least depth below the greatest", "others")
        found = (int(least.min(initial=NO_DEPTH)), int(greatest[~absent].max(initial=0)))
        expected = (NO_DEPTH, 0) if deepest < 0 else (0, deepest)
        expect(found == expected, name, f"least and greatest depth {expected}", found)


def summaries() -> FieldType:
    """The summaries of all chunks of an array."""
    entries = binary(ENTRY.itemsize)
    return FieldType(
        lambda value, name: Summaries(0, np.frombuffer(entries.read(value, name), dtype=ENTRY)),
        lambda value: entries.write(value.entries.tobytes()),
    )
