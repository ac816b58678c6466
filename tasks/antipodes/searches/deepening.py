"""Depth-first searches down to one bound after another, which `iddfs` and `ida_star` share."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.puzzle import Labels
from antipodes.searches.answer import WAY_BYTES, Answer, Outcome, check_listing, unsolved
from antipodes.searches.blank_steps import blank_steps
from antipodes.searches.bounds import NEVER, LowerBound
from antipodes.searches.graph import Edges, distances_to, neighbours, swap_edges
from antipodes.searches.problem import Problem, Request
from antipodes.searches.standing import Pace, Standing
from antipodes.searches.steps import replay
from antipodes.searches.two_ends import UnreachableProof

FAR = 1 << 62
EXPANDED = 1
"""Where the tallies of all kernels count the positions expanded."""


class _Pass(NamedTuple):
    """What a search down to one depth brought."""

    ways: list[Labels]
    found: int
    following: int
    """The least number of moves with which a way that was cut off could end."""


@dataclass(frozen=True, eq=False, slots=True)
class _Descent:
    """A search down to one depth, which a kernel does in steps."""

    kernel: Callable[[int], bool]
    """Goes on until about so many positions more are expanded; whether the search is over."""
    tally: NDArray[Any]
    result: Callable[[], _Pass]

    @property
    def expanded(self) -> int:
        """Positions expanded so far."""
        return int(self.tally[EXPANDED])


def deepen(method: str, problem: Problem, lower: LowerBound, request: Request) -> Answer:
    """One shortest way to a goal, or ``every`` one; what a lower bound shows to be too far is left.

    The search begins at the lower bound, or at the next number of moves that has a possible parity. It ends where no
    way exists, too, if its `UnreachableProof` fits into memory.
    """
    if problem.hopeless:
        return unsolved(method, Outcome.UNREACHABLE)
    if (problem.goals == problem.position).all(axis=1).any():
        return Answer(method, Outcome.SOLVED, 0, (problem.position[np.newaxis],), 1, 0)
    expanded, pace, proof = 0, Pace(), UnreachableProof(problem, request.memory_limit)
    depth = _with_parity(max(1, _estimate(problem, lower)), problem)
    while depth < NEVER:
        if request.bound is not None and depth > request.bound:
            return unsolved(method, Outcome.BOUND, expanded)
        descent = _descent_to(depth, problem, lower, request)
        over = False
        while not over:
            before = descent.expanded
            request.listener(Standing(method, depth, expanded + before, 0))
            pace.start()
            over = descent.kernel(pace.budget)
            pace.learn(descent.expanded - before)
            if not over and proof.succeeds(expanded + descent.expanded):
                return unsolved(method, Outcome.UNREACHABLE, expanded + descent.expanded)
        expanded += descent.expanded
        one = descent.result()
        if one.found:
            return Answer(method, Outcome.SOLVED, depth, tuple(one.ways), one.found, expanded)
        if proof.succeeds(expanded):
            return unsolved(method, Outcome.UNREACHABLE, expanded)
        depth = _with_parity(one.following, problem)
    return unsolved(method, Outcome.UNREACHABLE, expanded)


def _with_parity(depth: int, problem: Problem) -> int:
    return depth if depth % 2 in problem.parities else depth + 1


def _estimate(problem: Problem, lower: LowerBound) -> int:
    from antipodes.searches.blank_kernels import estimate

    return estimate(problem.position, *lower)


def _descent_to(depth: int, problem: Problem, lower: LowerBound, request: Request) -> _Descent:
    edges = swap_edges(problem.puzzle)
    if edges is not None and problem.puzzle.counts[0] == 1:
        if problem.packing.words == 1 and not len(lower.costs):
            return _walk_blank(depth, problem, edges, request)
        return _move_blank(depth, problem, edges, lower, request)
    if problem.packing.words == 1 and not problem.steps.ambiguous:
        return _move_pieces(depth, problem, lower, request)
    return _move_any(depth, problem, lower, request)


def _room(depth: int, request: Request, dtype: type[np.integer[Any]], length: int) -> NDArray[Any]:
    """Where a kernel writes the ways that it finds: ``(ways, length)``, no more ways than fit into memory."""
    fitting = max(1, request.memory_limit // (WAY_BYTES + 8 * (depth + 1))) if request.every else 1
    return np.empty((min(request.listed, fitting), length), dtype=dtype)


def _shown(ways: NDArray[Any], found: int, problem: Problem, request: Request) -> NDArray[Any]:
    """The ways to be listed, which there is no room for if they take too much memory."""
    if request.every:
        check_listing(min(found, request.listed), ways.shape[1], problem.puzzle.places, request.memory_limit)
    return ways[:found]


def _walk_blank(depth: int, problem: Problem, edges: Edges, request: Request) -> _Descent:
    from antipodes.searches.word_kernels import LEFT_BITS, walk_blank

    packing = problem.packing
    steps = blank_steps(edges, packing, set(np.nonzero(problem.goals == 0)[1].tolist()))
    room = (depth + 1) * max(1, int(np.diff(steps.first).max()))
    words, pending = np.zeros((2, room), dtype=np.uint64)
    words[0] = packing.pack(problem.position[np.newaxis])[0, 0]
    pending[0] = int(np.flatnonzero(problem.position == 0)[0]) << int(LEFT_BITS) | depth
    tally = np.array([1, 0, 0, 0], dtype=np.uint64)
    goals = packing.pack(problem.goals)[:, 0]
    way, ways = np.empty(depth + 1, dtype=np.uint64), _room(depth, request, np.uint64, depth + 1)
    rules = (goals, *steps[:5], packing.bits)

    def result() -> _Pass:
        _, _, found, cut = tally.tolist()
        blanks = steps.place[_shown(ways, found, problem, request)]
        return _Pass([_follow_blank(problem.position, one) for one in blanks], found, depth + 1 if cut else FAR)

    return _Descent(
        lambda budget: walk_blank(words, pending, tally, budget, *rules, way, ways, request.every), tally, result
    )


def _move_blank(depth: int, problem: Problem, edges: Edges, lower: LowerBound, request: Request) -> _Descent:
    from antipodes.searches.blank_kernels import descend

    places = problem.puzzle.places
    backwards = frozenset((b, a) for a, b in edges)
    origins = neighbours(backwards, places)
    origin_at = np.cumsum([0, *map(len, origins)]).astype(np.uint64)
    ends = set(np.nonzero(problem.goals == 0)[1].tolist())
    away = distances_to(ends, backwards, places).astype(np.int64)
    blanks = np.full(depth + 1, np.flatnonzero(problem.position == 0)[0], dtype=np.uint64)
    cursors = np.full(depth + 1, origin_at[blanks[0]])
    estimates = np.full(depth + 1, _estimate(problem, lower))
    tally = np.array([0, 1, 0, FAR])
    ways = _room(depth, request, np.uint64, depth + 1)
    state = (problem.position.copy(), blanks, cursors, estimates, tally)
    graph = (origin_at, np.array([a for own in origins for a in own], dtype=np.uint64))
    rules: tuple[Any, ...] = (problem.goals, *graph, np.where(away < 0, NEVER, away), *lower, ways, request.every)

    def result() -> _Pass:
        _, _, found, following = tally.tolist()
        blanks = _shown(ways, found, problem, request)
        return _Pass([_follow_blank(problem.position, way) for way in blanks], found, following)

    return _Descent(lambda budget: descend(*(*state, budget, *rules)), tally, result)


def _follow_blank(position: Labels, way: NDArray[np.uint64]) -> Labels:
    """The positions when the blank goes from place to place."""
    positions = [position]
    for before, after in pairwise(way.tolist()):
        labels = positions[-1].copy()
        labels[[before, after]] = labels[[after, before]]
        positions.append(labels)
    return np.array(positions)


def _move_pieces(depth: int, problem: Problem, lower: LowerBound, request: Request) -> _Descent:
    from antipodes.searches.word_kernels import move_pieces

    steps, packing = problem.steps, problem.packing
    origin, moves = steps.occupied, len(steps.occupied)
    destination = steps.swaps.sum(axis=1) - origin
    added = np.zeros((moves, len(problem.puzzle.symbols)), dtype=np.int64)
    if len(lower.costs):
        added[:] = (lower.costs[:, destination] - lower.costs[:, origin]).T
    words = np.zeros(depth * moves + 1, dtype=np.uint64)
    words[0] = packing.pack(problem.position[np.newaxis])[0, 0]
    pending = np.zeros((len(words), 3), dtype=np.int64)
    pending[0] = moves, depth, _estimate(problem, lower)
    tally = np.array([1, 0, 0, FAR])
    shifts = (packing.bits * np.stack((origin, destination))).astype(np.uint64)
    way, ways = np.empty(depth + 1, dtype=np.int64), _room(depth, request, np.int64, depth + 1)
    goals, undo = packing.pack(problem.goals)[:, 0], np.append(steps.undo, -1)
    rules = (goals, shifts[0], shifts[1], undo, added, packing.bits)

    def result() -> _Pass:
        _, _, found, following = tally.tolist()
        taken = _shown(ways, found, problem, request)[:, 1:]
        return _Pass([_replay(problem, one) for one in taken], found, following)

    return _Descent(
        lambda budget: move_pieces(words, pending, tally, budget, *rules, way, ways, request.every), tally, result
    )


def _move_any(depth: int, problem: Problem, lower: LowerBound, request: Request) -> _Descent:
    from antipodes.searches.deepening_kernels import Descent, descend

    empties = np.append(np.flatnonzero(problem.position == 0), problem.puzzle.places)
    tally = np.array([0, 1, 0, FAR])
    descent = Descent(
        labels=problem.position.copy(),
        empties=empties,
        slot=np.zeros(depth + 1, dtype=np.int64),
        candidate=np.full(depth + 1, problem.steps.group[empties[0]]),
        taken=np.empty(depth, dtype=np.int64),
        estimates=np.full(depth + 1, _estimate(problem, lower)),
        tally=tally,
    )
    ways = _room(depth, request, np.int64, depth)
    rules = (problem.goals, problem.steps, lower.costs)

    def result() -> _Pass:
        _, _, found, following = tally.tolist()
        taken = _shown(ways, found, problem, request)
        return _Pass([_replay(problem, way) for way in taken], found, following)

    return _Descent(lambda budget: descend(descent, budget, *rules, ways, request.every), tally, result)


def _replay(problem: Problem, moves: NDArray[np.int64]) -> Labels:
    """The positions that a sequence of moves passes."""
    positions = [problem.position]
    for move in moves:
        positions.append(replay(positions[-1], move, problem.steps))
    return np.array(positions)
