"""The report of a run that computes a table."""

from dataclasses import dataclass
from typing import Any

from antipodes.runs.report import Report
from antipodes.tables.store.search_manifest import NOTHING_COMMITTED, SearchManifest
from antipodes_tasks.quoting import counted, shorten
from antipodes_tasks.rules.moves import Labels


@dataclass(frozen=True, kw_only=True, repr=False)
class RunReport(Report):
    """What a run came to; it is resumed from a committed depth."""

    manifest: SearchManifest
    """The last commit."""
    farthest: Labels
    """The first antipodes, ``(n, places)``; none of an unfinished table."""
    states_found: int
    """Positions that this run found, each counted once."""
    workers_lost: int = 0
    """How often workers of a cluster were lost."""
    recomputed: int = 0
    """Positions that had to be recomputed because workers were lost."""

    @property
    def complete(self) -> bool:
        """Whether the table is finished."""
        return self.manifest.complete

    @property
    def layers(self) -> list[int]:
        """How many positions there are at each depth, up to the committed one."""
        return list(self.manifest.layers)

    @property
    def radius(self) -> int:
        """The greatest committed depth."""
        return self.manifest.radius

    def __repr__(self) -> str:
        name, radius = shorten(str(self.manifest.puzzle.get("name")), 30), f"{self.radius:,}"
        reached = radius if self.complete else f"{radius} so far, unfinished"
        return f"<RunReport of {name}: {counted(sum(self.layers), 'position')}, radius {reached}, {self.seconds:.1f} s>"

    @property
    def saved(self) -> str:
        """The committed depths."""
        return saved_depths(self.manifest) or "nothing is"

    def to_json(self) -> dict[str, Any]:
        """The report with the keys of the command line's ``--json``."""
        manifest = self.manifest
        return {
            "puzzle": manifest.puzzle["name"],
            "store": self.store,
            "complete": self.complete,
            "counts_only": manifest.COUNTS_ONLY,
            "index_size": manifest.index_size,
            "states": manifest.states,
            "radius": manifest.radius,
            "layers": list(manifest.layers),
            "antipodes": manifest.layers[-1] if self.complete else None,
            "resumed_from": self.resumed_from,
            "seconds": self.seconds_to_json(),
            "states_per_second": self.per_second(self.states_found),
            "workers_lost": self.workers_lost,
            "states_found_again": self.recomputed,
            "peak_memory_bytes": self.peak_memory,
        }


def committed_depth(manifest: SearchManifest | None) -> int | None:
    """The last committed depth; None where nothing is committed."""
    if manifest is None or manifest.committed_depth == NOTHING_COMMITTED:
        return None
    return manifest.committed_depth


def saved_depths(manifest: SearchManifest) -> str | None:
    """The committed depths as the subject of a sentence with its verb; None where nothing is committed."""
    depth = committed_depth(manifest)
    if depth is None:
        return None
    return f"depths 0 to {depth} are" if depth else "depth 0 is"
