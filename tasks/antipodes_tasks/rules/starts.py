"""Many starts: one array in place of a tuple for each."""

from collections.abc import Iterator, Sequence
from typing import Any, SupportsIndex, overload

import numpy as np

from antipodes_tasks.quoting import counted
from antipodes_tasks.rules.moves import Labels

Start = tuple[int, ...]


class Starts(Sequence[Start]):
    """Different positions, as tuples of labels; a tuple of 16 takes 180 bytes, and a row here 16."""

    labels: Labels
    """``(n, places)``: they must not be changed."""

    def __init__(self, labels: Labels) -> None:
        """The rows of an array, all different."""
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
