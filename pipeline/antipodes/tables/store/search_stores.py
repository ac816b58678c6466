"""The stores of searches: tables and counts, which are created, committed and resumed in the same way.

A table has a journal while it is searched, then zarr arrays: the depths, and the number of positions of each chunk at
each depth. The manifest contains the digest of each chunk. A chunk of depths without reached positions is not written.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.config import Config, PuzzleLike, register_puzzle
from antipodes.storage.backend import GROUP, Storage
from antipodes.storage.chunk_digests import ChunkDigests, chunk_digest
from antipodes.storage.manifest_file import StoreKind, format_of
from antipodes.storage.opening import storage_at
from antipodes.storage.store import Store
from antipodes.system.addresses import Address, in_shell
from antipodes.tables.journal import CHECKPOINTS, FOLDER, Journal, folder_of
from antipodes.tables.journal_file import StoredSegments
from antipodes.tables.store.manifest import OUTSIDE, ChunkedSpace, SearchManifest
from antipodes.tables.store.spill import LayerFolder
from antipodes.tables.store.table_manifest import COUNTS, DEPTH, FIRST_KEYS, KEYS, TableManifest
from antipodes_tasks.base.errors import AntipodesError, StoreError, StoreMismatchError
from antipodes_tasks.base.option_names import in_words, option
from antipodes_tasks.bfs.bitmaps import Depths, bitmap_bytes
from antipodes_tasks.bfs.key_partition import with_depths
from antipodes_tasks.bfs.segments import Segment, depths_of
from antipodes_tasks.keys.encoded_runs import of_integers
from antipodes_tasks.keys.packing import Keys
from antipodes_tasks.spaces.keyed import BOUNDS

M = TypeVar("M", bound=SearchManifest)
SYMMETRIES = "symmetries"
"""The attribute of the zarr group of a store that is reduced by symmetries."""
MAX_RUN_BYTES = (1 << 32) - 1
"""Maximum size of a segment of keys in bytes."""


class SearchStore(Store[M]):
    """A store that a search fills layer by layer."""

    spill_directory: str | None = None
    """The directory that the user names for layers outside of the store; None: the one of an earlier command."""

    def create(
        self,
        config: Config,
        cut: ChunkedSpace,
        overwrite: bool = False,
        unique: bool = False,
        spill_id: str | None = None,
    ) -> M:
        """Create an empty store atomically, possibly in place of an old store; raise as `creating` does.

        ``unique`` is whether the search counts symmetry classes, and ``spill_id`` the identifier of a folder outside of
        the old store, with layers that the new store has to delete.
        """
        fields = {"unique": () if unique else None, "spill": spill_id and OUTSIDE, "spill_id": spill_id}
        with self.creating(overwrite) as new:
            return new.commit_arrays(self.MANIFEST_TYPE.empty(config, cut, **fields))

    def layer_folder(self, manifest: M) -> LayerFolder | None:
        """Return the folder outside of the store with its layers; None if there is none, or if its path is unknown."""
        return layer_folder(self.storage, manifest, self.spill_directory)

    def keep_layers(self, manifest: M, spill: str | None, folder: LayerFolder | None) -> M:
        """Commit where the run keeps its layers, and create their ``folder`` outside of the store, if there is one.

        If nothing is committed, the folder of an earlier run is deleted. Raises StoreError if the folder cannot be
        written.
        """
        recorded = None if manifest.spill_id is None else LayerFolder.recorded(self.storage, manifest.spill_id)
        if recorded is not None and recorded != folder and not manifest.layers:
            recorded.release()
        spill_id = folder.owner.identifier if folder else None
        if (spill, spill_id) != (manifest.spill, manifest.spill_id):
            manifest = replace(manifest, spill=spill, spill_id=spill_id)
            self.commit(manifest)
        if folder:
            folder.claim()
        elif recorded:
            recorded.forget()
        return manifest

    def has_leftovers(self, manifest: M) -> bool:
        """Return whether a finished store has a journal, or layers in a folder outside of it whose path is known."""
        return super().has_leftovers(manifest) or self.layer_folder(manifest) is not None

    def remove_leftovers(self, manifest: M) -> M:
        """Delete the files that a crashed run was writing; return the manifest to continue with."""
        super().remove_leftovers(manifest)
        return self.release_layers(manifest) if manifest.complete else manifest

    def release_layers(self, manifest: M) -> M:
        """Delete the folder outside of a finished store, and commit that; return the new manifest.

        If the path of the folder is unknown, or something cannot be deleted, the next run tries it again.
        """
        folder = self.layer_folder(manifest)
        if folder is None:
            return manifest
        try:
            folder.release()
        except StoreError:
            return manifest
        manifest = replace(manifest, spill=None, spill_id=None)
        self.commit(manifest)
        folder.forget()
        return manifest

    def commit_arrays(self, manifest: M) -> M:
        """Commit a manifest with the digests of its arrays' metadata, and return this manifest."""
        with self.storage.writing():
            metadata = self.arrays.digests(f"{array}/{GROUP}" for array in manifest.layouts)
            manifest = replace(manifest, metadata=metadata)
            if manifest.complete:
                self.arrays.write_group(self.attributes(manifest), manifest.layouts)
            elif manifest.symmetry > 1:
                self.arrays.write_group(self.attributes(manifest))
        self.commit(manifest)
        return manifest

    def attributes(self, manifest: M) -> Mapping[str, Any]:
        """Return the attributes of the zarr group. For a reduced store they include its number of symmetries."""
        return self.KIND.attributes | ({SYMMETRIES: manifest.symmetry} if manifest.symmetry > 1 else {})

    def journal(self, manifest: M) -> Journal:
        """Return the journal, from which an unfinished search resumes."""
        rows, width, chunk_rows = manifest.journal_cut
        most = MAX_RUN_BYTES if manifest.keyed else bitmap_bytes(chunk_rows, width)
        return Journal(
            self._journal_storage(manifest),
            f"{manifest.identity} {rows} {width} {chunk_rows}",
            -(-rows // chunk_rows),
            most,
        )

    def _journal_storage(self, manifest: M) -> Storage:
        """Return the storage of the journal, which shares the lock of the store; raise as `check_layers` does."""
        folder = self.check_layers(manifest)
        return folder.storage(self.storage) if folder else self.storage

    def check_layers(self, manifest: M) -> LayerFolder | None:
        """Return the folder outside of the store with its layers, or None if there is none.

        Raises StoreError if the path of the folder is unknown, or if the folder is missing.
        """
        folder = self.layer_folder(manifest)
        if folder is not None:
            folder.check_present()
        elif manifest.spill == OUTSIDE:
            raise StoreError(unknown_folder(self.address))
        return folder


def check_same_puzzle(manifest: SearchManifest, config: Config, address: str) -> None:
    """Raise StoreMismatchError unless the store belongs to this puzzle; SourceError if its code may have changed."""
    if manifest.fingerprint != config.puzzle.fingerprint:
        if manifest.source_error is not None and manifest.puzzle.get("source") == config.settings.get("source"):
            raise manifest.source_error
        holds = "layers" if manifest.COUNTS_ONLY else "table"
        raise StoreMismatchError(
            f"{address} holds the {holds} of another puzzle ({manifest.puzzle.get('name')!r}), "
            "with another start, goal or moves"
        )


def check_same_symmetry(manifest: SearchManifest, symmetry: str | None, address: str) -> None:
    """Raise StoreMismatchError if ``symmetry`` (``on`` or ``off``) contradicts whether the store is reduced."""
    if symmetry == ("on" if manifest.symmetry == 1 else "off"):
        found = "not reduced by symmetries" if manifest.symmetry == 1 else f"reduced by {manifest.symmetry} symmetries"
        wanted = option("symmetry", symmetry)
        raise StoreMismatchError(f"{address} is {found}, so it cannot be resumed with {wanted}")


def check_counts_classes(manifest: SearchManifest, unique: bool, address: str) -> None:
    """Raise StoreMismatchError if the layers are to be counted up to symmetry, but the store lacks these numbers."""
    if unique and manifest.unique is None:
        raise StoreMismatchError(f"{address} does not count positions up to symmetry")


def read_given(store: SearchStore[M], puzzle: PuzzleLike | None) -> M:
    """Return the manifest of a store, with the notation of the ``puzzle`` if the user gave it.

    The fingerprint does not contain the names of moves, so a forged store can exchange them. A puzzle is also needed if
    its code is unknown here.

    Raises as `Store.read`, `as_config` and `check_same_puzzle` do.
    """
    config = None if puzzle is None else register_puzzle(puzzle)
    manifest = store.read()
    if config is not None:
        check_same_puzzle(manifest, config, store.address)
        return manifest.written_as(config)
    return manifest


TILINGS = {"antipodes-tilings": "tilings of a board, which antipodes show draws"}
"""The format of stores of tilings and their content in words, for messages."""
ChunkCounts = NDArray[np.uint32]
"""The number of positions of each chunk at each depth, ``(chunks, depths)``."""


class TableStore(SearchStore[TableManifest]):
    """The store of a table."""

    KIND = StoreKind(
        format="antipodes-table",
        holds="a table of distances",
        made_by="antipodes run PUZZLE",
        version=7,
        unfinished=FOLDER,
        others={
            "antipodes-counts": "the layers of a counts-only run, which have no distances: antipodes run PUZZLE makes "
            "a table, in another store or in place of this one",
            **TILINGS,
        },
        replaces=("antipodes-counts",),
    )
    MANIFEST_TYPE = TableManifest
    _segments: tuple[TableManifest, StoredSegments] | None = None
    """The manifest of the unfinished table that was last read, and its segments."""

    def commit(self, manifest: TableManifest) -> None:
        """Replace the manifest. All data that it refers to must be durable already."""
        with self.storage.writing():
            for array in manifest.layouts:
                self.storage.sync(array)
        super().commit(manifest)

    def create_arrays(self, manifest: TableManifest) -> None:
        """Create the arrays of a table after all positions are searched; replace arrays that a crashed run left."""
        with self.storage.writing():
            for name, layout in manifest.layouts.items():
                self.storage.delete(name)
                self.arrays.create(name, layout)

    def complete(
        self, manifest: TableManifest, counts: ChunkCounts, first_keys: NDArray[np.uint64] | None = None
    ) -> TableManifest:
        """Finish a table whose chunks are all written, and delete its journal; return the new manifest.

        If positions are keys, ``first_keys`` ``(chunks, words)`` are the first keys of the chunks.
        """
        manifest = finished_manifest(manifest)
        if first_keys is not None:
            manifest = replace(manifest, first_keys=self._write(manifest, FIRST_KEYS, first_keys))
        manifest = self.commit_arrays(replace(manifest, layer_counts=self.write_counts(manifest, counts)))
        self.storage.delete(FOLDER)
        return self.release_layers(manifest)

    def remove_leftovers(self, manifest: TableManifest) -> TableManifest:
        """Delete the files that a crashed run was writing; return the manifest to continue with."""
        manifest = super().remove_leftovers(manifest)
        kept = (*manifest.layouts, *(() if manifest.complete else (FOLDER,)))
        for folder in (DEPTH, COUNTS, KEYS, FIRST_KEYS, FOLDER):
            if folder not in kept:
                self.storage.delete(folder)
        return manifest

    def write_chunk(self, manifest: TableManifest, chunk: int, depths: Depths, token: str | None = None) -> int:
        """Write the depths of a chunk ``(rows, width)`` durably; return its digest. Raises as `Arrays.write_chunk`."""
        return self.arrays.write_chunk(DEPTH, manifest.layouts[DEPTH], chunk, depths, manifest.identity, token)

    def write_keys(self, manifest: TableManifest, chunk: int, keys: Keys, token: str | None = None) -> int:
        """Write the sorted keys of a chunk as differences; return its digest. Raises as `write_chunk` does."""
        differences = _differences(keys)
        return self.arrays.write_chunk(KEYS, manifest.layouts[KEYS], chunk, differences, manifest.identity, token)

    def write_counts(self, manifest: TableManifest, counts: ChunkCounts) -> ChunkDigests:
        """Create the array of counts; return the digests of its chunks."""
        return self._write(manifest, COUNTS, counts)

    def _write(self, manifest: TableManifest, name: str, content: NDArray[Any]) -> ChunkDigests:
        return self.arrays.write(name, manifest.layouts[name], content, manifest.identity)

    def read_chunk(self, manifest: TableManifest, chunk: int) -> Depths:
        """Return the depths of a chunk, ``(rows, width)``. Positions without a committed depth are unreached.

        Raises
        ------
        StoreDamagedError
            The chunk, or a journal file with its segments, is missing or corrupt. The message names it.
        StoreChangedError
            The same, but only because a run has committed meanwhile.
        """
        with self.unless_changed():
            if not manifest.complete:
                return self._read_segments(manifest, chunk)
            if manifest.chunks.get(chunk) is None:
                return self.unreached(manifest, chunk)
            return self._read_checked(manifest, DEPTH, chunk, manifest.chunks)

    def read_keys(self, manifest: TableManifest, chunk: int) -> Keys:
        """Return the committed keys of a chunk, or of a range if the table is unfinished; raise as `read_chunk`."""
        with self.unless_changed():
            return self._listed_keys(manifest, chunk) if manifest.complete else self._range(manifest, chunk)[0]

    def keys_and_depths(self, manifest: TableManifest, chunk: int) -> tuple[Keys, Depths]:
        """Return the keys and depths of a committed chunk. The table need not be complete."""
        return self._listed_keys(manifest, chunk), self._read_checked(manifest, DEPTH, chunk, manifest.chunks)

    def _listed_keys(self, manifest: TableManifest, chunk: int) -> Keys:
        assert manifest.keys is not None
        return _summed(self._read_checked(manifest, KEYS, chunk, manifest.keys))

    def first_keys(self, manifest: TableManifest) -> Keys:
        """Return the first key of each chunk, or of each range of an unfinished table; raise as `read_chunk` does."""
        words = manifest.key_words
        if not manifest.complete:
            return of_integers([0, *manifest.details[BOUNDS]], words)
        with self.unless_changed():
            assert manifest.first_keys is not None
            rows = self._read_all(manifest, FIRST_KEYS, manifest.first_keys)
            return rows[:, 0] if words == 1 else rows

    def read_chunks(self, manifest: TableManifest, first: int, end: int) -> Depths:
        """Return the depths of the chunks from ``first`` to ``end - 1`` of a finished table, ``(rows, width)``.

        This takes a quarter of the time of reading the chunks one by one. Raises as `read_chunk` does.
        """
        layout = manifest.layouts[DEPTH]
        begin = first * layout.chunk_rows
        with suppress(Exception):  # zarr's error does not name the chunk, but the error raised at the end does
            array = self.arrays.open(DEPTH, layout, manifest.chunks)
            depths: Depths = np.array(array[begin : end * layout.chunk_rows])
            for chunk in range(first, end):
                block = depths[(chunk - first) * layout.chunk_rows :][: layout.chunk_rows]
                if (digest := manifest.chunks.get(chunk)) is None:
                    block[:] = manifest.unreached  # a file with this chunk would be a leftover of a killed run
                elif digest != chunk_digest(manifest.identity, DEPTH, chunk, block):
                    break
            else:
                return depths
        return np.concatenate([self.read_chunk(manifest, chunk) for chunk in range(first, end)])

    def layer_counts(self, manifest: TableManifest) -> ChunkCounts:
        """Return the number of positions of each chunk at each committed depth; raise as `read_chunk` does."""
        with self.unless_changed():
            if manifest.complete:
                return self._read_all(manifest, COUNTS, manifest.layer_counts)
            stored = self._stored_segments(manifest)
            self.journal(manifest).check_known(stored, manifest.committed_depth)
            return stored.counts(len(manifest.layers))

    def _read_all(self, manifest: TableManifest, array: str, digests: ChunkDigests) -> NDArray[Any]:
        return np.concatenate([self._read_checked(manifest, array, number, digests) for number in range(len(digests))])

    def _read_checked(self, manifest: TableManifest, array: str, chunk: int, digests: ChunkDigests) -> NDArray[Any]:
        return self.arrays.read_chunk(array, manifest.layouts[array], chunk, manifest.identity, digests)

    def _read_segments(self, manifest: TableManifest, chunk: int) -> Depths:
        if manifest.keyed:
            return self._range(manifest, chunk)[1].astype(manifest.dtype)[:, np.newaxis]
        return depths_of(self._committed(manifest, chunk), self.unreached(manifest, chunk))

    def _range(self, manifest: TableManifest, number: int) -> tuple[Keys, NDArray[np.uint16]]:
        """Return the committed keys of a range of an unfinished table in ascending order, and their depths."""
        return with_depths(self._committed(manifest, number), manifest.key_words)

    def _committed(self, manifest: TableManifest, chunk: int) -> list[Segment]:
        """Return the committed segments of a chunk."""
        stored, journal = self._stored_segments(manifest).part(chunk, chunk + 1), self.journal(manifest)
        journal.check_known(stored, manifest.committed_depth)
        committed = stored.entries[stored.entries["depth"] <= manifest.committed_depth]
        return list(journal.segments(stored, committed))

    def _stored_segments(self, manifest: TableManifest) -> StoredSegments:
        if self._segments is None or self._segments[0] is not manifest:
            journal = self.journal(manifest)
            self._segments = manifest, journal.load(0, journal.chunks)
        return self._segments[1]

    def unreached(self, manifest: TableManifest, chunk: int) -> Depths:
        """Return the depths ``(rows, width)`` of a chunk without reached positions, as a new array."""
        return np.full((len(manifest.rows_of(chunk)), manifest.width), manifest.unreached, dtype=manifest.dtype)


def _differences(keys: Keys) -> Keys:
    """Return sorted keys ``(n,)`` as the first key and differences. Keys of several words are unchanged."""
    return keys if keys.ndim > 1 else np.diff(keys, prepend=np.uint64(0))[:, np.newaxis]


def _summed(differences: Keys) -> Keys:
    """Invert `_differences`."""
    return differences if differences.shape[1] > 1 else np.cumsum(differences[:, 0], dtype=np.uint64)


class CountsStore(SearchStore[SearchManifest]):
    """A store of the layers and the first antipodes of a puzzle, without distances."""

    KIND = StoreKind(
        format="antipodes-counts",
        holds="the layers of a counts-only run",
        made_by="antipodes run PUZZLE --counts-only",
        version=4,
        unfinished=CHECKPOINTS,
        others={
            "antipodes-table": "a table of distances, which has the layers, too: antipodes layers shows them",
            **TILINGS,
        },
        replaces=("antipodes-table",),
    )
    MANIFEST_TYPE = SearchManifest

    def journal(self, manifest: SearchManifest) -> Journal:
        """Return the journal of the checkpoints, which a counts-only run has instead of a table's journal."""
        return replace(super().journal(manifest), folder=CHECKPOINTS)

    def commit(self, manifest: SearchManifest) -> None:
        """Replace the manifest, and delete all checkpoints except its own, which must be durable already.

        A search on disk has no checkpoints. It deletes its layers itself.
        """
        kept = self._kept(manifest)
        if kept and manifest.spill is None:
            with self.storage.writing():
                self.storage.sync(folder_of(manifest.committed_depth))
        super().commit(manifest)
        if manifest.spill is None:
            self._delete_others(kept)

    def remove_leftovers(self, manifest: SearchManifest) -> SearchManifest:
        """Delete the files that a crashed run was writing; return the manifest to continue with."""
        manifest = super().remove_leftovers(manifest)
        if manifest.spill is None:
            self._delete_others(self._kept(manifest))
        return manifest

    def _kept(self, manifest: SearchManifest) -> list[str]:
        """Return the names of the checkpoints that are needed."""
        return [] if manifest.complete or not manifest.layers else [str(manifest.committed_depth)]

    def _delete_others(self, kept: list[str]) -> None:
        if not kept:
            self.storage.delete(CHECKPOINTS)
            return
        for name in self.storage.names_in_folder(CHECKPOINTS):
            if name not in kept:
                self.storage.delete(f"{CHECKPOINTS}/{name}")


def search_store(address: Address | Storage) -> TableStore | CountsStore:
    """Return the store at an address. Unless it holds counts, it is a TableStore, whose `read` raises any error."""
    storage = storage_at(address)
    return CountsStore(storage) if format_of(storage) == CountsStore.KIND.format else TableStore(storage)


def layer_folder(storage: Storage, manifest: SearchManifest, directory: str | None = None) -> LayerFolder | None:
    """Return the folder outside of a store with its layers: in the ``directory`` that the user names, or as recorded.

    Returns None if there is no such folder, or if its path is unknown.
    """
    if manifest.spill_id is None:
        return None
    if directory is not None:
        return LayerFolder.named(directory, storage, manifest.spill_id)
    return LayerFolder.recorded(storage, manifest.spill_id)


def unknown_folder(address: str) -> str:
    """Return the message that the path of the folder with a store's layers is unknown here."""
    resume = in_words(f" {option('spill', 'DIRECTORY')}", f": antipodes resume {in_shell(address)} --spill DIRECTORY")
    return (
        f"the layers of {address} are in a directory that no command of yours has named on this machine; name it with"
        f"{resume}"
    )


def spill_id_of(storage: Storage) -> str | None:
    """Return the identifier of the folder outside of a store with its layers, or None; also if the store is corrupt."""
    try:
        return search_store(storage).read().spill_id
    except AntipodesError:
        return None


def finished_manifest(manifest: M) -> M:
    """Return the manifest of a finished store; the folder with its layers outside of the store is deleted later."""
    return replace(manifest, complete=True, spill=OUTSIDE if manifest.spill == OUTSIDE else None)
