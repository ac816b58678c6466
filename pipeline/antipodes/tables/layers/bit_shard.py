"""Shards whose partitions have two or three bits per entry in memory."""

from collections.abc import Sequence
from typing import Any

from antipodes.tables.layers.shard import Shard
from antipodes_tasks.bfs.partition import Links


class BitShard(Shard):
    """A shard of partitions in memory, which read the frontiers of other partitions, or copies of their boundaries."""

    @property
    def memory_limit(self) -> int:
        """The memory of bits and segments. Segments may use the memory that bits do not need."""
        limit: int = self.buffer_bytes + sum(state.most_bytes for state in self.states)
        return limit

    def search(self, offers: Sequence[Any], links: Links, depth: int) -> int:
        """Find the positions at ``depth`` from the frontiers of this shard and of the other shards or boundaries."""
        return advance_states(self, offers, links.predecessors, depth, links.tables, self.log)


def advance_states(
    shard: Shard, offers: Sequence[Any], predecessors: Sequence[Sequence[int]], depth: int, *arguments: Any
) -> int:
    """Advance each state of a shard with the frontiers of its ``predecessors``; return the number of new positions.

    The other ``arguments`` are passed to each state.
    """
    frontiers = {one.number: one for source in (shard, *offers) for one in source.frontiers(depth - 1)}
    found = 0
    for state in shard.states:
        here = [frontiers[number] for number in predecessors[state.part.number] if number in frontiers]
        found += state.advance(depth, here, *arguments)
    return found
