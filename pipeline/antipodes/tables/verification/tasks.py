"""The tasks of a check, which run on the workers: functions of blocks of depths and of the move tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.table_store import TableStore
from antipodes.tables.verification.blocks import Blocks
from antipodes_tasks.bfs.partition import Partition
from antipodes_tasks.bfs.proof import Block, Findings, check_block, least_before
from antipodes_tasks.spaces.move_tables import MoveTables
from antipodes_tasks.spaces.space import Indices


@dataclass(frozen=True)
class PartitionReads:
    """A partition, and the numbers of the blocks that its check reads; a block is a chunk of the store."""

    part: Partition
    own: Sequence[int]
    """The blocks of its rows."""
    sources: Sequence[int]
    """The blocks whose moves lead into it, in ascending order."""

    @property
    def uses(self) -> list[int]:
        """The blocks in the order in which `check_partition` gets them."""
        return [*self.sources, *self.own]


@dataclass(frozen=True)
class Rules:
    """What all tasks of a check compare the depths with, besides the move tables."""

    starts: NDArray[np.int64]
    """The indices of the starts, in ascending order."""
    deepest: int
    """The greatest depth that counts; greater ones count as unreached."""
    expanded: int
    """The greatest depth whose successors are known."""
    dtype: str
    seed: int


def read_block(store: TableStore, manifest: TableManifest, number: int) -> Block:
    """The depths of a chunk; raises as `TableStore.read_rows`."""
    first_row = number * manifest.chunk_rows
    end_row = min(manifest.rows, first_row + manifest.chunk_rows)
    return Block(first_row, store.read_rows(manifest, first_row, end_row))


def count_block(store: TableStore, manifest: TableManifest, number: int) -> NDArray[np.int64]:
    """The number of positions of a chunk at each depth, and of those unreached; raises as `TableStore.read_rows`."""
    depths = np.minimum(read_block(store, manifest, number).depths.ravel(), manifest.committed_depth + 1)
    return np.bincount(depths, minlength=manifest.committed_depth + 2)


def check_partitions(
    blocks: Blocks, partitions: Sequence[PartitionReads], tables: MoveTables, rules: Rules
) -> dict[int, Findings]:
    """The findings in each block of some partitions, by the block's number."""
    found: dict[int, Findings] = {}
    for reads in partitions:
        found |= _check_partition(blocks, reads, tables, rules)
    return found


def _check_partition(blocks: Blocks, reads: PartitionReads, tables: MoveTables, rules: Rules) -> dict[int, Findings]:
    part = reads.part
    sources = (blocks.get(number) for number in reads.sources)
    least = least_before(part.first_row, part.end_row, sources, tables, rules.expanded, rules.dtype)
    found = {}
    for number in reads.own:
        block = blocks.get(number)
        first = block.first_row - part.first_row
        before = least[first : first + len(block.depths)]
        found[number] = check_block(block, before, rules.starts, rules.deepest, rules.seed)
    return found


def depths_at(blocks: Blocks, offsets: Mapping[int, Indices]) -> dict[int, Indices]:
    """The depths at some places ``(n,)`` of each of some blocks, ``(n,)``, by the block's number."""
    return {number: blocks.get(number).depths.ravel()[places].astype(np.int64) for number, places in offsets.items()}
