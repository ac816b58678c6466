"""The events of a run, which a listener is told as they happen."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TablesBuilt:
    """Parts of the move tables are built; told with none of them when building begins."""

    done: int
    of: int


@dataclass(frozen=True, slots=True)
class Preparing:
    """Something that takes long is under way before the memory of the run is known: rows are listed or compared."""

    what: str
    """Such as "listing rows up to symmetry"."""
    done: int
    of: int


@dataclass(frozen=True, slots=True)
class Restoring:
    """The search up to the last commit is being read from the journal."""

    done: int
    """Positions, reachable or not, of the partitions that are restored."""
    of: int
    """All positions, reachable or not."""


@dataclass(frozen=True, slots=True)
class SearchStarted:
    """The search starts, or resumes, with the layer at ``depth``."""

    name: str
    index_size: int | None
    """How many positions there are, reachable or not; None if only the search finds them."""
    depth: int
    states: int
    """Positions up to that depth."""
    resumed: bool
    reachable: int | None = None
    """The number of positions that can be reached; None where it is not known before the search."""
    assembles: bool = True
    """Whether a table is assembled when the search ends."""


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
    """The run waits for something that takes longer than a moment; told in any thread, and again while it waits."""

    what: str


@dataclass(frozen=True, slots=True)
class DefinitionUnchecked:
    """Whether a definition in Python makes the same moves in another process is not known, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class WorkerRefused:
    """A worker is excluded, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class WorkerNotUsed:
    """A worker has too little memory for its share of the run, which continues without it."""

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
class PartitionFinished:
    """Another shard of partitions has finished the layer at ``depth``."""

    depth: int
    settled: int
    """Shards that have finished it."""
    partitions: int
    """Shards that take part in the layer."""


@dataclass(frozen=True, slots=True)
class LayerFinished:
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
class JournalCorrupt:
    """Files of the journal are missing or damaged; the search resumes from an earlier depth than the committed one."""

    damage: tuple[str, ...]
    """A line for each file or segment that is damaged; none if files are missing."""
    depth: int
    """The depth from which the search resumes; -1: from the start."""


@dataclass(frozen=True, slots=True)
class Assembling:
    """The chunks of the table are being written, now that all positions are searched."""

    done: int
    """Positions, reachable or not, whose chunks are written."""
    of: int
    """All positions, reachable or not."""


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
class PartitionsInProgress:
    """Partitions of a tiling search are being searched, by threads; told now and then while no partition ends."""

    done: int
    """Partitions searched, those of earlier runs included."""
    partitions: int
    under_way: int
    """Partitions being searched."""
    placements: int
    """Placements that this run has made, in these and in partitions searched."""
    found: int
    """Tilings that the partitions under way have found so far, some of them symmetric copies of others."""
    tilings: int
    """Tilings in partitions searched."""
    rate: float
    """Placements that this run has made per second of search."""


@dataclass(frozen=True, slots=True)
class PartitionsCommitted:
    """The searched partitions are on disk."""

    done: int
    """Partitions searched, those of earlier runs included."""
    partitions: int


@dataclass(frozen=True, slots=True)
class CheckStarted:
    """The check of a table starts."""

    name: str
    positions: int
    """All that are checked, reachable or not."""


@dataclass(frozen=True, slots=True)
class PositionsChecked:
    """The depths of more positions are compared with those of their neighbours."""

    done: int
    of: int


@dataclass(frozen=True, slots=True)
class PositionsSolved:
    """More positions of a batch are solved."""

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
    """A listener that does nothing."""
