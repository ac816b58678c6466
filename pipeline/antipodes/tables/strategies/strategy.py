"""The strategy of a run: what the shards of its search hold, and how they find and keep layers.

The plan chooses the first of `planning.plan.STRATEGIES` whose bytes fit into the memory of a run: three bits per entry,
two bits, layers on disk, or keys. Every decision of a run that depends on this choice is a method of the strategy, or
of its class of shards.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from numpy.typing import NDArray

from antipodes.executors.api import Call, Capacity, Handle, Scheduler, Stop
from antipodes.system.events import Listener
from antipodes.system.machine import human
from antipodes.tables.layers.assembly import Assembly
from antipodes.tables.layers.division import Division
from antipodes.tables.layers.move_table_tasks import build_tables
from antipodes.tables.layers.residence import Residence, RowResidence
from antipodes.tables.layers.shard import MakeState, Shard
from antipodes.tables.strategies.commitment import Commitment, DiskSpace
from antipodes_tasks.bfs.layer_weights import LayerWeights
from antipodes_tasks.spaces.keyed import Keyed
from antipodes_tasks.spaces.space import Space

ASSEMBLED_BYTES = 4
"""Memory in bytes per position of a chunk that is written: its depth of up to two bytes, its segments, and the
compressed bytes."""


class Needs(NamedTuple):
    """Upper bounds on the memory of a run in bytes, without the program and the description of the puzzle."""

    each_process: int
    """Memory of every process: the move tables."""
    together: int
    """Memory of all processes together, if each segment is written to the journal immediately."""
    unsure: int
    """Bytes by which ``each_process`` may turn out smaller, because it is only a bound."""


class LayerTraffic(NamedTuple):
    """Estimated bytes of layers that a search on disk writes, and the maximum number of bytes that it reads again."""

    written: int
    read: int


@dataclass(frozen=True)
class Strategy(ABC):
    """How shards find and keep layers, and the memory and disk space that this takes."""

    shard: ClassVar[type[Shard]]
    """The class of the shards."""
    residence: ClassVar[type[Residence]]
    """The class of the shards of a process."""
    assembly: ClassVar[type[Assembly[Any]]]
    """The chunks of a table."""
    on_disk: ClassVar[bool] = False
    """Whether the layers are in files, and memory contains only a part of the bits of one layer."""

    @property
    def bits(self) -> int | None:
        """Bits of memory per entry, or None if memory does not depend on the number of entries."""
        return None

    @abstractmethod
    def can_hold(self, space: Space, workers: Capacity) -> bool:
        """Return whether shards on a set of workers can hold the positions of a space in this way."""

    def commitment(self, space: Space, wanted: Commitment) -> Commitment:
        """Return how layers are committed, given the commitment of layers in memory."""
        return wanted

    @abstractmethod
    def divide(self, space: Space, chunk_rows: int, workers: Capacity) -> Division:
        """Return the division of the rows for a set of workers.

        ``workers.memory`` is the memory in bytes without the program, or None if there is no limit.
        """

    def batch_size(self, division: Division, workers: Capacity) -> int:
        """Return the number of shards that are sent what they need together; see `layers.boundaries`."""
        return division.shard_count

    @abstractmethod
    def needs(self, division: Division, commitment: Commitment, workers: Capacity) -> Needs:
        """Return the memory of a run. `STRATEGIES` are tried in order until this fits into ``workers.memory``."""

    @abstractmethod
    def buffer_bytes(self, division: Division, journal_bytes: int, workers: Capacity, left: int | None) -> int:
        """Return the memory that a run uses in addition to its minimum, such as for segments that are not written yet.

        ``left`` bytes are left of the memory limit, or None if there is no limit.
        """

    @abstractmethod
    def disk_space(self, division: Division, commitment: Commitment) -> DiskSpace:
        """Return the disk space of the journal and of the other files, without the manifest."""

    def layer_traffic(self, division: Division) -> LayerTraffic | None:
        """Return how much a search reads from disk and writes to it, or None if layers are in memory."""
        return None

    @abstractmethod
    def describe_misfit(self, space: Space, min_bytes: int) -> str:
        """Return how many positions take how much memory, as the end of a message that memory is too small."""

    @abstractmethod
    def starts(self, space: Space) -> NDArray[Any]:
        """Return the indices ``(n,)`` or the keys of the positions at depth 0."""

    @abstractmethod
    def index_size(self, space: Space) -> int | None:
        """Return the number of positions with an index, reachable or not. None if only a search finds them."""

    def known_positions(self, space: Space) -> int:
        """Return a lower bound on the number of positions, found while planning. 0 if none was needed."""
        return 0

    def restored_positions(self, space: Space, committed: int) -> int:
        """Return the number of positions that progress of a restoration counts; ``committed`` of them are found."""
        return committed

    @abstractmethod
    def warm_up(self, space: Space, shares_memory: bool) -> Call | None:
        """Return the call that loads the kernels of a search in a process, or None if this process has loaded them."""

    @abstractmethod
    def link(self, division: Division, scheduler: Scheduler, name: str, stop: Stop, listener: Listener) -> Handle:
        """Create the moves on the workers, and return their handle; ``name`` begins the keys of the tasks.

        The result has the attribute ``predecessors``: for each partition, the numbers of the partitions with moves into
        it. `Shard.search` receives it.

        Raises InterruptedRunError if ``stop`` returns True meanwhile.
        """

    def freed_memory(self, makes_table: bool) -> AbstractContextManager[None]:
        """Return the context of a run in threads of this process: how much freed memory the process keeps."""
        return nullcontext()

    def creation_order(self, numbers: Iterable[int], workers: int) -> list[int]:
        """Return the numbers of shards in the order in which they are created: workers get equal, adjacent parts."""
        return sorted(numbers)

    @abstractmethod
    def make_state(self, division: Division, weights: LayerWeights) -> MakeState:
        """Return the function that creates the state of a partition on its worker, given the weights of all rows."""


@dataclass(frozen=True)
class IndexStrategy(Strategy):
    """The common part of strategies for positions with an index: bits, and move tables."""

    residence = RowResidence

    def can_hold(self, space: Space, workers: Capacity) -> bool:
        """Return whether positions have indices."""
        return not isinstance(space.numbering, Keyed)

    def needs(self, division: Division, commitment: Commitment, workers: Capacity) -> Needs:
        """Return the memory of the move tables, and of the search or the assembly, whichever takes more."""
        filler = division.space.filler
        together = max(self.needs_together(division, commitment, workers), filler.building_bytes(workers.workers))
        tables = filler.table_bytes
        return Needs(tables, together, tables - filler.least_table_bytes)

    @abstractmethod
    def needs_together(self, division: Division, commitment: Commitment, workers: Capacity) -> int:
        """Return the memory of the search or the assembly, without the move tables, whichever takes more."""

    def disk_space(self, division: Division, commitment: Commitment) -> DiskSpace:
        """Return the disk space of the commitment."""
        return commitment.disk_space(division)

    def describe_misfit(self, space: Space, min_bytes: int) -> str:
        """Return the number of entries, and the bytes of bits and move tables."""
        return (
            f"{space.size:,} positions take at least {human(min_bytes)}, "
            f"{human(space.filler.table_bytes)} of it for the move tables"
        )

    def starts(self, space: Space) -> NDArray[Any]:
        """Return the indices of the positions at depth 0."""
        return space.rank(space.starts)

    def index_size(self, space: Space) -> int:
        """Return the number of positions of the space before any reduction by symmetries."""
        return space.full_space.size

    def restored_positions(self, space: Space, committed: int) -> int:
        """Return the number of all positions, since all bits are restored."""
        return self.index_size(space)

    def link(self, division: Division, scheduler: Scheduler, name: str, stop: Stop, listener: Listener) -> Handle:
        """Build the move tables, and find the partitions that they connect."""
        tables = build_tables(scheduler, division.space, stop, listener)
        return scheduler.persist({(name, 0): self.links_of(division, tables)})[name, 0]

    @abstractmethod
    def links_of(self, division: Division, tables: Handle) -> Call:
        """Return the call that finds the partitions that the move tables connect."""
