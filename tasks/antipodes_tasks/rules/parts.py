"""Parts of a puzzle: consecutive places and the labels that they can hold."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import PositionError
from antipodes_tasks.base.jit import kernel

MIN_POSITIONS_TO_COMPILE = 1 << 14
"""Minimum number of positions that a compiled kernel checks; for fewer positions, loading the kernel takes longer."""


@dataclass(frozen=True)
class Part:
    """Consecutive places that hold an arrangement of pieces or independent values, such as orientations."""

    places: int
    symbols: tuple[str, ...]
    """The symbol of each label."""
    counts: tuple[int, ...] | None = None
    """Number of pieces with each label; None for values, when each place can hold any label."""
    twists: bool = False
    """Whether the values are the orientations of the pieces in the preceding part."""
    name: str = ""
    """Name of the orbit, if the puzzle names it."""

    @property
    def holds_pieces(self) -> bool:
        """Whether the part is an arrangement of pieces."""
        return self.counts is not None

    @property
    def all_different(self) -> bool:
        """Whether no two pieces are identical; True for values."""
        return self.counts is None or max(self.counts) <= 1

    @cached_property
    def size(self) -> int:
        """Number of different arrangements, or of combinations of values."""
        if self.counts is None:
            return int(len(self.symbols) ** self.places)
        return factorial(self.places) // prod(map(factorial, self.counts))

    @cached_property
    def labels(self) -> Mapping[str, int]:
        """The label of each symbol."""
        return {symbol: label for label, symbol in enumerate(self.symbols)}

    @cached_property
    def single_characters(self) -> bool:
        """Whether each symbol is one character."""
        return all(len(symbol) == 1 for symbol in self.symbols)

    def holds(self, labels: list[int]) -> bool:
        """Return whether the part can hold a list of labels, one per place."""
        if self.counts is None:
            return min(labels, default=0) >= 0 and max(labels, default=0) < len(self.symbols)
        return sorted(labels) == self._sorted

    @cached_property
    def _sorted(self) -> list[int]:
        return [label for label, count in enumerate(self.counts or ()) for _ in range(count)]

    def check(self, labels: NDArray[np.integer[Any]]) -> None:
        """Raise PositionError unless the part can hold each row of integers ``(n, places)``."""
        if labels.size and (labels.min() < 0 or labels.max() >= len(self.symbols)):
            wrong = labels[(labels < 0) | (labels >= len(self.symbols))]
            raise PositionError(f"expected labels 0 to {len(self.symbols) - 1}, found {wrong[0]}")
        if self.counts is None or (row := self._first_wrong(labels)) is None:
            return
        counts = np.bincount(labels[row], minlength=len(self.counts)).tolist()
        symbols = zip(self.symbols, self.counts, counts, strict=True)
        raise PositionError(wrong_pieces([(repr(symbol), expected, found) for symbol, expected, found in symbols]))

    def _first_wrong(self, labels: NDArray[np.integer[Any]]) -> int | None:
        """Return the number of the first row whose pieces are not the pieces of the part, or None."""
        if len(labels) >= MIN_POSITIONS_TO_COMPILE:
            row = _first_wrong_row(np.ascontiguousarray(labels, dtype=np.uint8), np.array(self.counts, dtype=np.int64))
            return None if row == len(labels) else row
        wrong = (np.sort(labels, axis=1) != self._sorted).any(axis=1)
        return int(wrong.argmax()) if wrong.any() else None


def wrong_pieces(counts: Sequence[tuple[str, int, int]]) -> str:
    """Return a message about pieces of the wrong number: the first piece that is too frequent, and the first missing.

    ``counts`` contains, for each piece, its symbol, the expected number and the number found; the sums are equal.
    """
    symbol, expected, found = next(one for one in counts if one[2] > one[1])
    missing = [piece for piece, least, most in counts if most < least]
    others = " and others" if len(missing) > 1 else ""
    return f"expected {expected} x {symbol}, found {found}; missing: {missing[0]}{others}"


def pieces(start: tuple[int, ...], symbols: tuple[str, ...], name: str = "") -> Part:
    """Return the part that holds the pieces of a start."""
    counts = np.bincount(np.array(start, dtype=np.int64), minlength=len(symbols))
    return Part(len(start), symbols, tuple(counts.tolist()), name=name)


def values(places: int, radix: int, twists: bool = False, name: str = "") -> Part:
    """Return a part whose places hold any number below ``radix``."""
    return Part(places, tuple(map(str, range(radix))), None, twists, name)


def ranges_of(parts: Sequence[Part]) -> tuple[slice, ...]:
    """Return the range of places of each part within a position of the puzzle."""
    ends = accumulate((part.places for part in parts), initial=0)
    return tuple(slice(first, end) for first, end in pairwise(ends))


def moduli_of(parts: Sequence[Part]) -> list[int]:
    """Return the number of labels that each place of a puzzle can hold."""
    return [len(part.symbols) for part in parts for _ in range(part.places)]


@kernel
def _first_wrong_row(labels: NDArray[np.uint8], counts: NDArray[np.int64]) -> int:
    """Return the first row of ``(n, places)`` whose label counts differ from ``counts``, or n.

    All labels must be in range.
    """
    found = np.zeros(len(counts), dtype=np.int64)
    for row in range(len(labels)):
        found[:] = 0
        for place in range(labels.shape[1]):
            found[labels[row, place]] += 1
        for label in range(len(counts)):
            if found[label] != counts[label]:
                return row
    return len(labels)


def first_wrong(count: int, check: Callable[[slice], object]) -> int:
    """Return the number of the first of ``count`` positions for which ``check`` raises PositionError.

    At least one position must fail. Bisection takes a tenth of the time of checking the positions one by one.
    """
    first, end = 0, count
    while end - first > 1:
        middle = (first + end) // 2
        try:
            check(slice(first, middle))
        except PositionError:
            end = middle
        else:
            first = middle
    return first


def random_positions(parts: Sequence[Part], count: int, seed: str) -> Labels:
    """Return random positions ``(count, places)``, reachable or not, that are the same in every process."""
    drawn = [_drawn(part, count, f"{seed} {number}") for number, part in enumerate(parts)]
    return np.concatenate(drawn, axis=1)


def _drawn(part: Part, count: int, seed: str) -> Labels:
    numbers = random_numbers(count * part.places, seed).reshape(count, part.places)
    if part.counts is None:
        return (numbers % len(part.symbols)).astype(np.uint8)
    placed = np.repeat(np.arange(len(part.counts), dtype=np.uint8), part.counts)
    shuffled: Labels = placed[np.argsort(numbers, axis=1, kind="stable")]
    return shuffled


def random_numbers(count: int, seed: str) -> NDArray[np.uint64]:
    """Return ``(count,)`` random numbers below 2^64.

    They are computed by SHAKE-256, because numpy's random numbers may change between versions.
    """
    return np.frombuffer(hashlib.shake_256(seed.encode()).digest(8 * count), dtype="<u8").astype(np.uint64)
