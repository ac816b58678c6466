"""All positions of a puzzle, reached from its start or not: its components, and the farthest positions from a goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from antipodes.config import PuzzleLike, as_config
from antipodes.machine import available_memory, human
from antipodes.puzzles.block_board import BlockBoard
from antipodes.puzzles.pattern import all_placements, standing_for
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import ENUMERATED
from antipodes_tasks import arguments
from antipodes_tasks.bfs import components as searching
from antipodes_tasks.bfs.goal_distances import BYTES, UNREACHED, goal_distances
from antipodes_tasks.bfs.strong_components import weak_components
from antipodes_tasks.errors import InputError, ResourceLimitError, SizeLimitError
from antipodes_tasks.quoting import counted, quote, shorten
from antipodes_tasks.rules.function_checks import check_functions
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.spaces.keyed import Keyed
from antipodes_tasks.spaces.move_tables import Indices, MoveTables
from antipodes_tasks.spaces.selection import whole_space
from antipodes_tasks.spaces.space import NOT_NUMBERED, Space

LISTED_BYTES = 100
"""Memory of a way to place blocks while all of them are listed, besides its places."""
NAMED = 20
"""Hardest starts that are named, unless another limit is given."""


@dataclass(frozen=True, slots=True)
class Component:
    """Components that have the same size and radius."""

    size: int
    """The number of positions of each: moves lead from each of them to each of them."""
    radius: int
    """The greatest distance from the one of its positions that has the least index."""
    count: int
    """How many there are."""
    example: str
    """A position of one of them: the one with the least index."""


class Components(list[Component]):
    """The components of a puzzle, the largest first; strongly connected ones where some moves lead one way."""

    weakly_connected: int
    """The number of sets that no move leads from or to; where all moves can be undone, that of the components."""

    def __repr__(self) -> str:
        number, positions = sum(one.count for one in self), sum(one.count * one.size for one in self)
        largest = f", the largest of {self[0].size:,} with radius {self[0].radius}" if self else ""
        return f"<Components: {counted(number, 'component')} of {counted(positions, 'position')}{largest}>"


@dataclass(frozen=True, slots=True, repr=False)
class HardestStarts:
    """The positions that are farthest from a goal, of all that the pieces of a puzzle can have."""

    distance: int
    """The fewest moves from each of them to the nearest goal."""
    count: int
    """How many there are."""
    positions: list[str]
    """The first of them, in the order of their indices."""
    goals: int
    """The number of goals."""
    reaching: int
    """The number of starts from which moves lead to a goal, goals included."""
    total: int
    """The number of starts: of all positions, unless only some were asked for."""

    def __repr__(self) -> str:
        farthest = f"{counted(self.count, 'position')} at distance {self.distance}"
        return f"<HardestStarts: {farthest}; {self.reaching:,} of {self.total:,} reach {counted(self.goals, 'goal')}>"


def components(puzzle: PuzzleLike) -> Components:
    """All positions with the pieces of a puzzle, reached from its start or not, as components; the largest first.

    A component is strongly connected: moves lead from each of its positions to each. Where all moves can be undone,
    they lead to no others.

    Parameters
    ----------
    puzzle
        As for `run`.

    Raises
    ------
    InputError
        An argument is none of these, or the positions are only known by a search.
    SizeLimitError, ResourceLimitError
        There are too many positions.
    """
    found = as_config(puzzle).puzzle
    one_way = not found.moves.reversible
    space, tables = _tables(found, searching.ONE_WAY_BYTES if one_way else searching.BYTES)
    counts: Counter[tuple[int, int]] = Counter()
    first: dict[tuple[int, int], int] = {}
    for some in searching.components(tables):
        sizes = list(zip(some.size.tolist(), some.radius.tolist(), strict=True))
        counts.update(sizes)
        for kind, index in zip(sizes, some.first.tolist(), strict=True):
            first.setdefault(kind, index)
    examples = space.unrank(np.array(list(first.values()), dtype=np.int64))
    texts = dict(zip(first, map(found.format, examples), strict=True))
    kinds = Components(Component(*kind, counts[kind], texts[kind]) for kind in sorted(counts, reverse=True))
    kinds.weakly_connected = weak_components(tables) if one_way else counts.total()
    return kinds


def hardest_starts(puzzle: PuzzleLike, goal: str, limit: int = NAMED, *, among: str | None = None) -> HardestStarts:
    """The positions that are farthest from a goal, of all that the pieces of a puzzle can have, reached or not.

    Parameters
    ----------
    puzzle
        As for `run`.
    goal
        A position, or a pattern: the goals are all positions that match it. Of blocks, ``?`` is a square with any
        content.
    limit
        Positions that are named, at most; all are counted.
    among
        A pattern, or a position: others are no starts.

    Raises
    ------
    InputError
        An argument is none of these, no start reaches a goal, or the positions are only known by a search.
    SizeLimitError, ResourceLimitError
        There are too many positions.
    """
    found = as_config(puzzle).puzzle
    arguments.integer(limit, "limit", 1)
    texts = [arguments.text(goal, "a goal"), *([] if among is None else [arguments.text(among, "among")])]
    batches = [standing_for(found, text) for text in texts]
    space, tables = _tables(found, BYTES)
    goals, *chosen = (_indices_of(space, *each) for each in zip(texts, batches, strict=True))
    distance = goal_distances(tables, goals)
    starts = chosen[0] if chosen else np.arange(space.size)
    farthest = int(distance[starts].max())
    if farthest == UNREACHED:
        raise InputError(f"among {quote(shorten(texts[-1]))}: expected a position that reaches a goal, found none")
    hardest = starts[distance[starts] == farthest]
    return HardestStarts(
        distance=farthest,
        count=len(hardest),
        positions=list(map(found.format, space.unrank(hardest[:limit]))),
        goals=len(goals),
        reaching=int((distance[starts] != UNREACHED).sum()),
        total=len(starts),
    )


def _indices_of(space: Space, text: str, batches: Iterable[Labels]) -> Indices:
    """The indices of the positions that a text stands for, ascending; InputError if there are none."""
    found = np.unique(np.concatenate([space.rank(labels) for labels in batches]))
    indices: Indices = found[found != NOT_NUMBERED]
    if not len(indices):
        raise InputError(f"pattern {quote(shorten(text))}: expected a position of the puzzle, found none")
    return indices


def _tables(puzzle: Puzzle, bytes_each: int) -> tuple[Space, MoveTables]:
    """The space of all positions and its moves; ResourceLimitError where memory does not hold what follows."""
    space = _space(puzzle)
    tables = space.filler
    needed = bytes_each * space.size + tables.table_bytes + tables.building_bytes(1)
    _check_memory(needed, space.size)
    return space, tables.filled()


def _check_memory(needed: int, positions: int, more: str = "") -> None:
    free = available_memory()
    if needed > free:
        raise ResourceLimitError(
            f"expected positions that fit into {human(free)} of free memory, "
            f"found {more}{positions:,} that take {human(needed)}"
        )


def _space(puzzle: Puzzle) -> Space:
    """The space of all positions; of blocks all ways to place them.

    A table may list the positions that the start reaches although all arrangements of the pieces have numbers: because
    the config says ``enumerated``, or because conditions of moves leave few of them reachable.
    """
    check_functions(puzzle.moves, puzzle.start_labels)
    if isinstance(puzzle.notation, BlockBoard):
        return Space(puzzle.rules, Keyed.listing(puzzle.rules, _within_memory(puzzle)), 2)
    rules, chosen = puzzle.rules, (puzzle.settings or {}).get(ENUMERATED) is True
    if rules.enumerated and isinstance(rules.moves, Functions) and not chosen:
        raise InputError(
            f"expected moves that are known for all arrangements of the pieces, found those of {shorten(rules.name)}: "
            "its functions take only positions that its start reaches"
        )
    try:
        return whole_space(replace(rules, enumerated=False))
    except (SizeLimitError, ResourceLimitError) as error:
        if not rules.enumerated:
            raise
        raise type(error)(f"{error}: all arrangements of the pieces count, also those that no start reaches") from error


def _within_memory(puzzle: Puzzle) -> Iterator[Labels]:
    """All ways to place blocks, as long as memory holds the list of them."""
    listed, bytes_each = 0, LISTED_BYTES + 2 * puzzle.places
    for labels in all_placements(puzzle):
        listed += len(labels)
        _check_memory(listed * bytes_each, listed, "at least ")
        yield labels
