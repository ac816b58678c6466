from dataclasses import fields
from itertools import count, pairwise

import numpy as np
import pytest
from dask.sizeof import sizeof

from antipodes.bfs import partition
from antipodes.bfs.arrays import Depths
from antipodes.bfs.partition import State
from antipodes.bfs.rows import Partition
from antipodes.puzzles.families import puzzle_from
from antipodes.spaces.arrangement.arrangement_space import ArrangementSpace
from antipodes.spaces.move_tables import ILLEGAL, MoveTables
from antipodes.spaces.numbering.arrangements import Index

PUZZLE = puzzle_from({"name": "p", "family": "sliding", "rows": 2, "columns": 3, "start": "1 1 2 / 3 2 0"})
SPACE = ArrangementSpace(PUZZLE, Index(PUZZLE.counts, 2))
TABLES = SPACE.move_tables()
STARTS = SPACE.rank(PUZZLE.start_labels)
WHOLE = Partition(0, 0, 60)


def search(bounds: list[int], hold_depths: bool = True) -> tuple[list[int], Depths]:
    """The layers, and the depths, of a search in partitions with these bounds."""
    states = begin(bounds, hold_depths)
    sources = partition.predecessors(partition.successors(TABLES, bounds))
    depths = np.full((SPACE.rows, SPACE.width), 255, dtype=np.uint8)
    layers: list[int] = []
    while last := [state for state in states if state.depth == len(layers)]:
        for state in last:
            here = depths[state.first_row : state.first_row + len(state.frontier)]
            here[np.unpackbits(state.frontier.view(np.uint8), axis=1, bitorder="little")[:, : SPACE.width] == 1] = len(
                layers
            )
        layers.append(sum(state.found[-1][1] for state in last))
        states = advanced(states, sources, len(layers))
    if hold_depths:
        held = np.concatenate([state.depths for state in states if state.depths is not None])
        assert np.array_equal(held, depths)
    return layers, depths


def advanced(states: list[State], sources: list[list[int]], depth: int) -> list[State]:
    """The next states, each from itself and the boundaries of others."""
    lean = {
        state.number: partition.boundary(state, TABLES, state.first_row, state.first_row + len(state.rows))
        for state in states
        if state.depth == depth - 1
    }
    return [
        partition.advance(
            state,
            [state if one == state.number else lean[one] for one in sources[state.number] if one in lean],
            TABLES,
            depth,
        )
        for state in states
    ]


def begin(bounds: list[int], hold_depths: bool) -> list[State]:
    return [
        partition.begin(Partition(number, first, end), SPACE.width, STARTS, "uint8", hold_depths)
        for number, (first, end) in enumerate(pairwise(bounds))
    ]


@pytest.mark.parametrize("bounds", [[0, 10, 60], [0, 1, 2, 3, 59, 60], list(range(61)), [0, 59, 60]])
@pytest.mark.parametrize("hold_depths", [True, False])
def test_the_partitions_do_not_change_the_result(bounds: list[int], hold_depths: bool) -> None:
    assert SPACE.rows == 60
    layers, depths = search(bounds, hold_depths)
    expected_layers, expected_depths = search([0, 60])
    assert layers == expected_layers
    assert np.array_equal(depths, expected_depths)


def test_advancing_is_idempotent() -> None:
    first = partition.begin(WHOLE, SPACE.width, STARTS, "uint8", hold_depths=True)
    once, twice = (partition.advance(first, [first], TABLES, 1) for _ in range(2))
    for field in fields(State):
        assert np.array_equal(getattr(once, field.name), getattr(twice, field.name))
    assert first.found == ((0, 1),)
    assert first.visited is not None
    assert np.array_equal(first.frontier, first.visited)


def test_a_restored_state_is_that_of_the_search() -> None:
    before = partition.begin(WHOLE, SPACE.width, STARTS, "uint8", hold_depths=True)
    for depth in range(1, 6):
        before = partition.advance(before, [before], TABLES, depth)
    assert before.depths is not None
    stored = before.depths.copy()
    restored = partition.restore(WHOLE, stored.copy(), 5, hold_depths=True)
    assert restored.depths is not None
    assert np.array_equal(restored.depths, stored)
    assert np.array_equal(restored.frontier, before.frontier)
    assert before.visited is not None
    assert np.array_equal(restored.visited, before.visited)
    assert restored.found == before.found


def test_a_state_without_new_positions_is_unchanged() -> None:
    first = partition.begin(WHOLE, SPACE.width, STARTS, "uint8", hold_depths=True)
    assert partition.advance(first, [], TABLES, 1) is first
    later = partition.advance(first, [first], TABLES, 1)
    assert later.depth == 1
    assert later is not first


def test_recent_layers_are_remembered() -> None:
    state = partition.begin(WHOLE, SPACE.width, STARTS, "uint8", hold_depths=True)
    found = list(state.found)
    for depth in count(1):
        after = partition.advance(state, [state], TABLES, depth)
        if after is state:
            break
        state = after
        found.append(state.found[-1])
    assert len(found) > partition.RECENT
    assert list(state.found) == found[-partition.RECENT :]


def test_the_boundary_is_the_part_of_the_frontier_with_moves_out() -> None:
    state = partition.begin(WHOLE, SPACE.width, STARTS, "uint8", hold_depths=True)
    for depth in range(1, 9):
        state = partition.advance(state, [state], TABLES, depth)
    assert len(partition.boundary(state, TABLES, 0, 60).rows) == 0
    lean = partition.boundary(state, TABLES, 10, 40)
    leaves = ((TABLES.target != ILLEGAL) & ((TABLES.target < 10) | (TABLES.target >= 40))).any(axis=1)
    assert lean.rows.tolist() == np.flatnonzero(leaves & state.frontier.any(axis=1)).tolist()
    assert np.array_equal(lean.frontier, state.frontier[lean.rows])
    assert (lean.visited, lean.depths, lean.found) == (None, None, state.found)


def test_without_depths_in_memory() -> None:
    assert partition.begin(WHOLE, SPACE.width, STARTS, "uint8", hold_depths=False).depths is None
    stored = np.full((60, SPACE.width), 255, dtype=np.uint8)
    assert partition.restore(WHOLE, stored, 3, hold_depths=False).depths is None


def test_starts_outside_the_partition_are_ignored() -> None:
    last = partition.begin(
        Partition(1, 59, 60), SPACE.width, np.array([0, 59 * SPACE.width - 1]), "uint8", hold_depths=True
    )
    assert (last.found, last.depth, last.frontier.any()) == ((), -1, False)
    both = partition.begin(
        Partition(1, 59, 60), SPACE.width, np.array([0, 59 * SPACE.width]), "uint8", hold_depths=True
    )
    assert both.found == ((0, 1),)


def test_successors_and_predecessors_of_partitions() -> None:
    target = np.array([[1, 3], [0, -1], [2, -1], [0, -1]], dtype=np.int32)
    tables = MoveTables(target, np.zeros((4, 2), dtype=np.int16), np.zeros((1, 1), dtype=np.int32))
    reached = partition.successors(tables, [0, 1, 2, 4])
    assert reached == [[1, 2], [0], [0, 2]]
    assert partition.predecessors(reached) == [[1, 2], [0], [0, 2]]
    assert partition.predecessors([[], [0], [0, 1]]) == [[1, 2], [2], []]


def test_dask_counts_half_the_depths_of_a_state() -> None:
    state = partition.begin(WHOLE, SPACE.width, STARTS, "uint8", hold_depths=True)
    assert state.visited is not None
    assert state.depths is not None
    counted = state.rows.nbytes + state.frontier.nbytes + state.visited.nbytes + state.depths.nbytes // 2
    lean = partition.boundary(state, TABLES, 0, 30)
    overhead = 100
    assert 0 <= sizeof((state, state)) - 2 * counted <= overhead
    assert 0 <= sizeof((lean,)) - lean.rows.nbytes - lean.frontier.nbytes <= overhead
