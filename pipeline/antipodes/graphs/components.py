"""The components of a puzzle: all its positions, by which moves lead to which."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from antipodes.config import PuzzleLike, as_config
from antipodes.machine import available_memory, human
from antipodes.puzzles.block_board import BlockBoard
from antipodes.puzzles.families.blocks import placements
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.bfs import components as searching
from antipodes_tasks.errors import InputError, ResourceLimitError
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.selection import listed_space, whole_space
from antipodes_tasks.spaces.space import Space


@dataclass(frozen=True, slots=True)
class Component:
    """Components that have the same size and radius."""

    size: int
    """The number of positions of each: moves lead from each of them to each, and to no other."""
    radius: int
    """The greatest distance from the one of its positions that has the least index."""
    count: int
    """How many there are."""
    example: str
    """A position of one of them: the one with the least index."""


def components(puzzle: PuzzleLike) -> list[Component]:
    """All positions with the pieces of a puzzle, reached from its start or not, as components; the largest first.

    Parameters
    ----------
    puzzle
        As for `run`.

    Raises
    ------
    InputError
        An argument is none of these, moves cannot all be undone, or the positions are only known by a search.
    SizeLimitError, ResourceLimitError
        There are too many positions.
    """
    found = as_config(puzzle).puzzle
    if not found.moves.reversible:
        raise InputError(f"components: expected moves that can all be undone, found others in {found.name}")
    space = _space(found)
    tables = space.filler
    needed, free = searching.BYTES * space.size + tables.table_bytes + tables.building_bytes(1), available_memory()
    if needed > free:
        raise ResourceLimitError(
            f"components: expected positions that fit into {human(free)} of free memory, "
            f"found {space.size:,} that take {human(needed)}"
        )
    counts: Counter[tuple[int, int]] = Counter()
    first: dict[tuple[int, int], int] = {}
    for some in searching.components(tables.filled()):
        sizes = list(zip(some.size.tolist(), some.radius.tolist(), strict=True))
        counts.update(sizes)
        for kind, index in zip(sizes, some.first.tolist(), strict=True):
            first.setdefault(kind, index)
    examples = space.unrank(np.array(list(first.values()), dtype=np.int64))
    texts = dict(zip(first, map(found.format, examples), strict=True))
    return [
        Component(size, radius, counts[size, radius], texts[size, radius])
        for size, radius in sorted(counts, reverse=True)
    ]


def _space(puzzle: Puzzle) -> Space:
    """The space of all positions; of blocks all ways to place them."""
    if isinstance(puzzle.notation, BlockBoard):
        return listed_space(_from_all(puzzle.rules, puzzle.notation))
    return whole_space(puzzle.rules)


def _from_all(rules: Rules, board: BlockBoard) -> Rules:
    return replace(rules, starts=tuple(placements(board, rules.counts)), origin=None)
