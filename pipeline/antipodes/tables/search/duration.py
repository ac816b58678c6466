"""Estimates of how long a run takes, from a short trial on this machine.

The trial is the beginning of the run itself: it builds the move tables, and searches layer by layer in the partitions
of the plan. Layers that it does not reach are forecast. If the move tables take too long, or the run takes gigabytes,
there is no trial, and the search is estimated from a typical rate. The time to write the table is estimated from a
typical rate of compression, and by writing bytes to the disk. Other programs that load the machine slow down the trial
as they would slow down the run.
"""

import math
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

from antipodes.executors.threads import Threads
from antipodes.runs.forecast import LayerCosts, layers_to_come
from antipodes.storage.opening import storage_at
from antipodes.system.machine import MIB, available_memory, available_workers
from antipodes.tables.journal import Journal
from antipodes.tables.planning.plan import Plan
from antipodes.tables.search.shards import Shards
from antipodes_tasks.spaces.space import Space

TRIAL_SECONDS = 2.0
"""Seconds after which the trial starts no further layer."""
ENOUGH_SECONDS = 0.5
"""Seconds after which the trial starts no further layer if its layers are enough for a forecast."""
LONGEST_LAYER = 3.0
"""Maximum expected seconds of a layer that the trial starts."""
TRIAL_BYTES = 4 << 30
"""Maximum memory of a trial in bytes, since planning should not take the memory of a large run."""
TRIAL_TABLES = 3.0
"""Maximum seconds for building the move tables of a trial."""
LEAST_LAYERS, LEAST_SHARE = 5, 0.0005
"""Minimum number of layers, and minimum share of all positions, that a trial must find before the rest is forecast."""
UNCERTAIN_SHARE = 0.25
"""The minimum share if the number of reachable positions is unknown. It may be any number from the number of positions
found to the number of all positions."""
BLOCKS = 40
"""Maximum number of blocks of consecutive layers from which the rest is forecast, since single layers fluctuate."""
NEVER_WRITTEN = 1 << 62
"""Journal bytes that stay in memory, so that a trial writes nothing."""
FILL_SECONDS = 0.2
"""Seconds for which parts of the puzzle's move tables are built."""
LOADING = 1.6
"""Ratio of the time in which a run starts and exits, including dask and zarr, to the start-up time of a plan."""
KERNELS_SECONDS = 0.2
"""Seconds to load the compiled kernels and to create a store."""
WRITTEN_BYTES = 8 * MIB
"""Number of bytes that are written durably to the disk, and then deleted."""
TABLE_BYTES, TYPICAL_JOURNAL_BYTES = 0.5, 0.9
"""Typical bytes on disk per position, in the table and in the journal."""
ENTRY_SECONDS, ASSEMBLY_SECONDS = 1e-8, 4.6e-9
"""Typical seconds in which one thread finds an entry whose neighbours are in a processor's cache, and in which it
assembles an entry of a table: its depth, the digest, and the compressed bytes. For the bundled puzzles, 7.5 to 19 and
3.8 to 5.6 nanoseconds were measured."""
KNOWN_RANGE = 0.7, 1.6
"""Minimum and maximum ratio of the time of a run to the forecast from a trial."""
SLOWEST = 12.0
"""Maximum ratio of the time of a search to the time estimated from ENTRY_SECONDS, since few entries are in a cache."""
TABLE_BYTE_SECONDS = 1e-9
"""Seconds per byte that one thread takes to build move tables that are too large for a trial."""
UNITS = (("seconds", 1, 100), ("minutes", 60, 6000), ("hours", 3600, 48 * 3600), ("days", 86400, math.inf))
"""Units of time, the seconds in each, and the number of seconds from which the next unit is used."""


@dataclass(frozen=True, slots=True)
class Duration:
    """Estimated seconds of each phase of a run."""

    start: float
    """Seconds for importing libraries and loading kernels."""
    tables: float
    search: float
    write: float
    known: bool
    """Whether the estimate is based on a trial. False: the seconds are a lower bound from a typical rate."""
    longer: float = 0.0
    """Seconds that the search and the writing may take in addition if ``known`` is False."""

    @property
    def seconds(self) -> float:
        """Total seconds of all phases."""
        return self.start + self.tables + self.search + self.write

    @property
    def range(self) -> tuple[float, float]:
        """Minimum and maximum seconds expected for the run."""
        low, high = KNOWN_RANGE
        return low * self.seconds, high * (self.seconds + self.longer)


KEY_SECONDS, KEY_WRITE_SECONDS = 5e-7, 2e-7
"""Seconds to find a position that is a key, and to write it, for small puzzles. Most of this is scheduling."""


@dataclass(frozen=True, slots=True)
class _Search:
    """The measured or forecast time of a search, and the number of positions that it finds."""

    tables: float
    seconds: float
    states: float
    known: bool
    longer: float = 0.0
    """Seconds that the search may take beyond ``seconds`` if ``known`` is False."""
    more_states: float = 0.0
    """Number of positions that the search may find beyond ``states``."""


def described_range(range: tuple[float, float]) -> str:
    """Return a range of seconds as text with one or two digits, since it is rough, such as "2 to 5 minutes"."""
    (low, unit), (high, high_unit) = map(_described, range)
    if (low, unit) == (high, high_unit):
        return f"about {_counted(high, high_unit)}"
    return f"{low if unit == high_unit else _counted(low, unit)} to {_counted(high, high_unit)}"


def _described(seconds: float) -> tuple[str, str]:
    """Return a number and its unit."""
    seconds = max(1.0, seconds)
    unit, size = next((unit, size) for unit, size, most in UNITS if seconds < most)
    count = seconds / size
    return f"{float(f'{count:.{1 if count < 10 else 2}g}'):,.0f}", unit


def _counted(number: str, unit: str) -> str:
    return f"{number} {unit.removesuffix('s') if number == '1' else unit}"


def estimate_duration(
    plan: Plan, workers: int, folder: Path | None, start: float = 0.0, trial_seconds: float | None = None
) -> Duration:
    """Estimate the seconds of a run with ``workers`` threads that writes to the disk where ``folder`` is or will be.

    If there are more workers than processors here, the estimate assumes as many processors of the same kind. If the
    disk is elsewhere (None), writing takes no time. ``start`` is the time in seconds that the program took to import
    the libraries for planning. After ``trial_seconds``, by default TRIAL_SECONDS, the trial starts no further layer.
    """
    if plan.keyed:
        return _of_keys(plan, LOADING * start + KERNELS_SECONDS)
    there = min(workers, plan.partition_count)
    here = min(there, available_workers())
    search = _search_seconds(plan, here, TRIAL_SECONDS if trial_seconds is None else trial_seconds)
    assembly = ASSEMBLY_SECONDS / here
    written = 0.0 if not plan.journal_bytes else TABLE_BYTES * search.states
    spilt = max(0.0, TYPICAL_JOURNAL_BYTES * search.states - plan.buffer_bytes) if plan.journal_bytes else 0.0
    byte = _seconds_a_byte(folder) if folder and (written or plan.strategy.on_disk) else 0.0
    to_disk = (written + 2 * spilt) * byte  # spills are read again
    layers = plan.layer_traffic
    longer = search.longer + (layers.written + layers.read) * byte if layers else search.longer
    share = here / there
    return Duration(
        start=LOADING * start + KERNELS_SECONDS,
        tables=share * search.tables,
        search=share * search.seconds,
        write=share * search.states * assembly + to_disk if written else 0.0,
        known=search.known,
        longer=share * (longer + (search.more_states * assembly if written else 0.0)),
    )


def _of_keys(plan: Plan, start: float) -> Duration:
    """Return the seconds of a run over keys: an estimate for a small puzzle, a lower bound for other puzzles."""
    reached = plan.reachable or plan.known_positions
    search, write = KEY_SECONDS * reached, KEY_WRITE_SECONDS * reached
    return Duration(start=start, tables=0.0, search=search, write=write, known=plan.reachable is not None)


def _search_seconds(plan: Plan, threads: int, trial_seconds: float) -> _Search:
    """Return the estimated search: from a trial if possible, else from a typical rate."""
    size, each = plan.space.size, ENTRY_SECONDS / threads
    states = size if plan.reachable is None else _entries(plan.space, plan.reachable)
    certain = 0 if plan.reachable is None else states
    slowest = SLOWEST * each * states

    def untried(tables: float, found: int = 0, seconds: float = 0.0) -> _Search:
        low = max(seconds, each * certain)
        return _Search(tables, low, max(certain, found), False, max(0.0, slowest - low), states - max(certain, found))

    outlined = plan.space.filler.estimated_seconds(threads)
    if outlined is not None:
        return untried(outlined)
    if plan.strategy.on_disk or plan.min_bytes > min(available_memory(), TRIAL_BYTES):
        return untried(plan.table_bytes * TABLE_BYTE_SECONDS / threads)
    if call := plan.strategy.warm_up(plan.space, shares_memory=True):
        call[0](*call[1:])
    tables = _tables_seconds(plan.space, threads)
    if tables > TRIAL_TABLES:
        return untried(tables)
    begin = time.perf_counter()
    journal = Journal(storage_at(Path()), "trial", 0, 0)  # never written or read
    shards = Shards(Threads(threads), replace(plan, buffer_bytes=NEVER_WRITTEN), journal)
    tables = time.perf_counter() - begin
    shards.begin(plan.space.rank(plan.space.starts), "")
    share = UNCERTAIN_SHARE if plan.reachable is None else LEAST_SHARE

    def is_enough(counts: list[int]) -> bool:
        return len(counts) > LEAST_LAYERS and sum(counts) >= share * states

    counts, seconds, ended = _layers_tried(shards, trial_seconds, is_enough)
    found = sum(counts)
    if ended:
        return _Search(tables, sum(seconds), found, True)
    size = max(1, len(counts) // BLOCKS)
    first = len(counts) % size
    blocks = [sum(counts[at : at + size]) for at in range(first, len(counts), size)]
    expected = [block / size for block in layers_to_come(blocks, found, states) for _ in range(size)]
    costs = LayerCosts()
    for count, its_seconds in zip(counts[1:], seconds, strict=True):
        costs.add(count, its_seconds)
    if not is_enough(counts):
        return untried(tables, found, sum(seconds))
    return _Search(tables, sum(seconds) + costs.of(expected), states, True)


def _entries(space: Space, positions: int) -> int:
    """Return approximately how many entries represent this number of positions."""
    return positions if space.full_space is space else ceil(positions * space.size / space.full_space.size)


def _layers_tried(
    shards: Shards, trial_seconds: float, is_enough: Callable[[list[int]], bool]
) -> tuple[list[int], list[float], bool]:
    """Return the sizes of the first layers, the seconds of all but the first, and whether these are all layers.

    ``is_enough`` decides whether the other layers can be forecast from layers of these sizes.
    """
    counts, seconds = [sum(shards.counts)], list[float]()
    while counts[-1]:
        ahead = seconds[-1] * max(1.0, counts[-1] / counts[-2]) if seconds else 0.0
        tried = sum(seconds)
        if tried > trial_seconds or ahead > LONGEST_LAYER or (tried > ENOUGH_SECONDS and is_enough(counts)):
            return counts, seconds, False
        begin = time.perf_counter()
        counts += shards.advance(len(counts) - 1, 1, lambda done, of: None)
        seconds.append(time.perf_counter() - begin)
    return counts[:-1], seconds, True


def _tables_seconds(space: Space, parallel: int) -> float:
    """Estimate the seconds to build the move tables by building some of their parts."""
    begin = time.perf_counter()
    _, fills = space.filler.begin()
    for fill in fills[:1]:  # loads the kernels
        fill()
    begun = time.perf_counter()
    built = 1
    while built < len(fills) and time.perf_counter() - begun < FILL_SECONDS:
        fills[built]()
        built += 1
    each = (time.perf_counter() - begun) / max(1, built - 1)
    return begun - begin + each * (len(fills) - 1) / parallel


def _seconds_a_byte(folder: Path) -> float:
    """Return the seconds per byte to write durably to the disk where a folder is or will be."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.is_dir())
    content = os.urandom(WRITTEN_BYTES)
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            begin = time.perf_counter()
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            return (time.perf_counter() - begin) / WRITTEN_BYTES
    except OSError:  # a run could not write there either, and will report it
        return 0.0
