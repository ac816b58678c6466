"""The names of the moves along a path that a table gives: from a position back to a start."""

from antipodes.puzzles.puzzle import Labels, Puzzle


def moves_back(puzzle: Puzzle, path: Labels) -> list[str] | None:
    """The names of the moves along a path from a position back to a start; None if moves have no names.

    Each position of the path is one move before the one that it follows. If moves can be undone, the names are those of
    the moves from each position to the next. Otherwise there are no such moves, and the names are those of the moves
    from the start to the position, along the path from its end.
    """
    return puzzle.move_names(path if puzzle.moves.reversible else path[::-1])


def draw_moves(names: list[str] | None, from_start: bool = False) -> str:
    """A line with the names of moves, for a person; empty if there are none."""
    if not names:
        return ""
    return f"moves{' from the start' * from_start}: {' '.join(names)}\n"
