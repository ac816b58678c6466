"""A journal file: segments of some chunks and layers, with an index, all bound to one table.

A file is written in one piece and never changed. It has these parts, with little-endian numbers:

1. MAGIC, and the length of the header;
2. the header, a JSON object with the ``identity`` of the table, the ranges that the file ``covers``, and the number of
   ``segments``;
3. the index, an ENTRY for each segment;
4. the digest of parts 1 to 3;
5. the bytes of the segments.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.bfs.segments import Segment

MAGIC = b"antiseg2"
DIGEST_BYTES = 8
PREFIX_BYTES = len(MAGIC) + 8
ENTRY = np.dtype(
    [
        ("chunk", "<u4"),
        ("depth", "<u2"),
        ("kind", "<u2"),
        ("count", "<u4"),
        ("length", "<u4"),
        ("offset", "<u8"),
        ("digest", "<u8"),
    ]
)
"""A segment in the index. Its offset is relative to the first byte of the segments."""


class Cover(NamedTuple):
    """A range of chunks and depths. A file contains all segments in the ranges that it covers."""

    first_chunk: int
    end_chunk: int
    first_depth: int
    last_depth: int


class FileIndex(NamedTuple):
    """The parts of a journal file before its segments."""

    covers: tuple[Cover, ...]
    entries: NDArray[np.void]
    """``(segments,)`` of ENTRY."""
    begin: int
    """The offset of the first segment in the file."""


def entries_of(identity: str, segments: Sequence[Segment], begin: int) -> NDArray[np.void]:
    """Return the index of the segments, an array ``(segments,)`` of ENTRY; the first segment begins at ``begin``."""
    entries = np.zeros(len(segments), dtype=ENTRY)
    for place, one in enumerate(segments):
        length, digest = len(one.data), segment_digest(identity, one.chunk, one.depth, one.data.data)
        entries[place] = (one.chunk, one.depth, one.kind, one.positions, length, begin, digest)
        begin += length
    return entries


def head(identity: str, covers: Sequence[Cover], entries: NDArray[np.void]) -> bytes:
    """Return all parts of a file before the segments."""
    header = json.dumps({"identity": identity, "covers": covers, "segments": len(entries)}).encode()
    content = MAGIC + len(header).to_bytes(8, "little") + header + entries.tobytes()
    return content + _digest(content)


def head_length(prefix: bytes, size: int, name: str) -> int:
    """Return the length of the header, from the first PREFIX_BYTES of a file of ``size`` bytes."""
    if len(prefix) != PREFIX_BYTES or not prefix.startswith(MAGIC):
        raise StoreDamagedError(f"{name} is corrupt: it is not a journal file")
    return _checked_length(int.from_bytes(prefix[len(MAGIC) :], "little"), size, name)


def entry_bytes(header: bytes, size: int, name: str) -> int:
    """Return the length of the index and the digest, from the header of a file of ``size`` bytes."""
    try:
        segments = int(json.loads(header)["segments"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise StoreDamagedError(f"{name} is corrupt: its header is not valid") from error
    return _checked_length(segments * ENTRY.itemsize + DIGEST_BYTES, size, name)


def _checked_length(length: int, size: int, name: str) -> int:
    """Return the length of a part of a file; raise StoreDamagedError if it is so large that it must be corrupt."""
    if not 0 <= length <= size:
        raise StoreDamagedError(f"{name} is corrupt: it is truncated, or its header is not valid")
    return length


def parse_head(content: bytes, header_bytes: int, size: int, identity: str, name: str) -> FileIndex:
    """Return the index, from all parts of a file before its segments.

    Raises StoreDamagedError if these parts are corrupt or belong to another table, or if the file does not have the
    ``size`` that follows from them.
    """
    if _digest(content[:-DIGEST_BYTES]) != content[-DIGEST_BYTES:]:
        raise StoreDamagedError(f"{name} is corrupt: its digest does not match its content")
    header = json.loads(content[PREFIX_BYTES : PREFIX_BYTES + header_bytes])
    if header.get("identity") != identity:
        raise StoreDamagedError(f"{name} is corrupt: it belongs to another table")
    entries = np.frombuffer(content[PREFIX_BYTES + header_bytes : -DIGEST_BYTES], dtype=ENTRY)
    ends = np.cumsum(entries["length"], dtype=np.int64)
    if size != len(content) + int(ends[-1] if len(ends) else 0):
        raise StoreDamagedError(f"{name} is corrupt: its length is wrong")
    apart = (entries["offset"] == (ends - entries["length"]).astype(np.uint64)).all()
    if not (apart and (entries["count"] <= 8 * entries["length"].astype(np.int64)).all()):
        raise StoreDamagedError(f"{name} is corrupt: its index does not match its segments")
    return FileIndex(_covers(header.get("covers"), name), entries, len(content))


def _covers(value: Any, name: str) -> tuple[Cover, ...]:
    """Return the ranges that a header covers; raise StoreDamagedError if they are not lists of four numbers."""
    if not (isinstance(value, list) and all(map(_is_cover, value))):
        raise StoreDamagedError(f"{name} is corrupt: its header is not valid")
    return tuple(Cover(*one) for one in value)


def _is_cover(value: Any) -> bool:
    """Return whether a JSON value is a cover, with numbers in the range of the index."""
    if not (isinstance(value, list) and len(value) == 4 and all(type(one) is int for one in value)):
        return False
    first, end, begin, last = value
    return bool(0 <= first <= end < 1 << 32 and 0 <= begin < 1 << 16 and 0 <= last < 1 << 16)


def segment_digest(identity: str, chunk: int, depth: int, content: bytes | memoryview) -> int:
    """Return the digest of a segment, which also depends on its table, its chunk and its depth: a CRC-32.

    A search on disk reads each segment several times. On a processor without instructions for SHA-256, computing one
    takes longer than decoding the segment. A CRC-32 is four to eight times as fast, and also releases the GIL. It
    detects every error within 32 adjacent bits, and misses others with a probability of 2^-32.
    """
    return zlib.crc32(content, zlib.crc32(f"{identity} {chunk} {depth}\n".encode()))


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:DIGEST_BYTES]


PLACED = np.dtype([("file", "<u4"), *ENTRY.descr])
"""A segment, with the index of its file in the list of files. Its offset is relative to the start of the file."""


@dataclass(frozen=True, eq=False)
class StoredSegments:
    """The segments of consecutive chunks, sorted by chunk and depth, and the depths that their files cover."""

    first_chunk: int
    end_chunk: int
    files: tuple[str, ...]
    entries: NDArray[np.void]
    """``(segments,)`` of PLACED."""
    known: NDArray[np.int32]
    """``(chunks,)``: the depth up to which all segments of a chunk are known; -1 if not even depth 0 is known."""

    @classmethod
    def empty(cls, first_chunk: int, end_chunk: int, known: int = -1) -> "StoredSegments":
        """Return an object without segments, in which all depths up to ``known`` are known."""
        depths = np.full(end_chunk - first_chunk, known, dtype=np.int32)
        return cls(first_chunk, end_chunk, (), np.empty(0, dtype=PLACED), depths)

    def with_files(self, indices: Sequence[tuple[str, FileIndex]]) -> "StoredSegments":
        """Return these segments and the segments of more files. A segment in two files is taken from the first file."""
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
        """Return the segments of some of the chunks, with the files that contain them."""
        known = self.known[first_chunk - self.first_chunk : end_chunk - self.first_chunk]
        entries = self.of_chunks(first_chunk, end_chunk).copy()
        used, entries["file"] = np.unique(entries["file"], return_inverse=True)
        return StoredSegments(first_chunk, end_chunk, tuple(self.files[file] for file in used), entries, known)

    def segments_before(self, depth: int) -> "StoredSegments":
        """Return the segments at depths less than ``depth``."""
        return replace(
            self, entries=self.entries[self.entries["depth"] < depth], known=np.minimum(self.known, depth - 1)
        )

    def of_chunks(self, first_chunk: int, end_chunk: int) -> NDArray[np.void]:
        """Return the entries of some of the chunks, as a numpy view."""
        first, end = np.searchsorted(self.entries["chunk"], [first_chunk, end_chunk])
        return self.entries[first:end]

    def counts(self, depths: int) -> NDArray[np.uint32]:
        """Return the number of positions of each chunk at each depth less than ``depths``: ``(chunks, depths)``."""
        counts = np.zeros((self.end_chunk - self.first_chunk, depths), dtype=np.uint32)
        here = self.entries[self.entries["depth"] < depths]
        counts[here["chunk"] - self.first_chunk, here["depth"]] = here["count"]
        return counts

    def _covered(self, covers: Iterable[Cover]) -> NDArray[np.int32]:
        """Return the depth up to which each chunk is known, when these covers are added."""
        known = self.known.copy()
        for cover in sorted(covers, key=lambda cover: cover.first_depth):
            first = max(cover.first_chunk, self.first_chunk) - self.first_chunk
            end = min(cover.end_chunk, self.end_chunk) - self.first_chunk
            if first < end:
                here = known[first:end]
                here[(here >= cover.first_depth - 1) & (here < cover.last_depth)] = cover.last_depth
        return known


def _unique(entries: NDArray[np.void]) -> NDArray[np.void]:
    """Return the entries by chunk and depth, without later duplicates of the same chunk and depth."""
    key = entries["chunk"].astype(np.int64) << 16 | entries["depth"]
    _, first = np.unique(key, return_index=True)
    return entries[first]
