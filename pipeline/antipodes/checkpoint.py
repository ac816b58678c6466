"""The tasks between a partition's state and the store: write it, and read it back."""

from antipodes import partition
from antipodes.kernels import mark
from antipodes.partition import State
from antipodes.plan import Partition
from antipodes.store import Record, TableStore


def write_depths(store: TableStore, record: Record, state: State, depth: int) -> list[int]:
    """Store what a partition knows up to ``depth``; which chunks hold a depth.

    Where the state does not hold the depths, those in the store are read and the last layer is added.
    """
    depths = state.depths
    if depths is None:
        depths = store.read_rows(record, state.first_row, state.first_row + len(state.frontier))
        mark(depths, state.frontier, depth)
    return store.write_rows(record, state.first_row, depths)


def read_state(store: TableStore, record: Record, part: Partition, hold_depths: bool) -> State:
    """The state of a partition at the committed depth."""
    depths = store.read_rows(record, part.first_row, part.end_row)
    return partition.restore(part.first_row, depths, record.committed_depth, hold_depths)
