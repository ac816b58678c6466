from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import random_tables
from hypothesis import given
from hypothesis import strategies as st

from antipodes_tasks.bfs import partition
from antipodes_tasks.bfs.bitmaps import Depths
from antipodes_tasks.bfs.partition import Partition, State, links, pull_is_cheaper
from antipodes_tasks.bfs.segments import SegmentLog, depths_of
from antipodes_tasks.move_tables import MoveTables

seeds = st.integers(0, 2**32 - 1)
Choice = Callable[..., bool]


@pytest.mark.parametrize(
    ("frontier", "unvisited", "pulls"),
    [(5_402_628, 81_372_144, False), (20_776_176, 60_595_968, False), (45_391_616, 15_204_352, True)],
)
def test_the_direction_of_the_great_layers_of_the_pocket_cube(frontier: int, unvisited: int, pulls: bool) -> None:
    assert pull_is_cheaper(frontier, unvisited, unvisited, 18) == pulls


def test_nothing_is_pulled_from_an_empty_frontier() -> None:
    assert not pull_is_cheaper(0, 10, 10, 3)
    assert not pull_is_cheaper(0, 0, 0, 3)


@given(st.integers(1, 10**9), st.integers(0, 10**9), st.integers(0, 10**6), st.integers(1, 100))
def test_a_larger_frontier_and_fewer_unvisited_positions_favour_a_pull(
    frontier: int, unvisited: int, fewer: int, moves: int
) -> None:
    if pull_is_cheaper(frontier, unvisited, unvisited, moves):
        less = max(0, unvisited - fewer)
        assert pull_is_cheaper(frontier + fewer, less, less, moves)


class Search:
    """A search of random tables in partitions, whose chunks are rows."""

    def __init__(self, seed: int, undirected: bool, choose: Choice) -> None:
        rng = np.random.default_rng(seed)
        self.rows, self.width = int(rng.integers(1, 12)), int(rng.choice([1, 2, 63, 64, 65, 130]))
        self.tables = random_tables.random_tables(rng, self.rows, self.width, undirected)
        self.starts = np.unique(rng.integers(self.rows * self.width, size=rng.integers(1, 4)))
        cuts = rng.choice(self.rows + 1, size=rng.integers(0, min(5, self.rows + 1)), replace=False)
        self.bounds = sorted({0, self.rows, *cuts.tolist()})
        parts = [Partition(number, first, end) for number, (first, end) in enumerate(pairwise(self.bounds))]
        self.links = links(self.tables, self.bounds)
        self.choose = choose
        self.log = SegmentLog()
        self.states = [State(part, self.width, 1) for part in parts]
        for state in self.states:
            state.begin(self.starts, self.log)
        self.depth = 0

    def run(self, layers: int = 1000) -> Depths:
        """The depths after so many more layers, or all."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(partition, "pull_is_cheaper", self.choose)
            for _ in range(layers):
                frontiers = [state.frontier(self.depth) for state in self.states]
                if not any(frontiers):
                    break
                self.depth += 1
                for state in self.states:
                    sources = [one for at in self.links.predecessors[state.part.number] if (one := frontiers[at])]
                    state.advance(self.depth, sources, self.tables, self.log)
        unreached = np.full((1, self.width), random_tables.UNREACHED, dtype=np.uint16)
        return np.concatenate(
            [depths_of(self.log.of_chunks(row, row + 1), unreached.copy()) for row in range(self.rows)]
        )

    def restore(self) -> None:
        """Replace all states by those that are restored from their segments."""
        self.states = [State(state.part, self.width, 1) for state in self.states]
        for state in self.states:
            state.restore(self.depth, self.log.of_chunks(state.part.first_row, state.part.end_row))

    def unvisited(self) -> list[int]:
        """The number of unvisited positions of each partition, as the states know it."""
        return [state.unvisited for state in self.states]


def always(*_: object) -> bool:
    return True


def never(*_: object) -> bool:
    return False


def now_and_then(seed: int) -> Choice:
    rng = np.random.default_rng(seed)
    return lambda *_: bool(rng.integers(2))


@given(seeds)
def test_push_and_pull_find_the_distances(seed: int) -> None:
    for choose in (always, never, now_and_then(seed), pull_is_cheaper):
        search = Search(seed, True, choose)
        assert np.array_equal(search.run(), random_tables.distances(search.tables, search.starts))


@given(seeds)
def test_directed_moves_are_never_pulled(seed: int) -> None:
    search = Search(seed, False, always)
    assert np.array_equal(search.run(), random_tables.distances(search.tables, search.starts))


@given(seeds, st.integers(0, 4))
def test_a_restored_search_goes_on_in_either_direction(seed: int, layers: int) -> None:
    search = Search(seed, True, now_and_then(seed))
    search.run(layers)
    before = search.unvisited()
    search.restore()
    assert search.unvisited() == before
    assert np.array_equal(search.run(), random_tables.distances(search.tables, search.starts))


@given(seeds)
def test_states_count_their_unvisited_positions(seed: int) -> None:
    search = Search(seed, True, now_and_then(seed))
    for _ in range(4):
        depths = search.run(1)
        ends = search.bounds[1:-1]
        assert search.unvisited() == [int((here == random_tables.UNREACHED).sum()) for here in np.split(depths, ends)]


def test_the_choice_gets_the_counts_of_the_partitions_that_lead_here() -> None:
    """Rows in a ring, of one column, in two partitions of unequal frontiers."""
    target = np.array([[(row + 1) % 8, (row + 7) % 8] for row in range(8)], dtype=np.int32)
    moves = MoveTables(target, np.zeros((8, 0), dtype=np.int16), np.zeros((1, 1), dtype=np.int32), undirected=True)
    chosen = []

    def choose(*counts: float) -> bool:
        chosen.append(counts)
        return False

    first, other = (State(Partition(at, 4 * at, 4 * at + 4), 1, 4) for at in (0, 1))
    for state in (first, other):
        state.begin(np.array([0, 2, 3, 4]), None)
    own, there = first.frontier(0), other.frontier(0)
    assert own is not None
    assert there is not None
    lean = partition.boundary(there, moves, np.array([(0, 4)], dtype=np.int32))
    assert lean is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partition, "pull_is_cheaper", choose)
        assert first.advance(1, [own, lean], moves, None) == 1
        assert first.advance(2, [], moves, None) == 0
    assert chosen == [((3 + 1) / 2, (1 + 3) / 2, 1, 2)]
    assert first.unvisited == 0
