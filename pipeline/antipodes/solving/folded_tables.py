"""Tables reduced by their own symmetries: computed once, and then read from the cache."""

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from antipodes.solving.pattern_values import values_of
from antipodes.solving.table_cache import keep, kept
from antipodes.system.machine import available_workers
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.search_stores import TableStore
from antipodes_tasks.searches.folding import LEAST_ENTRIES, Folding, folded, folding_of
from antipodes_tasks.searches.packed import pack, packed_size
from antipodes_tasks.searches.permutation_views import PermutationTable
from antipodes_tasks.searches.progress import Heartbeat

FORM = "folded, with moves"
HEADER = 7
"""Number of integers at the beginning of a cached reduced table."""
Values = NDArray[np.uint8]


def folded_table(
    store: TableStore, manifest: TableManifest, table: PermutationTable, pulse: Heartbeat
) -> tuple[Folding, Values] | None:
    """Return the reduction of a table by its symmetries, and the reduced values; None if a reduction is not worthwhile.

    The values are packed if the table is packed (two values per byte).

    ``pulse`` may end the computation by raising an error. Raises StoreDamagedError if the store is corrupt.
    """
    if table.numbering.size < LEAST_ENTRIES:
        return None
    form = f"{FORM} {table.packed}"
    if (found := kept(manifest, form)) is not None:
        return _parsed(found)
    folding = folding_of(table.rules, table.numbering, table.digits, pulse)
    if folding is None:
        return None
    whole = values_of(store, manifest, table.packed, pulse)
    values = folded(folding, table.digits, whole, table.packed, available_workers(), pulse)
    if values is None:
        return None
    if table.packed:
        halves = np.empty(packed_size(len(values), table.packed), dtype=np.uint8)
        pack(values, halves)
        values = halves
    keep(manifest, form, _written(folding, values))
    return folding, values


def _written(folding: Folding, values: Values) -> Values:
    """Return the reduction and the values as bytes."""
    shapes = [len(folding.class_of), *folding.maps.shape, folding.moves.shape[1]]
    sizes = np.array([folding.column, folding.bits, folding.classes, *shapes], dtype="<i8")
    moves = folding.moves.astype("<i8")
    parts = (sizes, moves, folding.class_of.astype("<u4"), folding.maps.astype("<i4"), values)
    return np.concatenate([part.ravel().view(np.uint8) for part in parts])


def _parsed(content: Values) -> tuple[Folding, Values]:
    """Parse the bytes from `_written`, whose digests the cache has already checked."""
    column, bits, classes, rows, maps, width, moves = content[: 8 * HEADER].view("<i8").tolist()
    sizes = (8 * HEADER, 8 * maps * moves, 4 * rows, 4 * maps * width)
    ends = list(accumulate(sizes))
    images = content[ends[0] : ends[1]].view("<i8").astype(np.int64).reshape(maps, moves)
    class_of = content[ends[1] : ends[2]].view("<u4").astype(np.uint32)
    of_columns = content[ends[2] : ends[3]].view("<i4").astype(np.int32).reshape(maps, width)
    return Folding(column, class_of, of_columns, images, bits, classes), content[ends[3] :]
