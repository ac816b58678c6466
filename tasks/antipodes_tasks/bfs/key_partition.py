"""Partitions of keys: positions that have no index are searched as sorted arrays of keys.

A partition owns some adjacent ranges of keys, and its layers are sorted arrays. Each layer takes two steps. First, each
partition expands its frontier, sorts the successors and removes duplicates. Then the successors are split at the bounds
of the partitions. Each partition merges the successors in its ranges and removes keys that were visited before. If
moves are reversible, it is enough to remove the keys of the last two layers, because a neighbour of a position at depth
d has depth d - 1, d or d + 1. Otherwise, the keys of all earlier layers are removed; these layers are kept encoded.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.bfs.partition import Partition, layer_at
from antipodes_tasks.bfs.segments import KEYS, Segment, SegmentLog, no_segment
from antipodes_tasks.keys.encoded_runs import WORD, decode, encode, no_keys, without_run
from antipodes_tasks.keys.expansion import Expansion
from antipodes_tasks.keys.packing import Keys, Packing, squeezed
from antipodes_tasks.keys.ranges import KeyRanges
from antipodes_tasks.keys.sets import NO_BYTES, PLAIN, Disk, EncodedSet, KeySet, PlainSet
from antipodes_tasks.keys.sorted_keys import MIN_KEYS_TO_COMPILE, difference, merge, sorted_rows, sorted_unique
from antipodes_tasks.rules.rules import Rules

EXPANDED = 1 << 18
"""Maximum number of keys of a frontier that are expanded at a time; fewer if they have more than FOUND successors."""
FOUND = 1 << 19
"""Number of keys that are sorted at a time. They take 4 MiB, and a worker holds several copies while sorting."""
TOGETHER = 1 << 19
"""Maximum number of successors in a partition for which all ranges of the partition are merged at once."""


@dataclass(frozen=True, eq=False, slots=True)
class KeyFrontier:
    """The positions of a partition that are new at a depth."""

    number: int
    """Number of the partition."""
    found: KeySet

    @property
    def count(self) -> int:
        """Number of positions."""
        return self.found.count

    def batches(self) -> Iterator[Keys]:
        """Yield the keys in ascending order, in arrays of moderate size; small ranges are combined."""
        ranges, begin = self.found.ranges, self.found.first
        for end in range(begin + 1, ranges.stop + 1):
            if end == ranges.stop or self.found.count_in(range(begin, end + 1)) > EXPANDED:
                yield self.found.keys_of_ranges(range(begin, end))
                begin = end


class KeyLayer(NamedTuple):
    """The keys of a partition at a depth."""

    depth: int
    found: KeySet


class KeyState:
    """The state of a partition of keys after a layer; the counterpart of `partition.State`, with the same methods."""

    def __init__(self, part: Partition, ranges: KeyRanges, range_rows: int) -> None:
        """Create a partition without positions; each range of keys stands for ``range_rows`` rows of the partition."""
        self.part = part
        self._ranges = ranges
        first = part.first_row // range_rows
        self.chunks = range(first, first + -(-part.rows // range_rows))
        """Numbers of the partition's ranges."""
        self._bounds = ranges.first_keys[self.chunks.start : self.chunks.stop - 1]
        self._layers: tuple[KeyLayer, ...] = ()
        """At most the last two layers, the deeper one first. The tuple is replaced, never changed, because other
        threads read it.
        """
        self._seen: list[EncodedSet] = []
        """All visited keys if some move is irreversible. Each set is at most half as large as the set before it."""
        self._first_kept = -1
        """Minimum depth whose positions are still known."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return sum(layer.found.nbytes for layer in self._layers) + sum(one.nbytes for one in self._seen)

    def to_disk(self, disk: Disk) -> None:
        """Move all keys to a disk."""
        self._layers = tuple(KeyLayer(layer.depth, layer.found.to_disk(disk)) for layer in self._layers)
        self._seen = [one.to_disk(disk) for one in self._seen]

    def kept_from(self, depth: int) -> int:
        """Return the depth from which segments are needed to return to ``depth``."""
        return 0 if self._ranges.one_way else max(0, depth - 1)

    restored_from = kept_from
    """Function that returns the depth from which segments are needed to restore the state at a depth."""

    def frontier(self, depth: int) -> KeyFrontier | None:
        """Return the positions at ``depth``, one of the last two depths that have any; None if there are none.

        Raises InterruptedRunError if the frontier at that depth has been discarded.
        """
        layer = layer_at(depth, self._layers, self._first_kept)
        return None if layer is None else KeyFrontier(self.part.number, layer.found)

    def begin(self, starts: Keys, log: SegmentLog | None) -> int:
        """Add the ``starts``, keys ``(n,)``, that lie in the partition; return their number."""
        found = PlainSet.of(sorted_unique(starts.copy()), 0, self._ranges.first_keys)
        return self._settle(0, found.part(self.chunks), log)

    def advance(self, depth: int, arrived: Sequence[KeySet], log: SegmentLog | None) -> int:
        """Find the positions at ``depth`` among the successors ``arrived``, from any partition; return their number."""
        count = sum(one.count_in(self.chunks) for one in arrived)
        if not count:
            return 0
        if count <= TOGETHER and not self._seen:
            return self._settle(depth, self._as_set(self._new_keys(arrived, self.chunks)), log)
        new = (self._new_keys(arrived, range(number, number + 1)) for number in self.chunks)
        return self._settle(depth, EncodedSet.of(self.chunks.start, self._ranges.words, new), log)

    def replay(self, depth: int, segments: Iterable[Segment]) -> int:
        """Read the positions at ``depth`` from segments instead of searching; return their number."""
        segments = list(segments)
        if not segments:
            return 0
        found = self._of_segments(segments)
        for number in self.chunks:
            here = range(number, number + 1)
            if len(self._without_layers(found.keys_of_ranges(here), here)) < found.count_in(here):
                raise StoreDamagedError(f"the journal is corrupt: positions at depth {depth} are also at other depths")
        return self._settle(depth, found, None)

    def restore(self, depth: int, segments: Iterable[Segment]) -> None:
        """Restore the state at ``depth`` from all segments from `restored_from` up to this depth.

        Raises StoreDamagedError if the segments do not belong to the partition.
        """
        self._restore(depth, list(segments))

    def go_back(self, depth: int, segments: Iterable[Segment]) -> None:
        """Return to ``depth``, using all segments from `kept_from` on; raises the errors of `restore`."""
        self._restore(depth, [one for one in segments if one.depth <= depth])

    def forget_before(self, depth: int) -> None:
        """Do nothing: `advance` has replaced the layers that are not needed any more."""

    def positions_before(self, depth: int) -> int:
        """Return the number of known positions at smaller depths; if moves are reversible, only depth - 1 is known."""
        if self._ranges.one_way:
            frontier = self.frontier(depth)
            return sum(one.count for one in self._seen) - (frontier.count if frontier else 0)
        return sum(layer.found.count for layer in self._layers if layer.depth == depth - 1)

    def checkpoint(self, depth: int) -> SegmentLog:
        """Return segments of the positions at the last depth, and of the earlier positions that a resumed run needs.

        The earlier positions are stored with depth - 1.
        """
        log, last = SegmentLog(), self.frontier(depth)
        before = [layer.found for layer in self._layers if layer.depth == depth - 1]
        for number in self.chunks:
            here = range(number, number + 1)
            now = no_keys(self._ranges.words) if last is None else last.found.keys_of_ranges(here)
            earlier = merge([now[:0], *(one.keys_of_ranges(here) for one in (self._seen or before))])
            for at, keys in ((depth - 1, difference(earlier, now)), (depth, now)):
                if keys.size:
                    log.append(Segment(number, at, KEYS, len(keys), encode(keys)))
        return log

    def positions(self, depth: int, limit: int) -> Keys:
        """Return the first keys at one of the last two depths, ``(n,)``, ascending."""
        frontier, found = self.frontier(depth), [no_keys(self._ranges.words)]
        for keys in frontier.batches() if frontier is not None else ():
            found.append(keys[: limit - sum(map(len, found))])
            if sum(map(len, found)) == limit:
                break
        return np.concatenate(found)

    def _as_set(self, keys: Keys) -> KeySet:
        """Return the sorted keys of the partition as a plain or encoded set, depending on their number."""
        found = PlainSet.of(keys, self.chunks.start, self._bounds)
        return found if len(keys) <= PLAIN else found.encoded()

    def _new_keys(self, arrived: Sequence[KeySet], here: range) -> Keys:
        """Return the successors in some ranges that have not been visited before."""
        found = merge(
            [one.keys_of_ranges(here) for one in arrived if one.count_in(here)] or [no_keys(self._ranges.words)]
        )
        if not self._ranges.one_way:
            return self._without_layers(found, here)
        for one in self._seen:
            found = one.difference(found, here.start)
        return found

    def _without_layers(self, keys: Keys, here: range) -> Keys:
        """Return the sorted keys of ranges that are not in the last layers."""
        return difference(keys, *(layer.found.keys_of_ranges(here) for layer in self._layers)) if len(keys) else keys

    def _see(self, found: EncodedSet) -> None:
        """Add a set to the visited keys, and merge sets so that there are few; a key is merged only a few times."""
        self._seen.append(found)
        while len(self._seen) > 1 and 2 * self._seen[-1].count > self._seen[-2].count:
            both = self._seen.pop(), self._seen.pop()
            merged = (merge([one.keys_of_ranges(range(at, at + 1)) for one in both]) for at in self.chunks)
            self._seen.append(EncodedSet.of(self.chunks.start, self._ranges.words, merged))

    def _settle(self, depth: int, found: KeySet, log: SegmentLog | None) -> int:
        """Store a new layer, and add it to the log if there is one; return its number of positions."""
        if found.count and (log is not None or self._ranges.one_way):
            encoded = found.encoded()
            for number, count, content in encoded.runs() if log is not None else ():
                log.append(Segment(number, depth, KEYS, count, content))  # type: ignore[union-attr]
            if self._ranges.one_way:
                self._see(encoded)
        kept = tuple(layer for layer in self._layers if layer.depth >= depth - 1)
        self._first_kept = depth - 1
        self._layers = (KeyLayer(depth, found), *kept) if found.count else kept
        return found.count

    def _restore(self, depth: int, segments: Sequence[Segment]) -> None:
        """Restore the last layers from segments and, if some move is irreversible, the visited keys."""
        wanted = (depth,) if self._ranges.one_way else (depth, depth - 1)
        layers = {at: [one for one in segments if one.depth == at] for at in wanted}
        self._layers = tuple(KeyLayer(at, self._of_segments(layer)) for at, layer in layers.items() if layer)
        self._first_kept = depth
        if self._ranges.one_way:
            self._seen = []
            for at in sorted({one.depth for one in segments}):
                self._see(self._encoded_of([one for one in segments if one.depth == at]))

    def _of_segments(self, segments: Sequence[Segment]) -> KeySet:
        """Return the keys of segments of one depth."""
        found = self._encoded_of(segments)
        return found if found.count > PLAIN else self._as_set(found.keys_of_ranges(self.chunks))

    def _encoded_of(self, segments: Sequence[Segment]) -> EncodedSet:
        """Return the keys of segments of one depth, after checking the segments."""
        words, by_range = self._ranges.words, {one.chunk: one for one in segments}
        for one in segments:
            keys_of(one, words)
        if len(by_range) < len(segments) or not all(one in self.chunks for one in by_range):
            first, last = self.chunks.start, self.chunks.stop - 1
            raise StoreDamagedError(
                f"the journal is corrupt: segments occur twice, or do not belong to ranges {first} to {last}"
            )
        found = [(one.positions, one.data) if one else (0, NO_BYTES) for one in map(by_range.get, self.chunks)]
        return EncodedSet.of_runs(self.chunks.start, words, found)


def keys_of(segment: Segment, words: int) -> Keys:
    """Return the keys of a segment; raise StoreDamagedError if it does not contain the stated number of keys."""
    keys = decode(segment.data, segment.positions, words) if segment.kind == KEYS else None
    if keys is None:
        raise no_segment(segment)
    return keys


class KeySuccessors(NamedTuple):
    """The successors of the frontiers of some partitions, as keys."""

    depth: int
    """Depth of the frontiers."""
    found: tuple[KeySet, ...]
    """Sets of successors. Each set may contain keys of all ranges of the search."""

    def of(self, ranges: Sequence[range]) -> "KeySuccessors":
        """Return copies of the keys in some ranges, ascending."""
        return KeySuccessors(
            self.depth,
            tuple(one.select_ranges(ranges) for one in self.found if any(one.count_in(each) for each in ranges)),
        )

    def __sizeof__(self) -> int:
        """Return the number of bytes, for dask."""
        return sum(one.nbytes for one in self.found)


@dataclass(frozen=True)
class SuccessorBuffer:
    """Memory and disk space for successors until the partitions that own them have read them."""

    max_bytes: int
    """Maximum number of bytes in memory."""
    disk: Callable[[], Disk]
    """Function that creates a temporary file for the successors that do not fit."""


@dataclass(frozen=True)
class KeyLinks:
    """The moves between partitions of keys. A move may lead from any partition to any other."""

    rules: Rules
    packing: Packing
    ranges: KeyRanges
    partitions: int
    """Number of partitions."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the compiled moves; another process compiles them again."""
        return KeyLinks, (self.rules, self.packing, self.ranges, self.partitions)

    @cached_property
    def expansion(self) -> Expansion:
        """The expansion of keys by the moves."""
        return Expansion(self.rules, self.packing)

    @property
    def predecessors(self) -> list[list[int]]:
        """For each partition, the numbers of the partitions with moves into it: all partitions."""
        every = list(range(self.partitions))
        return [every for _ in every]

    def successors(self, depth: int, frontiers: Iterable[KeyFrontier], room: SuccessorBuffer) -> KeySuccessors:
        """Return the successors of some frontiers at a depth.

        Raises InputError if a declared inverse does not undo its move, since removing two layers would not be enough.
        """
        found: list[KeySet] = []
        left, disk = room.max_bytes, None
        for keys in self._expanded(frontiers):
            one: KeySet = PlainSet.of(keys, 0, self.ranges.first_keys)
            if len(keys) > PLAIN or one.nbytes > left:
                one = one.encoded()
            if one.nbytes > left:
                disk = disk or room.disk()
                one = one.to_disk(disk)
            left -= one.nbytes
            found.append(one)
        return KeySuccessors(depth, tuple(found))

    def _expanded(self, frontiers: Iterable[KeyFrontier]) -> Iterator[Keys]:
        """Yield the successors of the frontiers' keys, in sorted arrays of about FOUND keys."""
        size = min(
            EXPANDED, max(1, FOUND // max(1, len(self.rules.moves)))
        )  # so the first batch has at most FOUND successors
        for keys in (keys for frontier in frontiers for keys in frontier.batches()):
            begin = 0
            while begin < len(keys):
                here = keys[begin : begin + size]
                found = self.expansion.successors(here, check=True)
                begin += len(here)
                size = min(max(1, FOUND * len(here) // max(1, len(found))), EXPANDED)
                yield sorted_unique(found)


def with_depths(segments: Sequence[Segment], words: int) -> tuple[Keys, NDArray[np.uint16]]:
    """Return all keys of the segments of a range in ascending order, and the depth of each key, ``(n,)``.

    Raises StoreDamagedError if a segment is corrupt, or a key occurs twice.
    """
    if not segments:
        return no_keys(words), np.empty(0, dtype=np.uint16)
    ends = np.cumsum([one.positions for one in segments]).tolist()
    keys = np.empty(ends[-1] if words == 1 else (ends[-1], words), dtype=np.uint64)
    slices = [slice(*one) for one in pairwise([0, *ends])]
    for one, here in zip(segments, slices, strict=True):
        keys[here] = keys_of(one, words)
    bits = np.uint64(max(one.depth for one in segments).bit_length())
    if words == 1 and not int(keys.max()) >> (WORD - int(bits)):  # fastest: sort words that contain key and depth
        for one, here in zip(segments, slices, strict=True):
            keys[here] <<= bits
            keys[here] |= np.uint64(one.depth)
        keys.sort()
        depths = np.empty(len(keys), dtype=np.uint16)
        np.bitwise_and(keys, (np.uint64(1) << bits) - np.uint64(1), out=depths, casting="unsafe")
        keys >>= bits
    else:
        depths = np.repeat([one.depth for one in segments], [one.positions for one in segments]).astype(np.uint16)
        rows = sorted_rows(np.column_stack((keys, depths)))
        keys, depths = squeezed(rows[:, :-1].copy()), rows[:, -1].astype(np.uint16)
    same = keys[1:] == keys[:-1]
    if (same if words == 1 else same.all(axis=1)).any():
        raise StoreDamagedError(f"the journal is corrupt: range {segments[0].chunk} contains a position twice")
    return keys, depths


def warm_up(words: int) -> None:
    """Compile or load the kernels for keys of this number of words, except those that make moves."""
    keys = sorted_unique(np.zeros(MIN_KEYS_TO_COMPILE if words == 1 else (MIN_KEYS_TO_COMPILE, words), dtype=np.uint64))
    decode(encode(keys), len(keys), words)
    without_run(difference(merge([keys, keys]), keys), encode(keys), len(keys))
