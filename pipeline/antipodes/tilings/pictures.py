"""Tilings as pictures in colour."""

import colorsys
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.picture import Line, Picture, Region, Shape
from antipodes.tilings.drawing import HOLE, picture
from antipodes_tasks.exact_cover.problem import TilingProblem

PALETTE = (
    "#e6554d", "#f59b42", "#f7d154", "#a6c948", "#4fa65b", "#37b3a4",
    "#67c5eb", "#3f78c4", "#7661bd", "#bd7cc9", "#f09ebc", "#a9805b",
)  # fmt: skip
"""Twelve colours that tell neighbours apart, in the order of the hues; more pieces take further hues."""

CELL, LAYER_GAP = 24, 8
"""The side of a cell, and the space between the layers of a box, in pixels."""
EDGE, EDGE_WIDTH = "#2b2b33", 2.2
"""How the borders of the pieces are drawn."""
Layer = NDArray[np.int64]
"""The copy on each cell of a layer, ``(rows, columns)``."""


def colours(count: int) -> tuple[str, ...]:
    """As many different colours as pieces."""
    golden = (math.sqrt(5) - 1) / 2
    further = (colorsys.hls_to_rgb(k * golden % 1, 0.45 + 0.3 * (k % 2), 0.5) for k in range(count - len(PALETTE)))
    return PALETTE[:count] + tuple("#" + "".join(f"{round(255 * part):02x}" for part in rgb) for rgb in further)


def draw_tiling(problem: TilingProblem, tiling: NDArray[np.int32]) -> Picture:
    """A tiling in colours, the layers of a box side by side.

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
    for number, layer in enumerate(picture(problem, tiling)):
        shapes.extend(_pieces(layer, number * step, fills))
        shapes.extend(_borders(layer, number * step))
    return Picture(layers * step - LAYER_GAP, CELL * rows, tuple(shapes))


def _pieces(layer: Layer, x: float, fills: tuple[str, ...]) -> Iterator[Shape]:
    """One region for each copy that the layer shows, of the squares it covers there."""
    for copy in np.unique(layer[layer >= 0]).tolist():
        squares = tuple((row, column) for row, column in np.argwhere(layer == copy).tolist())
        yield Region(x, 0, squares, CELL, fills[copy])


def _borders(layer: Layer, x: float) -> Iterator[Line]:
    """The edges between different pieces, and around the board, each as long as it is straight."""
    framed: NDArray[np.int64] = np.pad(layer, 1, constant_values=HOLE)
    upright = framed[1:-1, 1:] != framed[1:-1, :-1]
    level = framed[1:, 1:-1] != framed[:-1, 1:-1]
    for column, first, end in _runs(upright.T):
        yield Line(x + column * CELL, first * CELL, x + column * CELL, end * CELL, EDGE, EDGE_WIDTH)
    for row, first, end in _runs(level):
        yield Line(x + first * CELL, row * CELL, x + end * CELL, row * CELL, EDGE, EDGE_WIDTH)


def _runs(edges: NDArray[np.bool_]) -> Iterator[tuple[int, int, int]]:
    """Each run of edges in a line: the line, its first edge, and the one past its last."""
    changes = np.diff(np.pad(edges, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    for line, change in enumerate(changes):
        firsts, ends = np.flatnonzero(change == 1).tolist(), np.flatnonzero(change == -1).tolist()
        yield from ((line, first, end) for first, end in zip(firsts, ends, strict=True))
