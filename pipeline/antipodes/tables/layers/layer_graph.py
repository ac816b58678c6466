"""The tasks that find layers: the data that shards get from other shards, and the order of the tasks.

Shards that only need the frontiers of a few others form a `NeighbourGraph`. If moves may lead from any shard to any
other, the shards form an `ExchangeGraph`. The strategy of the run determines the class.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.executors.api import Call, Handle, Key, result_of
from antipodes.tables.layers.boundaries import MAX_BATCHES
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
    batches: Sequence[Sequence[Sequence[int]]] = ()
    """The batches of each process: shards that are sent the rows that they need together. See `boundaries`."""
    rows: Sequence[range] = ()
    """The rows of each shard."""
    settles_together: bool = False
    """Whether a shard that has found a layer does not hold the layer before it any more."""
    calls: dict[Key, Call] = field(default_factory=dict)
    advances: dict[Key, tuple[Sequence[int], int]] = field(default_factory=dict)
    """For each task that advances shards, by key: the numbers of these shards, and the depth where they start."""
    places: dict[Key, Handle] = field(default_factory=dict)
    """For each call, the shard on whose worker it runs."""
    _last: dict[int, Key] = field(default_factory=dict)
    """The last task of each shard. The next task waits for it, since shards forget the frontiers of earlier depths."""
    _readers: dict[int, list[Key]] = field(default_factory=dict)
    """The tasks that read frontiers of each shard. The next task that changes the shard waits for them."""
    _late_readers: dict[int, list[Key]] = field(default_factory=dict)
    """The tasks that read the last frontier of each shard, if batches advance in turn. Only the task after the next one
    waits for them."""
    _advanced: dict[int, list[list[Handle]]] = field(default_factory=dict)
    """The results of the batches of each process, in the order in which they advance, over all layers of the graph."""

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
        after = [*self._handles_after(group[0]), *map(result_of, self._readers.pop(group[0], ()))]
        call = advance, shards, offers, self.links, depth, layers, self.token, after
        self.advances[self._call(f"advance-{depth}", group[0], call)] = group, depth

    def _handles_after(self, number: int) -> list[Handle]:
        return [result_of(self._last[number])] if number in self._last else []

    def _turn(self, number: int) -> int:
        """Return the place of a shard's tasks among those of all shards. Threads start the last keys first."""
        return 0

    def _key(self, name: str, number: int) -> Key:
        return f"{name}-{self.run}-{self._turn(number):09}", number

    def _call(self, name: str, number: int, call: Call) -> Key:
        key = self._key(name, number)
        self.calls[key] = call
        self.places[key] = self.shards[number]
        self._last[number] = key
        return key


class NeighbourGraph(LayerGraph):
    """Each shard reads the frontiers of the shards that contain predecessors of its positions.

    On a cluster, a batch of shards gets the *boundary* of each of these shards instead, which contains only the rows
    with moves into the batch. If a process has more than two batches, they advance in turn: the boundaries for a batch
    are extracted when the batch before the last one has advanced. So a process never holds rows for more than two
    batches. A shard may then advance before all batches have read its frontier, which it holds for one more layer.
    """

    def _add_layer(self, depth: int) -> None:
        reached = [number for number, others in enumerate(self.predecessors) if self.active.intersection(others)]
        read = {number: {one for one in self.predecessors[number] if one != number} & self.active for number in reached}
        if self.shares_memory:
            sources = {number: {one: self.shards[one] for one in others} for number, others in read.items()}
        else:
            sources = self._boundaries(read, depth)
        for number in reached:
            self._add([number], list(sources[number].values()), depth, 1)
        self.active = set(reached)

    def _boundaries(self, read: Mapping[int, Collection[int]], depth: int) -> dict[int, dict[int, Handle]]:
        """Add the tasks that extract boundaries; return for each shard the boundaries that it reads.

        ``read`` contains the shards whose frontiers each shard reads.
        """
        in_turn = not self.settles_together and any(len(batches) > MAX_BATCHES for batches in self.batches)
        found, readers = dict[int, dict[int, Handle]](), dict[int, list[Key]]()
        for process, batches in enumerate(self.batches):
            advanced, held = self._advanced.setdefault(process, []), min(MAX_BATCHES, len(batches))
            for batch in batches:
                if not (reached := [number for number in batch if number in read]):
                    continue
                after = advanced[len(advanced) - held] if in_turn and len(advanced) >= held else []
                advanced.append([result_of(self._key(f"advance-{depth}", number)) for number in reached])
                sent = {
                    source: self._boundary(source, [one for one in reached if source in read[one]], depth, after)
                    for source in sorted({one for number in reached for one in read[number]})
                }
                for source, key in sent.items():
                    readers.setdefault(source, []).append(key)
                found |= {number: {one: result_of(sent[one]) for one in sorted(read[number])} for number in reached}
        awaited, self._late_readers = (self._late_readers, readers) if in_turn else (readers, {})
        for source, keys in awaited.items():
            self._readers.setdefault(source, []).extend(keys)
        return found

    def _boundary(self, source: int, batch: Sequence[int], depth: int, after: list[Handle]) -> Key:
        """Add the task that extracts the rows of a shard's frontier that a batch needs; return its key."""
        key = self._key(f"boundary-{depth}-{batch[0]}", source)
        rows, waits = [self.rows[number] for number in batch], [*self._handles_after(source), *after]
        self.calls[key] = boundary, self.shards[source], self.links, rows, depth, self.token, waits
        self.places[key] = self.shards[source]
        return key


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
    """The rows of a shard's frontier that other shards need: the rows from which a move leads into these shards."""

    depth: int
    parts: tuple[Frontier, ...]

    def frontiers(self, depth: int) -> Sequence[Frontier]:
        """Return the frontiers at a depth, by partition. A frontier may contain only some of the rows."""
        assert depth == self.depth
        return self.parts

    def __sizeof__(self) -> int:
        """Return the size in bytes for dask."""
        return sum(part.rows.nbytes + part.bits.nbytes for part in self.parts)


def boundary(
    shard: Shard, links: Links, readers: Sequence[range], depth: int, token: str, after: list[Any]
) -> Boundary:
    """Return the part of a shard's frontier at ``depth`` that has successors in the rows of some ``readers``.

    This runs after the tasks whose results are in ``after``.
    """
    ranges = _joined(readers)
    with shard.held_by(token):
        parts = [boundary_of(one, links.tables, ranges) for one in shard.frontiers(depth)]
    return Boundary(depth, tuple(part for part in parts if part is not None))


def _joined(rows: Sequence[range]) -> NDArray[np.int32]:
    """Return ascending ranges of rows as an array ``(ranges, 2)``, with adjacent ranges joined."""
    bounds = np.array([(one.start, one.stop) for one in rows], dtype=np.int32)
    gaps = bounds[1:, 0] > bounds[:-1, 1]
    return np.stack((bounds[np.r_[True, gaps], 0], bounds[np.r_[gaps, True], 1]), axis=1)


def expand(shards: list[KeyShard], links: KeyLinks, depth: int, token: str, after: list[Any]) -> KeySuccessors:
    """Return the successors of the keys of some shards, after the tasks whose results are in ``after``."""
    with all_held(shards, token):
        return successors_of(shards, links, depth)


def part(found: KeySuccessors, own: Sequence[range]) -> KeySuccessors:
    """Return the successors in the ranges with these numbers."""
    return found.of(own)
