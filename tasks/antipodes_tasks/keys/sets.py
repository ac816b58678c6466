"""Sorted sets of keys, divided into ranges: plain arrays if small, otherwise encoded, in memory or on disk.

Large sets are processed range by range, so that at most one range of them is a decoded array at a time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from antipodes_tasks.base.array_types import Bytes, Numbers
from antipodes_tasks.keys.encoded_runs import decode, encode, encode_parts, no_keys, without_run
from antipodes_tasks.keys.packing import Keys
from antipodes_tasks.keys.sorted_keys import find

PLAIN = 1 << 17
"""Maximum number of keys of a plain set; encoding so few keys range by range takes longer than searching them."""
NO_BYTES = np.empty(0, dtype=np.uint8)


class Disk(Protocol):
    """A temporary file for bytes that do not fit in memory; it is deleted once nothing refers to it."""

    def put(self, content: Bytes) -> int:
        """Append bytes; return their offset."""

    def read(self, begin: int, end: int) -> Bytes:
        """Return the bytes between two offsets."""


@dataclass(frozen=True, eq=False)
class _RangedSet:
    """Distinct keys of consecutive ranges, ascending."""

    first: int
    """Number of the first range."""
    begins: Numbers
    """``(ranges + 1,)``: the number of keys before each range, and the total."""

    @property
    def count(self) -> int:
        """Number of keys."""
        return int(self.begins[-1])

    @property
    def ranges(self) -> range:
        """Numbers of the ranges."""
        return range(self.first, self.first + len(self.begins) - 1)

    def count_in(self, ranges: range) -> int:
        """Return the number of keys in consecutive ranges."""
        begin, end = self._clipped(ranges)
        return int(self.begins[end] - self.begins[begin])

    def _begins_of(self, ranges: Sequence[range]) -> Numbers:
        """Return the value of ``begins`` after removing all keys outside the given ranges."""
        counts = np.zeros(len(self.begins), dtype=np.int64)
        for one in ranges:
            begin, end = self._clipped(one)
            counts[begin + 1 : end + 1] = np.diff(self.begins[begin : end + 1])
        return np.cumsum(counts)

    def _clipped(self, ranges: range) -> tuple[int, int]:
        """Return the start and the end of consecutive ranges, clipped to the set and relative to its first range."""
        most = len(self.begins) - 1
        begin = min(max(ranges.start - self.first, 0), most)
        return begin, max(begin, min(ranges.stop - self.first, most))


@dataclass(frozen=True, eq=False)
class PlainSet(_RangedSet):
    """A set of keys as an array."""

    keys: Keys

    @classmethod
    def of(cls, keys: Keys, first: int, bounds: Keys) -> "PlainSet":
        """Return the set of sorted keys, divided at ``bounds`` into ranges, which are numbered from ``first``."""
        return cls(first, np.array([0, *find(keys, bounds), len(keys)], dtype=np.int64), keys)

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self.keys.nbytes

    def keys_of_ranges(self, ranges: range) -> Keys:
        """Return the keys of consecutive ranges as a view."""
        begin, end = self._clipped(ranges)
        return self.keys[self.begins[begin] : self.begins[end]]

    def part(self, ranges: range) -> "PlainSet":
        """Return a copy of the keys in consecutive ranges, as a set of these ranges."""
        begin, end = self._clipped(ranges)
        return PlainSet(
            self.first + begin, self.begins[begin : end + 1] - self.begins[begin], self.keys_of_ranges(ranges).copy()
        )

    def select_ranges(self, ranges: Sequence[range]) -> "PlainSet":
        """Return a copy of the set without the keys outside the given ascending ranges."""
        keys = np.concatenate([self.keys[:0], *(self.keys_of_ranges(one) for one in ranges)])
        return PlainSet(self.first, self._begins_of(ranges), keys)

    def encoded(self) -> "EncodedSet":
        """Return the same set, encoded."""
        content, places = encode_parts(self.keys, self.begins)
        return EncodedSet(self.first, self.begins, 1 if self.keys.ndim == 1 else self.keys.shape[1], places, content)

    def to_disk(self, disk: Disk) -> "EncodedSet":
        """Return the same set on disk."""
        return self.encoded().to_disk(disk)


@dataclass(frozen=True, eq=False)
class EncodedSet(_RangedSet):
    """A set of keys as one encoded run per range; see `encoded_runs`."""

    words: int
    """Number of words of a key."""
    places: Numbers
    """``(ranges + 1,)``: offset of each range's bytes, and their end."""
    content: Bytes | Disk

    @classmethod
    def of(cls, first: int, words: int, parts: Iterable[Keys]) -> "EncodedSet":
        """Return the set with the given sorted keys in each range; ``first`` is the index of the first range."""
        return cls.of_runs(first, words, ((len(keys), encode(keys)) for keys in parts))

    @classmethod
    def of_runs(cls, first: int, words: int, runs: Iterable[tuple[int, Bytes]]) -> "EncodedSet":
        """Return the set whose ranges have the given numbers of keys and encoded bytes."""
        every = [(0, NO_BYTES), *runs]
        begins = np.cumsum([count for count, _ in every])
        places = np.cumsum([len(content) for _, content in every])
        return cls(first, begins, words, places, np.concatenate([content for _, content in every]))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes, since another process cannot read the temporary file."""
        whole = self.part(self.ranges)
        return EncodedSet, (whole.first, whole.begins, whole.words, whole.places, whole.content)

    @property
    def nbytes(self) -> int:
        """Bytes of memory: 0 for a set on disk."""
        return self.content.nbytes if isinstance(self.content, np.ndarray) else 0

    def run(self, number: int) -> tuple[int, Bytes]:
        """Return the number of keys of a range, and their bytes."""
        at = number - self.first
        return int(self.begins[at + 1] - self.begins[at]), self._read(at, at + 1)

    def runs(self) -> Iterator[tuple[int, int, Bytes]]:
        """Yield the number, the number of keys and the bytes of each nonempty range."""
        for at in np.flatnonzero(np.diff(self.begins)).tolist():
            yield (self.first + at, *self.run(self.first + at))

    def keys_of_ranges(self, ranges: range) -> Keys:
        """Return the keys of consecutive ranges."""
        begin, end = self._clipped(ranges)
        found = [self._decoded(at) for at in range(begin, end) if self.begins[at] < self.begins[at + 1]]
        return found[0] if len(found) == 1 else np.concatenate([no_keys(self.words), *found])

    def encoded(self) -> "EncodedSet":
        """Return the set itself."""
        return self

    def difference(self, keys: Keys, number: int) -> Keys:
        """Return the sorted keys of a range that are not in the set."""
        count, content = self.run(number)
        return without_run(keys, content, count) if count and len(keys) else keys

    def part(self, ranges: range) -> "EncodedSet":
        """Return a copy, in memory, of the keys in consecutive ranges, as a set of these ranges."""
        begin, end = self._clipped(ranges)
        content = self._read(begin, end).copy()
        begins, places = (one[begin : end + 1] - one[begin] for one in (self.begins, self.places))
        return EncodedSet(self.first + begin, begins, self.words, places, content)

    def select_ranges(self, ranges: Sequence[range]) -> "EncodedSet":
        """Return a copy, in memory, of the set without the keys outside the given ascending ranges."""
        lengths = np.zeros(len(self.places), dtype=np.int64)
        clipped = [self._clipped(one) for one in ranges]
        for begin, end in clipped:
            lengths[begin + 1 : end + 1] = np.diff(self.places[begin : end + 1])
        content = np.concatenate([NO_BYTES, *(self._read(*one) for one in clipped)])
        return EncodedSet(self.first, self._begins_of(ranges), self.words, np.cumsum(lengths), content)

    def to_disk(self, disk: Disk) -> "EncodedSet":
        """Return the same set on disk."""
        if not isinstance(self.content, np.ndarray):
            return self
        place = disk.put(self.content)
        return EncodedSet(self.first, self.begins, self.words, self.places + place, disk)

    def _decoded(self, at: int) -> Keys:
        count, content = self.run(self.first + at)
        keys = decode(content, count, self.words)
        assert keys is not None
        return keys

    def _read(self, begin: int, end: int) -> Bytes:
        first, last = int(self.places[begin]), int(self.places[end])
        return self.content[first:last] if isinstance(self.content, np.ndarray) else self.content.read(first, last)


KeySet = PlainSet | EncodedSet
