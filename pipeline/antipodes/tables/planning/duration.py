"""How long a run takes on this machine, estimated from a measurement of some tenths of a second.

The kernels of a run search, and encode, random move tables with as many columns and moves as those of the puzzle. Part
of the puzzle's own move tables are built, and a chunk is compressed and written to the disk. What other programs do on
the machine meanwhile counts, as it will in the run.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from antipodes.bfs.partition import State
from antipodes.bfs.rows import Partition
from antipodes.bfs.segment_log import SegmentLog, depths_of
from antipodes.bfs.warm_up import warm_up
from antipodes.machine import available_workers
from antipodes.sizes import MIB
from antipodes.spaces.move_tables import MoveTables
from antipodes.spaces.space import StateSpace
from antipodes.tables.planning.plan import Plan

SAMPLE_STATES = 1 << 19
"""Positions of the sample that is searched: more than fit into the cache of a processor, found in some 10 ms."""
SAMPLE_MAPS = 32
"""Column maps of the sample at most."""
FEWEST_MOVES = 3
"""Moves of the sample at least: two that are their own inverses would lead in a circle, position by position."""
MOST_LAYERS = 256
"""Layers of the sample that are searched at most; random moves reach all positions in some twenty."""
POSITIONS_TRIED = 32
"""Positions of the puzzle whose moves are counted."""
SAMPLE_SECONDS = 0.15
"""Seconds for which the sample is searched, and assembled, again and again."""
FILL_SECONDS = 0.2
"""Seconds for which parts of the puzzle's move tables are built."""
LOADING = 1.6
"""Times that loading for a run, dask and zarr included, and leaving take as long as loading for a plan."""
KERNELS_SECONDS = 0.2
"""Seconds to load the compiled kernels, and to create a store."""
WRITTEN_BYTES = 8 * MIB
"""Bytes that are written to the disk, durably, and deleted."""
TABLE_BYTES, JOURNAL_BYTES = 0.5, 0.9
"""Bytes on disk for each position, as most puzzles take them."""


@dataclass(frozen=True, slots=True)
class Duration:
    """The seconds of each phase of a run."""

    start: float
    """Loading libraries and kernels."""
    tables: float
    search: float
    write: float

    @property
    def seconds(self) -> float:
        """The seconds of all phases."""
        return self.start + self.tables + self.search + self.write


def estimate_duration(plan: Plan, workers: int, folder: Path, start: float = 0.0, seed: int = 0) -> Duration:
    """The seconds of a run with ``workers`` threads, which writes to a disk where ``folder`` is or will be.

    ``start`` are the seconds that the program took to load the libraries that plan a run.
    """
    rng = np.random.default_rng(seed)
    warm_up()
    parallel = min(workers, available_workers(), plan.partition_count)
    states = plan.space.reachable or plan.space.size
    search, assembly = _sample_seconds(plan, parallel, rng)
    written = 0.0 if not plan.journal_bytes else TABLE_BYTES * plan.space.size
    spilt = max(0.0, JOURNAL_BYTES * states - plan.buffer_bytes) if plan.journal_bytes else 0.0
    to_disk = (written + 2 * spilt) * _seconds_a_byte(folder) if written else 0.0  # what is spilt is read again
    return Duration(
        start=LOADING * start + KERNELS_SECONDS,
        tables=_tables_seconds(plan.space, parallel),
        search=states * search,
        write=states * assembly + to_disk if written else 0.0,
    )


def _tables_seconds(space: StateSpace, parallel: int) -> float:
    """The seconds to build the move tables, from those of a part of them."""
    begin = time.perf_counter()
    _, fills = space.begin_tables()
    begun = time.perf_counter()
    built = 0
    while built < len(fills) and time.perf_counter() - begun < FILL_SECONDS:
        fills[built]()
        built += 1
    each = (time.perf_counter() - begun) / max(1, built)
    return begun - begin + each * len(fills) / parallel


def _sample_seconds(plan: Plan, parallel: int, rng: np.random.Generator) -> tuple[float, float]:
    """The seconds for each position of a sample: to find and encode it, and to compress its depth."""
    width = min(plan.space.width, SAMPLE_STATES)
    rows = max(2, SAMPLE_STATES // width)
    tables = _random_tables(rows, width, _moves(plan.space, rng), min(plan.space.most_column_maps, SAMPLE_MAPS), rng)
    log = SegmentLog()
    found = _search(tables, log)  # touches the memory
    search = _seconds_of(lambda: _search(tables, SegmentLog()), parallel)
    return search / found, _seconds_of(lambda: _assemble(log, rows, width), parallel) / found


def _search(tables: MoveTables, log: SegmentLog) -> int:
    """Search random tables from one start, layer by layer; the positions found."""
    rows, width = len(tables.target), tables.column_maps.shape[1]
    state = State(Partition(0, 0, rows), width, rows)
    count = state.begin(np.array([0]), log)
    total, depth = count, 0
    while count and depth < MOST_LAYERS:
        frontier = state.frontier(depth)
        depth += 1
        count = state.advance(depth, [] if frontier is None else [frontier], tables, log)
        total += count
    return total


def _assemble(log: SegmentLog, rows: int, width: int) -> int:
    """Make the depths of a chunk from segments, its digest, and its compressed bytes; their number."""
    from numcodecs import blosc

    depths = depths_of(log.of_chunks(0, 1), np.full((rows, width), 255, dtype=np.uint8))
    hashlib.sha256(depths.data)
    return len(blosc.compress(depths.tobytes(), b"lz4", 1, blosc.BITSHUFFLE))


def _moves(space: StateSpace, rng: np.random.Generator) -> int:
    """The number of legal moves of a position, on the average."""
    labels = space.unrank(rng.integers(space.size, size=POSITIONS_TRIED))
    counts = [len(space.puzzle.moves.successors(one)) for one in labels]
    return max(FEWEST_MOVES, round(sum(counts) / len(counts)))


def _random_tables(rows: int, width: int, moves: int, maps: int, rng: np.random.Generator) -> MoveTables:
    """Random moves, each its own inverse, so that the search may push or pull as it does for most puzzles."""
    target = np.stack([_involution(rows, rng) for _ in range(moves)], axis=1)
    column_maps = np.stack([np.arange(width), *(_involution(width, rng) for _ in range(max(1, maps - 1)))])
    numbers = rng.integers(1, len(column_maps), size=(rows, moves))
    pair = np.minimum(np.arange(rows)[:, np.newaxis], target)
    column_map = np.take_along_axis(numbers, pair, axis=0)  # a move back has the map of the move
    return MoveTables(target.astype(np.int32), column_map.astype(np.int16), column_maps.astype(np.int32), True)


def _involution(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A random permutation that is its own inverse: it swaps pairs."""
    order = rng.permutation(size)
    swapped = np.arange(size)
    half = size // 2
    swapped[order[:half]], swapped[order[half : 2 * half]] = order[half : 2 * half], order[:half]
    return swapped


def _seconds_a_byte(folder: Path) -> float:
    """The seconds to write a byte durably to the disk where a folder is or will be."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.is_dir())
    content = os.urandom(WRITTEN_BYTES)
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            begin = time.perf_counter()
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            return (time.perf_counter() - begin) / WRITTEN_BYTES
    except OSError:  # a run could not write there either, and will say so
        return 0.0


def _seconds_of(call: Callable[[], object], parallel: int) -> float:
    """The seconds for each of many calls in ``parallel`` threads, which share memory and processors as in a run."""
    begin = time.perf_counter()

    def repeat() -> int:
        calls = 0
        while time.perf_counter() - begin < SAMPLE_SECONDS:
            call()
            calls += 1
        return calls

    with ThreadPoolExecutor(parallel) as pool:
        calls = sum(future.result() for future in [pool.submit(repeat) for _ in range(parallel)])
    return (time.perf_counter() - begin) / calls
