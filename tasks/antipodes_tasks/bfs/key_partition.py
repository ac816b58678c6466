"""Partitions of keys: positions without a number, each a key that says all of it, in sorted arrays.

A partition owns some neighbouring ranges of keys, the *ranges* of a store. The layers are sorted arrays. In a layer,
each partition expands its frontier and sorts the keys that come out, without repeats. They are cut at the bounds of the
partitions, and the owner of each part merges the parts that it gets, and takes away what it has seen. If moves can be
undone, that is in the last two layers: a neighbour of a position at depth d has depth d - 1, d or d + 1. Otherwise it
is all that was seen, which is kept encoded.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.bfs.partition import Partition
from antipodes_tasks.bfs.segments import KEYS, Segment, SegmentLog, no_segment
from antipodes_tasks.errors import InterruptedRunError, StoreDamagedError
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.packing import Keys, Packing, squeezed
from antipodes_tasks.keys.ranges import KeyRanges
from antipodes_tasks.keys.runs import decode, encode, no_keys, of_integers, without_run
from antipodes_tasks.keys.sorted_keys import cut, find, merge, sorted_rows, sorted_unique, without
from antipodes_tasks.rules.rules import Rules

EXPANDED = 1 << 18
"""Keys of a frontier that are expanded together: their successors take some 10 MB."""


@dataclass(frozen=True, eq=False, slots=True)
class KeyFrontier:
    """The positions of a partition that are new at a depth."""

    number: int
    """The number of the partition."""
    keys: Keys

    @property
    def count(self) -> int:
        """The number of positions."""
        return len(self.keys)


class KeyLayer(NamedTuple):
    """The keys of a partition at a depth."""

    depth: int
    keys: Keys


class KeyState:
    """A partition of keys after a layer; the counterpart of `partition.State`, whose methods it has."""

    def __init__(self, part: Partition, ranges: KeyRanges, range_rows: int) -> None:
        """A partition without positions; its rows are ``range_rows`` for each of its ranges."""
        self.part = part
        self._ranges = ranges
        first = part.first_row // range_rows
        self.chunks = range(first, first + -(-part.rows // range_rows))
        """The numbers of its ranges."""
        self._bounds = ranges.firsts[self.chunks.start : self.chunks.stop - 1]
        self._layers: tuple[KeyLayer, ...] = ()
        """The last two layers at most, the deeper one first. Replaced as a whole, since other threads read it."""
        self._runs: dict[int, list[Segment]] = {chunk: [] for chunk in self.chunks}
        """For each range all that was seen, merged into few segments, where moves cannot be undone."""
        self._first_kept = -1
        """The least depth whose positions are known still."""

    most_bytes = 0
    """Bytes of memory that the state takes at most: unknown before the search, so the log gets what is planned."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return sum(layer.keys.nbytes for layer in self._layers) + sum(len(one.data) for one in self._seen)

    def kept_from(self, depth: int) -> int:
        """The least depth of the segments that are needed to return to ``depth``."""
        return 0 if self._ranges.one_way else max(0, depth - 1)

    restored_from = kept_from
    """The least depth of the segments that are needed to restore the state at a depth."""

    def frontier(self, depth: int) -> KeyFrontier | None:
        """The positions at ``depth``, one of the last two depths at which there are any; None where there are none.

        Raises
        ------
        InterruptedRunError
            The frontier at that depth has been discarded.
        """
        for layer in self._layers:
            if layer.depth == depth:
                return KeyFrontier(self.part.number, layer.keys)
        if depth < self._first_kept:
            raise InterruptedRunError(f"the positions at depth {depth} are not kept any more")
        return None

    def begin(self, starts: Keys, log: SegmentLog | None) -> int:
        """Find the ``starts``, keys ``(n,)``, that lie in the partition; how many do."""
        return self._settle(0, self._own(sorted_unique(starts.copy())), log)

    def advance(self, depth: int, arrived: Sequence[Keys], log: SegmentLog | None) -> int:
        """Find the positions at ``depth`` among sorted arrays of keys of the partition; how many are new."""
        if not any(map(len, arrived)):
            return 0
        keys = merge(arrived)
        new = self._unseen(keys) if self._ranges.one_way else without(keys, *(layer.keys for layer in self._layers))
        return self._settle(depth, new, log)

    def replay(self, depth: int, segments: Sequence[Segment]) -> int:
        """Take the positions at ``depth`` from segments instead of searching them; how many there are."""
        if not segments:
            return 0
        keys = self._keys(segments)
        if len(without(keys, *(layer.keys for layer in self._layers))) != len(keys):
            raise StoreDamagedError(f"the journal is damaged: positions at depth {depth} are also at other depths")
        return self._settle(depth, keys, None)

    def restore(self, depth: int, segments: Iterable[Segment]) -> None:
        """Set the state to ``depth``, by all segments from `restored_from` up to this depth.

        StoreDamagedError where they are no segments of the partition.
        """
        self._restore(depth, list(segments))

    def go_back(self, depth: int, segments: Iterable[Segment]) -> None:
        """Return to ``depth``, by all segments from `kept_from` on; raises as `restore`."""
        self._restore(depth, [one for one in segments if one.depth <= depth])

    def before(self, depth: int) -> int:
        """How many positions at lesser depths the state knows: of moves that can be undone one layer."""
        if self._ranges.one_way:
            frontier = self.frontier(depth)
            return sum(one.positions for one in self._seen) - (frontier.count if frontier else 0)
        return sum(len(layer.keys) for layer in self._layers if layer.depth == depth - 1)

    def checkpoint(self, depth: int) -> SegmentLog:
        """Segments of the positions at ``depth``, the last one, and as of depth - 1 of those before that are needed."""
        log = SegmentLog()
        before = [layer.keys for layer in self._layers if layer.depth == depth - 1]
        if self._ranges.one_way:
            before = [self._keys([one]) for one in self._seen]
        last = self.frontier(depth)
        if before:
            self._log(depth - 1, without(merge(before), *([] if last is None else [last.keys])), log)
        if last is not None:
            self._log(depth, last.keys, log)
        return log

    def positions(self, depth: int, limit: int) -> Keys:
        """The first keys at one of the last two depths, ``(n,)``, ascending."""
        frontier = self.frontier(depth)
        return no_keys(self._ranges.words) if frontier is None else frontier.keys[:limit]

    def _own(self, keys: Keys) -> Keys:
        """The part of a sorted array that the partition owns."""
        ends = [0, *find(keys, self._ranges.firsts), len(keys)]
        first, end = ends[self.chunks.start], ends[self.chunks.stop]
        return keys[first:end]

    def _unseen(self, keys: Keys) -> Keys:
        """The keys of a sorted array that no layer has."""
        parts = []
        for chunk, here in zip(self.chunks, cut(keys, self._bounds), strict=True):
            runs = self._runs[chunk]
            for one in runs if len(here) else ():
                here = without_run(here, one.data, one.positions)
            parts.append(here)
        return np.concatenate(parts)

    @property
    def _seen(self) -> list[Segment]:
        """All that was seen, where moves cannot be undone."""
        return [one for runs in self._runs.values() for one in runs]

    def _see(self, segments: Iterable[Segment]) -> None:
        """Add to what was seen: of each range runs, each of which is at most half as long as the one before.

        So there are few of them, and each key is merged a few times only.
        """
        for one in segments:
            runs = self._runs[one.chunk]
            runs.append(one)
            while len(runs) > 1 and 2 * runs[-1].positions > runs[-2].positions:
                keys = merge([keys_of(run, self._ranges.words) for run in (runs.pop(), runs.pop())])
                runs.append(Segment(one.chunk, one.depth, KEYS, len(keys), encode(keys)))

    def _settle(self, depth: int, keys: Keys, log: SegmentLog | None) -> int:
        """Keep a new layer, and add it to the log; how many positions it has."""
        if log is not None or self._ranges.one_way:
            found = SegmentLog()
            self._log(depth, keys, found)
            self._see(found.segments if self._ranges.one_way else ())
            for segment in found.segments if log is not None else ():
                log.append(segment)  # type: ignore[union-attr]
        kept = tuple(layer for layer in self._layers if layer.depth >= depth - 1)
        self._first_kept = depth - 1
        self._layers = (KeyLayer(depth, keys), *kept) if len(keys) else kept
        return len(keys)

    def _log(self, depth: int, keys: Keys, log: SegmentLog) -> None:
        """Add the segments of a layer, one for each range that has positions."""
        for chunk, here in zip(self.chunks, cut(keys, self._bounds), strict=True):
            if len(here):
                log.append(Segment(chunk, depth, KEYS, len(here), encode(here)))

    def _restore(self, depth: int, segments: Sequence[Segment]) -> None:
        """Take the last layers from segments, and what was seen from all of them."""
        wanted = (depth,) if self._ranges.one_way else (depth, depth - 1)
        layers = {at: [one for one in segments if one.depth == at] for at in wanted}
        self._layers = tuple(KeyLayer(at, self._keys(layer)) for at, layer in layers.items() if layer)
        self._first_kept = depth
        if self._ranges.one_way:
            self._runs = {chunk: [] for chunk in self.chunks}
            self._see(sorted(segments, key=lambda one: one.depth))

    def _keys(self, segments: Sequence[Segment]) -> Keys:
        """The keys of segments of one depth, in ascending order."""
        ordered = sorted(segments, key=lambda one: one.chunk)
        return np.concatenate([keys_of(one, self._ranges.words) for one in ordered])


def keys_of(segment: Segment, words: int) -> Keys:
    """The keys of a segment; StoreDamagedError if it has not as many as it says."""
    keys = decode(segment.data, segment.positions, words) if segment.kind == KEYS else None
    if keys is None:
        raise no_segment(segment)
    return keys


class Successors(NamedTuple):
    """The keys that the moves of some partitions lead to."""

    depth: int
    """The depth that the moves begin at."""
    parts: tuple[Keys, ...]
    """For each partition of the search its keys, sorted and different."""

    def of(self, numbers: range) -> "Successors":
        """Those of some partitions, as arrays of their own; none of the others."""
        none = self.parts[0][:0]
        return Successors(
            self.depth, tuple(part.copy() if at in numbers else none for at, part in enumerate(self.parts))
        )

    def __sizeof__(self) -> int:
        """Bytes that dask counts."""
        return sum(part.nbytes for part in self.parts)


@dataclass(frozen=True)
class KeyLinks:
    """The moves between partitions of keys: any may lead to any other."""

    rules: Rules
    packing: Packing
    bounds: tuple[int, ...]
    """The first key of each partition but the first."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process makes the moves anew."""
        return KeyLinks, (self.rules, self.packing, self.bounds)

    @cached_property
    def expansion(self) -> Expansion:
        """The moves."""
        return Expansion(self.rules, self.packing)

    @property
    def predecessors(self) -> list[list[int]]:
        """For each partition the partitions whose moves may lead to it: all."""
        every = list(range(len(self.bounds) + 1))
        return [every for _ in every]

    def successors(self, depth: int, frontiers: Iterable[KeyFrontier]) -> Successors:
        """The keys one move after some frontiers at a depth.

        InputError where a function does not undo a move as it says: two layers would not be enough to look at.
        """
        found = [self._expanded(here) for here in _blocks(frontiers)]
        bounds = of_integers(self.bounds, self.packing.words)
        keys = merge(found) if found else no_keys(self.packing.words)
        return Successors(depth, tuple(cut(keys, bounds)))

    def _expanded(self, keys: Keys) -> Keys:
        return sorted_unique(self.expansion.successors(keys, check=True))


def _blocks(frontiers: Iterable[KeyFrontier]) -> Iterator[Keys]:
    for frontier in frontiers:
        for first in range(0, frontier.count, EXPANDED):
            yield frontier.keys[first : first + EXPANDED]


def with_depths(segments: Sequence[Segment], words: int) -> tuple[Keys, NDArray[np.uint16]]:
    """All keys of the segments of a range, in ascending order, and the depth of each, ``(n,)``.

    StoreDamagedError where a segment is none, or a key is there twice.
    """
    if not segments:
        return no_keys(words), np.empty(0, dtype=np.uint16)
    keys = np.concatenate([keys_of(one, words) for one in segments])
    depths = np.repeat([one.depth for one in segments], [one.positions for one in segments]).astype(np.uint16)
    bits = int(depths.max()).bit_length()
    if words == 1 and int(keys.max()) >> (64 - bits) == 0:  # one word holds both, and numbers sort fastest
        together = keys << np.uint64(bits) | depths
        together.sort()
        keys, depths = together >> np.uint64(bits), (together & np.uint64((1 << bits) - 1)).astype(np.uint16)
    else:
        rows = sorted_rows(np.column_stack((keys, depths)))
        keys, depths = squeezed(rows[:, :-1].copy()), rows[:, -1].astype(np.uint16)
    same = keys[1:] == keys[:-1]
    if (same if words == 1 else same.all(axis=1)).any():
        raise StoreDamagedError(f"the journal is damaged: range {segments[0].chunk} has a position twice")
    return keys, depths
