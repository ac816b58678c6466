"""The rows and columns of a reduced space: which labels of a position belong to its row, and which to its column.

Symmetries must map rows to rows, so a cut assigns labels, instead of digits, to the row or the column. In each part
that consists of pieces, the labels are divided into *label classes*. The row stores the class of the piece on each
place. Each class of several labels forms a *column block*: the column stores how the pieces of this class are arranged
on the places of the class, in the order of these places. In a part that consists of values, the first values belong to
the row, and the others form a column block.

A row is written as *row labels*, one for each place: the class of the piece there, or the value; 0 if the value belongs
to the column. The *key* of a row is the number whose digits are its row labels. The *contents* of a column are the
labels that belong to the column, block by block.

A twist is a value that moves together with a piece, and how a symmetry changes a twist may depend on this piece. So if
the row contains both, they are adjacent digits of the key, and their images are computed together.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.permutations.multisets import radices, rank_arrangements, unrank_arrangements
from antipodes_tasks.permutations.parity import exchange, with_two_apart
from antipodes_tasks.spaces.orbit_parts import PartIndex, PiecesIndex, ValuesIndex
from antipodes_tasks.spaces.space import NOT_NUMBERED

NO_BLOCK = -1
"""Used instead of the number of a column block if a label does not belong to the column."""
MAX_KEYS = 1 << 62
"""Upper limit on row keys, so that a key fits in a 64-bit word."""
MAX_DIGIT = 255
"""Upper limit on the values of a piece and its twist together."""
Classes = tuple[tuple[int, ...] | int, ...]
"""For each part that holds pieces, the class of each label; for each other part, how many values are in the row."""


class ColumnBlock(NamedTuple):
    """A column block: labels of one part that belong to the column."""

    part: int
    """The number of the part."""
    shown: int
    """The label that the row shows on the places of this block; 0 for values."""
    first: int
    """Index of the first content of the block among the contents of the column."""
    end: int
    """One past the index of its last content."""
    size: int
    """Number of different contents of the block that are numbered."""
    local: tuple[int, ...]
    """For pieces, the number of each label within the block, or NO_BLOCK for a label outside the block. If parity
    determines the order of two labels, both have the same number."""
    counts: tuple[int, ...]
    """For pieces, the number of pieces with each of the numbers in ``local``."""
    values: ValuesIndex | None
    """The numbering of the values; None if the block holds pieces."""
    merged: tuple[int, int] | None
    """The two labels whose order is determined by parity, if any."""


@dataclass(frozen=True)
class Cut:
    """A cut of a reduced space: the parts of a puzzle, and which labels of each belong to the row."""

    parts: tuple[PartIndex, ...]
    classes: Classes
    labels: int
    """Exclusive upper limit on the labels of all parts."""
    carriers: tuple[int, ...] = ()
    """For each place of a twist, the place of its piece; for each other place, the place itself. Empty if no value is
    the twist of a piece."""

    @cached_property
    def places(self) -> int:
        """Number of places of a position."""
        ends: list[int] = [part.place_slice.stop for part in self.parts]
        return max(ends)

    @cached_property
    def blocks(self) -> tuple[ColumnBlock, ...]:
        """The column blocks in the order of their digits, the most significant digit first."""
        found: list[ColumnBlock] = []
        for number, (part, classes) in enumerate(zip(self.parts, self.classes, strict=True)):
            first = found[-1].end if found else 0
            if isinstance(part, PiecesIndex):
                assert isinstance(classes, tuple)
                found += _piece_blocks(number, part, classes, first)
            else:
                assert isinstance(classes, int)
                if classes < part.length:
                    index = part if classes == 0 else part.trailing(classes)
                    blank = (NO_BLOCK,) * self.labels
                    found.append(
                        ColumnBlock(number, 0, first, first + index.length, index.size, blank, (), index, None)
                    )
        return tuple(found)

    @cached_property
    def width(self) -> int:
        """Number of columns."""
        return prod(block.size for block in self.blocks)

    @cached_property
    def slots(self) -> int:
        """Number of contents of a column."""
        return self.blocks[-1].end if self.blocks else 0

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The weight of the digit of each block in the number of a column."""
        sizes = [block.size for block in self.blocks]
        return tuple(prod(sizes[number + 1 :]) for number in range(len(sizes)))

    @cached_property
    def row_label_of(self) -> NDArray[np.uint8]:
        """``(places, labels)``: the row label of each label on each place."""
        shown = np.zeros((self.places, self.labels), dtype=np.uint8)
        for part, classes in zip(self.parts, self.classes, strict=True):
            if isinstance(classes, tuple):
                shown[part.place_slice, : len(classes)] = classes
            else:
                shown[part.place_slice.start : part.place_slice.start + classes] = np.arange(self.labels)
        return shown

    @cached_property
    def block_of(self) -> NDArray[np.int16]:
        """``(places, labels)``: the column block to which a label on a place belongs, or NO_BLOCK."""
        found = np.full((self.places, self.labels), NO_BLOCK, dtype=np.int16)
        for number, block in enumerate(self.blocks):
            at = self.parts[block.part].place_slice
            if block.values is None:
                found[at, np.flatnonzero(np.array(block.local) != NO_BLOCK)] = number
            else:
                found[at.stop - (block.end - block.first) : at.stop] = number
        return found

    @cached_property
    def column_places(self) -> NDArray[np.bool_]:
        """``(places,)``: whether only the column stores something about the place."""
        found: NDArray[np.bool_] = (self.radices == 1) & (self.block_of >= 0).any(axis=1)
        return found

    @cached_property
    def content_places(self) -> NDArray[np.int64]:
        """``(contents,)``: the place of each content; only valid if the row stores nothing about these places."""
        return np.concatenate([self._block_places(block) for block in self.blocks])

    @cached_property
    def radices(self) -> NDArray[np.int64]:
        """``(places,)``: the number of row labels of each place."""
        found = np.ones(self.places, dtype=np.int64)
        for part, classes in zip(self.parts, self.classes, strict=True):
            if isinstance(classes, tuple):
                found[part.place_slice] = max(classes) + 1
            elif isinstance(part, ValuesIndex):
                found[part.place_slice.start : part.place_slice.start + classes] = part.radix
        return found

    @cached_property
    def key_weights(self) -> NDArray[np.uint64]:
        """``(places,)``: the weight of the row label of each place in a key."""
        twists = set(self.twist_at.tolist())
        order = list[int]()
        for place in range(self.places):
            if place not in twists:
                order += [one for one in (place, int(self.twist_at[place])) if one >= 0]
        weights, weight = [0] * self.places, 1
        for place in reversed(order):
            weights[place] = weight
            weight *= int(self.radices[place])
        return np.array(weights, dtype=np.uint64)

    @cached_property
    def twist_at(self) -> NDArray[np.int64]:
        """``(places,)``: for each piece that is in the row together with its twist, the place of the twist; else -1."""
        found = np.full(self.places, -1, dtype=np.int64)
        for place, carrier in enumerate(self.carriers):
            if place != carrier and min(self.radices[place], self.radices[carrier]) > 1:
                found[carrier] = place
        return found

    @cached_property
    def carrier_contents(self) -> NDArray[np.int64]:
        """``(contents,)``: for each twist whose piece is also only in the column, the content that is this piece; else
        -1. If parity determines the order of two labels, there are no such contents.
        """
        found = np.full(self.slots, -1, dtype=np.int64)
        if not self.carriers or any(block.merged is not None for block in self.blocks):
            return found
        content_of = {
            int(place): content
            for block in self.blocks
            for content, place in enumerate(self._block_places(block), start=block.first)
            if self.column_places[place]
        }
        for place, content in content_of.items():
            if self.carriers[place] != place:
                found[content] = content_of.get(self.carriers[place], -1)
        return found

    def _block_places(self, block: ColumnBlock) -> range:
        """Return the place of each content of a block; only valid for places about which the row stores nothing."""
        end = self.parts[block.part].place_slice.stop
        return range(end - (block.end - block.first), end)

    @cached_property
    def carried(self) -> NDArray[np.bool_]:
        """``(places,)``: whether the place holds a twist whose piece is also only in the column."""
        found = np.zeros(self.places, dtype=np.bool_)
        for block in self.blocks:
            found[self._block_places(block)] |= self.carrier_contents[block.first : block.end] >= 0
        return found

    @property
    def has_keys(self) -> bool:
        """Whether a 64-bit word can hold the key of each row, and a byte each digit."""
        keys: int = prod(self.radices.tolist())
        pieces = np.flatnonzero(self.twist_at >= 0)
        joint = self.radices[pieces] * self.radices[self.twist_at[pieces]]
        return keys <= MAX_KEYS and int(joint.max(initial=0)) <= MAX_DIGIT

    @cached_property
    def all_rows(self) -> int:
        """Number of rows before the reduction."""
        return prod(self._row_sizes)

    @cached_property
    def _row_sizes(self) -> tuple[int, ...]:
        return tuple(map(_row_size, self.parts, self.classes))

    def rows(self, numbers: Indices) -> Labels:
        """Return the row labels ``(n, places)`` of the rows with these numbers ``(n,)``; their order is arbitrary."""
        labels = np.zeros((len(numbers), self.places), dtype=np.uint8)
        rest = numbers
        for part, classes, size in reversed(list(zip(self.parts, self.classes, self._row_sizes, strict=True))):
            rest, here = np.divmod(rest, size)
            if isinstance(part, ValuesIndex):
                assert isinstance(classes, int)
                index = part if classes == part.length else part.leading(classes)
                labels[:, part.place_slice.start : part.place_slice.start + classes] = index.unrank(here)
            else:
                labels[:, part.place_slice] = _unranked(part, classes, here)
        return labels

    def keys(self, labels: Labels) -> NDArray[np.uint64]:
        """Return the key ``(n,)`` of the row of each position ``(n, places)``; only equal rows have equal keys."""
        row_labels = self.row_label_of[np.arange(self.places), labels].astype(np.uint64)
        keys: NDArray[np.uint64] = row_labels @ self.key_weights
        return keys

    def row_labels(self, keys: NDArray[np.uint64]) -> Labels:
        """Return the row labels ``(n, places)`` of keys ``(n,)``."""
        labels = (keys[:, np.newaxis] // self.key_weights) % self.radices.astype(np.uint64)
        return labels.astype(np.uint8)

    def numbered(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return a mask ``(n,)`` of the keys ``(n,)`` whose rows are numbered: those with the right parity and sums.

        The caller ensures that each class occurs in the row labels of a key as often as it should.
        """
        numbered = np.ones(len(keys), dtype=np.bool_)
        for part, classes in zip(self.parts, self.classes, strict=True):
            if isinstance(part, ValuesIndex):
                if part.total is not None and classes == part.length:
                    sums = self.row_labels(keys)[:, part.place_slice].sum(axis=1, dtype=np.int64)
                    numbered &= sums % part.radix == part.total
            elif _all_shown(part, classes):
                whole = np.argsort(np.array(classes)).astype(np.uint8)[self.row_labels(keys)[:, part.place_slice]]
                numbered &= ~part.has_wrong_parity(whole)
        return numbered

    def columns(self, labels: Labels) -> Indices:
        """Return the column ``(n,)`` of each position ``(n, places)``; NOT_NUMBERED if it has none."""
        columns = np.zeros(len(labels), dtype=np.int64)
        unnumbered = np.zeros(len(labels), dtype=np.bool_)
        for block, weight in zip(self.blocks, self.weights, strict=True):
            part = self.parts[block.part]
            here = labels[:, part.place_slice]
            if block.values is not None:
                digit = block.values.rank(here[:, -(block.end - block.first) :])
                unnumbered |= digit == NOT_NUMBERED
            else:
                inside = np.array(block.local)[here]
                local = inside[inside != NO_BLOCK].astype(np.uint8).reshape(len(labels), block.end - block.first)
                digit = rank_arrangements(local, block.counts)
            columns += digit * weight
        for part in self.parts:
            if isinstance(part, PiecesIndex) and part.parity is not None:
                unnumbered |= part.has_wrong_parity(labels[:, part.place_slice])
        columns[unnumbered] = NOT_NUMBERED
        return columns

    def contents(self, columns: Indices) -> Labels:
        """Return the contents ``(n, contents)`` of columns ``(n,)``.

        Two labels whose order is determined by parity are returned in ascending order.
        """
        contents = np.zeros((len(columns), self.slots), dtype=np.uint8)
        for block, weight in zip(self.blocks, self.weights, strict=True):
            digit = columns // weight % block.size
            here = slice(block.first, block.end)
            if block.values is not None:
                contents[:, here] = block.values.unrank(digit)
                continue
            local = np.array(block.local)
            names = np.array([int(np.flatnonzero(local == number)[0]) for number in range(len(block.counts))])
            contents[:, here] = names[unrank_arrangements(digit, block.counts)]
            if block.merged is not None:
                contents[:, here] = with_two_apart(contents[:, here], *block.merged)
        return contents

    def positions(self, row_labels: Labels, contents: Labels) -> Labels:
        """Return the positions ``(n, places)`` with these row labels ``(n, places)`` and contents ``(n, contents)``.

        Two labels whose order is determined by parity are exchanged if the parity would be wrong.
        """
        positions = self._single[np.arange(self.places), row_labels]
        for block in self.blocks:
            at, size = self.parts[block.part].place_slice, block.end - block.first
            if block.values is not None:
                positions[:, at.stop - size : at.stop] = contents[:, block.first : block.end]
            else:
                positions[:, at][row_labels[:, at] == block.shown] = contents[:, block.first : block.end].ravel()
            if block.merged is not None:
                part = self.parts[block.part]
                assert isinstance(part, PiecesIndex)
                exchange(positions[:, at], part.has_wrong_parity(positions[:, at]), *block.merged)
        return positions

    @cached_property
    def _single(self) -> NDArray[np.uint8]:
        """``(places, row labels)``: the label with this row label, if it is the only label of its class."""
        single = np.zeros((self.places, self.labels), dtype=np.uint8)
        for place in range(self.places):
            single[place, self.row_label_of[place]] = np.arange(self.labels)
        for part, classes in zip(self.parts, self.classes, strict=True):
            if isinstance(classes, tuple):
                single[part.place_slice, list(classes)] = np.arange(len(classes))
        return single


def _row_size(part: PartIndex, classes: tuple[int, ...] | int) -> int:
    """Return the number of different row labels of a part."""
    if isinstance(part, ValuesIndex):
        assert isinstance(classes, int)
        return part.size if classes == part.length else part.leading(classes).size
    size = prod(radices(_class_counts(part, classes)))
    return size // 2 if _all_shown(part, classes) else size


def _class_counts(part: PiecesIndex, classes: Any) -> tuple[int, ...]:
    counts = np.bincount(classes, weights=part.pieces).astype(int)
    return tuple(counts.tolist())


def _all_shown(part: PiecesIndex, classes: Any) -> bool:
    """Return whether only one parity is numbered and the row determines it: each label is a class of its own."""
    return part.parity is not None and bool(len(set(classes)) == len(classes))


def _unranked(part: PiecesIndex, classes: Any, numbers: Indices) -> Labels:
    """Return the row labels of a part that holds pieces for each number ``(n,)``."""
    counts = _class_counts(part, classes)
    if not _all_shown(part, classes):
        return unrank_arrangements(numbers, counts)
    last = len(counts) - 1
    labels = with_two_apart(unrank_arrangements(numbers, (*counts[:-2], 2)), last - 1, last)
    whole = np.argsort(np.array(classes))[labels].astype(np.uint8)
    exchange(labels, part.has_wrong_parity(whole), last - 1, last)
    return labels


def _piece_blocks(number: int, part: PiecesIndex, classes: tuple[int, ...], first: int) -> Iterator[ColumnBlock]:
    """Yield the column blocks of a part that consists of pieces.

    If only one parity is numbered, it determines the order of the last two labels of the last block.
    """
    shown = [one for one in range(max(classes, default=-1) + 1) if classes.count(one) > 1]
    for one in shown:
        inside = [label for label, its in enumerate(classes) if its == one]
        counts = [part.pieces[label] for label in inside]
        local = [NO_BLOCK] * 256
        for place, label in enumerate(inside):
            local[label] = place
        merged = None
        if part.parity is not None and one == shown[-1]:
            merged = inside[-2], inside[-1]
            local[inside[-1]] = local[inside[-2]]
            counts[-2:] = [2]
        end = first + sum(counts)
        size = prod(radices(tuple(counts)))
        yield ColumnBlock(number, one, first, end, size, tuple(local), tuple(counts), None, merged)
        first = end
