"""Depth-first searches down to one bound after another, which `iddfs` and `ida_star` share."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.puzzle import Labels
from antipodes.searches.answer import Answer, Outcome, unsolved
from antipodes.searches.blank_steps import blank_steps
from antipodes.searches.bounds import NEVER, LowerBound
from antipodes.searches.graph import Edges, distances_to, exchange_edges, neighbours
from antipodes.searches.problem import Problem
from antipodes.searches.steps import replay

BUDGET = 1 << 22
"""Positions expanded in one call of a kernel, so that an interrupt is answered soon."""
FAR = 1 << 62


class _Pass(NamedTuple):
    """What a search down to one depth brought."""

    ways: list[Labels]
    found: int
    expanded: int
    following: int
    """The least number of moves with which a way that was cut off could end."""


def deepen(method: str, problem: Problem, lower: LowerBound, *, every: bool, bound: int | None, listed: int) -> Answer:
    """One shortest way to a goal, or ``every`` one; what a lower bound shows to be too far is left.

    The search begins at the lower bound, or at the next number of moves that has a possible parity.
    """
    if problem.hopeless:
        return unsolved(method, Outcome.UNREACHABLE)
    if (problem.goals == problem.position).all(axis=1).any():
        return Answer(method, Outcome.SOLVED, 0, (problem.position[np.newaxis],), 1, 0)
    expanded = 0
    depth = _with_parity(max(1, _estimate(problem, lower)), problem)
    while depth < NEVER:
        if bound is not None and depth > bound:
            return unsolved(method, Outcome.BOUND, expanded)
        one = _search_to(depth, problem, lower, listed if every else min(1, listed), every)
        expanded += one.expanded
        if one.found:
            return Answer(method, Outcome.SOLVED, depth, tuple(one.ways), one.found, expanded)
        depth = _with_parity(one.following, problem)
    return unsolved(method, Outcome.UNREACHABLE, expanded)


def _with_parity(depth: int, problem: Problem) -> int:
    return depth if depth % 2 in problem.parities else depth + 1


def _estimate(problem: Problem, lower: LowerBound) -> int:
    from antipodes.searches.blank_kernels import estimate

    return estimate(problem.position, *lower)


def _search_to(depth: int, problem: Problem, lower: LowerBound, listed: int, every: bool) -> _Pass:
    edges = exchange_edges(problem.puzzle)
    if edges is not None and problem.puzzle.counts[0] == 1:
        if problem.packing.words == 1 and not len(lower.costs):
            return _walk_blank(depth, problem, edges, listed, every)
        return _move_blank(depth, problem, edges, lower, listed, every)
    if problem.packing.words == 1 and not problem.steps.ambiguous:
        return _move_pieces(depth, problem, lower, listed, every)
    return _move_any(depth, problem, lower, listed, every)


def _walk_blank(depth: int, problem: Problem, edges: Edges, listed: int, every: bool) -> _Pass:
    from antipodes.searches.word_kernels import LEFT_BITS, walk_blank

    steps = blank_steps(edges, problem.packing, set(np.nonzero(problem.goals == 0)[1].tolist()))
    room = (depth + 1) * max(1, int(np.diff(steps.first).max()))
    words, pending = np.zeros((2, room), dtype=np.uint64)
    words[0] = problem.packing.pack(problem.position[np.newaxis])[0, 0]
    pending[0] = int(np.flatnonzero(problem.position == 0)[0]) << int(LEFT_BITS) | depth
    tally = np.array([1, 0, 0, 0], dtype=np.uint64)
    goals = problem.packing.pack(problem.goals)[:, 0]
    way, ways = np.empty(depth + 1, dtype=np.uint64), np.empty((listed, depth + 1), dtype=np.uint64)
    while not walk_blank(words, pending, tally, BUDGET, goals, *steps[:5], problem.packing.bits, way, ways, every):
        continue
    _, expanded, found, cut = tally.tolist()
    blanks = steps.place[ways[:found]]
    return _Pass([_follow_blank(problem.position, one) for one in blanks], found, expanded, depth + 1 if cut else FAR)


def _move_blank(depth: int, problem: Problem, edges: Edges, lower: LowerBound, listed: int, every: bool) -> _Pass:
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
    ways = np.empty((listed, depth + 1), dtype=np.uint64)
    budget = BUDGET >> 4 if len(lower.lines) else BUDGET
    state = (problem.position.copy(), blanks, cursors, estimates, tally, budget, problem.goals)
    graph = (origin_at, np.array([a for own in origins for a in own], dtype=np.uint64))
    while not descend(*state, *graph, np.where(away < 0, NEVER, away), *lower, ways, every):
        continue
    _, expanded, found, following = tally.tolist()
    return _Pass([_follow_blank(problem.position, way) for way in ways[:found]], found, expanded, following)


def _follow_blank(position: Labels, way: NDArray[np.uint64]) -> Labels:
    """The positions when the blank goes from place to place."""
    positions = [position]
    for before, after in pairwise(way.tolist()):
        labels = positions[-1].copy()
        labels[[before, after]] = labels[[after, before]]
        positions.append(labels)
    return np.array(positions)


def _move_pieces(depth: int, problem: Problem, lower: LowerBound, listed: int, every: bool) -> _Pass:
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
    way, ways = np.empty(depth + 1, dtype=np.int64), np.empty((listed, depth + 1), dtype=np.int64)
    goals, undo = packing.pack(problem.goals)[:, 0], np.append(steps.undo, -1)
    rules = (goals, shifts[0], shifts[1], undo, added, packing.bits)
    while not move_pieces(words, pending, tally, BUDGET >> 4, *rules, way, ways, every):
        continue
    _, expanded, found, following = tally.tolist()
    return _Pass([_replay(problem, one) for one in ways[:found, 1:]], found, expanded, following)


def _move_any(depth: int, problem: Problem, lower: LowerBound, listed: int, every: bool) -> _Pass:
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
    ways = np.empty((listed, depth), dtype=np.int64)
    while not descend(descent, BUDGET >> 4, problem.goals, problem.steps, lower.costs, ways, every):
        continue
    _, expanded, found, following = tally.tolist()
    return _Pass([_replay(problem, way) for way in ways[:found]], found, expanded, following)


def _replay(problem: Problem, moves: NDArray[np.int64]) -> Labels:
    """The positions that a sequence of moves passes."""
    positions = [problem.position]
    for move in moves:
        positions.append(replay(positions[-1], move, problem.steps))
    return np.array(positions)
