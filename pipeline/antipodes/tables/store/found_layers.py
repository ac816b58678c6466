"""The layers that a search has found so far."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class LayerSize(NamedTuple):
    """The size of a layer."""

    entries: int
    positions: int
    """Number of positions that the entries represent."""
    unique: int | None = None
    """Number of symmetry classes of these positions, or None if they are not counted."""


@dataclass
class Layers:
    """The sizes of the layers from depth 0 on."""

    sizes: list[LayerSize] = field(default_factory=list)
    positions: int = field(init=False)
    """Number of positions in all layers. The sum is stored because it is reported after each of up to 65,534 layers."""

    def __post_init__(self) -> None:
        self.positions = sum(one.positions for one in self.sizes)

    @property
    def depth(self) -> int:
        """The depth of the last layer."""
        return len(self.sizes) - 1

    def add(self, size: LayerSize) -> None:
        """Add the layer after the last one."""
        self.sizes.append(size)
        self.positions += size.positions

    def first(self, count: int) -> "Layers":
        """Return the first ``count`` layers."""
        return Layers(self.sizes[:count])

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a manifest that commits these layers."""
        entries, positions = (tuple(one[place] for one in self.sizes) for place in range(2))
        fields = {
            "committed_depth": self.depth,
            "layers": entries,
            "weighed": () if positions == entries else positions,
        }
        unique = tuple(one.unique for one in self.sizes if one.unique is not None)
        return {**fields, "unique": unique} if unique else fields
