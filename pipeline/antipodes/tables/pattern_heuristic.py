"""Tables of patterns, loaded as the heuristic of a search."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes.machine import available_memory
from antipodes.puzzles.puzzle import Puzzle
from antipodes.storage.address import Address, in_shell
from antipodes.tables.folded_tables import folded_table
from antipodes.tables.pattern_values import MAX_EXPANDED, numbering_of, values_of
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table_cache import can_be_packed
from antipodes_tasks.errors import InputError, ResourceLimitError, UnfinishedError
from antipodes_tasks.option_names import option
from antipodes_tasks.quoting import shorten
from antipodes_tasks.rules.counted_swaps import EMPTY, CountedSwaps
from antipodes_tasks.rules.moves import GoalTest, Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps, swap_edges
from antipodes_tasks.searches.abstractions import abstraction_of
from antipodes_tasks.searches.heuristics import costs_of_pieces
from antipodes_tasks.searches.packed import packed_size
from antipodes_tasks.searches.pattern_databases import Patterns
from antipodes_tasks.searches.permutation_pdb import TurnPatterns
from antipodes_tasks.searches.permutation_views import TurnTable
from antipodes_tasks.searches.problem import Problem, goals_of
from antipodes_tasks.searches.progress import Pulse, no_pulse
from antipodes_tasks.searches.sliding_pdb import PatternTable, SwapPatterns
from antipodes_tasks.searches.sliding_rows import SwapRows
from antipodes_tasks.spaces.space import REDUCED, Numbering

KINDS = ("arrangements", "orbits", "group", "keys", "regions", REDUCED)
"""The kinds of spaces in which a search can follow each move, or that are expanded to one of these."""


class _Stored(NamedTuple):
    """A finished table, and how its values will be in memory."""

    store: TableStore
    manifest: TableManifest
    numbering: Numbering
    """That of the values in memory."""
    packed: bool

    @property
    def size(self) -> int:
        """The bytes of its values."""
        return packed_size(self.numbering.size, self.packed)


def load_patterns(
    rules: Rules, goal: ArrayLike | GoalTest | None, addresses: Sequence[Address], pulse: Pulse = no_pulse
) -> Patterns:
    """The heuristic of the tables at these addresses for a goal, by default the start; their values are in memory.

    The pulse is called from time to time, and ends the loading if it raises.

    Raises
    ------
    InputError
        The moves are neither swaps with one blank nor legal everywhere, or there are several goals, or no table; or a
        table is that of another board or goal, or of a puzzle that is no pattern of this one.
    UnfinishedError
        A table is unfinished.
    ResourceLimitError
        The tables take more memory than is free.
    NotAStoreError, StoreDamagedError
        There is no table at an address, or it is damaged.
    """
    if not addresses:
        raise InputError(f"{option('tables')}: expected at least one table, found none")
    if callable(goal):
        raise InputError("pattern tables need one goal, and the goal pattern matches too many positions to list them")
    goals = goals_of(rules, goal)
    if len(goals) > 1:
        raise InputError(f"{option('tables')}: expected one goal, found {len(goals)}")
    if swap_edges(rules) is not None:
        return _of_swaps(rules, goals[0], _stored(addresses, pack=False), pulse)
    return _of_turns(rules, goals[0], _stored(addresses, pack=True), pulse)


def _of_swaps(rules: Rules, goal: Labels, stored: Sequence[_Stored], pulse: Pulse) -> SwapPatterns:
    if rules.counts[0] != 1 or rules.layout is None:
        raise InputError(f"{option('tables')}: expected a sliding puzzle with one blank, found {rules.name}")
    aim = Problem(rules, goal, goal[np.newaxis])
    fitting = [_pattern(aim, one) for one in stored]
    values = _values(stored, pulse)
    tables = [replace(table, values=own) for table, own in zip(fitting, values, strict=True)]
    return SwapPatterns.of(rules, goal, tables, costs_of_pieces(aim))


def _of_turns(rules: Rules, goal: Labels, stored: Sequence[_Stored], pulse: Pulse) -> TurnPatterns:
    tables = [
        TurnTable(
            one.manifest.config.puzzle.rules,
            one.numbering,
            abstraction_of(rules, goal, one.manifest.config.puzzle.rules),
            0,
            one.packed,
        )
        for one in stored
    ]
    for table in tables:
        table.digits  # noqa: B018  (raises, before anything is read)
    parts, size, loaded = list[NDArray[np.uint8]](), 0, list[TurnTable]()
    for one, table in zip(stored, tables, strict=True):
        found = folded_table(one.store, one.manifest, table, pulse)
        folding, own = found or (None, _values([one], pulse)[0])
        loaded.append(replace(table, begin=size, folding=folding))
        parts.append(own)
        size += len(own)
    return TurnPatterns.of(
        rules, goal, loaded, parts[0] if len(parts) == 1 else np.concatenate(parts), available_memory() // 2
    )


def _stored(addresses: Sequence[Address], pack: bool) -> list[_Stored]:
    """The finished tables at some addresses; with half a byte an entry where that is asked for, and enough."""
    stores = [TableStore(address) for address in addresses]
    manifests = [_finished(store) for store in stores]
    packed = [pack and can_be_packed(manifest) for manifest in manifests]
    numberings = [numbering_of(*one) for one in zip(stores, manifests, strict=True)]
    return [_Stored(*one) for one in zip(stores, manifests, numberings, packed, strict=True)]


def _finished(store: TableStore) -> TableManifest:
    manifest = store.read()
    if not manifest.complete:
        raise UnfinishedError(f"{store.address} is unfinished: antipodes resume {in_shell(store.address)}")
    if manifest.space not in KINDS:
        raise InputError(
            f"{option('tables')}: expected a table in which moves can be followed, found one of {manifest.space} "
            f"in {shorten(store.address)}"
        )
    if manifest.symmetry > 1 and manifest.numbered > MAX_EXPANDED:
        raise InputError(
            f"{option('tables')}: expected at most {MAX_EXPANDED:,} positions in a reduced table, "
            f"found {manifest.numbered:,} "
            f"in {shorten(store.address)}: run it again with {option('symmetry', 'off')} and "
            f"{option('overwrite', True)}"
        )
    if manifest.dtype != "uint8":
        raise InputError(
            f"{option('tables')}: expected depths of 8 bits, found {manifest.dtype} in {shorten(store.address)}"
        )
    return manifest


def _values(stored: Sequence[_Stored], pulse: Pulse) -> list[NDArray[np.uint8]]:
    """The values of some tables; ResourceLimitError where together they take more memory than is free."""
    size = sum(one.size for one in stored)
    if size > available_memory():
        raise ResourceLimitError(
            f"{option('tables')}: these take {size:,} bytes of memory, and {available_memory():,} are free"
        )
    return [values_of(one.store, one.manifest, one.packed, pulse) for one in stored]


def _pattern(aim: Problem, stored: _Stored) -> PatternTable:
    """The table of a store, without its values, checked to fit puzzle and goal."""
    puzzle = stored.manifest.config.puzzle
    moves = puzzle.moves
    if not isinstance(moves, CountedSwaps | Swaps):
        raise InputError(
            f"{option('tables')}: expected a sliding puzzle with moves of one tile, "
            f"found {puzzle.name} in {shorten(stored.store.address)}"
        )
    rows = SwapRows(puzzle.rules, stored.numbering)
    if frozenset(rows.edges) != swap_edges(aim.rules):
        raise InputError(f"{option('tables')}: expected a table for the board of {aim.rules.name}, found {puzzle.name}")
    if isinstance(moves, CountedSwaps):
        label_of = _labels_in(aim.rules, puzzle, moves.free)
    else:
        label_of = _merged_labels(aim, puzzle)
    goal = moves.canonical(label_of[aim.position])
    if not np.array_equal(puzzle.start_labels, goal[np.newaxis]):
        expected, found = puzzle.format(goal), puzzle.format(puzzle.start_labels[0])
        raise InputError(
            f"{option('tables')}: expected the goal {shorten(expected)} of {puzzle.name}, found {shorten(found)}"
        )
    return PatternTable(puzzle.name, rows, label_of)


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
                f"{option('tables')}: expected {here} of the tile {symbol} in {pattern.name}, found "
                f"{pattern.counts[label]}"
            )
    return np.array([EMPTY, *(own.get(symbol, free) for symbol in symbols[1:])], dtype=np.uint8)


def _merged_labels(aim: Problem, pattern: Puzzle) -> NDArray[np.uint8]:
    """The label that each label of the puzzle has in a pattern of which all moves count: that of its place at the goal.

    InputError where equal tiles become different ones, or the blank a tile.
    """
    label_of = np.zeros(len(aim.rules.symbols), dtype=np.uint8)
    starts = pattern.start_labels
    label_of[aim.position] = starts[0]
    if len(starts) > 1 or not np.array_equal(label_of[aim.position], starts[0]) or label_of[EMPTY] != EMPTY:
        raise InputError(
            f"{option('tables')}: expected the goal of {aim.rules.name} with equal tiles in {pattern.name}"
        )
    return label_of
