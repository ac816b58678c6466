"""Drawings of boards with lines between some squares."""

from collections.abc import Callable, Iterator, Sequence, Set
from itertools import product

Divided = Callable[[int, int, int, int], bool]
"""Whether there is a line between two squares that touch: row, column, row, column; squares off the board, too."""
OUTSIDE = ""
"""Instead of the content of a square: it is not on the board."""
JOINTS = " ╴╶─╵╯╰┴╷╮╭┬│┤├┼"
"""Where lines meet: those to the left, right, up and down count 1, 2, 4 and 8."""


def outlined(texts: Sequence[Sequence[str]], divided: Divided) -> str:
    """The texts on the squares ``[row][column]``, with lines where squares are divided."""
    rows, columns = len(texts), len(texts[0])
    width = max(len(text) for row in texts for text in row)
    lines = []
    for row in range(rows + 1):
        edges = [divided(row - 1, column, row, column) for column in range(columns)]
        lines.append(_joints(row, columns, width, edges, divided))
        if row < rows:
            sides = ["│" if divided(row, column - 1, row, column) else " " for column in range(columns + 1)]
            squares = [text.center(width) for text in texts[row]]
            lines.append("".join(f"{side} {square} " for side, square in zip(sides, [*squares, ""], strict=True)))
    return "\n".join(line[: (width + 3) * columns + 1] for line in lines)


def characters(squares: Set[tuple[int, int]], width: int) -> Iterator[tuple[int, int]]:
    """Line and column of each character that a drawing with texts of a ``width`` has within an outline of squares."""
    for (row, column), down, right in product(squares, (0, 1), (0, 1)):
        if {(row + a, column + b) for a in range(down + 1) for b in range(right + 1)} <= squares:
            first = (width + 3) * (column + right) + (not right)
            yield from ((2 * row + 1 + down, first + k) for k in range(1 if right else width + 2))


def _joints(row: int, columns: int, width: int, edges: Sequence[bool], divided: Divided) -> str:
    """The line above a row of squares."""
    drawn = []
    for column in range(columns + 1):
        left, right = column > 0 and edges[column - 1], column < columns and edges[column]
        up, down = (divided(one, column - 1, one, column) for one in (row - 1, row))
        drawn.append(JOINTS[left + 2 * right + 4 * up + 8 * down])
        drawn.append(("─" if right else " ") * (width + 2))
    return "".join(drawn)
