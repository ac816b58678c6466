"""Checks of the index and the move tables of a puzzle, and of the layers that a search with them finds."""

from collections.abc import Iterator

import numpy as np

from antipodes.checking.brute_force import BruteForce
from antipodes.checking.moves import listed
from antipodes.puzzles.puzzle import Puzzle
from antipodes.sizes import GIB
from antipodes_tasks.bfs.partition import State
from antipodes_tasks.bfs.rows import Partition
from antipodes_tasks.quoting import counted
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.spaces import rules
from antipodes_tasks.spaces.move_tables import MoveTables
from antipodes_tasks.spaces.space import Indices, StateSpace

MOST_EVALUATED = 1 << 23
"""Positions times moves of functions for which tables are built: in a second or two."""
MOST_BYTES = GIB
"""Memory of move tables and bitmaps, at most."""


def too_large(space: StateSpace) -> bool:
    """Whether the move tables would take long to build, or much memory."""
    evaluated = space.size * len(space.rules.moves) if isinstance(space.rules.moves, Functions) else 0
    bitmaps = 4 * 8 * space.rows * -(-space.width // 64)
    return evaluated > MOST_EVALUATED or space.table_bytes + space.building_bytes(1) + bitmaps > MOST_BYTES


def index_problems(space: StateSpace, sample: Labels) -> Iterator[str]:
    """Positions ``(n, places)`` that can be reached, and do not come back from their index."""
    indices = space.rank(sample)
    outside = np.flatnonzero((indices < 0) | (indices >= space.size))
    if len(outside):
        found = indices[outside[0]]
        yield f"index: expected one from 0 to {space.size - 1}, found {found} for {listed(sample[outside[0]])}"
        return
    back = space.unrank(indices)
    wrong = np.flatnonzero((back != sample).any(axis=1))
    if len(wrong):
        at = wrong[0]
        yield f"index: expected {listed(sample[at])} from index {indices[at]}, found {listed(back[at])}"


def table_problems(space: StateSpace, tables: MoveTables, sample: Labels) -> Iterator[str]:
    """Positions ``(n, places)`` from which the move tables lead elsewhere than the moves."""
    indices = space.rank(sample)
    by_moves, by_tables = rules.successors(space, indices), rules.by_tables(tables, indices)
    for at in rules.differing(by_moves, by_tables, len(indices))[:1].tolist():
        expected, found = (np.sort(one.indices[one.of == at]).tolist() for one in (by_moves, by_tables))
        yield f"move tables: expected moves from {listed(sample[at])} to indices {expected}, found {found}"


def search_problems(puzzle: Puzzle, space: StateSpace, tables: MoveTables, expected: BruteForce) -> Iterator[str]:
    """The first layer of a search with the tables that is not that by brute force."""
    whole = Partition(0, 0, space.rows)
    state = State(whole, space.width, space.rows)
    state.begin(space.rank(space.start_labels), None)
    layers = [*expected.layers, *([expected.layers[0][:0]] if expected.ended else [])]
    for depth, layer in enumerate(layers):
        if depth and (frontier := state.frontier(depth - 1)):
            state.advance(depth, [frontier], tables, None)
        found = state.positions(depth, space.size)
        if problem := _difference(space, depth, layer, found):
            yield problem
            return


def _difference(space: StateSpace, depth: int, layer: Labels, found: Indices) -> str | None:
    expected = np.sort(space.rank(layer))
    if np.array_equal(expected, found):
        return None
    example = int(np.setxor1d(expected, found)[0])
    position = listed(space.unrank(np.array([example]))[0])
    return (
        f"depth {depth}: expected {counted(len(expected), 'position')}, as by brute force, found {len(found):,} by "
        f"the move tables; one that only {'the first' if example in expected else 'the second'} has is {position}"
    )
