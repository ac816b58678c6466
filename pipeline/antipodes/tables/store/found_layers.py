"""The layers that a search has found so far."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Layers:
    """The number of entries at each depth, and the number of positions that they represent."""

    entries: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """The depth of the last layer."""
        return len(self.entries) - 1

    def add(self, entries: int, positions: int) -> None:
        """Add a layer."""
        self.entries.append(entries)
        self.positions.append(positions)

    def first(self, count: int) -> "Layers":
        """Return the first ``count`` layers."""
        return Layers(self.entries[:count], self.positions[:count])

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a manifest that commits these layers."""
        weighed = () if self.positions == self.entries else tuple(self.positions)
        return {"committed_depth": self.depth, "layers": tuple(self.entries), "weighed": weighed}
