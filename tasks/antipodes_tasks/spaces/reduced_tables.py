"""The move tables of a space that is reduced by symmetries.

A move leads from a kept row to a row, and a symmetry from there to the least row of its class. Together they rearrange
the contents of the column and rename them: that is the column map. Few different ones occur, so each is written down as
a *key* first, from which place each content comes and how it is renamed, and only different keys are computed.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.permutations.arrangements import number_rows, rank_tables
from antipodes_tasks.permutations.parity import parities
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.frames import Frame
from antipodes_tasks.spaces.move_tables import ILLEGAL, Closing, ColumnMap, Fill, Filler, MoveTables, blocks, map_type
from antipodes_tasks.spaces.orbit_tables import OrbitSteps, orbit_steps
from antipodes_tasks.spaces.row_classes import RowClasses

KeyLines = NDArray[np.int16]
"""``(keys, 2 * contents + 2)``: for each content the one that it comes from and its renaming, then the effect of the
move on the column, 0 where it has none or that is part of the key, and which labels parity told apart."""
LINES = 1 << 16
"""Keys that are found before they are numbered."""
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
    lookup: NDArray[np.uint64]
    origins: NDArray[np.int64]
    labels: NDArray[np.uint8]
    turns: NDArray[np.uint8]
    carriers: NDArray[np.int64]
    block_of: NDArray[np.int16]
    firsts: NDArray[np.int64]
    """``(blocks,)``: the first content of each block."""
    kept: NDArray[np.uint64]
    """``(rows,)``: the keys of the kept rows, ascending."""


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


class Reduction(NamedTuple):
    """The row tables of a reduced space, and the keys of its column maps."""

    target: NDArray[np.int32]
    column_map: ColumnMap
    keys: KeyLines
    """``(column maps, key)``; number 0 is the identity."""
    closing: Closing


@dataclass(frozen=True, eq=False)
class ReducedTables(Filler):
    """How large the move tables are, and how they are filled."""

    transforms: Transforms
    classes: RowClasses

    @property
    def frame(self) -> Frame:
        """What rows and columns say."""
        return self.classes.frame

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.classes.keys)

    @property
    def width(self) -> int:
        """The number of columns of each row."""
        return self.frame.width

    @cached_property
    def most_moves(self) -> int:
        """The moves of the row that allows most."""
        return int(self.reduction.target.shape[1])

    @property
    def most_column_maps(self) -> int:
        """The number of column maps."""
        return len(self.reduction.keys)

    @cached_property
    def steps(self) -> OrbitSteps:
        """The moves of the tables: transforms that do the same to the row, and exclude each other in the column."""
        return orbit_steps(self.transforms, self.frame)

    @cached_property
    def reduction(self) -> Reduction:
        """The row tables, found once for the planner and the tables."""
        return _reduction(self)

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill the column maps."""
        target, column_map, keys, closing = self.reduction
        maps = np.zeros((len(keys), self.width), dtype=np.int32)
        tables = MoveTables(
            target, column_map, maps, self.transforms.reversible, closing if len(closing.rows) else None
        )
        if self.width == 1:
            return tables, []
        columns = self._columns()
        calls: list[Fill] = [
            partial(fill_maps, maps[first:end], keys[first:end], columns)
            for first, end in blocks(len(keys), self.width * (len(self.frame.blocks) + 1))
        ]
        return tables, calls

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""
        effects = 1 if self.folds else len(self.steps.alternatives)
        return (
            self.width * (2 * effects * (self.frame.slots + 2) + 8 * len(self.frame.blocks))
            + 2 * self.reduction.keys.nbytes
        )

    @property
    def folds(self) -> bool:
        """Whether what a move does to the column is part of the keys: where it is legal whatever the column."""
        return _folds(self.frame, self.transforms)

    @property
    def variants(self) -> int:
        """In how many ways parity can tell labels apart."""
        return 1 << sum(block.merged is not None for block in self.frame.blocks)

    def _columns(self) -> "Columns":
        return _columns(self)


def decides(frame: Frame, transforms: Transforms) -> bool:
    """Whether row, or the column without the row, decides where moves are legal, so that there are tables."""
    conditions = transforms.conditions
    if conditions is None:
        return True
    for place in np.flatnonzero(~frame.column_places).tolist():
        known = np.arange(int(transforms.moduli[place]), dtype=np.uint64)
        legal = (conditions[:, place, np.newaxis] >> known) & np.uint64(1)
        shown = frame.shown[place, : len(known)]
        if any((legal[:, shown == one] != legal[:, shown == one][:, :1]).any() for one in set(shown.tolist())):
            return False
    inside = (frame.block_of >= 0).any(axis=1)
    apart = bool((frame.column_places | ~inside).all()) and all(block.merged is None for block in frame.blocks)
    return apart or _folds(frame, transforms)


def _folds(frame: Frame, transforms: Transforms) -> bool:
    return not transforms.conditional[:, frame.column_places].any()


def _reduction(tables: ReducedTables) -> Reduction:
    frame, classes = tables.frame, tables.classes
    rows = classes.rows()
    steps, shape = _steps(tables), _shape(classes)
    renamings = renamings_of(tables)
    variants = _variants(frame, rows)
    length = 2 * frame.slots + 2
    numbers = KeyNumbers.empty(length)
    numbers.add(_identities(frame, tables.variants))
    count = len(steps.origin)
    target = np.empty((len(rows), count), dtype=np.int32)
    column_map = np.zeros((len(rows), count if frame.width > 1 else 0), dtype=np.int32)
    batch = max(1, LINES // max(1, count))
    for first in range(0, len(rows), batch):
        here = slice(first, first + batch)
        lines = np.zeros((len(rows[here]) * count, length), dtype=np.int16)
        found = int(reduce_rows(rows[here], variants[here], steps, shape, renamings[1:], target[here], lines))
        if frame.width > 1:
            put_numbers(target[here], numbers.add(lines[:found]), column_map[here])
    closing = _closing(tables, rows, variants, shape, renamings, numbers)
    identities = tables.variants
    most = int((target != ILLEGAL).sum(axis=1).max(initial=0))
    maps = numbers.count - identities + 1
    to = np.maximum(np.arange(numbers.count) - identities + 1, 0).astype(map_type(maps))
    renumbered = to[column_map[:, :most]] if frame.width > 1 else np.zeros((len(rows), 0), dtype=map_type(maps))
    keys = np.concatenate((numbers.keys[:1], numbers.keys[identities : numbers.count]))
    maps_of = to[closing.maps].astype(np.int32)
    return Reduction(np.ascontiguousarray(target[:, :most]), renumbered, keys, _without_identity(closing, maps_of))


def _without_identity(closing: Closing, maps: NDArray[np.int32]) -> Closing:
    """The closing with these numbers of maps, each once in a row, without the identity and rows that need no other."""
    rows = np.repeat(np.arange(len(closing.rows)), np.diff(closing.begins))
    pairs = np.unique(np.stack((rows, maps)), axis=1)
    rows, maps = pairs[:, pairs[1] != 0]
    kept, counts = np.unique(rows, return_counts=True)
    begins = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return Closing(closing.rows[kept], begins, maps.astype(np.int32))


def _identities(frame: Frame, variants: int) -> KeyLines:
    """The keys that leave all columns, one for each way in which parity tells labels apart."""
    lines = np.zeros((variants, 2 * frame.slots + 2), dtype=np.int16)
    lines[:, 0:-2:2] = np.arange(frame.slots)
    lines[:, -1] = np.arange(variants)
    return lines


def _closing(
    tables: ReducedTables,
    rows: Labels,
    variants: NDArray[np.int64],
    shape: Shape,
    renamings: Renamings,
    numbers: KeyNumbers,
) -> Closing:
    """The rows that symmetries map to themselves, and the column maps of these."""
    chosen = np.flatnonzero(tables.classes.weights < len(tables.classes.images))
    begins = np.concatenate(([0], np.cumsum(len(tables.classes.images) // tables.classes.weights[chosen] - 1)))
    lines = np.zeros((int(begins[-1]), 2 * tables.frame.slots + 2), dtype=np.int16)
    if len(lines):
        find_stabilisers(rows[chosen], variants[chosen], shape, renamings[1:], lines)
    maps = numbers.add(lines) if tables.frame.width > 1 else np.zeros(len(lines), dtype=np.int32)
    return Closing(chosen.astype(np.int32), begins.astype(np.int64), maps)


def _variants(frame: Frame, rows: Labels) -> NDArray[np.int64]:
    """How parity tells labels apart in the first column of rows, given by their positions ``(n, places)``, ``(n,)``."""
    variants, bit = np.zeros(len(rows), dtype=np.int64), 0
    for block in frame.blocks:
        if block.merged is not None:
            here = rows[:, frame.parts[block.part].at]
            low, high = ((here == label).argmax(axis=1) for label in block.merged)
            variants += (low > high).astype(np.int64) << bit
            bit += 1
    return variants


def _steps(tables: ReducedTables) -> Steps:
    """The moves of the tables, and at last one that changes nothing."""
    transforms, steps, frame = tables.transforms, tables.steps, tables.frame
    conditions = transforms.conditions
    allowed = np.zeros((0, frame.places), dtype=np.uint64)
    if conditions is not None:
        allowed = np.where(frame.column_places, ~np.uint64(0), conditions[steps.transforms])
    effects = np.zeros(len(steps.transforms), dtype=np.int64) if tables.folds else steps.actions + 1
    return Steps(
        transforms.origin[steps.transforms].astype(np.int64),
        transforms.added[steps.transforms].astype(np.int64),
        allowed,
        effects,
    )


def _shape(classes: RowClasses) -> Shape:
    images, frame = classes.images, classes.frame
    return Shape(
        images.moduli,
        classes.lookup,
        images.origins,
        images.labels,
        images.turns,
        images.carriers,
        frame.block_of,
        np.array([block.first for block in frame.blocks], dtype=np.int64),
        classes.keys,
    )


def renamings_of(tables: ReducedTables) -> Renamings:
    """The renamings that occur."""
    images, steps = tables.classes.images, tables.steps
    every = np.arange(images.labels.shape[2])
    inside = every < images.moduli[:, np.newaxis]
    pieces = images.turns.shape[2] if images.turns.any() else 1
    turns = images.turns[:, :, :pieces, np.newaxis].astype(np.int64)
    turned = (images.labels[:, :, np.newaxis] + turns) % images.moduli[:, np.newaxis, np.newaxis]
    added = tables.transforms.added[steps.transforms].astype(np.int64) * tables.folds
    moved = (every + added[:, :, np.newaxis]) % images.moduli[:, np.newaxis]
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
def _number_of(keys: NDArray[np.uint64], key: np.uint64) -> int:
    """The place of a key among ascending ones."""
    low, high = 0, len(keys) - 1
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def reduce_rows(
    rows: Labels,
    variants: NDArray[np.int64],
    steps: Steps,
    shape: Shape,
    renamings: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int16]],
    target: NDArray[np.int32],
    lines: KeyLines,
) -> int:
    """Fill the rows' targets, legal moves first, and the key of each legal move, row by row; the number of keys."""
    by_symmetry, by_move, both = renamings
    places = rows.shape[1]
    moved, content_at = np.empty(places, dtype=np.uint8), np.empty(places, dtype=np.int64)
    every = np.arange(places)
    used = np.empty(len(shape.firsts), dtype=np.int64)
    found = 0
    for n in range(len(rows)):
        position, slot = rows[n], 0
        _find_contents(position, shape.block_of, shape.firsts, used, content_at)
        for step in range(len(steps.origin)):
            legal = True
            for place in range(steps.allowed.shape[1] if len(steps.allowed) else 0):
                if (steps.allowed[step, place] >> np.uint64(position[place])) & np.uint64(1) == 0:
                    legal = False
                    break
            if not legal:
                continue
            for place in range(places):
                label = position[steps.origin[step, place]] + steps.added[step, place]
                moved[place] = label % shape.moduli[place]
            symmetry, least = 0, np.uint64(0)
            for one in range(len(shape.lookup)):
                key = np.uint64(0)
                for place in range(places):
                    key += shape.lookup[one, place, moved[place]]
                if one == 0 or key < least:
                    symmetry, least = one, key
            target[n, slot] = _number_of(shape.kept, least)
            slot += 1
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
    renamings: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int16]],
    lines: KeyLines,
) -> int:
    """Fill in the key of each symmetry but the identity that leaves the row of each of the positions."""
    by_symmetry, by_move, both = renamings
    places = rows.shape[1]
    every, content_at = np.arange(places), np.empty(places, dtype=np.int64)
    used = np.empty(len(shape.firsts), dtype=np.int64)
    found = 0
    for n in range(len(rows)):
        position, own = rows[n], np.uint64(0)
        _find_contents(position, shape.block_of, shape.firsts, used, content_at)
        for symmetry in range(len(shape.lookup)):
            key = np.uint64(0)
            for place in range(places):
                key += shape.lookup[symmetry, place, position[place]]
            if symmetry == 0:
                own = key
            elif key == own:
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


class Columns(NamedTuple):
    """The contents of blocks, and how they are ranked, for kernels.

    What is in a block after a move and a symmetry was in one block before. So a column map is a sum over blocks, whose
    summands depend on the contents of one block each; these are its *cases*.
    """

    cases: NDArray[np.uint8]
    """``(contents, cases)``: the contents of the cases of each block; after each effect of a move those of all columns.
    """
    counts: NDArray[np.int64]
    """``(blocks,)``: the number of cases."""
    case_of: NDArray[np.int32]
    """``(blocks, width)``: the case of each column."""
    told: NDArray[np.int64]
    """``(blocks,)``: the bit that tells two labels of the block apart, in cases two by two; -1 if parity tells none."""
    legal: NDArray[np.bool_]
    """``(effects, width)``: whether a move with this effect is legal in the column; ``(0, width)``: all are."""
    renamed: NDArray[np.uint8]
    """``(renamings, labels)``."""
    bounds: NDArray[np.int64]
    """``(blocks, 2)``: the first content of each block and the one past its last."""
    block_of: NDArray[np.int64]
    """``(contents,)``: the block of each content."""
    weights: NDArray[np.int64]
    """``(blocks,)``: the weight of the number of each block of pieces; 0: values."""
    value_weights: NDArray[np.int64]
    """``(contents,)``: the weight of each value; 0 of one that the sum decides."""
    local: NDArray[np.int16]
    """``(blocks, labels)``: the number of each label in its block."""
    added_at: NDArray[np.int64]
    """``(blocks,)``: where the numbers of each block begin in ``added``."""
    added: NDArray[np.int64]
    """What a label adds in a state, see `rank_tables`; the states of a block side by side."""
    units: NDArray[np.int64]
    """``(blocks, numbers)``: what a label adds to the state."""


class _Cases(NamedTuple):
    contents: NDArray[np.uint8]
    counts: NDArray[np.int64]
    of: NDArray[np.int32]
    legal: NDArray[np.bool_]


def _columns(tables: ReducedTables) -> Columns:
    frame = tables.frame
    cases = _cases_of_blocks(frame) if tables.folds else _cases_after_effects(tables)
    pieces = [number for number, block in enumerate(frame.blocks) if block.values is None]
    merged = np.array([block.merged is not None for block in frame.blocks])
    rankings = {number: rank_tables(frame.blocks[number].counts) for number in pieces}
    units = np.zeros((len(frame.blocks), frame.labels), dtype=np.int64)
    for number, (_, unit) in rankings.items():
        units[number, : len(unit)] = unit
    sizes = [rankings[number][0].size if number in rankings else 0 for number in range(len(frame.blocks))]
    weights = np.array(frame.weights, dtype=np.int64)
    weights[[number for number in range(len(frame.blocks)) if number not in rankings]] = 0
    return Columns(
        cases=cases.contents,
        counts=cases.counts,
        case_of=cases.of,
        told=np.where(merged, np.cumsum(merged) - 1, -1),
        legal=cases.legal,
        renamed=renamings_of(tables).tables,
        bounds=np.array([(block.first, block.end) for block in frame.blocks], dtype=np.int64),
        block_of=np.repeat(np.arange(len(frame.blocks)), [block.end - block.first for block in frame.blocks]),
        weights=weights,
        value_weights=_value_weights(frame),
        local=np.array([block.local[: frame.labels] for block in frame.blocks], dtype=np.int16),
        added_at=np.cumsum([0, *sizes])[:-1],
        added=np.concatenate([np.zeros(0, dtype=np.int64), *(added.ravel() for added, _ in rankings.values())]),
        units=units,
    )


def _cases_of_blocks(frame: Frame) -> _Cases:
    """The contents of each block alone; where parity tells labels apart, in both ways for each."""
    counts = np.array([block.size << (block.merged is not None) for block in frame.blocks], dtype=np.int64)
    contents = np.zeros((frame.slots, int(counts.max())), dtype=np.uint8)
    of = np.zeros((len(frame.blocks), frame.width), dtype=np.int32)
    columns = np.arange(frame.width)
    every = frame.contents(columns)
    for number, (block, weight) in enumerate(zip(frame.blocks, frame.weights, strict=True)):
        here = slice(block.first, block.end)
        alone = frame.contents(np.arange(block.size) * weight)[:, here]
        of[number] = columns // weight % block.size
        if block.merged is not None:
            exchanged = np.arange(256, dtype=np.uint8)
            exchanged[list(block.merged)] = block.merged[::-1]
            alone = np.stack((alone, exchanged[alone]), axis=1).reshape(-1, alone.shape[1])
            of[number] = 2 * of[number] + _is_odd(frame, block.part, every)
        contents[here, : counts[number]] = alone.T
    return _Cases(contents, counts, of, np.zeros((0, frame.width), dtype=np.bool_))


def _is_odd(frame: Frame, part: int, contents: Labels) -> NDArray[np.uint8]:
    """Whether the contents ``(width, contents)`` of a part have another parity than in the first column, ``(width,)``."""
    odd = np.zeros(len(contents), dtype=np.uint8)
    for block in frame.blocks:
        if block.part == part:
            odd ^= parities(contents[:, block.first : block.end])
    return odd ^ odd[0]


def _cases_after_effects(tables: ReducedTables) -> _Cases:
    """The contents of all columns, before a move and then after each effect of one."""
    frame, width = tables.frame, tables.frame.width
    plain = frame.contents(np.arange(width))
    moved = [_after(tables, plain, effects) for effects in tables.steps.alternatives]
    legal = [np.ones(width, dtype=np.bool_), *(each for _, each in moved)]
    every = np.concatenate((plain, *(each for each, _ in moved)))
    blocks = len(frame.blocks)
    of = np.tile(np.arange(width, dtype=np.int32), (blocks, 1))
    return _Cases(np.ascontiguousarray(every.T), np.full(blocks, width), of, np.array(legal))


def _value_weights(frame: Frame) -> NDArray[np.int64]:
    weights = np.zeros(frame.slots, dtype=np.int64)
    for block, weight in zip(frame.blocks, frame.weights, strict=True):
        if block.values is not None:
            digits = block.values.free_places
            weights[block.first : block.first + digits] = weight * block.values.radix ** np.arange(digits - 1, -1, -1)
    return weights


def _after(tables: ReducedTables, contents: Labels, effects: tuple[int, ...]) -> tuple[Labels, NDArray[np.bool_]]:
    """The contents ``(width, contents)`` after the legal one of some effects, and where there is one, ``(width,)``."""
    frame, transforms = tables.frame, tables.transforms
    labels = np.zeros((len(contents), frame.places), dtype=np.uint8)
    at = np.flatnonzero(frame.column_places)
    labels[:, at] = contents
    moved, found = contents.copy(), np.zeros(len(contents), dtype=np.bool_)
    conditions = transforms.conditions
    assert conditions is not None
    for effect in tables.steps.effects[list(effects)].tolist():
        after = (labels[:, transforms.origin[effect]].astype(np.int64) + transforms.added[effect]) % transforms.moduli
        legal = ((conditions[effect, at] >> labels[:, at].astype(np.uint64)) & np.uint64(1)).all(axis=1)
        moved[legal] = after[legal][:, at]
        found |= legal
    return moved, found


@kernel
def fill_maps(maps: NDArray[np.int32], keys: KeyLines, columns: Columns) -> None:
    """Fill column maps from their keys."""
    width = maps.shape[1]
    summands = np.empty(columns.cases.shape[1], dtype=np.int32)
    for number in range(len(maps)):
        line, key = maps[number], keys[number]
        after = np.int64(key[-2])
        line[:] = 0
        for block in range(len(columns.bounds)):
            first, end = columns.bounds[block, 0], columns.bounds[block, 1]
            source = columns.block_of[key[2 * first]]
            cases = columns.cases[:, after * width : after * width + columns.counts[source]]
            if columns.weights[block] == 0:
                _find_values(summands, cases, key, first, end, columns)
            else:
                _find_pieces(summands, cases, key, first, end, block, columns)
            told = columns.told[source]
            flip = np.int64(key[-1]) >> told & 1 if told >= 0 else 0
            for column in range(width):
                line[column] += summands[columns.case_of[source, column] ^ flip]
        if len(columns.legal):
            for column in range(width):
                if not columns.legal[after, column]:
                    line[column] = ILLEGAL


@kernel
def _find_values(
    summands: NDArray[np.int32],
    cases: NDArray[np.uint8],
    key: NDArray[np.int16],
    first: int,
    end: int,
    columns: Columns,
) -> None:
    """Fill in the number of the values ``first`` to ``end`` in each case."""
    added = np.empty(columns.renamed.shape[1], dtype=np.int32)
    for case in range(cases.shape[1]):
        summands[case] = 0
    for content in range(first, end):
        weight = columns.value_weights[content]
        if weight == 0:
            continue
        for label in range(len(added)):
            added[label] = columns.renamed[key[2 * content + 1], label] * weight
        source = cases[key[2 * content]]
        for case in range(len(source)):
            summands[case] += added[source[case]]


@kernel
def _find_pieces(
    summands: NDArray[np.int32],
    cases: NDArray[np.uint8],
    key: NDArray[np.int16],
    first: int,
    end: int,
    block: int,
    columns: Columns,
) -> None:
    """Fill in the number of the arrangement of the pieces ``first`` to ``end`` in each case."""
    kinds, at = np.int64(0), columns.added_at[block]
    for label in range(columns.local.shape[1]):
        kinds = max(kinds, np.int64(columns.local[block, label]) + 1)
    for case in range(cases.shape[1]):
        state, rank = np.int64(0), np.int64(0)
        for content in range(first, end):
            label = columns.renamed[key[2 * content + 1], cases[key[2 * content], case]]
            number = np.int64(columns.local[block, label])
            rank += columns.added[at + state * kinds + number]
            state += columns.units[block, number]
        summands[case] = rank * columns.weights[block]
