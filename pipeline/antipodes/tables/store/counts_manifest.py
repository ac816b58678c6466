"""The manifest of a store of counts: how many positions there are at each depth, and the first antipodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from antipodes.storage.arrays import Layout
from antipodes.storage.fields import expect
from antipodes.tables.store.search_manifest import SearchManifest


@dataclass(frozen=True)
class CountsManifest(SearchManifest):
    """The layers and the first antipodes of a puzzle; while they are not complete, a checkpoint holds the bits."""

    COUNTS_ONLY: ClassVar[bool] = True

    @property
    def journal_layers(self) -> Sequence[int]:
        """The number of positions that the checkpoint has at each depth: those before the last depth as if at one."""
        *before, last = self.layers
        return [*[0] * (len(before) - 1), sum(before), last] if before else [last]

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """No arrays."""
        return {}

    def check(self) -> None:
        """Raise FieldError unless the fields fit each other, and the puzzle."""
        super().check()
        expect(self.searched == self.complete, "complete", f"{self.searched}, as searched", self.complete)
