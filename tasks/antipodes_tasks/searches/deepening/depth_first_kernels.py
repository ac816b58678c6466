"""Depth-first search down to a depth limit, in steps: each call resumes where the last one stopped."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.reachability.steps.kernels import Positions, legal
from antipodes_tasks.reachability.steps.move_arrays import MoveArrays

Numbers = NDArray[np.int64]
DEPTH, EXPANDED, FOUND, NEXT_BOUND = range(4)


class Descent(NamedTuple):
    """The state of a depth-first search; in arrays with an entry per depth, index 0 is the root."""

    labels: NDArray[np.uint8]
    """``(bound + 1, places)``: the current position at each depth."""
    candidate: Numbers
    """``(bound + 1,)``: which move is to be tried next."""
    taken: Numbers
    """``(bound,)``: the move that led from each depth to the next."""
    estimates: Numbers
    """``(bound + 1,)``: the lower bound at each depth."""
    tally: Numbers
    """``[DEPTH, EXPANDED, FOUND, NEXT_BOUND]``: the last is the least total of a pruned branch."""


@kernel
def descend(
    descent: Descent,
    budget: int,
    goals: NDArray[np.uint8],
    moves: MoveArrays,
    costs: Numbers,
    paths: Numbers,
    every: bool,
) -> bool:
    """Whether the search is over; otherwise it has expanded ``budget`` positions and is to be called again.

    A goal counts at the greatest depth only. The moves of the paths found are written to ``paths`` ``(n, depth)``,
    as long as there is room.
    """
    # A call counts the arrays of a tuple in and out, which takes longer than a move: hence the variables.
    labels, candidate, taken, estimates, tally = descent
    guard, next_group, inverse, wasted = moves.guard, moves.next_group, moves.inverse, moves.wasted
    condition_at, tested, mask = moves.condition_at, moves.tested, moves.mask
    change_at, place, origin, added = moves.change_at, moves.place, moves.origin, moves.added
    moduli, effects = moves.moduli, moves.effects
    greatest, places, count = len(taken), labels.shape[1], len(guard)
    guided, paired, ambiguous = len(costs) > 0, len(wasted) > 0, len(effects) > 0
    depth, expanded, next_bound = tally[DEPTH], tally[EXPANDED], tally[NEXT_BOUND]
    stop = expanded + budget
    over = False
    while depth >= 0 and expanded < stop and not over:
        move = candidate[depth]
        if move == count:
            depth -= 1
            continue
        if guard[move] >= 0 and labels[depth, guard[move]] != 0:
            candidate[depth] = next_group[move]
            continue
        candidate[depth] = move + 1
        if depth and (move == inverse[taken[depth - 1]] or (paired and wasted[taken[depth - 1], move])):
            continue
        if not legal(labels, depth, move, condition_at, tested, mask):
            continue
        if ambiguous and not is_new(labels, depth, move, effects, moduli, condition_at, tested, mask):
            continue
        first = change_at[move]
        value = estimates[depth]
        if guided:
            piece = labels[depth, origin[first]]
            value += costs[piece, place[first]] - costs[piece, origin[first]]
        total = depth + 1 + value
        if total > greatest:
            next_bound = min(next_bound, total)
            continue
        for p in range(places):
            labels[depth + 1, p] = labels[depth, p]
        for change in range(first, change_at[move + 1]):
            label = np.int64(labels[depth, origin[change]]) + added[change]
            p = place[change]
            labels[depth + 1, p] = label - moduli[p] if label >= moduli[p] else label
        taken[depth] = move
        if depth + 1 == greatest:
            next_bound = min(next_bound, total + 1)
            if is_goal(labels, greatest, goals):
                if tally[FOUND] < len(paths):
                    paths[tally[FOUND]] = taken
                tally[FOUND] += 1
                over = not every
            continue
        depth += 1
        expanded += 1
        estimates[depth] = value
        candidate[depth] = 0
    tally[DEPTH], tally[EXPANDED], tally[NEXT_BOUND] = depth, expanded, next_bound
    return bool(depth < 0 or over)


@kernel
def is_new(
    labels: Positions,
    depth: int,
    move: int,
    effects: Numbers,
    moduli: Numbers,
    condition_at: Numbers,
    tested: Numbers,
    mask: NDArray[np.uint64],
) -> bool:
    """Whether no legal move before this one leads to the same position."""
    for earlier in range(move):
        place = 0
        while place < len(moduli):
            one = np.int64(labels[depth, effects[earlier, 0, place]]) + effects[earlier, 1, place]
            other = np.int64(labels[depth, effects[move, 0, place]]) + effects[move, 1, place]
            if one != other and abs(one - other) != moduli[place]:
                break
            place += 1
        if place == len(moduli) and legal(labels, depth, earlier, condition_at, tested, mask):
            return False
    return True


@kernel
def is_goal(labels: Positions, depth: int, goals: NDArray[np.uint8]) -> bool:
    """Whether the position at a depth is one of the goals."""
    for i in range(len(goals)):
        place = 0
        while place < goals.shape[1] and labels[depth, place] == goals[i, place]:
            place += 1
        if place == goals.shape[1]:
            return True
    return False
