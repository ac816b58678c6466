"""A small search in shards, and ways to damage its journal."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.families import puzzle_from
from antipodes.storage.directory import DirectoryStorage
from antipodes.tables.journal import Journal
from antipodes.tables.journal_file import Cover
from antipodes.tables.layers.bit_shard import BitShard, boundary
from antipodes.tables.layers.shard import Shard
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.strategies.commitment import JOURNAL
from antipodes_tasks.bfs.bitmaps import WORD, Bitmap, Depths, words
from antipodes_tasks.bfs.layer_weights import NO_WEIGHTS
from antipodes_tasks.bfs.partition import Links, Partition, State, links
from antipodes_tasks.bfs.segments import SegmentLog, depths_of
from antipodes_tasks.move_tables import MoveTables
from antipodes_tasks.spaces.arrangements import Arrangements
from antipodes_tasks.spaces.space import Space

PUZZLE = puzzle_from({"name": "p", "family": "sliding", "rows": 2, "columns": 3, "start": "1 1 2 / 3 2 0"})
SPACE = Space(PUZZLE.rules, Arrangements(PUZZLE.rules.counts), 2)
STARTS = SPACE.rank(PUZZLE.start_labels)
CHUNK_ROWS = 4
BOUNDS = [0, 8, 20, 32, 44, 60]
UNREACHED = 255


@cache
def move_tables() -> MoveTables:
    """Return the move tables of the puzzle, filled at the first call: an import must not compile kernels."""
    return SPACE.filler.filled()


@cache
def move_links() -> Links:
    """Return the move tables with the links between the partitions."""
    return links(move_tables(), BOUNDS)


def journal_at(path: Path) -> Journal:
    """Return a journal in a folder."""
    path.mkdir(exist_ok=True)
    return Journal(DirectoryStorage(path), "identity", 100, 1 << 20)


def parts_of(bounds: Sequence[int]) -> list[Partition]:
    """Return the partitions with these bounds."""
    return [Partition(number, first, end) for number, (first, end) in enumerate(pairwise(bounds))]


def new_shards(journal: Journal, sizes: Sequence[int], buffer_bytes: int = 1 << 20) -> list[Shard]:
    """Return empty shards with these numbers of partitions."""
    parts, ends = parts_of(BOUNDS), np.cumsum([0, *sizes]).tolist()

    def make(part: Partition) -> State:
        return State(part, SPACE.width, CHUNK_ROWS)

    return [
        BitShard(parts[first:end], NO_WEIGHTS, make, journal, buffer_bytes, JOURNAL.max_gaps)
        for first, end in pairwise(ends)
    ]


def advance(shards: Sequence[Shard], depth: int, token: str = "", lean: bool = False) -> int:
    """Find the layer after ``depth`` in all shards and return its size; if ``lean``, shards only see boundaries."""
    seen: list[list[Any]] = [
        [boundary([one], move_links(), [rows_of(reader)], depth, token) if lean else one for one in shards]
        for reader in shards
    ]
    return sum(
        one.advance([other for at, other in enumerate(seen[here]) if at != here], move_links(), depth, 1, token)[0]
        for here, one in enumerate(shards)
    )


def rows_of(shard: Shard) -> range:
    """Return the rows of a shard."""
    return range(shard.states[0].part.first_row, shard.states[-1].part.end_row)


def begun(journal: Journal, sizes: Sequence[int], buffer_bytes: int = 1 << 20) -> list[Shard]:
    """Return shards at depth 0."""
    shards = new_shards(journal, sizes, buffer_bytes)
    for one in shards:
        one.begin(STARTS)
    return shards


def search(shards: Sequence[Shard], depth: int, layers: int = 1000, lean: bool = False) -> list[int]:
    """Return the number of positions in each of the next layers, until a layer is empty."""
    found: list[int] = []
    while len(found) < layers:
        count = advance(shards, depth + len(found), lean=lean)
        if not count:
            break
        found.append(count)
    return found


def depths(shards: Sequence[Shard]) -> Depths:
    """Return the depths ``(rows, width)`` in all segments of shards."""
    found = []
    for one in shards:
        for chunk in range(one.segments.first_chunk, one.segments.end_chunk):
            rows = min(CHUNK_ROWS, SPACE.rows - chunk * CHUNK_ROWS)
            segments = list(one.segments.segments_between(range(chunk, chunk + 1), 0, one.segments.searched))
            found.append(depths_of(segments, np.full((rows, SPACE.width), UNREACHED, dtype=np.uint8)))
    return np.concatenate(found)


def files(folder: Path) -> list[Path]:
    """Return the journal files in the folder of a store."""
    return sorted((folder / "journal").glob("*"))


def set_journal(store: Path, depths: Depths) -> None:
    """Replace the journal of an unfinished table with an intact one that contains these depths ``(rows, width)``."""
    table = TableStore(store)
    manifest, log = table.read(), SegmentLog()
    deepest = int(depths[depths != manifest.unreached].max())
    for chunk in range(manifest.chunk_count):
        rows = manifest.rows_of(chunk)
        for depth in range(deepest + 1):
            flags = depths[rows.start : rows.stop] == depth
            log.add(chunk, depth, _to_bits(flags), manifest.width, int(np.count_nonzero(flags)))
    journal = table.journal(manifest)
    journal.delete()
    journal.put([Cover(0, manifest.chunk_count, 0, deepest)], [log], None, durable=True)


def _to_bits(flags: NDArray[np.bool_]) -> Bitmap:
    padded = np.zeros((len(flags), words(flags.shape[1]) * WORD), dtype=bool)
    padded[:, : flags.shape[1]] = flags
    return np.packbits(padded, axis=1, bitorder="little").view("<u8")
