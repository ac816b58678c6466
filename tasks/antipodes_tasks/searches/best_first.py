"""Searches guided by estimates that are computed in batches: A*, weighted A*, and beam search.

A* expands the positions with the minimum sum of the moves made and ``weight`` times the estimate (P. E. Hart, N. J.
Nilsson and B. Raphael 1968; I. Pohl 1970). If a shorter path to an expanded position is found, the position is expanded
again. Therefore the estimates only have to be lower bounds; they need not be consistent. Several positions with the
same sum are expanded together, so that the estimates of all their successors need one call.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels, Numbers, Words
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.keys.position_set import PositionSet, Slots, find_slot
from antipodes_tasks.properties.lower_bounds import UNREACHABLE_COST
from antipodes_tasks.searches.answer import DEFAULT_LIMIT, Answer, Outcome, Proof, unsolved
from antipodes_tasks.searches.breadth_first import MEMORY_LIMIT
from antipodes_tasks.searches.guides import Guidance, Guide
from antipodes_tasks.searches.problem import A_PROBLEM, Problem, Request
from antipodes_tasks.searches.progress import Listener, Progress, silence

ASTAR, BEAM = "astar", "beam"
MAX_WEIGHT = 1000
DEFAULT_WIDTH = 1000
"""Default number of positions that a beam search keeps at each depth."""
MIN_BATCH, MAX_BATCH = 16, 1 << 13
"""Minimum and maximum number of positions that A* expands together."""
BATCH_SHARE = 16
"""Minimum ratio of positions in memory to positions in a batch. Larger batches expand more positions in vain."""
ADVICE = "; allow more memory, or choose beam, which keeps fewer positions"
SCALE, TIE_BITS = 1 << 10, 21
"""Units of a sum per move in a key of the queue, and bits of the bound below the sum, which break ties."""
Depths = NDArray[np.int32]


def astar(
    problem: Problem,
    *,
    every: bool = False,
    max_depth: int | None = None,
    listed: int = DEFAULT_LIMIT,
    heuristic: Guidance = None,
    weight: float = 1.0,
    memory_limit: int = MEMORY_LIMIT,
    listener: Listener = silence,
) -> Answer:
    """Find a path to a goal that is at most ``weight`` times as long as a shortest one, if the estimates are bounds.

    The ``heuristic`` is a name, pattern tables, or a function from positions ``(n, places)`` to estimates ``(n,)``. The
    answer states what is proved about the length.

    Raises
    ------
    InputError
        The heuristic does not support the puzzle, or fails; ``every`` is True; or an argument is invalid.
    ResourceLimitError
        The positions would take more than ``memory_limit`` bytes.
    """
    request = _request(ASTAR, problem, every, max_depth, listed, memory_limit, listener)
    factor = arguments.number(weight, "weight", 1)
    if factor > MAX_WEIGHT:
        raise InputError(f"weight: expected at most {MAX_WEIGHT}, found {factor:g}; beam ignores the moves made")
    if problem.known_unreachable:
        return unsolved(ASTAR, Outcome.UNREACHABLE)
    return _Queue(problem, Guide.of(problem, heuristic), factor, request).search()


def beam(
    problem: Problem,
    *,
    every: bool = False,
    max_depth: int | None = None,
    listed: int = DEFAULT_LIMIT,
    heuristic: Guidance = None,
    width: int = DEFAULT_WIDTH,
    memory_limit: int = MEMORY_LIMIT,
    listener: Listener = silence,
) -> Answer:
    """Find a path by a breadth-first search that keeps the ``width`` positions with the lowest estimates at each depth.

    The estimates need not be lower bounds. The path may be longer than necessary, and may be missed. The answer counts
    the violations and drops on the path only. Raises as `astar` does.
    """
    request = _request(BEAM, problem, every, max_depth, listed, memory_limit, listener)
    kept = arguments.integer(width, "width", 1)
    if problem.known_unreachable:
        return unsolved(BEAM, Outcome.UNREACHABLE)
    return _beam(problem, Guide.of(problem, heuristic), kept, request)


def _request(
    method: str,
    problem: Problem,
    every: bool,
    max_depth: int | None,
    listed: int,
    memory_limit: int,
    listener: Listener,
) -> Request:
    arguments.instance(problem, Problem, A_PROBLEM)
    if arguments.flag(every, "every"):
        raise InputError(f"{method} finds only one path; choose ida-star or bidirectional to find every shortest path")
    return Request(False, max_depth, listed, memory_limit, listener)


def _goal_test(problem: Problem) -> Callable[[Labels, Words], NDArray[np.bool_]]:
    """Return a function that returns which of the positions ``(n, places)``, packed ``(n, words)``, are goals."""
    matches = problem.matches
    if matches is not None:
        return lambda labels, _: matches(labels)
    goals = PositionSet(problem.packing, MEMORY_LIMIT)
    goals.add(problem.packing.pack(problem.goals))
    return lambda _, keys: goals.numbers(keys) >= 0


class _Nodes(NamedTuple):
    """The positions of an A* search, by number; arrays ``(capacity,)``."""

    cost: Depths
    """Number of moves of the shortest path found so far."""
    bound: Depths
    """Lower bound of the distance to a goal; 0 for goals."""
    parent: Depths
    """Number of the previous position on this path, or -1."""
    is_open: NDArray[np.bool_]
    """Whether the position has to be expanded."""
    is_goal: NDArray[np.bool_]
    is_too_high: NDArray[np.bool_]
    """Whether the estimate is known to be higher than the distance to a goal."""

    @classmethod
    def empty(cls, capacity: int) -> "_Nodes":
        """Return arrays without values."""
        cost, bound, parent = np.empty((3, capacity), dtype=np.int32)
        return cls(cost, bound, parent, *np.zeros((3, capacity), dtype=np.bool_))


class _Queue:
    """An A* search."""

    def __init__(self, problem: Problem, guide: Guide, weight: float, request: Request) -> None:
        self._problem, self._guide, self._weight, self._request = problem, guide, weight, request
        self._is_goal = _goal_test(problem)
        half = request.memory_limit // 2  # the other half is for the arrays and the queue
        self._positions = PositionSet(problem.packing, half, ADVICE)
        self._nodes = _Nodes.empty(len(self._positions.words))
        self._keys, self._numbers = np.empty(1 << 10, dtype=np.int64), np.empty(1 << 10, dtype=np.int32)
        self._waiting = 0
        self._expanded, self._drops, self._cut = 0, 0, False

    def search(self) -> Answer:
        """Return the answer."""
        self._add(self._problem.packing.pack(self._problem.position[np.newaxis]), np.full(1, -1, dtype=np.int64))
        while True:
            most = min(MAX_BATCH, max(MIN_BATCH, len(self._positions) // BATCH_SHARE))
            batch = np.empty(most, dtype=np.int64)
            self._waiting, count = _pop(self._keys, self._numbers, self._waiting, self._nodes, self._weight, batch)
            if not count:
                return self._exhausted()
            if self._nodes.is_goal[batch[0]]:
                return self._solved(int(batch[0]))
            self._expand(batch[:count])

    def _expand(self, batch: Numbers) -> None:
        first = batch[0]
        least = int(self._nodes.cost[first] + self._nodes.bound[first])
        proved = least if self._guide.is_proved and self._weight == 1 else None
        self._request.listener(Progress(ASTAR, proved, self._expanded, len(self._positions)))
        after, before = self._problem.steps.packed_successors(self._positions.words[batch], self._problem.packing)
        self._expanded += len(batch)
        self._add(after, batch[before])

    def _add(self, keys: Words, parents: Numbers) -> None:
        """Add packed positions ``(n, words)`` that follow positions with these numbers ``(n,)``."""
        positions = self._positions
        positions.make_room(len(keys))
        if len(positions.words) > len(self._nodes.cost):
            grown = _Nodes.empty(len(positions.words))
            for old, new in zip(self._nodes, grown, strict=True):
                new[: len(old)] = old
            self._nodes = grown
        before = positions.count
        numbers, changed, rows = np.empty((3, len(keys)), dtype=np.int64)
        positions.count, count = _reach(
            keys, parents, positions.words, positions.slots, before, self._nodes, numbers, changed, rows
        )
        added = slice(before, positions.count)
        if positions.count > before:
            new = keys[rows[: positions.count - before]]
            labels = self._problem.packing.unpack(new)
            bounds, goals = self._guide.bounds(labels), self._is_goal(labels, new)
            if not self._guide.is_proved:
                np.minimum(bounds, UNREACHABLE_COST - 1, out=bounds)  # such positions come last, but are not dropped
            self._nodes.bound[added], self._nodes.is_goal[added] = np.where(goals, 0, bounds), goals
            self._nodes.is_too_high[added] = goals & (bounds > 0)
        if not self._guide.is_proved and (parents >= 0).any():  # there may be no successor
            self._compare(parents, numbers)
        self._push(changed[:count])

    def _compare(self, parents: Numbers, numbers: Numbers) -> None:
        """Compare the bounds of successors ``(n,)``, by number, with the bounds of their predecessors ``(n,)``."""
        nodes = self._nodes
        dropped = nodes.bound[parents] - nodes.bound[numbers] > 1
        self._drops += int(dropped.sum())
        nodes.is_too_high[parents[dropped & nodes.is_goal[numbers]]] = True

    def _push(self, numbers: Numbers) -> None:
        needed = self._waiting + len(numbers)
        if needed > len(self._keys):
            self._keys, self._numbers = np.resize(self._keys, 2 * needed), np.resize(self._numbers, 2 * needed)
        limit = self._request.max_depth
        if limit is not None:
            least = self._nodes.cost[numbers] + (self._nodes.bound[numbers] if self._guide.is_proved else 0)
            self._cut |= bool((least > limit).any())
            numbers = numbers[least <= limit]
        self._waiting = _push(self._keys, self._numbers, self._waiting, self._nodes, self._weight, numbers)

    def _exhausted(self) -> Answer:
        if self._cut:
            assert self._request.max_depth is not None
            return unsolved(ASTAR, Outcome.DEPTH_LIMIT, self._expanded, self._request.max_depth + 1)
        return unsolved(ASTAR, Outcome.UNREACHABLE, self._expanded)

    def _solved(self, goal: int) -> Answer:
        nodes, numbers = self._nodes, [goal]
        while nodes.parent[numbers[-1]] >= 0:
            numbers.append(int(nodes.parent[numbers[-1]]))
        path = np.array(numbers[::-1], dtype=np.int64)
        distance = len(path) - 1
        nodes.is_too_high[path[nodes.bound[path] > distance - np.arange(len(path))]] = True
        wrong = int(nodes.is_too_high[: len(self._positions)].sum())
        waiting = nodes.is_open[: len(self._positions)]
        least = (nodes.cost + nodes.bound)[: len(self._positions)][waiting].min(initial=distance)
        proof, factor = Proof.WITHIN, self._weight
        if distance <= least or self._weight == 1:
            proof, factor = Proof.SHORTEST, 1.0
        return _found(
            ASTAR,
            self._problem.packing.unpack(self._positions.words[path]),
            self._expanded,
            Proof.PATH if wrong else proof,
            None if wrong else factor,
            wrong,
            self._drops,
            not self._guide.is_proved and not wrong and distance > 0,
        )


def _found(
    method: str,
    path: Labels,
    expanded: int,
    proof: Proof,
    factor: float | None,
    wrong: int,
    drops: int,
    conditional: bool,
) -> Answer:
    return Answer(
        method,
        Outcome.SOLVED,
        len(path) - 1,
        (path,),
        1,
        expanded,
        proved=proof,
        bound=factor,
        violations=wrong,
        drops=drops,
        conditional=conditional,
    )


@kernel
def _key(number: int, nodes: _Nodes, weight: float) -> int:
    """Return the key of a position: its sum, and then its bound."""
    bound = np.int64(nodes.bound[number])
    return int((np.int64(np.floor((nodes.cost[number] + weight * bound) * SCALE)) << TIE_BITS) + bound)


@kernel
def _reach(
    keys: Words,
    parents: Numbers,
    words: Words,
    slots: Slots,
    count: int,
    nodes: _Nodes,
    numbers: Numbers,
    changed: Numbers,
    rows: Numbers,
) -> tuple[int, int]:
    """Add positions ``(n, words)``; return the size of the set, and the number of positions with a new shortest path.

    Write the number of each position to ``numbers``, the numbers of the positions with a new shortest path to
    ``changed``, and the row of each new position to ``rows``.
    """
    begin, found = count, 0
    for i in range(len(keys)):
        parent = parents[i]
        cost = nodes.cost[parent] + 1 if parent >= 0 else 0
        slot = find_slot(keys[i], words, slots)
        number = int(slots[slot])
        is_new = number < 0
        if is_new:
            number, slots[slot] = count, count
            words[count] = keys[i]
            rows[count - begin] = i
            nodes.is_goal[count] = False
            count += 1
        numbers[i] = number
        if not is_new and nodes.cost[number] <= cost:
            continue
        # A position that has been expanded is opened again if a shorter path reaches it: estimates may be inconsistent.
        nodes.cost[number], nodes.parent[number], nodes.is_open[number] = cost, parent, True
        changed[found] = number
        found += 1
    return count, found


@kernel
def _push(keys: Numbers, numbers: Depths, size: int, nodes: _Nodes, weight: float, added: Numbers) -> int:
    """Add positions to a binary heap of ``size``, except those with UNREACHABLE_COST; return its new size."""
    for number in added:
        if nodes.bound[number] >= UNREACHABLE_COST:
            nodes.is_open[number] = False
            continue
        key, at = _key(number, nodes, weight), size
        size += 1
        while at > 0 and keys[(at - 1) // 2] > key:
            keys[at], numbers[at] = keys[(at - 1) // 2], numbers[(at - 1) // 2]
            at = (at - 1) // 2
        keys[at], numbers[at] = key, number
    return size


@kernel
def _pop(keys: Numbers, numbers: Depths, size: int, nodes: _Nodes, weight: float, batch: Numbers) -> tuple[int, int]:
    """Remove the first positions from the heap; return its new size, and how many positions are in ``batch``.

    All positions in the batch have the same sum. If the first position is a goal, the batch contains only this goal.
    Entries with an outdated sum are dropped.
    """
    count, sums = 0, np.int64(0)
    while size > 0 and count < len(batch):
        key, number = keys[0], int(numbers[0])
        fresh = nodes.is_open[number] and key == _key(number, nodes, weight)
        if fresh and count > 0 and (key >> TIE_BITS != sums or nodes.is_goal[number]):
            break
        size -= 1
        last, moved, at = keys[size], numbers[size], 0
        while 2 * at + 1 < size:
            child = 2 * at + 1
            if child + 1 < size and keys[child + 1] < keys[child]:
                child += 1
            if keys[child] >= last:
                break
            keys[at], numbers[at] = keys[child], numbers[child]
            at = child
        keys[at], numbers[at] = last, moved
        if fresh:
            nodes.is_open[number] = False
            batch[count], sums = number, key >> TIE_BITS
            count += 1
            if nodes.is_goal[number]:
                break
    return size, count


def _beam(problem: Problem, guide: Guide, width: int, request: Request) -> Answer:
    """Return the answer of a beam search."""
    packing, is_goal = problem.packing, _goal_test(problem)
    seen = PositionSet(packing, request.memory_limit, "; allow more memory, or choose a smaller width")
    layer = problem.position[np.newaxis]
    keys = packing.pack(layer)
    seen.add(keys)
    layers, parents = [layer], list[Numbers]()
    expanded, dropped = 0, False
    goals = np.flatnonzero(is_goal(layer, keys))
    # Until positions are dropped, this is a breadth-first search: an empty layer proves that no goal is reachable, and
    # a path that is found is a shortest one.
    while not len(goals):
        depth = len(parents)
        request.listener(Progress(BEAM, None if dropped else depth + 1, expanded, len(seen)))
        if depth == request.max_depth:
            return unsolved(BEAM, Outcome.DEPTH_LIMIT, expanded, None if dropped else depth + 1)
        after, before = problem.steps.successors(layer)
        expanded += len(layer)
        keys = packing.pack(after)
        rows = np.unique(keys, axis=0, return_index=True)[1] if len(keys) else np.empty(0, dtype=np.int64)
        rows = rows[seen.numbers(keys[rows]) < 0]
        if not len(rows):
            return unsolved(BEAM, Outcome.NOT_FOUND if dropped else Outcome.UNREACHABLE, expanded)
        goals = np.flatnonzero(is_goal(after[rows], keys[rows]))
        if not len(goals) and len(rows) > width:
            rows, dropped = rows[np.argsort(guide.estimates(after[rows]), kind="stable")[:width]], True
        layer = after[rows]
        seen.add(keys[rows])
        layers.append(layer)
        parents.append(before[rows])
    at, path = int(goals[0]), [layer[goals[0]]]
    for own, labels in zip(reversed(parents), reversed(layers[:-1]), strict=True):
        at = int(own[at])
        path.append(labels[at])
    proof, factor = (Proof.PATH, None) if dropped else (Proof.SHORTEST, 1.0)
    found = np.array(path[::-1])
    bounds, left = guide.bounds(found), np.arange(len(parents), -1, -1)
    wrong, drops = int((bounds > left).sum()), 0 if guide.is_proved else int((bounds[:-1] - bounds[1:] > 1).sum())
    return _found(BEAM, found, expanded, proof, factor, wrong, drops, False)
