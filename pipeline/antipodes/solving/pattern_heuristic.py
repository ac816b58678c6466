"""Loading pattern tables as the heuristic of a search."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes.puzzles.puzzle import Puzzle
from antipodes.solving.pattern_values import (
    MAX_EXPANDED,
    bytes_of_bundles,
    bytes_to_make,
    cached_bundles,
    cached_quotient,
    expanded,
    made_bundles,
    space_of,
)
from antipodes.solving.table_cache import fits_halves, values_of
from antipodes.system.addresses import Address, in_shell
from antipodes.system.machine import available_memory
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, ResourceLimitError, UnfinishedError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.quoting import shorten
from antipodes_tasks.properties.piece_distances import costs_of_pieces
from antipodes_tasks.rules.counted_swaps import EMPTY
from antipodes_tasks.rules.moves import GoalTest
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import swap_edges
from antipodes_tasks.searches.abstractions import abstraction_of
from antipodes_tasks.searches.bundles import Bundles, bundle_rows
from antipodes_tasks.searches.packed import BYTES, HALVES, Encoding
from antipodes_tasks.searches.pattern_databases import Patterns
from antipodes_tasks.searches.permutation_pdb import PermutationPatterns
from antipodes_tasks.searches.permutation_views import PermutationTable
from antipodes_tasks.searches.problem import Problem, goals_of
from antipodes_tasks.searches.progress import Heartbeat, no_pulse
from antipodes_tasks.searches.quotient import Quotient
from antipodes_tasks.searches.sliding_pdb import PatternTable, SlidingPatterns
from antipodes_tasks.searches.sliding_rows import SwapRows
from antipodes_tasks.searches.step_tables import MAX_MOVES
from antipodes_tasks.spaces.reduced_numbering import Reduced
from antipodes_tasks.spaces.space import REDUCED, Numbering, Space

KINDS = ("arrangements", "orbits", "group", "keys", "regions", REDUCED)
"""The kinds of spaces in which a search can follow each move, or that can be expanded to such a space."""
MAX_EXACT_ENTRIES = 1 << 32
"""Number of entries from which on a reduced table is clipped, if other tables are not. Step tables number their words
with 32 bits."""


class _Stored(NamedTuple):
    """A finished table, and the form of its values in memory."""

    store: TableStore
    manifest: TableManifest
    space: Space
    encoding: Encoding
    quotient: Quotient | None = None
    """How a search finds the entries of a reduced table; None if all positions have a value in memory."""
    bundles: Bundles | None = None
    """The words of a table whose distances are clipped; None if they are not."""

    @property
    def numbering(self) -> Numbering:
        """The numbering in which a search follows positions."""
        if self.bundles is not None:
            return self.bundles.rows.numbering
        return self.space.numbering.full_numbering if self.quotient is None else self.quotient.numbering

    @property
    def size(self) -> int:
        """Size of its values in bytes, without those in words."""
        if self.bundles is not None:
            return 0
        return self.encoding.size(self.numbering.size if self.quotient is None else self.manifest.index_size)

    def values(self, pulse: Heartbeat, into: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """Return its values, in ``into`` if given; raise StoreDamagedError if the store is corrupt."""
        numbering = self.space.numbering
        if self.quotient is None and isinstance(numbering, Reduced):
            found = expanded(self.store, self.manifest, numbering, self.encoding, pulse)
            if into is None:
                return found
            into[:] = found
            return into
        return values_of(self.store, self.manifest, self.encoding, pulse, into)


def load_patterns(
    rules: Rules, goal: ArrayLike | GoalTest | None, addresses: Sequence[Address], pulse: Heartbeat = no_pulse
) -> Patterns:
    """Load the tables at these addresses, and return their heuristic for a goal (by default the start).

    ``pulse`` is called repeatedly during the loading; an error that it raises ends the loading.

    Raises
    ------
    InputError
        The puzzle is not a sliding puzzle with one blank, and some of its moves are not legal everywhere; there are
        several goals, or no tables; or a table belongs to another board, another goal, or a puzzle that is not a
        pattern of this puzzle.
    UnfinishedError
        A table is unfinished.
    ResourceLimitError
        The tables take more memory than is free.
    NotAStoreError, StoreDamagedError
        There is no table at an address, or it is corrupt.
    """
    if not addresses:
        raise InputError(f"no pattern tables given; name at least one with {option('tables')}")
    if callable(goal):
        raise InputError("pattern tables need one goal, and the goal pattern matches too many positions to list them")
    goals = goals_of(rules, goal)
    if len(goals) > 1:
        raise InputError(f"pattern tables need a puzzle with one goal; {rules.name} has {len(goals)}")
    if swap_edges(rules) is not None:
        return _of_swaps(rules, goals[0], _stored(addresses, pack=False), pulse)
    return _of_turns(rules, goals[0], _stored(addresses, pack=True), pulse)


def _of_swaps(rules: Rules, goal: Labels, stored: Sequence[_Stored], pulse: Heartbeat) -> SlidingPatterns:
    if rules.counts[0] != 1 or rules.layout is None:
        raise InputError(f"pattern tables need a sliding puzzle with one blank, but {rules.name} is not such a puzzle")
    aim = Problem(rules, goal, goal[np.newaxis])
    _check_expansion(stored)
    fitting = [_pattern(aim, one) for one in stored]
    _check_memory(sum(one.size for one in stored))
    values = [one.values(pulse) for one in stored]
    tables = [replace(table, values=own) for table, own in zip(fitting, values, strict=True)]
    return SlidingPatterns.of(rules, goal, tables, costs_of_pieces(aim.rules, aim.goals))


def _of_turns(rules: Rules, goal: Labels, stored: Sequence[_Stored], pulse: Heartbeat) -> PermutationPatterns:
    abstractions = [abstraction_of(rules, goal, one.space.rules) for one in stored]
    opened = [_with_lookups(one, clip, pulse) for one, clip in zip(stored, _to_clip(rules, stored), strict=True)]
    _check_expansion(opened)
    begins = accumulate((one.size for one in opened), initial=0)
    tables = [
        PermutationTable(one.space.rules, one.numbering, abstraction, begin, one.encoding, one.quotient, one.bundles)
        for one, abstraction, begin in zip(opened, abstractions, begins, strict=False)
    ]
    for table in tables:
        table.digits  # noqa: B018  (raises an error before anything is read)
    size = sum(one.size for one in opened)
    _check_memory(size)
    values = np.empty(size, dtype=np.uint8)
    for one, table in zip(opened, tables, strict=True):
        if one.bundles is None:
            one.values(pulse, values[table.begin : table.begin + one.size])
    return PermutationPatterns.of(rules, goal, tables, values, available_memory() // 2)


def _to_clip(rules: Rules, stored: Sequence[_Stored]) -> list[bool]:
    """Return for each table whether its distances are clipped.

    This is the case for the largest reduced table if it is too large for step tables. Clipped distances do not
    distinguish short distances, so another table has to stay exact.
    """
    sizes = [one.manifest.index_size if one.manifest.symmetry > 1 else 0 for one in stored]
    largest = max(sizes)
    if largest < MAX_EXACT_ENTRIES or len(stored) == 1 or len(rules.moves) > MAX_MOVES:
        return [False] * len(stored)
    return [number == sizes.index(largest) for number in range(len(stored))]


def _with_lookups(stored: _Stored, clip: bool, pulse: Heartbeat) -> _Stored:
    """Return a table with its bundles or its quotient, which a search needs to look up entries of a reduced table."""
    if stored.manifest.symmetry == 1:
        return stored
    bundles = _bundles(stored, pulse) if clip else None
    if bundles is not None:
        return stored._replace(bundles=bundles)
    return stored._replace(quotient=cached_quotient(stored.space, stored.manifest, pulse))


def _bundles(stored: _Stored, pulse: Heartbeat) -> Bundles | None:
    """Return the bundles of a reduced table, from the cache if possible; None if there are none.

    Raises ResourceLimitError if they take more memory than is free.
    """
    rows, manifest = bundle_rows(stored.space), stored.manifest
    if rows is None:
        return None
    size = bytes_of_bundles(rows, manifest)
    _check_memory(size)
    found = cached_bundles(manifest, rows, pulse)
    if found is not None:
        return found
    _check_memory(size + bytes_to_make(rows, manifest))
    return made_bundles(stored.store, manifest, stored.space, rows, pulse)


def _stored(addresses: Sequence[Address], pack: bool) -> list[_Stored]:
    """Return the finished tables at some addresses; with ``pack``, in half a byte per entry if that is enough."""
    stores = [TableStore(address) for address in addresses]
    manifests = [_finished(store) for store in stores]
    encodings = [HALVES if pack and fits_halves(manifest) else BYTES for manifest in manifests]
    spaces = [space_of(*one) for one in zip(stores, manifests, strict=True)]
    return [_Stored(*one) for one in zip(stores, manifests, spaces, encodings, strict=True)]


def _finished(store: TableStore) -> TableManifest:
    manifest = store.read()
    if not manifest.complete:
        raise UnfinishedError(f"{store.address} is unfinished; resume with: antipodes resume {in_shell(store.address)}")
    if manifest.space not in KINDS:
        raise InputError(
            f"{shorten(store.address)} cannot be used as a pattern table: "
            f"a search cannot follow moves in a table of the kind {manifest.space}"
        )
    if manifest.dtype != "uint8":
        raise InputError(
            f"{shorten(store.address)} cannot be used as a pattern table: its depths are {manifest.dtype}, not uint8"
        )
    return manifest


def _check_expansion(stored: Sequence[_Stored]) -> None:
    """Raise InputError if a reduced table has too many positions to compute a value for each of them."""
    for one in stored:
        reduced = one.manifest.symmetry > 1 and one.quotient is None and one.bundles is None
        if reduced and one.manifest.numbered > MAX_EXPANDED:
            raise InputError(
                f"{shorten(one.store.address)} cannot be used as a pattern table: it is reduced and has "
                f"{one.manifest.numbered:,} positions, more than the limit of {MAX_EXPANDED:,}; run it again with "
                f"{option('symmetry', 'off')} and {option('overwrite', True)}"
            )


def _check_memory(size: int) -> None:
    """Raise ResourceLimitError if tables that take ``size`` bytes need more memory than is free."""
    if size > available_memory():
        raise ResourceLimitError(
            f"the pattern tables take {size:,} bytes of memory, but only {available_memory():,} are free"
        )


def _pattern(aim: Problem, stored: _Stored) -> PatternTable:
    """Return the table of a store, without its values, and check that it matches the puzzle and the goal."""
    puzzle = stored.manifest.config.puzzle
    moves = puzzle.moves
    if moves.ends is None:
        raise InputError(
            f"{puzzle.name} in {shorten(stored.store.address)} cannot be used as a pattern table: "
            "it is not a sliding puzzle with moves of one tile"
        )
    rows = SwapRows(puzzle.rules, stored.numbering)
    if frozenset(rows.edges) != swap_edges(aim.rules):
        raise InputError(
            f"{option('tables')}: the pattern table {puzzle.name} is not for the board of {aim.rules.name}"
        )
    label_of = _merged_labels(aim, puzzle) if moves.free is None else _labels_in(aim.rules, puzzle, moves.free)
    goal = moves.canonical(label_of[aim.position])
    if not np.array_equal(puzzle.start_labels, goal[np.newaxis]):
        expected, found = puzzle.format(goal), puzzle.format(puzzle.start_labels[0])
        raise InputError(
            f"{puzzle.name} has the wrong goal for this search: expected {shorten(expected)}, found {shorten(found)}"
        )
    return PatternTable(puzzle.name, rows, label_of)


def _labels_in(rules: Rules, pattern: Puzzle, free: int) -> NDArray[np.uint8]:
    """Return for each label of the puzzle its label in a pattern, or ``free`` for tiles whose moves do not count.

    Raises InputError if the puzzle does not have a tile of the pattern, or has a different number of copies of it.
    """
    symbols = rules.symbols
    own = {symbol: label for label, symbol in enumerate(pattern.symbols) if label not in (EMPTY, free)}
    for symbol, label in own.items():
        here = rules.counts[symbols.index(symbol)] if symbol in symbols else 0
        if here != pattern.counts[label]:
            raise InputError(
                f"the number of tiles named {symbol} is {pattern.counts[label]} in {pattern.name}, "
                f"but {here} in {rules.name}"
            )
    return np.array([EMPTY, *(own.get(symbol, free) for symbol in symbols[1:])], dtype=np.uint8)


def _merged_labels(aim: Problem, pattern: Puzzle) -> NDArray[np.uint8]:
    """Return for each label of the puzzle the label at its goal place in a pattern in which all moves count.

    Raises InputError if identical tiles become different tiles, or the blank becomes a tile.
    """
    label_of = np.zeros(len(aim.rules.symbols), dtype=np.uint8)
    starts = pattern.start_labels
    label_of[aim.position] = starts[0]
    if len(starts) > 1 or not np.array_equal(label_of[aim.position], starts[0]) or label_of[EMPTY] != EMPTY:
        raise InputError(
            f"{pattern.name} is not a pattern of {aim.rules.name}: "
            "its start must be the goal, with some tiles made identical"
        )
    return label_of
