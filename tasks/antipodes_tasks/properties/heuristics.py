"""Admissible heuristics by name. Most are sums of tables, and after a move a search looks up only the affected tables.

The Manhattan distance consists of one table per tile; linear conflict adds one table per row and column. A stronger
sum only needs more tables; the searches stay the same. The gap heuristic of pancakes is in `gaps`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.properties.gaps import Gaps
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import UNREACHABLE, Edges, distances_to, swap_edges

Numbers = NDArray[np.int64]
Words = NDArray[np.uint64]
Name = Literal["manhattan", "linear-conflict", "gap"]
NAMES: tuple[Name, ...] = get_args(Name)
GAP: Name = "gap"
TURNS_OVER = "turn over the top of a stack of different pieces"
SMALL = 9
"""Maximum number of places of a small board: building linear-conflict tables for it takes longer than it saves."""
LINE = 7
"""Maximum number of places of a row or column with one conflict table, which takes 2 MB; longer ones are divided."""
UNREACHABLE_COST = 1 << 20
"""Cost of a place from which a piece cannot reach a goal: more than the moves of any search."""


class BoundTable(NamedTuple):
    """Lower bounds on the number of moves of some pieces. The index, called the *number* of a position in the table, is
    computed from the labels on some places.
    """

    places: Numbers
    """``(k,)``: the places that determine the number."""
    weights: Numbers
    """``(labels, k)``: the contribution of each label on each of these places to the number."""
    values: NDArray[np.uint8]
    """``(numbers,)``: the lower bounds."""

    def of(self, labels: Labels) -> Numbers:
        """Return the numbers ``(n,)`` of positions ``(n, places)``."""
        numbers: Numbers = self.weights[labels[:, self.places], np.arange(len(self.places))].sum(axis=1)
        return numbers


class Lookups(NamedTuple):
    """The tables of several pieces as arrays for kernels, which look up only the tables that a move affects."""

    table_of: Words
    """``(places, k)``: the tables that depend on each place; ``k`` is 0 if there are none."""
    weights: Words
    """``(labels, places, k)``: the contribution of each label on each place to the numbers of these tables."""
    values: NDArray[np.uint8]
    """The values of all tables, concatenated; a table's numbers start at the offset of its values."""


@dataclass(frozen=True, eq=False)
class Heuristic:
    """A lower bound of the distance to a goal: the sum of tables that count different moves."""

    costs: Numbers
    """``(labels, places)``: the tables of single pieces, indexed by place; the zero heuristic has no rows."""
    tables: tuple[BoundTable, ...] = ()
    """Tables of several pieces; all places are in the same number of tables."""

    @property
    def is_zero(self) -> bool:
        """Whether the heuristic prunes nothing."""
        return len(self.costs) == 0

    def estimate(self, position: Labels) -> int:
        """Return the heuristic of one position ``(places,)``."""
        return int(self.bounds(position[np.newaxis])[0])

    def bounds(self, labels: Labels) -> Numbers:
        """Return the heuristic ``(n,)`` of positions ``(n, places)``."""
        totals = np.zeros(len(labels), dtype=np.int64)
        if not self.is_zero:
            totals += self.costs[labels, np.arange(labels.shape[1])].sum(axis=1)
        for table in self.tables:
            totals += table.values[table.of(labels)]
        return totals

    def numbers(self, position: Labels) -> Words:
        """Return the index of a position in each table, as offsets for `Lookups`, ``(tables,)``."""
        own = [int(table.of(position[np.newaxis])[0]) for table in self.tables]
        return (np.array(own, dtype=np.int64) + self._begins).astype(np.uint64)

    @cached_property
    def lookups(self) -> Lookups:
        """The heuristic as arrays for kernels."""
        labels, places = self.costs.shape
        reading = [[t for t, table in enumerate(self.tables) if place in table.places] for place in range(places)]
        table_of = np.array(reading, dtype=np.int64).reshape(places, len(reading[0]) if reading else 0)
        weights = np.zeros((labels, *table_of.shape), dtype=np.int64)
        for place, i in np.ndindex(table_of.shape):
            table = self.tables[table_of[place, i]]
            weights[:, place, i] = table.weights[:, np.flatnonzero(table.places == place)[0]]
        values = [table.values for table in self.tables]
        return Lookups(
            table_of.astype(np.uint64),
            weights.astype(np.uint64),
            np.concatenate([np.empty(0, dtype=np.uint8), *values]),
        )

    @property
    def _begins(self) -> Numbers:
        """Offset of each table's values among the values of all tables."""
        return np.cumsum([0, *(len(table.values) for table in self.tables)], dtype=np.int64)[:-1]


def zero_heuristic() -> Heuristic:
    """Return the zero heuristic, which prunes nothing."""
    return Heuristic(np.empty((0, 0), dtype=np.int64))


def has_heuristic(rules: Rules) -> bool:
    """Return whether `heuristic_of` supports the moves of the puzzle."""
    return swap_edges(rules) is not None or Gaps.of(rules, rules.start_labels) is not None


def heuristic_of(rules: Rules, goals: Labels, name: Name | None = None) -> Heuristic | Gaps:
    """Return the heuristic with a name, by default the strongest for the puzzle.

    ``manhattan`` is the sum, over all pieces, of the moves to the nearest goal place of their label on an otherwise
    empty board: on a grid, the Manhattan distance. ``linear-conflict`` adds two for every tile that has to leave its
    row or column to let others pass (O. Hansson, A. Mayer and M. Yung, Criticizing solutions to relaxed models yields
    powerful admissible heuristics, 1992); it requires a rectangle of sliding tiles. ``gap`` is the heuristic of
    pancakes and burnt pancakes, see `gaps`.

    Raises
    ------
    InputError
        No heuristic supports the moves of the puzzle, or the named one does not, or there is no heuristic with this
        name.
    """
    if name is not None:
        arguments.choice(name, "a heuristic", NAMES)
    edges = swap_edges(rules)
    gaps = Gaps.of(rules, goals) if edges is None else None
    if gaps is not None and name in (None, GAP):
        return gaps
    if name == GAP:
        raise InputError(
            f"gap needs moves that turn over the top of a stack of different pieces; {rules.name} is no such puzzle"
        )
    if gaps is not None:
        raise InputError(f"{name} needs moves that take one piece to an empty place; choose gap")
    if edges is None:
        raise InputError(
            "no heuristic is known for the moves of this puzzle; give a function as heuristic, or choose iddfs or bfs"
        )
    sliding = is_grid(rules, edges)
    best: Name = "linear-conflict" if sliding and rules.places > SMALL else "manhattan"
    name = best if name is None else name
    if name == "linear-conflict" and not sliding:
        raise InputError("linear-conflict needs tiles that slide on a full rectangle; choose manhattan")
    tables = _line_tables(rules, goals) if name == "linear-conflict" else ()
    return Heuristic(costs_of_pieces(rules, goals), tables)


def from_start(rules: Rules, name: str) -> Callable[[Labels], NDArray[np.int64]]:
    """Return the named heuristic for distances from the nearest start, a function from ``(n, places)`` to ``(n,)``.

    Raises
    ------
    InputError
        As for `heuristic_of`; or some move is irreversible, so that the distance to a start may differ from the
        distance from this start.
    """
    arguments.choice(name, "a heuristic", NAMES)
    if not has_heuristic(rules):
        needed = (
            "turn over the top of a stack of different pieces" if name == GAP else "take one piece to an empty place"
        )
        raise InputError(f"{name} needs moves that {needed}; {rules.name} has other moves")
    if not rules.moves.reversible:
        raise InputError(f"{name} needs reversible moves, since it counts the moves to the start")
    return heuristic_of(rules, rules.start_labels, name).bounds  # type: ignore[arg-type]


def is_grid(rules: Rules, edges: Edges) -> bool:
    """Return whether there is one blank and the edges connect exactly the adjacent squares of a full rectangle."""
    board = rules.board
    if board.holes or board.places != rules.places:
        return False
    squares = np.arange(board.places).reshape(board.rows, board.columns)
    across = zip(squares[:, :-1].flat, squares[:, 1:].flat, strict=True)
    down = zip(squares[:-1].flat, squares[1:].flat, strict=True)
    forward = {(int(a), int(b)) for pairs in (across, down) for a, b in pairs}
    return rules.counts[0] == 1 and edges == forward | {(b, a) for a, b in forward}


def costs_of_pieces(rules: Rules, goals: Labels) -> NDArray[np.int64]:
    """Return each piece's number of moves to its nearest goal, ``(labels, places)``; UNREACHABLE_COST if impossible."""
    edges, places = swap_edges(rules) or frozenset(), rules.places
    costs = np.zeros((len(rules.symbols), places), dtype=np.int64)
    for label in range(1, len(costs)):
        goal_places = set(np.nonzero(goals == label)[1].tolist())
        distances = distances_to(goal_places, edges, places)
        costs[label] = np.where(distances == UNREACHABLE, UNREACHABLE_COST, distances)
    return costs


def _only_goals(rules: Rules, goals: Labels) -> NDArray[np.int64]:
    """Return the goal place ``(labels,)`` of each label, or -1 for a label with several."""
    goal_of = np.full(len(rules.symbols), -1, dtype=np.int64)
    for label in range(1, len(goal_of)):
        places = set(np.nonzero(goals == label)[1].tolist())
        if len(places) == 1:
            goal_of[label] = places.pop()
    return goal_of


def _line_tables(rules: Rules, goals: Labels) -> tuple[BoundTable, ...]:
    """Return a table for each row and column: two moves for every tile that has to leave it to let others pass."""
    goal_of = _only_goals(rules, goals)
    squares = np.arange(rules.places).reshape(rules.board.rows, -1)
    lines = [line[first : first + LINE] for line in (*squares, *squares.T) for first in range(0, len(line), LINE)]
    return tuple(_line_table(line, goal_of) for line in lines)


def _line_table(line: Numbers, goal_of: Numbers) -> BoundTable:
    """Return the table of a line. Its number has one digit per place: the goal of the tile there, counted from 1 along
    the line, or 0 if the tile's goal is not on the line.
    """
    size = len(line)
    digits = np.where(np.isin(goal_of, line), np.searchsorted(line, goal_of) + 1, 0)
    return BoundTable(line, digits[:, np.newaxis] * (size + 1) ** np.arange(size), _tiles_leaving(size))


@cache
def _tiles_leaving(size: int) -> NDArray[np.uint8]:
    """Return the values of a line's table: two moves for each tile that must leave the line.

    The goals of the tiles that stay must be in ascending order, so at most a longest ascending subsequence can stay.
    """
    digits = np.arange((size + 1) ** size) // (size + 1) ** np.arange(size)[:, np.newaxis] % (size + 1)
    longest = np.zeros(digits.shape, dtype=np.uint8)  # length of the longest subsequence that ends at each place
    for i in range(size):
        before = np.where(digits[:i] < digits[i], longest[:i], 0).max(axis=0, initial=0)
        longest[i] = np.where(digits[i] > 0, before + 1, 0)
    leaving: NDArray[np.int64] = (digits > 0).sum(axis=0) - longest.max(axis=0)
    return (2 * leaving).astype(np.uint8)
