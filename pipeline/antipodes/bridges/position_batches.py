"""The dataset of `antipodes.bridges.torch`: positions drawn from the entries of a table, sorted by depth."""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import IterableDataset, get_worker_info

from antipodes.bridges.splits import SPLITS, in_test
from antipodes.system.machine import available_memory, available_workers, human
from antipodes.tables.evaluation import in_batches
from antipodes.tables.table import Table
from antipodes.tables.tensors import encoded
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, ResourceLimitError
from antipodes_tasks.base.parallel import on_threads
from antipodes_tasks.move_tables import Indices

TOGETHER = 1 << 16
"""Number of positions that are unranked together, unless a batch is larger: machine code is used for many."""
SORTING_BYTES = 24
"""Maximum number of bytes of memory per entry while entries are sorted."""
Entries = tuple[Indices, NDArray[np.int32]]


class PositionBatches(IterableDataset[Any]):
    """Endless batches of encoded positions and their distances. Copies in other processes hold the same entries."""

    def __init__(
        self, table: Table, batch_size: int, seed: int, split: str | None, by_depth: bool, encode: str
    ) -> None:
        self._numbering, self._parts = table.space.stored.numbering, table.puzzle.parts
        self._batch_size, self._seed, self._by_depth, self._encode = batch_size, seed, by_depth, encode
        entries, depths = _entries(table, split)
        weights = table.space.stored.weights
        self._before = (
            None if weights is None else np.cumsum(np.insert(weights[entries // table.space.stored.width], 0, 0))
        )
        """For entries that represent several positions: the number of positions before each entry, and of all."""
        self._entries = entries.astype(np.uint32) if table.space.stored.size < 1 << 32 else entries
        ends = np.searchsorted(depths, np.arange(table.radius + 1), side="right")
        self._layer_ends = ends if self._before is None else self._before[ends]
        """The number of positions up to the end of each depth."""

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yield all batches, or those that fall to this worker of a DataLoader, which takes turns with the others."""
        worker = get_worker_info()
        numbers = count() if worker is None else count(worker.id, worker.num_workers)
        together = max(1, TOGETHER // self._batch_size)
        while True:
            yield from self._batches(list(islice(numbers, together)))

    def _batches(self, numbers: Sequence[int]) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yield the batches with these numbers. Each depends only on its number and the seed."""
        drawn = [self._draw(np.random.default_rng((self._seed, number))) for number in numbers]
        positions, depths = (np.concatenate(one) for one in zip(*drawn, strict=True))
        labels = self._positions(positions)
        for first in range(0, len(labels), self._batch_size):
            batch = slice(first, first + self._batch_size)
            inputs = encoded(self._parts, labels[batch], self._encode)
            yield torch.from_numpy(inputs), torch.from_numpy(depths[batch].astype(np.float32))

    def _draw(self, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return numbers ``(batch_size,)`` of positions, counted by depth and then by entry, and their depths."""
        ends = self._layer_ends
        if not self._by_depth:
            numbers = rng.integers(ends[-1], size=self._batch_size)
            return numbers, np.searchsorted(ends, numbers, side="right")
        sizes = np.diff(ends, prepend=0)
        depths = rng.choice(np.flatnonzero(sizes), self._batch_size)
        return (ends - sizes)[depths] + rng.integers(sizes[depths]), depths

    def _positions(self, numbers: NDArray[np.int64]) -> Labels:
        if self._before is None:
            return self._numbering.unrank(self._entries[numbers].astype(np.int64))
        places = np.searchsorted(self._before, numbers, side="right") - 1
        return self._numbering.one_of(self._entries[places].astype(np.int64), numbers - self._before[places])


def _entries(table: Table, split: str | None) -> Entries:
    """Return the reached entries of a split ``(n,)`` and their depths ``(n,)``, sorted by depth and then by entry."""
    needed, available = SORTING_BYTES * table.space.stored.size, available_memory()
    if needed > available:
        raise ResourceLimitError(
            f"the entries of {table.address} need {human(needed)} of memory, and {human(available)} is available; "
            "draw positions with Table.dataset"
        )
    parts = list(table.reached_entries() if split is None else _in_split(table, split))
    entries, depths = (np.concatenate(one) for one in zip(*parts, strict=True))
    if not len(entries):
        raise InputError(f"split: {table.puzzle.name} has no position in {split!r}")
    order = np.argsort(depths.astype(np.uint16), kind="stable")
    return entries[order], depths[order]


def _in_split(table: Table, split: str) -> Iterator[Entries]:
    """Return the reached entries in a split and their depths, in batches. Symmetric positions are in the same split."""

    def chosen(batch: Entries) -> Entries:
        mask = in_test(table, table.space.stored.unrank(batch[0]))[0] == (split == SPLITS[1])
        return batch[0][mask], batch[1][mask]

    return on_threads(chosen, in_batches(table.reached_entries()), available_workers())
