"""What happens during a run, told to whoever listens."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Begun:
    """The search begins, or resumes, with the layer at ``depth``."""

    name: str
    index_size: int
    depth: int
    states: int
    """Positions up to that depth."""
    resumed: bool
    holds_depths: bool = True
    """Whether memory holds the depths; else each layer is written when it is complete."""


@dataclass(frozen=True, slots=True)
class ClusterReady:
    """So many workers of a cluster take part from now on."""

    workers: int
    threads: int
    """Tasks that they run at once, all together."""
    dashboard: str | None
    """The address of dask's dashboard."""


@dataclass(frozen=True, slots=True)
class WaitingForWorkers:
    """There are not enough workers; the run waits until there are."""

    reason: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something takes longer than a moment."""

    what: str


@dataclass(frozen=True, slots=True)
class WorkerRefused:
    """A worker is there that cannot take part."""

    reason: str


@dataclass(frozen=True, slots=True)
class WorkersLost:
    """Workers and their uncommitted results are lost; the search resumes from the last commit."""

    who: str
    depth: int
    """The last depth that is committed, -1 if none is."""
    again: int
    """Positions found since that commit, which have to be recomputed."""


@dataclass(frozen=True, slots=True)
class PartitionSettled:
    """Another partition of the layer at ``depth`` is done."""

    depth: int
    settled: int
    partitions: int
    """How many of them the layer has."""


@dataclass(frozen=True, slots=True)
class LayerSettled:
    """All positions at ``depth`` are known."""

    depth: int
    count: int
    states: int
    """Positions up to that depth."""
    rate: float
    """Positions that this run has found a second of search."""


@dataclass(frozen=True, slots=True)
class Committing:
    """All layers up to ``depth`` are about to be written."""

    depth: int


@dataclass(frozen=True, slots=True)
class Committed:
    """All layers up to ``depth`` are on disk."""

    depth: int


@dataclass(frozen=True, slots=True)
class Widened:
    """Depths past ``depth`` need 16 bits; those stored were converted."""

    depth: int


@dataclass(frozen=True, slots=True)
class TilingBegun:
    """The search for tilings begins, or resumes."""

    name: str
    partitions: int
    done: int
    """Partitions that an earlier run has searched."""
    tilings: int
    """Tilings in those."""


@dataclass(frozen=True, slots=True)
class PartitionSearched:
    """Another partition of a tiling search is done."""

    done: int
    """Partitions that are, with those of earlier runs."""
    partitions: int
    tilings: int
    """Tilings so far."""
    rate: float
    """Placements that this run has made a second of search."""


@dataclass(frozen=True, slots=True)
class PartitionsCommitted:
    """So many searched partitions are on disk."""

    done: int
    partitions: int


Event = (
    Begun
    | ClusterReady
    | WaitingForWorkers
    | Waiting
    | WorkerRefused
    | WorkersLost
    | PartitionSettled
    | LayerSettled
    | Committing
    | Committed
    | Widened
    | TilingBegun
    | PartitionSearched
    | PartitionsCommitted
)
Listener = Callable[[Event], None]


def silence(event: Event) -> None:
    """A listener that does nothing."""
