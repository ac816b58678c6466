"""Labels and texts in which a piece that covers several places is torn: every function refuses them alike."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import antipodes as ap
from antipodes import Puzzle, Table
from antipodes.puzzles.config import as_config, load_config, puzzle_from
from antipodes.tables.run import run_puzzle

LINE = {"name": "p", "family": "generators", "start": "A B 2 3 4", "moves": {"A": "(0 1)", "B": "(0 1 2 3)"}}
TEXT = "2 A 3 B 4"
REASON = "place 1 holds 'A', but the other places do not hold the rest of the piece 'A B'"


@pytest.fixture(scope="module")
def puzzle() -> Puzzle:
    return puzzle_from({**LINE, "pieces": [[0, 1]]})


@pytest.fixture(scope="module")
def torn(puzzle: Puzzle) -> list[int]:
    return [puzzle.rules.symbols.index(symbol) for symbol in TEXT.split()]


Asked = Callable[[Puzzle, Any], object]
OF_PUZZLES: list[Asked] = [
    lambda puzzle, torn: puzzle.checked([torn]),
    lambda puzzle, torn: puzzle.positions(np.array([puzzle.rules.first, torn])),
    lambda puzzle, torn: puzzle.parse(TEXT),
    lambda puzzle, torn: puzzle.parse_many([puzzle.format(puzzle.rules.first), TEXT]),
    lambda puzzle, torn: puzzle.starting_at([torn], name="q"),
    lambda puzzle, torn: puzzle.follow("A", torn),
    lambda puzzle, torn: puzzle.apply(torn, "A"),
    lambda puzzle, torn: puzzle.successors(torn),
    lambda puzzle, torn: puzzle.predecessors(torn),
    lambda puzzle, torn: puzzle.successors_many([torn]),
    ap.solve,
    lambda puzzle, torn: list(ap.solve_many(puzzle, [torn])),
]


@pytest.mark.parametrize("ask", OF_PUZZLES)
def test_functions_of_puzzles_refuse_a_torn_piece(puzzle: Puzzle, torn: list[int], ask: Asked) -> None:
    with pytest.raises(ap.errors.PositionError, match=REASON):
        ask(puzzle, torn)


def test_texts_are_positions_only_with_whole_pieces(puzzle: Puzzle) -> None:
    assert puzzle.is_position("2 A B 3 4")
    assert not puzzle.is_position(TEXT)


def test_a_corner_of_square_1_is_named_by_both_cells() -> None:
    square_1 = load_config("square-1").puzzle
    apart = square_1.rules.first.copy()
    apart[[1, 2]] = apart[[2, 1]]
    with pytest.raises(ap.errors.PositionError, match=r"place 0 holds 'A', but .* the rest of the piece 'A a'"):
        square_1.checked([square_1.rules.first, apart])


@pytest.mark.parametrize("name", ["square-1", "square-1-shape", "square-1-small", "bandaged-2x2x2"])
def test_successors_are_whole(name: str) -> None:
    puzzle = load_config(name).puzzle
    after = puzzle.successors(puzzle.successors(puzzle.rules.first)[-1])
    assert len(puzzle.checked(after)) == len(after)


def test_a_symbol_that_begins_several_pieces_is_whole_with_each_of_them() -> None:
    moves = {"A": "(0 1 2 3 4 5)"}
    puzzle = puzzle_from({**LINE, "start": "A B A C 4 5", "moves": moves, "pieces": [[0, 1], [2, 3]]})
    assert puzzle.is_position("B 4 5 A C A")
    with pytest.raises(ap.errors.PositionError, match="the rest of the piece 'A B' or 'A C'"):
        puzzle.parse("A A B C 4 5")


OF_TABLES: list[Callable[[Table, Any], object]] = [
    lambda table, torn: table.distance(torn),
    lambda table, torn: table.distances([torn]),
    lambda table, torn: table.path(torn),
    lambda table, torn: table.best_moves([torn]),
    lambda table, torn: table.space.rank([torn]),
    lambda table, torn: table.space.index(torn),
    lambda table, torn: table.obstacle(torn),
    lambda table, torn: table.show(torn),
]


@pytest.fixture(scope="module")
def table(puzzle: Puzzle, tmp_path_factory: pytest.TempPathFactory) -> Table:
    store = tmp_path_factory.mktemp("torn") / "p.zarr"
    run_puzzle(as_config(puzzle), store)
    return ap.open_table(store)


@pytest.mark.parametrize("ask", OF_TABLES)
def test_tables_refuse_a_torn_piece(table: Table, torn: list[int], ask: Callable[[Table, Any], object]) -> None:
    with pytest.raises(ap.errors.PositionError, match=REASON):
        ask(table, torn)


def test_only_whole_positions_match_a_pattern(table: Table) -> None:
    assert table.match("? ? ? A 4").count == 4  # B is on place 0 or 2
    assert table.match("2 A ? B 4").count == 0
