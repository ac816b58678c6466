"""The tasks that write a group of partitions to the store, and read it back."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from antipodes.bfs import partition
from antipodes.bfs.group import Group
from antipodes.bfs.kernels import mark
from antipodes.bfs.partition import State
from antipodes.bfs.rows import Partition
from antipodes.tables.planning.plan import AT_ONCE
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.summaries import Summaries
from antipodes.tables.store.table_store import TableStore

Item = TypeVar("Item")
Result = TypeVar("Result")


def write_group(store: TableStore, manifest: TableManifest, group: Group, depth: int, token: str) -> list[Summaries]:
    """Write what a group found since the manifest was committed, up to ``depth``; the summaries of its chunks.

    StoreLockedError, and nothing is written, once the lock of the store contains another fencing token.
    """
    changed = [state for state in group if state.depth > manifest.committed_depth]
    at_once = AT_ONCE if all(state.depths is not None for state in changed) else 1
    return _for_each(lambda state: _write(store, manifest, state, depth, token), changed, at_once)


def _write(store: TableStore, manifest: TableManifest, state: State, depth: int, token: str) -> Summaries:
    depths = state.depths
    if depths is None:  # only the store holds them: read them, and add the last layer
        depths = store.read_rows(manifest, state.first_row, state.first_row + len(state.frontier))
        mark(depths, state.frontier, depth)
    return store.write_rows(manifest, state.first_row, depths, depth, token)


def read_group(store: TableStore, manifest: TableManifest, parts: Sequence[Partition], hold_depths: bool) -> Group:
    """The partitions of a group at the committed depth."""
    return tuple(
        _for_each(lambda part: _read(store, manifest, part, hold_depths), parts, AT_ONCE if hold_depths else 1)
    )


def _read(store: TableStore, manifest: TableManifest, part: Partition, hold_depths: bool) -> State:
    depths = store.read_rows(manifest, part.first_row, part.end_row)
    return partition.restore(part, depths, manifest.committed_depth, hold_depths)


def _for_each(function: Callable[[Item], Result], items: Sequence[Item], at_once: int) -> list[Result]:
    if at_once == 1 or len(items) <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(min(at_once, len(items))) as pool:
        return list(pool.map(function, items))
