"""Moves that cost nothing: their positions, numbers and distances."""

from typing import Any

import numpy as np
import pytest
from brute_force import arrangements, as_list, sliding_distances
from hypothesis import given
from strategies import additive_settings
from table_search import layers_by_engine

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import ConfigError, InputError, SizeLimitError
from antipodes_tasks.rules.counted_swaps import CountedSwaps
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.searches.breadth_first import bfs, bidirectional
from antipodes_tasks.searches.deepening import iddfs
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.spaces.selection import best_space


def pattern(start: str, rows: int = 3, columns: int = 3, free: list[str] | None = None, **more: Any) -> Puzzle:
    free = ["x"] if free is None else free
    table = {"name": "pattern", "family": "sliding", "rows": rows, "columns": columns, "start": start, "free": free}
    return puzzle_from({**table, **more})


@given(settings=additive_settings())
def test_distances_are_those_of_a_search_in_which_free_moves_cost_nothing(settings: dict[str, Any]) -> None:
    puzzle = puzzle_from(settings)
    expected = sliding_distances(settings)
    space = best_space(puzzle.rules)
    tables = space.filler.filled()
    found, layer, depth = {}, set(space.rank(puzzle.start_labels).tolist()), 0
    while layer:
        found.update(dict.fromkeys(layer, depth))
        layer, depth = set(tables.successors(np.array(sorted(layer))).indices.tolist()) - found.keys(), depth + 1
    pieces = [symbol for symbol in as_list(settings["start"])[0].split() if symbol != "#"]
    every = sorted(arrangements(pieces))
    indices = space.rank(puzzle.parse_many([" ".join(position) for position in every]))
    assert [found.get(index) for index in indices.tolist()] == [expected.get(position) for position in every]


@pytest.mark.slow
def test_positions_that_free_moves_join_are_one() -> None:
    puzzle = pattern("1 2 3 4 x x x x 0")
    one, other = puzzle.parse("1 2 3 4 x x x 0 x"), puzzle.parse("1 2 3 4 0 x x x x")
    assert puzzle.format(one) == puzzle.format(other) == "1 2 3 4 0 x x x x"
    assert puzzle.format(puzzle.parse("1 2 0 4 3 x x x x")) == "1 2 0 4 3 x x x x"  # the tiles wall the blank in
    assert puzzle.moves.names[0] == "a3-right"
    problem = Problem.of(puzzle.rules, puzzle.parse("4 3 2 1 x x x 0 x"))
    for search in (bidirectional, bfs):
        assert (search(problem).distance, search(problem).solution_count) == (8, 1)
        assert search(problem, every=True).solution_count == 2
    near = Problem.of(puzzle.rules, puzzle.successors(puzzle.successors(one)[0])[-1])
    assert (iddfs(near).distance, iddfs(near).solution_count) == (bfs(near).distance, bfs(near).solution_count)


def test_sizes_of_larger_boards() -> None:
    sizes = {(4, 6): 11_816_640, (4, 7): 139_849_920, (4, 8): 1_425_191_040, (5, 6): 181_008_000}
    for (side, tiles), size in sizes.items():
        start = " ".join(["0", *map(str, range(1, tiles + 1)), *"x" * (side * side - tiles - 1)])
        assert best_space(pattern(start, side, side).rules).size == size


def test_a_board_on_which_nothing_moves() -> None:
    walled = pattern("1 x 0", 1, 3, walls=[[0, 1], [1, 2]])
    assert layers_by_engine(best_space(walled.rules).filler.filled(), np.array([0])) == [1]
    assert len(walled.successors(walled.start_labels[0])) == 0


def test_more_regions_than_eight_bits_number() -> None:
    """Each place is a region of its own."""
    apart = pattern(" ".join(["0", *"x" * 198, "1"]), 1, 200, walls=[[place, place + 1] for place in range(199)])
    space = best_space(apart.rules)
    every = np.arange(space.size)
    assert space.size == 200 * 199
    assert np.array_equal(space.rank(space.unrank(every)), every)


@pytest.mark.parametrize(
    ("start", "free", "message"),
    [
        ("1 2 0 x", "x", r'free: expected a list of one symbol, such as \["x"\], for all free tiles, found'),
        ("1 2 0 x", ["x", "1"], "free: expected a list of one symbol"),
        ("1 2 0 x", [1], "free: expected a list of one symbol"),
        ("1 2 0 x", ["y"], "free: expected a tile of the start, found 'y'"),
        ("1 2 0 x", ["0"], "free: expected a tile of the start, found '0'"),
        ("1 0 0 x", ["x"], "free: expected a start with one blank, found 2"),
        ("x x 0 x", ["x"], "free: at least one tile must not be free, but all tiles are 'x'"),
    ],
)
def test_free_tiles_that_make_no_puzzle_are_refused(start: str, free: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        pattern(start, 2, 2, free=free)


def test_moves_in_one_direction_and_too_many_sets_of_places_are_refused() -> None:
    with pytest.raises(InputError, match="additive patterns need reversible moves; some swaps only work"):
        CountedSwaps(Swaps([(0, 1)]), 1)
    start = " ".join(["0", *map(str, range(1, 19)), *"x" * 17])
    with pytest.raises(SizeLimitError, match="expected at most 8,388,608 sets of places for the tiles that count"):
        best_space(pattern(start, 6, 6).rules)
