"""Positions with exact distances as batches of tensors, to train models of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from antipodes.bridges.splits import SPLITS
from antipodes.stores import finished_table
from antipodes.system.addresses import Address
from antipodes.tables.table import Table
from antipodes.tables.tensors import ENCODINGS, LABELS
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import InputError, imported

if TYPE_CHECKING:
    from torch.utils.data import IterableDataset

UNIFORM, BY_DEPTH = "uniform", "depth"


def distances(
    table: Table | Address,
    batch_size: int,
    seed: int,
    split: str | None = None,
    by: str = UNIFORM,
    encode: str = LABELS,
) -> IterableDataset[Any]:
    """Return an endless dataset of batches: encoded positions, and their distances as float32 ``(batch_size,)``.

    Positions are drawn with replacement. Batch number i depends only on the seed and i, so a
    ``torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=w)`` yields the same batches for each w; its
    workers share the work. Memory holds 4 or 8 bytes per entry of the table.

    Parameters
    ----------
    table
        A finished table, or its address as for `antipodes.open_table`.
    batch_size
        Number of positions in a batch.
    seed
        A nonnegative integer.
    split
        "train" or "test": only the positions of this split, which is the same as in exported Parquet files. The
        splits divide symmetry classes, which are computed first. None: all positions.
    by
        "uniform": all positions are equally probable. "depth": all depths are equally probable, and so are all
        positions of a depth.
    encode
        "labels": int64 ``(batch_size, places)``. "one-hot": float32 with a column for each label of each place.

    Raises
    ------
    InputError
        An argument is invalid, torch is not installed, or no position is in the split.
    UnfinishedError
        The table is unfinished.
    ResourceLimitError
        The positions need more memory than is available, or the puzzle has too many symmetries to list.
    NotAStoreError, StoreDamagedError, SourceError, StoreMismatchError
        See `antipodes.open_table`.
    """
    imported("torch", "a dataset of tensors", "torch")
    from antipodes.bridges.position_batches import PositionBatches

    size, number = arguments.integer(batch_size, "batch_size", 1), arguments.integer(seed, "a seed", 0)
    chosen = (("split", split, (None, *SPLITS)), ("by", by, (UNIFORM, BY_DEPTH)), ("encode", encode, ENCODINGS))
    for name, value, options in chosen:
        if value not in options:
            raise InputError(f"{name}: choose {' or '.join(map(repr, options))}, found {arguments.found(value)}")
    return PositionBatches(finished_table(table), size, number, split, by == BY_DEPTH, encode)
