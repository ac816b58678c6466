"""Depth-first searches to one depth after another, which `iddfs` and `ida_star` share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.reachability.steps.compiled_steps import CompiledSteps
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.swaps import Edges, distances_to, neighbours, swap_edges
from antipodes_tasks.searches.answer import PATH_BYTES, Answer, Outcome, check_listing, unsolved
from antipodes_tasks.searches.bfs import solved
from antipodes_tasks.searches.breadth_first.frontiers import Frontiers
from antipodes_tasks.searches.deepening.blank_steps import blank_steps
from antipodes_tasks.searches.deepening.block_descent import BlockDescent
from antipodes_tasks.searches.deepening.path_layers import MORE_MEMORY, PathLayers
from antipodes_tasks.searches.heuristics import NEVER, Heuristic
from antipodes_tasks.searches.problem import Problem, Request
from antipodes_tasks.searches.progress import Listener, Pace, Progress
from antipodes_tasks.searches.unreachability import UnreachableProof

FAR = 1 << 62
EXPANDED, FOUND = 1, 2
"""The entries of each kernel's tally that count the positions expanded, and the paths found."""
MANY = 1 << 20
"""Paths found from which on they are counted by layers: there may be billions."""


class _Pass(NamedTuple):
    """The result of a search down to one depth."""

    paths: list[Labels]
    found: int
    following: int
    """The least length that a pruned path could have."""


@dataclass(frozen=True, eq=False, slots=True)
class _Descent:
    """A search down to one depth, by a kernel that is called again and again."""

    kernel: Callable[[int], bool]
    """Expand about as many more positions as it is told; return whether the search is over."""
    tally: NDArray[Any]
    result: Callable[[], _Pass]

    @property
    def expanded(self) -> int:
        """Positions expanded so far."""
        return int(self.tally[EXPANDED])

    @property
    def found(self) -> int:
        """Paths found so far."""
        return int(self.tally[FOUND])


def deepen(method: str, problem: Problem, heuristic: Heuristic, request: Request) -> Answer:
    """Find one shortest path to a goal, or ``every`` one; branches that the heuristic shows to be too long are pruned.

    The first depth is the heuristic of the position, or the next depth of a possible parity. If no goal can be reached,
    the search ends only if its `UnreachableProof` fits into memory.
    """
    if problem.known_unreachable:
        return unsolved(method, Outcome.UNREACHABLE)
    if (problem.goals == problem.position).all(axis=1).any():
        return Answer(method, Outcome.SOLVED, 0, (problem.position[np.newaxis],), 1, 0)
    runner = _Runner(method, request.listener, UnreachableProof(problem, request.memory_limit))
    depth = _with_parity(max(1, _estimate(problem, heuristic)), problem)
    while depth < NEVER:
        if request.max_depth is not None and depth > request.max_depth:
            return unsolved(method, Outcome.DEPTH_LIMIT, runner.expanded, depth)
        descent = _descent_to(depth, problem, heuristic, request)
        if not runner.complete(descent, depth):
            break
        if descent.found > MANY:
            return _counted(method, problem, heuristic, depth, request, runner)
        result = descent.result()
        if result.found:
            return Answer(method, Outcome.SOLVED, depth, tuple(result.paths), result.found, runner.expanded)
        if runner.proof.advance(runner.expanded):
            break
        depth = _with_parity(result.following, problem)
    return unsolved(method, Outcome.UNREACHABLE, runner.expanded)


@dataclass(eq=False, slots=True)
class _Runner:
    """Runs one descent after another, reports the progress, and advances the proof beside them."""

    method: str
    listener: Listener
    proof: UnreachableProof
    pace: Pace = field(default_factory=Pace)
    expanded: int = 0
    """Positions expanded by all descents."""

    def complete(self, descent: _Descent, depth: int) -> bool:
        """Run a descent to its end, or until it has found many paths; False if the proof succeeds first."""
        before, over = self.expanded, False
        self.expanded += descent.expanded  # some kernels count the position itself from the start
        while not over and descent.found <= MANY:
            self.listener(Progress(self.method, depth, self.expanded, 0))
            self.pace.start()
            over = descent.kernel(self.pace.budget)
            self.pace.learn(before + descent.expanded - self.expanded)
            self.expanded = before + descent.expanded
            if not over and self.proof.advance(self.expanded):
                return False
        return True


def _counted(
    method: str, problem: Problem, heuristic: Heuristic, distance: int, request: Request, runner: _Runner
) -> Answer:
    """The answer with all paths of the distance, which the layers between position and goals give.

    Without a heuristic, those from both ends are the smallest.
    """
    before = runner.expanded

    def pulse(expanded: int, held: int) -> None:
        runner.expanded = before + expanded
        request.listener(Progress(method, distance, runner.expanded, held))

    if len(heuristic.costs):
        paths = PathLayers(problem, heuristic, distance, request.memory_limit, pulse).paths()
        return solved(method, paths, request, runner.expanded)
    frontiers: Frontiers = Frontiers(
        problem, request.memory_limit, lambda: pulse(frontiers.expanded, frontiers.held), MORE_MEMORY
    )
    while not len(frontiers.common):
        frontiers.expand()
    return solved(method, frontiers.paths(every=True), request, runner.expanded)


def _with_parity(depth: int, problem: Problem) -> int:
    return depth if depth % 2 in problem.parities else depth + 1


def _estimate(problem: Problem, heuristic: Heuristic) -> int:
    if not len(heuristic.costs):
        return 0
    from antipodes_tasks.searches.deepening.blank_kernels import estimate

    return estimate(problem.position, *heuristic)


def _descent_to(depth: int, problem: Problem, heuristic: Heuristic, request: Request) -> _Descent:
    edges = swap_edges(problem.rules)
    if edges is not None and problem.rules.counts[0] == 1:
        if problem.packing.words == 1 and not len(heuristic.costs):
            return _walk_blank(depth, problem, edges, request)
        return _move_blank(depth, problem, edges, heuristic, request)
    steps = problem.steps
    if not isinstance(steps, CompiledSteps):
        return _move_blocks(depth, problem, request)
    if edges is not None and problem.packing.words == 1:
        return _move_pieces(depth, problem, steps, heuristic, request)
    return _move_any(depth, problem, steps, heuristic, request)


def _room(depth: int, request: Request, dtype: type[np.integer[Any]], length: int) -> NDArray[Any]:
    """Room for the paths that a kernel finds, ``(paths, length)``: no more than fit into memory."""
    fitting = max(1, request.memory_limit // (PATH_BYTES + 8 * (depth + 1))) if request.every else 1
    return np.empty((min(request.listed, fitting), length), dtype=dtype)


def _shown(paths: NDArray[Any], found: int, problem: Problem, request: Request) -> NDArray[Any]:
    """The paths to list; ResourceLimitError if they take too much memory."""
    if request.every:
        check_listing(min(found, request.listed), paths.shape[1], problem.rules.places, request.memory_limit)
    return paths[:found]


def _walk_blank(depth: int, problem: Problem, edges: Edges, request: Request) -> _Descent:
    from antipodes_tasks.searches.deepening.word_kernels import LEFT_BITS, walk_blank

    packing = problem.packing
    steps = blank_steps(edges, packing, set(np.nonzero(problem.goals == 0)[1].tolist()))
    room = (depth + 1) * max(1, int(np.diff(steps.first).max()))
    words, pending = np.zeros((2, room), dtype=np.uint64)
    words[0] = packing.pack(problem.position[np.newaxis])[0, 0]
    pending[0] = int(np.flatnonzero(problem.position == 0)[0]) << int(LEFT_BITS) | depth
    tally = np.array([1, 0, 0, 0], dtype=np.uint64)
    goals = packing.pack(problem.goals)[:, 0]
    path, paths = np.empty(depth + 1, dtype=np.uint64), _room(depth, request, np.uint64, depth + 1)
    rules = (goals, *steps[:5], packing.bits[0])

    def result() -> _Pass:
        _, _, found, cut = tally.tolist()
        blanks = steps.place[_shown(paths, found, problem, request)]
        return _Pass([_follow_blank(problem.position, one) for one in blanks], found, depth + 1 if cut else FAR)

    return _Descent(
        lambda budget: walk_blank(words, pending, tally, budget, *rules, path, paths, request.every), tally, result
    )


def _move_blank(depth: int, problem: Problem, edges: Edges, heuristic: Heuristic, request: Request) -> _Descent:
    from antipodes_tasks.searches.deepening.blank_kernels import descend

    places = problem.rules.places
    backwards = frozenset((b, a) for a, b in edges)
    origins = neighbours(backwards, places)
    origin_at = np.cumsum([0, *map(len, origins)]).astype(np.uint64)
    ends = set(np.nonzero(problem.goals == 0)[1].tolist())
    away = distances_to(ends, backwards, places).astype(np.int64)
    blanks = np.full(depth + 1, np.flatnonzero(problem.position == 0)[0], dtype=np.uint64)
    cursors = np.full(depth + 1, origin_at[blanks[0]])
    estimates = np.full(depth + 1, _estimate(problem, heuristic))
    tally = np.array([0, 1, 0, FAR])
    paths = _room(depth, request, np.uint64, depth + 1)
    state = (problem.position.copy(), blanks, cursors, estimates, tally)
    graph = (origin_at, np.array([a for own in origins for a in own], dtype=np.uint64))
    rules: tuple[Any, ...] = (problem.goals, *graph, np.where(away < 0, NEVER, away), *heuristic, paths, request.every)

    def result() -> _Pass:
        _, _, found, following = tally.tolist()
        blanks = _shown(paths, found, problem, request)
        return _Pass([_follow_blank(problem.position, path) for path in blanks], found, following)

    return _Descent(lambda budget: descend(*(*state, budget, *rules)), tally, result)


def _follow_blank(position: Labels, path: NDArray[np.uint64]) -> Labels:
    """The positions when the blank goes from place to place."""
    positions = [position]
    for before, after in pairwise(path.tolist()):
        labels = positions[-1].copy()
        labels[[before, after]] = labels[[after, before]]
        positions.append(labels)
    return np.array(positions)


def _move_pieces(
    depth: int, problem: Problem, steps: CompiledSteps, heuristic: Heuristic, request: Request
) -> _Descent:
    from antipodes_tasks.searches.deepening.word_kernels import move_pieces

    packing, arrays, moves = problem.packing, steps.arrays, steps.most
    destination, origin = arrays.guard, arrays.tested
    added = np.zeros((moves, len(problem.rules.symbols)), dtype=np.int64)
    if len(heuristic.costs):
        added[:] = (heuristic.costs[:, destination] - heuristic.costs[:, origin]).T
    words = np.zeros(depth * moves + 1, dtype=np.uint64)
    words[0] = packing.pack(problem.position[np.newaxis])[0, 0]
    pending = np.zeros((len(words), 3), dtype=np.int64)
    pending[0] = moves, depth, _estimate(problem, heuristic)
    tally = np.array([1, 0, 0, FAR])
    shifts = packing.layout.shift[np.stack((origin, destination))]
    path, paths = np.empty(depth + 1, dtype=np.int64), _room(depth, request, np.int64, depth + 1)
    goals, inverse = packing.pack(problem.goals)[:, 0], np.append(arrays.inverse, -1)
    rules = (goals, shifts[0], shifts[1], inverse, added, packing.bits[0])

    def result() -> _Pass:
        _, _, found, following = tally.tolist()
        taken = _shown(paths, found, problem, request)[:, 1:]
        return _Pass([steps.replay(problem.position, one) for one in taken], found, following)

    return _Descent(
        lambda budget: move_pieces(words, pending, tally, budget, *rules, path, paths, request.every), tally, result
    )


def _move_any(depth: int, problem: Problem, steps: CompiledSteps, heuristic: Heuristic, request: Request) -> _Descent:
    from antipodes_tasks.searches.deepening.depth_first_kernels import Descent, descend

    tally = np.array([0, 1, 0, FAR])
    descent = Descent(
        labels=np.repeat(problem.position[np.newaxis], depth + 1, axis=0),
        candidate=np.zeros(depth + 1, dtype=np.int64),
        taken=np.empty(depth, dtype=np.int64),
        estimates=np.full(depth + 1, _estimate(problem, heuristic)),
        tally=tally,
    )
    paths = _room(depth, request, np.int64, depth)
    rules = (problem.goals, steps.arrays, heuristic.costs)

    def result() -> _Pass:
        _, _, found, following = tally.tolist()
        taken = _shown(paths, found, problem, request)
        return _Pass([steps.replay(problem.position, path) for path in taken], found, following)

    return _Descent(lambda budget: descend(descent, budget, *rules, paths, request.every), tally, result)


def _move_blocks(depth: int, problem: Problem, request: Request) -> _Descent:
    search = BlockDescent(problem, depth, _room(depth, request, np.uint8, 0).shape[0], request.every)

    def result() -> _Pass:
        check_listing(len(search.paths), depth, problem.rules.places, request.memory_limit)
        _, _, found, following = search.tally.tolist()
        return _Pass(search.paths, found, following)

    return _Descent(search.advance, search.tally, result)
