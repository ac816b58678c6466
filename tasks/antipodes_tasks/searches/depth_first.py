"""Depth-first search to a fixed depth, in steps: each call resumes where the previous call stopped.

This module contains the kernel for swaps with empty places, which uses a heuristic; `word_dfs` contains the kernel for
transforms. Goals are recognized only at exactly the given depth.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers, Words
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.properties.lower_bounds import Lookups, TableSum
from antipodes_tasks.properties.piece_distances import costs_of_label
from antipodes_tasks.rules.swaps import reversed_edges, sorted_swaps, swap_edges
from antipodes_tasks.searches.answer import PATH_BYTES, check_listing
from antipodes_tasks.searches.problem import Problem, Request

FAR = 1 << 62
DEPTH, EXPANDED, FOUND, NEXT_BOUND, GENERATED = range(5)
"""Indices of the counters in a kernel's tally; GENERATED, the number of successors generated, is optional."""
ZERO, ONE = np.uint64(0), np.uint64(1)
NOTHING = ~ZERO
"""Stands for no move."""


class Pass(NamedTuple):
    """The result of a search to one depth."""

    paths: list[Labels]
    found: int
    following: int
    """Minimum estimated length of the paths that were pruned, which is the next depth to search."""


@dataclass(frozen=True, eq=False, slots=True)
class Descent:
    """A search to one depth, in steps."""

    advance: Callable[[int], bool]
    """Function that expands about as many positions as its argument, and returns whether the search is complete."""
    tally: NDArray[Any]
    result: Callable[[], Pass]

    @property
    def expanded(self) -> int:
        """Number of positions expanded so far."""
        return int(self.tally[EXPANDED])

    @property
    def generated(self) -> int | None:
        """Number of successors generated so far, if they are counted."""
        return int(self.tally[GENERATED]) if len(self.tally) > GENERATED else None

    @property
    def found(self) -> int:
        """Number of paths found so far."""
        return int(self.tally[FOUND])


def room_for_paths(depth: int, request: Request, dtype: type[np.integer[Any]], length: int) -> NDArray[Any]:
    """Return an empty array ``(paths, length)`` for the paths that a kernel finds, within the memory limit."""
    fitting = max(1, request.memory_limit // (PATH_BYTES + 8 * (depth + 1))) if request.every else 1
    return np.empty((min(request.listed, fitting), length), dtype=dtype)


def paths_to_list(paths: NDArray[Any], found: int, problem: Problem, request: Request) -> NDArray[Any]:
    """Return the paths to list; raise ResourceLimitError if they take too much memory."""
    if request.every:
        check_listing(min(found, request.listed), paths.shape[1], problem.rules.places, request.memory_limit)
    return paths[:found]


def replayed(
    tally: Numbers, paths: NDArray[Any], problem: Problem, request: Request, numbers: Numbers | None = None
) -> Pass:
    """Return the result of a complete search by a kernel that has written the moves of the paths to ``paths``.

    ``numbers`` contains the number of each of the kernel's moves among the moves of the puzzle, if they differ.
    """
    _, _, found, following = tally.tolist()
    taken = paths_to_list(paths, found, problem, request)
    return Pass(problem.replay(taken if numbers is None else numbers[taken]), found, following)


class _Stack(NamedTuple):
    """The state of a search by swaps; in arrays with one entry per depth, index 0 is the root."""

    labels: Labels
    """The current position ``(places,)``."""
    candidate: Words
    """``(bound + 1,)``: the move to be tried next."""
    end: Words
    """``(bound + 1,)``: one past the last move to be tried."""
    taken: Words
    """``(bound,)``: the move from each depth to the next."""
    estimates: Numbers
    """``(bound + 1,)``: the heuristic at each depth."""
    tally: Numbers
    """``[DEPTH, EXPANDED, FOUND, NEXT_BOUND]``; NEXT_BOUND is the minimum estimated length of a pruned path."""


class _Swaps(NamedTuple):
    """Swaps as arrays, sorted by destination and origin."""

    origin: Words
    destination: Words
    next_group: Words
    """``(moves,)``: the first later move with a different destination."""
    inverse: Words
    first_of: Words
    """``(places + 1,)``: the first move to each place, if there is one blank; empty if there are several."""
    away: Numbers
    """``(places,)``: the number of moves that take the blank from each place to its place in a goal; 0 if there are
    several blanks.
    """
    gains: Numbers
    """``(moves, labels)``: the change of the sum of single-piece tables; the zero heuristic has no rows."""


def descent_by_swaps(depth: int, problem: Problem, tables: TableSum, request: Request) -> Descent:
    """Return the search for paths of ``depth`` moves, if all moves are swaps, pruned by the sum of tables."""
    swaps, numbers = _swaps(problem, tables)
    stack = _Stack(
        labels=problem.position.copy(),
        candidate=np.zeros(depth + 1, dtype=np.uint64),
        end=np.full(depth + 1, len(numbers), dtype=np.uint64),
        taken=np.zeros(depth, dtype=np.uint64),
        estimates=np.full(depth + 1, tables.estimate(problem.position)),
        tally=np.array([0, 1, 0, FAR]),
    )
    if len(swaps.first_of):
        stack.candidate[0], stack.end[0] = swaps.first_of[problem.position.argmin() :][:2]
    paths = room_for_paths(depth, request, np.uint64, depth)
    known = (tables.numbers(problem.position), tables.lookups, problem.goals, swaps, paths, request.every)

    return Descent(
        lambda budget: _descend_by_swaps(stack, budget, *known),
        stack.tally,
        lambda: replayed(stack.tally, paths, problem, request, numbers),
    )


def _swaps(problem: Problem, tables: TableSum) -> tuple[_Swaps, Numbers]:
    """Return the swaps, without repeats, and the number of each swap among the moves of the puzzle."""
    edges, pairs = swap_edges(problem.rules), problem.rules.moves.pairs
    assert edges is not None
    assert pairs is not None
    places, costs = problem.rules.places, tables.costs
    destination, origin, numbers = sorted_swaps(pairs, places)
    ends = destination * places + origin
    backwards = origin * places + destination
    undo = np.minimum(np.searchsorted(ends, backwards), max(0, len(ends) - 1))
    away, first_of = np.zeros(places, dtype=np.int64), np.empty(0, dtype=np.uint64)
    if problem.rules.counts[0] == 1:
        away = costs_of_label(0, problem.goals, reversed_edges(edges))
        first_of = np.searchsorted(destination, np.arange(places + 1)).astype(np.uint64)
    swaps = _Swaps(
        origin.astype(np.uint64),
        destination.astype(np.uint64),
        np.asarray(np.searchsorted(destination, destination, side="right"), dtype=np.uint64),
        np.where(ends[undo] == backwards, undo, -1).astype(np.uint64),
        first_of,
        away,
        gains=costs if tables.is_zero else (costs[:, destination] - costs[:, origin]).T.copy(),
    )
    return swaps, numbers


@kernel
def _descend_by_swaps(
    stack: _Stack,
    budget: int,
    numbers: Words,
    lookups: Lookups,
    goals: Labels,
    swaps: _Swaps,
    paths: Words,
    every: bool,
) -> bool:
    """Continue the search for about ``budget`` expansions; return whether it is complete.

    ``numbers`` ``(tables,)`` are the numbers of the current position in the tables of the heuristic. The moves of the
    paths found are written to ``paths`` ``(n, depth)`` while there is room.
    """
    # Arrays are unpacked into local variables, because numba counts references when arrays are passed in tuples, which
    # takes longer than a move. Indices are unsigned, so numba does not check for negative values.
    labels, candidate, ends, taken, estimates, tally = stack
    origin, destination, next_group, inverse, first_of, away, gains = swaps
    table_of, weights, values = lookups
    greatest, one_blank, guided, tables = np.uint64(len(taken)), len(first_of) > 0, len(gains) > 0, len(numbers) > 0
    depth, expanded, next_bound = np.uint64(tally[DEPTH]), tally[EXPANDED], tally[NEXT_BOUND]
    stop, over = expanded + budget, False
    move, end, estimate = candidate[depth], ends[depth], estimates[depth]
    back = inverse[taken[depth - ONE]] if depth else NOTHING
    while expanded < stop:
        if move >= end:
            if depth == ZERO:
                over = True
                break
            depth -= ONE
            a, b = origin[taken[depth]], destination[taken[depth]]
            if tables:
                _renumber(numbers, labels[b], b, a, table_of, weights)
            labels[a], labels[b] = labels[b], 0
            move, end, estimate = candidate[depth], ends[depth], estimates[depth]
            back = inverse[taken[depth - ONE]] if depth else NOTHING
            continue
        this, a, b = move, origin[move], destination[move]
        if labels[b] != 0:
            move = next_group[this]
            continue
        move += ONE
        piece = labels[a]
        if piece == 0 or this == back:
            continue
        value = estimate
        if guided:
            value += gains[this, piece]
            if tables:
                value += _gain(numbers, piece, a, b, table_of, weights, values)
        total = np.int64(depth) + 1 + max(value, away[a])
        if total > greatest:
            next_bound = min(next_bound, total)
            continue
        if depth + ONE == greatest:
            next_bound = min(next_bound, total + 1)
            if swap_leads_to_goal(labels, a, b, goals):
                taken[depth] = this
                if tally[FOUND] < len(paths):
                    paths[tally[FOUND]] = taken
                tally[FOUND] += 1
                over = not every
                if over:
                    break
            continue
        if tables:
            _renumber(numbers, piece, a, b, table_of, weights)
        labels[a], labels[b] = 0, piece
        candidate[depth], taken[depth] = move, this
        depth, expanded, estimate, back = depth + ONE, expanded + 1, value, inverse[this]
        move, end = (first_of[a], first_of[a + ONE]) if one_blank else (ZERO, np.uint64(len(origin)))
        ends[depth], estimates[depth] = end, estimate
    candidate[depth] = move
    tally[DEPTH], tally[EXPANDED], tally[NEXT_BOUND] = depth, expanded, next_bound
    return over


@kernel
def swap_leads_to_goal(labels: Labels, origin: np.uint64, destination: np.uint64, goals: Labels) -> bool:
    """Return whether moving a piece to an empty place leads to one of the goals."""
    places = np.uint64(len(labels))
    for goal in range(len(goals)):
        if goals[goal, origin] == 0 and goals[goal, destination] == labels[origin]:
            p = ZERO
            while p < places and (labels[p] == goals[goal, p] or p == origin or p == destination):  # noqa: SIM109
                p += ONE
            if p == places:
                return True
    return False


@kernel
def _gain(
    numbers: Words, piece: int, source: np.uint64, target: np.uint64, table_of: Words, weights: Words, values: Labels
) -> np.int64:
    """Return the change of the sum of all tables when a piece moves."""
    gain = np.int64(0)
    for i in range(np.uint64(table_of.shape[1])):
        left, entered = numbers[table_of[source, i]], numbers[table_of[target, i]]
        less, more = left - weights[piece, source, i], entered + weights[piece, target, i]
        if table_of[source, i] == table_of[target, i]:
            gain += np.int64(values[less + more - left]) - np.int64(values[left])
        else:
            gain += np.int64(values[less]) - np.int64(values[left])
            gain += np.int64(values[more]) - np.int64(values[entered])
    return gain


@kernel
def _renumber(
    numbers: Words, piece: int, source: np.uint64, target: np.uint64, table_of: Words, weights: Words
) -> None:
    """Update the position's numbers in the tables after the move of a piece."""
    for i in range(np.uint64(table_of.shape[1])):
        numbers[table_of[source, i]] -= weights[piece, source, i]
        numbers[table_of[target, i]] += weights[piece, target, i]


@kernel
def lead_to_same(
    labels: Labels, row: np.uint64, one: np.uint64, other: np.uint64, effects: Numbers, moduli: Numbers
) -> bool:
    """Return whether two moves lead from the position in a row of ``labels`` ``(n, places)`` to the same position.

    ``effects`` ``(moves, 2, places)`` contains, for each place, the place from which it gets its label, and the number
    added; ``moduli`` ``(places,)`` the number of values of each place.
    """
    for place in range(len(moduli)):
        first = np.int64(labels[row, effects[one, 0, place]]) + effects[one, 1, place]
        second = np.int64(labels[row, effects[other, 0, place]]) + effects[other, 1, place]
        if first != second and abs(first - second) != moduli[place]:
            return False
    return True
