"""What permutations do to the order of free places, against moving marked pieces one set at a time."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes_tasks.permutations.multisets import rank_arrangements
from antipodes_tasks.spaces.part_tables import most_rearrangements, rearrangements

permutations_of_places = st.integers(2, 7).flatmap(
    lambda n: st.tuples(st.lists(st.permutations(range(n)), min_size=1, max_size=3), st.integers(1, n))
)


def moved(origin: list[int], free: tuple[int, ...]) -> list[int]:
    """From which free place, in their order, each free place gets its piece."""
    marked = {place: number for number, place in enumerate(free)}
    return [marked[place] for place in origin if place in marked]


@given(permutations_of_places)
def test_each_set_of_free_places_is_rearranged_as_pieces_move(drawn: tuple[list[list[int]], int]) -> None:
    origins, free = drawn
    places = len(origins[0])
    found = rearrangements(np.array(origins), free)
    assert found.origins[0].tolist() == list(range(free))
    assert len(np.unique(found.origins, axis=0)) == len(found.origins)
    assert found.numbers.shape == (comb(places, free), len(origins))
    for chosen in combinations(range(places), free):
        mask = np.zeros((1, places), dtype=np.uint8)
        mask[0, list(chosen)] = 1
        line = int(rank_arrangements(mask, (places - free, free))[0])
        for number, origin in enumerate(origins):
            assert found.origins[found.numbers[line, number]].tolist() == moved(origin, chosen)


@given(permutations_of_places)
def test_the_bound_holds(drawn: tuple[list[list[int]], int]) -> None:
    origins, free = drawn
    found = rearrangements(np.array(origins), free)
    different = [len(np.unique(column)) for column in found.numbers.T]
    assert all(different <= most_rearrangements(np.array(origins), free))


def test_the_bound_is_small_where_places_stay_together() -> None:
    flips = np.array([[*range(n - 1, -1, -1), *range(n, 20)] for n in range(2, 21)])
    assert most_rearrangements(flips, 10).tolist() == [min(n, 20 - n, 10) + 1 for n in range(2, 21)]


@pytest.mark.parametrize("free", [17, 40, 70])
def test_more_free_places_than_a_word_has_room_for(free: int) -> None:
    ring = np.array([[*range(1, free + 1), 0]])
    found = rearrangements(ring, free)
    assert len(found.origins) == 2, "in order, or the first becomes the last"
    assert found.origins[1].tolist() == [*range(1, free), 0]
