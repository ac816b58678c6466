"""Spaces of several parts, against the moves of the puzzle and search by brute force."""

from math import factorial
from typing import Any

import numpy as np
import pytest
from table_search import layers_of_space
from transform_puzzles import (
    orbit_spaces,
    puzzle_of,
)

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import ConfigError, FieldError
from antipodes_tasks.rules.parts import pieces, values
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.selection import best_space, stored_space
from antipodes_tasks.spaces.space import NOT_NUMBERED


def family(name: str, **settings: Any) -> Puzzle:
    return puzzle_from({"name": name, "family": name, **settings})


@pytest.mark.parametrize("discs", [1, 6])
def test_three_pegs_have_a_radius_of_all_sums_of_powers_of_two(discs: int) -> None:
    layers = layers_of_space(best_space(family("hanoi", pegs=3, discs=discs).rules))
    assert (len(layers) - 1, sum(layers)) == (2**discs - 1, 3**discs)


@pytest.mark.parametrize("pegs", [3, 5])
def test_hanoi_needs_a_column_map_for_each_two_pegs(pegs: int) -> None:
    for space in orbit_spaces(family("hanoi", pegs=pegs, discs=4)):
        assert space.filler.max_moves == pegs * (pegs - 1)
        assert len(space.filler.filled().column_maps) == (1 if space.width == 1 else 1 + pegs * (pegs - 1))


def test_pancakes_need_few_column_maps() -> None:
    space = next(space for space in orbit_spaces(family("pancake", n=8)) if space.rows == 8 * 7 * 6)
    assert len(space.filler.filled().column_maps) == 5, "reverse the first 2, 3, 4 or 5 free places, or none"


@pytest.mark.parametrize("n", [7, 11])
def test_topspin_of_odd_size_numbers_even_permutations_only(n: int) -> None:
    space = best_space(family("topspin", n=n).rules)
    assert space.size == factorial(n) // 2
    assert space.numbering.reachable(space.rules) == factorial(n) // 2
    start = np.arange(n, dtype=np.uint8)
    odd = start[[1, 0, *range(2, n)]]
    assert (space.rank(np.stack([start, odd])) == NOT_NUMBERED).tolist() == [False, True]


def test_starts_of_both_parities_need_all_numbers() -> None:
    moves = Transforms.permuting({"A": [1, 2, 0, 3], "B": [0, 2, 3, 1]}, 4)
    part = pieces((0, 1, 2, 3), tuple("abcd"))
    assert Orbits.size_for(puzzle_of((part,), [(0, 1, 2, 3), (1, 2, 0, 3)], moves).rules) == 12
    assert Orbits.size_for(puzzle_of((part,), [(0, 1, 2, 3), (1, 0, 2, 3)], moves).rules) == 24


def test_a_sum_that_moves_keep_decides_the_last_value() -> None:
    moves = Transforms(["A", "B"], [[1, 2, 0], [0, 1, 2]], [3, 3, 3], [[0, 0, 0], [1, 2, 0]])
    puzzle = puzzle_of((values(3, 3),), [(1, 0, 1)], moves)
    space = orbit_spaces(puzzle)[0]
    assert space.size == 9
    assert space.rank(np.array([[0, 0, 0], [2, 2, 1]])).tolist() == [NOT_NUMBERED, 8]
    assert Orbits.size_for(puzzle_of((values(3, 3),), [(1, 0, 1), (0, 0, 0)], moves).rules) == 27


def test_no_moves_but_several_starts() -> None:
    none = Transforms([], np.zeros((0, 4)), [2, 2, 3, 3])
    puzzle = puzzle_of((pieces((0, 1), ("a", "b")), values(2, 3)), [(0, 1, 0, 2), (1, 0, 0, 2)], none)
    for space in orbit_spaces(puzzle):
        assert layers_of_space(space) == [2]


def test_a_record_of_another_puzzle() -> None:
    record = best_space(family("pancake", n=4).rules).record
    with pytest.raises(FieldError, match="match no row/column split"):
        stored_space(family("pancake", n=5).rules, record)
    sliding = puzzle_from({"name": "p", "family": "sliding", "rows": 2, "columns": 2, "start": "1 2 3 0"})
    with pytest.raises(FieldError, match="space: the record does not match the parts of the puzzle p"):
        stored_space(sliding.rules, record)


def test_moves_between_parts_are_refused() -> None:
    moves = Transforms(["A"], [[2, 1, 0, 3]], [2] * 4)
    with pytest.raises(ConfigError, match="a move takes labels from another part to the places 0 to 1"):
        Orbits.size_for(puzzle_of((values(2, 2), values(2, 2)), [(0, 0, 0, 0)], moves).rules)


def test_moves_that_change_pieces_are_refused() -> None:
    moves = Transforms(["A"], [[0, 1]], [2, 2], [[1, 1]])
    with pytest.raises(ConfigError, match="a move adds a number to the pieces on the places 0 to 1"):
        Orbits.size_for(puzzle_of((pieces((0, 1), ("a", "b")),), [(0, 1)], moves).rules)
