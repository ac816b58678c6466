"""A compact list of many starts: one array instead of one tuple per start."""

from collections.abc import Iterator, Sequence
from typing import Any, SupportsIndex, overload

import numpy as np

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.quoting import counted

Start = tuple[int, ...]


class Starts(Sequence[Start]):
    """Distinct positions as tuples, stored as rows of one array: a tuple of 16 labels takes 180 bytes, a row 16."""

    labels: Labels
    """``(n, places)``: the starts; the array must not be changed."""

    def __init__(self, labels: Labels) -> None:
        """Wrap the rows of an array, which must all be different."""
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Start: ...
    @overload
    def __getitem__(self, index: slice) -> "Starts": ...
    def __getitem__(self, index: Any) -> "Start | Starts":
        if isinstance(index, slice):
            return Starts(self.labels[index])
        return tuple(self.labels[index].tolist())

    def __iter__(self) -> Iterator[Start]:
        return map(tuple, self.labels.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Starts) and np.array_equal(self.labels, other.labels)

    def __hash__(self) -> int:
        return hash(self.labels.tobytes())

    def __repr__(self) -> str:
        return f"<Starts: {counted(len(self), 'position')}>"
