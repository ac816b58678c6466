from typing import Any

import numpy as np
import pytest
from brute_force import sliding_distances
from hypothesis import given
from strategies import sliding_settings

from antipodes.puzzles.families.sliding import neighbours, sliding
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.errors import ConfigError


def puzzle(**changes: Any) -> Puzzle:
    table = {"name": "p", "family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 / 4 5 0", **changes}
    return sliding({key: value for key, value in table.items() if value is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": "1 2 3 / 4 5"}, "start: expected 2 x 3 = 6 tiles, found 5"),
        ({"start": "1 2 3 / 4 5 0 / 6 7 8"}, "start: expected 2 x 3 = 6 tiles, found 9"),
        ({"start": "1 2 3 / 4 5 6"}, "start: expected at least one blank .*, found none"),
        ({"start": "1 2 3 4 / 5 0"}, "start: expected 3 tiles in each row, found 4 in row 1"),
        ({"start": "1 2 / 3 4 / 5 0"}, "start: expected 2 rows, or all tiles on one line, found 3 rows"),
        ({"start": "1 2 3 / 4 -5 0"}, "start: .*'-5'"),
        ({"start": ["1 2 3 / 4 # 0", "1 2 # / 3 4 0"]}, "start: expected the same holes"),
        ({"walls": [[0, 2]]}, "walls: expected two squares that touch, from 0 to 5 .*, found 0 and 2"),
        ({"walls": [[0]]}, "walls: expected pairs of integers"),
        ({"start": ""}, "start"),
        ({"start": " / "}, "start"),
        ({"start": []}, "start"),
        ({"start": None}, "start"),
        ({"start": 123450}, "start"),
        ({"start": ["1 2 3 4 5 0", 7]}, "start"),
        ({"start": ["1 2 3 4 5 0", "1 2 3 4 4 0"]}, "start: expected the same pieces"),
        ({"start": ["1 2 3 4 5 0", "1 2 3"]}, "start: .* found 3"),
        ({"rows": 0}, "rows: expected an integer from 1"),
        ({"rows": -2}, "rows"),
        ({"rows": 2.0}, "rows"),
        ({"rows": "2"}, "rows"),
        ({"rows": True}, "rows"),
        ({"rows": None}, "rows"),
        ({"columns": None}, "columns"),
        ({"columns": 10**30}, "columns"),
        ({"rows": 60, "columns": 60}, "rows, columns: expected at most 1024 places, found 3600"),
        ({"row": 3}, "row: unknown key; expected columns, description, family, goal, name, rows, start, walls"),
        ({"moves": "knight"}, "moves: unknown key"),
        ({"name": None}, "name"),
        ({"name": ""}, "name"),
        ({"name": 5}, "name"),
        ({"description": 5}, "description"),
    ],
)
def test_refused_with_the_key(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        puzzle(**changes)


def test_symbols_are_in_their_natural_order() -> None:
    assert puzzle(start="10 9 a / b 2 .").rules.symbols == ("0", "2", "9", "10", "a", "b")


def test_a_start_given_twice_counts_once() -> None:
    found = puzzle(start=["1 2 3 4 5 0", "123/450", "0 5 4 3 2 1"])
    assert [found.format(labels) for labels in found.start_labels] == ["1 2 3 4 5 0", "0 5 4 3 2 1"]


def test_labels_are_at_most_256() -> None:
    assert len(puzzle(rows=16, columns=16, start=" ".join(map(str, range(256)))).rules.symbols) == 256
    with pytest.raises(ConfigError, match="start: expected at most 256 different symbols, found 272"):
        puzzle(rows=16, columns=17, start=" ".join(map(str, range(272))))


def test_neighbours() -> None:
    assert neighbours(2, 2) == [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 3), (3, 1), (3, 2)]
    assert neighbours(1, 1) == []


@given(sliding_settings())
def test_successors_by_brute_force(table: dict[str, Any]) -> None:
    found = sliding(table)
    distances = sliding_distances(table)
    for position, distance in list(distances.items())[:50]:
        labels = found.parse(" ".join(position))
        after = [tuple(found.format(one).split()) for one in found.successors(labels)]
        assert min((distances[one] for one in after), default=0) >= distance - 1
        assert len(set(after)) == len(after)
        assert np.array_equal(np.sort(found.predecessors(labels), axis=0), np.sort(found.successors(labels), axis=0))
