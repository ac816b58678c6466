"""Search positions without an index: memory holds sorted keys."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

from numpy.typing import NDArray

from antipodes.executors.api import Call, Capacity, Handle, Scheduler, Stop
from antipodes.system.events import Listener
from antipodes.system.machine import MIB, human
from antipodes.tables.layers.division import TASKS_A_WORKER, Division
from antipodes.tables.layers.key_assembly import KeyAssembly
from antipodes.tables.layers.key_shard import KeyShard
from antipodes.tables.layers.residence import KeyResidence
from antipodes.tables.layers.shard import MakeState
from antipodes.tables.strategies.commitment import CHUNK_BYTES, Commitment, DiskSpace
from antipodes.tables.strategies.strategy import Needs, Strategy
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.bfs.key_partition import KeyLinks, KeyState, warm_up
from antipodes_tasks.bfs.layer_weights import LayerWeights
from antipodes_tasks.spaces.keyed import SPAN, Keyed
from antipodes_tasks.spaces.space import Space

KEYS_A_WORKER, JOURNAL_A_WORKER = 40 * MIB, 128 * MIB
"""Memory per worker in bytes: the minimum for the keys of partitions being searched, and, if there is no limit, for the
part of the journal that is not written yet."""
KEY_BYTES = 3 * 8
"""Memory in bytes per position of a small puzzle during its search: keys of layers, and their successors."""
KEY_DISK_BYTES = 8.0
"""Upper bound, in practice, on the size of journal and table in bytes per position of a small puzzle of keys."""


@dataclass(frozen=True)
class KeyStrategy(Strategy):
    """Sorted keys of positions without an index. Keys that do not fit into memory are moved to temporary files."""

    shard = KeyShard
    residence = KeyResidence
    assembly = KeyAssembly

    def can_hold(self, space: Space, workers: Capacity) -> bool:
        """Return whether positions are keys."""
        return isinstance(space.numbering, Keyed)

    def divide(self, space: Space, chunk_rows: int, workers: Capacity) -> Division:
        """Return the division of the ranges of keys. On a cluster of several workers, a shard is one partition."""
        ranges = len(_keyed(space).ranges)
        size = ceil(ranges / (TASKS_A_WORKER * workers.workers))
        alone = workers.processes and workers.workers == 1
        return Division(space, chunk_rows, size * SPAN, ceil(ranges / size) if alone else 1)

    def needs(self, division: Division, commitment: Commitment, workers: Capacity) -> Needs:
        """Return the memory of all keys of a small puzzle. Otherwise, only the search finds out how many there are."""
        reached = _reachable(division.space)
        return Needs(0, workers.workers * KEYS_A_WORKER if reached is None else KEY_BYTES * reached, 0)

    def buffer_bytes(self, division: Division, journal_bytes: int, workers: Capacity, left: int | None) -> int:
        """Return half of the memory that is left: for keys and the journal. The other half is for copies of keys."""
        return (JOURNAL_A_WORKER * workers.workers if left is None else left) // 2

    def disk_space(self, division: Division, commitment: Commitment) -> DiskSpace:
        """Return the disk space of all keys of a small puzzle, half of it for the journal, or 0 if it is unknown."""
        reached = _reachable(division.space)
        disk = 0 if reached is None else CHUNK_BYTES + ceil(KEY_DISK_BYTES * reached)
        return DiskSpace(disk // 2, disk - disk // 2)

    def describe_misfit(self, space: Space, min_bytes: int) -> str:
        """Return the number of positions found while planning, and the bytes of keys."""
        known = self.known_positions(space)
        found = f"{counted(known, 'position')} or more take" if known else "the keys of its positions take"
        return f"{found} at least {human(min_bytes)}"

    def starts(self, space: Space) -> NDArray[Any]:
        """Return the keys of the positions at depth 0."""
        return _keyed(space).start_keys

    def index_size(self, space: Space) -> int | None:
        """Return the number of reachable positions of a small puzzle, else None."""
        return _reachable(space)

    def known_positions(self, space: Space) -> int:
        """Return the number of positions found while planning."""
        return _keyed(space).known_positions

    def warm_up(self, space: Space, shares_memory: bool) -> Call | None:
        """Return the call that loads the kernels. Planning has already loaded them in this process."""
        return None if shares_memory else (warm_up, _keyed(space).ranges.words)

    def link(self, division: Division, scheduler: Scheduler, name: str, stop: Stop, listener: Listener) -> Handle:
        """Create the moves between partitions of keys."""
        numbering = _keyed(division.space)
        call = KeyLinks, numbering.rules, numbering.packing, numbering.ranges, division.partition_count
        return scheduler.persist({(name, 0): call})[name, 0]

    def creation_order(self, numbers: Iterable[int], workers: int) -> list[int]:
        """Return the numbers so that workers get shards in turn, since most positions of a depth are in few ranges."""
        return sorted(numbers, key=lambda number: (number % workers, number))

    def make_state(self, division: Division, weights: LayerWeights) -> MakeState:
        """Return the function that creates the keys of a partition."""
        return partial(KeyState, ranges=_keyed(division.space).ranges, range_rows=division.chunk_rows)


def _keyed(space: Space) -> Keyed:
    assert isinstance(space.numbering, Keyed)
    return space.numbering


def _reachable(space: Space) -> int | None:
    """Return the number of reachable positions if it is known without a search."""
    return space.numbering.reachable(space.rules)
