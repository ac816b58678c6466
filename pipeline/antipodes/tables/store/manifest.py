"""The manifest of a table: which of its bytes count, and for what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from antipodes.config import Config
from antipodes.storage.fields import expect, stored_as
from antipodes.storage.layout import Layout
from antipodes.tables.store.chunk_digests import ChunkDigests, chunk_digests
from antipodes.tables.store.search_manifest import SearchManifest
from antipodes_tasks.bfs.bitmaps import UNREACHED

if TYPE_CHECKING:
    from antipodes.tables.planning.plan import Plan

DEPTH, COUNTS = "depth", "layer_counts"
"""The names of the arrays."""
COUNTS_ROWS = 4096
"""Chunks in a chunk of the array of counts."""


@dataclass(frozen=True)
class TableManifest(SearchManifest):
    """The content of a table; while it is not complete, the journal holds the depths."""

    COUNTS_ONLY: ClassVar[bool] = False

    chunks: ChunkDigests = field(metadata=stored_as(chunk_digests()))
    """The digest of each chunk of depths, in the order of their numbers; 0 for chunks that are not written."""
    layer_counts: ChunkDigests = field(metadata=stored_as(chunk_digests()))
    """The digest of each chunk of the array of counts; none before the table is complete."""

    @classmethod
    def empty(cls, config: Config, plan: "Plan", **further: Any) -> Self:
        """The manifest of a new table, with nothing committed."""
        chunks = ChunkDigests.empty(-(-plan.space.rows // plan.chunk_rows))
        return super().empty(config, plan, chunks=chunks, layer_counts=ChunkDigests.empty(0), **further)

    @property
    def journal_layers(self) -> Sequence[int]:
        """The number of positions that the journal has at each depth: all."""
        return self.layers

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """The layouts of the arrays, by their names: none before all positions are searched."""
        if not self.searched:
            return {}
        depth = Layout((self.rows, self.width), self.chunk_rows, self.dtype, self.unreached, ("row", "column"))
        if not self.complete:
            return {DEPTH: depth}
        return {DEPTH: depth, COUNTS: self.counts_layout}

    @property
    def counts_layout(self) -> Layout:
        """The layout of the array that counts the positions of each chunk at each depth.

        Its axis is not called depth: to xarray, an array of the name of an axis is the axis's coordinate.
        """
        rows = min(self.chunk_count, COUNTS_ROWS)
        return Layout((self.chunk_count, len(self.layers)), rows, "uint32", 0, ("chunk", "layer"))

    @property
    def dtype(self) -> str:
        """The type of the depths: the smallest that holds all, and the value for unreached positions."""
        return next(name for name, unreached in UNREACHED.items() if self.committed_depth < unreached)

    @property
    def unreached(self) -> int:
        """The value that stands for a position that was not reached."""
        return UNREACHED[self.dtype]

    def check(self) -> None:
        """Raise FieldError unless the fields fit each other, and the puzzle."""
        super().check()
        self.chunks.check("chunks", self.chunk_count)
        self.layer_counts.check("layer_counts", self.counts_layout.chunks if self.complete else 0)
        expect(self.searched or not self.chunks.numbers(), "chunks", "none, since not all is searched", "some")
