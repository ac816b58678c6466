"""An estimate of what a network costs a run on a cluster: the bytes that workers send each other, and the time lost."""

import re
from dataclasses import dataclass
from math import ceil

import numpy as np

from antipodes.system.options import MAX_WORKERS
from antipodes.tables.layers.division import SHARD_STATES
from antipodes.tables.planning.plan import Plan
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.spaces.space import BlockNeighbours, Space

RATE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?([kMGT])bit(?:/s)?", re.ASCII)
PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
SENT_BYTES = 1.1
"""Typical bytes sent for a position and a worker that needs it. `seven-tiles` with two workers sends 1.07 bytes."""
ROUND_TRIPS = 3
"""Number of times that each layer waits for the latency of the network, there and back: for rows, and until all workers
have found it. Measured by ``python -m benchmarks.network``: 2.5 to 2.8."""
NOTABLE_SHARE = 0.1
"""Minimum share of the time that more workers have to save."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkCost:
    """The cost of the network for a run, for JSON output."""

    sent_bytes: int
    """Bytes that all workers send each other."""
    seconds: float
    """Seconds in which they wait for these bytes, if all of them send and receive at the same time."""
    useful_workers: int
    """The number of workers beyond which more workers save less than a tenth of the time."""


def network_rate(text: str, name: str) -> float:
    """Return a rate such as ``10Gbit`` in bytes per second; raise InputError, naming the option, if it is none."""
    match = RATE.fullmatch(text)
    rate = float(match[1]) * PREFIXES[match[2]] / 8 if match else 0.0
    if not rate:
        raise InputError(f"{name}: expected a rate such as 1Gbit or 100Mbit, found {quote(text)}")
    return rate


def network_cost(plan: Plan, workers: int, threads: int, search_seconds: float, rate: float) -> NetworkCost | None:
    """Return the cost of a network for workers with this number of ``threads`` each; None for positions without index.

    ``search_seconds`` is the processor time of the search, and ``rate`` the bytes per second of each worker's network.
    """
    if plan.keyed:
        return None
    space = plan.space
    reachable = 1.0 if plan.reachable is None else plan.reachable / space.full_space.size
    row_bytes = SENT_BYTES * reachable * space.width

    def lost(number: int) -> float:
        return row_bytes * sent_rows(space, number) / number / rate

    most = max(1, min(MAX_WORKERS, ceil(space.size / SHARD_STATES[0] / threads)))
    numbers = sorted({most, *(1 << power for power in range(most.bit_length()))})
    seconds = [search_seconds / number / threads + lost(number) for number in numbers]
    useful = next(one for one, its in zip(numbers, seconds, strict=True) if its * (1 - NOTABLE_SHARE) <= min(seconds))
    used = min(workers, plan.shard_count)
    return NetworkCost(sent_bytes=int(row_bytes * sent_rows(space, used)), seconds=lost(used), useful_workers=useful)


def sent_rows(space: Space, workers: int) -> int:
    """Return how many rows are sent, each counted for every other worker that needs it.

    Each worker is assumed to hold the same number of adjacent rows.
    """
    blocks = space.block_neighbours
    if blocks is None:
        return space.rows * min(workers - 1, space.filler.max_moves)
    return _between_blocks(blocks, space.rows, workers)


def _between_blocks(blocks: BlockNeighbours, rows: int, workers: int) -> int:
    """Return `sent_rows`, given the blocks of rows that moves connect.

    If a block belongs to several workers, each row is sent to at most one of them for each move into the block.
    """
    ends = np.arange(1, workers + 1) * rows // workers
    begins = blocks.to * blocks.rows
    first, last = (np.searchsorted(ends, row, "right") for row in (begins, begins + blocks.rows - 1))
    pairs = np.stack((blocks.of, np.where(first == last, first, workers + blocks.to)))
    of, owner = np.unique(pairs, axis=1)
    begin, end = of * blocks.rows, (of + 1) * blocks.rows
    at = np.minimum(owner, workers - 1)
    own = np.minimum(end, ends[at]) - np.maximum(begin, ends[at] - np.diff(ends, prepend=0)[at])
    return int(np.where(owner < workers, blocks.rows - np.maximum(0, own), blocks.rows).sum())
