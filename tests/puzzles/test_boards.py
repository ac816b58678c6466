"""Sliding and jump puzzles: what is refused, and their moves by brute force."""

from typing import Any

import numpy as np
import pytest
from brute_force import distances, jump_distances, sliding_distances
from hypothesis import given, settings
from strategies import jump_settings, sliding_settings

from antipodes.puzzles.families.jump import jump
from antipodes.puzzles.families.sliding import sliding
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.walls import neighbours
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.rules.squares import square_name, square_of, squares_of


def sliding_puzzle(**changes: Any) -> Puzzle:
    table = {"name": "p", "family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 / 4 5 0", **changes}
    return sliding({key: value for key, value in table.items() if value is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": "1 2 3 / 4 5"}, "start: expected 2 x 3 = 6 tiles, found 5"),
        ({"start": "1 2 3 / 4 5 6"}, r"start: the board has no blank \(0 or \.\); it needs at least one"),
        ({"start": "1 2 3 4 / 5 0"}, "start: expected 3 tiles in each row, found 4 in row 1"),
        ({"start": "1 2 / 3 4 / 5 0"}, "start: expected 2 rows, or all tiles on one line, found 3 rows"),
        ({"start": "1 2 3 / 4 -5 0"}, "start: .*'-5'"),
        ({"start": ["1 2 3 / 4 # 0", "1 2 # / 3 4 0"]}, "start: expected the same holes"),
        (
            {"walls": [[0, 2]]},
            r"walls: expected two adjacent squares \(numbered from 0 to 5 in .*, holes not counted\), found 0 and 2",
        ),
        ({"walls": "a1|b1"}, "walls: expected a list of walls such as"),
        ({"walls": ["a1-b1"]}, "walls: expected two squares such as \"a3|b3\", found 'a1-b1'"),
        ({"walls": ["a1|c1"]}, "walls: expected two squares that touch, found 'a1|c1'"),
        ({"walls": ["a1|a1"]}, r"walls: expected two adjacent squares, found 'a1\|a1'"),
        ({"walls": ["c1|d1"]}, "walls: the board has no square 'd1', in 'c1|d1'"),
        ({"start": "1 2 3 / 4 # 0", "walls": ["a1|b1"]}, "walls: b1 is a hole of the board, in 'a1|b1'"),
        ({"start": ""}, "start"),
        (
            {"start": ["1 2 3 4 5 0", "1 2 3 4 4 0"]},
            r"start: every position must have the same pieces, but these differ in number: 4, 5$",
        ),
        ({"rows": 0}, "rows: expected an integer from 1"),
        ({"rows": 60, "columns": 60}, "rows, columns: expected at most 1024 places, found 3600"),
        (
            {"row": 3},
            "row: unknown key; expected columns, description, enumerated, family, free, goal, metric, "
            "name, rows, start, starts, walls",
        ),
        ({"name": None}, "name"),
        ({"description": 5}, "description"),
    ],
)
def test_sliding_refused_with_the_key(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        sliding_puzzle(**changes)


def test_symbols_are_in_their_natural_order() -> None:
    assert sliding_puzzle(start="10 9 a / b 2 .").rules.symbols == ("0", "2", "9", "10", "a", "b")


def test_a_start_given_twice_counts_once() -> None:
    found = sliding_puzzle(start=["1 2 3 4 5 0", "123/450", "0 5 4 3 2 1"])
    assert [found.format(labels) for labels in found.start_labels] == ["1 2 3 4 5 0", "0 5 4 3 2 1"]


def test_labels_are_at_most_256() -> None:
    assert len(sliding_puzzle(rows=16, columns=16, start=" ".join(map(str, range(256)))).rules.symbols) == 256
    with pytest.raises(ConfigError, match="start: expected at most 256 different symbols, found 272"):
        sliding_puzzle(rows=16, columns=17, start=" ".join(map(str, range(272))))


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


def jump_puzzle(**changes: Any) -> Puzzle:
    table = {"name": "p", "family": "jump", "start": "AB/--/-#", "moves": "knight", **changes}
    return jump({key: value for key, value in table.items() if value is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": "AB/-"}, "start: expected rows of 2 squares, found a row of 1"),
        ({"start": "AB/AB"}, "start: the board has no empty square '-'; it needs at least one"),
        ({"start": "A?/--"}, "start: .*'\\?'"),
        ({"start": ""}, "start"),
        ({"start": ["AB/--", "AB/-#"]}, "start: expected the same holes"),
        (
            {"start": ["AB/--", "A-/--"]},
            r"start: every position must have the same pieces, but these differ in number: -, B$",
        ),
        ({"moves": "bishop"}, "moves: expected one of knight, king, found 'bishop'"),
        ({"moves": None}, r"\[puzzle\]: give exactly one of the keys moves, offsets and edges \(none given\)"),
        (
            {"offsets": [[1, 2]]},
            r"\[puzzle\]: give exactly one of the keys moves, offsets and edges \(moves and offsets given\)",
        ),
        ({"moves": None, "offsets": [[1, 2.0]]}, "offsets"),
        ({"moves": None, "offsets": []}, "offsets"),
        ({"moves": None, "edges": [[0, 5]]}, "edges: expected squares from 0 to 4, found 5"),
        ({"moves": None, "edges": [[2, 2]]}, "edges: expected two different squares"),
    ],
)
def test_jump_refused_with_the_key(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        jump_puzzle(**changes)


def test_offsets_are_directed_and_edges_are_not() -> None:
    right = jump_puzzle(start="A--", moves=None, offsets=[[0, 1]])
    assert [right.format(one) for one in right.successors(right.parse("-A-"))] == ["--A"]
    assert [right.format(one) for one in right.predecessors(right.parse("-A-"))] == ["A--"]
    both = jump_puzzle(start="A--", moves=None, edges=[[0, 1]])
    assert len(both.successors(both.parse("-A-"))) == 1


def test_edges_do_not_count_holes() -> None:
    found = jump_puzzle(start="A#-", moves=None, edges=[[0, 1]])
    assert [found.format(one) for one in found.successors(found.parse("A-"))] == ["-A"]


def test_names_of_several_characters() -> None:
    found = jump_puzzle(start="K1 K2 / - -")
    assert found.rules.symbols == ("-", "K1", "K2")
    assert found.format(found.start_labels[0]) == "K1 K2 - -"
    column = jump_puzzle(start="K1,/K10,/-,", moves="king")
    assert [column.format(one) for one in column.successors(column.parse("K1\nK10\n-"))] == ["K1 - K10"]


def test_a_list_of_no_edges() -> None:
    assert len(jump_puzzle(start="A-", moves=None, edges=[]).moves) == 0


def test_a_king_reaches_eight_squares() -> None:
    found = jump_puzzle(start="---/-A-/---", moves="king")
    assert len(found.successors(found.start_labels[0])) == 8


@given(jump_settings())
def test_reaches_what_brute_force_reaches(table: dict[str, Any]) -> None:
    found = jump(table)
    starts = [tuple(found.format(one)) for one in found.start_labels]

    def after(position: tuple[str, ...]) -> list[tuple[str, ...]]:
        return [tuple(found.format(one)) for one in found.successors(found.parse("".join(position)))]

    assert distances(starts, after) == jump_distances(table)


@given(sliding_settings())
@settings(deadline=None)
def test_walls_by_the_names_of_squares(table: dict[str, Any]) -> None:
    """All walls of a board, with holes and of any size, are those of the pairs of numbers."""
    puzzle = sliding({key: value for key, value in table.items() if key != "walls"})
    board = puzzle.board
    squares = squares_of(board.rows, board.columns, board.holes)
    walls = [pair for pair in neighbours(board.rows, board.columns, board.holes) if pair[0] < pair[1]][::2]
    names = [f"{square_name(squares[a], board.rows)} | {square_name(squares[b], board.rows)}" for a, b in walls]
    by_number, by_name = (sliding({**table, "walls": given}) for given in ([*map(list, walls)], names))
    assert by_name.fingerprint == by_number.fingerprint
    assert by_name.notation == by_number.notation


def test_names_of_squares_and_back() -> None:
    for rows, columns in ((1, 1024), (1024, 1), (3, 3), (20, 51)):
        for square in squares_of(rows, columns):
            assert square_of(square_name(square, rows), rows) == square
    for text in ("", "a", "1", "A1", "a0", "a01", "1a", "a1 ", "aaaaaa1", "a1\n", "ä1"):
        assert square_of(text, 3) is None


def test_walls_of_both_forms_in_one_list() -> None:
    puzzle = sliding_puzzle(walls=["a2|b2", [1, 2], "b2|a2"])
    assert puzzle.fingerprint == sliding_puzzle(walls=[[0, 1], [1, 2]]).fingerprint
    assert [list(map(int, one)) for one in puzzle.successors([[0, 1, 2, 3, 4, 5]][0])] == [[3, 1, 2, 0, 4, 5]]
