"""A journal file: segments of some chunks and layers, and an index that says which, all bound to one table.

A file is put once, whole, and never changed. It has five parts: MAGIC and the length of the header; the header, a JSON
object with the ``identity`` of the table, what the file ``covers``, and the number of ``segments``; the index, an ENTRY
for each segment; the digest of all this; the bytes of the segments. Numbers are little-endian.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.bfs.segments import Segment
from antipodes_tasks.errors import StoreDamagedError

MAGIC = b"antiseg1"
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
"""A segment in the index. Its offset counts from the first byte of all segments."""


class Cover(NamedTuple):
    """Chunks and depths of which a file has all segments."""

    first_chunk: int
    end_chunk: int
    first_depth: int
    last_depth: int


class Index(NamedTuple):
    """The parts of a journal file before its segments."""

    covers: tuple[Cover, ...]
    entries: NDArray[np.void]
    """``(segments,)`` of ENTRY."""
    begin: int
    """The offset of the first segment in the file."""


def entries_of(identity: str, segments: Sequence[Segment], begin: int) -> NDArray[np.void]:
    """The index of some segments, the first of which is at the offset ``begin``: ``(segments,)`` of ENTRY."""
    entries = np.zeros(len(segments), dtype=ENTRY)
    for place, one in enumerate(segments):
        length, digest = len(one.data), segment_digest(identity, one.chunk, one.depth, one.data.data)
        entries[place] = (one.chunk, one.depth, one.kind, one.positions, length, begin, digest)
        begin += length
    return entries


def head(identity: str, covers: Sequence[Cover], entries: NDArray[np.void]) -> bytes:
    """All parts of a file but the segments."""
    header = json.dumps({"identity": identity, "covers": covers, "segments": len(entries)}).encode()
    content = MAGIC + len(header).to_bytes(8, "little") + header + entries.tobytes()
    return content + _digest(content)


def head_length(prefix: bytes, size: int, name: str) -> int:
    """The length of the header, from the first PREFIX_BYTES of a file of ``size`` bytes."""
    if len(prefix) != PREFIX_BYTES or not prefix.startswith(MAGIC):
        raise StoreDamagedError(f"{name} is damaged: expected a journal file")
    return _within(int.from_bytes(prefix[len(MAGIC) :], "little"), size, name)


def entry_bytes(header: bytes, size: int, name: str) -> int:
    """The length of the index and the digest, from the header of a file of ``size`` bytes."""
    try:
        segments = int(json.loads(header)["segments"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise StoreDamagedError(f"{name} is damaged: its header is not what was written") from error
    return _within(segments * ENTRY.itemsize + DIGEST_BYTES, size, name)


def _within(length: int, size: int, name: str) -> int:
    """The length of a part of a file; damaged ones would take more memory than there is."""
    if not 0 <= length <= size:
        raise StoreDamagedError(f"{name} is damaged: it is cut off, or its header is not what was written")
    return length


def parse_head(content: bytes, header_bytes: int, size: int, identity: str, name: str) -> Index:
    """The index in all parts of a file but its segments.

    Raises
    ------
    StoreDamagedError
        The parts are not what was written, or belong to another table, or the file has not the ``size`` that they tell.
    """
    if _digest(content[:-DIGEST_BYTES]) != content[-DIGEST_BYTES:]:
        raise StoreDamagedError(f"{name} is damaged: its digest does not fit its content")
    header = json.loads(content[PREFIX_BYTES : PREFIX_BYTES + header_bytes])
    if header["identity"] != identity:
        raise StoreDamagedError(f"{name} is damaged: it belongs to another table")
    entries = np.frombuffer(content[PREFIX_BYTES + header_bytes : -DIGEST_BYTES], dtype=ENTRY)
    if size != len(content) + int(entries["length"].sum(dtype=np.int64)):
        raise StoreDamagedError(f"{name} is damaged: it is cut off, or has more than was written")
    return Index(tuple(Cover(*cover) for cover in header["covers"]), entries, len(content))


def segment_digest(identity: str, chunk: int, depth: int, content: bytes | memoryview) -> int:
    """The digest of a segment, bound to its table, its chunk and its depth."""
    hashed = hashlib.sha256(f"{identity} {chunk} {depth}\n".encode())
    hashed.update(content)
    return int.from_bytes(hashed.digest()[:DIGEST_BYTES], "little")


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:DIGEST_BYTES]
