"""The commits of a run: each makes what was found so far that which the next run resumes from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from antipodes.events import Committed, Committing, Listener
from antipodes.runs.report import Clock
from antipodes.storage.backend import LockHandle
from antipodes.tables.layers.groups import PartitionGroups
from antipodes.tables.store.chunk_digests import ChunkDigests
from antipodes.tables.store.counts_manifest import CountsManifest
from antipodes.tables.store.depth_array import LayerCounts
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.search_manifest import NOTHING_COMMITTED, SearchManifest
from antipodes.tables.store.search_store import SearchStore
from antipodes.tables.store.table_store import TableStore

M = TypeVar("M", bound=SearchManifest)


@dataclass
class LayerCommits:
    """The last commit of a store, and how it is replaced while layers are searched."""

    store: SearchStore[Any]
    lock: LockHandle
    """The lock of the store, with the token that writers need."""
    manifest: SearchManifest
    """The last commit, or what will be the next one."""
    listener: Listener
    clock: Clock

    @property
    def any(self) -> bool:
        """Whether a run could resume from here."""
        return self.manifest.committed_depth != NOTHING_COMMITTED

    def commit(self, groups: PartitionGroups, layers: Sequence[int]) -> float:
        """Write what the groups found to the journal, then the manifest with the layers; the seconds that took."""
        before, depth = self.clock.write, len(layers) - 1
        self.listener(Committing(depth))
        with self.clock.measure("write"):
            groups.flush(depth)
            self.manifest = replace(self.manifest, committed_depth=depth, layers=tuple(layers))
            self.store.commit(self.manifest)
        self.listener(Committed(depth))
        return self.clock.write - before

    def return_to(self, layers: Sequence[int]) -> None:
        """Take these layers for committed, since the journal has lost the others: they will be committed again."""
        self.manifest = replace(self.manifest, committed_depth=len(layers) - 1, layers=tuple(layers))

    def shut_out_lost_workers(self) -> None:
        """Replace the fencing token, so that lost workers write no more, and remove what they were writing."""
        self.lock.rotate_token()
        self.store.storage.remove_leftovers()


@dataclass
class CountsCommits(LayerCommits):
    """The commits of a counts-only run."""

    manifest: CountsManifest

    def complete(self, layers: Sequence[int], antipodes: Sequence[int]) -> None:
        """Commit the layers and the antipodes, and thereby finish the store."""
        with self.clock.measure("write"):
            self.manifest = replace(_searched(self.manifest, layers, antipodes), complete=True)
            self.store.commit(self.manifest)
        self.listener(Committed(len(layers) - 1))


@dataclass
class Commits(LayerCommits):
    """The commits of a table: of its layers, and of its chunks."""

    store: TableStore
    manifest: TableManifest

    def begin_assembly(self, layers: Sequence[int], antipodes: Sequence[int], resumable: bool) -> None:
        """Note that all positions are searched, and create the array of depths.

        If it is ``resumable``, since all is in the journal, that is committed.
        """
        with self.clock.measure("write"):
            self.manifest = _searched(self.manifest, layers, antipodes)
            self.store.create_depths(self.manifest)
            if resumable:
                self.manifest = self.store.commit_arrays(self.manifest)

    def add_chunks(self, written: Mapping[int, int]) -> None:
        """Commit the chunks that were written, by their numbers, with their digests."""
        self.manifest = replace(self.manifest, chunks=self.manifest.chunks.updated(written))
        self.manifest = self.store.commit_arrays(self.manifest)

    def search_again(self, damaged: str | None) -> None:
        """Return to the last commit, and from the assembly to the search; a ``damaged`` file is deleted."""
        with self.clock.measure("write"):
            self.manifest = self.store.read()
            if self.manifest.searched:
                chunks = ChunkDigests.empty(self.manifest.chunk_count)
                self.manifest = replace(self.manifest, searched=False, antipodes=(), chunks=chunks)
                self.manifest = self.store.commit_arrays(self.manifest)
            if damaged is not None:
                self.store.journal(self.manifest).delete([damaged])

    def complete(self, written: Mapping[int, int], counts: LayerCounts) -> None:
        """Commit the last chunks, and thereby the finished table."""
        self.manifest = replace(self.manifest, chunks=self.manifest.chunks.updated(written))
        self.manifest = self.store.complete(self.manifest, counts)


def _searched(manifest: M, layers: Sequence[int], antipodes: Sequence[int]) -> M:
    """The manifest, now that all positions are searched."""
    depth = len(layers) - 1
    return replace(manifest, committed_depth=depth, layers=tuple(layers), searched=True, antipodes=tuple(antipodes))
