"""Names of symmetries as rotations and reflections. On twisty puzzles, they follow from the images of the turns."""

from collections.abc import Callable, Mapping
from math import lcm

import numpy as np

from antipodes.puzzles.families.lights_out import Lights
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.permutations.parity import cycles
from antipodes_tasks.properties.finding import symmetries_of
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.rules.squares import Grid, Square, squares_of

IDENTITY = "identity"
TWISTY = "twisty"
BACK = "'"
"""The last character of the name of a counterclockwise turn."""
POWERS = f"0123456789{BACK}"
"""Characters that may follow the name of a side in the name of a turn."""
ON_BOARDS: Mapping[str, Callable[[Square, int, int], Square]] = {
    "rotation by 180°": lambda at, rows, columns: (rows - 1 - at[0], columns - 1 - at[1]),
    "rotation by 90° clockwise": lambda at, rows, columns: (at[1], rows - 1 - at[0]),
    "rotation by 90° counterclockwise": lambda at, rows, columns: (columns - 1 - at[1], at[0]),
    "reflection left to right": lambda at, rows, columns: (at[0], columns - 1 - at[1]),
    "reflection top to bottom": lambda at, rows, columns: (rows - 1 - at[0], at[1]),
    "reflection in the diagonal from the top left": lambda at, rows, columns: (at[1], at[0]),
    "reflection in the diagonal from the top right": lambda at, rows, columns: (columns - 1 - at[1], rows - 1 - at[0]),
}
"""For each name, the function that maps a square to its image, given the numbers of rows and columns of the board."""


def symmetry_name(puzzle: Puzzle, symmetry: Symmetry) -> str | None:
    """Return the name of a symmetry as a rotation or reflection; None if it is neither or the geometry is unknown."""
    if symmetry.is_identity:
        return IDENTITY
    notation = puzzle.notation
    board = Grid(notation.rows, notation.columns) if isinstance(notation, Lights) else puzzle.rules.layout
    if board is not None:
        return _on_board(board, symmetry)
    return _by_turns(puzzle, symmetry) if puzzle.family == TWISTY else None


def _on_board(board: Grid, symmetry: Symmetry) -> str | None:
    squares = squares_of(board.rows, board.columns, board.holes)
    found = [squares[place] for place in symmetry.places.tolist()]
    for name, image in ON_BOARDS.items():
        if found == [image(square, board.rows, board.columns) for square in squares]:
            return name
    return None


def _by_turns(puzzle: Puzzle, symmetry: Symmetry) -> str | None:
    """Return the name: rotations map clockwise turns to clockwise turns, reflections to counterclockwise turns."""
    names = puzzle.moves.names
    clockwise = {name for name in names if name + BACK in names}
    images = zip(names, symmetry.moves.tolist(), strict=True)
    turned = {names[image].endswith(BACK) for name, image in images if name in clockwise}
    if len(turned) != 1:
        return None
    order = lcm(*map(len, cycles(symmetry.moves.tolist())))
    if turned == {False}:
        return f"rotation by {360 // order}°" if 360 % order == 0 else f"rotation of order {order}"
    if order == 2:
        return "point reflection" if _is_in_a_point(puzzle, symmetry) else "reflection"
    return f"rotation and reflection of order {order}"


def _is_in_a_point(puzzle: Puzzle, symmetry: Symmetry) -> bool:
    """Return whether a reflection is the point reflection: it fixes no side and commutes with every symmetry."""
    sides = [name.rstrip(POWERS) for name in puzzle.moves.names]
    images = symmetry.moves
    if any(side == sides[image] for side, image in zip(sides, images.tolist(), strict=True)):
        return False
    return all(np.array_equal(one.moves[images], images[one.moves]) for one in symmetries_of(puzzle.rules).generators)


def cycle_notation(places: np.ndarray) -> str:
    """Return the cycles of a permutation without fixed places, as ``(0 2 1)(3 4)``; empty for the identity."""
    return "".join(f"({' '.join(map(str, cycle))})" for cycle in cycles(places.tolist()) if len(cycle) > 1)
