"""The commits of a run: each makes the layers found so far the ones that the next run resumes from."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from antipodes.errors import DepthLimitError
from antipodes.events import Committed, Committing, Listener, Widened
from antipodes.runs.clock import Clock
from antipodes.storage.backend import LockHandle
from antipodes.tables.layers.groups import PartitionGroups
from antipodes.tables.store.manifest import WIDEST, TableManifest
from antipodes.tables.store.table_store import TableStore


@dataclass
class Commits:
    """The last commit of a store, and how it is replaced."""

    store: TableStore
    lock: LockHandle
    """The lock of the store, with the token that writers need."""
    manifest: TableManifest
    """The last commit."""
    listener: Listener
    clock: Clock

    def commit(self, groups: PartitionGroups, changed: Iterable[int], layers: list[int]) -> float:
        """Write the groups of these numbers, then the manifest with the layers; the seconds that took."""
        before, depth = self.clock.write, len(layers) - 1
        self.listener(Committing(depth))
        with self.clock.measure("write"):
            written = groups.write(sorted(changed), self.store, self.manifest, depth, self.lock.token)
            self.manifest = replace(
                self.manifest,
                complete=not any(groups.counts),
                committed_depth=depth,
                layers=tuple(layers),
                chunks=self.manifest.chunks.updated(written),
            )
            self.store.commit(self.manifest)
        self.listener(Committed(depth))
        return self.clock.write - before

    def widen(self) -> None:
        """Convert the stored depths to 16 bits.

        Raises
        ------
        DepthLimitError
            They have 16 bits already.
        """
        depth = self.manifest.committed_depth
        if self.manifest.dtype == WIDEST:
            raise DepthLimitError(f"expected depths up to {depth:,}, found positions that lie deeper")
        with self.clock.measure("write"):
            self.manifest = self.store.widen(self.manifest)
        self.listener(Widened(depth))

    def shut_out_lost_workers(self) -> None:
        """Replace the fencing token, so that lost workers write no more, and remove what they were writing."""
        self.lock.rotate_token()
        self.store.storage.remove_leftovers()
