"""Spaces of several parts, against the moves of the puzzle and search by brute force."""

import pickle
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from oracles import ORACLES
from table_search import layers_of_space
from transform_puzzles import (
    half_of,
    layers_of,
    numbers_after,
    orbit_spaces,
    puzzle_of,
    transform_puzzles,
)

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.errors import ConfigError, FieldError, InputError
from antipodes_tasks.rules.parts import pieces, values
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.selection import best_space, stored_space
from antipodes_tasks.spaces.space import NOT_NUMBERED


def family(name: str, **settings: Any) -> Puzzle:
    return puzzle_from({"name": name, "family": name, **settings})


SOME = [
    family("pancake", n=5),
    family("pancake", start="1 1 2 2 3 3"),
    family("burnt-pancake", n=3),
    family("topspin", n=6),
    family("topspin", n=7, k=5),
    family("topspin", start="1 2 2 3 3"),
    family("hanoi", pegs=3, discs=4),
    family("hanoi", pegs=4, discs=3),
    family("lights-out", rows=2, columns=4),
    family("lights-out", lights=6, edges=[[0, 1], [2, 3], [4, 5]]),
]


@given(transform_puzzles())
def test_tables_of_all_cuts_agree_with_the_moves(puzzle: Puzzle) -> None:
    check_tables(puzzle)


@pytest.mark.parametrize("puzzle", SOME, ids=lambda puzzle: f"{puzzle.family}-{puzzle.places}")
def test_tables_of_families_agree_with_the_moves(puzzle: Puzzle) -> None:
    check_tables(puzzle)


def check_tables(puzzle: Puzzle) -> None:
    spaces = orbit_spaces(puzzle)
    labels = spaces[0].unrank(np.arange(spaces[0].size))
    after = [sorted(spaces[0].rank(puzzle.successors(one)).tolist()) for one in labels]
    for space in spaces:
        tables = space.filler.filled()
        assert [numbers_after(space, tables, index) for index in range(space.size)] == after
        assert tables.undirected == puzzle.moves.reversible
        assert sum(array.nbytes for array in tables[:3]) <= space.filler.table_bytes
        assert tables.target.shape[1] <= space.filler.most_moves
        assert len(tables.column_maps) <= space.filler.most_column_maps
        assert tables.column_maps[0].tolist() == list(range(space.width))


@given(transform_puzzles())
def test_each_number_has_one_position(puzzle: Puzzle) -> None:
    spaces = orbit_spaces(puzzle)
    every = np.arange(Orbits.size_for(puzzle.rules))
    labels = puzzle.checked(spaces[0].unrank(every))
    assert len({tuple(one) for one in labels.tolist()}) == len(every)
    for space in spaces:
        assert space.rank(labels).tolist() == every.tolist()
        assert space.rows * space.width == len(every)
        assert (space.unrank(every) == labels).all()


@given(transform_puzzles())
def test_every_reachable_position_has_a_number_and_all_cuts_have_the_same_layers(puzzle: Puzzle) -> None:
    layers = layers_of(puzzle)
    counts = [len(layer) for layer in layers]
    for space in orbit_spaces(puzzle):
        assert (space.rank(np.array(list(chain.from_iterable(layers)))) != NOT_NUMBERED).all()
        assert layers_of_space(space) == counts
        assert space.numbering.reachable(space.rules) in (None, sum(counts))


@given(transform_puzzles())
def test_a_space_is_built_again_from_its_record(puzzle: Puzzle) -> None:
    for space in orbit_spaces(puzzle):
        assert stored_space(puzzle.rules, space.record) == space
        sent = pickle.loads(pickle.dumps(space))
        assert all(map(np.array_equal, sent.filler.filled(), space.filler.filled()))


ORACLES_OF_FAMILIES = {
    "pancake-7": family("pancake", n=7),
    "pancake-9": family("pancake", n=9),
    "burnt_pancake-5": family("burnt-pancake", n=5),
    "burnt_pancake-7": family("burnt-pancake", n=7),
    "top_spin-8": family("topspin", n=8),
}


@pytest.mark.parametrize("name", ORACLES_OF_FAMILIES)
def test_published_layers(name: str) -> None:
    space = best_space(ORACLES_OF_FAMILIES[name].rules)
    assert isinstance(space.numbering, Orbits)
    assert layers_of_space(space) == ORACLES["permutation-families"][name]
    assert space.numbering.reachable(space.rules) == sum(ORACLES["permutation-families"][name])


@pytest.mark.parametrize("discs", [1, 4, 8])
def test_three_pegs_have_a_radius_of_all_sums_of_powers_of_two(discs: int) -> None:
    layers = layers_of_space(best_space(family("hanoi", pegs=3, discs=discs).rules))
    assert (len(layers) - 1, sum(layers)) == (2**discs - 1, 3**discs)


@pytest.mark.parametrize("pegs", [3, 4, 5])
def test_hanoi_needs_a_column_map_for_each_two_pegs(pegs: int) -> None:
    for space in orbit_spaces(family("hanoi", pegs=pegs, discs=4)):
        assert space.filler.most_moves == pegs * (pegs - 1)
        assert len(space.filler.filled().column_maps) == (1 if space.width == 1 else 1 + pegs * (pegs - 1))


def test_pancakes_need_few_column_maps() -> None:
    space = next(space for space in orbit_spaces(family("pancake", n=8)) if space.rows == 8 * 7 * 6)
    assert len(space.filler.filled().column_maps) == 5, "reverse the first 2, 3, 4 or 5 free places, or none"


@pytest.mark.parametrize("n", [7, 9, 11])
def test_topspin_of_odd_size_numbers_even_permutations_only(n: int) -> None:
    space = best_space(family("topspin", n=n).rules)
    assert space.size == half_of(n)
    assert space.numbering.reachable(space.rules) == half_of(n)
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


def test_lights_out_numbers_what_can_be_reached() -> None:
    space = best_space(family("lights-out", rows=4, columns=4).rules)
    assert (space.size, space.numbering.reachable(space.rules)) == (2**12, 2**12)


def test_no_moves_but_several_starts() -> None:
    none = Transforms([], np.zeros((0, 4)), [2, 2, 3, 3])
    puzzle = puzzle_of((pieces((0, 1), ("a", "b")), values(2, 3)), [(0, 1, 0, 2), (1, 0, 0, 2)], none)
    for space in orbit_spaces(puzzle):
        assert layers_of_space(space) == [2]


def test_unrank_refuses_indices_out_of_range() -> None:
    space = best_space(family("pancake", n=4).rules)
    with pytest.raises(InputError, match="from 0 to 23, found 24"):
        space.unrank(np.array([3, 24]))


def test_a_record_of_another_puzzle() -> None:
    record = best_space(family("pancake", n=4).rules).record
    with pytest.raises(FieldError, match="match no row/column split"):
        stored_space(family("pancake", n=5).rules, record)
    sliding = puzzle_from({"name": "p", "family": "sliding", "rows": 2, "columns": 2, "start": "1 2 3 0"})
    with pytest.raises(FieldError, match="space: expected the parts of the puzzle p, found others"):
        stored_space(sliding.rules, record)


def test_moves_between_parts_are_refused() -> None:
    moves = Transforms(["A"], [[2, 1, 0, 3]], [2] * 4)
    with pytest.raises(ConfigError, match="expected moves within the places 0 to 1, found one to other places"):
        Orbits.size_for(puzzle_of((values(2, 2), values(2, 2)), [(0, 0, 0, 0)], moves).rules)


def test_moves_that_change_pieces_are_refused() -> None:
    moves = Transforms(["A"], [[0, 1]], [2, 2], [[1, 1]])
    with pytest.raises(ConfigError, match="expected moves that add nothing to the pieces on places 0 to 1"):
        Orbits.size_for(puzzle_of((pieces((0, 1), ("a", "b")),), [(0, 1)], moves).rules)
