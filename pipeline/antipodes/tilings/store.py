"""The store of a board's tilings: an array for each searched partition, and at the end one with all, sorted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from antipodes.storage.arrays import DIGEST_BYTES, chunk_digest, chunk_key
from antipodes.storage.backend import GROUP
from antipodes.storage.fields import expect_fields
from antipodes.storage.manifest import StoreKind
from antipodes.storage.store import Store
from antipodes.tilings.config import BoardConfig
from antipodes.tilings.manifest import CHUNK_ROWS, PARTITIONS, TILINGS, Searched, TilingManifest, array_of
from antipodes_tasks.errors import StoreMismatchError
from antipodes_tasks.exact_cover.partitions import partitions_of
from antipodes_tasks.exact_cover.symmetry import Tilings


class TilingStore(Store[TilingManifest]):
    """A store of tilings."""

    KIND = StoreKind(format="antipodes-tilings", holds="tilings of a board", made_by="antipodes tile BOARD", version=3)
    MANIFEST_TYPE = TilingManifest

    def create(self, config: BoardConfig, method: str, partitions: int, overwrite: bool = False) -> TilingManifest:
        """Create an empty store, atomically, perhaps in place of an old one; raises as `creating`."""
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

    def check_partitions(self, manifest: TilingManifest) -> None:
        """Raise StoreDamagedError unless the search for these tilings has as many partitions as the manifest says."""
        with self.manifest_file.checking():
            expect_fields(manifest, partitions=len(partitions_of(manifest.problem, manifest.method)))

    def remove_leftovers(self, manifest: TilingManifest) -> TilingManifest:
        """Delete the leftovers of a crashed run; the manifest, unchanged."""
        super().remove_leftovers(manifest)
        if manifest.complete:
            self.storage.delete(PARTITIONS)
            return manifest
        self.storage.delete(TILINGS)
        known = {str(one.number) for one in manifest.searched}
        for folder in self.storage.folders(PARTITIONS):
            if folder not in known:
                self.storage.delete(f"{PARTITIONS}/{folder}")
        return manifest

    def add(self, manifest: TilingManifest, found: Mapping[Searched, Tilings]) -> TilingManifest:
        """Commit the tilings of further partitions, ``(tilings, copies)`` each; the manifest from now on."""
        metadata, digests = dict(manifest.metadata), dict(manifest.digests)
        for searched, tilings in found.items():
            name = array_of(searched)
            digests[name] = self._write(manifest, name, tilings)
            metadata |= self.arrays.digests([f"{name}/{GROUP}"])
        manifest = replace(manifest, searched=_merged(manifest, found), digests=digests, metadata=metadata)
        self.commit(manifest)
        return manifest

    def finish(self, manifest: TilingManifest, last: Iterable[Searched], tilings: Tilings) -> TilingManifest:
        """Commit all the tilings, ``(tilings, copies)``, in place of the partitions'; the manifest from now on."""
        manifest = replace(
            manifest,
            searched=_merged(manifest, last),
            complete=True,
            digests={TILINGS: self._write(manifest, TILINGS, tilings)},
            metadata=self.arrays.digests([f"{TILINGS}/{GROUP}"]),
        )
        self.arrays.write_group(self.KIND.attributes, [TILINGS])
        self.commit(manifest)
        self.storage.delete(PARTITIONS)
        return manifest

    def tilings(self, manifest: TilingManifest) -> Tilings:
        """All the tilings of a finished store, or those found so far, ``(tilings, copies)``.

        Raises
        ------
        StoreDamagedError
            A chunk is missing, its checksum is wrong, or its digest is not the one in the manifest; the message
            names it.
        StoreChangedError
            The same, because a run has committed something else.
        """
        blocks = [
            self._read_block(manifest, name, number, count)
            for name, count in manifest.arrays.items()
            for number in range(-(-count // CHUNK_ROWS))
        ]
        return np.concatenate([np.empty((0, len(manifest.pieces)), dtype=np.int32), *blocks])

    def picked(self, manifest: TilingManifest, numbers: Sequence[int]) -> Tilings:
        """The tilings of these numbers, from 0, in a finished store, ``(numbers, copies)``; raises as `tilings`."""
        blocks = {
            chunk: self._read_block(manifest, TILINGS, chunk, manifest.tilings)
            for chunk in {number // CHUNK_ROWS for number in numbers}
        }
        rows = [blocks[number // CHUNK_ROWS][number % CHUNK_ROWS] for number in numbers]
        return np.array(rows, dtype=np.int32).reshape(len(rows), len(manifest.pieces))

    def _read_block(self, manifest: TilingManifest, name: str, number: int, count: int) -> Tilings:
        """The tilings of a chunk of an array of ``count`` tilings, checked against its digest in the manifest."""
        first = number * CHUNK_ROWS
        expected = manifest.digests[name][number * DIGEST_BYTES : (number + 1) * DIGEST_BYTES]
        with self.unless_changed():
            block: Tilings = self.arrays.read_chunk(
                name, manifest.layout(count), number, first, min(count, first + CHUNK_ROWS)
            )
            if chunk_digest(manifest.fingerprint, chunk_key(name, number), block) != expected:
                raise self.arrays.misplaced(name, number)
        return block

    def _write(self, manifest: TilingManifest, name: str, tilings: Tilings) -> bytes:
        """Store an array durably; the digests of its chunks."""
        with self.storage.writing():
            self.storage.delete(name)
            layout = manifest.layout(len(tilings))
            self.arrays.create(name, layout)
            if len(tilings):
                self.arrays.open_to_write(name, layout)[:] = tilings
            self.storage.sync(name)
        return b"".join(
            chunk_digest(manifest.fingerprint, chunk_key(name, number), tilings[first : first + CHUNK_ROWS])
            for number, first in enumerate(range(0, len(tilings), CHUNK_ROWS))
        )


def _merged(manifest: TilingManifest, further: Iterable[Searched]) -> tuple[Searched, ...]:
    return tuple(sorted((*manifest.searched, *further), key=lambda one: one.number))


def check_same_problem(manifest: TilingManifest, config: BoardConfig, method: str | None, address: str) -> None:
    """Raise StoreMismatchError unless the store holds the tilings of this problem, found by this method, if any."""
    if manifest.fingerprint != config.problem.fingerprint:
        raise StoreMismatchError(
            f"{address} holds the tilings of another board ({manifest.board.get('name')!r}); "
            "expected the same cells, pieces and conditions: choose another --store, or --overwrite it"
        )
    if method is not None and manifest.method != method:
        raise StoreMismatchError(
            f"{address} holds tilings found by the method {manifest.method}; expected {method}: "
            "choose another --store, or --overwrite it"
        )
