"""The computation of the column maps of a reduced space from their keys."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.move_tables import ILLEGAL, ColumnMaps
from antipodes_tasks.permutations.multisets import rank_tables
from antipodes_tasks.permutations.parity import parities
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.orbit_steps import OrbitSteps
from antipodes_tasks.spaces.reduced_rows import EFFECT, VARIANT, KeyLines
from antipodes_tasks.spaces.rows_and_columns import Cut


class ColumnRanks(NamedTuple):
    """The contents of column blocks, and how they are ranked, for kernels.

    After a move and a symmetry, all contents of a block come from a single block. So a column map is a sum over blocks,
    and each summand depends on the contents of one block only. The possible contents of a block are its *cases*. If new
    twists also depend on pieces in another block, the cases of every block are all columns.
    """

    cases: NDArray[np.uint8]
    """``(contents, cases)``: the contents of each case of each block. If the renamings do not include the effects of
    moves on the column, the cases are all columns before the move, then all columns after each effect."""
    counts: NDArray[np.int64]
    """``(blocks,)``: the number of cases."""
    case_of: NDArray[np.int32]
    """``(blocks, width)``: the case of each column."""
    told: NDArray[np.int64]
    """``(blocks,)``: the bit in a key for the two labels of the block whose order is determined by parity; cases 2n and
    2n + 1 then differ in the order of these labels. -1 if the block has no such labels."""
    legal: NDArray[np.bool_]
    """``(effects, width)``: whether a move with the effect is legal in the column; ``(0, width)`` if all are legal."""
    renamed: NDArray[np.uint8]
    """``(renamings, pieces, labels)``: the new label of each label, see `Renamings.tables`."""
    carriers: NDArray[np.int64]
    """``(contents,)``: for a twist whose piece is in the column, the content that is this piece; else -1."""
    bounds: NDArray[np.int64]
    """``(blocks, 2)``: the range of each block in the contents of a column: the first index, and one past the last."""
    block_of: NDArray[np.int64]
    """``(contents,)``: the block to which each label of the contents belongs."""
    weights: NDArray[np.int64]
    """``(blocks,)``: the weight of the digit of each block of pieces; 0 for values."""
    value_weights: NDArray[np.int64]
    """``(contents,)``: the weight of each value; 0 for a value that is determined by the sum."""
    local: NDArray[np.int16]
    """``(blocks, labels)``: the number that identifies each label within the block, see `ColumnBlock.local`."""
    added_at: NDArray[np.int64]
    """``(blocks,)``: the index in ``added`` at which the table of each block begins."""
    added: NDArray[np.int64]
    """The tables of all blocks, concatenated: the numbers added to ranks, see `rank_tables`."""
    units: NDArray[np.int64]
    """``(blocks, labels)``: the number that a label adds to the state, by its number in ``local``."""


class _Cases(NamedTuple):
    contents: NDArray[np.uint8]
    counts: NDArray[np.int64]
    of: NDArray[np.int32]
    legal: NDArray[np.bool_]


def columns_of(frame: Cut, renamed: NDArray[np.uint8], transforms: Transforms, steps: OrbitSteps | None) -> ColumnRanks:
    """Return the contents of blocks. ``steps`` is None if the renamings include the effects of moves on the column."""
    if steps is not None:
        cases = _cases_after_effects(frame, transforms, steps)
    else:
        cases = _cases_of_columns(frame) if renamed.shape[1] > 1 else _cases_of_blocks(frame)
    pieces = [number for number, block in enumerate(frame.blocks) if block.values is None]
    merged = np.array([block.merged is not None for block in frame.blocks])
    rankings = {number: rank_tables(frame.blocks[number].counts) for number in pieces}
    units = np.zeros((len(frame.blocks), frame.labels), dtype=np.int64)
    for number, (_, unit) in rankings.items():
        units[number, : len(unit)] = unit
    sizes = [rankings[number][0].size if number in rankings else 0 for number in range(len(frame.blocks))]
    weights = np.array(frame.weights, dtype=np.int64)
    weights[[number for number in range(len(frame.blocks)) if number not in rankings]] = 0
    return ColumnRanks(
        cases=cases.contents,
        counts=cases.counts,
        case_of=cases.of,
        told=np.where(merged, np.cumsum(merged) - 1, -1),
        legal=cases.legal,
        renamed=renamed,
        carriers=frame.carrier_contents,
        bounds=np.array([(block.first, block.end) for block in frame.blocks], dtype=np.int64),
        block_of=np.repeat(np.arange(len(frame.blocks)), [block.end - block.first for block in frame.blocks]),
        weights=weights,
        value_weights=_value_weights(frame),
        local=np.array([block.local[: frame.labels] for block in frame.blocks], dtype=np.int16),
        added_at=np.cumsum([0, *sizes])[:-1],
        added=np.concatenate([np.zeros(0, dtype=np.int64), *(added.ravel() for added, _ in rankings.values())]),
        units=units,
    )


def _cases_of_blocks(frame: Cut) -> _Cases:
    """Return the contents of each block by itself, with both orders of two labels whose order parity determines."""
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


def _cases_of_columns(frame: Cut) -> _Cases:
    """Return the contents of all columns as the cases of each block."""
    blocks, every = len(frame.blocks), np.arange(frame.width, dtype=np.int32)
    contents = np.ascontiguousarray(frame.contents(every.astype(np.int64)).T)
    legal = np.zeros((0, frame.width), dtype=np.bool_)
    return _Cases(contents, np.full(blocks, frame.width), np.tile(every, (blocks, 1)), legal)


def _is_odd(frame: Cut, part: int, contents: Labels) -> NDArray[np.uint8]:
    """Return ``(width,)``: whether the contents of a part in each column differ in parity from the first column."""
    odd = np.zeros(len(contents), dtype=np.uint8)
    for block in frame.blocks:
        if block.part == part:
            odd ^= parities(contents[:, block.first : block.end])
    odd ^= odd[0]
    return odd


def _cases_after_effects(frame: Cut, transforms: Transforms, steps: OrbitSteps) -> _Cases:
    """Return the contents of all columns before a move, and after each effect of a move."""
    width = frame.width
    plain = frame.contents(np.arange(width))
    moved = [_contents_after(frame, transforms, plain, steps.effects[list(each)]) for each in steps.alternatives]
    legal = [np.ones(width, dtype=np.bool_), *(each for _, each in moved)]
    every = np.concatenate((plain, *(each for each, _ in moved)))
    blocks = len(frame.blocks)
    of = np.tile(np.arange(width, dtype=np.int32), (blocks, 1))
    return _Cases(np.ascontiguousarray(every.T), np.full(blocks, width), of, np.array(legal))


def _value_weights(frame: Cut) -> NDArray[np.int64]:
    weights = np.zeros(frame.slots, dtype=np.int64)
    for block, weight in zip(frame.blocks, frame.weights, strict=True):
        if block.values is not None:
            digits = block.values.free_places
            weights[block.first : block.first + digits] = weight * block.values.radix ** np.arange(digits - 1, -1, -1)
    return weights


def _contents_after(
    frame: Cut, transforms: Transforms, contents: Labels, effects: NDArray[np.int64]
) -> tuple[Labels, NDArray[np.bool_]]:
    """Return the contents ``(width, contents)`` after the legal effect, and ``(width,)``: whether there is one."""
    labels = np.zeros((len(contents), frame.places), dtype=np.uint8)
    at = frame.content_places
    labels[:, at] = contents
    moved, found = contents.copy(), np.zeros(len(contents), dtype=np.bool_)
    conditions = transforms.conditions
    assert conditions is not None
    for effect in effects.tolist():
        after = (labels[:, transforms.origin[effect]].astype(np.int64) + transforms.added[effect]) % transforms.moduli
        legal = ((conditions[effect, at] >> labels[:, at].astype(np.uint64)) & np.uint64(1)).all(axis=1)
        moved[legal] = after[legal][:, at]
        found |= legal
    return moved, found


@kernel
def fill_maps(maps: ColumnMaps, keys: KeyLines, columns: ColumnRanks) -> None:
    """Compute column maps from their keys."""
    width = maps.shape[1]
    summands = np.empty(columns.cases.shape[1], dtype=np.int32)
    for number in range(len(maps)):
        line, key = maps[number], keys[number]
        after = np.int64(key[EFFECT])
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
            flip = np.int64(key[VARIANT]) >> told & 1 if told >= 0 else 0
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
    columns: ColumnRanks,
) -> None:
    """Fill in, for each case, the summand of the values from ``first`` to ``end``."""
    pieces, labels = columns.renamed.shape[1], columns.renamed.shape[2]
    added = np.empty((pieces, labels), dtype=np.int32)
    for case in range(cases.shape[1]):
        summands[case] = 0
    for content in range(first, end):
        weight = columns.value_weights[content]
        if weight == 0:
            continue
        renamed = columns.renamed[key[2 * content + 1]]
        for piece in range(pieces):
            for label in range(labels):
                added[piece, label] = renamed[piece, label] * weight
        source, carrier = cases[key[2 * content]], columns.carriers[key[2 * content]]
        if pieces == 1 or carrier < 0:
            for case in range(len(source)):
                summands[case] += added[0, source[case]]
        else:
            for case in range(len(source)):
                summands[case] += added[cases[carrier, case], source[case]]


@kernel
def _find_pieces(
    summands: NDArray[np.int32],
    cases: NDArray[np.uint8],
    key: NDArray[np.int16],
    first: int,
    end: int,
    block: int,
    columns: ColumnRanks,
) -> None:
    """Fill in, for each case, the summand of the arrangement of the pieces from ``first`` to ``end``."""
    kinds, at = np.int64(0), columns.added_at[block]
    for label in range(columns.local.shape[1]):
        kinds = max(kinds, np.int64(columns.local[block, label]) + 1)
    for case in range(cases.shape[1]):
        state, rank = np.int64(0), np.int64(0)
        for content in range(first, end):
            label = columns.renamed[key[2 * content + 1], 0, cases[key[2 * content], case]]
            number = np.int64(columns.local[block, label])
            rank += columns.added[at + state * kinds + number]
            state += columns.units[block, number]
        summands[case] = rank * columns.weights[block]
