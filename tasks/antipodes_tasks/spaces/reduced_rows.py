"""Kernels that compute the targets of moves in a reduced space, and the keys of its column maps.

For each content of the column, the *key* of a column map lists the content from which it comes and the number of the
renaming that is applied to it. Different keys may belong to the same map, but equal keys never belong to different
maps.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.jit import integer, kernel
from antipodes_tasks.permutations.multisets import number_rows
from antipodes_tasks.properties.symmetry_images import Images
from antipodes_tasks.spaces.row_classes import RowNumbers, number_of_row
from antipodes_tasks.spaces.row_images import RowImages, image_key, least_image, write_digits

KeyLines = NDArray[np.int16]
"""``(keys, 2 * contents + 2)``: for each content, the content from which it comes and the index of its renaming. The
second last entry is the effect of the move on the column; it is 0 if there is no effect or if the renamings include it.
The last entry has a bit for each pair of labels whose order is determined by parity (see ``RowTables``)."""
EFFECT, VARIANT = -2, -1
"""Indices of the last two entries of a key."""
NO_KEY, UNKNOWN, STAY = -1, -2, -1
"""Special values: a free slot of the hash table; a place whose block depends on its label; an image without a move."""


class Moved(NamedTuple):
    """Images of positions under a symmetry, most of them after a move, for kernels."""

    of: NDArray[np.int32]
    """``(n,)``: the index of the position."""
    symmetries: NDArray[np.int32]
    """``(n,)``: the index of the symmetry."""
    steps: NDArray[np.int32]
    """``(n,)``: the index of the move, or STAY if there is no move."""

    @classmethod
    def room(cls, count: int) -> "Moved":
        """Return uninitialised arrays for ``count`` images."""
        return cls(*np.empty((3, count), dtype=np.int32))

    def first(self, count: int) -> "Moved":
        """Return the first ``count`` images."""
        return Moved(self.of[:count], self.symmetries[:count], self.steps[:count])


class Renamings(NamedTuple):
    """How contents are renamed: first a move adds a number to them, then a symmetry renames the results."""

    tables: NDArray[np.uint8]
    """``(renamings, pieces, labels)``: the new label of each label; number 0 is the identity. The new label of a twist
    also depends on its piece if this piece is in the column, too. If there are no such twists, ``pieces`` is 1."""
    by_symmetry: NDArray[np.int32]
    """``(symmetries, places, pieces)``: the number of the renaming by the symmetry only. It depends on the place from
    which a content comes and on the piece there."""
    by_move: NDArray[np.int32]
    """``(steps, places)``: the number of the renaming by the move only. It depends on the place to which the move
    brings a content."""
    both: NDArray[np.int16]
    """``(renamings of symmetries, renamings of moves)``: the number in ``tables`` of the combined renaming."""


class RowMoves(NamedTuple):
    """The moves as they act on rows, for kernels."""

    origin: NDArray[np.int64]
    """``(steps, places)``: the place from which each place gets its label."""
    added: NDArray[np.int64]
    """``(steps, places)``: the number that the move adds to the label."""
    allowed: NDArray[np.uint64]
    """``(steps, places)``: bit ``v`` is set if the place may hold ``v``; ``(0, places)`` if all moves are legal."""
    effects: NDArray[np.int64]
    """``(steps,)``: the effect on the column; 0 if the renamings include it."""


class CutArrays(NamedTuple):
    """A cut and its symmetries, for kernels. Arrays without a description are those of `Images` and `Cut`."""

    moduli: NDArray[np.int64]
    origins: NDArray[np.int64]
    labels: NDArray[np.uint8]
    turns: NDArray[np.uint8]
    carriers: NDArray[np.int64]
    block_of: NDArray[np.int16]
    firsts: NDArray[np.int64]
    """``(blocks,)``: the first content of each column block."""
    held: NDArray[np.int64]
    """The places that may hold contents, ascending."""
    always: NDArray[np.int64]
    """``(places,)``: the column block of each place; UNKNOWN if it depends on the label there."""


@dataclass(eq=False)
class KeyNumbers:
    """A hash table of distinct keys, numbered in the order in which they were added."""

    keys: KeyLines
    """``(capacity, key length)``: the keys, then unused lines."""
    count: int
    slots: NDArray[np.int32]
    """``(2^n,)``: the hash table, with linear probing. A slot contains the index of a key, or NO_KEY."""

    @classmethod
    def empty(cls, length: int) -> "KeyNumbers":
        """Return an empty table for keys of this length."""
        return cls(np.zeros((0, length), dtype=np.int16), 0, np.full(1, NO_KEY, dtype=np.int32))

    @property
    def known(self) -> KeyLines:
        """The keys in the order of their numbers."""
        return self.keys[: self.count]

    def add(self, lines: KeyLines) -> NDArray[np.int32]:
        """Add those of the keys ``lines`` that are new, and return the number ``(n,)`` of each line."""
        numbers = np.empty(len(lines), dtype=np.int32)
        self._make_room(self.count + len(lines))
        self.count = int(number_keys(lines, self.keys, self.count, self.slots, numbers))
        return numbers

    def _make_room(self, count: int) -> None:
        if count > len(self.keys):
            grown = np.empty((max(count, 2 * len(self.keys)), self.keys.shape[1]), dtype=np.int16)
            grown[: self.count] = self.keys[: self.count]
            known, self.keys, self.count = grown[: self.count].copy(), grown, 0
            self.slots = np.full(1 << (2 * len(grown)).bit_length(), NO_KEY, dtype=np.int32)
            numbers = np.empty(len(known), dtype=np.int32)
            self.count = int(number_keys(known, self.keys, 0, self.slots, numbers))


def renamings_of(images: Images, added: NDArray[np.uint8], carried: NDArray[np.bool_]) -> Renamings:
    """Return the renamings by symmetries after moves have added the numbers ``added`` ``(steps, places)``.

    ``carried`` ``(places,)`` is `Cut.carried`.
    """
    every = np.arange(images.labels.shape[2])
    inside = every < images.moduli[:, np.newaxis]
    pieces = images.turns.shape[2] if images.turns.any() else 1
    turns = images.turns[:, :, :pieces, np.newaxis].astype(np.int64)
    turned = (images.labels[:, :, np.newaxis] + turns) % images.moduli[:, np.newaxis, np.newaxis]
    moved = (every + added[:, :, np.newaxis].astype(np.int64)) % images.moduli[:, np.newaxis]
    turned, moved = np.where(inside[:, np.newaxis], turned, every), np.where(inside, moved, every)
    by_piece = turned[:, :, :, np.newaxis]
    if images.turns[:, carried].any():  # the piece that decides is the piece in the column
        in_column = np.broadcast_to(turned[:, :, np.newaxis], (*turned.shape[:3], *turned.shape[2:]))
        by_piece = np.where(carried[:, np.newaxis, np.newaxis, np.newaxis], in_column, by_piece)
    first, by_symmetry = _numbered(by_piece)
    second, by_move = _numbered(moved[:, :, np.newaxis])
    renamed, both = _numbered(np.moveaxis(first[:, :, second[:, 0]], 1, 2))
    return Renamings(renamed.astype(np.uint8), by_symmetry, by_move, both.astype(np.int16))


def _numbered(tables: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the distinct ``tables`` ``(..., pieces, labels)``, the identity first, and the index ``(...)`` of each."""
    pieces, labels = tables.shape[-2:]
    identity = np.tile(np.arange(labels), pieces)[np.newaxis]
    lines = np.concatenate((identity, tables.reshape(-1, pieces * labels)))
    numbers, firsts = number_rows(lines, labels)
    found = lines[firsts].reshape(-1, pieces, labels)
    return found, numbers[1:].reshape(tables.shape[:-2]).astype(np.int32)


@kernel
def number_keys(
    lines: KeyLines, keys: KeyLines, count: int, slots: NDArray[np.int32], numbers: NDArray[np.int32]
) -> int:
    """Number the ``lines``, append new ones to the first ``count`` ``keys``, and return the new count."""
    mask = np.uint64(len(slots) - 1)
    for line in range(len(lines)):
        mixed = np.uint64(14695981039346656037)
        for at in range(lines.shape[1]):
            mixed = (mixed ^ np.uint64(lines[line, at])) * np.uint64(1099511628211)
        slot = (mixed ^ (mixed >> np.uint64(29))) & mask
        while True:
            number = slots[slot]
            if number < 0:
                keys[count] = lines[line]
                slots[slot] = number = np.int32(count)
                count += 1
                break
            same = True
            for at in range(lines.shape[1]):
                if keys[number, at] != lines[line, at]:
                    same = False
                    break
            if same:
                break
            slot = (slot + np.uint64(1)) & mask
        numbers[line] = number
    return count


@kernel
def _is_legal(position: Labels, step: int, allowed: NDArray[np.uint64]) -> bool:
    """Return whether a move is legal in the row of a position."""
    for place in range(allowed.shape[1] if len(allowed) else 0):
        if (allowed[step, place] >> np.uint64(position[place])) & np.uint64(1) == 0:
            return False
    return True


@kernel
def reduce_rows(
    rows: Labels,
    steps: RowMoves,
    moduli: NDArray[np.int64],
    images: RowImages,
    kept: RowNumbers,
    target: NDArray[np.int32],
    moves: Moved,
) -> int:
    """Fill in the targets of rows, legal moves first, and list the images in ``moves``; return the number of images."""
    origin, added, count = steps.origin, steps.added, len(steps.origin)
    digits, keys = np.empty(len(images.places), dtype=np.uint8), np.empty(count, dtype=np.uint64)
    of, symmetries, step_of = moves
    found = 0
    for n in range(len(rows)):
        position, slot = rows[n], 0
        for step in range(count):
            if not _is_legal(position, step, steps.allowed):
                continue
            for digit in range(len(digits)):
                place = images.places[digit]
                label = position[origin[step, place]] + added[step, place]
                digits[digit] = images.shown[digit, label if label < moduli[place] else label - moduli[place]]
                place = images.twists[digit]
                if place >= 0:
                    label = position[origin[step, place]] + added[step, place]
                    digits[digit] += label if label < moduli[place] else label - moduli[place]
            symmetry = least_image(digits, images)
            keys[slot] = image_key(symmetry, digits, images)
            of[found], symmetries[found], step_of[found] = n, symmetry, step
            slot += 1
            found += 1
        for number in range(slot):  # a separate loop lets the processor overlap the memory accesses
            target[n, number] = number_of_row(keys[number], kept)
        target[n, slot:] = -1
    return found


@kernel
def find_stabilisers(rows: Labels, images: RowImages, moves: Moved) -> int:
    """List in ``moves`` all symmetries that map the row of a position to itself, without the identity.

    Return the length of the list.
    """
    of, symmetries, step_of = moves
    digits = np.empty(len(images.places), dtype=np.uint8)
    found = 0
    for n in range(len(rows)):
        write_digits(rows[n], digits, images)
        own = image_key(0, digits, images)
        for symmetry in range(1, len(images.origins)):
            if image_key(symmetry, digits, images) == own:
                of[found], symmetries[found], step_of[found] = n, symmetry, STAY
                found += 1
    return found


@kernel
def write_keys(
    rows: Labels,
    variants: NDArray[np.int64],
    moves: Moved,
    steps: RowMoves,
    shape: CutArrays,
    renamings: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int16]],
    lines: KeyLines,
) -> None:
    """Write the key of the column map of each image in ``moves``, each to one of the ``lines``.

    The arrays are unpacked into local variables: a loop that reads them from tuples is three times as slow.
    """
    of, symmetries, step_of = moves
    by_symmetry, by_move, both = renamings
    move_origin, added, effects = steps.origin, steps.added, steps.effects
    moduli, origins, labels, turns, carriers, block_of, firsts, held, always = shape
    turned = by_symmetry.shape[2] > 1
    used, content_at = np.empty(len(firsts), dtype=np.int64), np.empty(rows.shape[1], dtype=np.int64)
    moved = np.empty(rows.shape[1], dtype=np.int64)
    known = -1
    # The contents of a column block are numbered in the order of their places, before the move (`content_at`) and after
    # it. For each content of the image, the key holds the content of the row that gets there, and the renaming of its
    # labels. Images of the same row usually follow each other, so its contents are numbered once (`known`).
    for at in range(len(lines)):
        n, symmetry, step = of[at], symmetries[at], step_of[at]
        if n != known:
            known = n
            used[:] = 0
            for place in range(len(content_at)):
                block = integer(block_of[place, rows[n, place]])
                content_at[place] = -1
                if block >= 0:
                    content_at[place] = firsts[block] + used[block]
                    used[block] += 1
        for place in range(len(moved)):
            moved[place] = rows[n, place] if step < 0 else rows[n, move_origin[step, place]] + added[step, place]
            if moved[place] >= moduli[place]:
                moved[place] -= moduli[place]
        stays = step < 0 or effects[step] > 0
        used[:] = 0
        for number in range(len(held)):
            place = held[number]
            origin = origins[symmetry, place]
            piece = moved[carriers[origin]] if turned else 0
            block = always[place]
            if block == UNKNOWN:
                label = integer(labels[symmetry, origin, moved[origin]])
                if turned:
                    label = (label + turns[symmetry, origin, piece]) % moduli[origin]
                block = integer(block_of[place, label])
            if block >= 0:
                content = firsts[block] + used[block]
                used[block] += 1
                lines[at, 2 * content] = content_at[origin if stays else move_origin[step, origin]]
                renaming = 0 if step < 0 else by_move[step, origin]
                lines[at, 2 * content + 1] = both[by_symmetry[symmetry, origin, piece], renaming]
        lines[at, EFFECT] = 0 if step < 0 else effects[step]
        lines[at, VARIANT] = variants[n]


@kernel
def put_numbers(target: NDArray[np.int32], numbers: NDArray[np.int32], column_map: NDArray[np.int32]) -> None:
    """Write the numbers of the column maps of legal moves to ``column_map``, at the places of their targets."""
    found = 0
    for row in range(len(target)):
        for move in range(target.shape[1]):
            if target[row, move] < 0:
                break
            column_map[row, move] = numbers[found]
            found += 1
