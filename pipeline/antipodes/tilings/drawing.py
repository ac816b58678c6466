"""Drawings of tilings: as text (letters, lines between the pieces, or both), and as coloured pictures."""

import colorsys
import math
from collections.abc import Iterator, Sequence
from string import ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.drawing.picture import Line, Picture, Region, Shape
from antipodes_tasks.exact_cover.placements import placements_of
from antipodes_tasks.exact_cover.tiling_problem import TilingProblem

HOLE, EMPTY, NO_PIECE = -1, -2, -1
"""Values of `covering` for a hole of the board and for an uncovered cell; value of `Canvas` for no piece."""

GAP = 3
"""Number of columns between two tilings in a row."""
HOLE_SYMBOL, EMPTY_SYMBOL = "#", "·"
FILLED_HOLE = "░░░"
"""A hole in a drawing with lines. If it were blank, it would look like a piece."""
GREEK = "ΓΔΘΛΞΠΣΦΨΩαβγδεζηθλμξπρστφχψω"
CYRILLIC = "БГДЖЗИЙЛЦЧШЩЪЫЬЭЮЯбвгджзийклмнптфцчшщъыьэюя"
"""GREEK and CYRILLIC contain the letters of these alphabets that do not look like Latin letters."""
ACCENTED = "".join(map(chr, range(0x100, 0x180)))
"""The block Latin Extended-A of Unicode."""
SPARE_SYMBOLS = ascii_uppercase + ascii_lowercase + digits + GREEK + CYRILLIC + ACCENTED
"""Further symbols for pieces; there are more of them than pieces in any named set."""

CORNERS = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
"""Characters for corners. The index is the sum of 1, 2, 4 and 8 for a line up, down, left and right."""

LETTERS, LINES, BOTH = "letters", "lines", "both"
STYLES = (LETTERS, LINES, BOTH)

PALETTE = (
    "#e6554d", "#f59b42", "#f7d154", "#a6c948", "#4fa65b", "#37b3a4",
    "#67c5eb", "#3f78c4", "#7661bd", "#bd7cc9", "#f09ebc", "#a9805b",
)  # fmt: skip
"""Twelve distinguishable colours in the order of their hues; further pieces get further hues."""

CELL, LAYER_GAP = 24, 8
"""Side of a cell, and gap between the layers of a box, in pixels."""
EDGE, EDGE_WIDTH = "#2b2b33", 2.2
"""Colour and width of the borders of pieces."""
Layer = NDArray[np.int64]
"""A layer ``(rows, columns)``: for each cell, the copy of a piece (its column in a tiling), HOLE or EMPTY."""


class Canvas(NamedTuple):
    """A drawing in characters, with the piece to which each character belongs, so that it can be coloured."""

    symbols: NDArray[np.str_]
    """The characters, ``(lines, columns)``."""
    pieces: NDArray[np.int64]
    """The number of the piece at each character, ``(lines, columns)``; NO_PIECE at lines between pieces and outside."""

    def text(self) -> str:
        """Return the characters as text, without blanks at the ends of lines."""
        return "\n".join("".join(line).rstrip() for line in self.symbols.tolist())


def _joined(canvases: Sequence[Canvas], axis: int, gap: int) -> Canvas:
    """Join canvases vertically (axis 0) or horizontally (axis 1), with ``gap`` lines or columns between them."""
    most = max(one.symbols.shape[1 - axis] for one in canvases)
    parts = []
    for number, one in enumerate(canvases, start=1):
        along, across = gap if number < len(canvases) else 0, most - one.symbols.shape[1 - axis]
        margins = ((0, across if axis else along), (0, along if axis else across))
        symbols = np.pad(one.symbols, margins, constant_values=" ")
        parts.append((symbols, np.pad(one.pieces, margins, constant_values=NO_PIECE)))
    return Canvas(*(np.concatenate(arrays, axis) for arrays in zip(*parts, strict=True)))


def covering(problem: TilingProblem, tiling: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the layers of the board for a ``tiling`` ``(copies,)``, which is -1 for copies that are not placed."""
    covered = np.full(problem.board.size, EMPTY)
    placements = placements_of(problem)
    for copy, placement in enumerate(tiling.tolist()):
        if placement >= 0:
            cells = placements.cells[placement]
            covered[cells[cells >= 0]] = copy
    return np.where(problem.board.numbers < 0, HOLE, covered[problem.board.numbers])


def piece_characters(problem: TilingProblem) -> tuple[str, ...]:
    """Return a distinct character for each piece: its name, a letter of its name, or another letter.

    When the `SPARE_SYMBOLS` are used up, the character is "?".
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
    """Draw a tiling in characters, with its layers below each other and a blank line between them.

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
    of_piece = piece_characters(problem) if style != LINES else (" ",) * len(problem.pieces)
    symbols = tuple(of_piece[piece] for piece in pieces.tolist())
    drawn = _joined([one_layer(layer, symbols) for layer in covering(problem, tiling)], axis=0, gap=1)
    return Canvas(drawn.symbols, np.append(pieces, NO_PIECE)[drawn.pieces])


def draw(problem: TilingProblem, tiling: NDArray[np.int32], style: str = BOTH) -> str:
    """Draw a tiling as text; see `canvas`."""
    return canvas(problem, tiling, style).text()


def draw_sheet(
    problem: TilingProblem, tilings: Sequence[NDArray[np.int32]], captions: Sequence[str], style: str, columns: int
) -> Canvas:
    """Draw tilings ``(copies,)`` under their captions, as many in a row as fit into ``columns`` characters."""
    drawings = []
    for title, tiling in zip(captions, tilings, strict=True):
        caption = Canvas(np.array([list(title)]), np.full((1, len(title)), NO_PIECE))
        drawings.append(_joined([caption, canvas(problem, tiling, style)], axis=0, gap=0))
    width = max(one.symbols.shape[1] for one in drawings)
    each = max(1, (columns + GAP) // (width + GAP))
    rows = [_joined(drawings[first : first + each], axis=1, gap=GAP) for first in range(0, len(drawings), each)]
    return _joined(rows, axis=0, gap=1)


def steps(problem: TilingProblem, tiling: NDArray[np.int32]) -> Iterator[NDArray[np.int32]]:
    """Yield partial tilings ``(copies,)``. Each has one more piece than the previous one, on its first empty cell."""
    first_cells = placements_of(problem).cells[tiling, 0]
    placed = np.full_like(tiling, -1)
    for copy in np.argsort(first_cells):
        placed[copy] = tiling[copy]
        yield placed.copy()


def _symbol(copy: int, symbols: tuple[str, ...]) -> str:
    if copy >= 0:
        return symbols[copy]
    return HOLE_SYMBOL if copy == HOLE else EMPTY_SYMBOL


def _letters(layer: Layer, symbols: tuple[str, ...]) -> Canvas:
    characters = np.array([[_symbol(piece, symbols) for piece in row] for row in layer.tolist()])
    return Canvas(characters, np.maximum(layer, NO_PIECE))


def _lines(layer: Layer, symbols: tuple[str, ...]) -> Canvas:
    """Draw lines of corners and edges above and below each row, and the cells between edges."""
    framed, upright, level = _borders(layer)
    lines = []
    for row in range(len(level)):
        lines.append(_border(upright[row : row + 2], level[row]))
        lines.append(_separator(framed[row + 1], upright[row + 1], symbols))
    return Canvas(np.array([list(line) for line in lines[:-1]]), _pieces_at_characters(framed))


def _borders(layer: Layer) -> tuple[Layer, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the layer with a border of holes added, and whether each two horizontal and vertical neighbours differ."""
    framed = np.pad(layer, 1, constant_values=HOLE)
    return framed, framed[:, 1:] != framed[:, :-1], framed[1:, :] != framed[:-1, :]


def _border(upright: NDArray[np.bool_], level: NDArray[np.bool_]) -> str:
    """Return a line of corners; each corner except the last is followed by an edge of three characters."""
    parts = 1 * upright[0] + 2 * upright[1] + 4 * level[:-1] + 8 * level[1:]
    edges = ["───" if edge else "   " for edge in level[1:-1]]
    return "".join(CORNERS[part] + edge for part, edge in zip(parts, [*edges, ""], strict=True))


def _separator(row: NDArray[np.int64], upright: NDArray[np.bool_], symbols: tuple[str, ...]) -> str:
    inner = [FILLED_HOLE if copy == HOLE else f" {_symbol(copy, symbols)} " for copy in row[1:-1].tolist()]
    return "".join(("│" if edge else " ") + cell for edge, cell in zip(upright, [*inner, ""], strict=True))


def _pieces_at_characters(framed: Layer) -> NDArray[np.int64]:
    """Return the piece at each character of `_lines`; NO_PIECE unless all cells that meet there belong to one piece."""
    lines, columns = np.arange(2 * framed.shape[0] - 3), np.arange(4 * framed.shape[1] - 7)
    rows, places = ((lines + 1) // 2, lines // 2 + 1), ((columns + 3) // 4, columns // 4 + 1)
    meeting = np.array([framed[np.ix_(row, place)] for row in rows for place in places])
    return np.where((meeting == meeting[0]).all(axis=0), np.maximum(meeting[0], NO_PIECE), NO_PIECE)


def colours(count: int) -> tuple[str, ...]:
    """Return ``count`` different colours."""
    golden = (math.sqrt(5) - 1) / 2
    further = (colorsys.hls_to_rgb(k * golden % 1, 0.45 + 0.3 * (k % 2), 0.5) for k in range(count - len(PALETTE)))
    return PALETTE[:count] + tuple("#" + "".join(f"{round(255 * part):02x}" for part in rgb) for rgb in further)


def draw_tiling(problem: TilingProblem, tiling: NDArray[np.int32]) -> Picture:
    """Return a coloured picture of a tiling, with the layers of a box side by side.

    Parameters
    ----------
    problem
        Board and pieces.
    tiling
        The placement of each copy of each piece, ``(copies,)``, -1 if it is not placed.
    """
    layers, rows, columns = problem.board.shape
    step = CELL * columns + LAYER_GAP
    of_piece = colours(len(problem.pieces))
    fills = tuple(of_piece[piece] for piece in problem.piece_of_copy.tolist())
    shapes: list[Shape] = []
    for number, layer in enumerate(covering(problem, tiling)):
        shapes.extend(_pieces(layer, number * step, fills))
        shapes.extend(_border_lines(layer, number * step))
    return Picture(layers * step - LAYER_GAP, CELL * rows, tuple(shapes))


def draw_empty(problem: TilingProblem) -> Picture:
    """Return a picture of the board without pieces."""
    return draw_tiling(problem, np.full(problem.copies, -1, dtype=np.int32))


def _pieces(layer: Layer, x: float, fills: tuple[str, ...]) -> Iterator[Shape]:
    """Yield a region for each copy in the layer: the squares that it covers."""
    for copy in np.unique(layer[layer >= 0]).tolist():
        squares = tuple((row, column) for row, column in np.argwhere(layer == copy).tolist())
        yield Region(x, 0, squares, CELL, fills[copy])


def _border_lines(layer: Layer, x: float) -> Iterator[Line]:
    """Yield the edges between different pieces and around the board, each as long as possible."""
    _, upright, level = _borders(layer)
    for column, first, end in _runs(upright[1:-1].T):
        yield Line(x + column * CELL, first * CELL, x + column * CELL, end * CELL, EDGE, EDGE_WIDTH)
    for row, first, end in _runs(level[:, 1:-1]):
        yield Line(x + first * CELL, row * CELL, x + end * CELL, row * CELL, EDGE, EDGE_WIDTH)


def _runs(edges: NDArray[np.bool_]) -> Iterator[tuple[int, int, int]]:
    """Yield each run of consecutive edges: its line, its first edge, and the edge after its last."""
    changes = np.diff(np.pad(edges, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    for line, change in enumerate(changes):
        firsts, ends = np.flatnonzero(change == 1).tolist(), np.flatnonzero(change == -1).tolist()
        yield from ((line, first, end) for first, end in zip(firsts, ends, strict=True))
