"""Pattern databases of puzzles whose moves are always legal: the maximum of the bounds of several tables.

A table contains the distances in an *abstraction*: the puzzle with some pieces made identical, orientations dropped, or
parts left out. A path in the puzzle is never shorter than the distance in the abstraction, so this distance is a lower
bound, and so is the maximum of several such distances (J. C. Culberson and J. Schaeffer, Pattern Databases, 1998). A
symmetry of the puzzle maps a position to one that is equally far from the goal, so a table can also be looked up at
each symmetric image. A table combined with a symmetry is a *view*.

The views of a table with clipped distances (see `bundles`) come after the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.properties.finding import symmetries_of
from antipodes_tasks.properties.lower_bounds import UNREACHABLE_COST
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.searches.block_dfs import descend_in_blocks
from antipodes_tasks.searches.block_path import (
    DISTINCT,
    NO_ROW,
    ONE,
    ZERO,
    BlockPath,
    Followers,
    MoveEffects,
    ViewArrays,
)
from antipodes_tasks.searches.bundle_arrays import BundleArrays
from antipodes_tasks.searches.depth_first import NEXT_BOUND, Descent, Pass, paths_to_list, room_for_paths
from antipodes_tasks.searches.digits import Digit, split
from antipodes_tasks.searches.dual_lookups import DualViews
from antipodes_tasks.searches.move_sequences import Inverses, followers, followers_as_bits
from antipodes_tasks.searches.pattern_databases import Patterns
from antipodes_tasks.searches.permutation_views import PermutationTable, TableLookup
from antipodes_tasks.searches.problem import Problem, Request
from antipodes_tasks.searches.progress import A_CALL, Heartbeat, no_pulse
from antipodes_tasks.searches.quotient import Quotient
from antipodes_tasks.searches.random_positions import solvable_sample
from antipodes_tasks.searches.shares import WHOLE, Share
from antipodes_tasks.searches.staged_search import Beginning, StagedSearch, step_arrays
from antipodes_tasks.searches.step_lookups import StepArrays
from antipodes_tasks.searches.symmetric_starts import Stage, stages_of, whole_tree
from antipodes_tasks.searches.view_lookups import ROOM, BestViews, best_views, find_entries

BYTES_OF_WORD = 8
MAX_SYMMETRIES = 1 << 10
"""Maximum number of symmetries that are used for views."""
MAX_VIEWS, MIN_GAIN = 8, 0.01
"""Maximum number of views, and minimum amount by which each must raise the mean bound of random positions."""


@dataclass(frozen=True, eq=False, repr=False)
class PermutationPatterns(Patterns):
    """The maximum of the bounds of several views."""

    rules: Rules
    goal: Labels
    views: tuple[TableLookup, ...]
    values: NDArray[np.uint8]
    room: int = 0
    """Maximum size of the step tables for long searches, in bytes."""
    _made: list[StepArrays] = field(default_factory=list, init=False)
    _latest: dict[str, tuple[tuple[bytes, int, bool], list[Beginning]]] = field(default_factory=dict, init=False)
    """The beginnings that were computed last, with the root, the depth and ``every``, for which they were computed."""
    _preparing: Lock = field(default_factory=Lock, init=False)

    @classmethod
    def of(
        cls, rules: Rules, goal: Labels, tables: Sequence[PermutationTable], values: NDArray[np.uint8], room: int = 0
    ) -> "PermutationPatterns":
        """Return the heuristic for distances to a goal ``(places,)``, with the views that raise the bound most."""
        found = [TableLookup(table, symmetry) for symmetry in _symmetries(rules, goal) for table in tables]
        sample = solvable_sample(rules, goal)
        chosen = list[TableLookup]()
        for clipped in (False, True):
            same = [view for view in found if (view.table.bundles is not None) == clipped]
            bounds = [view.table.read(values, view.entries(sample)) for view in same]
            chosen += [same[k] for k in _choose_views(bounds)] if same else []
        return cls(rules, goal, tuple(chosen), values, room)

    @property
    def name(self) -> str:
        """Names of the tables, and the number of views: ``corners, phase-one, greatest of 4``."""
        different = dict.fromkeys(view.table.rules.name for view in self.views)
        return ", ".join(different) + (f", greatest of {len(self.views)}" if len(self.views) > 1 else "")

    def look_up(self, labels: Labels) -> Numbers:
        """Return the bound of each view, ``(views, n)``, for positions ``(n, places)``."""
        return np.array([view.table.read(self.values, view.entries(labels)) for view in self.views])

    def bounds(self, labels: Labels) -> Numbers:
        """Return the maximum of the views' bounds, ``(n,)``, for positions ``(n, places)``."""
        maximum: Numbers = self.look_up(labels).max(axis=0)
        return maximum

    def bound(self, position: Labels) -> int:
        """Return the bound of one position ``(places,)``.

        It is UNREACHABLE_COST if a table excludes a path from the position, or from its inverse position.
        """
        bound = super().bound(position)
        if self.inverses is not None and super().bound(self.inverses.image(position)) == UNREACHABLE_COST:
            return UNREACHABLE_COST
        return bound

    @property
    def exact(self) -> int:
        """Number of views that are not clipped; they come first."""
        return sum(view.table.bundles is None for view in self.views)

    @cached_property
    def arrays(self) -> ViewArrays:
        """The views that are not clipped, as arrays for the kernels."""
        return _view_arrays(self)

    @cached_property
    def bundles(self) -> BundleArrays | None:
        """The clipped views as arrays for the kernels; None if there are none."""
        clipped = self.views[self.exact :]
        bundles = clipped[0].table.bundles if clipped else None
        return None if bundles is None else BundleArrays.of(bundles, clipped)

    @cached_property
    def dual(self) -> DualViews | None:
        """How to find the indices of inverse positions in the clipped views; None if this is not possible."""
        clipped = self.views[self.exact :]
        return None if self.inverses is None or not clipped else DualViews.of(self.rules, self.inverses, clipped)

    @cached_property
    def inverses(self) -> "Inverses | None":
        """The map to inverse positions; None if a position may not be as far from the goal as its inverse."""
        return Inverses.of(self.rules, self.goal)

    @cached_property
    def linked(self) -> NDArray[np.bool_]:
        """``(exact,)``: marks the *linked* views, a set such that no position one move from the goal has bound 1 in all
        of them; the set may be empty.

        Suppose that the bounds of all linked views equal the number of moves left. Every move of a path with this many
        moves would lower all of these bounds by one, so all of them would be 1 before the last move. This is
        impossible, so every path has more moves. (H. Kociemba found this for the cube.)
        """
        bounds = self.look_up(self.rules.moves.predecessors(self.goal))[: self.exact]
        linked = np.ones(self.exact, dtype=np.bool_)
        if (bounds[linked] == 1).all(axis=0).any():
            return np.zeros_like(linked)
        for view in reversed(range(self.exact)):
            linked[view] = False
            linked[view] = bool((bounds[linked] == 1).all(axis=0).any())
        return linked

    @cached_property
    def effects(self) -> MoveEffects:
        """The moves as arrays for the kernels."""
        moves = transforms_of(self.rules)
        return MoveEffects(np.stack(moves.effects, axis=1), moves.moduli.astype(np.int64))

    @cached_property
    def followers(self) -> dict[bool, Followers]:
        """The moves that may follow each move: False in a search for one path, True in a search for every path."""
        moves = transforms_of(self.rules)
        return {every: Followers.of(followers(moves, every)) for every in (False, True)}

    @cached_property
    def follower_bits(self) -> dict[bool, NDArray[np.uint32]]:
        """The followers as `followers_as_bits`, for searches with step tables."""
        return {every: followers_as_bits(self.rules, every) for every in (False, True)}

    def descent(self, depth: int, problem: Problem, request: Request, share: Share = WHOLE) -> Descent:
        """Return the search for paths of ``depth`` moves, from the position or its inverse, whichever has the larger
        bounds in total.
        """
        root, inverted = problem.position, False
        if self.inverses is not None:
            both = np.stack((root, self.inverses.image(root)))
            inverted = bool(np.diff(self.look_up(both).sum(axis=0))[0] > 0)
            root = both[int(inverted)]
        search = self._long_search(root, depth, request)
        if search is None:
            path, lookups = _path(self, depth, root, request)
            advance = self._by_views(path, lookups, request.every, share)
        else:
            path, beginnings = search.path, self._beginnings(root, depth, request.every)
            advance = search.chain_stages(beginnings, self.goal, self.effects, request.every, share)

        def result() -> Pass:
            found = paths_to_list(path.found, int(path.tally[DISTINCT]), problem, request)
            if inverted and self.inverses is not None:
                found = self.inverses.moves[found[:, ::-1].astype(np.int64)].astype(np.uint64)
            return Pass(problem.replay(found), *path.tally[[DISTINCT, NEXT_BOUND]].tolist())

        return Descent(advance, path.tally, result)

    def _long_search(self, root: Labels, depth: int, request: Request) -> StagedSearch | None:
        """Return a search by bundles or by step tables; None if there are neither."""
        tables = self.rules, self.views, self.arrays, self.values
        if self.bundles is not None:
            dual = None if self.dual is None else (self.dual.tables, self.dual.maps_of(root))
            return StagedSearch.with_bundles(*tables, self.bundles, dual, root, depth, request)
        if self.steps is not None:
            return StagedSearch.with_steps(*tables, self.steps, root, depth, request)
        return None

    def _by_views(self, path: BlockPath, lookups: BestViews, every: bool, share: Share) -> Callable[[int], bool]:
        """Return a function that advances a search without step tables; see `Descent.advance`."""
        by_views = lookups, self.followers[every], self.values
        found_by = (self.goal, self.effects, self.arrays, by_views, None, None, ZERO, every, *share.words)

        def advance(budget: int) -> bool:
            return descend_in_blocks(path, budget, *found_by)

        return advance

    @cached_property
    def symmetries(self) -> Sequence[Symmetry | None]:
        """The symmetries of the puzzle that fix the goal; only the identity if there are too many."""
        return _symmetries(self.rules, self.goal)

    def _beginnings(self, root: Labels, depth: int, every: bool) -> list[Beginning]:
        """Return the stages of a search for paths of ``depth`` moves, with their first positions."""
        asked, known = (root.tobytes(), depth, every), self._latest.get("last")
        if known is None or known[0] != asked:  # all shares of a search begin in the same way
            tables = self.rules, self.views, self.values
            known = asked, [Beginning.of(stage, root, *tables) for stage in self._stages(root, depth, every)]
            self._latest["last"] = known
        return known[1]

    def _stages(self, root: Labels, depth: int, every: bool) -> list[Stage]:
        """Return the stages of a search for paths of ``depth`` moves; see `symmetric_starts`."""
        if every:
            return [whole_tree(self.follower_bits[True])]
        kept = [np.arange(len(self.rules.moves))]
        kept += [
            one.moves
            for one in self.symmetries
            if one is not None and np.array_equal(one.image(root[np.newaxis])[0], root)
        ]
        central = self.inverses is not None and self.inverses.commute(transforms_of(self.rules), root)
        return stages_of(self.rules, np.array(kept), central, self.follower_bits[False], depth)

    def prepare(self, threads: int, pulse: Heartbeat = no_pulse) -> None:
        """Compute the step tables of all tables, if these are reduced and fit into memory, and there are no bundles."""
        while not self._preparing.acquire(timeout=A_CALL):
            pulse()
        try:
            tables = tuple(dict.fromkeys(view.table for view in self.views))
            reduced = self.bundles is None and all(table.quotient is not None for table in tables)
            if self.steps is None and reduced and BYTES_OF_WORD * sum(table.entries for table in tables) <= self.room:
                self._made.extend(step_arrays(self.rules, self.views, tables, self.values, threads, pulse))
        finally:
            self._preparing.release()

    @property
    def steps(self) -> StepArrays | None:
        """The step tables, once they are computed."""
        return self._made[0] if self._made else None


def _path(patterns: PermutationPatterns, depth: int, root: Labels, request: Request) -> tuple[BlockPath, BestViews]:
    """Return the path that consists of the root only, and the entries of the root's successors."""
    views, moves, arrays = patterns.views, len(patterns.rules.moves), patterns.arrays
    room, follow = max(ROOM, moves), patterns.followers[request.every]
    path = BlockPath.of(root, depth, room, arrays, room_for_paths(depth, request, np.uint64, depth))
    lookups = best_views(views, moves, depth, room)
    for view, at in zip(views, arrays.digit_at.tolist(), strict=False):
        own = split(int(view.entries(root[np.newaxis])[0]), view.table.digits)
        path.digits[0, 0, at : at + len(own)] = own
    path.size[0], path.view_bounds[0, 0] = 1, patterns.look_up(root[np.newaxis])[:, 0]
    find_entries(path, lookups, ZERO, ONE, arrays, follow, patterns.values)
    return path, lookups


def _view_digits(view: TableLookup) -> list[Digit]:
    """Return the digits of a view, whose tables have one column for each move of the puzzle, in the puzzle's order.

    For a reduced table, the last digit is the column and the others form the row.
    """
    found = [
        digit._replace(after=digit.after[:, view.moves])
        if digit.maps is None
        else digit._replace(maps=digit.maps[:, view.moves])
        for digit in view.table.digits
    ]
    if view.table.quotient is None:
        return found
    *rows, column = found
    return [
        *(digit._replace(weight=digit.weight // view.table.quotient.width) for digit in rows),
        column._replace(weight=0),
    ]


def _view_arrays(patterns: PermutationPatterns) -> ViewArrays:
    """Return the views as arrays, with the tables of all digits concatenated."""
    of_views = [_view_digits(view) for view in patterns.views[: patterns.exact]]
    digit_at = np.cumsum([0, *map(len, of_views)])
    parts, size = list[NDArray[np.int32]](), 0
    digits = list[list[int]]()
    for digit, at in ((digit, at) for own, at in zip(of_views, digit_at.tolist(), strict=False) for digit in own):
        row = int(NO_ROW) if digit.maps is None else at + digit.row
        digits.append([size, digit.weight, row, size + digit.after.size, digit.after.shape[1]])
        parts += [part.ravel() for part in (digit.after, digit.maps) if part is not None]
        size = sum(map(len, parts))
    tables = [view.table for view in patterns.views[: patterns.exact]]
    quotients = list(dict.fromkeys(table.quotient for table in tables if table.quotient is not None))
    of_quotient: dict[Quotient | None, list[int]] = {None: [int(NO_ROW), 0, 0, 0, 0]}
    classes, symmetries = [np.zeros(1, dtype=np.uint32)], [np.zeros(0, dtype=np.uint16)]
    for quotient in quotients:
        begins = sum(map(len, classes)), size, sum(map(len, symmetries))
        of_quotient[quotient] = [begins[0], begins[1], quotient.width, quotient.bits, begins[2]]
        parts.append(quotient.maps.ravel())
        classes.append(quotient.class_of)
        symmetries.append(quotient.symmetries)
        size += quotient.maps.size
    word = np.uint16 if max((int(part.max()) for part in parts), default=0) < 1 << 16 else np.uint32
    return ViewArrays(
        digit_at=digit_at.astype(np.uint64),
        digits=np.array(digits, dtype=np.uint64).reshape(-1, 5),
        after=np.concatenate([np.empty(0, dtype=word), *(part.astype(word) for part in parts)]),
        quotients=np.array([of_quotient[table.quotient] for table in tables], dtype=np.uint64),
        classes=np.concatenate(classes),
        symmetries=np.concatenate(symmetries),
        begin=np.array([table.begin for table in tables], dtype=np.uint64),
        encodings=np.array([[table.encoding.shift, table.encoding.mask] for table in tables], dtype=np.uint64),
        linked=patterns.linked,
    )


def _symmetries(rules: Rules, goal: Labels) -> Sequence[Symmetry | None]:
    """Return the symmetries of the puzzle that fix the goal; only the identity if there are too many."""
    found = symmetries_of(rules, goal[np.newaxis])
    return found.elements() if found.order <= MAX_SYMMETRIES else (None,)


def _choose_views(bounds: Sequence[Numbers]) -> list[int]:
    """Return the numbers of the views to use, chosen greedily: each raises the mean bound of the sample most."""
    chosen, bound = list[int](), np.zeros_like(bounds[0])
    while len(chosen) < min(MAX_VIEWS, len(bounds)):
        raised = [float(np.maximum(bound, own).mean() - bound.mean()) for own in bounds]
        best = int(np.argmax(raised))
        if chosen and raised[best] < MIN_GAIN:
            break
        chosen.append(best)
        bound = np.maximum(bound, bounds[best])
    return chosen
