"""The manifest of a table: which of its bytes count, and for what."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from antipodes import arguments
from antipodes.bfs.arrays import UNREACHED
from antipodes.config import Config
from antipodes.puzzles.puzzle import Puzzle
from antipodes.spaces.selection import stored_space
from antipodes.spaces.space import SpaceRecord, StateSpace
from antipodes.storage.fields import (
    anything,
    boolean,
    building,
    expect,
    expect_fields,
    integer,
    list_of,
    mapping_of,
    one_of,
    sha256,
    stored_as,
    text,
)
from antipodes.storage.layout import Layout
from antipodes.tables.store.summaries import Summaries, summaries

if TYPE_CHECKING:
    from antipodes.tables.planning.plan import Cut

DEPTH = "depth"
WIDER = "depth.wide"
"""Where the depths are while the array is replaced by one of a wider type."""
WIDEST = "uint16"
"""The type of depths past those that a byte holds."""
NOTHING_COMMITTED = -1


@dataclass(frozen=True)
class TableManifest:
    """The content of a store, as of its last commit."""

    puzzle: Mapping[str, Any] = field(metadata=stored_as(mapping_of(anything())))
    """The ``[puzzle]`` table of the config."""
    fingerprint: str = field(metadata=stored_as(sha256()))
    """The fingerprint of the puzzle."""
    symbols: Sequence[str] = field(metadata=stored_as(list_of(text())))
    """How each label is written; of several parts, the labels of the first."""
    counts: Sequence[int] = field(metadata=stored_as(list_of(integer(0, arguments.GREATEST))))
    """How many pieces have each label, if the puzzle is one arrangement of pieces; else none."""
    space: str = field(metadata=stored_as(text()))
    """The kind of the state space."""
    details: Mapping[str, Any] = field(metadata=stored_as(mapping_of(anything())))
    """What the space needs besides the puzzle, rows and width to be built again."""
    rows: int = field(metadata=stored_as(integer(1, arguments.GREATEST)))
    width: int = field(metadata=stored_as(integer(1, arguments.GREATEST)))
    chunk_rows: int = field(metadata=stored_as(integer(1, arguments.GREATEST)))
    dtype: str = field(metadata=stored_as(one_of(*UNREACHED)))
    array: str = field(metadata=stored_as(one_of(DEPTH, WIDER)))
    """The name of the array that holds the depths."""
    complete: bool = field(metadata=stored_as(boolean()))
    committed_depth: int = field(metadata=stored_as(integer(NOTHING_COMMITTED, max(UNREACHED.values()) - 1)))
    """Greater depths in the array do not count; NOTHING_COMMITTED before the first commit."""
    layers: Sequence[int] = field(metadata=stored_as(list_of(integer(1, arguments.GREATEST))))
    """The number of positions at each depth up to the committed one."""
    chunks: Summaries = field(metadata=stored_as(summaries()))
    """The summary of each chunk, in the order of their numbers; chunks without one hold no committed depth."""
    metadata: Mapping[str, str] = field(metadata=stored_as(mapping_of(sha256())))
    """SHA-256 of the zarr metadata files, by their path in the store."""

    @cached_property
    def config(self) -> Config:
        """The config of the puzzle."""
        return Config(self.puzzle)

    @cached_property
    def identity(self) -> str:
        """The fingerprint of the puzzle, and the SHA-256 of the state space: chunks belong to both."""
        space = json.dumps([self.space, self.details], ensure_ascii=False)
        return f"{self.fingerprint} {hashlib.sha256(space.encode()).hexdigest()}"

    @property
    def radius(self) -> int:
        """The greatest committed depth."""
        return len(self.layers) - 1

    @property
    def index_size(self) -> int:
        """How many positions there are, reachable or not."""
        return self.rows * self.width

    @property
    def states(self) -> int:
        """How many positions have a committed depth."""
        return sum(self.layers)

    @property
    def cut(self) -> "Cut":
        """The space with the rows and columns of the store, and the number of rows of a chunk.

        Raises
        ------
        FieldError
            No row/column split of the positions has these rows and columns.
        """
        return self.space_of(self.config.puzzle), self.chunk_rows

    def space_of(self, puzzle: Puzzle) -> StateSpace:
        """The state space with the rows and columns of the store, for its puzzle, where that is built already."""
        return stored_space(puzzle, SpaceRecord(self.space, self.rows, self.width, self.details))

    @property
    def layout(self) -> Layout:
        """The layout of the array of depths."""
        return Layout((self.rows, self.width), self.chunk_rows, self.dtype, self.unreached, ("row", "column"))

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """The layout of the array of depths, by the array's name."""
        return {self.array: self.layout}

    @property
    def unreached(self) -> int:
        """The value that stands for a position that was not reached."""
        return UNREACHED[self.dtype]

    def check(self) -> None:
        """Raise FieldError unless the fields fit each other, and the puzzle."""
        starts = self._check_puzzle()
        self.cut  # noqa: B018  (raises)
        expect(self.chunk_rows <= self.rows, "chunk_rows", f"at most {self.rows}", self.chunk_rows)
        widened = self.array == DEPTH or self.dtype == WIDEST
        expect(widened, "array", f"{DEPTH}, since depths are of {self.dtype}", self.array)
        depth = self.committed_depth
        expect(depth < self.unreached, "committed_depth", f"less than {self.unreached}", depth)
        expect(depth >= 0 or not self.complete, "complete", "false, since nothing is committed", self.complete)
        expect(len(self.layers) == depth + 1, "layers", f"{depth + 1} numbers", f"{len(self.layers)} numbers")
        expect(self.states <= self.index_size, "layers", f"at most {self.index_size} positions", self.states)
        expect(self.layers[:1] in ((), (starts,)), "layers[0]", f"{starts}, the number of starts", self.layers[:1])
        self.chunks.check("chunks", -(-self.rows // self.chunk_rows), depth)

    def _check_puzzle(self) -> int:
        """Raise FieldError unless it is the puzzle of the other fields; how many starts it has."""
        with building("puzzle", "a puzzle"):
            puzzle = self.config.puzzle
            fingerprint = puzzle.fingerprint
        expect_fields(self, fingerprint=fingerprint, symbols=puzzle.symbols, counts=puzzle.counts)
        return len(puzzle.starts)
