"""The check of the bytes of a table, whose moves may be unknown; and the findings of the check of any table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from antipodes.runs.verification import BlockCache, BlockReader, OneBlock, Verification
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.bfs.bitmaps import Depths
from antipodes_tasks.bfs.proof import RowDepths


@dataclass(frozen=True)
class CheckedTable:
    """The findings of the check of a table."""

    layers: Numbers
    """Number of positions of each chunk at each committed depth, then of all others: ``(chunks, depths + 1)``."""
    wrong: Mapping[str, tuple[int, Labels]] = field(default_factory=dict)
    """For each kind of problem, the number of positions that have it and the first of them."""
    problems: Sequence[str] = ()
    """Other problems."""
    sampled: int = 0
    """Number of positions that were also checked by the rules of the puzzle alone."""


def check_bytes(store: TableStore, manifest: TableManifest, verification: Verification) -> CheckedTable:
    """Read all chunks and count their positions."""
    progress = verification.start(str(manifest.puzzle.get("name")), manifest.numbered, manifest.index_size)
    jobs = [OneBlock(number) for number in range(manifest.chunk_count)]
    reader = BlockReader(verification.scheduler, partial(read_block, store, manifest), jobs)
    layers = reader.run(
        count_block,
        manifest.committed_depth,
        on_findings=lambda findings: progress.add(sum(int(counts.sum()) for counts in findings)),
    )
    return CheckedTable(np.array(layers))


def read_block(store: TableStore, manifest: TableManifest, number: int) -> RowDepths:
    """Return the depths of a chunk; raise as `TableStore.read_chunk` does."""
    return RowDepths(number * manifest.chunk_rows, store.read_chunk(manifest, number))


def count_block(blocks: BlockCache[RowDepths], job: OneBlock, deepest: int) -> Numbers:
    """Return the numbers of positions of a chunk, as in `count_depths`."""
    return count_depths(blocks.get(job.number).depths, deepest)


def count_depths(depths: Depths, deepest: int) -> Numbers:
    """Return the number of positions at each depth up to ``deepest``, and the number of all others at the end."""
    return np.bincount(np.minimum(depths.ravel(), deepest + 1), minlength=deepest + 2)
