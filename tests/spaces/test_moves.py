from typing import Any

import numpy as np
import pytest
from hypothesis import given
from strategies import puzzle_settings, spaces_of

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.spaces.move_tables import ILLEGAL, MoveTables
from antipodes_tasks.spaces.space import Space


def successors_by_tables(space: Space, tables: MoveTables, number: int) -> list[int]:
    row, column = divmod(number, space.width)
    targets = tables.target[row][tables.target[row] != ILLEGAL]
    assert (tables.target[row][len(targets) :] == ILLEGAL).all(), "legal moves come first"
    numbers = tables.column_map[row][: len(targets)] if space.width > 1 else np.zeros(len(targets), dtype=int)
    return sorted((targets.astype(np.int64) * space.width + tables.column_maps[numbers, column]).tolist())


@given(puzzle_settings())
def test_successors_are_those_of_the_puzzle(table: dict[str, Any]) -> None:
    check_successors(puzzle_from(table))


def check_successors(puzzle: Puzzle) -> None:
    for space in spaces_of(puzzle):
        tables = space.filler.filled()
        for number, labels in enumerate(space.unrank(np.arange(space.size))):
            assert successors_by_tables(space, tables, number) == sorted(space.rank(puzzle.successors(labels)).tolist())


@given(puzzle_settings())
def test_bounds_of_the_tables_hold(table: dict[str, Any]) -> None:
    puzzle = puzzle_from(table)
    for space in spaces_of(puzzle):
        tables = space.filler.filled()
        assert sum(array.nbytes for array in tables[:3]) <= space.filler.table_bytes
        assert tables.target.shape[1] <= space.filler.most_moves
        assert len(tables.column_maps) <= space.filler.most_column_maps


@given(puzzle_settings())
def test_column_maps_are_permutations_and_the_first_is_the_identity(table: dict[str, Any]) -> None:
    puzzle = puzzle_from(table)
    space = spaces_of(puzzle)[-1]
    column_maps = space.filler.filled().column_maps
    assert column_maps[0].tolist() == list(range(space.width))
    assert (np.sort(column_maps, axis=1) == np.arange(space.width)).all()


@given(puzzle_settings())
def test_in_undirected_tables_every_successor_is_a_predecessor(table: dict[str, Any]) -> None:
    puzzle = puzzle_from(table)
    space = spaces_of(puzzle)[0]
    tables = space.filler.filled()
    edges = {(one, other) for one in range(space.size) for other in successors_by_tables(space, tables, one)}
    assert tables.undirected == puzzle.moves.reversible
    if tables.undirected:
        assert edges == {(other, one) for one, other in edges}


def test_horizontal_moves_change_no_column() -> None:
    puzzle = puzzle_from({"name": "line", "family": "sliding", "rows": 1, "columns": 5, "start": "1 2 3 4 0"})
    assert (spaces_of(puzzle)[0].filler.filled().column_map == 0).all()


@pytest.mark.parametrize("start", ["--", "-", "--/--"])
def test_a_board_without_pieces_has_no_moves(start: str) -> None:
    puzzle = puzzle_from({"name": "empty", "family": "jump", "start": start, "moves": "king"})
    assert (spaces_of(puzzle)[0].filler.filled().target == ILLEGAL).all()
