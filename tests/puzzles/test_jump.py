from typing import Any

import pytest
from brute_force import distances, jump_distances
from hypothesis import given
from strategies import jump_settings

from antipodes.puzzles.families.jump import jump
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.errors import ConfigError


def puzzle(**changes: Any) -> Puzzle:
    table = {"name": "p", "family": "jump", "start": "AB/--/-#", "moves": "knight", **changes}
    return jump({key: value for key, value in table.items() if value is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": "AB/-"}, "start: expected rows of 2 squares, found one of 1"),
        ({"start": "AB/AB"}, "start: expected at least one empty square '-', found none"),
        ({"start": "A?/--"}, "start: .*'\\?'"),
        ({"start": ""}, "start"),
        ({"start": ["AB/--", "AB/-#"]}, "start: expected the same holes"),
        ({"start": ["AB/--", "AB--"]}, "start: expected 2 x 2 squares"),
        ({"start": ["AB/--", "A-/--"]}, "start: expected the same pieces"),
        ({"start": "-" * 2000}, "start: expected at most 1024 squares, found 2000"),
        ({"moves": "bishop"}, "moves: expected one of knight, king, found 'bishop'"),
        ({"moves": ["knight"]}, "moves: expected one of knight, king"),
        ({"moves": 7}, "moves"),
        ({"moves": None}, "expected one of the keys moves, offsets, edges; found none"),
        ({"offsets": [[1, 2]]}, "found moves and offsets"),
        ({"moves": None, "offsets": [[1]]}, "offsets"),
        ({"moves": None, "offsets": [[1, 2.0]]}, "offsets"),
        ({"moves": None, "offsets": []}, "offsets"),
        ({"moves": None, "offsets": "knight"}, "offsets"),
        ({"moves": None, "edges": [[0, 5]]}, "edges: expected squares from 0 to 4, found 5"),
        ({"moves": None, "edges": [[0, -1]]}, "edges: .* found -1"),
        ({"moves": None, "edges": [[2, 2]]}, "edges: expected two different squares"),
        ({"rows": 3}, "rows: unknown key"),
    ],
)
def test_refused_with_the_key(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        puzzle(**changes)


def test_offsets_are_directed_and_edges_are_not() -> None:
    right = puzzle(start="A--", moves=None, offsets=[[0, 1]])
    assert [right.format(one) for one in right.successors(right.parse("-A-"))] == ["--A"]
    assert [right.format(one) for one in right.predecessors(right.parse("-A-"))] == ["A--"]
    both = puzzle(start="A--", moves=None, edges=[[0, 1]])
    assert len(both.successors(both.parse("-A-"))) == 1


def test_edges_do_not_count_holes() -> None:
    found = puzzle(start="A#-", moves=None, edges=[[0, 1]])
    assert [found.format(one) for one in found.successors(found.parse("A-"))] == ["-A"]


def test_names_of_several_characters() -> None:
    found = puzzle(start="K1 K2 / - -")
    assert found.rules.symbols == ("-", "K1", "K2")
    assert found.format(found.start_labels[0]) == "K1 K2 - -"
    column = puzzle(start="K1,/K10,/-,", moves="king")
    assert [column.format(one) for one in column.successors(column.parse("K1\nK10\n-"))] == ["K1 - K10"]


def test_a_list_of_no_edges() -> None:
    assert len(puzzle(start="A-", moves=None, edges=[]).moves) == 0


def test_a_king_reaches_eight_squares() -> None:
    found = puzzle(start="---/-A-/---", moves="king")
    assert len(found.successors(found.start_labels[0])) == 8


@given(jump_settings())
def test_reaches_what_brute_force_reaches(table: dict[str, Any]) -> None:
    found = jump(table)
    starts = [tuple(found.format(one)) for one in found.start_labels]

    def after(position: tuple[str, ...]) -> list[tuple[str, ...]]:
        return [tuple(found.format(one)) for one in found.successors(found.parse("".join(position)))]

    assert distances(starts, after) == jump_distances(table)
