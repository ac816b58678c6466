"""The manifest of a table: in addition to the manifest of a search, the digests of its chunks, and its arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from antipodes.puzzles.config import Config
from antipodes.storage.arrays import Layout
from antipodes.storage.chunk_digests import ChunkDigests, chunk_digests
from antipodes.storage.manifest_fields import expect, optional, stored_as
from antipodes.tables.store.found_layers import Layers
from antipodes.tables.store.manifest import ChunkedSpace, SearchManifest
from antipodes_tasks.bfs.bitmaps import UNREACHED

DEPTH, COUNTS, KEYS, FIRST_KEYS = "depth", "layer_counts", "keys", "first_keys"
"""The names of the arrays."""
KEY_CHUNK = 1 << 17
"""Number of positions in a chunk of keys and of their depths. One query reads a whole chunk."""
COUNTS_ROWS = 4096
"""Number of depth chunks in one chunk of the array of counts."""


@dataclass(frozen=True)
class TableManifest(SearchManifest):
    """The content of a table. Until it is complete, the journal contains the depths."""

    KIND: ClassVar[str] = "table"
    COUNTS_ONLY: ClassVar[bool] = False

    chunks: ChunkDigests = field(metadata=stored_as(chunk_digests()))
    """The digest of each chunk of depths, by number; 0 for chunks that are not written."""
    layer_counts: ChunkDigests = field(metadata=stored_as(chunk_digests()))
    """The digest of each chunk of the array of counts. Empty before the table is complete."""
    keys: ChunkDigests | None = field(default=None, kw_only=True, metadata=stored_as(optional(chunk_digests())))
    """The digest of each chunk of keys. None until the keys are listed, and always if positions are not keys."""
    first_keys: ChunkDigests | None = field(default=None, kw_only=True, metadata=stored_as(optional(chunk_digests())))
    """The digest of each chunk of the array of first keys. None before the table is complete, and without keys."""

    @classmethod
    def empty(cls, config: Config, cut: ChunkedSpace, **further: Any) -> Self:
        """Return the manifest of a new table, with nothing committed."""
        space, chunk_rows = cut
        chunks = ChunkDigests.empty(-(-space.rows // chunk_rows))
        return super().empty(config, cut, chunks=chunks, layer_counts=ChunkDigests.empty(0), **further)

    @property
    def journal_layers(self) -> Sequence[int]:
        """The number of positions that the journal has at each depth: all of them."""
        return self.layers

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """The layouts of the arrays, by name. Empty before all positions are searched."""
        if not self.searched:
            return {}
        row = "row" if self.symmetry == 1 else "kept_row"
        shape, axes = (self.rows, self.width), (row, "column")
        depth = Layout(shape, self.chunk_rows, self.dtype, self.unreached, axes, fill_is_missing=True)
        written = {DEPTH: depth, KEYS: self.keys_layout} if self.keyed else {DEPTH: depth}
        if not self.complete:
            return written
        counts = {COUNTS: self.counts_layout}
        return written | counts | ({FIRST_KEYS: self.first_keys_layout} if self.keyed else {})

    @property
    def keys_layout(self) -> Layout:
        """The layout of the array of keys, each stored as its difference from the previous key in the chunk."""
        return Layout((self.rows, self.key_words), self.chunk_rows, "uint64", 0, ("row", "word"))

    @property
    def first_keys_layout(self) -> Layout:
        """The layout of the array of the first key of each chunk."""
        rows = min(self.chunk_count, COUNTS_ROWS)
        return Layout((self.chunk_count, self.key_words), rows, "uint64", 0, ("chunk", "word"))

    def with_layers(self, layers: Layers, antipodes: Sequence[int]) -> Self:
        """Return the manifest after all positions are searched. For keys, its chunks are those of the list of keys."""
        found = replace(self, **layers.fields, searched=True, antipodes=tuple(antipodes))
        if not self.keyed or not self.searches_keys:
            return found
        listed = replace(found, rows=found.states, chunk_rows=min(found.states, KEY_CHUNK))
        none = ChunkDigests.empty(listed.chunk_count)
        return replace(listed, chunks=none, keys=none)

    def not_searched(self) -> Self:
        """Return the manifest as it was before all positions were searched, with the chunks of the journal."""
        return super(TableManifest, self._journalled).not_searched()

    @property
    def as_read(self) -> Self:
        """The manifest with the chunks that can be read: the chunks of the journal until a list of keys is complete."""
        return self if self.complete or not self.keyed else self._journalled

    @property
    def _journalled(self) -> Self:
        rows, _, chunk_rows = self.journal_cut
        before = replace(self, rows=rows, chunk_rows=chunk_rows, keys=None)
        return replace(before, chunks=ChunkDigests.empty(before.chunk_count))

    @property
    def counts_layout(self) -> Layout:
        """The layout of the array with the number of positions of each chunk at each depth.

        Its axis is not named depth, since xarray treats an array with the name of an axis as the axis's coordinate.
        """
        rows = min(self.chunk_count, COUNTS_ROWS)
        return Layout((self.chunk_count, len(self.layers)), rows, "uint32", 0, ("chunk", "layer"))

    @property
    def dtype(self) -> str:
        """The type of the depths: the smallest type for all depths and for the value of unreached positions."""
        return next(name for name, unreached in UNREACHED.items() if self.committed_depth < unreached)

    @property
    def unreached(self) -> int:
        """The value of unreached positions in the array of depths."""
        return UNREACHED[self.dtype]

    def check(self) -> None:
        """Raise FieldError unless the fields are consistent with each other and with the puzzle."""
        super().check()
        self.chunks.check("chunks", self.chunk_count)
        listed = self.keyed and self.searched
        expect(listed == (self.keys is not None), "keys", _presence(listed), _presence(self.keys is not None))
        ended, first = listed and self.complete, self.first_keys is not None
        expect(ended == first, "first_keys", _presence(ended), _presence(first))
        if self.keys is not None:
            self.keys.check("keys", self.chunk_count)
        if self.first_keys is not None:
            self.first_keys.check("first_keys", self.first_keys_layout.chunks)
        self.layer_counts.check("layer_counts", self.counts_layout.chunks if self.complete else 0)
        expect(
            self.searched or not self.chunks.numbers(), "chunks", "none, since not all positions are searched", "some"
        )


def _presence(digests: bool) -> str:
    return "digests" if digests else "no digests"
