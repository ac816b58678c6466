"""Depth-first search down to a depth limit, in steps: each call resumes where the last one stopped."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.jit.compile import kernel
from antipodes.searches.steps.kernels import Position, make, next_legal
from antipodes.searches.steps.move_arrays import MoveArrays

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
    labels, candidate, taken, estimates, tally = descent
    greatest = len(taken)
    guided = len(costs) > 0
    depth = tally[DEPTH]
    stop = tally[EXPANDED] + budget
    while depth >= 0 and tally[EXPANDED] < stop:
        move = next_move(labels[depth], candidate[depth], taken[depth - 1] if depth else -1, moves)
        if move < 0:
            depth -= 1
            continue
        candidate[depth] = move + 1
        value = estimates[depth]
        if guided:
            change = moves.change_at[move]
            a, b = moves.origin[change], moves.place[change]
            piece = labels[depth, a]
            value += costs[piece, b] - costs[piece, a]
        total = depth + 1 + value
        if total > greatest:
            tally[NEXT_BOUND] = min(tally[NEXT_BOUND], total)
            continue
        make(labels[depth], move, moves, labels[depth + 1])
        taken[depth] = move
        depth += 1
        if depth == greatest:
            if is_goal(labels[depth], goals):
                if tally[FOUND] < len(paths):
                    paths[tally[FOUND]] = taken
                tally[FOUND] += 1
                if not every:
                    return True
            tally[NEXT_BOUND] = min(tally[NEXT_BOUND], total + 1)
            depth -= 1
            continue
        tally[EXPANDED] += 1
        estimates[depth] = value
        candidate[depth] = 0
    tally[DEPTH] = depth
    return bool(depth < 0)


@kernel
def next_move(labels: Position, first: int, last: int, moves: MoveArrays) -> int:
    """The next legal move from ``first`` on that the ``last`` one does not make useless, or -1."""
    back = moves.inverse[last] if last >= 0 else -1
    paired = last >= 0 and len(moves.wasted) > 0
    move = next_legal(labels, first, moves)
    while move < len(moves.guard):
        if move != back and not (paired and moves.wasted[last, move]) and is_new(labels, move, moves):
            return int(move)
        move = next_legal(labels, move + 1, moves)
    return -1


@kernel
def is_new(labels: Position, move: int, moves: MoveArrays) -> bool:
    """Whether no legal move before this one leads to the same position."""
    if not len(moves.effects):
        return True
    earlier = next_legal(labels, 0, moves)
    while earlier < move and not same_result(labels, earlier, move, moves):
        earlier = next_legal(labels, earlier + 1, moves)
    return bool(earlier == move)


@kernel
def same_result(labels: Position, one: int, other: int, moves: MoveArrays) -> bool:
    """Whether two moves lead to the same position."""
    for place in range(len(labels)):
        first = np.int64(labels[moves.effects[one, 0, place]]) + moves.effects[one, 1, place]
        second = np.int64(labels[moves.effects[other, 0, place]]) + moves.effects[other, 1, place]
        if (first - second) % moves.moduli[place] != 0:
            return False
    return True


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
