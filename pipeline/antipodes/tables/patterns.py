"""Tables of patterns, loaded as the heuristic of a search."""

import hashlib
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import platformdirs
from numpy.typing import ArrayLike, NDArray

from antipodes.machine import available_memory
from antipodes.puzzles.puzzle import Puzzle
from antipodes.storage.address import Address
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.stores import TableStore
from antipodes_tasks.errors import InputError, ResourceLimitError, UnfinishedError
from antipodes_tasks.quoting import shorten
from antipodes_tasks.rules.counted_swaps import EMPTY, CountedSwaps
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import swap_edges
from antipodes_tasks.searches.heuristics import costs_of_pieces
from antipodes_tasks.searches.patterns import Patterns, PatternTable
from antipodes_tasks.searches.problem import Problem, goals_of
from antipodes_tasks.spaces.regions import Regions

READ_TOGETHER = 1 << 24
"""Entries that a thread reads from a store at once."""
LEAST_CACHED = 1 << 24
"""Entries of a table from which on the cache is faster than the store."""


def load_patterns(rules: Rules, goal: ArrayLike | None, addresses: Sequence[Address]) -> Patterns:
    """The heuristic of the tables at these addresses for a goal, by default the start; their values are in memory.

    Raises
    ------
    InputError
        The puzzle has no swaps with one blank, or several goals, or a table is that of another board or goal, or of a
        puzzle in which all moves count; or there is no table.
    UnfinishedError
        A table is unfinished.
    ResourceLimitError
        The tables take more memory than is free.
    NotAStoreError, StoreDamagedError
        There is no table at an address, or it is damaged.
    """
    if swap_edges(rules) is None or rules.counts[0] != 1 or rules.layout is None:
        raise InputError(f"--tables: expected a sliding puzzle with one blank, found {rules.name}")
    if not addresses:
        raise InputError("--tables: expected at least one table, found none")
    goals = goals_of(rules, goal)
    if len(goals) > 1:
        raise InputError(f"--tables: expected one goal, found {len(goals)}")
    aim = Problem(rules, goals[0], goals)
    stores = [TableStore(address) for address in addresses]
    manifests = [store.read() for store in stores]
    tables, begin = list[PatternTable](), 0
    for store, manifest in zip(stores, manifests, strict=True):
        tables.append(_pattern(aim, store.address, manifest, begin))
        begin += manifest.index_size
    if begin > available_memory():
        raise ResourceLimitError(f"--tables: these take {begin:,} bytes of memory, and {available_memory():,} are free")
    values = np.empty(begin, dtype=np.uint8)
    for store, manifest, table in zip(stores, manifests, tables, strict=True):
        _read(store, manifest, values[table.begin : table.begin + manifest.index_size])
    return Patterns.of(rules, goals[0], tables, values, costs_of_pieces(aim))


def _pattern(aim: Problem, address: str, manifest: TableManifest, begin: int) -> PatternTable:
    """The table of a store, without its values, checked to fit puzzle and goal."""
    puzzle = manifest.config.puzzle
    moves = puzzle.moves
    if not isinstance(moves, CountedSwaps):
        raise InputError(f"--tables: expected a puzzle with `free` tiles, found {puzzle.name} in {shorten(address)}")
    if not manifest.complete:
        raise UnfinishedError(f"{address} is unfinished: antipodes resume {address}")
    if frozenset(moves.edges) != swap_edges(aim.rules):
        raise InputError(f"--tables: expected a table for the board of {aim.rules.name}, found {puzzle.name}")
    label_of = _labels_in(aim.rules, puzzle, moves.free)
    goal = moves.canonical(label_of[aim.position])
    if not np.array_equal(puzzle.start_labels, goal[np.newaxis]):
        expected, found = puzzle.format(goal), puzzle.format(puzzle.start_labels[0])
        raise InputError(f"--tables: expected the goal {shorten(expected)} of {puzzle.name}, found {shorten(found)}")
    if manifest.dtype != "uint8":
        raise InputError(f"--tables: expected depths of 8 bits, found {manifest.dtype} in {shorten(address)}")
    return PatternTable(puzzle.name, Regions.of(puzzle.rules), label_of, begin)


def _labels_in(rules: Rules, pattern: Puzzle, free: int) -> NDArray[np.uint8]:
    """The label that each label of the puzzle has in a pattern: its own there, or the free one.

    InputError where the pattern has a tile that the puzzle lacks, or has another number of it.
    """
    symbols = rules.symbols
    own = {symbol: label for label, symbol in enumerate(pattern.symbols) if label not in (EMPTY, free)}
    for symbol, label in own.items():
        here = rules.counts[symbols.index(symbol)] if symbol in symbols else 0
        if here != pattern.counts[label]:
            raise InputError(
                f"--tables: expected {here} of the tile {symbol} in {pattern.name}, found {pattern.counts[label]}"
            )
    return np.array([EMPTY, *(own.get(symbol, free) for symbol in symbols[1:])], dtype=np.uint8)


def _read(store: TableStore, manifest: TableManifest, values: NDArray[np.uint8]) -> None:
    """Write the depths of all entries to the values: from the cache if they are there, else from the store."""
    cached = _cache_file(manifest)
    if _read_cached(cached, values):
        return
    size = manifest.chunk_rows * manifest.width
    step = max(1, READ_TOGETHER // size)

    def read(chunk: int) -> None:
        depths = store.read_chunks(manifest, chunk, min(chunk + step, manifest.chunk_count)).ravel()
        values[chunk * size : chunk * size + len(depths)] = depths

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(read, range(0, manifest.chunk_count, step)))
    _write_cached(cached, values)


def _cache_file(manifest: TableManifest) -> Path:
    """Where the depths of a table are kept as they are in memory: the name has a digest of the table."""
    digest = hashlib.sha256(f"{manifest.fingerprint} {manifest.rows} {manifest.width} ".encode())
    digest.update(manifest.chunks.digests.tobytes())
    return platformdirs.user_cache_path("antipodes", appauthor=False) / "tables" / f"{digest.hexdigest()}.depths"


def _read_cached(path: Path, values: NDArray[np.uint8]) -> bool:
    """Whether a file has all depths, and their sum at its end is right; then they are the values."""
    if len(values) < LEAST_CACHED:
        return False
    try:
        with path.open("rb") as file:
            whole = file.readinto(values.data) == len(values)
            return whole and file.read() == _sum(values)
    except OSError:
        return False


def _write_cached(path: Path, values: NDArray[np.uint8]) -> None:
    """Keep the depths for the next time, if there is room: without them it takes a few seconds longer."""
    if len(values) < LEAST_CACHED:
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(path.parent).free < 4 * len(values):
            return
        with TemporaryDirectory(dir=path.parent) as folder:  # it takes along what a full disk cut off
            whole = Path(folder) / path.name
            with whole.open("wb") as file:
                file.write(values.data)
                file.write(_sum(values))
            os.replace(whole, path)


def _sum(values: NDArray[np.uint8]) -> bytes:
    """The sum of all words of 64 bits, and of the bytes after them."""
    words = values[: len(values) // 8 * 8].view(np.uint64)
    return np.array([words.sum(), values[words.nbytes :].sum()], dtype="<u8").tobytes()
