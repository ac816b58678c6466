"""The commits of a search for tilings: each makes the partitions searched so far those that the next run skips."""

import time
from dataclasses import dataclass, field

from antipodes.events import Listener, PartitionsCommitted
from antipodes.tilings.manifest import Searched, TilingManifest
from antipodes.tilings.store import TilingStore
from antipodes_tasks.exact_cover.symmetry import Tilings


@dataclass
class TilingCommits:
    """The last commit of a store, and the partitions searched since."""

    store: TilingStore
    manifest: TilingManifest
    """The last commit."""
    every: float
    """Seconds between two commits at least; 0 commits each partition."""
    listener: Listener
    searched: dict[Searched, Tilings] = field(default_factory=dict)
    """Partitions that are not committed yet, and their tilings, ``(tilings, copies)`` each."""
    _last: float = 0.0
    """When the last commit was, or the search started, on the monotonic clock."""

    def start(self) -> None:
        """Count the seconds to the next commit from here."""
        self._last = time.monotonic()

    @property
    def done(self) -> int:
        """How many partitions are searched, committed or not."""
        return len(self.manifest.searched) + len(self.searched)

    def add(self, searched: Searched, tilings: Tilings) -> None:
        """Note that a partition is searched."""
        self.searched[searched] = tilings

    def commit_if_due(self) -> None:
        """Commit if it is time to."""
        if time.monotonic() - self._last >= self.every:
            self.commit()

    def commit(self) -> None:
        """Commit the partitions searched since the last commit, if there are any."""
        if self.searched:
            self.manifest = self.store.add(self.manifest, self.searched)
            self._committed()

    def finish(self, tilings: Tilings) -> None:
        """Commit all tilings together, ``(tilings, copies)``, sorted."""
        self.manifest = self.store.finish(self.manifest, self.searched, tilings)
        self._committed()

    def _committed(self) -> None:
        self.searched.clear()
        self.start()
        self.listener(PartitionsCommitted(len(self.manifest.searched), self.manifest.partitions))
