"""Shards whose partitions have two or three bits per entry in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.layers.shard import Shard
from antipodes_tasks.bfs.partition import Frontier, Links
from antipodes_tasks.bfs.partition import boundary as boundary_of


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


@dataclass(frozen=True)
class Boundary:
    """The rows of frontiers that shards in another process need: the rows from which a move leads into these shards."""

    depth: int
    parts: tuple[Frontier, ...]

    def frontiers(self, depth: int) -> Sequence[Frontier]:
        """Return the frontiers at a depth, by partition. A frontier may contain only some of the rows."""
        assert depth == self.depth
        return self.parts


def boundary(shards: Sequence[Shard], links: Links, readers: Sequence[range], depth: int, token: str) -> Boundary:
    """Return the part of the frontiers of some shards at ``depth`` that has successors in the rows of some ``readers``.

    The shards may be advanced meanwhile, but only by one layer.

    Raises InterruptedRunError if ``token`` is not the shards' current token.
    """
    ranges, parts = _joined(readers), list[Frontier | None]()
    for shard in shards:
        shard.check(token)
        parts += [boundary_of(one, links.tables, ranges) for one in shard.frontiers(depth)]
    return Boundary(depth, tuple(part for part in parts if part is not None))


def _joined(rows: Sequence[range]) -> NDArray[np.int32]:
    """Return ascending ranges of rows as an array ``(ranges, 2)``, with adjacent ranges joined."""
    bounds = np.array([(one.start, one.stop) for one in rows], dtype=np.int32)
    gaps = bounds[1:, 0] > bounds[:-1, 1]
    return np.stack((bounds[np.r_[True, gaps], 0], bounds[np.r_[gaps, True], 1]), axis=1)
