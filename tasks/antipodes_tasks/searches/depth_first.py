"""Depth-first search down to one depth, in steps: each call resumes where the last one stopped.

Three searches, because measurements say so. A blank without a heuristic, whose position fits into a word, is walked at
half a billion positions a second; `_descend`, for all other moves in machine code, reaches a tenth of that; moves that
are functions of numpy are made on blocks of positions. In each, a goal counts at the greatest depth only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.puzzles.puzzle import Labels
from antipodes_tasks.puzzles.swap_graph import UNREACHABLE, Edges, distances_to, neighbours, swap_edges
from antipodes_tasks.reachability.position_set import Numbers, Packing, Words
from antipodes_tasks.reachability.steps import CompiledSteps, MoveArrays, is_legal
from antipodes_tasks.searches.answer import PATH_BYTES, check_listing
from antipodes_tasks.searches.heuristics import NEVER, Heuristic, Lookups
from antipodes_tasks.searches.problem import Problem, Request

FAR = 1 << 62
BLOCK = 1 << 12
"""Positions that functions expand together, at most."""
EXPANDED, FOUND = 1, 2
"""The entries of each kernel's tally that count the positions expanded, and the paths found."""
DEPTH, NEXT_BOUND = 0, 3
ZERO, ONE = np.uint64(0), np.uint64(1)
NOTHING = ~ZERO
"""No move."""
LEFT_BITS = np.uint64(16)
LEFT = np.uint64(0xFFFF)
"""The bits of a pending entry that say how many moves are left; the others name the blank's last step."""


class Pass(NamedTuple):
    """The result of a search down to one depth."""

    paths: list[Labels]
    found: int
    following: int
    """The least length that a pruned path could have."""


@dataclass(frozen=True, eq=False, slots=True)
class Descent:
    """A search down to one depth, in steps."""

    advance: Callable[[int], bool]
    """Expand about as many more positions as it is told; return whether the search is over."""
    tally: NDArray[Any]
    result: Callable[[], Pass]

    @property
    def expanded(self) -> int:
        """Positions expanded so far."""
        return int(self.tally[EXPANDED])

    @property
    def found(self) -> int:
        """Paths found so far."""
        return int(self.tally[FOUND])


def descent_to(depth: int, problem: Problem, heuristic: Heuristic, request: Request) -> Descent:
    """The search for paths of ``depth`` moves, by the fastest kernel for the moves of the problem."""
    edges = swap_edges(problem.puzzle)
    one_blank = edges is not None and problem.puzzle.counts[0] == 1
    if edges is not None and one_blank and problem.packing.words == 1 and heuristic.is_zero:
        return _walk_of_blank(depth, problem, edges, request)
    if isinstance(problem.steps, CompiledSteps):
        return _descent_by_moves(depth, problem, problem.steps, edges if one_blank else None, heuristic, request)
    return _descent_by_blocks(depth, problem, request)


def _room(depth: int, request: Request, dtype: type[np.integer[Any]], length: int) -> NDArray[Any]:
    """Room for the paths that a kernel finds, ``(paths, length)``: no more than fit into memory."""
    fitting = max(1, request.memory_limit // (PATH_BYTES + 8 * (depth + 1))) if request.every else 1
    return np.empty((min(request.listed, fitting), length), dtype=dtype)


def _listed(paths: NDArray[Any], found: int, problem: Problem, request: Request) -> NDArray[Any]:
    """The paths to list; ResourceLimitError if they take too much memory."""
    if request.every:
        check_listing(min(found, request.listed), paths.shape[1], problem.puzzle.places, request.memory_limit)
    return paths[:found]


class _BlankSteps(NamedTuple):
    """Steps from place to place; those numbered below the number of places stand for a blank that begins there."""

    first: Words
    """``(steps + 1,)``: the steps that may follow step ``s`` are ``following[first[s] : first[s + 1]]``: not back."""
    end_of: Words
    """``(steps, moves left + 1)``: one past the last step in ``following`` that can reach a goal in the moves left."""
    following: Words
    """In ascending order of the distance to the blank of a goal."""
    shift: Words
    """``(steps,)``: the shift, in bits, of the piece that moves the other way in a packed position."""
    spread: Words
    """``(steps,)``: a bit for the blank's place before and after the step; times the piece, it is the change."""
    place: Words
    """``(steps,)``: where the blank is after the step."""

    @classmethod
    def of(cls, edges: Edges, packing: Packing, ends: set[int]) -> "_BlankSteps":
        """The steps of a blank when pieces move along ``edges``, and it has to come to one of the places ``ends``."""
        backwards = frozenset((b, a) for a, b in edges)
        away = distances_to(ends, backwards, packing.places)
        steps = [(place, place) for place in range(packing.places)]
        steps += [(a, b) for a, origins in enumerate(neighbours(backwards, packing.places)) for b in origins]
        lists = _following(steps, away.tolist())
        distances = [[int(away[steps[step][1]]) for step in own] for own in lists]
        first = np.cumsum([0, *map(len, lists)])
        moves = range(int(away.max()) + 2)
        within = [[sum(distance < left for distance in own) for left in moves] for own in distances]
        bit = [1 << packing.bits[0] * place for place in range(packing.places)]
        return cls(
            first=first.astype(np.uint64),
            end_of=(first[:-1, np.newaxis] + np.array(within)).astype(np.uint64),
            following=np.array([step for own in lists for step in own], dtype=np.uint64),
            shift=np.array([packing.bits[0] * b for _, b in steps], dtype=np.uint64),
            spread=np.array([bit[a] ^ bit[b] for a, b in steps], dtype=np.uint64),
            place=np.array([b for _, b in steps], dtype=np.uint64),
        )


def _following(steps: list[tuple[int, int]], away: list[int]) -> list[list[int]]:
    """The numbers of the steps that may follow each: from its end, not back, not out of reach of a goal."""
    leaving: list[list[int]] = [[] for _ in away]
    for number, (a, b) in enumerate(steps):
        if a != b and away[b] != UNREACHABLE:
            leaving[a].append(number)
    lists = [[step for step in leaving[b] if steps[step][1] != a] for a, b in steps]
    return [sorted(own, key=lambda step: away[steps[step][1]]) for own in lists]


def _walk_of_blank(depth: int, problem: Problem, edges: Edges, request: Request) -> Descent:
    packing = problem.packing
    steps = _BlankSteps.of(edges, packing, set(np.nonzero(problem.goals == 0)[1].tolist()))
    room = (depth + 1) * max(1, int(np.diff(steps.first).max()))
    words, pending = np.zeros((2, room), dtype=np.uint64)
    words[0] = packing.pack(problem.position[np.newaxis])[0, 0]
    pending[0] = int(np.flatnonzero(problem.position == 0)[0]) << int(LEFT_BITS) | depth
    tally = np.array([1, 0, 0, 0], dtype=np.uint64)
    goals = packing.pack(problem.goals)[:, 0]
    path, paths = np.empty(depth + 1, dtype=np.uint64), _room(depth, request, np.uint64, depth + 1)
    rules = (goals, *steps[:5], packing.bits[0])

    def result() -> Pass:
        _, _, found, cut = tally.tolist()
        blanks = steps.place[_listed(paths, found, problem, request)]
        return Pass([_follow_blank(problem.position, one) for one in blanks], found, depth + 1 if cut else FAR)

    return Descent(
        lambda budget: _walk_blank(words, pending, tally, budget, *rules, path, paths, request.every), tally, result
    )


def _follow_blank(position: Labels, path: Words) -> Labels:
    """The positions when the blank goes from place to place."""
    positions = [position]
    for before, after in pairwise(path.tolist()):
        labels = positions[-1].copy()
        labels[[before, after]] = labels[[after, before]]
        positions.append(labels)
    return np.array(positions)


@kernel
def _walk_blank(
    words: Words,
    pending: Words,
    tally: Words,
    budget: int,
    goals: Words,
    first: Words,
    end_of: Words,
    following: Words,
    shift: Words,
    spread: Words,
    bits: int,
    path: Words,
    paths: Words,
    every: bool,
) -> bool:
    """Whether the search is over; otherwise it has expanded about ``budget`` positions and must be called again.

    A move is an exclusive or, so no move is undone: ``words`` and ``pending`` are a stack, and the next position is in
    registers. Indices have no sign, so that none is tested for counting from the end. Steps of the blank are those of
    `_BlankSteps`; ``path`` is the current path; the paths found are copied to ``paths`` while there is room.
    """
    greatest, farthest = np.uint64(len(path) - 1), np.uint64(end_of.shape[1] - 1)
    mask = (ONE << np.uint64(bits)) - ONE
    size, expanded, found, cut = tally
    stop = expanded + np.uint64(budget)
    while size > ZERO and expanded < stop and (every or found == ZERO):
        size -= ONE
        word, step = words[size], pending[size] >> LEFT_BITS
        left = pending[size] & LEFT
        while True:
            path[greatest - left] = step
            expanded += ONE
            i, end = first[step], end_of[step, min(left, farthest)]
            cut |= end ^ first[step + ONE]
            if left == ONE or i == end:
                break
            left -= ONE
            end -= ONE
            while i < end:
                step = following[i]
                words[size] = word ^ (((word >> shift[step]) & mask) * spread[step])
                pending[size] = step << LEFT_BITS | left
                size += ONE
                i += ONE
            step = following[end]
            word ^= ((word >> shift[step]) & mask) * spread[step]
        while i < end:
            path[greatest] = following[i]
            last = word ^ (((word >> shift[following[i]]) & mask) * spread[following[i]])
            i += ONE
            cut |= ONE
            for goal in goals:
                if goal == last and (every or found == ZERO):
                    if found < len(paths):
                        paths[found] = path
                    found += ONE
    tally[:] = size, expanded, found, cut
    return bool(size == ZERO or (found > ZERO and not every))


class _Stack(NamedTuple):
    """The state of `_descend`; in arrays with an entry per depth, index 0 is the root."""

    labels: Labels
    """``(bound + 1, bytes)``: the current position at each depth, and padding to whole words."""
    candidate: Words
    """``(bound + 1,)``: which move is to be tried next."""
    end: Words
    """``(bound + 1,)``: one past the last move to be tried."""
    taken: Words
    """``(bound,)``: the move that led from each depth to the next."""
    estimates: Numbers
    """``(bound + 1,)``: the heuristic at each depth."""
    numbers: Words
    """``(tables,)``: the numbers of the current position in the tables of the heuristic."""
    tally: Numbers
    """``[DEPTH, EXPANDED, FOUND, NEXT_BOUND]``: the last is the least total of a pruned branch."""


def _descent_by_moves(
    depth: int, problem: Problem, steps: CompiledSteps, edges: Edges | None, heuristic: Heuristic, request: Request
) -> Descent:
    """The search by `_descend`; ``edges`` if there is one blank, which narrows the moves and bounds the distance."""
    places, moves, lookups = problem.puzzle.places, steps.arrays, heuristic.lookups()
    away, first_of = np.zeros(places, dtype=np.int64), np.empty(0, dtype=np.uint64)
    candidate, end = np.zeros((2, depth + 1), dtype=np.uint64)
    end[0] = len(steps)
    if edges is not None:
        ends = set(np.nonzero(problem.goals == 0)[1].tolist())
        away[:] = distances_to(ends, frozenset((b, a) for a, b in edges), places)
        away[away == UNREACHABLE] = NEVER
        first_of = np.searchsorted(moves.guard, np.arange(places + 1)).astype(np.uint64)
        candidate[0], end[0] = first_of[problem.position.argmin() :][:2]
    labels = np.zeros((depth + 1, -(-places // 8) * 8), dtype=np.uint8)
    labels[0, :places] = problem.position
    stack = _Stack(
        labels=labels,
        candidate=candidate,
        end=end,
        taken=np.zeros(depth, dtype=np.uint64),
        estimates=np.full(depth + 1, heuristic.estimate(problem.position)),
        numbers=heuristic.numbers(problem.position),
        tally=np.array([0, 1, 0, FAR]),
    )
    paths = _room(depth, request, np.uint64, depth)
    rules = (problem.goals, moves, first_of, away, lookups)

    def result() -> Pass:
        _, _, found, following = stack.tally.tolist()
        taken = _listed(paths, found, problem, request)
        return Pass([steps.replay(problem.position, path) for path in taken], found, following)

    return Descent(lambda budget: _descend(stack, budget, *rules, paths, request.every), stack.tally, result)


@kernel
def _descend(
    stack: _Stack,
    budget: int,
    goals: Labels,
    moves: MoveArrays,
    first_of: Words,
    away: Numbers,
    lookups: Lookups,
    paths: Words,
    every: bool,
) -> bool:
    """Whether the search is over; otherwise it has expanded ``budget`` positions and must be called again.

    ``first_of`` ``(places + 1,)`` is where the moves to an empty place begin, if there is one blank; then ``away`` is
    the distance of each place from where the blank has to be. The moves of the paths found are written to ``paths``
    ``(n, depth)`` while there is room.
    """
    # A call counts the arrays of a tuple in and out, which takes longer than a move: hence the variables. Indices have
    # no sign, so that none is tested for counting from the end.
    labels, candidate, ends, taken, estimates, numbers, tally = stack
    words = labels.view(np.uint64)
    guard, next_group, inverse, redundant = (
        moves.guard,
        moves.next_group.view(np.uint64),
        moves.inverse,
        moves.redundant,
    )
    condition_at, tested, mask = moves.condition_at, moves.tested, moves.mask
    change_at, place, origin = (
        moves.change_at.view(np.uint64),
        moves.place.view(np.uint64),
        moves.origin.view(np.uint64),
    )
    added, moduli, effects = moves.added, moves.moduli, moves.effects
    costs, table_of, weights, values = lookups
    greatest, tables = np.uint64(len(taken)), np.uint64(table_of.shape[1])
    guided, paired, ambiguous, one_blank = len(costs) > 0, len(redundant) > 0, len(effects) > 0, len(first_of) > 0
    depth, expanded, next_bound = np.uint64(tally[DEPTH]), tally[EXPANDED], tally[NEXT_BOUND]
    stop = expanded + budget
    move, end, estimate = candidate[depth], ends[depth], estimates[depth]
    back = np.uint64(inverse[taken[depth - ONE]]) if depth else NOTHING
    over = False
    while expanded < stop:
        if move >= end:
            if depth == ZERO:
                over = True
                break
            depth -= ONE
            first = change_at[taken[depth]]
            piece = labels[depth, origin[first]]
            for i in range(tables):
                numbers[table_of[origin[first], i]] += weights[piece, origin[first], i]
                numbers[table_of[place[first], i]] -= weights[piece, place[first], i]
            move, end, estimate = candidate[depth], ends[depth], estimates[depth]
            back = np.uint64(inverse[taken[depth - ONE]]) if depth else NOTHING
            continue
        this = move
        if not one_blank and guard[this] >= 0 and labels[depth, np.uint64(guard[this])] != 0:
            move = next_group[this]
            continue
        move += ONE
        if this == back:
            continue
        if not one_blank:
            if paired and depth and redundant[taken[depth - ONE], this]:
                continue
            if not is_legal(labels, depth, this, condition_at, tested, mask):
                continue
            if ambiguous and not _is_new(labels, depth, this, effects, moduli, condition_at, tested, mask):
                continue
        first = change_at[this]
        source, target = origin[first], place[first]
        value, piece = estimate, labels[depth, source]
        if guided:
            value += costs[piece, target] - costs[piece, source]
            for i in range(tables):
                left, entered = numbers[table_of[source, i]], numbers[table_of[target, i]]
                less, more = left - weights[piece, source, i], entered + weights[piece, target, i]
                if table_of[source, i] == table_of[target, i]:
                    value += np.int64(values[less + more - left]) - np.int64(values[left])
                else:
                    value += np.int64(values[less]) - np.int64(values[left])
                    value += np.int64(values[more]) - np.int64(values[entered])
        total = np.int64(depth) + 1 + max(value, away[source])
        if total > greatest:
            next_bound = min(next_bound, total)
            continue
        if depth + ONE == greatest:
            next_bound = min(next_bound, total + 1)
            if _leads_to_goal(labels, depth, this, goals, change_at, place, origin, added, moduli):
                taken[depth] = this
                if tally[FOUND] < len(paths):
                    paths[tally[FOUND]] = taken
                tally[FOUND] += 1
                if not every:
                    over = True
                    break
            continue
        below = depth + ONE
        for w in range(np.uint64(words.shape[1])):
            words[below, w] = words[depth, w]
        for change in range(first, change_at[this + ONE]):
            label, p = np.int64(labels[depth, origin[change]]) + added[change], place[change]
            labels[below, p] = label - moduli[p] if label >= moduli[p] else label
        for i in range(tables):
            numbers[table_of[source, i]] -= weights[piece, source, i]
            numbers[table_of[target, i]] += weights[piece, target, i]
        candidate[depth], taken[depth] = move, this
        depth, estimate, back = below, value, np.uint64(inverse[this])
        expanded += 1
        if one_blank:
            move, end = first_of[source], first_of[source + ONE]
        else:
            move, end = ZERO, np.uint64(len(guard))
        ends[depth], estimates[depth] = end, estimate
    candidate[depth] = move
    tally[DEPTH], tally[EXPANDED], tally[NEXT_BOUND] = depth, expanded, next_bound
    return over


@kernel
def _is_new(
    labels: Labels,
    depth: np.uint64,
    move: np.uint64,
    effects: Numbers,
    moduli: Numbers,
    condition_at: Numbers,
    tested: Numbers,
    mask: Words,
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
        if place == len(moduli) and is_legal(labels, depth, earlier, condition_at, tested, mask):
            return False
    return True


@kernel
def _leads_to_goal(
    labels: Labels,
    depth: np.uint64,
    move: np.uint64,
    goals: Labels,
    change_at: Words,
    place: Words,
    origin: Words,
    added: Numbers,
    moduli: Numbers,
) -> bool:
    """Whether a move makes the position at a depth one of the goals."""
    for goal in range(len(goals)):
        change, mended = change_at[move], np.int64(0)
        while change < change_at[move + ONE]:
            p = place[change]
            label = np.int64(labels[depth, origin[change]]) + added[change]
            if label >= moduli[p]:
                label -= moduli[p]
            if label != goals[goal, p]:
                break
            mended += labels[depth, p] != label
            change += ONE
        if change < change_at[move + ONE]:
            continue
        for p in range(goals.shape[1]):
            mended -= labels[depth, p] != goals[goal, p]
        if mended == 0:
            return True
    return False


@dataclass(slots=True)
class _Level:
    """Successors of some positions of the level above."""

    labels: Labels
    parent: Numbers
    """The row of each in the level above."""
    next: int = 0
    """The first row that is not expanded."""


def _descent_by_blocks(depth: int, problem: Problem, request: Request) -> Descent:
    search = _Blocks(problem, depth, len(_room(depth, request, np.uint8, 0)), request.every)

    def result() -> Pass:
        check_listing(len(search.paths), depth, problem.puzzle.places, request.memory_limit)
        _, _, found, following = search.tally.tolist()
        return Pass(search.paths, found, following)

    return Descent(search.advance, search.tally, result)


class _Blocks:
    """The search by blocks: it keeps the successors of one block at each depth, so memory grows with the depth only."""

    def __init__(self, problem: Problem, greatest: int, room: int, every: bool) -> None:
        self.tally = np.array([0, 0, 0, FAR])
        self.paths: list[Labels] = []
        """The paths found, while there is room."""
        self._problem = problem
        self._greatest = greatest
        self._room = room
        self._every = every
        self._levels = [_Level(problem.position[np.newaxis], np.zeros(1, dtype=np.int64))]

    def advance(self, budget: int) -> bool:
        """Expand about ``budget`` more positions; return whether the search is over."""
        stop = self.tally[EXPANDED] + budget
        while self._levels and self.tally[EXPANDED] < stop:
            if self._levels[-1].next == len(self._levels[-1].labels):
                self._levels.pop()
                continue
            self._expand(min(BLOCK, int(stop - self.tally[EXPANDED])))
            if self.tally[FOUND] and not self._every:
                return True
        return not self._levels

    def _expand(self, most: int) -> None:
        """Expand a block of the deepest level."""
        level, depth = self._levels[-1], len(self._levels)
        first = level.next
        block = level.labels[first : first + most]
        level.next += len(block)
        self.tally[EXPANDED] += len(block)
        after, row = self._problem.steps.successors(block)
        new = self._new(after, row + first)
        below = _Level(after[new], row[new] + first)
        if depth < self._greatest:
            self._levels.append(below)
        elif len(new):
            self.tally[NEXT_BOUND] = self._greatest + 1
            self._take_goals(below)

    def _new(self, after: Labels, parent: Numbers) -> Numbers:
        """The successors that do not undo the last move, each once for a position."""
        keep = np.arange(len(after))
        if len(self._levels) > 1:
            level, above = self._levels[-1], self._levels[-2]
            keep = np.flatnonzero((after != above.labels[level.parent[parent]]).any(axis=1))
        keyed = np.column_stack((parent[keep, np.newaxis].view(np.uint64), self._problem.packing.pack(after[keep])))
        _, firsts = np.unique(keyed, axis=0, return_index=True)
        return keep[firsts]

    def _take_goals(self, below: _Level) -> None:
        """Count and list the paths that end at a goal."""
        for i in np.flatnonzero((below.labels[:, np.newaxis] == self._problem.goals).all(axis=2).any(axis=1)).tolist():
            if len(self.paths) < self._room:
                self.paths.append(self._path_to(below, i))
            self.tally[FOUND] += 1

    def _path_to(self, level: _Level, row: int) -> Labels:
        """The positions from the root to a row of the level below the deepest."""
        path = []
        for one in (level, *reversed(self._levels)):
            path.append(one.labels[row])
            row = int(one.parent[row])
        return np.array(path[::-1])
