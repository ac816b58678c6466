"""Shards whose layers are on disk: memory holds only the bits of the layer being computed."""

from collections.abc import Sequence
from typing import Any

from antipodes.system.machine import MIB
from antipodes.tables.journal import Journal
from antipodes.tables.layers.bit_shard import advance_states
from antipodes.tables.layers.disk_segments import DiskSegments, LayerLog
from antipodes.tables.layers.shard import Shard
from antipodes_tasks.bfs.on_disk import DiskLinks

LOG_BYTES = 4 * MIB
"""Maximum size in bytes of the segments that are not in a file yet, of a shard that finds a layer."""


class DiskShard(Shard):
    """A shard whose partitions read the layers of all shards from files."""

    segments: DiskSegments

    def new_segments(self, journal: Journal, chunks: range, max_gaps: float) -> DiskSegments:
        """Return empty segments, which the states read."""
        segments = DiskSegments(journal, chunks.start, chunks.stop, LOG_BYTES, max_gaps)
        for state in self.states:
            state.files = segments
        return segments

    @property
    def memory_limit(self) -> int:
        """The maximum size of the segments that are not in a file after a layer."""
        return self.buffer_bytes

    def search(self, offers: Sequence[Any], links: DiskLinks, depth: int) -> int:
        """Find the positions at ``depth`` from the frontiers of this shard and of the other shards, in files."""
        return advance_states(self, offers, links.predecessors, depth, links, LayerLog(self.segments, self.token))
