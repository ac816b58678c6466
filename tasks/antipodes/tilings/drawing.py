"""Tilings as text: letters, lines between the pieces, both, or one piece after the other."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from antipodes.tilings.placements import placements_of
from antipodes.tilings.problem import TilingProblem

HOLE, EMPTY = -1, -2
"""In a picture of a tiling: what is no cell of the board, and a cell that nothing covers yet."""

HOLE_SYMBOL, EMPTY_SYMBOL = "#", "·"
SPARE_SYMBOLS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

CORNERS = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
"""The line that leaves a corner up (1), down (2), left (4) and right (8), by the sum of these."""

LETTERS, LINES, BOTH = "letters", "lines", "both"
STYLES = (LETTERS, LINES, BOTH)

Picture = NDArray[np.int64]
"""The number of the piece on each place of the drawing, ``(layers, rows, columns)``; or HOLE, or EMPTY."""


def picture(problem: TilingProblem, tiling: NDArray[np.int32]) -> Picture:
    """Which piece lies where; ``tiling`` is ``(pieces,)``, and may have -1 for pieces that are not laid."""
    covering = np.full(problem.board.size, EMPTY)
    placements = placements_of(problem)
    for piece, placement in enumerate(tiling.tolist()):
        if placement >= 0:
            cells = placements.cells[placement]
            covering[cells[cells >= 0]] = piece
    return np.where(problem.board.numbers < 0, HOLE, covering[problem.board.numbers])


def symbols_of(problem: TilingProblem) -> tuple[str, ...]:
    """One character for each piece: its name, or a letter of it, or any, that no other piece has."""
    names = [piece.name for piece in problem.pieces]
    taken = {name for name in names if len(name) == 1}
    symbols = []
    for name in names:
        wanted = [letter for letter in name + SPARE_SYMBOLS if letter.isprintable() and not letter.isspace()]
        symbol = name if len(name) == 1 else next((one for one in wanted if one not in taken), "?")
        taken.add(symbol)
        symbols.append(symbol)
    return tuple(symbols)


def draw(problem: TilingProblem, tiling: NDArray[np.int32], style: str = BOTH) -> str:
    """One tiling as text, layer by layer, a blank line between layers.

    Parameters
    ----------
    problem
        Board and pieces.
    tiling
        The placement of each piece, ``(pieces,)``, -1 where it is not laid yet.
    style
        "letters", "lines" (borders between different pieces), or "both" (letters inside the borders).
    """
    one_layer = _letters if style == LETTERS else _lines
    symbols = symbols_of(problem) if style != LINES else (" ",) * len(problem.pieces)
    return "\n\n".join(one_layer(layer, symbols) for layer in picture(problem, tiling))


def steps(problem: TilingProblem, tiling: NDArray[np.int32], style: str = BOTH) -> Iterator[str]:
    """The tiling piece by piece, each laid at the first empty cell: as many drawings as pieces."""
    first_cells = placements_of(problem).cells[tiling, 0]
    laid = np.full_like(tiling, -1)
    for piece in np.argsort(first_cells):
        laid[piece] = tiling[piece]
        yield draw(problem, laid, style)


def _symbol(piece: int, symbols: tuple[str, ...]) -> str:
    if piece >= 0:
        return symbols[piece]
    return HOLE_SYMBOL if piece == HOLE else EMPTY_SYMBOL


def _letters(layer: Picture, symbols: tuple[str, ...]) -> str:
    return "\n".join("".join(_symbol(piece, symbols) for piece in row) for row in layer.tolist())


def _lines(layer: Picture, symbols: tuple[str, ...]) -> str:
    """A line of corners and edges above each row and below the last, and the cells between edges."""
    framed = np.pad(layer, 1, constant_values=HOLE)
    beside = framed[:, 1:] != framed[:, :-1]
    below = framed[1:, :] != framed[:-1, :]
    lines = []
    for row in range(len(below)):
        lines.append(_border(beside[row : row + 2], below[row]))
        lines.append(_between(framed[row + 1], beside[row + 1], symbols))
    return "\n".join(line.rstrip() for line in lines[:-1])


def _border(beside: NDArray[np.bool_], below: NDArray[np.bool_]) -> str:
    """Corners, each with the edge of three characters to its right."""
    parts = 1 * beside[0] + 2 * beside[1] + 4 * below[:-1] + 8 * below[1:]
    edges = np.append(below[1:-1], False)
    return "".join(CORNERS[part] + ("───" if edge else "   ") for part, edge in zip(parts, edges, strict=True))


def _between(row: NDArray[np.int64], beside: NDArray[np.bool_], symbols: tuple[str, ...]) -> str:
    cells = [" " if piece == HOLE else _symbol(piece, symbols) for piece in row[1:].tolist()]
    return "".join(("│ " if edge else "  ") + f"{cell} " for edge, cell in zip(beside, cells, strict=True))
