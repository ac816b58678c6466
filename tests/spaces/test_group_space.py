"""Puzzles whose pieces all differ: their positions are numbered without gaps, and their tables follow their moves."""

import subprocess
import sys
from math import factorial

import numpy as np
import pytest
from brute_force import layers_of
from group_puzzles import KNOWN, group_space, of_parts, pancakes_of, puzzles, twisty
from hypothesis import given
from hypothesis import strategies as st
from oracles import ORACLES
from search_problems import pancakes, tiles, turns
from table_search import layers_by_engine, layers_by_tables

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.errors import ConfigError, FieldError, InputError
from antipodes_tasks.rules.parts import pieces, values
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.group import Group
from antipodes_tasks.spaces.selection import every_cut, index_size
from antipodes_tasks.spaces.space import NOT_NUMBERED


@given(puzzles())
def test_exactly_the_reachable_positions_are_numbered(puzzle: Puzzle) -> None:
    layers = layers_of(puzzle)
    for space in every_cut(puzzle.rules, Group.of(puzzle.rules)):
        assert space.size == Group.size_for(puzzle.rules) == space.numbering.reachable(space.rules) == sum(layers)
        positions = space.unrank(np.arange(space.size))
        assert len(np.unique(puzzle.checked(positions), axis=0)) == space.size
        assert space.rank(positions).tolist() == list(range(space.size))
        assert space.rank(puzzle.start_labels).tolist() == [0]
        assert layers_by_tables(space.filler.filled()) == layers


@given(puzzles())
def test_successors_and_predecessors_are_those_of_the_puzzle(puzzle: Puzzle) -> None:
    space = group_space(puzzle)
    sample = np.arange(0, space.size, max(1, space.size // 50))
    by_tables = space.filler.filled().successors(sample)
    assert not len(space.successors(sample).differing(by_tables, len(sample)))
    assert (space.predecessors(sample).indices >= 0).all()


@given(puzzles(), st.data())
def test_positions_that_cannot_be_reached_have_no_number(puzzle: Puzzle, data: st.DataObject) -> None:
    space = group_space(puzzle)
    reached = {tuple(position) for position in space.unrank(np.arange(space.size)).tolist()}
    contents = [
        data.draw(st.permutations(puzzle.starts[0][here]))
        if part.holds_pieces
        else data.draw(st.lists(st.integers(0, len(part.symbols) - 1), min_size=part.places, max_size=part.places))
        for part, here in zip(puzzle.parts, puzzle.rules.ranges, strict=True)
    ]
    position = [label for content in contents for label in content]
    (rank,) = space.rank(puzzle.checked([position])).tolist()
    assert (rank != NOT_NUMBERED) == (tuple(position) in reached)


def test_labels_that_no_position_has_are_not_numbered() -> None:
    space = group_space(pancakes((0, 1, 2, 3)))
    labels = np.array([[0, 1, 2, 200], [0, 0, 0, 0], [0, 1, 1, 3], [0, 1, 2, 3]], dtype=np.uint8)
    assert space.rank(labels).tolist() == [NOT_NUMBERED] * 3 + [0]


@pytest.mark.parametrize("name", KNOWN)
def test_known_numbers_of_positions(name: str) -> None:
    puzzle, order = KNOWN[name]
    space = group_space(puzzle)
    assert space.size == Group.size_for(puzzle.rules) == order
    assert space.filler.table_bytes < 20e6
    sample = np.random.default_rng(1).integers(0, order, 200)
    positions = puzzle.checked(space.unrank(sample))
    assert (space.rank(positions) == sample).all()
    by_tables = space.filler.filled().successors(sample)
    assert not len(space.successors(sample).differing(by_tables, len(sample)))


@pytest.mark.parametrize(
    ("puzzle", "layers"),
    [
        (twisty("pyramorphix.tws"), ORACLES["twisty"]["pyramorphix"]),
        (twisty("pyramorphix.gap"), ORACLES["twisty"]["pyramorphix"]),
        (twisty("master_pyramorphix.tws"), ORACLES["twisty"]["master_pyramorphix"]),
        (twisty("master_pyramorphix.gap"), ORACLES["twisty"]["master_pyramorphix"]),
        (
            puzzle_from({"name": "p", "family": "pancake", "n": 9}),
            ORACLES["permutation-families"]["pancake-9"],
        ),
        (
            puzzle_from({"name": "p", "family": "burnt-pancake", "n": 7}),
            ORACLES["permutation-families"]["burnt_pancake-7"],
        ),
        (puzzle_from({"name": "p", "family": "topspin", "n": 8}), ORACLES["permutation-families"]["top_spin-8"]),
    ],
)
def test_published_layers(puzzle: Puzzle, layers: list[int]) -> None:
    assert layers_by_tables(group_space(puzzle).filler.filled()) == layers


@pytest.mark.slow
@pytest.mark.parametrize("turns", ["half", "quarter"])
def test_published_layers_of_the_2x2x2(turns: str) -> None:
    space = group_space(twisty("2x2x2.tws", turns=turns))
    assert layers_by_engine(space.filler.filled()) == ORACLES["twisty"][f"2x2x2 no fixed corner, {turns} turns"]


def test_one_way_moves_reach_the_same_positions() -> None:
    puzzle = turns((0, 1, 2, 3, 4))
    space = group_space(puzzle)
    tables = space.filler.filled()
    assert (space.size, tables.undirected) == (60, False)
    assert layers_by_tables(tables) == layers_of(puzzle)


def test_connected_starts_share_a_space() -> None:
    one, parts = pancakes((0, 1, 2)), [pieces((0, 1, 2), tuple("ABC"))]
    both = of_parts(parts, [0, 1, 2], one.moves, [2, 1, 0])  # type: ignore[arg-type]
    assert Group.suits(both.rules)
    assert sorted(group_space(both).rank(both.start_labels).tolist())[0] == 0


def test_unconnected_starts_have_no_group() -> None:
    rotation = Transforms.permuting({"R": [1, 2, 0]}, 3)
    parts = [pieces((0, 1, 2), tuple("ABC"))]
    assert Group.suits(of_parts(parts, [0, 1, 2], rotation, [1, 2, 0]).rules)
    assert not Group.suits(of_parts(parts, [0, 1, 2], rotation, [1, 0, 2]).rules)


UNSUITED = {
    "equal pieces": pancakes((0, 0, 1)),
    "swaps": tiles(2, 2, "1 2 3 0"),
    "values that move": of_parts([values(2, 2)], [0, 1], Transforms("A", [[1, 0]], [2, 2])),
    "labels that are added to": of_parts(
        [pieces((0, 1), tuple("AB"))], [0, 1], Transforms("A", [[0, 1]], [2, 2], [[1, 1]])
    ),
    "twists that go elsewhere": of_parts(
        [pieces((0, 1), tuple("AB")), values(2, 2, twists=True)],
        [0, 1, 0, 0],
        Transforms("A", [[1, 0, 2, 3]], [2, 2, 2, 2]),
    ),
    "conditions": of_parts([pieces((0, 1), tuple("AB"))], [0, 1], Transforms("A", [[1, 0]], [2, 2], None, [[1, 3]])),
}


@pytest.mark.parametrize("name", UNSUITED)
def test_puzzles_that_are_no_groups(name: str) -> None:
    assert not Group.suits(UNSUITED[name].rules)
    with pytest.raises(FieldError):
        Group.restored(UNSUITED[name].rules, group_space(pancakes((0, 1, 2))).record)


def test_the_order_of_a_group_beyond_64_bits() -> None:
    assert Group.size_for(pancakes_of(30).rules) == factorial(30)
    with pytest.raises(ConfigError, match=r"expected at most 2\^63 - 1 positions, found more than 10\^38"):
        Group.size_for(pancakes_of(200).rules)


def test_a_group_too_large_to_search_is_left_to_the_other_spaces() -> None:
    count = 40
    turned = [*range(2, 2 * count), 0, 1]
    moves = {"turn": turned, "swap": [2, 3, 0, 1, *range(4, 2 * count)], "flip": [1, 0, *range(2, 2 * count)]}
    puzzle = puzzle_from({"name": "pairs", "family": "generators", "n": 2 * count, "moves": moves})
    assert not Group.suits(puzzle.rules)
    assert index_size(puzzle.rules) == factorial(2 * count)


def test_a_puzzle_without_a_group_has_no_order() -> None:
    with pytest.raises(InputError, match="expected a puzzle whose pieces all differ"):
        Group.size_for(tiles(2, 2, "1 2 3 0").rules)


TWO = group_space(KNOWN["2x2x2"][0])


def test_a_bound_of_the_bytes_in_use() -> None:
    assert sum(array.nbytes for array in TWO.filler.filled()[:3]) == TWO.filler.table_bytes
    assert TWO.filler.building_bytes(2) < 20e6


def test_indices_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="expected an index from 0 to 88179839, found 88179840"):
        TWO.unrank(np.array([0, TWO.size]))


def test_planning_and_a_single_query_load_no_compiler() -> None:
    code = (
        "import sys, numpy as np\n"
        "from antipodes.puzzles.families import puzzle_from\n"
        "from antipodes_tasks.spaces.group import Group\n"
        "from antipodes_tasks.spaces.selection import every_cut\n"
        "rules = puzzle_from({'name': 'p', 'family': 'pancake', 'n': 12}).rules\n"
        "cost = lambda space: space.filler.cost(space.filler.most_column_maps)\n"
        "space = min(every_cut(rules, Group.of(rules)), key=cost)\n"
        "assert space.rank(space.unrank(np.array([5]))) == 5 and space.filler.table_bytes\n"
        "assert not {'numba', 'sympy', 'numpy.ma'} & set(sys.modules), sorted(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
