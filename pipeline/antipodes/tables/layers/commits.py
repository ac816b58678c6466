"""The commits of a run, from which the next run resumes, and how often they are made."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.runs.run_results import Clock
from antipodes.storage.lock import StoreLock
from antipodes.system.events import Committed, Listener
from antipodes.system.options import RunOptions
from antipodes.tables.store.found_layers import Layers
from antipodes.tables.store.manifest import NOTHING_COMMITTED, SearchManifest
from antipodes.tables.store.search_stores import ChunkCounts, SearchStore, TableStore, finished_manifest
from antipodes.tables.store.table_manifest import TableManifest

CHECKPOINT_SECONDS, CHECKPOINT_SECONDS_ON_CLUSTER = 120.0, 30.0
"""Default seconds between commits: little work can be lost, and writing remains a small part of a long run. The
interval is shorter on a cluster: any worker may be lost there, and all workers then resume from the last commit."""
COMMIT_SHARE = 0.1
"""Default maximum share of the time for commits, since commits of large tables take minutes."""
BLOCK_SECONDS = 2.0
"""Maximum time, in seconds, of the layers submitted together, estimated from the previous layers. An interruption takes
effect only after these layers."""
MAX_TOGETHER = 16
"""Maximum number of layers that are submitted together."""
FIRST_BLOCK = 4
"""Initial number of layers submitted together. It is then doubled or halved."""


@dataclass
class CommitPace:
    """The number of layers that are submitted together, and the time of the next commit."""

    checkpoint_every: float
    """Minimum seconds between two commits. 0: commit every layer."""
    commit_share: float
    """Maximum share of the time for commits: after a long commit, the next one waits longer."""
    round_trips: bool
    """Whether submitting a layer takes a round trip to a cluster."""
    _block: int = FIRST_BLOCK
    _commit_seconds: float = 0.0
    _saved_at: float = 0.0
    """When the search last matched the store, on the monotonic clock."""

    @classmethod
    def of(cls, options: RunOptions, shares_memory: bool, on_disk: bool = False) -> "CommitPace":
        """Return the pace for the options, on threads of this process or on a cluster.

        If layers are ``on_disk``, each of them is committed, since it is in files anyway.
        """
        if on_disk:
            return cls(0.0, 1.0, not shares_memory)
        if options.checkpoint_every is not None:
            return cls(options.checkpoint_every, 1.0, not shares_memory)
        every = CHECKPOINT_SECONDS if shares_memory else CHECKPOINT_SECONDS_ON_CLUSTER
        return cls(every, COMMIT_SHARE, not shares_memory)

    def restored(self) -> None:
        """Start again with few layers, now that the search matches the store."""
        self._block, self._saved_at = FIRST_BLOCK, time.monotonic()

    def committed(self, seconds: float) -> None:
        """Count the time until the next commit from now on; the last commit took ``seconds``."""
        self._commit_seconds, self._saved_at = seconds, time.monotonic()

    def advanced(self, layers: int, seconds: float) -> None:
        """Choose how many layers to submit next, given that the last ``layers`` layers took ``seconds``."""
        self._block = max(1, 2 * layers if seconds < BLOCK_SECONDS / 2 else layers // 2)

    @property
    def layers_together(self) -> int:
        """The number of layers to submit together."""
        at_most = MAX_TOGETHER if self.round_trips and self.checkpoint_every > 0 else 1
        return min(self._block, at_most)

    @property
    def is_commit_overdue(self) -> bool:
        """Whether it is time to commit."""
        wait = max(self.checkpoint_every, self._commit_seconds * (1 / self.commit_share - 1))
        return time.monotonic() - self._saved_at >= wait


@dataclass
class Commits:
    """The last commit of a store, which is replaced while layers are searched."""

    store: SearchStore[Any]
    lock: StoreLock
    """The lock of the store, with the token that writers need."""
    manifest: SearchManifest
    """The last commit, or the next one in preparation."""
    listener: Listener
    clock: Clock

    @property
    def has_commit(self) -> bool:
        """Whether there is a commit from which a run can resume."""
        return self.manifest.committed_depth != NOTHING_COMMITTED

    def commit(self, layers: Layers) -> None:
        """Write the manifest with the layers, whose positions are in durable files."""
        self.store.check_layers(self.manifest)  # if their disk was unmounted, writing has created a new folder
        self.manifest = replace(self.manifest, **layers.fields)
        self.store.commit(self.manifest)

    def end_search(self, layers: Layers, antipodes: Sequence[int], resumable: bool) -> None:
        """Commit all layers and the antipodes of a counts-only run, which finishes its store."""
        with self.clock.measure("write"):
            fields = {**layers.fields, "searched": True, "antipodes": tuple(antipodes)}
            self.manifest = finished_manifest(replace(self.manifest, **fields))
            self.store.commit(self.manifest)
            self.manifest = self.store.release_layers(self.manifest)
        self.listener(Committed(layers.depth))

    def search_again(self, damaged: str | None) -> None:
        """Return to the search at the last commit; delete the ``damaged`` file, if given."""
        with self.clock.measure("write"):
            self.manifest = self.store.read()
            if self.manifest.searched:
                self.manifest = self.store.commit_arrays(self.manifest.not_searched())
            if damaged is not None:
                self.store.journal(self.manifest).delete([damaged])

    def return_to(self, layers: Layers) -> None:
        """Continue with only these layers committed, since the journal lost the others. They will be found again."""
        unique = self.manifest.unique
        kept = None if unique is None else unique[: layers.depth + 1]
        self.manifest = replace(self.manifest, **{**layers.fields, "unique": kept})

    def shut_out_lost_workers(self) -> None:
        """Replace the fencing token, so that lost workers cannot write, and remove the files they were writing."""
        self.lock.rotate_token()
        self.store.storage.remove_leftovers()


@dataclass
class TableCommits(Commits):
    """The commits of a table, including its chunks."""

    store: TableStore
    manifest: TableManifest

    def end_search(self, layers: Layers, antipodes: Sequence[int], resumable: bool) -> None:
        """Record that all positions are searched; if ``resumable``, commit the empty table that is to be assembled."""
        with self.clock.measure("write"):
            self.manifest = self.manifest.with_layers(layers, antipodes)
            self.store.create_arrays(self.manifest)
            if resumable:
                self.manifest = self.store.commit_arrays(self.manifest)

    def add_chunks(self, written: Mapping[int, int], keys: Mapping[int, int] | None = None) -> None:
        """Commit the digests of written chunks, by their numbers; in a table of keys also the digests of the keys."""
        self.manifest = replace(self.manifest, chunks=self.manifest.chunks.updated(written))
        if keys is not None and self.manifest.keys is not None:
            self.manifest = replace(self.manifest, keys=self.manifest.keys.updated(keys))
        self.manifest = self.store.commit_arrays(self.manifest)

    def complete(
        self, written: Mapping[int, int], counts: ChunkCounts, first_keys: NDArray[np.uint64] | None = None
    ) -> None:
        """Commit the last chunks and the finished table; see `TableStore.complete`."""
        self.manifest = replace(self.manifest, chunks=self.manifest.chunks.updated(written))
        self.manifest = self.store.complete(self.manifest, counts, first_keys)
