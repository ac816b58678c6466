"""The manifest of a search: the puzzle, its state space, the committed layers, and the valid data."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from antipodes.puzzles import python_source
from antipodes.puzzles.config import FINGERPRINT, Config
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import STARTS
from antipodes.storage.arrays import Layout
from antipodes.storage.manifest_fields import (
    ANY,
    SHA256,
    building,
    expect,
    expect_fields,
    list_of,
    mapping_of,
    optional,
    settings,
    stored_as,
)
from antipodes.tables.store.found_layers import Layers, LayerSize
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import FieldError, NotAStoreError, SourceError
from antipodes_tasks.base.values import FLAG, TEXT, integer, one_of, unsigned
from antipodes_tasks.bfs.bitmaps import UNREACHED
from antipodes_tasks.keys.bit_fields import WORD
from antipodes_tasks.keys.encoded_runs import of_integers
from antipodes_tasks.keys.packing import MAX_WORDS, packing_of
from antipodes_tasks.spaces.keyed import BOUNDS, ONE_WAY, PACKING, SPAN, Keyed, KeyList, checked_details
from antipodes_tasks.spaces.selection import stored_space
from antipodes_tasks.spaces.space import KEYED, NUMBERED, ORDER, REDUCED, Space, SpaceRecord

DEEPEST = UNREACHED["uint16"] - 1
"""The maximum depth that a store can hold."""
MAX_ANTIPODES = 1000
"""Maximum number of antipodes in the manifest."""
MAX_CHUNK_STATES = 1 << 26
"""Maximum number of positions in a chunk of several rows. One query reads a whole chunk."""
NOTHING_COMMITTED = -1
IN_STORE, OUTSIDE = "store", "outside"
"""Where the layers of a search on disk may be."""
ChunkedSpace = tuple[Space, int]
"""The space that defines the rows and columns of a store, and the number of rows per chunk."""


@dataclass(frozen=True)
class SearchManifest:
    """The content of the store of a search at its last commit. Tables add fields.

    This class describes the store of a run that only counts. Until its counts are complete, a checkpoint contains the
    bits of the search.
    """

    KIND: ClassVar[str] = "counts"
    """The kind of the store in results: ``table``, ``counts`` or ``tilings``."""
    COUNTS_ONLY: ClassVar[bool] = True
    """Whether the store contains only the layers and the first antipodes, and no distances."""

    puzzle: Mapping[str, Any] = field(metadata=stored_as(settings()))
    fingerprint: str = field(metadata=stored_as(SHA256))
    symbols: Sequence[str] = field(metadata=stored_as(list_of(TEXT)))
    """How each label is written. If the puzzle has several parts, these are the labels of the first part."""
    counts: Sequence[int] = field(metadata=stored_as(list_of(integer(0, arguments.MAX_INT64))))
    """The number of pieces with each label if the puzzle is one arrangement of pieces, else empty."""
    space: str = field(metadata=stored_as(TEXT))
    """The kind of the state space."""
    details: Mapping[str, Any] = field(metadata=stored_as(mapping_of(ANY)))
    """The data from which the space is rebuilt, in addition to the puzzle, the rows and the width."""
    rows: int = field(metadata=stored_as(integer(1, arguments.MAX_INT64)))
    width: int = field(metadata=stored_as(integer(1, arguments.MAX_INT64)))
    chunk_rows: int = field(metadata=stored_as(integer(1, arguments.MAX_INT64)))
    committed_depth: int = field(metadata=stored_as(integer(NOTHING_COMMITTED, DEEPEST)))
    """The depth up to which all layers are stored; NOTHING_COMMITTED before the first commit."""
    layers: Sequence[int] = field(metadata=stored_as(list_of(integer(0, arguments.MAX_INT64))))
    """The number of entries at each committed depth. Without symmetries each entry is one position."""
    searched: bool = field(metadata=stored_as(FLAG))
    """Whether all positions have been searched, so that no deeper layer exists."""
    antipodes: Sequence[int] = field(metadata=stored_as(list_of(unsigned(WORD * MAX_WORDS))))
    """The indices or keys of the first MAX_ANTIPODES positions at the greatest depth, once all are searched."""
    complete: bool = field(metadata=stored_as(FLAG))
    """Whether the store is finished."""
    weighed: Sequence[int] = field(
        default=(), kw_only=True, metadata=stored_as(list_of(integer(1, arguments.MAX_INT64)))
    )
    """The number of positions at each depth if an entry represents several positions, else empty."""
    unique: Sequence[int] | None = field(
        default=None, kw_only=True, metadata=stored_as(optional(list_of(integer(1, arguments.MAX_INT64))))
    )
    """The number of symmetry classes at each depth, or None if they are not counted."""
    spill: str | None = field(default=None, kw_only=True, metadata=stored_as(optional(one_of(IN_STORE, OUTSIDE))))
    """Where a search on disk keeps its layers: in the store, or in a folder outside, whose path no store contains. None
    if the bits of the search are in memory. A finished store keeps OUTSIDE until the folder is deleted."""
    spill_id: str | None = field(default=None, kw_only=True, metadata=stored_as(optional(SHA256)))
    """The identifier of the folder outside of the store, which the folder contains, too; random. Else None."""
    metadata: Mapping[str, str] = field(metadata=stored_as(mapping_of(SHA256)))
    """SHA-256 of the zarr metadata files of the arrays, by their paths in the store."""

    @classmethod
    def empty(cls, config: Config, cut: ChunkedSpace, **further: Any) -> Self:
        """Return the manifest of a new store, with nothing committed; ``further`` are the fields of a subclass."""
        space, chunk_rows = cut
        record = space.record
        return cls(
            puzzle=dict(config.settings),
            fingerprint=config.puzzle.fingerprint,
            symbols=config.puzzle.rules.symbols,
            counts=config.puzzle.rules.counts,
            space=record.kind,
            details=record.details,
            rows=record.rows,
            width=record.width,
            chunk_rows=chunk_rows,
            committed_depth=NOTHING_COMMITTED,
            layers=(),
            searched=False,
            antipodes=(),
            complete=False,
            metadata={},
            **further,
        )

    @cached_property
    def config(self) -> Config:
        """The config of the puzzle. If the puzzle depends on code, it includes the fingerprint, to detect changes."""
        needs_code = self.puzzle.get("family") == python_source.FAMILY
        return Config({**self.puzzle, FINGERPRINT: self.fingerprint} if needs_code else self.puzzle)

    def written_as(self, config: Config) -> Self:
        """Return the manifest with the notation of the same puzzle in the user's config, such as the names of moves."""
        return replace(self, puzzle=dict(config.settings))

    @cached_property
    def source_error(self) -> SourceError | None:
        """The reason why the puzzle is unknown: its code may not be run here, is missing, or has changed. Else None."""
        try:
            self.config.puzzle  # noqa: B018  (raises)
        except SourceError as error:
            return error
        return None

    @cached_property
    def identity(self) -> str:
        """The fingerprint of the puzzle and the SHA-256 of the state space. Chunks are bound to both."""
        space = json.dumps([self.space, self.details], ensure_ascii=False)
        return f"{self.fingerprint} {hashlib.sha256(space.encode()).hexdigest()}"

    @property
    def radius(self) -> int:
        """The greatest committed depth."""
        return len(self.layers) - 1

    @property
    def index_size(self) -> int:
        """Number of entries, reachable or not. While keys are not listed yet, the number of keys found."""
        return self.states if self.searches_keys else self.rows * self.width

    @property
    def keyed(self) -> bool:
        """Whether positions are keys, and the index of a position is its place in a list of keys."""
        return self.space == KEYED

    @property
    def numbered(self) -> int:
        """Number of positions, reachable or not. An entry counts as all the positions that it represents.

        For keys, this is the number of positions found.
        """
        if self.keyed:
            return self.states
        return int(self.details[NUMBERED]) if self.space == REDUCED else self.index_size

    def standing_for(self, entries: int) -> int:
        """Return approximately how many positions this number of entries represents, in proportion to all entries."""
        return entries * self.numbered // self.index_size

    @property
    def symmetry(self) -> int:
        """The number of symmetries by which the table is reduced. 1: it is not reduced."""
        return int(self.details[ORDER]) if self.space == REDUCED else 1

    @property
    def found(self) -> Layers:
        """The committed layers."""
        unique = self.unique if self.unique is not None else [None] * len(self.layers)
        return Layers([*map(LayerSize, self.layers, self.positions, unique)])

    @property
    def positions(self) -> Sequence[int]:
        """The number of positions at each committed depth."""
        return self.weighed or self.layers

    @property
    def start_count(self) -> int | None:
        """Number of positions at depth 0; None if only a search can find it and nothing is committed."""
        puzzle = self.config.puzzle.rules
        if puzzle.depends_on_origin:
            return self.positions[0] if self.layers else None
        return puzzle.start_count

    @property
    def states(self) -> int:
        """The number of positions with a committed depth."""
        return sum(self.positions)

    @property
    def cut(self) -> ChunkedSpace:
        """The space with the rows and columns of the store, and the number of rows per chunk.

        For a table of keys this is the space that is searched. Raises FieldError if the positions cannot be divided
        into these rows and columns.
        """
        numbering = self._own_space.numbering
        if isinstance(numbering, Keyed):
            return Space(self._own_space.rules, numbering.searched, 2), SPAN
        return self._own_space, self.chunk_rows

    @cached_property
    def _own_space(self) -> Space:
        return self._built(self.config.puzzle)

    def space_of(self, puzzle: Puzzle) -> Space:
        """Return the state space with the rows and columns of the store for its puzzle; reuse it if already built."""
        known: Space | None = self.__dict__.get("_own_space")
        return self._built(puzzle) if known is None or known.rules is not puzzle.rules else known

    def opened_space(self, puzzle: Puzzle, keys: KeyList | None) -> Space:
        """Return the same space as `space_of`, but with the list of ``keys`` if positions are keys."""
        space = self.space_of(puzzle)
        if isinstance(space.numbering, Keyed) and keys is not None:
            return Space(space.rules, space.numbering.opened(keys), 2)
        return space

    def first_antipodes(self, limit: int | None = None, puzzle: Puzzle | None = None) -> Labels:
        """Return the first antipodes in the manifest, ``(n, places)``, at most ``limit``.

        Pass the ``puzzle`` of the store if it is already built.
        """
        space = self._own_space if puzzle is None else self.space_of(puzzle)
        named, numbering = self.antipodes[:limit], space.numbering
        if isinstance(numbering, Keyed):
            return numbering.packing.unpack(of_integers(named, numbering.packing.words))
        return numbering.positions_of_entries(np.array(named, dtype=np.int64))[1][:limit]

    def _built(self, puzzle: Puzzle) -> Space:
        return stored_space(puzzle.rules, SpaceRecord(self.space, self.rows, self.width, self.details))

    @cached_property
    def key_words(self) -> int:
        """The number of words of a key."""
        return packing_of(self.details[PACKING]).words

    @property
    def searches_keys(self) -> bool:
        """Whether positions are keys that are not listed yet. If so, rows and chunks divide the ranges of keys."""
        return self.keyed and self.chunk_rows == SPAN

    @property
    def journal_cut(self) -> tuple[int, int, int]:
        """The numbers of rows, columns and rows per chunk of the journal, even after the keys of a table are listed."""
        if self.keyed:
            return SPAN * (1 + len(self.details[BOUNDS])), 1, SPAN
        return self.rows, self.width, self.chunk_rows

    @property
    def chunk_count(self) -> int:
        """The number of chunks of depths."""
        return -(-self.rows // self.chunk_rows)

    def rows_of(self, chunk: int) -> range:
        """Return the rows of a chunk."""
        return range(chunk * self.chunk_rows, min(self.rows, (chunk + 1) * self.chunk_rows))

    @property
    def journal_layers(self) -> Sequence[int]:
        """The number of positions at each committed depth, as counted in the files of the last commit.

        A checkpoint counts all positions before the last depth as positions at the depth before it. The checkpoint of a
        search of keys or of a search on disk contains only the layers that the search needs.
        """
        *before, last = self.layers
        if self.spill is not None and not self.config.puzzle.moves.reversible:
            return self.layers
        if self.spill is not None or (self.keyed and not self.details[ONE_WAY]):
            before = [*[0] * len(before[1:]), *before[-1:]]
        return [*[0] * (len(before) - 1), sum(before), last] if before else [last]

    def not_searched(self) -> Self:
        """Return the manifest as it was before all positions were searched."""
        return replace(self, searched=False, complete=False, antipodes=())

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """The layouts of the arrays, by name."""
        return {}

    def check(self) -> None:
        """Raise FieldError unless the fields are consistent with each other, and with the puzzle if its code may run.

        Raises NotAStoreError if the puzzle has a key that an earlier version wrote.
        """
        # The order matters: later checks compute with fields that earlier checks have found valid.
        self._check_removed_keys()
        self._check_details()
        with building("puzzle", "a puzzle"):
            known = self.source_error is None
        if known:
            self._check_puzzle()
            with _reading_details():
                self.cut  # noqa: B018  (raises an error if invalid)
            self._check_starts()
        expect(self.chunk_rows <= self.rows, "chunk_rows", f"at most {self.rows}", self.chunk_rows)
        few = self.chunk_rows == 1 or self.chunk_rows * self.width <= MAX_CHUNK_STATES or self.searches_keys
        expect(few, "chunk_rows", f"a row, or at most {MAX_CHUNK_STATES:,} positions", self.chunk_rows)
        depth = self.committed_depth
        expect(depth >= 0 or not self.searched, "searched", "false, since nothing is committed", self.searched)
        expect(
            self.searched or not self.complete, "complete", "false, since not all positions are searched", self.complete
        )
        finished = self.complete or not (self.COUNTS_ONLY and self.searched)
        expect(finished, "complete", f"{self.searched}, as searched", self.complete)
        expect(len(self.layers) == depth + 1, "layers", f"{depth + 1} numbers", f"{len(self.layers)} numbers")
        expect(min(self.layers, default=1) > 0, "layers", "positions at each depth", self.layers)
        entries = sum(self.layers)
        expect(entries <= self.index_size, "layers", f"at most {self.index_size} entries", entries)
        fewest = [*map(int.__le__, self.layers, self.weighed)]
        known = not self.weighed or (len(self.weighed) == len(self.layers) and all(fewest))
        expect(known, "weighed", "at least as many positions as entries at each depth", self.weighed)
        most = self.unique is None or (
            len(self.unique) == depth + 1 and all(map(int.__le__, self.unique, self.positions))
        )
        expect(most, "unique", "at most as many classes as positions at each depth", self.unique)
        self._check_antipodes()
        outside, named = self.spill == OUTSIDE, self.spill_id is not None
        expect(outside == named, "spill_id", "64 hexadecimal digits" if outside else "none", self.spill_id)

    def _check_removed_keys(self) -> None:
        """Raise NotAStoreError if the puzzle has a key that an earlier version wrote into stores of this format."""
        starts = self.puzzle.get(STARTS)
        removed = {
            "least_over_regions": "least_over_regions" in self.puzzle,
            "starts = { table = ... }": (isinstance(starts, Mapping) and "table" in starts),
        }
        for key, is_there in removed.items():
            if is_there:
                raise NotAStoreError(
                    f"this table was made with {key}, which antipodes no longer supports; "
                    "read it with the version of antipodes that wrote it"
                )

    def _check_details(self) -> None:
        """Raise FieldError unless the details that are used without the puzzle are valid for some puzzle."""
        for key in (NUMBERED, ORDER) if self.space == REDUCED else ():
            integer(1, arguments.MAX_INT64).check(self.details.get(key), f"details.{key}", FieldError)
        if self.keyed:
            with _reading_details():
                checked_details(self.details)

    def _check_starts(self) -> None:
        puzzle = self.config.puzzle.rules
        some = puzzle.depends_on_origin
        numbers = range(1 if some else puzzle.start_count, puzzle.start_count + 1)
        known = not self.layers or self.positions[0] in numbers
        expect(known, "layers[0]", f"{'at most ' * some}{numbers[-1]}, the number of starts", self.positions[:1])

    def _check_antipodes(self) -> None:
        known = min(self.layers[-1], MAX_ANTIPODES) if self.searched else 0
        expect(len(self.antipodes) == known, "antipodes", f"{known} indices", f"{len(self.antipodes)} indices")
        bits = WORD * self.key_words if self.keyed else 0
        end = 1 << bits if self.keyed else self.index_size
        ascending = all(first < second for first, second in pairwise((*self.antipodes, end)))
        expected = f"ascending keys of at most {bits} bits" if self.keyed else f"ascending indices below {end}"
        expect(ascending, "antipodes", expected, self.antipodes)

    def _check_puzzle(self) -> None:
        """Raise FieldError unless the puzzle is consistent with the other fields."""
        with building("puzzle", "a puzzle"):
            puzzle = self.config.puzzle.rules
            fingerprint = puzzle.fingerprint
        expect_fields(self, fingerprint=fingerprint, symbols=puzzle.symbols, counts=puzzle.counts)


@contextmanager
def _reading_details() -> Iterator[None]:
    """Convert errors into FieldErrors, in code that reads the details: these may be any JSON."""
    try:
        yield
    except FieldError:
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
        raise FieldError("details: the record of the numbering does not match the puzzle") from error


def on_disk(manifest: SearchManifest | None) -> bool | None:
    """Return whether a run must keep its layers on disk because the committed layers are there. None: either way.

    Checkpoints of bits in memory differ from layers on disk. A table has the same journal in both cases.
    """
    if manifest is None or not manifest.COUNTS_ONLY or manifest.committed_depth == NOTHING_COMMITTED:
        return None
    return manifest.spill is not None
