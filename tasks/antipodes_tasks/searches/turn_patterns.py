"""Pattern databases of puzzles whose moves are legal everywhere: the greatest of what several tables say.

A table has the distances of an *abstraction*: the puzzle with pieces made equal, orientations dropped, or parts left
out. No path in it is longer than in the puzzle, so each distance is a lower bound, and so is the greatest of several
(J. C. Culberson and J. Schaeffer, Pattern Databases, 1998). A symmetry of the puzzle takes a position to one that is as
far from the goal, so a table may be asked for each symmetric image: these are its *views*.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from threading import Lock
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.reachability.position_set import Numbers
from antipodes_tasks.reachability.steps import CompiledSteps
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.parts import random_numbers
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.abstractions import NO_MOVE, Abstraction
from antipodes_tasks.searches.depth_first import FAR, FOUND, NEXT_BOUND, Descent, Pass, listed, room_for_paths
from antipodes_tasks.searches.digits import INDEPENDENT, Digit, digits_of, split
from antipodes_tasks.searches.folding import Folding
from antipodes_tasks.searches.heuristics import NEVER
from antipodes_tasks.searches.packed import packed_size
from antipodes_tasks.searches.patterns import Patterns
from antipodes_tasks.searches.problem import Problem, Request
from antipodes_tasks.searches.progress import A_CALL, Pulse, no_pulse
from antipodes_tasks.searches.shares import WHOLE, Share
from antipodes_tasks.searches.step_descent import PART, STEP_ROOM, StepArrays, StepPath, descend_by_steps
from antipodes_tasks.searches.step_tables import Steps, steps_of
from antipodes_tasks.searches.turn_descent import (
    NO_ROW,
    ROOM,
    MoveEffects,
    TurnPath,
    ViewArrays,
    descend_by_turns,
)
from antipodes_tasks.searches.turns import Inverses, followers, followers_as_bits, transforms_in
from antipodes_tasks.spaces.space import NOT_NUMBERED, Numbering
from antipodes_tasks.symmetries.finding import symmetries_of
from antipodes_tasks.symmetries.symmetry import Symmetry

T = TypeVar("T")
PACKED_MASK, BYTE_MASK = 15, 255
"""The greatest value of half a byte, and of a byte: those of entries to which no moves lead."""
SAMPLE, WALK = 256, 40
"""Random positions in which views that always say the same are recognized, and the moves that lead to each."""
BYTES_OF_WORD = 8
MOST_SYMMETRIES = 1 << 10
"""Symmetries of which each gives views."""
MOST_VIEWS, WORTH = 8, 0.01
"""Views that are looked up, at most, and how much each must raise the mean bound of random positions."""


@dataclass(frozen=True, eq=False)
class TurnTable:
    """The table of an abstraction: the distances of its entries from the goal."""

    rules: Rules
    """The abstraction as a puzzle."""
    numbering: Numbering
    abstraction: Abstraction
    begin: int
    """The first byte of its values among those of all tables."""
    packed: bool
    """Whether a byte has two values, the first in its lower half."""
    folding: Folding | None = None
    """How the table is folded by its own symmetries, if it is."""

    @cached_property
    def digits(self) -> tuple[Digit, ...]:
        """The digits of its entries."""
        return digits_of(self.numbering, self.rules)

    @property
    def mask(self) -> int:
        """The bits of a value, all of which are set where no moves lead."""
        return PACKED_MASK if self.packed else BYTE_MASK

    @property
    def entries(self) -> int:
        """How many values it has in memory."""
        folding = self.folding
        return self.numbering.size if folding is None else folding.classes * folding.width

    def places_of(self, indices: Numbers) -> Numbers:
        """Where the values of entries ``(n,)`` are among those in memory."""
        return indices if self.folding is None else self.folding.entries(indices, self.digits)

    def read(self, values: NDArray[np.uint8], indices: Numbers) -> Numbers:
        """The distances of entries ``(n,)``; NEVER where no moves lead."""
        numbered = self.places_of(np.maximum(indices, 0))
        found = values[self.begin + (numbered >> self.packed)].astype(np.int64)
        found = (found >> ((numbered & 1) * 4 if self.packed else 0)) & self.mask
        return np.where((found == self.mask) | (indices == NOT_NUMBERED), NEVER, found)


class View(NamedTuple):
    """A table that is asked for the image of a position under a symmetry, if there is one."""

    table: TurnTable
    symmetry: Symmetry | None

    def entries(self, labels: Labels) -> Numbers:
        """The entries of the images of positions ``(n, places)``, ``(n,)``."""
        images = labels if self.symmetry is None else self.symmetry.image(labels)
        return self.table.numbering.rank(self.table.abstraction.image(images))

    @property
    def moves(self) -> Numbers:
        """``(moves,)``: the move of the table that each move is for the image; the last one where it is none."""
        of_table = self.table.abstraction.moves
        moves = of_table if self.symmetry is None else of_table[self.symmetry.moves]
        return np.where(moves == NO_MOVE, len(self.table.rules.moves), moves)


@dataclass(frozen=True, eq=False)
class TurnPatterns(Patterns):
    """The greatest of what views of tables say."""

    rules: Rules
    goal: Labels
    views: tuple[View, ...]
    values: NDArray[np.uint8]
    room: int = 0
    """Bytes that words for long searches may take."""
    _made: list[StepArrays] = field(default_factory=list, init=False)
    _preparing: Lock = field(default_factory=Lock, init=False)

    @classmethod
    def of(
        cls, rules: Rules, goal: Labels, tables: Sequence[TurnTable], values: NDArray[np.uint8], room: int = 0
    ) -> "TurnPatterns":
        """The heuristic for distances to a goal ``(places,)``, with the views that raise it most."""
        found = [View(table, symmetry) for symmetry in _symmetries(rules, goal) for table in tables]
        sample = _random_positions(rules, goal)
        said = [view.table.read(values, view.entries(sample)) for view in found]
        return cls(rules, goal, tuple(found[k] for k in _raising(said)), values, room)

    @property
    def name(self) -> str:
        """The tables, and of how many views the bound is the greatest: ``corners, phase-one, greatest of 4``."""
        different = dict.fromkeys(view.table.rules.name for view in self.views)
        return ", ".join(different) + (f", greatest of {len(self.views)}" if len(self.views) > 1 else "")

    def said(self, labels: Labels) -> Numbers:
        """What each view says of positions ``(n, places)``, ``(views, n)``."""
        return np.array([view.table.read(self.values, view.entries(labels)) for view in self.views])

    def estimates(self, labels: Labels) -> Numbers:
        """The greatest of what the views say of positions ``(n, places)``, ``(n,)``."""
        greatest: Numbers = self.said(labels).max(axis=0)
        return greatest

    @cached_property
    def arrays(self) -> ViewArrays:
        """The views for the kernel."""
        return _view_arrays(self)

    @cached_property
    def inverses(self) -> "Inverses | None":
        """How positions are inverted, where the inverse of each is as far from the goal; else None."""
        return Inverses.of(self.rules, self.goal)

    @cached_property
    def linked(self) -> NDArray[np.bool_]:
        """``(views,)``: some views that do not all say 1 of any position one move from the goal; or none.

        If a path has as many moves as each of these views says, each move on it lowers what all of them say by one. So
        before the last move all say 1, which none does. So a path has more moves (H. Kociemba found this for the
        cube).
        """
        said = self.said(self.rules.moves.predecessors(self.goal))
        linked = np.ones(len(self.views), dtype=np.bool_)
        if (said == 1).all(axis=0).any():
            return ~linked
        for view in reversed(range(len(self.views))):
            linked[view] = False
            linked[view] = bool((said[linked] == 1).all(axis=0).any())
        return linked

    @cached_property
    def effects(self) -> dict[bool, MoveEffects]:
        """The moves for the kernel, where every path is sought, and where one is enough."""
        return {every: _effects(self.rules, every) for every in (False, True)}

    def descent(self, depth: int, problem: Problem, request: Request, share: Share = WHOLE) -> Descent:
        """The search for paths of ``depth`` moves, from the position or its inverse, where there are fewer."""
        root, inverted = problem.position, False
        if self.inverses is not None:
            both = np.stack((root, self.inverses.image(root)))
            inverted = bool(np.diff(self.said(both).sum(axis=0))[0] > 0)
            root = both[int(inverted)]
        path: TurnPath | StepPath
        if self.steps is None:
            path = turns = _path(self, depth, root, request)
            found_by = (self.goal, self.arrays, self.effects[request.every], self.values, request.every, *share.words)

            def advance(budget: int) -> bool:
                return descend_by_turns(turns, budget, *found_by)

        else:
            path = stepped = _step_path(self, depth, root, request)
            steps = self.steps if request.every else self._without_images(self.steps, root)
            by_steps = (self.goal, self.arrays, self.effects[request.every], steps, request.every, *share.words)

            def advance(budget: int) -> bool:
                return descend_by_steps(stepped, budget, *by_steps)

        def result() -> Pass:
            found = listed(path.found, int(path.tally[FOUND]), problem, request)
            if inverted and self.inverses is not None:
                found = self.inverses.moves[found[:, ::-1].astype(np.int64)].astype(np.uint64)
            compiled = problem.steps
            assert isinstance(compiled, CompiledSteps)
            replayed = list(compiled.replay(problem.position, found)) if len(found) else []
            return Pass(replayed, *path.tally[[FOUND, NEXT_BOUND]].tolist())

        return Descent(advance, path.tally, result)

    @cached_property
    def symmetries(self) -> Sequence[Symmetry | None]:
        """The symmetries of puzzle and goal; of very many, none but the identity."""
        return _symmetries(self.rules, self.goal)

    def _without_images(self, steps: StepArrays, root: Labels) -> StepArrays:
        """The words, and of the moves that may come first those alone to which no symmetry of the root leads a larger.

        A symmetry that keeps the root leads a path from it to another path. Take the one that begins with the least
        move; should moves that may change places then be out of order, the one in order begins with a smaller move.
        """
        kept = [
            one.moves
            for one in self.symmetries
            if one is not None and np.array_equal(one.image(root[np.newaxis])[0], root)
        ]
        follow = steps.follow.copy()
        follow[:, -1] &= np.uint32(
            sum(1 << move for move in range(len(self.rules.moves)) if all(move <= moves[move] for moves in kept))
        )
        return steps._replace(follow=follow)

    def prepare(self, threads: int, pulse: Pulse = no_pulse) -> None:
        """Make the words that say what moves do, where all tables are folded, and there is room for them."""
        while not self._preparing.acquire(timeout=A_CALL):
            pulse()
        try:
            tables = tuple(dict.fromkeys(view.table for view in self.views))
            fitting = BYTES_OF_WORD * sum(table.entries for table in tables) <= self.room
            if self.steps is None and fitting and all(table.folding is not None for table in tables):
                self._made.extend(_step_arrays(self.rules, self.views, tables, self.values, threads, pulse))
        finally:
            self._preparing.release()

    @property
    def steps(self) -> StepArrays | None:
        """What moves do, once that is made."""
        return self._made[0] if self._made else None


def _step_arrays(
    rules: Rules,
    views: Sequence[View],
    tables: Sequence[TurnTable],
    values: NDArray[np.uint8],
    threads: int,
    pulse: Pulse,
) -> list[StepArrays]:
    """The words of all tables, one after another; none where a table cannot have them."""
    words, begin, size = list[Steps](), dict[TurnTable, int](), 0
    for table in tables:
        assert table.folding is not None
        own = values[table.begin : table.begin + packed_size(table.entries, table.packed)]
        made = steps_of(table.folding, table.digits, own, table.packed, threads, pulse)
        if made is None:
            return []
        begin[table], size = size, size + len(made)
        words.append(made)
    if size >= 1 << 32:
        return []
    firsts = np.array([begin[view.table] for view in views], dtype=np.uint64)
    follow = np.array([followers_as_bits(rules, every) for every in (False, True)])
    joined = words[0] if len(words) == 1 else np.concatenate(words)
    return [StepArrays(firsts, *_moves_of_bits(views), joined, follow)]


def _moves_of_bits(views: Sequence[View]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The moves of the puzzle that bits of words are, and those that are none of a table; see `StepArrays`."""
    foldings = [view.table.folding for view in views]
    maps = max(len(folding.maps) for folding in foldings if folding is not None)
    bits = np.arange(len(views[0].moves), dtype=np.uint32)
    parts = -(-max(len(view.table.rules.moves) for view in views) // int(PART))
    moves = np.zeros((len(views), maps, parts, 1 << int(PART)), dtype=np.uint32)
    still = np.zeros((len(views), maps), dtype=np.uint32)
    numbers = np.arange(1 << int(PART))
    for u, (view, folding) in enumerate(zip(views, foldings, strict=True)):
        assert folding is not None
        none = len(view.table.rules.moves)
        still[u] = np.bitwise_or.reduce(np.where(view.moves == none, np.uint32(1) << bits, np.uint32(0)))
        for number, images in enumerate(folding.moves):
            for move, bit in zip(view.moves.tolist(), bits, strict=True):
                if move != none:
                    part, place = divmod(int(images[move]), int(PART))
                    moves[u, number, part] |= (numbers >> place & 1).astype(np.uint32) << bit
    return moves, still


def _step_path(patterns: TurnPatterns, depth: int, root: Labels, request: Request) -> StepPath:
    """The path that is searched, at its root."""
    begun, views, steps = _path(patterns, 0, root, request), patterns.views, patterns.steps
    assert steps is not None
    shape = depth + 1, max(STEP_ROOM, len(patterns.rules.moves))
    path = StepPath(
        size=np.zeros(depth + 1, dtype=np.uint64),
        tried=np.zeros(depth + 1, dtype=np.uint64),
        parent=np.zeros(shape, dtype=np.uint32),
        move=np.zeros(shape, dtype=np.uint32),
        number=np.zeros(shape[1], dtype=np.int64),
        digits=np.zeros((*shape, begun.digits.shape[-1]), dtype=np.uint32),
        said=np.zeros((*shape, len(views)), dtype=np.uint8),
        word=np.zeros((*shape, len(views)), dtype=np.uint32),
        map=np.zeros((*shape, len(views)), dtype=np.uint8),
        changes=np.zeros((len(views), 2), dtype=np.uint64),
        taken=np.zeros(depth, dtype=np.uint64),
        labels=begun.labels,
        tally=begun.tally,
        found=room_for_paths(depth, request, np.uint64, depth),
    )
    path.size[0], path.digits[0, 0], path.said[0, 0] = 1, begun.digits[0, 0], begun.said[0, 0]
    for number, view in enumerate(views):
        folding, entry = view.table.folding, view.entries(root[np.newaxis])
        assert folding is not None
        row, _ = folding.rows_and_columns(entry, view.table.digits)
        path.map[0, 0, number] = int(folding.class_of[row[0]]) & ((1 << folding.bits) - 1)
        path.word[0, 0, number] = int(steps.begin[number]) + int(view.table.places_of(entry)[0])
    return path


def _path(patterns: TurnPatterns, depth: int, root: Labels, request: Request) -> TurnPath:
    """The path that is searched, at its root."""
    views, moves, arrays = patterns.views, len(patterns.rules.moves), patterns.arrays
    # the row of a folded table is computed in the place of its entry
    largest = max(view.table.numbering.size for view in views)
    word = np.uint32 if largest < 1 << 32 else np.uint64
    follow_at, follow = patterns.effects[request.every].follow_at, patterns.effects[request.every].follow
    shape = depth + 1, max(ROOM, moves)
    path = TurnPath(
        size=np.zeros(depth + 1, dtype=np.uint64),
        tried=np.zeros(depth + 1, dtype=np.uint64),
        parent=np.zeros(shape, dtype=np.uint32),
        move=np.zeros(shape, dtype=np.uint32),
        number=np.zeros(shape[1], dtype=np.int64),
        digits=np.zeros((*shape, len(arrays.digits)), dtype=np.uint32),
        said=np.zeros((*shape, len(views)), dtype=np.uint8),
        best=np.zeros(shape, dtype=np.uint32),
        entry=np.zeros((*shape, moves), dtype=word),
        others=np.zeros((len(views), shape[1]), dtype=word),
        taken=np.zeros(depth, dtype=np.uint64),
        labels=np.tile(root, (3, 1)),
        tally=np.array([0, 0, 0, FAR, 0, 0, 0]),
        found=room_for_paths(depth, request, np.uint64, depth),
    )
    said = patterns.said(root[np.newaxis])[:, 0]
    for view, at in zip(views, arrays.digit_at.tolist(), strict=False):
        own = _in_order(split(int(view.entries(root[np.newaxis])[0]), view.table.digits), view.table.folding)
        path.digits[0, 0, at : at + len(own)] = own
    after = _after(patterns.rules, root, follow[int(follow_at[-2]) :].tolist())
    path.size[0], path.said[0, 0], path.best[0, 0] = 1, said, said.argmax()
    looked_up = views[int(said.argmax())]
    path.entry[0, 0, : len(after)] = looked_up.table.places_of(looked_up.entries(after))
    return path


def _after(rules: Rules, position: Labels, moves: Sequence[int]) -> Labels:
    """The positions after some moves from a position ``(places,)``, ``(moves, places)``."""
    return np.concatenate([rules.moves.after(move, position[np.newaxis])[0] for move in moves])


def _in_order(digits: Sequence[T], folding: Folding | None) -> list[T]:
    """The digits of a table; those of a folded one with the column at the end."""
    found = list(digits)
    return found if folding is None else [*found[: folding.column], *found[folding.column + 1 :], found[folding.column]]


class _ViewDigit(NamedTuple):
    """A digit of a view: the tables of its lines, with the moves of the puzzle in their order."""

    after: NDArray[np.int32]
    weight: int
    row: int = INDEPENDENT
    maps: NDArray[np.int32] | None = None


def _view_digits(view: View, moves: int) -> list[_ViewDigit]:
    """The digits of a view; those of a folded table make its row, and the last one is the column."""
    found = [
        _ViewDigit(digit.after[:, view.moves], digit.weight)
        if digit.maps is None
        else _ViewDigit(digit.after, digit.weight, digit.row, digit.maps[:, view.moves])
        for digit in view.table.digits
    ]
    if view.table.folding is None:
        return found
    *rows, column = _in_order(found, view.table.folding)
    sizes = [len(digit.after) for digit in rows]
    weighed = [digit._replace(weight=prod(sizes[k + 1 :])) for k, digit in enumerate(rows)]
    return [*weighed, column._replace(weight=0)]


def _view_arrays(patterns: TurnPatterns) -> ViewArrays:
    """The tables of all digits, one after another."""
    of_views = [_view_digits(view, len(patterns.rules.moves)) for view in patterns.views]
    digit_at = np.cumsum([0, *map(len, of_views)])
    parts, size = list[NDArray[np.int32]](), 0
    digits = list[list[int]]()
    for digit, at in ((digit, at) for own, at in zip(of_views, digit_at.tolist(), strict=False) for digit in own):
        row = int(NO_ROW) if digit.maps is None else at + digit.row
        digits.append([size, digit.weight, row, size + digit.after.size, digit.after.shape[1]])
        parts += [part.ravel() for part in (digit.after, digit.maps) if part is not None]
        size = sum(map(len, parts))
    tables = [view.table for view in patterns.views]
    foldings = list(dict.fromkeys(table.folding for table in tables if table.folding is not None))
    maps_at, classes_at = dict[Folding, int](), dict[Folding, int]()
    classes = [np.zeros(1, dtype=np.uint32)]
    for folding in foldings:
        maps_at[folding], classes_at[folding] = size, sum(map(len, classes))
        parts.append(folding.maps.ravel())
        classes.append(folding.class_of)
        size += folding.maps.size
    fold = [
        [int(NO_ROW), 0, 0, 0] if one is None else [classes_at[one], maps_at[one], one.width, one.bits]
        for one in (table.folding for table in tables)
    ]
    word = np.uint16 if max(int(part.max()) for part in parts) < 1 << 16 else np.uint32
    return ViewArrays(
        digit_at=digit_at.astype(np.uint64),
        digits=np.array(digits, dtype=np.uint64),
        after=np.concatenate([part.astype(word) for part in parts]),
        fold=np.array(fold, dtype=np.uint64),
        classes=np.concatenate(classes),
        begin=np.array([table.begin for table in tables], dtype=np.uint64),
        packed=np.array([table.packed for table in tables], dtype=np.uint64),
        mask=np.array([table.mask for table in tables], dtype=np.uint64),
        linked=patterns.linked,
    )


def _effects(rules: Rules, every: bool) -> MoveEffects:
    steps = CompiledSteps(transforms_in(rules), rules.parts)
    follow = followers(transforms_in(rules), every)
    arrays = steps.arrays
    return MoveEffects(
        at=arrays.change_at.astype(np.uint64),
        place=arrays.place.astype(np.uint64),
        origin=arrays.origin.astype(np.uint64),
        added=arrays.added,
        moduli=arrays.moduli,
        follow_at=np.cumsum([0, *map(len, follow)]).astype(np.uint64),
        follow=np.array([move for own in follow for move in own], dtype=np.uint64),
    )


def _symmetries(rules: Rules, goal: Labels) -> Sequence[Symmetry | None]:
    """The symmetries of puzzle and goal; of very many, none but the identity."""
    found = symmetries_of(rules, goal[np.newaxis])
    return found.elements() if found.order <= MOST_SYMMETRIES else (None,)


def _random_positions(rules: Rules, goal: Labels) -> Labels:
    """Positions ``(SAMPLE, places)`` from which the goal can be reached, the same for each search."""
    numbers = random_numbers(SAMPLE * WALK, "views").reshape(WALK, SAMPLE) % np.uint64(len(rules.moves))
    labels = np.tile(goal, (SAMPLE, 1))
    for drawn in numbers:
        for move in range(len(rules.moves)):
            chosen = drawn == move
            labels[chosen] = rules.moves.before(move, labels[chosen])[0]
    return labels


def _raising(said: Sequence[Numbers]) -> list[int]:
    """The views to look up, by what each says of some positions: each time the one that raises the mean bound most."""
    chosen, bound = list[int](), np.zeros_like(said[0])
    while len(chosen) < min(MOST_VIEWS, len(said)):
        raised = [float(np.maximum(bound, own).mean() - bound.mean()) for own in said]
        best = int(np.argmax(raised))
        if chosen and raised[best] < WORTH:
            break
        chosen.append(best)
        bound = np.maximum(bound, said[best])
    return chosen
