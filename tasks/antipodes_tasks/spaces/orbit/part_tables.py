"""The number of each content of a part after each move, filled in blocks."""

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.orbit.part_index import PartIndex, PiecesIndex, ValuesIndex

if TYPE_CHECKING:
    from antipodes_tasks.spaces.orbit.orbit_kernels import Changes, PartTable

PartFill = Callable[["PartTable", int], None]
"""Fills some lines of a part table, which begin at a content."""
BLOCK = 1 << 22
"""Steps of the inner loops of a block. It is filled in some 20 ms, after which an interruption is answered."""
NO_SUM = -1


def part_fill(part: PartIndex, transforms: Transforms, numbers: NDArray[np.int64]) -> PartFill:
    """What fills the table of a part for the transforms of these numbers."""
    from antipodes_tasks.spaces.orbit.orbit_kernels import Changes, fill_values

    origin = (transforms.origin[numbers, part.at] - part.first).astype(np.uint16)
    conditions = transforms.conditions
    if conditions is None or not transforms.conditional[numbers, part.at].any():
        masks = np.zeros((0, part.places), dtype=np.uint64)
    else:
        masks = conditions[numbers, part.at].copy()
    changes = Changes(origin, transforms.added[numbers, part.at].copy(), masks)
    if isinstance(part, PiecesIndex):
        return _pieces_fill(part, changes)
    assert isinstance(part, ValuesIndex)
    total = NO_SUM if part.total is None else part.total
    return lambda after, first: fill_values(after, first, part.radix, total, changes)


def rearranged_fill(part: PartIndex, origins: NDArray[np.uint8]) -> PartFill:
    """What fills the table of the pieces on free places, for rearrangements ``(n, free places)`` of these."""
    from antipodes_tasks.spaces.orbit.orbit_kernels import Changes

    assert isinstance(part, PiecesIndex)
    nothing = np.zeros(origins.shape, dtype=np.uint8)
    return _pieces_fill(part, Changes(origins.astype(np.uint16), nothing, np.zeros((0, part.places), dtype=np.uint64)))


def _pieces_fill(part: PiecesIndex, changes: "Changes") -> PartFill:
    from antipodes_tasks.permutations.arrangements import numbering
    from antipodes_tasks.spaces.orbit.orbit_kernels import fill_pieces

    numbers = numbering(part.counts)
    return lambda after, first: fill_pieces(after, first, numbers, changes)


def filled(part: PartIndex, moves: int, fill: PartFill) -> "PartTable":
    """The whole table of a part, ``(contents, moves)``, filled in blocks so that an interruption is answered."""
    table = np.empty((part.size, moves), dtype=np.int32)
    for first, end in blocks(part.size, (moves + 4) * part.places):
        fill(table[first:end], first)
    return table


def joined(tables: Sequence["PartTable"]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """All entries of the tables in one array, and where each begins."""
    at = np.cumsum([0, *(table.size for table in tables)])[:-1]
    if len(tables) == 1:
        return tables[0].ravel(), at  # no copy
    return np.concatenate([np.zeros(0, dtype=np.int32), *(table.ravel() for table in tables)]), at


def weights(parts: Sequence[PartIndex]) -> NDArray[np.int64]:
    """The weight of the digit of each part."""
    return np.array([prod(part.size for part in parts[number + 1 :]) for number in range(len(parts))], dtype=np.int64)


def blocks(size: int, entries: int, least: int = 1) -> Iterator[tuple[int, int]]:
    """Ranges of rows, columns or contents of so many inner steps each, that one call fills."""
    step = max(least, BLOCK // max(1, entries))
    return ((first, min(first + step, size)) for first in range(0, size, step))


def numbering_bytes(parts: Sequence[PartIndex]) -> int:
    """An upper bound of the bytes of the numberings of these parts while they are made."""
    return sum(_numbering_bytes(part.counts) for part in parts if isinstance(part, PiecesIndex))


def _numbering_bytes(counts: Sequence[int]) -> int:
    states, places, kinds = prod(count + 1 for count in counts), sum(counts), len(counts)
    return 8 * (states * (3 * kinds + 8) + 3 * (places + 1) * (max(counts) + 2))
