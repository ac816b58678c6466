"""The pace of a search: how many layers it submits together, and how often it commits."""

import time
from dataclasses import dataclass

from antipodes.runs.options import RunOptions

CHECKPOINT_SECONDS, CHECKPOINT_SECONDS_ON_CLUSTER = 120.0, 30.0
"""Seconds between commits by default: little is lost, and writing stays a small part of a long run.

Each worker of a cluster is one more that may be lost, and after a loss all resume from the last commit.
"""
COMMIT_SHARE = 0.1
"""The share of the time that commits may take by default: those of large tables take minutes."""
BLOCK_SECONDS = 2.0
"""Seconds that layers submitted together take at most, judged by those before: an interruption waits for them."""
MOST_TOGETHER = 16
"""Layers that are submitted together, at most."""
FIRST_BLOCK = 4
"""Layers submitted together at first; their number is doubled or halved from then on."""


@dataclass
class Pace:
    """How many layers are submitted together, and when the next commit is due."""

    checkpoint_every: float
    """Seconds between two commits at least; 0 commits every layer."""
    commit_share: float
    """The share of the time that commits may take: after a long one, the next one waits longer."""
    round_trips: bool
    """Whether submitting a layer takes a round trip to a cluster."""
    _block: int = FIRST_BLOCK
    _commit_seconds: float = 0.0
    """How long the last commit took."""
    _saved_at: float = 0.0
    """When the search last matched the store, on the monotonic clock."""

    @classmethod
    def of(cls, options: RunOptions, shares_memory: bool) -> "Pace":
        """The pace that the options ask for, on threads of this process or on a cluster."""
        if options.checkpoint_every is not None:
            return cls(options.checkpoint_every, 1.0, not shares_memory)
        every = CHECKPOINT_SECONDS if shares_memory else CHECKPOINT_SECONDS_ON_CLUSTER
        return cls(every, COMMIT_SHARE, not shares_memory)

    def restored(self) -> None:
        """Start over with small blocks, now that the search matches the store."""
        self._block, self._saved_at = FIRST_BLOCK, time.monotonic()

    def committed(self, seconds: float) -> None:
        """Measure the time to the next commit from now; the last one took ``seconds``."""
        self._commit_seconds, self._saved_at = seconds, time.monotonic()

    def advanced(self, layers: int, seconds: float) -> None:
        """Choose the size of the next block from the last one: ``layers`` that took ``seconds``."""
        self._block = max(1, 2 * layers if seconds < BLOCK_SECONDS / 2 else layers // 2)

    @property
    def layers_together(self) -> int:
        """How many layers to submit together."""
        at_most = MOST_TOGETHER if self.round_trips and self.checkpoint_every > 0 else 1
        return min(self._block, at_most)

    @property
    def is_commit_overdue(self) -> bool:
        """Whether it is time to commit."""
        wait = max(self.checkpoint_every, self._commit_seconds * (1 / self.commit_share - 1))
        return time.monotonic() - self._saved_at >= wait
