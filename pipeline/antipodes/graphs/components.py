"""All positions of a puzzle, reachable from its start or not: components, and positions farthest from a goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from antipodes.puzzles.block_board import BlockBoard
from antipodes.puzzles.config import PuzzleLike, as_config
from antipodes.puzzles.goals import positions_matching
from antipodes.puzzles.pattern import all_placements
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import ENUMERATED
from antipodes.system.machine import available_memory, human
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, ResourceLimitError, SizeLimitError
from antipodes_tasks.base.quoting import counted, quote, shorten
from antipodes_tasks.bfs import component_search
from antipodes_tasks.bfs.goal_distances import BYTES, UNREACHED, goal_distances
from antipodes_tasks.bfs.strong_components import weak_components
from antipodes_tasks.move_tables import Indices, MoveTables
from antipodes_tasks.rules.function_checks import check_functions
from antipodes_tasks.spaces.keyed import Keyed
from antipodes_tasks.spaces.selection import full_space
from antipodes_tasks.spaces.space import NOT_NUMBERED, Space

LISTED_BYTES = 100
"""Bytes per listed arrangement of the blocks, in addition to the bytes of its labels."""
NAMED = 20
"""Number of hardest starts that are listed by default."""


@dataclass(frozen=True, slots=True)
class Component:
    """One record for all components of the same size and radius."""

    size: int
    """Number of positions of each component. All of them are reachable from each other."""
    radius: int
    """Maximum distance from the component's position with the smallest index."""
    count: int
    """Number of such components."""
    example: str
    """The position with the smallest index in one of the components."""


class Components(list[Component]):
    """The components of a puzzle, largest first; strongly connected components if some moves are irreversible."""

    weakly_connected: int
    """Number of weakly connected components, the same as the number of components if all moves are reversible."""

    def __repr__(self) -> str:
        number, positions = sum(one.count for one in self), sum(one.count * one.size for one in self)
        largest = f", the largest of {self[0].size:,} with radius {self[0].radius}" if self else ""
        return f"<Components: {counted(number, 'component')} of {counted(positions, 'position')}{largest}>"


@dataclass(frozen=True, slots=True, repr=False)
class HardestStarts:
    """The positions farthest from a goal, among all arrangements of a puzzle's pieces."""

    distance: int
    """Minimum number of moves from each of these positions to the nearest goal."""
    count: int
    """Number of such positions."""
    positions: list[str]
    """The first of these positions, by index."""
    goals: int
    """Number of goals."""
    reaching: int
    """Number of starts from which a goal is reachable, including the goals."""
    total: int
    """Number of starts: all positions, or those that match ``among``."""

    def __repr__(self) -> str:
        farthest = f"{counted(self.count, 'position')} at distance {self.distance}"
        return f"<HardestStarts: {farthest}; {self.reaching:,} of {self.total:,} reach {counted(self.goals, 'goal')}>"


def components(puzzle: PuzzleLike) -> Components:
    """Return the components of all arrangements of a puzzle's pieces, reachable or not; largest first.

    A component is strongly connected: all of its positions are reachable from each other. If all moves are reversible,
    no position outside of a component is reachable from it.

    Parameters
    ----------
    puzzle
        As for `run`.

    Raises
    ------
    InputError
        An argument is invalid, or the positions can only be found by a search.
    SizeLimitError, ResourceLimitError
        There are too many positions.
    """
    found = as_config(puzzle).puzzle
    one_way = not found.moves.reversible
    space, tables = _tables(found, component_search.ONE_WAY_BYTES if one_way else component_search.BYTES)
    counts: Counter[tuple[int, int]] = Counter()
    first: dict[tuple[int, int], int] = {}
    for some in component_search.components(tables):
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
    """Return the positions farthest from a goal, among all arrangements of a puzzle's pieces, reachable or not.

    Parameters
    ----------
    puzzle
        As for `run`.
    goal
        A position, or a pattern, which makes all matching positions goals. For sliding blocks, ``?`` stands for a
        square with any content.
    limit
        Maximum number of positions that are listed; all are counted.
    among
        A pattern or a position; only matching positions are starts.

    Raises
    ------
    InputError
        An argument is invalid, no start can reach a goal, or the positions can only be found by a search.
    SizeLimitError, ResourceLimitError
        There are too many positions.
    """
    found = as_config(puzzle).puzzle
    arguments.integer(limit, "limit", 1)
    texts = [arguments.text(goal, "a goal"), *([] if among is None else [arguments.text(among, "among")])]
    batches = [positions_matching(found, text) for text in texts]
    space, tables = _tables(found, BYTES)
    goals, *chosen = (_indices_of(space, *each) for each in zip(texts, batches, strict=True))
    # One search back from all goals returns the distance of every arrangement, so no start needs a search of its own.
    distance = goal_distances(tables, goals)
    starts = chosen[0] if chosen else np.arange(space.size)
    farthest = int(distance[starts].max())
    if farthest == UNREACHED:
        raise InputError(f"none of the positions matching {quote(shorten(texts[-1]))} can reach a goal")
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
    """Return the ascending indices of the positions that a text describes; raise InputError if there are none."""
    found = np.unique(np.concatenate([space.rank(labels) for labels in batches]))
    indices: Indices = found[found != NOT_NUMBERED]
    if not len(indices):
        raise InputError(f"no position of the puzzle matches the pattern {quote(shorten(text))}")
    return indices


def _tables(puzzle: Puzzle, bytes_each: int) -> tuple[Space, MoveTables]:
    """Return the space of all positions and its moves; raise ResourceLimitError if memory is too small for them."""
    space = _space(puzzle)
    tables = space.filler
    needed = bytes_each * space.size + tables.table_bytes + tables.building_bytes(1)
    _check_memory(needed, space.size)
    return space, tables.filled()


def _check_memory(needed: int, positions: int, more: str = "") -> None:
    free = available_memory()
    if needed > free:
        raise ResourceLimitError(
            f"{more}{positions:,} positions take {human(needed)}, but only {human(free)} of memory are free"
        )


def _space(puzzle: Puzzle) -> Space:
    """Return the space of all positions; for blocks, of all arrangements of the blocks.

    It may be larger than the space of the table, which lists only positions reachable from the start if the config sets
    ``enumerated``, or if few positions are reachable because moves have conditions.
    """
    check_functions(puzzle.rules, puzzle.start_labels)
    if isinstance(puzzle.notation, BlockBoard):
        return Space(puzzle.rules, Keyed.listing(puzzle.rules, _within_memory(puzzle)), 2)
    rules, chosen = puzzle.rules, (puzzle.settings or {}).get(ENUMERATED) is True
    if rules.enumerated and rules.moves.are_functions and not chosen:
        raise InputError(
            f"the functions of {shorten(rules.name)} only accept positions that are reachable from its start, so the "
            "moves of other arrangements of the pieces are unknown"
        )
    if rules.larger is not None:
        raise InputError(
            f"{shorten(rules.name)} has pieces that cover several places, so its positions can only be found by a "
            "search from its start"
        )
    try:
        return full_space(replace(rules, enumerated=False))
    except (SizeLimitError, ResourceLimitError) as error:
        if not rules.enumerated:
            raise
        hint = "unreachable arrangements of the pieces count as well"
        raise type(error)(f"{error}; {hint}") from error


def _within_memory(puzzle: Puzzle) -> Iterator[Labels]:
    """Yield all arrangements of the blocks, as long as their list fits into memory."""
    listed, bytes_each = 0, LISTED_BYTES + 2 * puzzle.places
    for labels in all_placements(puzzle):
        listed += len(labels)
        _check_memory(listed * bytes_each, listed, "at least ")
        yield labels
