"""Depth-first search down to a bound where one blank moves over a graph: the fast case of `word_kernels`.

Arrays come one by one: a tuple of them would be counted in and out at every call, which costs more than a move.
"""

# ruff: noqa: SIM109 (a comparison with a tuple costs more)

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel

Numbers = NDArray[np.int64]
Indices = NDArray[np.uint64]
Position = NDArray[np.uint8]
DEPTH, EXPANDED, FOUND, NEXT_BOUND = range(4)
ONE = np.uint64(1)


@kernel
def descend(
    labels: Position,
    blanks: Indices,
    cursors: Indices,
    estimates: Numbers,
    tally: Numbers,
    budget: int,
    goals: NDArray[np.uint8],
    origin_at: Indices,
    origins: Indices,
    away: Numbers,
    costs: Numbers,
    goal_of: Numbers,
    line_of: Numbers,
    lines: Numbers,
    paths: Indices,
    every: bool,
) -> bool:
    """Whether the search is over; otherwise it has expanded ``budget`` positions and must be called again.

    ``blanks`` ``(depth + 1,)`` is the path of the blank, ``cursors`` the next entry of ``origins`` to try at each
    depth; the pieces that can move onto place ``p`` are on ``origins[origin_at[p] : origin_at[p + 1]]``. ``away`` is
    how far each place is for the blank from where it has to be in the end. A goal counts at the greatest depth only.
    """
    # Indices without a sign need no test for counting from the end.
    greatest = len(blanks) - 1
    longest = np.empty(lines.shape[1], np.int64)
    guided, lined = len(costs) > 0, len(lines) > 0
    depth, expanded, next_bound = tally[DEPTH], tally[EXPANDED], tally[NEXT_BOUND]
    stop = expanded + budget
    blank, before = blanks[depth], blanks[max(0, depth - 1)]
    cursor, end, estimate = cursors[depth], origin_at[blank + ONE], estimates[depth]
    while expanded < stop:
        if cursor == end:
            depth -= 1
            if depth < 0:
                break
            labels[blank], labels[before] = labels[before], labels[blank]
            blank, before = before, blanks[max(0, depth - 1)]
            cursor, end, estimate = cursors[depth], origin_at[blank + ONE], estimates[depth]
            continue
        place = origins[cursor]
        cursor += ONE
        if place == before:
            continue
        value = estimate
        if guided:
            label = labels[place]
            value += costs[label, blank] - costs[label, place]
            if lined:
                value += change_of_conflicts(labels, place, blank, goal_of, line_of, lines, longest)
        total = depth + 1 + max(value, away[place])
        if total > greatest:
            next_bound = min(next_bound, total)
            continue
        if depth + 1 == greatest:
            if leads_to_goal(labels, place, blank, goals):
                blanks[greatest] = place
                if tally[FOUND] < len(paths):
                    paths[tally[FOUND]] = blanks
                tally[FOUND] += 1
                if not every:
                    break
            next_bound = min(next_bound, greatest + 1)
            continue
        labels[blank], labels[place] = labels[place], labels[blank]
        cursors[depth] = cursor
        depth += 1
        before, blank = blank, place
        blanks[depth] = place
        cursor, end, estimate = origin_at[place], origin_at[place + ONE], value
        estimates[depth] = value
        expanded += 1
    if depth >= 0:
        cursors[depth] = cursor
    tally[DEPTH], tally[EXPANDED], tally[NEXT_BOUND] = depth, expanded, next_bound
    return bool(depth < 0 or (tally[FOUND] > 0 and not every))


@kernel
def leads_to_goal(labels: Position, place: int, blank: int, goals: NDArray[np.uint8]) -> bool:
    """Whether the move of the tile on ``place`` to the blank makes the position one of the goals."""
    places = np.uint64(len(labels))
    for goal in range(len(goals)):
        if goals[goal, place] == 0 and goals[goal, blank] == labels[place]:
            other = np.uint64(0)
            while other < places and (labels[other] == goals[goal, other] or other == place or other == blank):
                other += ONE
            if other == places:
                return True
    return False


@kernel
def change_of_conflicts(
    labels: Position, a: int, b: int, goal_of: Numbers, line_of: Numbers, lines: Numbers, longest: Numbers
) -> int:
    """The change of the moves out of lines, if the tile on ``a`` moves to the blank on ``b``."""
    change = 0
    for after in range(2):
        sign = 2 * after - 1
        for axis in range(2):
            if line_of[a, axis] != line_of[b, axis]:
                change += sign * tiles_leaving(labels, line_of[a, axis], axis, goal_of, line_of, lines, longest)
                change += sign * tiles_leaving(labels, line_of[b, axis], axis, goal_of, line_of, lines, longest)
        labels[a], labels[b] = labels[b], labels[a]
    return 2 * change


@kernel
def tiles_leaving(
    labels: Position, line: int, axis: int, goal_of: Numbers, line_of: Numbers, lines: Numbers, longest: Numbers
) -> int:
    """A lower bound of the tiles that must leave a line that they are in and belong to.

    Tiles that stay are in ascending order of their goals, so at most the longest ascending subsequence stays.
    ``longest`` is scratch space for its length up to each place.
    """
    count = best = 0
    for i in range(lines.shape[1]):
        longest[i] = 0
        if lines[line, i] < 0:
            break
        goal = goal_of[labels[lines[line, i]]]
        if goal < 0 or line_of[goal, axis] != line:
            continue
        count += 1
        longest[i] = 1
        for j in range(i):
            if longest[j] >= longest[i] and goal_of[labels[lines[line, j]]] < goal:
                longest[i] = longest[j] + 1
        best = max(best, longest[i])
    return count - best


@kernel
def estimate(labels: Position, costs: Numbers, goal_of: Numbers, line_of: Numbers, lines: Numbers) -> int:
    """The heuristic of a position."""
    total = 0
    if len(costs):
        for place in range(len(labels)):
            total += costs[labels[place], place]
    longest = np.empty(lines.shape[1], np.int64)
    for line in range(len(lines)):
        axis = 0 if line_of[lines[line, 0], 0] == line else 1
        total += 2 * tiles_leaving(labels, line, axis, goal_of, line_of, lines, longest)
    return total


@kernel
def estimate_all(
    labels: NDArray[np.uint8], costs: Numbers, goal_of: Numbers, line_of: Numbers, lines: Numbers
) -> Numbers:
    """The heuristic ``(n,)`` of positions ``(n, places)``."""
    totals = np.empty(len(labels), np.int64)
    for number in range(len(labels)):
        totals[number] = estimate(labels[number], costs, goal_of, line_of, lines)
    return totals
