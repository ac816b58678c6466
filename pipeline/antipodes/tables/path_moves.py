"""The names of the moves along a path that a table gives: from a position back to a start."""

import numpy as np

from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.rules.moves import Labels


def moves_back(puzzle: Puzzle, path: Labels) -> list[str] | None:
    """The names of the moves along a path from a position back to a start; None if moves have no names.

    Each position of the path is one move before the one that it follows. If moves can be undone, the names are those of
    the moves from each position to the next. Otherwise there are no such moves, and the names are those of the moves
    from the start to the position, along the path from its end.
    """
    return puzzle.move_names(path if puzzle.moves.reversible else path[::-1])


def scramble(puzzle: Puzzle, path: Labels) -> list[str]:
    """The names of the moves that lead from the end of a path, a start or goal, to its first position."""
    return puzzle.move_names(path[::-1]) or []


def draw_scramble(puzzle: Puzzle, path: Labels | None) -> str:
    """The moves of `scramble` in a line, and where they begin unless that is where sequences of moves begin."""
    if path is None:
        return "unreachable"
    elsewhere = "" if np.array_equal(path[-1], puzzle.rules.first) else f" (from {puzzle.format_path(path)[-1]})"
    return (" ".join(scramble(puzzle, path)) or "(no moves)") + elsewhere


def draw_moves(names: list[str] | None, come_from: str = "") -> str:
    """A line with the names of moves, for a person, and where they ``come_from``; empty if there are none."""
    if not names:
        return ""
    return f"moves{come_from and f' from the {come_from}'}: {' '.join(names)}\n"
