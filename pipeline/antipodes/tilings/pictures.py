"""Tilings as pictures in colour: one, or a sheet of many, as SVG and in files."""

import colorsys
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from antipodes.errors import InputError, StoreError
from antipodes.exact_cover.problem import TilingProblem
from antipodes.quoting import shorten
from antipodes.tilings.drawing import HOLE, Picture, picture

PALETTE = (
    "#e6554d", "#f59b42", "#f7d154", "#a6c948", "#4fa65b", "#37b3a4",
    "#67c5eb", "#3f78c4", "#7661bd", "#bd7cc9", "#f09ebc", "#a9805b",
)  # fmt: skip
"""Twelve colours that tell neighbours apart, in the order of the hues; more pieces take further hues."""

CELL, MARGIN, LAYER_GAP = 24, 22, 8
"""The side of a cell, the space around a tiling, and between the layers of a box, in pixels."""
STROKE = 'stroke="#2b2b33" stroke-width="2.2" stroke-linecap="round" fill="none"'
"""How the borders of the pieces are drawn."""


def colours(count: int) -> tuple[str, ...]:
    """As many different colours as pieces."""
    golden = (math.sqrt(5) - 1) / 2
    further = (colorsys.hls_to_rgb(k * golden % 1, 0.45 + 0.3 * (k % 2), 0.5) for k in range(count - len(PALETTE)))
    return PALETTE[:count] + tuple("#" + "".join(f"{round(255 * part):02x}" for part in rgb) for rgb in further)


def svg(problem: TilingProblem, tilings: Sequence[NDArray[np.int32]], across: int | None = None) -> str:
    """One tiling, or a sheet of them, as the text of an SVG file.

    Parameters
    ----------
    problem
        Board and pieces.
    tilings
        The placement of each copy, ``(copies,)`` each, -1 if it is not placed.
    across
        How many stand side by side; by default the sheet is about half as wide again as it is high.
    """
    layers, rows, columns = problem.board.shape
    width = CELL * layers * columns + LAYER_GAP * (layers - 1) + MARGIN
    height = CELL * rows + MARGIN
    if across is None:
        across = round(math.sqrt(1.5 * len(tilings) * height / width))
    across = min(max(across, 1), max(len(tilings), 1))
    down = max(-(-len(tilings) // across), 1)
    size = across * width + MARGIN, down * height + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'viewBox="0 0 {size[0]} {size[1]}">',
        f'<rect width="{size[0]}" height="{size[1]}" fill="#ffffff"/>',
    ]
    of_piece = colours(len(problem.pieces))
    fills = tuple(of_piece[piece] for piece in problem.piece_of_copy.tolist())
    for number, tiling in enumerate(tilings):
        corner = MARGIN + number % across * width, MARGIN + number // across * height
        parts.extend(_tiling(picture(problem, tiling), corner, fills))
    return "\n".join([*parts, "</svg>", ""])


def write_picture(problem: TilingProblem, tilings: Sequence[NDArray[np.int32]], path: Path, kind: str) -> None:
    """Draw tilings, ``(copies,)`` each, into a file of the kind "svg" or "png".

    Raises
    ------
    InputError
        The library that turns SVG into PNG is not installed.
    StoreError
        The file cannot be written.
    """
    text = svg(problem, tilings)
    content = text.encode() if kind == "svg" else _png(text)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise StoreError(f"cannot write {shorten(str(path))}: {error.strerror or error}") from error


def _tiling(layers: Picture, corner: tuple[int, int], fills: tuple[str, ...]) -> Iterator[str]:
    step = CELL * layers.shape[2] + LAYER_GAP
    for number, layer in enumerate(layers):
        yield f'<g transform="translate({corner[0] + number * step} {corner[1]})">'
        yield from _pieces(layer, fills)
        yield f'<path d="{_borders(layer)}" {STROKE}/>'
        yield "</g>"


def _pieces(layer: Picture, fills: tuple[str, ...]) -> Iterator[str]:
    """One path for each copy that the layer shows, of the squares it covers there."""
    for copy in np.unique(layer[layer >= 0]).tolist():
        squares = (
            f"M{column * CELL} {row * CELL}h{CELL}v{CELL}h-{CELL}z" for row, column in np.argwhere(layer == copy)
        )
        yield f'<path d="{"".join(squares)}" fill="{fills[copy]}"/>'


def _borders(layer: Picture) -> str:
    """The edges between different pieces, and around the board."""
    framed: NDArray[np.int64] = np.pad(layer, 1, constant_values=HOLE)
    upright = np.argwhere(framed[1:-1, 1:] != framed[1:-1, :-1])
    level = np.argwhere(framed[1:, 1:-1] != framed[:-1, 1:-1])
    edges = [f"M{column * CELL} {row * CELL}v{CELL}" for row, column in upright]
    edges += [f"M{column * CELL} {row * CELL}h{CELL}" for row, column in level]
    return "".join(edges)


def _png(text: str) -> bytes:
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise InputError("--png needs resvg: pip install 'antipodes[png]'") from error
    return bytes(svg_to_bytes(svg_string=text))
