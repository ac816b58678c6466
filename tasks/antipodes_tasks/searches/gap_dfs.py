"""Depth-first search for pancakes, guided by the gap heuristic, in which a move costs a few look-ups.

The kernel for other transforms copies the whole position for every move that it tries. This kernel compares only the
pancakes above and below the cut of a move. A move that closes a gap brings the top to one of its neighbours in a goal,
so the kernel finds these moves from the neighbours' places. If no move may open a gap or leave the number of gaps
unchanged any more, a successor is entered only if one of its moves closes a gap (R. Valenzano and D. S. Yang, An
analysis and enhancement of the gap heuristic for the pancake puzzle, 2017).

Before the first move that does not close a gap, there are only a few positions at large depths, and most solutions of a
random stack are below them. The search therefore divides the depths of this first move into bands, and begins with the
band of the largest depths.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Numbers, Words
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.properties.gaps import Gaps
from antipodes_tasks.searches.depth_first import (
    DEPTH,
    EXPANDED,
    FAR,
    FOUND,
    NEXT_BOUND,
    Descent,
    replayed,
    room_for_paths,
)
from antipodes_tasks.searches.problem import Problem, Request

CLOSES, KEEPS, OPENS = 0, 1, 2
"""The rounds in which the moves of a position are tried: the change of the number of gaps, plus 1."""


FIRST_BAND, BAND = 0.7, 0.1
"""The depth at which the first band begins, and the width of the other bands, as fractions of the depth limit."""


class _Stack(NamedTuple):
    """The state of a search; in arrays with one entry per depth, index 0 is the root."""

    codes: Numbers
    """``(pancakes + 1,)``: the codes of the current position."""
    place: Numbers
    """``(labels + 1,)``: the place of each label; the plate's label is the last one."""
    round: Numbers
    """``(depth + 1,)``: number of the current round, see CLOSES."""
    candidate: Numbers
    """``(depth + 1,)``: the last choice: an index in ``closing`` if the round is CLOSES, or a move; -1 if none has been
    tried."""
    closing: Numbers
    """``(depth + 1, moves)``: the sizes of the moves that close a gap."""
    closings: Numbers
    """``(depth + 1,)``: number of moves that close a gap."""
    taken: Numbers
    """``(depth,)``: the size of the move from each depth to the next."""
    estimates: Numbers
    """``(depth + 1,)``: the number of gaps at each depth."""
    band: Numbers
    """``(2,)``: the first move that does not close a gap is made at one of these depths, from the first up to, but not
    including, the second."""
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
    rules, paths = _rules(problem, gaps), room_for_paths(depth, request, np.uint64, depth)
    stack = _stack(depth, gaps.codes(problem.position[np.newaxis])[0], gaps.estimate(problem.position), rules)

    return Descent(
        lambda budget: _descend(stack, budget, rules, paths, request.every),
        stack.tally,
        lambda: replayed(stack.tally, paths, problem, request),
    )


def _stack(depth: int, codes: Numbers, estimate: int, rules: _Rules) -> _Stack:
    place = np.zeros(len(rules.gap) // 2 + 1, dtype=np.int64)
    place[codes >> 1] = np.arange(len(codes))
    return _Stack(
        codes=codes,
        place=place,
        round=np.zeros(depth + 1, dtype=np.int64),
        candidate=np.full(depth + 1, -1),
        closing=np.zeros((depth + 1, np.diff(rules.neighbours_at).max()), dtype=np.int64),
        closings=np.zeros(depth + 1, dtype=np.int64),
        taken=np.zeros(depth, dtype=np.int64),
        estimates=np.full(depth + 1, estimate),
        band=np.array([int(depth * FIRST_BAND) if depth > estimate else 0, depth]),
        tally=np.array([0, 1, 0, FAR]),
    )


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
def _moves_that_close(codes: Numbers, place: Numbers, size: int, lowest: int, rules: _Rules, closing: Numbers) -> int:
    """Return the number of moves that close a gap after the topmost ``size`` pancakes have been turned over.

    The sizes of these moves are written to ``closing``. ``lowest`` is the code that the pancake that is then at the top
    has before they are turned over; directly above a neighbour, it has the same code again.
    """
    _, move_of, gap, at, neighbours, turned, _ = rules
    found = 0
    for i in range(at[lowest], at[lowest + 1]):
        code = neighbours[i]
        here = place[code >> 1]
        if here >= size:
            if codes[here] != code:
                continue
            above, then = codes[0] ^ turned if here == size else codes[here - 1], here
        else:
            if codes[here] ^ turned != code:
                continue
            above, then = codes[here + 1] ^ turned, size - 1 - here
        if gap[above, code] and move_of[then] >= 0:
            closing[found] = then
            found += 1
    return found


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
    codes, place, rounds, candidates, closing, closings, taken, estimates, band, tally = stack
    sizes, move_of, gap, _, _, turned, goals = rules
    depth, expanded, greatest = tally[DEPTH], tally[EXPANDED], len(taken)
    stop, over, slack = expanded + budget, False, greatest - estimates[0]
    if depth == 0:
        closings[0] = _moves_that_close(codes, place, 0, codes[0] ^ turned, rules, closing[0])
    # The moves of a position are tried in rounds. A move of KEEPS wastes one move, a move of OPENS two, and `spare` is
    # the number of moves that may still be wasted from here. A round that `spare` does not allow is pruned, as in IDA*.
    # Before the first waste, `spare == slack`; then only depths in the current band may begin another round than
    # CLOSES. When the root is done with a band, it starts again with the next one, of smaller depths.
    while expanded < stop:
        now, spare = rounds[depth], greatest - depth - estimates[depth]
        candidates[depth] += 1
        candidate = candidates[depth]
        if now == CLOSES and candidate < closings[depth]:
            size = closing[depth, candidate]
        elif now > CLOSES and candidate < len(sizes):
            size = sizes[candidate]
            below = codes[size]
            if np.int64(gap[codes[0] ^ turned, below]) - np.int64(gap[codes[size - 1], below]) != now - 1:
                continue
        elif now < spare and now < OPENS and (spare < slack or band[0] <= depth):
            rounds[depth], candidates[depth] = now + 1, -1
            continue
        else:
            if now == spare:
                tally[NEXT_BOUND] = greatest + 1
            if depth > 0:
                depth -= 1
                _turn(codes, place, taken[depth], turned)
            elif band[0] > 0:
                band[0], band[1] = max(0, band[0] - max(1, int(BAND * greatest))), band[0]
                rounds[0], candidates[0] = CLOSES if band[1] > 1 else KEEPS, -1
            else:
                over = True
                break
            continue
        if depth > 0 and size == taken[depth - 1]:
            continue
        estimate = estimates[depth] + now - 1
        if depth + 1 < greatest:
            found = _moves_that_close(codes, place, size, codes[size - 1], rules, closing[depth + 1])
            if found == 0 and now == spare:
                tally[NEXT_BOUND] = greatest + 1
                continue
            _turn(codes, place, size, turned)
            taken[depth] = size
            depth += 1
            expanded += 1
            estimates[depth], closings[depth], candidates[depth] = estimate, found, -1
            rounds[depth] = KEEPS if depth + 1 == band[1] and spare == slack > 0 and now == CLOSES else CLOSES
            continue
        tally[NEXT_BOUND] = greatest + 1
        _turn(codes, place, size, turned)
        reached = _is_goal(codes, goals)
        _turn(codes, place, size, turned)
        if reached:
            if tally[FOUND] < len(paths):
                for i in range(depth):
                    paths[tally[FOUND], i] = move_of[taken[i]]
                paths[tally[FOUND], depth] = move_of[size]
            tally[FOUND] += 1
            over = not every
            if over:
                break
    tally[DEPTH], tally[EXPANDED] = depth, expanded
    return over
