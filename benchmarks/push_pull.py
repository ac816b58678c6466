"""The search phase with push only, and with push or pull."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from antipodes.puzzles.config import load_config
from antipodes_tasks.bfs.partition import Links, Partition, State, links, warm_up
from antipodes_tasks.move_tables import MoveTables
from antipodes_tasks.spaces.selection import best_space
from benchmarks.measure import Row, median

TITLE = "Push and pull"
REPEATS = 5
WORKERS = 2
PARTITIONS = 16
MILLION = 1_000_000


class Example(NamedTuple):
    """The move tables of a bundled puzzle, and the index of its start."""

    name: str
    tables: MoveTables
    start: int


class Search(NamedTuple):
    """The layers of one search, and its time."""

    layers: tuple[int, ...]
    seconds: float
    processor_seconds: float


def measure() -> list[Row]:
    """Return all rows; searches with and without pull alternate, so that both see the same load of the machine."""
    warm_up()
    examples = (
        ("2x2x2", "1.2 s"),
        ("pancake-11", "40 million/s"),
        ("three-colours", "not slower"),
        ("seven-tiles", "not slower"),
    )
    return [row for name, target in examples for row in _rows(_example(name), target)]


def _example(name: str) -> Example:
    puzzle = load_config(name).puzzle
    space = best_space(puzzle.rules)
    return Example(f"`{name}`", space.filler.filled(), int(space.rank(puzzle.start_labels)[0]))


def _rows(example: Example, target: str) -> Iterator[Row]:
    pushed = example._replace(tables=example.tables._replace(undirected=False))
    turns = [(search(pushed, PARTITIONS), search(example, PARTITIONS)) for _ in range(REPEATS)]
    layers, others = (one.layers for one in turns[0])
    if layers != others:
        raise RuntimeError(f"{example.name}: push and pull found different layers")
    moves = example.tables.target.shape[1]
    yield Row(
        f"{example.name}, {sum(layers):,} positions, at most {moves} moves per position: push only",
        "",
        _shown([one for one, _ in turns]),
    )
    yield Row(f"{example.name}: push or pull", target, _shown([one for _, one in turns]))


def _shown(searches: list[Search]) -> str:
    seconds, processor = (median([getattr(one, kind) for one in searches]) for kind in ("seconds", "processor_seconds"))
    rate = sum(searches[0].layers) / seconds / MILLION
    return f"{seconds:.3f} s, {rate:.0f} million/s, {processor:.3f} s of processor time"


def search(example: Example, partitions: int) -> Search:
    """Search on threads, and time the search without building the move tables."""
    tables = example.tables
    bounds = [int(bound) for bound in np.linspace(0, len(tables.target), partitions + 1)]
    parts = [Partition(number, first, end) for number, (first, end) in enumerate(pairwise(bounds))]
    linked, starts = links(tables, bounds), np.array([example.start])
    states = [State(part, tables.column_maps.shape[1], part.rows) for part in parts]
    layers = [sum(state.begin(starts, None) for state in states)]
    begin, processor = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(WORKERS) as pool:
        while layers[-1]:
            layers.append(sum(pool.map(_advance(states, linked, len(layers)), states)))
    return Search(tuple(layers[:-1]), time.perf_counter() - begin, time.process_time() - processor)


def _advance(states: list[State], linked: Links, depth: int) -> Callable[[State], int]:
    def advance(state: State) -> int:
        others = (states[number].frontier(depth - 1) for number in linked.predecessors[state.part.number])
        return state.advance(depth, [one for one in others if one is not None], linked.tables, None)

    return advance
