"""The tasks that find layers: the data that shards get from other shards, and the order of the tasks.

Shards that only need the frontiers of a few others form a `NeighbourGraph`. If moves may lead from any shard to any
other, the shards form an `ExchangeGraph`. The strategy of the run determines the class.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from antipodes.executors.api import Call, Handle, Key, result_of
from antipodes.tables.layers.key_shard import KeyShard, successors_of
from antipodes.tables.layers.shard import Shard, all_held
from antipodes_tasks.bfs.key_partition import KeyLinks, KeySuccessors
from antipodes_tasks.bfs.partition import Frontier, Links
from antipodes_tasks.bfs.partition import boundary as boundary_of


@dataclass
class LayerGraph(ABC):
    """The tasks of layers that are submitted together. Each task changes its shards in place, on the shards' worker."""

    run: str
    """The part of every key that identifies the run."""
    links: Handle
    """The moves, and the pairs of partitions that they connect."""
    predecessors: Sequence[Sequence[int]]
    """For each shard, the shards that contain predecessors of its positions, possibly including itself."""
    shares_memory: bool
    """Whether tasks can read each other's shards. If not, they are sent the positions that they need."""
    shards: Sequence[Handle]
    active: set[int]
    """The shards that may have positions at the last depth."""
    token: str
    """The fencing token of the tasks."""
    sizes: Sequence[int] = ()
    """For each shard, the number of positions at the last depth, if known."""
    chunks: Sequence[range] = ()
    """The numbers of the chunks of each shard."""
    groups: Sequence[Sequence[int]] = ()
    """Groups of shards that are on the same worker."""
    calls: dict[Key, Call] = field(default_factory=dict)
    advances: dict[Key, tuple[Sequence[int], int]] = field(default_factory=dict)
    """For each task that advances shards, by key: the numbers of these shards, and the depth where they start."""
    places: dict[Key, Handle] = field(default_factory=dict)
    """For each call, the shard on whose worker it runs."""
    _last: dict[int, Key] = field(default_factory=dict)
    """The last task of each shard. The next task waits for it, since shards forget the frontiers of earlier depths."""

    def add_layers(self, depth: int, layers: int) -> None:
        """Add the tasks of the layers after ``depth``. If there is a single shard, one task finds all of them."""
        if len(self.shards) == 1:
            self._add([0], [], depth, layers)
        else:
            for at in range(depth, depth + layers):
                self._add_layer(at)

    @abstractmethod
    def _add_layer(self, depth: int) -> None:
        """Add the tasks of the layer after ``depth``, for several shards."""

    def _add(self, group: Sequence[int], offers: Sequence[Handle], depth: int, layers: int) -> None:
        """Add the task that advances a group of shards, given the ``offers`` of other shards."""
        shards = [self.shards[number] for number in group]
        call = advance, shards, offers, self.links, depth, layers, self.token, self._handles_after(group[0])
        self.advances[self._call(f"advance-{depth}", group[0], call)] = group, depth

    def _handles_after(self, number: int) -> list[Handle]:
        return [result_of(self._last[number])] if number in self._last else []

    def _turn(self, number: int) -> int:
        """Return the place of a shard's tasks among those of all shards. Threads start the last keys first."""
        return 0

    def _call(self, name: str, number: int, call: Call) -> Key:
        key = f"{name}-{self.run}-{self._turn(number):09}", number
        self.calls[key] = call
        self.places[key] = self.shards[number]
        self._last[number] = key
        return key


class NeighbourGraph(LayerGraph):
    """Each shard reads the frontiers of the shards that contain predecessors of its positions."""

    def _add_layer(self, depth: int) -> None:
        reached = [number for number, others in enumerate(self.predecessors) if self.active.intersection(others)]
        needed = {one for number in reached for one in self.predecessors[number] if one != number} & self.active
        sources = {number: self._source(number, depth) for number in sorted(needed)}
        for number in reached:
            others = [sources[one] for one in self.predecessors[number] if one in sources and one != number]
            self._add([number], others, depth, 1)
        self.active = set(reached)

    def _source(self, number: int, depth: int) -> Handle:
        """Return the source from which other shards read a frontier: the shard itself, or on a cluster its boundary."""
        if self.shares_memory:
            return self.shards[number]
        call = boundary, self.shards[number], self.links, depth, self.token, self._handles_after(number)
        return result_of(self._call(f"boundary-{depth}", number, call))


class ExchangeGraph(LayerGraph):
    """All groups of shards expand, and each group takes its part of all successors."""

    def _add_layer(self, depth: int) -> None:
        expanded = [self._expanded(group, depth) for group in self.groups if self.active.intersection(group)]
        for group in self.groups:
            self._add(group, [self._part(key, group, depth) for key in expanded], depth, 1)
        self.active = set(range(len(self.shards)))

    def _expanded(self, group: Sequence[int], depth: int) -> Key:
        shards = [self.shards[number] for number in group]
        call = expand, shards, self.links, depth, self.token, self._handles_after(group[0])
        return self._call(f"expand-{depth}", group[0], call)

    def _part(self, expanded: Key, group: Sequence[int], depth: int) -> Handle:
        """Return successors for a group to merge. On a cluster, only the successors in its own ranges are sent."""
        if self.shares_memory or expanded[1] == group[0]:
            return result_of(expanded)
        key = f"part-{depth}-{group[0]}-{self.run}", expanded[1]
        self.calls[key] = part, result_of(expanded), [self.chunks[number] for number in group]
        self.places[key] = self.shards[expanded[1]]
        return result_of(key)

    @cached_property
    def _turns(self) -> Mapping[int, int]:
        return {number: turn for turn, number in enumerate(np.argsort(self.sizes, kind="stable").tolist())}

    def _turn(self, number: int) -> int:
        """Return the number of smaller shards, so that threads start with the largest."""
        return self._turns[number]


def advance(
    shards: list[Shard], offers: list[Any], links: Any, depth: int, layers: int, token: str, after: list[Any]
) -> list[list[int]]:
    """Advance some shards, after the tasks whose results are in ``after``; see `Shard.advance`."""
    return [shard.advance(offers, links, depth, layers, token) for shard in shards]


@dataclass(frozen=True)
class Boundary:
    """The rows of a shard's frontier that other shards need: the rows from which a move leaves the shard."""

    depth: int
    parts: tuple[Frontier, ...]

    def frontiers(self, depth: int) -> Sequence[Frontier]:
        """Return the frontiers at a depth, by partition. A frontier may contain only some of the rows."""
        assert depth == self.depth
        return self.parts

    def __sizeof__(self) -> int:
        """Return the size in bytes for dask."""
        return sum(part.rows.nbytes + part.bits.nbytes for part in self.parts)


def boundary(shard: Shard, links: Links, depth: int, token: str, after: list[Any]) -> Boundary:
    """Return the part of a shard's frontier at ``depth`` that has successors outside of the shard.

    This runs after the tasks whose results are in ``after``.
    """
    rows = shard.states[0].part.first_row, shard.states[-1].part.end_row
    with shard.held_by(token):
        parts = [boundary_of(one, links.tables, *rows) for one in shard.frontiers(depth)]
    return Boundary(depth, tuple(part for part in parts if part is not None))


def expand(shards: list[KeyShard], links: KeyLinks, depth: int, token: str, after: list[Any]) -> KeySuccessors:
    """Return the successors of the keys of some shards, after the tasks whose results are in ``after``."""
    with all_held(shards, token):
        return successors_of(shards, links, depth)


def part(found: KeySuccessors, own: Sequence[range]) -> KeySuccessors:
    """Return the successors in the ranges with these numbers."""
    return found.of(own)
