"""The store of a board's tilings: one array per searched partition, and finally one sorted array of all tilings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from antipodes.storage.arrays import Layout
from antipodes.storage.backend import GROUP
from antipodes.storage.chunk_digests import ChunkDigests, chunk_digests
from antipodes.storage.lock import Run
from antipodes.storage.manifest_fields import (
    SHA256,
    building,
    expect,
    expect_fields,
    instance_of,
    list_of,
    mapping_of,
    settings,
    stored_as,
)
from antipodes.storage.manifest_file import StoreKind
from antipodes.storage.store import Store
from antipodes.tilings.board_config import BoardConfig
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import StoreMismatchError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.base.values import FLAG, TEXT, integer, one_of
from antipodes_tasks.exact_cover.partitions import METHODS, partitions_of
from antipodes_tasks.exact_cover.placements import TilingArray
from antipodes_tasks.exact_cover.tiling_problem import TilingProblem

TILINGS = "tilings"
"""The array of a finished store."""
PARTITIONS = "partitions"
"""The folder of the arrays of an unfinished store, which are named by their partitions."""
CHUNK_ROWS = 65536
NO_PLACEMENT = -1
"""The fill value. It does not occur in a chunk, since every tiling places every piece."""


@dataclass(frozen=True)
class Searched:
    """The result of the search of one partition."""

    number: int = field(metadata=stored_as(integer(0, arguments.MAX_INT64)))
    tilings: int = field(metadata=stored_as(integer(0, arguments.MAX_INT64)))
    """Number of tilings of the partition."""
    raw_tilings: int = field(metadata=stored_as(integer(0, arguments.MAX_INT64)))
    """Number of tilings, counting symmetric copies separately."""
    placements: int = field(metadata=stored_as(integer(0, arguments.MAX_INT64)))
    """Number of placements that were tried."""


@dataclass(frozen=True)
class TilingManifest:
    """The last commit of a store; only arrays that it lists are valid."""

    KIND: ClassVar[str] = "tilings"

    board: Mapping[str, Any] = field(metadata=stored_as(settings()))
    """The ``[board]`` table of the config."""
    fingerprint: str = field(metadata=stored_as(SHA256))
    """Fingerprint of the problem, which covers everything on which the tilings depend."""
    pieces: Sequence[str] = field(metadata=stored_as(list_of(TEXT)))
    """Labels of the copies of pieces. Each copy is a column of the arrays."""
    method: str = field(metadata=stored_as(one_of(*METHODS)))
    """Search method; the partitions depend on it and on the problem."""
    partitions: int = field(metadata=stored_as(integer(0, arguments.MAX_INT64)))
    """Number of partitions."""
    searched: Sequence[Searched] = field(metadata=stored_as(list_of(instance_of(Searched))))
    """The searched partitions, in the order of their numbers."""
    complete: bool = field(metadata=stored_as(FLAG))
    digests: Mapping[str, ChunkDigests] = field(metadata=stored_as(mapping_of(chunk_digests())))
    """The digests of an array's chunks, by the array's name."""
    metadata: Mapping[str, str] = field(metadata=stored_as(mapping_of(SHA256)))
    """SHA-256 of the zarr metadata files of the arrays, by their path in the store."""

    @cached_property
    def problem(self) -> TilingProblem:
        """The board and the pieces."""
        return BoardConfig(self.board).problem

    @property
    def tilings(self) -> int:
        """Number of known tilings, up to the symmetries of the problem."""
        return sum(one.tilings for one in self.searched)

    @property
    def raw_tilings(self) -> int:
        """Number of known tilings, counting symmetric copies separately."""
        return sum(one.raw_tilings for one in self.searched)

    @property
    def placements(self) -> int:
        """Number of placements that were tried."""
        return sum(one.placements for one in self.searched)

    @property
    def saved(self) -> str:
        """Subject and verb of a sentence about the committed partitions: "3 of 8 partitions are"."""
        return f"{len(self.searched)} of {self.partitions} partitions are"

    @property
    def arrays(self) -> Mapping[str, int]:
        """Number of tilings in each valid array, by its name."""
        return {TILINGS: self.tilings} if self.complete else {array_of(one): one.tilings for one in self.searched}

    @cached_property
    def blocks(self) -> Sequence[tuple[str, int]]:
        """The array and the number of each chunk of tilings, in the order of the arrays."""
        return [(name, number) for name, layout in self.layouts.items() for number in range(layout.chunks)]

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """Layout of each valid array, by its name."""
        return {name: self.layout(tilings) for name, tilings in self.arrays.items()}

    def layout(self, tilings: int) -> Layout:
        """Return the layout of an array with this number of tilings."""
        shape, chunk_rows = (tilings, len(self.pieces)), min(CHUNK_ROWS, max(1, tilings))
        return Layout(shape, chunk_rows, "int32", NO_PLACEMENT, ("tiling", "piece"), compression="zstd")

    def check(self) -> None:
        """Raise FieldError unless the fields are consistent with each other and with the board."""
        self._check_problem()
        numbers = [one.number for one in self.searched]
        ascending = numbers == sorted(set(numbers)) and numbers[-1:] < [self.partitions]
        expect(ascending, "searched", f"partitions below {self.partitions}, each once, in ascending order", numbers)
        all_searched = len(numbers) == self.partitions
        expect(all_searched or not self.complete, "complete", "false, since partitions are not searched", self.complete)
        for one in self.searched:
            expect(one.raw_tilings >= one.tilings, "raw_tilings", f"at least {one.tilings}", one.raw_tilings)
        chunks = {name: layout.chunks for name, layout in self.layouts.items()}
        found = {name: len(digests) for name, digests in self.digests.items()}
        expect(found == chunks, "digests", f"numbers of chunks {quote(chunks)}", found)

    def _check_problem(self) -> None:
        with building("board", "a board"):
            problem = self.problem
            fingerprint = problem.fingerprint
        expect_fields(self, fingerprint=fingerprint, pieces=problem.labels)


def array_of(searched: Searched) -> str:
    """Return the name of the array with the tilings of a partition."""
    return f"{PARTITIONS}/{searched.number}"


class TilingStore(Store[TilingManifest]):
    """A store of tilings."""

    KIND = StoreKind(
        format="antipodes-tilings",
        holds="tilings of a board",
        made_by="antipodes tile BOARD",
        version=3,
        unfinished=PARTITIONS,
        others={
            "antipodes-table": "a table of distances, which antipodes layers and antipodes query show",
            "antipodes-counts": "the layers of a counts-only run, which antipodes layers shows",
        },
    )
    MANIFEST_TYPE = TilingManifest

    def create(self, config: BoardConfig, method: str, partitions: int, overwrite: bool = False) -> TilingManifest:
        """Create an empty store atomically, possibly in place of an old store; raise as `creating` does."""
        manifest = TilingManifest(
            board=dict(config.settings),
            fingerprint=config.problem.fingerprint,
            pieces=config.problem.labels,
            method=method,
            partitions=partitions,
            searched=(),
            complete=False,
            digests={},
            metadata={},
        )
        with self.creating(overwrite) as new:
            new.commit(manifest)
            return manifest

    def check_same_problem(self, manifest: TilingManifest, config: BoardConfig, method: str | None) -> None:
        """Raise StoreMismatchError unless the store belongs to this problem and, if given, this method."""
        if manifest.fingerprint != config.problem.fingerprint:
            raise StoreMismatchError(
                f"{self.address} holds the tilings of another board ({manifest.board.get('name')!r}), "
                "with different cells, pieces or conditions"
            )
        if method is not None and manifest.method != method:
            raise StoreMismatchError(
                f"{self.address} holds tilings found by the method {manifest.method}; expected {method}"
            )

    def check_partitions(self, manifest: TilingManifest) -> None:
        """Raise StoreDamagedError unless the number of partitions in the manifest is right for this search."""
        with self.manifest_file.checking():
            expect_fields(manifest, partitions=len(partitions_of(manifest.problem, manifest.method)))

    def remove_leftovers(self, manifest: TilingManifest) -> TilingManifest:
        """Delete the leftovers of a crashed run; return the manifest unchanged."""
        super().remove_leftovers(manifest)
        if manifest.complete:
            self.storage.delete(PARTITIONS)
            return manifest
        self.storage.delete(TILINGS)
        valid = {str(one.number) for one in manifest.searched}
        for folder in self.storage.names_in_folder(PARTITIONS):
            if folder not in valid:
                self.storage.delete(f"{PARTITIONS}/{folder}")
        return manifest

    def add(self, manifest: TilingManifest, found: Mapping[Searched, TilingArray]) -> TilingManifest:
        """Commit the tilings ``(tilings, copies)`` of further partitions; return the new manifest."""
        metadata, digests = dict(manifest.metadata), dict(manifest.digests)
        for searched, tilings in found.items():
            name = array_of(searched)
            digests[name] = self._write(manifest, name, tilings)
            metadata |= self.arrays.digests([f"{name}/{GROUP}"])
        manifest = replace(manifest, searched=_in_order(manifest, found), digests=digests, metadata=metadata)
        self.commit(manifest)
        return manifest

    def finish(self, manifest: TilingManifest, last: Iterable[Searched], tilings: TilingArray) -> TilingManifest:
        """Commit all tilings ``(tilings, copies)`` as one array, which replaces the partitions; return the manifest."""
        manifest = replace(
            manifest,
            searched=_in_order(manifest, last),
            complete=True,
            digests={TILINGS: self._write(manifest, TILINGS, tilings)},
            metadata=self.arrays.digests([f"{TILINGS}/{GROUP}"]),
        )
        self.arrays.write_group(self.KIND.attributes, [TILINGS])
        self.commit(manifest)
        self.storage.delete(PARTITIONS)
        return manifest

    def tilings(self, manifest: TilingManifest) -> TilingArray:
        """Return all tilings of a finished store, or the tilings found so far, ``(tilings, copies)``.

        Raises
        ------
        StoreDamagedError
            A chunk is missing or corrupt, or its digest differs from the manifest; the message names the chunk.
        StoreChangedError
            The chunk has changed because a run has committed meanwhile.
        """
        blocks = (self.read_block(manifest, number) for number in range(len(manifest.blocks)))
        return np.concatenate([np.empty((0, len(manifest.pieces)), dtype=np.int32), *blocks])

    def read_block(self, manifest: TilingManifest, number: int) -> TilingArray:
        """Return the tilings of one of the manifest's blocks; raise like `tilings`."""
        return self._read_chunk(manifest, *manifest.blocks[number])

    def tilings_at(self, manifest: TilingManifest, numbers: Sequence[int]) -> TilingArray:
        """Return tilings of a finished store by their numbers from 0, ``(numbers, copies)``; raise like `tilings`."""
        chunks = {number // CHUNK_ROWS for number in numbers}
        blocks = {chunk: self._read_chunk(manifest, TILINGS, chunk) for chunk in chunks}
        rows = [blocks[number // CHUNK_ROWS][number % CHUNK_ROWS] for number in numbers]
        return np.array(rows, dtype=np.int32).reshape(len(rows), len(manifest.pieces))

    def _read_chunk(self, manifest: TilingManifest, name: str, number: int) -> TilingArray:
        """Return the tilings of a chunk of an array after checking its digest in the manifest."""
        layout = manifest.layout(manifest.arrays[name])
        with self.unless_changed():
            return self.arrays.read_chunk(name, layout, number, manifest.fingerprint, manifest.digests[name])

    def _write(self, manifest: TilingManifest, name: str, tilings: TilingArray) -> ChunkDigests:
        """Store an array durably; return the digests of its chunks."""
        with self.storage.writing():
            digests = self.arrays.write(name, manifest.layout(len(tilings)), tilings, manifest.fingerprint)
            self.storage.sync(name)
        return digests


def _in_order(manifest: TilingManifest, further: Iterable[Searched]) -> tuple[Searched, ...]:
    return tuple(sorted((*manifest.searched, *further), key=lambda one: one.number))


@dataclass(frozen=True, slots=True, kw_only=True)
class TilingStatus:
    """The progress and the size of a search for tilings."""

    board: str
    store: str
    complete: bool
    method: str
    partitions: int
    searched_partitions: int
    solutions: int
    placements: int
    bytes: int
    run: Run | None


def tiling_status(store: TilingStore, manifest: TilingManifest) -> TilingStatus:
    """Return the progress and the size of a search for tilings."""
    return TilingStatus(
        board=manifest.board["name"],
        store=store.address,
        complete=manifest.complete,
        method=manifest.method,
        partitions=manifest.partitions,
        searched_partitions=len(manifest.searched),
        solutions=manifest.tilings,
        placements=manifest.placements,
        bytes=store.storage.size(),
        run=store.storage.lock.run(),
    )
