"""Tilings as text: letters, lines between the pieces, or both; one, piece by piece, or many side by side."""

from collections.abc import Iterator, Sequence
from string import ascii_lowercase, ascii_uppercase, digits

import numpy as np
from numpy.typing import NDArray

from antipodes.tilings.canvas import NO_PIECE, Canvas, above, beside, caption
from antipodes_tasks.exact_cover.placements import placements_of
from antipodes_tasks.exact_cover.problem import TilingProblem

HOLE, EMPTY = -1, -2
"""In a picture of a tiling: a hole of the board, and a cell that no piece covers, or none yet."""

GAP = 3
"""Columns between tilings that stand side by side."""
HOLE_SYMBOL, EMPTY_SYMBOL = "#", "·"
FILLED_HOLE = "░░░"
"""A hole between lines, where it would look like a piece if it were blank."""
GREEK = "ΓΔΘΛΞΠΣΦΨΩαβγδεζηθλμξπρστφχψω"
CYRILLIC = "БГДЖЗИЙЛЦЧШЩЪЫЬЭЮЯбвгджзийклмнптфцчшщъыьэюя"
"""Of these alphabets the letters that do not look like Latin ones."""
ACCENTED = "".join(map(chr, range(0x100, 0x180)))
"""The block Latin Extended-A of Unicode."""
SPARE_SYMBOLS = ascii_uppercase + ascii_lowercase + digits + GREEK + CYRILLIC + ACCENTED
"""More than a named set has pieces."""

CORNERS = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
"""The line that leaves a corner up (1), down (2), left (4) and right (8), by the sum of these."""

LETTERS, LINES, BOTH = "letters", "lines", "both"
STYLES = (LETTERS, LINES, BOTH)

Picture = NDArray[np.int64]
"""The copy of a piece on each place of the drawing, by its column in a tiling, ``(layers, rows, columns)``; or HOLE,
or EMPTY."""


def picture(problem: TilingProblem, tiling: NDArray[np.int32]) -> Picture:
    """The copy on each place; ``tiling`` is ``(copies,)``, -1 for copies that are not placed."""
    covering = np.full(problem.board.size, EMPTY)
    placements = placements_of(problem)
    for copy, placement in enumerate(tiling.tolist()):
        if placement >= 0:
            cells = placements.cells[placement]
            covering[cells[cells >= 0]] = copy
    return np.where(problem.board.numbers < 0, HOLE, covering[problem.board.numbers])


def symbols_of(problem: TilingProblem) -> tuple[str, ...]:
    """One character for each piece, different from the others': its name, else a letter of it, else any letter.

    It is "?" for pieces past the last of the `SPARE_SYMBOLS`.
    """
    names = [piece.name for piece in problem.pieces]
    taken = {name for name in names if len(name) == 1}
    symbols = []
    for name in names:
        wanted = [letter for letter in name + SPARE_SYMBOLS if letter.isprintable() and not letter.isspace()]
        symbol = name if len(name) == 1 else next((one for one in wanted if one not in taken), "?")
        taken.add(symbol)
        symbols.append(symbol)
    return tuple(symbols)


def canvas(problem: TilingProblem, tiling: NDArray[np.int32], style: str = BOTH) -> Canvas:
    """One tiling as characters, its layers one below the other with a blank line between them.

    Parameters
    ----------
    problem
        Board and pieces.
    tiling
        The placement of each copy, ``(copies,)``, -1 if it is not placed yet.
    style
        "letters", "lines" (borders between different pieces), or "both" (letters inside the borders).
    """
    one_layer, pieces = _letters if style == LETTERS else _lines, problem.piece_of_copy
    of_piece = symbols_of(problem) if style != LINES else (" ",) * len(problem.pieces)
    symbols = tuple(of_piece[piece] for piece in pieces.tolist())
    drawn = above([one_layer(layer, symbols) for layer in picture(problem, tiling)])
    return Canvas(drawn.symbols, np.append(pieces, NO_PIECE)[drawn.pieces])


def draw(problem: TilingProblem, tiling: NDArray[np.int32], style: str = BOTH) -> str:
    """One tiling as text; see `canvas`."""
    return canvas(problem, tiling, style).text()


def draw_sheet(
    problem: TilingProblem, tilings: Sequence[NDArray[np.int32]], captions: Sequence[str], style: str, columns: int
) -> Canvas:
    """Tilings, ``(copies,)`` each, under their captions, as many side by side as ``columns`` characters hold."""
    drawings = [
        above([caption(title), canvas(problem, tiling, style)], gap=0)
        for title, tiling in zip(captions, tilings, strict=True)
    ]
    width = max(one.symbols.shape[1] for one in drawings)
    each = max(1, (columns + GAP) // (width + GAP))
    return above([beside(drawings[first : first + each], GAP) for first in range(0, len(drawings), each)])


def steps(problem: TilingProblem, tiling: NDArray[np.int32]) -> Iterator[NDArray[np.int32]]:
    """The tiling piece by piece, each placed on the first empty cell: as many, ``(copies,)`` each, as copies."""
    first_cells = placements_of(problem).cells[tiling, 0]
    placed = np.full_like(tiling, -1)
    for copy in np.argsort(first_cells):
        placed[copy] = tiling[copy]
        yield placed.copy()


def _symbol(copy: int, symbols: tuple[str, ...]) -> str:
    if copy >= 0:
        return symbols[copy]
    return HOLE_SYMBOL if copy == HOLE else EMPTY_SYMBOL


def _letters(layer: Picture, symbols: tuple[str, ...]) -> Canvas:
    characters = np.array([[_symbol(piece, symbols) for piece in row] for row in layer.tolist()])
    return Canvas(characters, np.maximum(layer, NO_PIECE))


def _lines(layer: Picture, symbols: tuple[str, ...]) -> Canvas:
    """A line of corners and edges above each row and below the last, and the cells between edges."""
    framed = np.pad(layer, 1, constant_values=HOLE)
    upright = framed[:, 1:] != framed[:, :-1]
    level = framed[1:, :] != framed[:-1, :]
    lines = []
    for row in range(len(level)):
        lines.append(_border(upright[row : row + 2], level[row]))
        lines.append(_between(framed[row + 1], upright[row + 1], symbols))
    return Canvas(np.array([list(line) for line in lines[:-1]]), _inside(framed))


def _border(upright: NDArray[np.bool_], level: NDArray[np.bool_]) -> str:
    """Corners, each but the last with the edge of three characters to its right."""
    parts = 1 * upright[0] + 2 * upright[1] + 4 * level[:-1] + 8 * level[1:]
    edges = ["───" if edge else "   " for edge in level[1:-1]]
    return "".join(CORNERS[part] + edge for part, edge in zip(parts, [*edges, ""], strict=True))


def _between(row: NDArray[np.int64], upright: NDArray[np.bool_], symbols: tuple[str, ...]) -> str:
    inner = [FILLED_HOLE if copy == HOLE else f" {_symbol(copy, symbols)} " for copy in row[1:-1].tolist()]
    return "".join(("│" if edge else " ") + cell for edge, cell in zip(upright, [*inner, ""], strict=True))


def _inside(framed: Picture) -> NDArray[np.int64]:
    """The piece at each character that `_lines` draws, where all the cells that meet there are of one."""
    up_left, up_right, down_left, down_right = framed[:-1, :-1], framed[:-1, 1:], framed[1:, :-1], framed[1:, 1:]
    rows, columns = np.array(framed.shape) - 1
    inside = np.full((2 * rows, 4 * columns), NO_PIECE)
    same = (up_left == up_right) & (up_left == down_left) & (up_left == down_right)
    inside[::2, ::4] = np.where(same, down_right, NO_PIECE)
    inside[1::2, ::4] = np.where(down_left == down_right, down_right, NO_PIECE)
    level = np.where(up_right == down_right, down_right, NO_PIECE)
    for offset in (1, 2, 3):
        inside[::2, offset::4], inside[1::2, offset::4] = level, down_right
    return np.maximum(inside[:-1, :-3], NO_PIECE)
