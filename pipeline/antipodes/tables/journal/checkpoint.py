"""Checkpoints of counts-only runs: journal files of the bits at one depth.

Of each chunk, the segment at the depth of a checkpoint has the positions at that depth, and the segment at the depth
before has all positions at lesser depths together. A checkpoint is a folder of its own, and its files cover all depths
up to its depth.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from antipodes.tables.journal.journal import Journal, chunks_in
from antipodes.tables.journal.journal_file import Cover
from antipodes_tasks.bfs.segments import Segment, SegmentLog
from antipodes_tasks.errors import StoreDamagedError

FOLDER = "checkpoint"


def folder_of(depth: int) -> str:
    """The folder of the checkpoint at a depth."""
    return f"{FOLDER}/{depth}"


class Checkpoint:
    """The files of a checkpoint."""

    def __init__(self, journal: Journal, depth: int) -> None:
        self._journal = replace(journal, identity=f"{journal.identity} checkpoint {depth}", folder=folder_of(depth))
        self._depth = depth

    def put(self, chunks: range, log: SegmentLog, token: str) -> str:
        """Write the segments of some chunks to a file, which is not durable yet; its key. Raises as `Journal.put`."""
        cover = Cover(chunks.start, chunks.stop, 0, self._depth)
        return self._journal.put([cover], [log], token, durable=False)[0]

    def sizes(self, ranges: Sequence[range]) -> list[dict[str, int]]:
        """For each range of chunks the bytes of the files that can have segments of them, by their keys."""
        files = list(self._journal.sizes().items())
        spans = np.array([chunks_in(key) for key, _ in files], dtype=np.int64).reshape(-1, 2)
        return [
            dict(files[place] for place in np.flatnonzero((spans[:, 0] < one.stop) & (spans[:, 1] > one.start)))
            for one in ranges
        ]

    def segments(self, chunks: range, sizes: Mapping[str, int]) -> Iterator[Segment]:
        """The segments of some chunks, in the files of these keys and sizes.

        Raises
        ------
        StoreDamagedError
            A file or a segment is missing or damaged.
        """
        damaged: list[str] = []
        stored = self._journal.load(chunks.start, chunks.stop, damaged, sizes)
        if stored.known.min() < self._depth:
            folder = self._journal.storage.name_of(self._journal.folder)
            lacking = f"{folder} is damaged: expected chunks {chunks.start} to {chunks.stop - 1}, found less"
            raise StoreDamagedError("; ".join(damaged) or lacking)
        return self._journal.segments(stored, stored.entries)
