"""The manifest of a board's tilings: which of its bytes count, and for what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from antipodes.storage.arrays import DIGEST_BYTES, Layout
from antipodes.storage.fields import (
    binary,
    boolean,
    building,
    expect,
    expect_fields,
    instance_of,
    integer,
    list_of,
    mapping_of,
    one_of,
    settings,
    sha256,
    stored_as,
    text,
)
from antipodes.tilings.config import BoardConfig
from antipodes_tasks import arguments
from antipodes_tasks.exact_cover.partitions import METHODS
from antipodes_tasks.exact_cover.problem import TilingProblem
from antipodes_tasks.quoting import quote

TILINGS = "tilings"
"""The array of a finished store."""
PARTITIONS = "partitions"
"""The folder of the arrays of an unfinished store; each is named by its partition."""
CHUNK_ROWS = 65536
NO_PLACEMENT = -1
"""The fill value; each tiling places every piece, so no chunk consists of it alone."""


@dataclass(frozen=True)
class Searched:
    """The result of the search of one partition."""

    number: int = field(metadata=stored_as(integer(0, arguments.GREATEST)))
    tilings: int = field(metadata=stored_as(integer(0, arguments.GREATEST)))
    """How many tilings the partition has."""
    raw_tilings: int = field(metadata=stored_as(integer(0, arguments.GREATEST)))
    """How many they are if symmetric copies count as different."""
    placements: int = field(metadata=stored_as(integer(0, arguments.GREATEST)))
    """How many placements were tried."""


@dataclass(frozen=True)
class TilingManifest:
    """The content of a store, as of its last commit."""

    board: Mapping[str, Any] = field(metadata=stored_as(settings()))
    """The ``[board]`` table of the config."""
    fingerprint: str = field(metadata=stored_as(sha256()))
    """The fingerprint of the problem: all that the tilings depend on."""
    pieces: Sequence[str] = field(metadata=stored_as(list_of(text())))
    """The labels of the copies of pieces: the columns of the arrays."""
    method: str = field(metadata=stored_as(one_of(*METHODS)))
    """The search method: all that the partitions depend on besides the problem."""
    partitions: int = field(metadata=stored_as(integer(0, arguments.GREATEST)))
    """The number of partitions."""
    searched: Sequence[Searched] = field(metadata=stored_as(list_of(instance_of(Searched))))
    """The searched partitions, in the order of their numbers."""
    complete: bool = field(metadata=stored_as(boolean()))
    digests: Mapping[str, bytes] = field(metadata=stored_as(mapping_of(binary(DIGEST_BYTES))))
    """The `chunk_digest` of each chunk of an array, one after the other, by the array's name."""
    metadata: Mapping[str, str] = field(metadata=stored_as(mapping_of(sha256())))
    """SHA-256 of the zarr metadata files of the arrays, by their path in the store."""

    @cached_property
    def problem(self) -> TilingProblem:
        """The board and the pieces."""
        return BoardConfig(self.board).problem

    @property
    def tilings(self) -> int:
        """How many tilings are known, up to the symmetries of the problem."""
        return sum(one.tilings for one in self.searched)

    @property
    def raw_tilings(self) -> int:
        """How many tilings are known, symmetric copies counted as different."""
        return sum(one.raw_tilings for one in self.searched)

    @property
    def placements(self) -> int:
        """How many placements were tried."""
        return sum(one.placements for one in self.searched)

    @property
    def arrays(self) -> Mapping[str, int]:
        """The number of tilings in each array that counts, by its name."""
        return {TILINGS: self.tilings} if self.complete else {array_of(one): one.tilings for one in self.searched}

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """The layout of each array that counts, by its name."""
        return {name: self.layout(tilings) for name, tilings in self.arrays.items()}

    def layout(self, tilings: int) -> Layout:
        """The layout of an array of that many tilings."""
        shape, chunk_rows = (tilings, len(self.pieces)), min(CHUNK_ROWS, max(1, tilings))
        return Layout(shape, chunk_rows, "int32", NO_PLACEMENT, ("tiling", "piece"), compression="zstd")

    def check(self) -> None:
        """Raise FieldError unless the fields fit each other, and the board."""
        self._check_problem()
        numbers = [one.number for one in self.searched]
        ascending = numbers == sorted(set(numbers)) and numbers[-1:] < [self.partitions]
        expect(ascending, "searched", f"partitions below {self.partitions}, each once, in ascending order", numbers)
        all_searched = len(numbers) == self.partitions
        expect(all_searched or not self.complete, "complete", "false, since partitions are not searched", self.complete)
        for one in self.searched:
            expect(one.raw_tilings >= one.tilings, "raw_tilings", f"at least {one.tilings}", one.raw_tilings)
        expected_digests = {name: -(-tilings // CHUNK_ROWS) for name, tilings in self.arrays.items()}
        found = {name: len(digests) // DIGEST_BYTES for name, digests in self.digests.items()}
        expect(found == expected_digests, "digests", f"numbers of chunks {quote(expected_digests)}", found)

    def _check_problem(self) -> None:
        with building("board", "a board"):
            problem = self.problem
            fingerprint = problem.fingerprint
        expect_fields(self, fingerprint=fingerprint, pieces=problem.labels)


def array_of(searched: Searched) -> str:
    """The name of the array with the tilings of a partition."""
    return f"{PARTITIONS}/{searched.number}"
