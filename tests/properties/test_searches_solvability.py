"""Solvability and parity against all positions that brute force reaches on small boards."""

import itertools

import numpy as np
import pytest
from search_problems import paths_from

from antipodes.puzzles.board import Board
from antipodes.puzzles.config import load_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.properties.solvability import parities, solvable
from antipodes_tasks.rules.parts import pieces
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.searches.problem import Problem

GRIDS = {
    (rows, columns): [
        (rows * columns, pair)
        for place in range(rows * columns)
        for pair in ([(place, place + 1)] if place % columns < columns - 1 else [])
        + ([(place, place + columns)] if place < (rows - 1) * columns else [])
    ]
    for rows, columns in [(1, 1), (1, 2), (1, 5), (4, 1), (2, 2), (2, 3), (3, 2)]
}
GRAPHS = {
    **{f"{rows}x{columns}": (rows * columns, [pair for _, pair in g]) for (rows, columns), g in GRIDS.items()},
    "pentagon": (5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]),
    "pentagon with a chord": (5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2)]),
    "star": (4, [(0, 1), (0, 2), (0, 3)]),
    "two triangles at a place": (5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)]),
    "in two parts": (4, [(0, 1), (2, 3)]),
    "theta": (7, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 6), (6, 3)]),
}
DECIDED = {*(f"{r}x{c}" for r, c in GRIDS), "pentagon", "pentagon with a chord"}


def puzzle_on(graph: str, start: tuple[int, ...]) -> Puzzle:
    places, pairs = GRAPHS[graph]
    moves = Swaps([edge for a, b in pairs for edge in ((a, b), (b, a))])
    parts = [pieces(start, tuple("01234567"[: max(start) + 1]))]
    return Puzzle.of(graph, "graph", "", Board(1, places), parts, (start,), moves)


def cases() -> list[tuple[str, tuple[int, ...]]]:
    distinct = [(graph, (*range(1, places), 0)) for graph, (places, _) in GRAPHS.items()]
    with_equals = [(graph, (1, *range(1, places - 1), 0)) for graph, (places, _) in GRAPHS.items() if 3 <= places < 7]
    return distinct + with_equals


@pytest.mark.parametrize(("graph", "start"), cases())
def test_every_arrangement_of_a_small_board(graph: str, start: tuple[int, ...]) -> None:
    puzzle = puzzle_on(graph, start)
    known = paths_from(puzzle)
    some = sorted(set(itertools.permutations(start)))[:: 1 if len(start) < 7 else 13]
    goals = np.array(some, dtype=np.uint8)
    depths = [known.get(goal.tobytes(), (None,))[0] for goal in goals]
    reached = np.array([depth is not None for depth in depths])
    answer = solvable(puzzle.rules, puzzle.start_labels[0], goals)
    assert (answer.certain <= reached).all()
    assert (reached <= answer.possible).all()
    if graph in DECIDED:
        assert answer.certain.tolist() == answer.possible.tolist()
    allowed = parities(puzzle.rules, puzzle.start_labels[0], goals)
    assert all(allowed[goal, depth % 2] for goal, depth in enumerate(depths) if depth is not None)


def test_the_parity_on_a_grid() -> None:
    puzzle = puzzle_on("2x3", (1, 2, 3, 4, 5, 0))
    start = puzzle.start_labels[0]
    goals = start[[[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 5, 4], [1, 0, 2, 3, 4, 5]]]
    assert parities(puzzle.rules, start, goals).tolist() == [[True, False], [False, True], [False, False]]
    assert parities(puzzle.rules, start, goals[:0]).tolist() == []


def test_elements_of_the_group_of_the_moves_are_known_to_be_reachable() -> None:
    rules = load_config("3x3x3").puzzle.rules
    turned = rules.moves.move(3, rules.moves.move(0, rules.start_labels)[0])[0][0]
    assert Problem.of(rules, turned).known_reachable
    exchanged = turned.copy()
    exchanged[[0, 1]] = exchanged[[1, 0]]
    assert Problem.of(rules, exchanged).known_unreachable
    assert not Problem.of(rules, exchanged, rules.start_labels).known_reachable
