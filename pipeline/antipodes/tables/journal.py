"""The journal of a store: files of segments, from which an unfinished search resumes and the table is assembled.

A counts-only run has checkpoints instead: journal files of the bits at one depth. For each chunk of a checkpoint, the
segment at the checkpoint's depth contains the positions at that depth, and the segment at the previous depth contains
all positions at smaller depths. Each checkpoint has its own folder, and its files cover all depths up to its depth.
"""

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from antipodes.storage.backend import Storage
from antipodes.tables.journal_file import (
    DIGEST_BYTES,
    PREFIX_BYTES,
    Cover,
    FileIndex,
    StoredSegments,
    entries_of,
    entry_bytes,
    head,
    head_length,
    parse_head,
    segment_digest,
)
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.base.parallel import on_threads
from antipodes_tasks.bfs.segments import Segment, SegmentLog

FOLDER, CHECKPOINTS = "journal", "checkpoint"
"""The folder of journal files, and the folder of a counts-only run's checkpoints."""
MAX_READ_BYTES = 16 << 20
"""Maximum number of bytes that are read from a file in one piece, unless a single segment is longer."""
MAX_GAP_BYTES = 1 << 18
"""Maximum number of bytes between two segments that are read in one piece. A bucket takes longer to answer a request
than to send these bytes."""
MAX_HEADER_BYTES, COVER_BYTES = 1 << 12, 64
"""Maximum size of the header of a journal file in bytes, plus bytes for the cover of each chunk."""
MAX_INDEX_BYTES = 1 << 29
"""Maximum size of the index of a journal file in bytes: 16 million segments, far more than a run has in memory."""
DIGEST_THREADS = 4
"""Number of threads that compute the digests of logs."""
Damaged = list[str]
Result = TypeVar("Result")


class JournalDamagedError(StoreDamagedError):
    """A segment is missing or corrupt. A search can find its positions again."""

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key
        """The file with the corrupt segment. None if files are missing."""

    def __reduce__(self) -> tuple[object, ...]:
        return JournalDamagedError, (str(self), self.key)


@dataclass(frozen=True)
class Journal:
    """The journal files of a table. It can be sent to other processes."""

    storage: Storage
    identity: str
    """The puzzle and the state space to which the files belong."""
    chunks: int
    max_bytes: int
    """Maximum size of a segment in bytes."""
    folder: str = FOLDER

    def put(
        self, covers: Sequence[Cover], logs: Sequence[SegmentLog], token: str | None, durable: bool
    ) -> tuple[str, list[FileIndex]]:
        """Write the segments of some logs to a file; return its key, and the index of each log.

        There is one cover for each log. Writing the same logs again replaces the file by the same bytes. Unless
        ``durable`` is True, the caller must make the file durable later with `Storage.make_durable`.

        Raises StoreLockedError if the lock no longer contains the fencing ``token``, and StoreError if the file cannot
        be written.
        """
        begins = np.cumsum([0, *(log.size for log in logs)])[:-1].tolist()
        parts = _for_each(lambda at: entries_of(self.identity, logs[at].segments, begins[at]), len(logs))
        first = head(self.identity, covers, np.concatenate(parts))
        key = f"{self.folder}/{_name(covers, first[-DIGEST_BYTES:])}"
        self.storage.put(key, [first, *(one.data.data for log in logs for one in log.segments)], token, durable)
        return key, [FileIndex((cover,), part, len(first)) for cover, part in zip(covers, parts, strict=True)]

    def sizes(self) -> dict[str, int]:
        """Return the size in bytes of each file, by key in ascending order."""
        return dict(sorted(self.storage.sizes(self.folder).items()))

    def load(
        self,
        first_chunk: int,
        end_chunk: int,
        damaged: Damaged | None = None,
        sizes: Mapping[str, int] | None = None,
        known: int = -1,
    ) -> StoredSegments:
        """Return the segments of some chunks from all files with an intact index.

        For each other file, a message is added to ``damaged``. All depths up to ``known`` count as known, even without
        files.

        A caller that loads many shards can pass the ``sizes`` of all files.
        """
        found = []
        for key, size in (self.sizes() if sizes is None else sizes).items():
            first, end = chunks_in(key)
            if first < end_chunk and end > first_chunk:
                try:
                    found.append((key, self._index(key, size)))
                except FileNotFoundError:  # the run that wrote the file has removed it meanwhile
                    continue
                except StoreDamagedError as error:
                    if damaged is not None:
                        damaged.append(str(error))
        return StoredSegments.empty(first_chunk, end_chunk, known).with_files(found)

    def check_known(self, stored: StoredSegments, depth: int) -> None:
        """Raise JournalDamagedError unless all segments of these chunks are stored up to a depth."""
        lacking = np.flatnonzero(stored.known < depth)
        if len(lacking):
            chunk = stored.first_chunk + int(lacking[0])
            name = self.storage.name_of(self.folder)
            raise JournalDamagedError(
                f"{name} is corrupt: files with positions of chunk {chunk} are missing or corrupt"
            )

    def segments(self, stored: StoredSegments, entries: NDArray[np.void]) -> Iterator[Segment]:
        """Read some of the stored segments, in the order of their places in the files.

        Raises JournalDamagedError if a segment is missing or its digest differs from the one in the index.
        """
        for piece in self.pieces(stored, entries):
            yield from piece

    def pieces(
        self,
        stored: StoredSegments,
        entries: NDArray[np.void],
        read_bytes: int = MAX_READ_BYTES,
        max_gap: int = MAX_GAP_BYTES,
    ) -> Generator[list[Segment], None, None]:
        """Read as `segments` does, and yield lists of segments of at most ``read_bytes``, or of one longer segment.

        Segments that are at most ``max_gap`` bytes apart in a file are read in one piece.
        """
        for run in _runs(np.sort(entries, order=("file", "offset")), read_bytes, max_gap):
            key, begin = stored.files[run[0]["file"]], int(run[0]["offset"])
            length = int(run[-1]["offset"]) + int(run[-1]["length"]) - begin
            content = self._read(key, begin, length)
            yield [self._segment(key, entry, content, int(entry["offset"]) - begin) for entry in run]

    def delete(self, keys: Iterable[str] | None = None) -> None:
        """Delete some files, by default all."""
        if keys is None:
            self.storage.delete(self.folder)
        else:
            self.storage.delete_keys(keys)

    def delete_before(self, depth: int) -> None:
        """Delete the files whose layers are all at smaller depths than ``depth``."""
        self.delete([key for key in self.sizes() if last_depth_in(key) < depth])

    def _index(self, key: str, size: int) -> FileIndex:
        """Return the index of a file of ``size`` bytes; raise StoreDamagedError if it is corrupt or truncated."""
        name = self.storage.name_of(key)
        prefix = self.storage.read_range(key, 0, PREFIX_BYTES)
        header_bytes = head_length(prefix, min(size, MAX_HEADER_BYTES + COVER_BYTES * self.chunks), name)
        header = self.storage.read_range(key, PREFIX_BYTES, header_bytes)
        rest = self.storage.read_range(
            key, PREFIX_BYTES + header_bytes, entry_bytes(header, min(size, MAX_INDEX_BYTES), name)
        )
        index = parse_head(prefix + header + rest, header_bytes, size, self.identity, name)
        if index.entries["length"].max(initial=0) > self.max_bytes:
            raise StoreDamagedError(f"{name} is corrupt: a segment is larger than the bits of a chunk")
        return index

    def _read(self, key: str, begin: int, length: int) -> memoryview:
        try:
            return memoryview(self.storage.read_range(key, begin, length))
        except FileNotFoundError:
            raise JournalDamagedError(f"{self.storage.name_of(key)} is missing") from None

    def _segment(self, key: str, entry: np.void, content: memoryview, offset: int) -> Segment:
        """Return the segment whose bytes begin at an offset of the content."""
        chunk, depth, kind, count, length = (int(entry[name]) for name in ("chunk", "depth", "kind", "count", "length"))
        data = content[offset : offset + length]
        if segment_digest(self.identity, chunk, depth, data) != int(entry["digest"]):
            name = self.storage.name_of(key)
            raise JournalDamagedError(
                f"{name} is corrupt: the digest of chunk {chunk} at depth {depth} is not the one in its index", key
            )
        # a writable copy, since numba would compile kernels again for read-only arrays
        return Segment(chunk, depth, kind, count, np.frombuffer(bytearray(data), dtype=np.uint8))


def _for_each(function: Callable[[int], Result], count: int) -> list[Result]:
    return list(on_threads(function, range(count), min(DIGEST_THREADS, count)))


NAME_PARTS = ("first chunk", "end chunk", "last depth", "digest")
"""The parts of the name of a file."""
SEGMENT_FILE = re.compile(rf"\d+-\d+-\d+-[0-9a-f]{{{2 * DIGEST_BYTES}}}", re.ASCII)
"""Names of files."""


def _name(covers: Sequence[Cover], digest: bytes) -> str:
    """Return the name of a file: its chunks, its last depth, and its digest."""
    first, end = min(cover.first_chunk for cover in covers), max(cover.end_chunk for cover in covers)
    depth = max(cover.last_depth for cover in covers)
    return f"{first}-{end}-{depth}-{digest.hex()}"


def chunks_in(key: str) -> tuple[int, int]:
    """Return the range of chunks in the name of a file; all chunks if the name has another form."""
    try:
        first, end = map(int, key.rpartition("/")[2].split("-")[:2])
    except ValueError:
        return 0, 1 << 32
    return first, end


def last_depth_in(key: str) -> int:
    """Return the last depth in the name of a file; the maximum depth if the name has another form."""
    parts = key.rpartition("/")[2].split("-")
    return int(parts[2]) if len(parts) == len(NAME_PARTS) and parts[2].isdecimal() else 1 << 16


def _runs(entries: NDArray[np.void], read_bytes: int, max_gap: int) -> Iterator[NDArray[np.void]]:
    """Yield the entries in groups of at most about ``read_bytes``, in which gaps have at most ``max_gap`` bytes."""
    if not len(entries):
        return
    ends = entries["offset"] + entries["length"]
    split = (entries["file"][1:] != entries["file"][:-1]) | (entries["offset"][1:] > ends[:-1] + np.uint64(max_gap))
    for run in np.split(entries, np.flatnonzero(split) + 1):
        piece = (run["offset"] - run["offset"][0]) // np.uint64(read_bytes)
        yield from np.split(run, np.flatnonzero(np.diff(piece)) + 1)


def folder_of(depth: int) -> str:
    """Return the folder of the checkpoint at a depth."""
    return f"{CHECKPOINTS}/{depth}"


class Checkpoint:
    """The files of a checkpoint."""

    def __init__(self, journal: Journal, depth: int) -> None:
        self._journal = replace(journal, identity=f"{journal.identity} checkpoint {depth}", folder=folder_of(depth))
        self._depth = depth

    def put(self, chunks: range, log: SegmentLog, token: str) -> str:
        """Write segments to a file that is not durable yet; return its key. Raises as `Journal.put` does."""
        cover = Cover(chunks.start, chunks.stop, 0, self._depth)
        return self._journal.put([cover], [log], token, durable=False)[0]

    def sizes(self, ranges: Sequence[range]) -> list[dict[str, int]]:
        """Return for each range of chunks the files that may contain its segments, and their sizes in bytes."""
        files = list(self._journal.sizes().items())
        spans = np.array([chunks_in(key) for key, _ in files], dtype=np.int64).reshape(-1, 2)
        return [
            dict(files[place] for place in np.flatnonzero((spans[:, 0] < one.stop) & (spans[:, 1] > one.start)))
            for one in ranges
        ]

    def segments(self, chunks: range, sizes: Mapping[str, int]) -> Iterator[Segment]:
        """Return the segments of some chunks, in the files with these keys and sizes.

        Raises StoreDamagedError if a file or a segment is missing or corrupt.
        """
        damaged: list[str] = []
        stored = self._journal.load(chunks.start, chunks.stop, damaged, sizes)
        if stored.known.min() < self._depth:
            folder = self._journal.storage.name_of(self._journal.folder)
            lacking = f"{folder} is corrupt: files for chunks {chunks.start} to {chunks.stop - 1} are missing"
            raise StoreDamagedError("; ".join(damaged) or lacking)
        return self._journal.segments(stored, stored.entries)
