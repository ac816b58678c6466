"""The events of a run, which are passed to a listener as they happen."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TablesBuilt:
    """Parts of the move tables were built. The first event is sent when building begins, with no parts done."""

    done: int
    of: int


@dataclass(frozen=True, slots=True)
class Preparing:
    """A long preparation is going on, such as listing or comparing rows, before the memory of the run is known."""

    what: str
    """Description such as "listing rows up to symmetry"."""
    done: int
    of: int


@dataclass(frozen=True, slots=True)
class Restoring:
    """The search up to the last commit is being restored from the journal."""

    done: int
    """Number of positions, reachable or not, in the restored partitions."""
    of: int
    """Number of all positions, reachable or not."""


@dataclass(frozen=True, slots=True)
class SearchStarted:
    """The search starts or resumes with the layer at ``depth``."""

    name: str
    index_size: int | None
    """Number of positions, reachable or not; None if only the search can find them."""
    depth: int
    states: int
    """Number of positions up to that depth."""
    resumed: bool
    reachable: int | None = None
    """Number of reachable positions; None if it is unknown before the search."""
    assembles: bool = True
    """Whether a table is assembled at the end of the search."""


@dataclass(frozen=True, slots=True)
class ClusterReady:
    """The cluster's workers have become members of the run."""

    workers: int
    threads: int
    """Number of tasks that all workers together run in parallel."""
    dashboard: str | None
    """Address of dask's dashboard."""


@dataclass(frozen=True, slots=True)
class WaitingForWorkers:
    """There are too few workers; the run waits for workers to join."""

    reason: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """The run is waiting for something. The event may come from any thread, and is repeated during a long wait."""

    what: str


@dataclass(frozen=True, slots=True)
class DefinitionUnchecked:
    """It is unknown whether a Python definition makes the same moves in another process; ``reason`` explains why."""

    reason: str


@dataclass(frozen=True, slots=True)
class WorkerRefused:
    """A worker is excluded; ``reason`` explains why."""

    reason: str


@dataclass(frozen=True, slots=True)
class WorkerNotUsed:
    """A worker has too little memory for its share of the run, which continues without the worker."""

    reason: str


@dataclass(frozen=True, slots=True)
class WorkersLost:
    """Workers were lost: the search resumes from the last commit, or only the lost tasks are repeated."""

    reason: str
    """Which workers were lost, and why."""
    depth: int | None = None
    """Last committed depth, -1 if there is none, or None if only the lost tasks are repeated."""
    recomputed: int = 0
    """Number of positions found since that commit, which have to be recomputed."""


@dataclass(frozen=True, slots=True)
class PartitionFinished:
    """A shard has finished the layer at ``depth``."""

    depth: int
    settled: int
    """Number of shards that have finished the layer."""
    partitions: int
    """Number of shards that take part in the layer."""


@dataclass(frozen=True, slots=True)
class LayerFinished:
    """All positions at ``depth`` are known."""

    depth: int
    count: int
    states: int
    """Number of positions up to that depth."""
    rate: float
    """Positions found by this run per second of search."""


@dataclass(frozen=True, slots=True)
class Committing:
    """All layers up to ``depth`` are being written."""

    depth: int


@dataclass(frozen=True, slots=True)
class Committed:
    """All layers up to ``depth`` have been committed."""

    depth: int


@dataclass(frozen=True, slots=True)
class JournalCorrupt:
    """Files of the journal are missing or corrupt; the search resumes from a depth before the last commit."""

    damage: tuple[str, ...]
    """One line for each corrupt file or segment; empty if files are missing."""
    depth: int
    """Depth from which the search resumes; -1 means the start."""


@dataclass(frozen=True, slots=True)
class Assembling:
    """The chunks of the table are being written, after all positions were searched."""

    done: int
    """Number of positions, reachable or not, whose chunks are written."""
    of: int
    """Number of all positions, reachable or not."""


@dataclass(frozen=True, slots=True)
class TilingSearchStarted:
    """The search for tilings starts or resumes."""

    name: str
    partitions: int
    done: int
    """Number of partitions searched by earlier runs."""
    tilings: int
    """Number of tilings in these partitions."""


@dataclass(frozen=True, slots=True)
class PartitionSearched:
    """A partition of a tiling search was finished."""

    done: int
    """Number of partitions searched, including earlier runs."""
    partitions: int
    tilings: int
    """Number of tilings so far."""
    rate: float
    """Placements tried by this run per second of search."""


@dataclass(frozen=True, slots=True)
class PartitionsInProgress:
    """Threads are searching partitions of a tiling search. Sent from time to time until a partition is finished."""

    done: int
    """Number of partitions searched, including earlier runs."""
    partitions: int
    under_way: int
    """Number of partitions being searched."""
    placements: int
    """Number of placements tried by this run, in finished and unfinished partitions."""
    found: int
    """Number of tilings found so far in the unfinished partitions, which may include symmetric copies."""
    tilings: int
    """Number of tilings in finished partitions."""
    rate: float
    """Placements tried by this run per second of search."""


@dataclass(frozen=True, slots=True)
class PartitionsCommitted:
    """All searched partitions have been committed."""

    done: int
    """Number of partitions searched, including earlier runs."""
    partitions: int


@dataclass(frozen=True, slots=True)
class CheckStarted:
    """The verification of a table starts."""

    name: str
    positions: int
    """Number of positions to verify, reachable or not."""


@dataclass(frozen=True, slots=True)
class PositionsChecked:
    """The depths of more positions were compared, with their neighbours' depths or with a heuristic."""

    done: int
    of: int


@dataclass(frozen=True, slots=True)
class PositionsSolved:
    """More positions of a batch were solved."""

    done: int
    of: int


Event = (
    TablesBuilt
    | Preparing
    | Restoring
    | SearchStarted
    | ClusterReady
    | DefinitionUnchecked
    | WaitingForWorkers
    | Waiting
    | WorkerRefused
    | WorkerNotUsed
    | WorkersLost
    | PartitionFinished
    | LayerFinished
    | Committing
    | Committed
    | JournalCorrupt
    | Assembling
    | TilingSearchStarted
    | PartitionSearched
    | PartitionsInProgress
    | PartitionsCommitted
    | CheckStarted
    | PositionsChecked
    | PositionsSolved
)
Listener = Callable[[Event], None]


def silence(event: Event) -> None:
    """Ignore the event."""
