"""The report of a run that searches a board for tilings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.runs.report import Report
from antipodes.tilings.manifest import TilingManifest
from antipodes_tasks.quoting import counted, shorten


@dataclass(frozen=True, kw_only=True, repr=False)
class TilingReport(Report):
    """The result of a run; ``resumed_from`` is the number of partitions searched before."""

    manifest: TilingManifest
    """The last commit."""
    shown: Mapping[int, NDArray[np.int32]]
    """Some tilings, ``(copies,)`` each, by their numbers from 0; none of an unfinished search."""
    placements_tried: int
    """Placements that this run made."""
    busy: tuple[float, ...]
    """The seconds for which each worker searched, the busiest first."""

    @property
    def complete(self) -> bool:
        """Whether all partitions are searched."""
        return self.manifest.complete

    @property
    def tilings(self) -> int:
        """How many tilings are known, symmetric copies counted as one."""
        return self.manifest.tilings

    @property
    def raw_tilings(self) -> int:
        """How many tilings are known, symmetric copies counted as different."""
        return self.manifest.raw_tilings

    def __repr__(self) -> str:
        found = f"{counted(self.tilings, 'tiling')}{'' if self.complete else ' so far, unfinished'}"
        return f"<TilingReport of {shorten(str(self.manifest.board.get('name')), 30)}: {found}, {self.seconds:.1f} s>"

    @property
    def saved(self) -> str:
        """The committed partitions."""
        return saved_partitions(self.manifest)

    @property
    def balance(self) -> float | None:
        """The share of the search for which the least busy worker worked; None if nothing was searched."""
        return min(self.busy) / self.clock.search if self.clock.search else None

    def to_json(self, raw: bool = False) -> dict[str, Any]:
        """The report with the keys of the command line's ``--json``; ``raw`` counts symmetric copies as solutions."""
        manifest = self.manifest
        return {
            "board": manifest.board["name"],
            "store": self.store,
            "complete": self.complete,
            "solutions": self.raw_tilings if raw else manifest.tilings,
            "raw_solutions": self.raw_tilings,
            "placements": manifest.placements,
            "method": manifest.method,
            "partitions": manifest.partitions,
            "searched_partitions": len(manifest.searched),
            "resumed_from_partitions": self.resumed_from,
            "seconds": self.seconds_to_json(),
            "placements_per_second": self.per_second(self.placements_tried),
            "worker_seconds": list(self.busy),
            "balance": self.balance,
            "peak_memory_bytes": self.peak_memory,
        }


def saved_partitions(manifest: TilingManifest) -> str:
    """The committed partitions as the subject of a sentence with its verb."""
    return f"{len(manifest.searched)} of {manifest.partitions} partitions are"
