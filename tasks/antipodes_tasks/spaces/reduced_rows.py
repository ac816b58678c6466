"""Where moves lead from rows up to symmetries, and the keys of the column maps that go with them; for kernels.

A *key* of a column map says from which place each content of the column comes, and how it is renamed.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.permutations.arrangements import number_rows
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.spaces.images import Images
from antipodes_tasks.spaces.row_classes import RowNumbers, number_of_row
from antipodes_tasks.spaces.row_images import RowImages, image_key, least_image, write_digits

KeyLines = NDArray[np.int16]
"""``(keys, 2 * contents + 2)``: for each content the one that it comes from and its renaming, then the effect of the
move on the column, 0 where it has none or that is part of the key, and which labels parity told apart."""
NO_KEY = -1


class Renamings(NamedTuple):
    """How contents are renamed: by a symmetry, after something is added to them by a move."""

    tables: NDArray[np.uint8]
    """``(renamings, labels)``: what each content becomes; number 0 leaves all."""
    by_symmetry: NDArray[np.int32]
    """``(symmetries, places, pieces)``: the symmetry's part, for each place that contents come from, and the piece
    there."""
    by_move: NDArray[np.int32]
    """``(steps, places)``: the move's part, for each place that contents come to."""
    both: NDArray[np.int16]
    """``(parts of symmetries, parts of moves)``: the renaming."""


class Steps(NamedTuple):
    """The moves as they act on rows, for kernels."""

    origin: NDArray[np.int64]
    """``(steps, places)``."""
    added: NDArray[np.int64]
    """``(steps, places)``."""
    allowed: NDArray[np.uint64]
    """``(steps, places)``: bit ``v`` is set where the place may hold ``v``; ``(0, places)``: all moves are legal."""
    effects: NDArray[np.int64]
    """``(steps,)``: the effect on the column, 0 where that is part of the keys."""


class Shape(NamedTuple):
    """Frame and symmetries, for kernels."""

    moduli: NDArray[np.int64]
    origins: NDArray[np.int64]
    labels: NDArray[np.uint8]
    turns: NDArray[np.uint8]
    carriers: NDArray[np.int64]
    block_of: NDArray[np.int16]
    firsts: NDArray[np.int64]
    """``(blocks,)``: the first content of each block."""


@dataclass(eq=False)
class KeyNumbers:
    """Different keys, numbered in the order in which they occur."""

    keys: KeyLines
    """``(room, key)``: those that are known come first."""
    count: int
    slots: NDArray[np.int32]
    """``(2^n,)``: the number of a key in the first free slot from its hash on; NO_KEY."""

    @classmethod
    def empty(cls, length: int) -> "KeyNumbers":
        """No keys."""
        return cls(np.zeros((0, length), dtype=np.int16), 0, np.full(1, NO_KEY, dtype=np.int32))

    @property
    def known(self) -> KeyLines:
        """The keys in the order of their numbers."""
        return self.keys[: self.count]

    def add(self, lines: KeyLines) -> NDArray[np.int32]:
        """The number of each key of the lines, ``(n,)``."""
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


def renamings_of(images: Images, added: NDArray[np.uint8]) -> Renamings:
    """The renamings by symmetries, after moves have ``added`` ``(steps, places)``."""
    every = np.arange(images.labels.shape[2])
    inside = every < images.moduli[:, np.newaxis]
    pieces = images.turns.shape[2] if images.turns.any() else 1
    turns = images.turns[:, :, :pieces, np.newaxis].astype(np.int64)
    turned = (images.labels[:, :, np.newaxis] + turns) % images.moduli[:, np.newaxis, np.newaxis]
    moved = (every + added[:, :, np.newaxis].astype(np.int64)) % images.moduli[:, np.newaxis]
    first, by_symmetry = _numbered(np.where(inside[:, np.newaxis], turned, every))
    second, by_move = _numbered(np.where(inside, moved, every))
    renamed, both = _numbered(first[:, second])
    return Renamings(renamed.astype(np.uint8), by_symmetry, by_move, both.astype(np.int16))


def _numbered(tables: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The different ones of tables ``(..., labels)``, the identity first, and their numbers ``(...)``."""
    labels = tables.shape[-1]
    lines = np.concatenate((np.arange(labels)[np.newaxis], tables.reshape(-1, labels)))
    numbers, firsts = number_rows(lines, labels)
    return lines[firsts], numbers[1:].reshape(tables.shape[:-1]).astype(np.int32)


@kernel
def number_keys(
    lines: KeyLines, keys: KeyLines, count: int, slots: NDArray[np.int32], numbers: NDArray[np.int32]
) -> int:
    """Number the ``lines``, add new ones to the first ``count`` ``keys``, and return how many there are then."""
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
def _find_contents(
    position: Labels, block_of: NDArray[np.int16], firsts: NDArray[np.int64], used: NDArray[np.int64],
    content_at: NDArray[np.int64],
) -> None:  # fmt: skip
    """Fill in which content is on each place of a position, or NO_BLOCK; ``used`` is scratch, ``(blocks,)``."""
    used[:] = 0
    for place in range(len(position)):
        block = block_of[place, position[place]]
        content_at[place] = -1
        if block >= 0:
            content_at[place] = firsts[block] + used[block]
            used[block] += 1


@kernel
def _write_key(
    line: NDArray[np.int16],
    symmetry: int,
    step: int,
    moved: Labels,
    came_from: NDArray[np.int64],
    content_at: NDArray[np.int64],
    used: NDArray[np.int64],
    shape: Shape,
    by_symmetry: NDArray[np.int32],
    by_move: NDArray[np.int32],
    both: NDArray[np.int16],
) -> None:
    """Write where the contents of the image of a moved position come from, and how they are renamed.

    What is on a place of the moved position was on the place ``came_from`` before. A negative ``step`` adds nothing.
    """
    used[:] = 0
    for place in range(len(moved)):
        origin = shape.origins[symmetry, place]
        piece = moved[shape.carriers[origin]] if by_symmetry.shape[2] > 1 else 0
        label = np.int64(shape.labels[symmetry, origin, moved[origin]])
        if by_symmetry.shape[2] > 1:
            label = (label + shape.turns[symmetry, origin, piece]) % shape.moduli[origin]
        block = shape.block_of[place, label]
        if block >= 0:
            content = shape.firsts[block] + used[block]
            used[block] += 1
            line[2 * content] = content_at[came_from[origin]]
            added = by_move[step, origin] if step >= 0 else 0
            line[2 * content + 1] = both[by_symmetry[symmetry, origin, piece], added]


@kernel
def _is_legal(position: Labels, step: int, allowed: NDArray[np.uint64]) -> bool:
    """Whether a move is legal in the row of a position."""
    for place in range(allowed.shape[1] if len(allowed) else 0):
        if (allowed[step, place] >> np.uint64(position[place])) & np.uint64(1) == 0:
            return False
    return True


@kernel
def reduce_rows(
    rows: Labels,
    variants: NDArray[np.int64],
    steps: Steps,
    shape: Shape,
    images: RowImages,
    kept: RowNumbers,
    renamings: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int16]],
    target: NDArray[np.int32],
    lines: KeyLines,
) -> int:
    """Fill the rows' targets, legal moves first, and the key of each legal move, row by row; the number of keys."""
    by_symmetry, by_move, both = renamings
    places = rows.shape[1]
    moved, content_at = np.empty(places, dtype=np.uint8), np.empty(places, dtype=np.int64)
    digits = np.empty(len(images.places), dtype=np.uint8)
    every = np.arange(places)
    used = np.empty(len(shape.firsts), dtype=np.int64)
    found = 0
    for n in range(len(rows)):
        position, slot = rows[n], 0
        _find_contents(position, shape.block_of, shape.firsts, used, content_at)
        for step in range(len(steps.origin)):
            if not _is_legal(position, step, steps.allowed):
                continue
            for place in range(places):
                label = position[steps.origin[step, place]] + steps.added[step, place]
                moved[place] = label if label < shape.moduli[place] else label - shape.moduli[place]
            write_digits(moved, digits, images)
            symmetry = least_image(digits, images)
            target[n, slot] = number_of_row(image_key(symmetry, digits, images), kept)
            slot += 1
            if lines.shape[1] == 0:
                continue
            line = lines[found]
            came_from = every if steps.effects[step] > 0 else steps.origin[step]
            _write_key(line, symmetry, step, moved, came_from, content_at, used, shape, by_symmetry, by_move, both)
            line[-2], line[-1] = steps.effects[step], variants[n]
            found += 1
        target[n, slot:] = -1
    return found


@kernel
def find_stabilisers(
    rows: Labels,
    variants: NDArray[np.int64],
    shape: Shape,
    images: RowImages,
    renamings: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int16]],
    lines: KeyLines,
) -> int:
    """Fill in the key of each symmetry but the identity that leaves the row of each of the positions."""
    by_symmetry, by_move, both = renamings
    places = rows.shape[1]
    every, content_at = np.arange(places), np.empty(places, dtype=np.int64)
    digits = np.empty(len(images.places), dtype=np.uint8)
    used = np.empty(len(shape.firsts), dtype=np.int64)
    found = 0
    for n in range(len(rows)):
        position = rows[n]
        _find_contents(position, shape.block_of, shape.firsts, used, content_at)
        write_digits(position, digits, images)
        own = image_key(0, digits, images)
        for symmetry in range(1, len(images.origins)):
            if image_key(symmetry, digits, images) == own:
                line = lines[found]
                _write_key(line, symmetry, -1, position, every, content_at, used, shape, by_symmetry, by_move, both)
                line[-2], line[-1] = 0, variants[n]
                found += 1
    return found


@kernel
def put_numbers(target: NDArray[np.int32], numbers: NDArray[np.int32], column_map: NDArray[np.int32]) -> None:
    """Write the numbers of legal moves, row by row, beside their targets."""
    found = 0
    for row in range(len(target)):
        for move in range(target.shape[1]):
            if target[row, move] < 0:
                break
            column_map[row, move] = numbers[found]
            found += 1
