"""Iterative deepening: depth-first searches with increasing depth limits, in steps of two if the parity is known."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Mask, Words
from antipodes_tasks.base.errors import InputError, ResourceLimitError
from antipodes_tasks.base.jit import working_clock
from antipodes_tasks.keys.position_set import PositionSet
from antipodes_tasks.properties.lower_bounds import UNREACHABLE_COST
from antipodes_tasks.searches.answer import DEFAULT_LIMIT, Answer, Outcome, Proof, unsolved
from antipodes_tasks.searches.breadth_first import Frontiers
from antipodes_tasks.searches.depth_first import Descent
from antipodes_tasks.searches.heuristic import NO_HEURISTIC, GuidedByBound, Heuristic
from antipodes_tasks.searches.problem import A_PROBLEM, Problem, Request
from antipodes_tasks.searches.progress import Listener, Pace, Progress, silence
from antipodes_tasks.searches.shares import shared
from antipodes_tasks.searches.shortest_paths import Edges, ShortestPaths, solved

MIN_PATHS_TO_LAYER = 1 << 20
"""Maximum number of paths that are found one by one; more paths, maybe billions, are counted layer by layer."""
BLOCK = 1 << 16
"""Number of positions expanded at a time; interruptions are handled in between."""
MORE_MEMORY = "; allow more memory"
EDGE_BYTES = 24
"""Memory of a move between layers, in bytes: the numbers of its two positions, and one more number during sorting."""
SHARE = 8
"""Number of positions that the search expands per position that the proof expands."""
MIN_EXPANDED_FOR_PROOF = 1 << 16
"""Number of positions that the search expands before the proof begins."""
SHARED_DESCENT_SECONDS = 0.2
"""Minimum duration of a descent, in seconds, after which threads share the next one, which takes much longer."""
PREPARE_AFTER_SECONDS = 1.0
"""Minimum duration of a descent, in seconds, after which the heuristic prepares structures to speed up the next one."""
PROOF_MEMORY = 1 << 30
"""Default maximum number of bytes for the proof."""


def iddfs(
    problem: Problem,
    *,
    every: bool = False,
    max_depth: int | None = None,
    listed: int = DEFAULT_LIMIT,
    memory_limit: int = PROOF_MEMORY,
    listener: Listener = silence,
) -> Answer:
    """Find one shortest path to the nearest goal, or ``every`` one; list at most ``listed`` paths.

    The search takes almost no memory, never undoes the last move, and skips depths of a parity that no path can have.
    If it takes long and `solvable` cannot decide whether a goal is reachable, the search alternates with an attempt to
    prove that no goal is reachable, within ``memory_limit`` bytes. If the attempt fails and no goal is reachable, the
    search only ends at ``max_depth``.

    Raises
    ------
    InputError
        An argument has the wrong type or is negative.
    ResourceLimitError
        The listed paths take more memory than ``memory_limit``.
    """
    arguments.instance(problem, Problem, A_PROBLEM).check_listed("iddfs")
    return _deepen("iddfs", problem, NO_HEURISTIC, Request(every, max_depth, listed, memory_limit, listener))


def ida_star(
    problem: Problem,
    *,
    every: bool = False,
    max_depth: int | None = None,
    listed: int = DEFAULT_LIMIT,
    heuristic: str | Heuristic | None = None,
    memory_limit: int = PROOF_MEMORY,
    threads: int = 1,
    listener: Listener = silence,
) -> Answer:
    """Search with IDA* (R. E. Korf 1985): like `iddfs`, but an admissible heuristic prunes branches.

    The ``heuristic`` is an object, such as pattern tables, or a name in `heuristics.NAMED`; the default is the
    strongest name for the puzzle. With pattern tables, ``threads`` share a long search. They find the path that a
    single thread would find, or every path.

    Raises
    ------
    InputError
        The heuristic does not support the moves of the puzzle, or no heuristic does; or an argument has the wrong type
        or is negative.
    ResourceLimitError
        The listed paths take more memory than ``memory_limit``.
    """
    arguments.instance(problem, Problem, A_PROBLEM).check_listed("ida-star")
    if callable(heuristic):
        raise InputError("ida-star needs a named heuristic or pattern tables; a function can guide astar and beam")
    guide = heuristic if isinstance(heuristic, Heuristic) else GuidedByBound.of(problem, heuristic)
    guide.check(problem)
    answer = _deepen("ida-star", problem, guide, Request(every, max_depth, listed, memory_limit, listener, threads))
    is_solved = answer.outcome == Outcome.SOLVED
    return replace(answer, proved=Proof.SHORTEST, bound=1.0, violations=0, drops=0) if is_solved else answer


def _deepen(method: str, problem: Problem, heuristic: Heuristic, request: Request) -> Answer:
    """Find one shortest path to a goal, or ``every`` one; the heuristic prunes branches that are too long.

    The first depth limit is the position's heuristic, rounded up to a possible parity. If no goal is reachable, the
    search ends only if its `_UnreachableProof` fits in memory.
    """
    if problem.known_unreachable:
        return unsolved(method, Outcome.UNREACHABLE)
    if (problem.goals == problem.position).all(axis=1).any():
        return Answer(method, Outcome.SOLVED, 0, (problem.position[np.newaxis],), 1, 0)
    runner = _Runner(
        method, request.listener, _UnreachableProof(problem, request.memory_limit, heuristic.shows_reachable)
    )
    depth = _with_parity(max(1, heuristic.bound(problem.position)), problem)
    while depth < UNREACHABLE_COST:
        if request.max_depth is not None and depth > request.max_depth:
            return unsolved(method, Outcome.DEPTH_LIMIT, runner.expanded, depth)
        descent = _descent_to(depth, problem, heuristic, request, runner)
        if not runner.complete(descent, depth):
            break
        if descent.found > MIN_PATHS_TO_LAYER:
            return _counted(method, problem, heuristic, depth, request, runner)
        result = descent.result()
        if result.found:
            solutions = tuple(result.paths)
            return Answer(
                method, Outcome.SOLVED, depth, solutions, result.found, runner.expanded, generated=runner.generated
            )
        if runner.proof.advance(runner.expanded):
            break
        depth = _with_parity(result.following, problem)
    return unsolved(method, Outcome.UNREACHABLE, runner.expanded)


class _UnreachableProof:
    """An attempt to prove that no goal is reachable, made alongside iterative deepening.

    Iterative deepening stores no positions. So if paths can form cycles, it never notices that it has seen all
    positions. The proof expands a fixed fraction of the number of positions that the search expands. It ends when its
    two frontiers meet (a goal is reachable), when one side has no more positions (no goal is reachable), or when its
    memory is full (undecided). It does not begin if a goal is known to be ``reachable``.
    """

    def __init__(self, problem: Problem, memory_limit: int = PROOF_MEMORY, reachable: bool = False) -> None:
        self._problem = problem
        self._memory_limit = memory_limit
        self._frontiers: Frontiers | None = None
        self._over = reachable

    def advance(self, expanded: int) -> bool:
        """Do the share of work due after ``expanded`` positions of the search; return whether the proof succeeded."""
        if self._over or expanded < MIN_EXPANDED_FOR_PROOF:
            return False
        try:
            return self._expand(expanded // SHARE)
        except ResourceLimitError:
            self._end()
            return False

    def _expand(self, max_expanded: int) -> bool:
        if self._frontiers is None:
            if self._problem.known_reachable:
                self._end()
                return False
            self._frontiers = Frontiers(self._problem, self._memory_limit)
        while not len(self._frontiers.common):
            if self._frontiers.expanded + self._frontiers.next_size > max_expanded:
                return False
            if not self._frontiers.expand():
                return True
        self._end()
        return False

    def _end(self) -> None:
        self._over, self._frontiers = True, None


@dataclass(eq=False, slots=True)
class _Runner:
    """Runs one descent after another, reports the progress, and advances the proof between kernel calls."""

    method: str
    listener: Listener
    proof: _UnreachableProof
    pace: Pace = field(default_factory=Pace)
    expanded: int = 0
    """Number of positions expanded by all descents."""
    seconds: float = 0.0
    """Duration of the last descent, in seconds."""
    generated: int | None = None
    """Number of successors generated by all descents, if they are counted."""

    def report(self, depth: int) -> None:
        """Report to the listener that paths with fewer moves than ``depth`` are excluded."""
        self.listener(Progress(self.method, depth, self.expanded, 0))

    def complete(self, descent: Descent, depth: int) -> bool:
        """Run a descent to its end, or until it has found many paths; return False if the proof succeeds first."""
        before, over, begin = self.expanded, False, working_clock()
        self.expanded += descent.expanded  # some kernels count the root in advance
        while not over and descent.found <= MIN_PATHS_TO_LAYER:
            self.report(depth)
            self.pace.start()
            over = descent.advance(self.pace.budget)
            self.pace.learn(before + descent.expanded - self.expanded)
            self.expanded = before + descent.expanded
            if not over and self.proof.advance(self.expanded):
                return False
        self.seconds = working_clock() - begin
        if descent.generated is not None:
            self.generated = (self.generated or 0) + descent.generated
        return True


def _counted(
    method: str, problem: Problem, heuristic: Heuristic, distance: int, request: Request, runner: _Runner
) -> Answer:
    """Return the answer with the number of all shortest paths, counted from the layers between position and goals.

    Without a heuristic, the layers are searched from both ends, which keeps them smallest.
    """
    before = runner.expanded

    def pulse(expanded: int, held: int) -> None:
        runner.expanded = before + expanded
        request.listener(Progress(method, distance, runner.expanded, held))

    if not heuristic.is_zero:
        paths = _PathLayers(problem, heuristic, distance, request.memory_limit, pulse).paths()
        return solved(method, paths, request, runner.expanded)
    frontiers: Frontiers = Frontiers(
        problem, request.memory_limit, lambda: pulse(frontiers.expanded, frontiers.held), MORE_MEMORY
    )
    while not len(frontiers.common):
        frontiers.expand()
    return solved(method, frontiers.paths(every=True), request, runner.expanded)


def _descent_to(depth: int, problem: Problem, heuristic: Heuristic, request: Request, runner: _Runner) -> Descent:
    """Return the search for paths of ``depth`` moves, prepared and shared by threads if the last one took long."""
    if runner.seconds > PREPARE_AFTER_SECONDS:
        heuristic.prepare(request.threads, lambda: runner.report(depth))
    if heuristic.uses_threads and request.threads > 1 and runner.seconds > SHARED_DESCENT_SECONDS:
        return shared(depth, request.threads, request, lambda share: heuristic.descent(depth, problem, request, share))
    return heuristic.descent(depth, problem, request)


def _with_parity(depth: int, problem: Problem) -> int:
    return depth if depth % 2 in problem.parities else depth + 1


class _PathLayers:
    """The layers of positions from which the heuristic allows a path of ``distance`` moves in total.

    ``pulse`` is called with the number of expanded positions and the number of positions in the current layer.
    """

    def __init__(
        self,
        problem: Problem,
        heuristic: Heuristic,
        distance: int,
        memory_limit: int,
        pulse: Callable[[int, int], None],
    ) -> None:
        self._problem, self._heuristic, self._distance = problem, heuristic, distance
        self._free, self._pulse = memory_limit, pulse
        self._expanded = 0

    def paths(self) -> ShortestPaths:
        """Return the paths; raise ResourceLimitError if their positions take more than the memory limit."""
        problem = self._problem
        layers, edges = [problem.packing.pack(problem.position[np.newaxis])], list[Edges]()
        for left in reversed(range(self._distance)):
            layer, led = self._next_layer(layers[-1], left)
            layers.append(layer)
            edges.append(led)
        goals = problem.packing.pack(problem.goals)
        wanted: Mask = (layers[-1][:, np.newaxis] == goals).all(axis=2).any(axis=1)
        return self._leading_to(wanted, layers, edges)

    def _next_layer(self, layer: Words, left: int) -> tuple[Words, Edges]:
        """Return the successors of a layer that may be ``left`` moves from a goal, and the moves that lead to them."""
        problem = self._problem
        found, edges = PositionSet(problem.packing, self._free, MORE_MEMORY), [np.empty((0, 2), dtype=np.int64)]
        for begin in range(0, len(layer), BLOCK):
            self._pulse(self._expanded + begin, len(found))
            after, before = problem.steps.successors(problem.packing.unpack(layer[begin : begin + BLOCK]))
            near = self._heuristic.bounds(after) <= left
            keys = problem.packing.pack(after[near])
            found.add(keys)
            edges.append(np.stack((before[near] + begin, found.numbers(keys)), axis=1))
            self._take(EDGE_BYTES * len(keys))
        self._expanded += len(layer)
        words = found.words[: len(found)].copy()
        self._take(words.nbytes)
        return words, np.concatenate(edges)

    def _leading_to(self, wanted: Mask, layers: list[Words], edges: list[Edges]) -> ShortestPaths:
        """Return the paths to the wanted positions of the last layer."""
        kept = [layers[-1][wanted]]
        for i in reversed(range(len(edges))):
            used = edges[i][wanted[edges[i][:, 1]]]
            reaching = np.zeros(len(layers[i]), dtype=np.bool_)
            reaching[used[:, 0]] = True
            number = np.cumsum(reaching)[used[:, 0]] - 1, np.cumsum(wanted)[used[:, 1]] - 1
            pairs = np.unique(number[0] * len(kept[-1]) + number[1])  # two moves may have the same result
            edges[i] = np.stack(np.divmod(pairs, len(kept[-1])), axis=1)
            kept.append(layers[i][reaching])
            wanted = reaching
        return ShortestPaths(tuple(map(self._problem.packing.unpack, reversed(kept))), tuple(edges))

    def _take(self, size: int) -> None:
        self._free = max(0, self._free - size)
