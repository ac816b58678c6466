"""The segments in journal files: where each is, and up to which depth a chunk has all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.journal.journal_file import ENTRY, Cover, Index

PLACED = np.dtype([("file", "<u4"), *ENTRY.descr])
"""A segment, and the place of its file in the list of files. Its offset counts from the first byte of the file."""


@dataclass(frozen=True, eq=False)
class StoredSegments:
    """The segments of consecutive chunks, sorted by chunk and depth, and what their files cover."""

    first_chunk: int
    end_chunk: int
    files: tuple[str, ...]
    """The names of files."""
    entries: NDArray[np.void]
    """``(segments,)`` of PLACED."""
    known: NDArray[np.int32]
    """``(chunks,)``: the depth up to which all segments of a chunk are known; -1: not even those at depth 0."""

    @classmethod
    def empty(cls, first_chunk: int, end_chunk: int) -> "StoredSegments":
        """No segments."""
        known = np.full(end_chunk - first_chunk, -1, dtype=np.int32)
        return cls(first_chunk, end_chunk, (), np.empty(0, dtype=PLACED), known)

    def with_files(self, indices: Sequence[tuple[str, Index]]) -> "StoredSegments":
        """These segments, and those of more files; a segment that two files have is taken from the first."""
        files, parts = list(self.files), [self.entries]
        for name, index in indices:
            placed = np.zeros(len(index.entries), dtype=PLACED)
            for field in ENTRY.names or ():
                placed[field] = index.entries[field]
            placed["file"] = len(files)
            placed["offset"] += np.uint64(index.begin)
            files.append(name)
            parts.append(placed[(placed["chunk"] >= self.first_chunk) & (placed["chunk"] < self.end_chunk)])
        covers = [cover for _, index in indices for cover in index.covers]
        return StoredSegments(
            self.first_chunk, self.end_chunk, tuple(files), _unique(np.concatenate(parts)), self._covered(covers)
        )

    def part(self, first_chunk: int, end_chunk: int) -> "StoredSegments":
        """The segments of some of the chunks, with the files that have any of these."""
        known = self.known[first_chunk - self.first_chunk : end_chunk - self.first_chunk]
        entries = self.of_chunks(first_chunk, end_chunk).copy()
        used, entries["file"] = np.unique(entries["file"], return_inverse=True)
        return StoredSegments(first_chunk, end_chunk, tuple(self.files[file] for file in used), entries, known)

    def before(self, depth: int) -> "StoredSegments":
        """The segments at depths less than ``depth``."""
        return replace(
            self, entries=self.entries[self.entries["depth"] < depth], known=np.minimum(self.known, depth - 1)
        )

    def of_chunks(self, first_chunk: int, end_chunk: int) -> NDArray[np.void]:
        """The entries of some of the chunks, a view."""
        first, end = np.searchsorted(self.entries["chunk"], [first_chunk, end_chunk])
        return self.entries[first:end]

    def counts(self, depths: int) -> NDArray[np.uint32]:
        """The number of positions of each chunk at each of the depths less than ``depths``: ``(chunks, depths)``."""
        counts = np.zeros((self.end_chunk - self.first_chunk, depths), dtype=np.uint32)
        here = self.entries[self.entries["depth"] < depths]
        counts[here["chunk"] - self.first_chunk, here["depth"]] = here["count"]
        return counts

    def _covered(self, covers: Iterable[Cover]) -> NDArray[np.int32]:
        """Up to which depth each chunk is known with these covers, too."""
        known = self.known.copy()
        for cover in sorted(covers, key=lambda cover: cover.first_depth):
            first = max(cover.first_chunk, self.first_chunk) - self.first_chunk
            end = min(cover.end_chunk, self.end_chunk) - self.first_chunk
            if first < end:
                here = known[first:end]
                here[(here >= cover.first_depth - 1) & (here < cover.last_depth)] = cover.last_depth
        return known


def _unique(entries: NDArray[np.void]) -> NDArray[np.void]:
    """The entries by chunk and depth, the first of those with the same."""
    key = entries["chunk"].astype(np.int64) << 16 | entries["depth"]
    _, first = np.unique(key, return_index=True)
    return entries[first]
