"""A part of a puzzle: some places side by side, and what they can hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.errors import PositionError


@dataclass(frozen=True)
class Part:
    """Places that hold an arrangement of pieces, or places that hold any values."""

    places: int
    symbols: tuple[str, ...]
    """How each label is written."""
    counts: tuple[int, ...] | None = None
    """The number of pieces with each label; None: each place holds any of the labels."""
    twists: bool = False
    """Whether the values are the orientations of the pieces in the part before."""
    name: str = ""
    """The name of the orbit, if the puzzle names it."""

    @property
    def holds_pieces(self) -> bool:
        """Whether the part is an arrangement of pieces."""
        return self.counts is not None

    @property
    def all_different(self) -> bool:
        """Whether no two pieces are equal; True for values."""
        return self.counts is None or max(self.counts) <= 1

    @cached_property
    def size(self) -> int:
        """The number of different contents."""
        if self.counts is None:
            return int(len(self.symbols) ** self.places)
        return factorial(self.places) // prod(map(factorial, self.counts))

    def check(self, labels: NDArray[np.integer[Any]]) -> None:
        """Raise PositionError unless each of ``(n, places)`` integers is a content of the part."""
        wrong_label = (labels < 0) | (labels >= len(self.symbols))
        if wrong_label.any():
            raise PositionError(f"expected labels 0 to {len(self.symbols) - 1}, found {labels[wrong_label].flat[0]}")
        for label, expected in enumerate(self.counts or ()):
            found = (labels == label).sum(axis=1)
            if (found != expected).any():
                wrong = int(found[found != expected][0])
                raise PositionError(f"expected {expected} x {self.symbols[label]!r}, found {wrong}")


def pieces(start: tuple[int, ...], symbols: tuple[str, ...], name: str = "") -> Part:
    """The part whose pieces are those of a start."""
    counts = np.bincount(np.array(start, dtype=np.int64), minlength=len(symbols))
    return Part(len(start), symbols, tuple(counts.tolist()), name=name)


def values(places: int, radix: int, twists: bool = False, name: str = "") -> Part:
    """The part whose places hold any number below a radix."""
    return Part(places, tuple(map(str, range(radix))), None, twists, name)


def ranges_of(parts: Sequence[Part]) -> tuple[slice, ...]:
    """The places of each part among those of the puzzle."""
    ends = accumulate((part.places for part in parts), initial=0)
    return tuple(slice(first, end) for first, end in pairwise(ends))


def moduli_of(parts: Sequence[Part]) -> list[int]:
    """For each place of a puzzle the number of labels of its part."""
    return [len(part.symbols) for part in parts for _ in range(part.places)]
