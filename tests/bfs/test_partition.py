from itertools import pairwise

import numpy as np
import pytest
from journals import CHUNK_ROWS, SPACE, STARTS, move_tables

from antipodes_tasks.base.errors import InterruptedRunError, StoreDamagedError
from antipodes_tasks.bfs.bitmaps import Depths, first_positions
from antipodes_tasks.bfs.partition import Partition, State, boundary, links, sources
from antipodes_tasks.bfs.segments import Segment, SegmentLog, depths_of
from antipodes_tasks.bfs.two_bits import TwoBitState
from antipodes_tasks.move_tables import ILLEGAL, MoveTables

WHOLE = Partition(0, 0, 60)
CHUNKS = SPACE.rows // CHUNK_ROWS


@pytest.fixture(autouse=True, params=[State, TwoBitState], ids=["three bits", "two bits"])
def _each_kind_of_state(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "State", request.param)


def begin(bounds: list[int], log: SegmentLog | None) -> list[State]:
    """A state of each partition at depth 0."""
    states = [
        State(Partition(number, *rows), SPACE.width, CHUNK_ROWS if bounds == [0, 60] else 1)
        for number, rows in enumerate(pairwise(bounds))
    ]
    for state in states:
        state.begin(STARTS, log)
    return states


def advance(states: list[State], sources: list[list[int]], depth: int, log: SegmentLog | None) -> int:
    """Find a layer in place, each partition from itself and the boundaries of others; how many positions it has."""
    before = {state.part.number: one for state in states if (one := state.frontier(depth - 1)) is not None}
    found = 0
    for state in states:
        own = state.part.number
        ranges = np.array([(state.part.first_row, state.part.end_row)], dtype=np.int32)
        lean = {number: boundary(one, move_tables(), ranges) for number, one in before.items()}
        needed = [before.get(one) if one == own else lean.get(one) for one in sources[own]]
        found += state.advance(depth, [one for one in needed if one is not None], move_tables(), log)
    for state in states:
        state.forget_before(depth)
    return found


def search(bounds: list[int]) -> tuple[list[int], Depths]:
    """The layers, and the depths, of a search in partitions with these bounds."""
    log = SegmentLog()
    states = begin(bounds, log)
    predecessors = links(move_tables(), bounds).predecessors
    layers = [1]
    while found := advance(states, predecessors, len(layers), log):
        layers.append(found)
    rows = CHUNK_ROWS if bounds == [0, 60] else 1
    return layers, np.concatenate([chunk_depths(log, chunk, rows) for chunk in range(60 // rows)])


def chunk_depths(log: SegmentLog, chunk: int, rows: int) -> Depths:
    return depths_of(log.of_chunks(chunk, chunk + 1), np.full((rows, SPACE.width), 255, dtype=np.uint8))


def whole(depth: int, log: SegmentLog | None = None) -> State:
    """The whole space as one partition at a depth."""
    (state,) = begin([0, 60], log)
    for at in range(1, depth + 1):
        advance([state], [[0]], at, log)
    return state


def up_to(depth: int) -> tuple[State, list[Segment]]:
    """The whole space at a depth, and all its segments."""
    log = SegmentLog()
    state = whole(depth, log)
    return state, log.segments


def assert_same(one: State, other: State, depth: int) -> None:
    assert np.array_equal(one.visited, other.visited)
    assert one.unvisited == other.unvisited
    first, second = one.frontier(depth), other.frontier(depth)
    assert (first is None) == (second is None)
    if first and second:
        assert first.count == second.count
        assert np.array_equal(first.bits, second.bits)


@pytest.mark.parametrize("bounds", [[0, 10, 60], [0, 1, 2, 3, 59, 60], list(range(61)), [0, 59, 60]])
def test_the_partitions_do_not_change_the_result(bounds: list[int]) -> None:
    assert SPACE.rows == 60
    layers, depths = search(bounds)
    expected_layers, expected_depths = search([0, 60])
    assert layers == expected_layers
    assert np.array_equal(depths, expected_depths)


def test_without_sources_nothing_is_found() -> None:
    state = whole(3)
    before = state.visited.copy()
    assert state.advance(4, [], move_tables(), None) == 0
    assert np.array_equal(state.visited, before)
    assert state.frontier(4) is None
    assert state.frontier(3) is not None


@pytest.mark.parametrize("depth", [0, 1, 5, 12])
def test_a_restored_state_is_that_of_the_search(depth: int) -> None:
    before, segments = up_to(depth)
    restored = whole(15)  # what it had found until then is forgotten
    restored.restore(depth, segments)
    assert_same(restored, before, depth)
    advance([before], [[0]], depth + 1, None)
    advance([restored], [[0]], depth + 1, None)
    assert_same(restored, before, depth + 1)


@pytest.mark.parametrize("depth", [0, 3, 11, 12])
def test_a_state_goes_back(depth: int) -> None:
    state, segments = up_to(12)
    state.go_back(depth, [one for one in segments if one.depth >= depth])
    assert_same(state, whole(depth), depth)


def test_replaying_is_like_searching() -> None:
    _, segments = up_to(9)
    state = whole(4)
    for depth in range(5, 10):
        found = state.replay(depth, [one for one in segments if one.depth == depth])
        state.forget_before(depth)
        assert found == sum(one.positions for one in segments if one.depth == depth)
        assert_same(state, whole(depth), depth)
    assert state.replay(10, []) == 0


def test_replaying_positions_that_are_known_is_refused() -> None:
    state, segments = up_to(6)
    with pytest.raises(StoreDamagedError, match="positions at depth 7 are also at other depths"):
        state.replay(7, [one._replace(depth=7) for one in segments if one.depth == 5])


def test_restoring_a_position_twice_is_refused() -> None:
    state, segments = up_to(6)
    again = next(one for one in segments if one.depth == 3)
    with pytest.raises(StoreDamagedError, match="partition 0 contains a position twice"):
        state.restore(7, [*segments, again._replace(depth=7)])


def test_bytes_that_are_no_segment_are_refused() -> None:
    state, segments = up_to(6)
    wrong = segments[3]._replace(positions=segments[3].positions + 1)
    for act in (state.restore, state.go_back):
        with pytest.raises(StoreDamagedError, match=f"segment of chunk {wrong.chunk} at depth {wrong.depth}"):
            act(0, [wrong])


def test_the_last_layers_are_remembered() -> None:
    state = whole(7)
    first = 7 if State is TwoBitState else 6
    kept = [state.frontier(depth) for depth in range(first, 8)]
    seen = np.zeros_like(state.visited)
    for one in kept:
        assert one is not None
        assert one.bits.any()
        assert not (one.bits & seen).any()
        seen |= one.bits
    for depth in range(first):
        with pytest.raises(InterruptedRunError, match=f"depth {depth} are no longer stored"):
            state.frontier(depth)


def test_the_positions_of_a_layer() -> None:
    log = SegmentLog()
    state = whole(7, log)
    depths = np.concatenate([chunk_depths(log, chunk, CHUNK_ROWS) for chunk in range(CHUNKS)]).ravel()
    expected = np.flatnonzero(depths == 7).tolist()
    assert state.positions(7, 1000).tolist() == expected
    assert state.positions(7, 3).tolist() == expected[:3]
    assert state.positions(8, 1000).size == 0
    with pytest.raises(InterruptedRunError, match="depth 5 are no longer stored"):
        state.positions(5, 1000)


def test_a_state_takes_no_more_than_it_says() -> None:
    bits = SPACE.rows * 8 * 3
    state = whole(9)
    assert state.nbytes <= state.most_bytes
    assert state.visited.nbytes == bits / 3
    rows = 4 * SPACE.rows
    assert state.most_bytes - rows < (bits if State is TwoBitState else 1.2 * bits)


def test_the_last_layer_can_be_read_while_the_next_is_found() -> None:
    state = whole(7)
    before, frontier = state.positions(7, 1000).tolist(), state.frontier(7)
    assert frontier is not None
    assert state.advance(8, [frontier], move_tables(), None)
    found = frontier.layer
    assert first_positions(found, SPACE.width, 1000).tolist() == before
    state.forget_before(8)
    assert not (state.positions(8, 1000)[:, np.newaxis] == before).any()


def test_the_boundary_is_the_part_of_the_frontier_with_moves_into_some_rows() -> None:
    frontier = whole(8).frontier(8)
    assert frontier is not None
    assert boundary(frontier, move_tables(), np.empty((0, 2), dtype=np.int32)) is None
    lean = boundary(frontier, move_tables(), np.array([(0, 10), (40, 60)], dtype=np.int32))
    assert lean is not None
    target = move_tables().target
    leads = ((target != ILLEGAL) & ((target < 10) | (target >= 40))).any(axis=1)
    assert lean.rows.tolist() == np.flatnonzero(leads & frontier.bits.any(axis=1)).tolist()
    assert np.array_equal(lean.bits, frontier.bits[lean.rows])
    assert (lean.number, lean.count, lean.unvisited) == (frontier.number, frontier.count, frontier.unvisited)


def test_starts_outside_the_partition_are_ignored() -> None:
    last = State(Partition(1, 59, 60), SPACE.width, 1)
    assert last.begin(np.array([0, 59 * SPACE.width - 1]), None) == 0
    assert (last.frontier(0), last.visited.any(), last.unvisited) == (None, False, SPACE.width)
    assert last.begin(np.array([0, 59 * SPACE.width]), None) == 1
    assert last.positions(0, 10).tolist() == [59 * SPACE.width]


def test_a_start_that_is_named_twice_counts_once() -> None:
    state = State(WHOLE, SPACE.width, CHUNK_ROWS)
    assert state.begin(np.array([7, 7, 8]), None) == 2


def test_the_chunks_of_a_partition() -> None:
    assert State(Partition(2, 16, 30), 3, 4).chunks == range(4, 8)


def test_the_sources_of_partitions() -> None:
    target = np.array([[1, 3], [0, -1], [2, -1], [0, -1]], dtype=np.int32)
    tables = MoveTables(target, np.zeros((4, 2), dtype=np.int16), np.zeros((1, 1), dtype=np.int32))
    assert links(tables, [0, 1, 2, 4]) == (tables, [[1, 2], [0], [0, 2]])
    assert sources(tables, [0, 2, 4], [0, 1, 4]) == [[0, 1], [0, 1]]
    assert sources(tables, [0, 1, 4], [0, 2, 3, 4]) == [[0, 1], [1], [0]]
