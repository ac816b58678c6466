"""Puzzles of several families, and the searches that can solve their positions."""

import functools
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from antipodes.puzzles.board import Board
from antipodes.puzzles.families.jump import jump
from antipodes.puzzles.families.sliding import sliding
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.rules.parts import pieces
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.searches.answer import DEFAULT_LIMIT, Answer
from antipodes_tasks.searches.breadth_first import bfs, bidirectional
from antipodes_tasks.searches.deepening import ida_star, iddfs
from antipodes_tasks.searches.problem import Problem

Search = Callable[..., Answer]
Known = dict[bytes, tuple[int, int]]
manhattan = functools.partial(ida_star, heuristic="manhattan")
linear_conflict = functools.partial(ida_star, heuristic="linear-conflict")
FOR_TILES: list[Search] = [bfs, bidirectional, iddfs, manhattan, linear_conflict]
EVERYWHERE: list[Search] = [bfs, bidirectional, iddfs]


def tiles(rows: int, columns: int, start: str) -> Puzzle:
    return sliding({"name": "tiles", "family": "sliding", "rows": rows, "columns": columns, "start": start})


def knights(start: str, **moves: object) -> Puzzle:
    return jump({"name": "knights", "family": "jump", "start": start, **(moves or {"moves": "knight"})})


def pancakes(start: tuple[int, ...]) -> Puzzle:
    flips = {str(n): [*range(n - 1, -1, -1), *range(n, len(start))] for n in range(2, len(start) + 1)}
    symbols = tuple("0123456789"[: max(start) + 1])
    moves = Transforms.permuting(flips, len(symbols))
    return Puzzle.of("pancakes", "pancakes", "", Board(1, len(start)), [pieces(start, symbols)], (start,), moves)


def turns(start: tuple[int, ...]) -> Puzzle:
    """Return a puzzle whose moves are directed cycles of three places, which are irreversible."""
    moves = Transforms.permuting({"A": [2, 0, 1, 3, 4], "B": [0, 1, 4, 2, 3]}, 5)
    return Puzzle.of("turns", "turns", "", Board(1, 5), [pieces(start, tuple("01234"))], (start,), moves)


EIGHT = tiles(3, 3, "1 2 3 4 5 6 7 8 0")
PUZZLES = [
    tiles(2, 3, "1 2 3 4 5 0"),
    tiles(2, 3, "1 1 2 2 3 0"),
    tiles(3, 3, "1 1 1 2 2 2 3 3 0"),
    tiles(1, 5, "1 2 0 3 1"),
    tiles(2, 2, "1 2 3 0"),
    knights("AB-/---/-YZ"),
    knights("BBB/---/WWW"),
    knights("AB/--/YZ", offsets=[[1, 0], [0, 1], [-1, 0], [-2, -1]]),
    knights("AB-/--#", edges=[[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]),
    knights("A-/-B", offsets=[[0, 1], [1, 0]]),
    pancakes((0, 1, 2, 3, 4)),
    pancakes((1, 1, 2, 2, 0, 0)),
    turns((1, 2, 3, 4, 0)),
    turns((1, 1, 2, 2, 0)),
]


def paths_from(puzzle: Puzzle) -> Known:
    """Return the distance and the number of shortest paths of every reachable position, by brute force."""
    start = puzzle.start_labels[0].tobytes()
    known: Known = {start: (0, 1)}
    frontier, depth = {start}, 0
    while frontier:
        depth += 1
        found: dict[bytes, int] = {}
        for key in frontier:
            for after in {s.tobytes() for s in puzzle.successors(np.frombuffer(key, dtype=np.uint8))}:
                if after not in known:
                    found[after] = found.get(after, 0) + known[key][1]
        known |= {key: (depth, count) for key, count in found.items()}
        frontier = set(found)
    return known


def check_paths(problem: Problem, answer: Answer) -> None:
    assert len({path.tobytes() for path in answer.solutions}) == len(answer.solutions)
    assert len(answer.solutions) == min(answer.solution_count, DEFAULT_LIMIT)
    for path in answer.solutions[:10]:
        assert len(path) - 1 == answer.distance
        assert (path[0] == problem.position).all()
        assert (problem.goals == path[-1]).all(axis=1).any()
        for before, after in pairwise(path):
            assert (problem.rules.successors(before) == after).all(axis=1).any()


def random_walk(puzzle: Puzzle, seed: int, moves: int) -> Labels:
    rng = np.random.default_rng(seed)
    position: Labels = puzzle.start_labels[0]
    for _ in range(moves):
        successors = puzzle.successors(position)
        position = successors[rng.integers(len(successors))]
    return position


def scrambled(puzzle: Puzzle, count: int, moves: int = 40, seed: int = 0) -> Labels:
    """The ends of random walks from the start, ``(count, places)``."""
    random = np.random.default_rng(seed)
    labels = np.repeat(puzzle.start_labels[:1], count, axis=0)
    for numbers in random.integers(len(puzzle.moves), size=(moves, count)):
        for number in range(len(puzzle.moves)):
            labels[numbers == number] = puzzle.moves.move(number, labels[numbers == number])[0]
    return labels
