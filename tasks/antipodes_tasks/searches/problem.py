"""A search problem: a position, and the goals to reach from it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import counted, shorten
from antipodes_tasks.keys.bit_fields import Fields
from antipodes_tasks.keys.steps import Steps, steps_of
from antipodes_tasks.permutations.chain import sifted
from antipodes_tasks.properties.obstacles import obstacle
from antipodes_tasks.properties.solvability import parities, solvable
from antipodes_tasks.rules.moves import GoalTest
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.progress import Listener, silence
from antipodes_tasks.spaces.group import Group
from antipodes_tasks.spaces.group_points import points_of


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """The problem of finding the shortest paths from a position to any of the goals.

    Paths go forwards. If moves are irreversible, the distance from the position to a start may differ from the entry of
    a table, which is the distance from the start to the position.
    """

    rules: Rules
    position: Labels
    """``(places,)``: the position."""
    goals: Labels
    """``(goals, places)``: the goals, without those that are known to be unreachable; there may be none left."""
    matches: GoalTest | None = None
    """Function that returns which of the positions ``(n, places)`` are goals, used if there are too many to list."""
    obstacle: str | None = None
    """Why no goal is reachable, if this is known without a search."""

    def __repr__(self) -> str:
        position = shorten(" ".join(self.rules.written(self.position)), 40)
        return f"<Problem of {shorten(self.rules.name, 30)}: {position}, {counted(len(self.goals), 'goal')}>"

    @classmethod
    def of(cls, rules: Rules, position: ArrayLike, goals: ArrayLike | GoalTest | None = None) -> "Problem":
        """Return the problem of reaching ``goals``, ``(places,)`` or ``(goals, places)``; default: the puzzle's starts.

        ``goals`` may also be a function that tests positions, for goals that are too many to list; see `matches`.

        Raises
        ------
        PositionError
            The position or a goal does not have the puzzle's pieces.
        InputError
            The list of goals is empty.
        """
        arguments.instance(rules, Rules, "the Rules of a puzzle")
        position = rules.checked_one(position)
        if callable(goals):
            if rules.moves.free_moves:
                raise InputError("with free moves, goals must be listed, but the pattern matches too many positions")
            return cls(rules, position, np.empty((0, rules.places), dtype=np.uint8), goals)
        wanted = goals_of(rules, goals)
        possible = wanted[solvable(rules, position, wanted).possible]
        reason = None if len(possible) else obstacle(rules, position, wanted, "goal")
        return cls(rules, position, np.ascontiguousarray(possible), obstacle=reason)

    @property
    def known_unreachable(self) -> bool:
        """Whether it is known without a search that no goal is reachable."""
        return len(self.goals) == 0 and self.matches is None

    def check_listed(self, method: str) -> None:
        """Raise InputError if the goals are not listed; ``method`` is the name of a method that needs the list."""
        if self.matches is not None:
            raise InputError(f"{method} needs a list of goals, but the pattern matches too many positions; choose bfs")

    @cached_property
    def known_reachable(self) -> bool:
        """Whether it is known without a search that a goal is reachable."""
        return bool(solvable(self.rules, self.position, self.goals).certain.any()) or self._in_group

    @cached_property
    def _in_group(self) -> bool:
        """Whether the moves generate a group that contains the position and a goal."""
        if not Group.can_number(self.rules):
            return False
        points, chain = points_of(self.rules), Group.of(self.rules).chain
        assert points is not None
        rest = sifted(chain.levels, points.permutations(np.concatenate((self.position[np.newaxis], self.goals))))
        members = (rest == np.arange(chain.points)).all(axis=1)
        return bool(members[0] and members[1:].any())

    @cached_property
    def packing(self) -> Fields:
        """The bit fields into which positions are packed."""
        return Fields.of(self.rules.parts)

    @cached_property
    def steps(self) -> Steps:
        """The moves, compiled if possible."""
        return steps_of(self.rules.moves, self.rules.parts)

    @cached_property
    def steps_back(self) -> Steps:
        """The inverse moves, from the goals towards the position; they exist only if the problem is `invertible`."""
        return steps_of(self.rules.moves, self.rules.parts, backwards=True)

    def replay(self, paths: NDArray[np.integer[Any]]) -> list[Labels]:
        """Return the positions ``(moves + 1, places)`` along each of the paths ``(n, moves)``, given as the numbers of
        their moves in the rules.
        """
        positions = np.tile(self.position, (len(paths), paths.shape[1] + 1, 1))
        for i, numbers in enumerate(paths.T):
            for number in set(numbers.tolist()):
                rows = numbers == number
                positions[rows, i + 1] = self.rules.moves.move(number, positions[rows, i])[0]
        return list(positions)

    @cached_property
    def invertible(self) -> bool:
        """Whether the predecessors of a position are known, and not only its successors."""
        return self.rules.moves.invertible

    @cached_property
    def parities(self) -> frozenset[int]:
        """The parities that the number of moves to a goal may have."""
        even_and_odd = parities(self.rules, self.position, self.goals).any(axis=0)
        return frozenset(np.flatnonzero(even_and_odd).tolist())


A_PROBLEM = "a Problem, such as Problem.of(puzzle.rules, position)"


@dataclass(frozen=True, slots=True)
class Request:
    """The options of a search; raises InputError if an option has the wrong type or is negative."""

    every: bool
    max_depth: int | None
    listed: int
    memory_limit: int
    """Maximum number of bytes for the paths found and for the positions that the search holds."""
    listener: Listener = silence
    threads: int = 1
    """Number of threads for a long search guided by tables."""

    def __post_init__(self) -> None:
        checked = {
            "every": arguments.flag(self.every, "every"),
            "max_depth": arguments.optional(self.max_depth, arguments.integer, "max_depth", 0),
            "listed": min(arguments.integer(self.listed, "listed", 0), arguments.MAX_INT64),
            "memory_limit": arguments.integer(self.memory_limit, "memory_limit", 0),
            "listener": arguments.function(self.listener, "a listener"),
            "threads": arguments.integer(self.threads, "threads", 1),
        }
        for name, value in checked.items():  # numpy scalars become Python values
            object.__setattr__(self, name, value)


def goals_of(rules: Rules, goals: ArrayLike | None) -> Labels:
    """Return one goal ``(places,)`` or several ``(goals, places)`` as an array of distinct goals.

    None means the puzzle's starts. Positions that free moves connect with a goal are goals, too. Raises the errors of
    `Problem.of`.
    """
    if goals is None:
        return rules.start_labels
    listed = isinstance(goals, list | tuple) and len(goals) > 0 and isinstance(goals[0], list | tuple | np.ndarray)
    several = listed or (isinstance(goals, np.ndarray) and goals.ndim > 1)
    if not several:
        return rules.moves.closed(rules.checked_one(goals)[np.newaxis])
    checked = rules.checked(goals)
    if not len(checked):
        raise InputError("goals: the list of goals is empty")
    return rules.moves.closed(checked[np.sort(np.unique(checked, axis=0, return_index=True)[1])])
