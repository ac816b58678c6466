"""Depth-first search down to a depth limit, in steps: each call resumes where the last one stopped."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.jit.compile import kernel
from antipodes.searches.step_kernels import Position, allowed, apply, undo
from antipodes.searches.steps import Steps

Numbers = NDArray[np.int64]
DEPTH, EXPANDED, FOUND, NEXT_BOUND = range(4)


class Descent(NamedTuple):
    """The state of a depth-first search; in arrays with an entry per depth, index 0 is the root."""

    labels: Position
    empties: Numbers
    """The empty places, and after them the group of moves that need no empty place."""
    slot: Numbers
    """Which of the empties is being filled, ``(bound + 1,)``."""
    candidate: Numbers
    """Which move is to be tried next."""
    taken: Numbers
    """The move that led from each depth to the next."""
    estimates: Numbers
    """The lower bound at each depth."""
    tally: Numbers
    """``[DEPTH, EXPANDED, FOUND, NEXT_BOUND]``: the last is the least total of a pruned branch."""


@kernel
def descend(
    descent: Descent,
    budget: int,
    goals: NDArray[np.uint8],
    steps: Steps,
    costs: Numbers,
    paths: Numbers,
    every: bool,
) -> bool:
    """Whether the search is over; otherwise it has expanded ``budget`` positions and is to be called again.

    A goal counts at the greatest depth only. The moves of the paths found are written to ``paths`` ``(n, depth)``,
    as long as there is room.
    """
    labels, empties, slot, candidate = descent.labels, descent.empties, descent.slot, descent.candidate
    taken, estimates, tally = descent.taken, descent.estimates, descent.tally
    greatest = len(taken)
    guided = len(costs) > 0
    depth = tally[DEPTH]
    stop = tally[EXPANDED] + budget
    while depth >= 0:
        move = -1
        if depth < greatest:
            last = steps.inverse[taken[depth - 1]] if depth else -1
            move = next_move(labels, empties, slot, candidate, depth, last, steps)
        if move < 0:
            depth -= 1
            if depth >= 0:
                undo(labels, taken[depth], steps)
                follow(empties, taken[depth], steps, True)
            if tally[EXPANDED] >= stop:
                break
            continue
        value = estimates[depth]
        if guided:
            a, b = steps.occupied[steps.occupied_at[move]], steps.swaps[steps.swap_at[move]].sum()
            b -= a
            value += costs[labels[a], b] - costs[labels[a], a]
        apply(labels, move, steps)
        total = depth + 1 + value
        if total > greatest:
            tally[NEXT_BOUND] = min(tally[NEXT_BOUND], total)
            undo(labels, move, steps)
            continue
        taken[depth] = move
        if depth + 1 == greatest:
            if is_goal(labels, goals):
                if tally[FOUND] < len(paths):
                    paths[tally[FOUND]] = taken
                tally[FOUND] += 1
                if not every:
                    return True
            elif tally[NEXT_BOUND] > total + 1:
                tally[NEXT_BOUND] = total + 1
            undo(labels, move, steps)
            continue
        follow(empties, move, steps, False)
        depth += 1
        tally[EXPANDED] += 1
        estimates[depth] = value
        slot[depth] = 0
        candidate[depth] = steps.group[empties[0]]
    tally[DEPTH] = depth
    return bool(depth < 0)


@kernel
def next_move(
    labels: Position, empties: Numbers, slot: Numbers, candidate: Numbers, depth: int, inverse: int, steps: Steps
) -> int:
    """The next legal move at a depth, other than ``inverse``, or -1."""
    i, move = slot[depth], candidate[depth]
    while True:
        end = steps.group[empties[i] + 1]
        while move < end:
            legal = move != inverse and allowed(labels, move, steps)
            if legal and (not steps.ambiguous or is_new(labels, empties, i, move, steps)):
                slot[depth], candidate[depth] = i, move + 1
                return int(move)
            move += 1
        i += 1
        if i == len(empties):
            return -1
        move = steps.group[empties[i]]


@kernel
def is_new(labels: Position, empties: Numbers, i: int, move: int, steps: Steps) -> bool:
    """Whether no move tried earlier at the same position leads to the same one."""
    for j in range(i + 1):
        end = move if j == i else steps.group[empties[j] + 1]
        for earlier in range(steps.group[empties[j]], end):
            if allowed(labels, earlier, steps) and same_result(labels, earlier, move, steps):
                return False
    return True


@kernel
def same_result(labels: Position, one: int, other: int, steps: Steps) -> bool:
    """Whether two moves lead to the same position."""
    return bool((labels[steps.origin[one]] == labels[steps.origin[other]]).all())


@kernel
def follow(empties: Numbers, move: int, steps: Steps, backwards: bool) -> None:
    """Keep the list of empty places up with a move, or with taking it back."""
    begin, end = steps.swap_at[move], steps.swap_at[move + 1]
    for i in range(begin, end):
        swap = begin + end - 1 - i if backwards else i
        a, b = steps.swaps[swap, 0], steps.swaps[swap, 1]
        for j in range(len(empties) - 1):
            if empties[j] == a:
                empties[j] = b
            elif empties[j] == b:
                empties[j] = a


@kernel
def is_goal(labels: Position, goals: NDArray[np.uint8]) -> bool:
    """Whether the position is one of the goals."""
    for i in range(len(goals)):
        place = 0
        while place < len(labels) and labels[place] == goals[i, place]:
            place += 1
        if place == len(labels):
            return True
    return False
