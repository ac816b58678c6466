"""Depth-first search for pancakes, guided by the gap heuristic, in which a move costs a few look-ups.

The kernel for other transforms copies the whole position for every move that it tries. This kernel compares only the
pancakes above and below the cut of a move. A move that closes a gap brings the top to one of its neighbours in a goal,
so the kernel finds these moves from the neighbours' places. If no move may open a gap or leave the number of gaps
unchanged any more, a successor is entered only if one of its moves closes a gap (R. Valenzano and D. S. Yang, An
analysis and enhancement of the gap heuristic for the pancake puzzle, 2017).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.keys.position_set import Numbers, Words
from antipodes_tasks.keys.steps import CompiledSteps
from antipodes_tasks.properties.gaps import Gaps
from antipodes_tasks.searches.depth_first import (
    DEPTH,
    EXPANDED,
    FAR,
    FOUND,
    NEXT_BOUND,
    Descent,
    Pass,
    listed,
    room_for_paths,
)
from antipodes_tasks.searches.problem import Problem, Request

CLOSES, KEEPS, OPENS = 0, 1, 2
"""The rounds in which the moves of a position are tried: the change of the number of gaps, plus 1."""


class _Stack(NamedTuple):
    """The state of a search; in arrays with one entry per depth, index 0 is the root."""

    codes: Numbers
    """``(pancakes + 1,)``: the codes of the current position."""
    place: Numbers
    """``(labels + 1,)``: the place of each label; the plate's label is the last one."""
    round: Numbers
    """``(depth + 1,)``: number of the current round, see CLOSES."""
    candidate: Numbers
    """``(depth + 1,)``: the last choice: a number in the list of neighbours if the round is CLOSES, or a move; -1 if
    none has been tried."""
    taken: Numbers
    """``(depth,)``: the move from each depth to the next."""
    estimates: Numbers
    """``(depth + 1,)``: the number of gaps at each depth."""
    tally: Numbers


class _Rules(NamedTuple):
    """The moves and the heuristic as arrays."""

    sizes: Numbers
    """``(moves,)``: number of pancakes that each move turns over."""
    move_of: Numbers
    """``(pancakes + 1,)``: the move that turns over this number of pancakes, or -1."""
    gap: NDArray[np.uint8]
    """``(codes, codes)``: see `Gaps`."""
    neighbours_at: Numbers
    """``(codes + 1,)``: index of the first neighbour of each code in ``neighbours``."""
    neighbours: Numbers
    """The codes that may be directly below each code without a gap."""
    turned: int
    """1 if a move also turns the burnt sides, otherwise 0."""
    goals: Numbers
    """``(goals, pancakes + 1)``: the codes of the goals."""


def descent_by_gaps(depth: int, problem: Problem, gaps: Gaps, request: Request) -> Descent:
    """Return the search for paths of ``depth`` moves."""
    codes = gaps.codes(problem.position[np.newaxis])[0]
    place = np.zeros(len(gaps.gap) // 2 + 1, dtype=np.int64)
    place[codes >> 1] = np.arange(len(codes))
    stack = _Stack(
        codes=codes,
        place=place,
        round=np.zeros(depth + 1, dtype=np.int64),
        candidate=np.full(depth + 1, -1),
        taken=np.zeros(depth, dtype=np.int64),
        estimates=np.full(depth + 1, gaps.estimate(problem.position)),
        tally=np.array([0, 1, 0, FAR]),
    )
    rules, paths = _rules(problem, gaps), room_for_paths(depth, request, np.uint64, depth)
    steps = problem.steps
    assert isinstance(steps, CompiledSteps)

    def result() -> Pass:
        _, _, found, following = stack.tally.tolist()
        taken = listed(paths, found, problem, request)
        return Pass(list(steps.replay(problem.position, taken)), found, following)

    return Descent(lambda budget: _descend(stack, budget, rules, paths, request.every), stack.tally, result)


def _rules(problem: Problem, gaps: Gaps) -> _Rules:
    goals = gaps.codes(problem.goals)
    move_of = np.full(goals.shape[1], -1)
    move_of[gaps.sizes] = np.arange(len(gaps.sizes))
    above, below = np.nonzero(gaps.gap == 0)
    at = np.searchsorted(above, np.arange(len(gaps.gap) + 1))
    return _Rules(gaps.sizes, move_of, gaps.gap, at, below, int(gaps.burnt), goals)


@kernel
def _turn(codes: Numbers, place: Numbers, size: int, turned: int) -> None:
    """Turn over the topmost pancakes."""
    i, j = 0, size - 1
    while i <= j:
        top, low = codes[i] ^ turned, codes[j] ^ turned
        codes[i], codes[j] = low, top
        place[low >> 1], place[top >> 1] = i, j
        i, j = i + 1, j - 1


@kernel
def _can_close(
    codes: Numbers,
    place: Numbers,
    size: int,
    turned: int,
    gap: NDArray[np.uint8],
    at: Numbers,
    neighbours: Numbers,
    move_of: Numbers,
) -> bool:
    """Return whether a move could close a gap after the topmost ``size`` pancakes have been turned over."""
    top = codes[size - 1]  # the code that it will have directly above a neighbour
    for i in range(at[top], at[top + 1]):
        code = neighbours[i]
        here = place[code >> 1]
        if here >= size:
            above = codes[0] ^ turned if here == size else codes[here - 1]
            if codes[here] == code and move_of[here] >= 0 and gap[above, code]:
                return True
        elif here < size - 1 and codes[here] ^ turned == code and move_of[size - 1 - here] >= 0:
            closes = gap[codes[here + 1] ^ turned, code]
            if closes:
                return True
    return False


@kernel
def _is_goal(codes: Numbers, goals: Numbers) -> bool:
    """Return whether the position is one of the goals."""
    for goal in range(len(goals)):
        same = True
        for place in range(len(codes)):
            same &= codes[place] == goals[goal, place]
        if same:
            return True
    return False


@kernel
def _descend(stack: _Stack, budget: int, rules: _Rules, paths: Words, every: bool) -> bool:
    """Continue the search for about ``budget`` expansions; return whether it is complete.

    The moves of the paths found are written to ``paths`` ``(n, depth)`` while there is room.
    """
    codes, place, rounds, candidates, taken, estimates, tally = stack
    sizes, move_of, gap, at, neighbours, turned, goals = rules
    depth, expanded, greatest = tally[DEPTH], tally[EXPANDED], len(taken)
    stop, over = expanded + budget, False
    while expanded < stop:
        now, estimate = rounds[depth], estimates[depth] + rounds[depth] - 1
        if now > OPENS or depth + 1 + estimate > greatest:
            if now <= OPENS:
                tally[NEXT_BOUND] = min(tally[NEXT_BOUND], depth + 1 + estimate)
            if depth == 0:
                over = True
                break
            depth -= 1
            _turn(codes, place, sizes[taken[depth]], turned)
            continue
        top = codes[0] ^ turned
        candidates[depth] += 1
        candidate = candidates[depth]
        if candidate >= (at[top + 1] - at[top] if now == CLOSES else len(sizes)):
            rounds[depth], candidates[depth] = now + 1, -1
            continue
        if now == CLOSES:
            below = neighbours[at[top] + candidate]
            size = place[below >> 1]
            if codes[size] != below or size == 0 or move_of[size] < 0:
                continue
        else:
            size = sizes[candidate]
            below = codes[size]
        move = move_of[size]
        if np.int64(gap[top, below]) - np.int64(gap[codes[size - 1], below]) != now - 1:
            continue
        if depth > 0 and move == taken[depth - 1]:
            continue
        if depth + 1 == greatest:
            tally[NEXT_BOUND] = min(tally[NEXT_BOUND], depth + 2 + estimate)
        elif depth + 1 + estimate == greatest and not _can_close(
            codes, place, size, turned, gap, at, neighbours, move_of
        ):
            tally[NEXT_BOUND] = min(tally[NEXT_BOUND], greatest + 1)
            continue
        _turn(codes, place, size, turned)
        taken[depth] = move
        if depth + 1 < greatest:
            depth += 1
            expanded += 1
            rounds[depth], candidates[depth], estimates[depth] = 0, -1, estimate
            continue
        reached = _is_goal(codes, goals)
        _turn(codes, place, size, turned)
        if reached:
            if tally[FOUND] < len(paths):
                for i in range(greatest):
                    paths[tally[FOUND], i] = taken[i]
            tally[FOUND] += 1
            over = not every
            if over:
                break
    tally[DEPTH], tally[EXPANDED] = depth, expanded
    return over
