"""Sliding puzzles in which all tiles of a row or column up to a blank are one move, against brute force."""

from typing import Any

import pytest
from brute_force import layers, sliding_distances
from hypothesis import given
from strategies import sliding_settings
from table_search import layers_of_space
from transform_puzzles import orbit_spaces

from antipodes.puzzles.families.sliding import sliding
from antipodes_tasks.base.errors import ConfigError, PositionError
from antipodes_tasks.spaces.selection import best_space


def slides(**changes: Any) -> dict[str, Any]:
    board = {"rows": 3, "columns": 3, "start": "1 2 3 4 5 6 7 8 0"}
    return {"name": "slides", "family": "sliding", "metric": "slides", **board, **changes}


@given(sliding_settings())
def test_layers_of_every_cut_by_brute_force(settings: dict[str, Any]) -> None:
    table = {**settings, "metric": "slides"}
    expected = layers(sliding_distances(table))
    for space in orbit_spaces(sliding(table)):
        assert layers_of_space(space) == expected


def test_the_eight_puzzle_takes_24_slides() -> None:
    found = layers_of_space(best_space(sliding(slides()).rules))
    assert (len(found) - 1, sum(found)) == (24, 181_440)


def test_a_cut_between_the_blank_and_the_tiles_needs_few_moves() -> None:
    space = next(space for space in orbit_spaces(sliding(slides())) if space.rows == 9)
    assert space.filler.max_moves == 4
    assert len(space.filler.filled().column_maps) <= space.filler.most_column_maps


@pytest.mark.parametrize(("moves", "position"), [("R2", "1 2 3 4 5 6 0 7 8"), ("D2 R", "1 0 2 4 5 3 7 8 6")])
def test_names_count_the_tiles(moves: str, position: str) -> None:
    puzzle = sliding(slides())
    assert puzzle.format(puzzle.follow(moves)[-1]) == position


def test_where_several_squares_are_empty_a_name_begins_with_the_square_of_the_last_tile() -> None:
    puzzle = sliding(slides(start="1 2 3 4 0 0 7 8 6"))
    assert puzzle.format(puzzle.follow("a2-right")[-1]) == "1 2 3 0 4 0 7 8 6"
    with pytest.raises(PositionError, match="moves 'a3-right': 'a3-right' as move 1 is not legal there"):
        puzzle.follow("a3-right")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metric": "tiles"}, "metric: expected one of"),
        ({"free": ["8"]}, 'metric: "slides" cannot be combined with free tiles; use "steps"'),
        (
            {"rows": 8, "columns": 9, "start": " ".join(map(str, range(72)))},
            'metric: "slides" allows at most 64 different tiles and blanks; the puzzle has 72',
        ),
    ],
)
def test_refused_with_the_key(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        sliding(slides(**changes))
