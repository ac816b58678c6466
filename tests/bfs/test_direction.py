from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import random_tables
from hypothesis import given, settings
from hypothesis import strategies as st

from antipodes.bfs import group, partition
from antipodes.bfs.arrays import Depths
from antipodes.bfs.direction import pull_is_cheaper
from antipodes.bfs.group import Group, Links
from antipodes.bfs.rows import Partition
from antipodes.spaces.move_tables import MoveTables

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
    """A search of random tables in groups of partitions."""

    def __init__(self, seed: int, undirected: bool, choose: Choice) -> None:
        rng = np.random.default_rng(seed)
        rows, width = int(rng.integers(1, 12)), int(rng.choice([1, 2, 63, 64, 65, 130]))
        self.tables = random_tables.random_tables(rng, rows, width, undirected)
        self.starts = np.unique(rng.integers(rows * width, size=rng.integers(1, 4)))
        cuts = rng.choice(rows + 1, size=rng.integers(0, min(5, rows + 1)), replace=False)
        self.bounds = sorted({0, rows, *cuts.tolist()})
        parts = [Partition(number, first, end) for number, (first, end) in enumerate(pairwise(self.bounds))]
        sizes = np.unique([0, len(parts), *rng.integers(0, len(parts) + 1, size=2)])
        self.parts = [parts[first:end] for first, end in pairwise(sizes.tolist())]
        self.links: Links = group.links(self.tables, self.bounds)
        self.choose = choose
        self.groups: list[Group] = [group.begin(one, width, self.starts, "uint16", True) for one in self.parts]
        self.depth = 0

    def run(self, layers: int = 1000) -> Depths:
        """The depths after so many more layers, or all."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(partition, "pull_is_cheaper", self.choose)
            for _ in range(layers):
                if not any(group.found(one).get(self.depth) for one in self.groups):
                    break
                lean = [group.boundary(one, self.links, self.depth) for one in self.groups]
                self.groups = [
                    group.advance(
                        one, [other for at, other in enumerate(lean) if at != here], self.links, self.depth, 1
                    )
                    for here, one in enumerate(self.groups)
                ]
                self.depth += 1
        return np.concatenate([state.depths for one in self.groups for state in one if state.depths is not None])

    def restore(self) -> None:
        """Replace all states by those that are restored from their depths."""
        self.groups = [
            tuple(
                partition.restore(part, state.depths.copy(), self.depth, True)
                for part, state in zip(parts, states, strict=True)
                if state.depths is not None
            )
            for parts, states in zip(self.parts, self.groups, strict=True)
        ]

    def unvisited(self) -> list[int]:
        """The number of unvisited positions of each partition, as the states know it."""
        return [state.unvisited for one in self.groups for state in one]


def always(*_: object) -> bool:
    return True


def never(*_: object) -> bool:
    return False


def now_and_then(seed: int) -> Choice:
    rng = np.random.default_rng(seed)
    return lambda *_: bool(rng.integers(2))


@settings(deadline=None)
@given(seeds)
def test_push_and_pull_find_the_distances(seed: int) -> None:
    for choose in (always, never, now_and_then(seed), pull_is_cheaper):
        search = Search(seed, True, choose)
        assert np.array_equal(search.run(), random_tables.distances(search.tables, search.starts))


@settings(deadline=None)
@given(seeds)
def test_directed_moves_are_never_pulled(seed: int) -> None:
    search = Search(seed, False, always)
    assert np.array_equal(search.run(), random_tables.distances(search.tables, search.starts))


@settings(deadline=None)
@given(seeds, st.integers(0, 4))
def test_a_restored_search_goes_on_in_either_direction(seed: int, layers: int) -> None:
    search = Search(seed, True, now_and_then(seed))
    search.run(layers)
    before = search.unvisited()
    search.restore()
    assert search.unvisited() == before
    assert np.array_equal(search.run(), random_tables.distances(search.tables, search.starts))


@settings(deadline=None)
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

    starts = np.array([0, 2, 3, 4])
    first, other = (partition.begin(Partition(at, 4 * at, 4 * at + 4), 1, starts, "uint8", True) for at in (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partition, "pull_is_cheaper", choose)
        after = partition.advance(first, [first, partition.boundary(other, moves, 4, 8)], moves, 1)
        assert partition.advance(after, [], moves, 2) is after
    assert chosen == [((3 + 1) / 2, (1 + 3) / 2, 1, 2)]
    assert after.unvisited == 0
