"""The events of a run, which a listener is told as they happen."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchStarted:
    """The search starts, or resumes, with the layer at ``depth``."""

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
    """These workers of a cluster are the run's members from now on."""

    workers: int
    threads: int
    """Tasks that all of them together run in parallel."""
    dashboard: str | None
    """The address of dask's dashboard."""


@dataclass(frozen=True, slots=True)
class WaitingForWorkers:
    """There are too few workers; the run waits for others to join."""

    reason: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """The run waits for something that takes longer than a moment."""

    what: str


@dataclass(frozen=True, slots=True)
class WorkerRefused:
    """A worker is excluded, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class WorkersLost:
    """Workers and their uncommitted results are lost; the search resumes from the last commit."""

    reason: str
    """Which workers were lost, and why."""
    depth: int
    """The last committed depth; -1: none."""
    recomputed: int
    """Positions found since that commit, which have to be recomputed."""


@dataclass(frozen=True, slots=True)
class PartitionSettled:
    """Another group of partitions has finished the layer at ``depth``."""

    depth: int
    settled: int
    """Groups that have finished it."""
    partitions: int
    """Groups that take part in the layer."""


@dataclass(frozen=True, slots=True)
class LayerSettled:
    """All positions at ``depth`` are known."""

    depth: int
    count: int
    states: int
    """Positions up to that depth."""
    rate: float
    """Positions that this run has found per second of search."""


@dataclass(frozen=True, slots=True)
class Committing:
    """All layers up to ``depth`` are being written."""

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
class TilingSearchStarted:
    """The search for tilings starts, or resumes."""

    name: str
    partitions: int
    done: int
    """Partitions that an earlier run has searched."""
    tilings: int
    """Tilings in those."""


@dataclass(frozen=True, slots=True)
class PartitionSearched:
    """Another partition of a tiling search is searched."""

    done: int
    """Partitions searched, those of earlier runs included."""
    partitions: int
    tilings: int
    """Tilings so far."""
    rate: float
    """Placements that this run has made per second of search."""


@dataclass(frozen=True, slots=True)
class PartitionsCommitted:
    """The searched partitions are on disk."""

    done: int
    """Partitions searched, those of earlier runs included."""
    partitions: int


Event = (
    SearchStarted
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
    | TilingSearchStarted
    | PartitionSearched
    | PartitionsCommitted
)
Listener = Callable[[Event], None]


def silence(event: Event) -> None:
    """A listener that does nothing."""
