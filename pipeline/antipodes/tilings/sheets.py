"""What people see of tilings: drawings side by side, in colour on a terminal, and sheets in files."""

import os
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from antipodes.errors import InputError, StoreError
from antipodes.exact_cover.problem import TilingProblem
from antipodes.quoting import shorten
from antipodes.tilings.drawing import Canvas, above, beside, canvas, caption
from antipodes.tilings.pictures import colours, svg

GAP = 3
"""Columns between drawings."""
INK = "#1c1c22"
"""Letters on coloured cells."""


def draw_sheet(
    problem: TilingProblem, tilings: Sequence[NDArray[np.int32]], captions: Sequence[str], style: str, columns: int
) -> Canvas:
    """Tilings, ``(pieces,)`` each, under their captions, as many side by side as ``columns`` characters hold."""
    drawings = [
        above([caption(title), canvas(problem, tiling, style)], gap=0)
        for title, tiling in zip(captions, tilings, strict=True)
    ]
    width = max(one.symbols.shape[1] for one in drawings)
    each = max(1, (columns + GAP) // (width + GAP))
    return above([beside(drawings[first : first + each], GAP) for first in range(0, len(drawings), each)])


def print_canvas(problem: TilingProblem, drawing: Canvas) -> None:
    """Print a drawing, in colour where stdout is a terminal that has not been asked for none (NO_COLOR)."""
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        _print_in_colour(drawing, colours(len(problem.pieces)))
    else:
        print(drawing.text())


def _print_in_colour(drawing: Canvas, palette: Sequence[str]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console()
    for symbols, pieces in zip(drawing.symbols.tolist(), drawing.pieces.tolist(), strict=True):
        line = Text()
        for piece, group in groupby(zip(pieces, symbols, strict=True), key=lambda pair: pair[0]):
            line.append("".join(symbol for _, symbol in group), f"bold {INK} on {palette[piece]}" if piece >= 0 else "")
        console.print(line, no_wrap=True, crop=False, overflow="ignore", highlight=False)


def write_picture(problem: TilingProblem, tilings: Sequence[NDArray[np.int32]], path: Path, kind: str) -> None:
    """Draw tilings, ``(pieces,)`` each, into a file of the kind "svg" or "png".

    Raises
    ------
    InputError
        What turns drawings into PNG is not installed.
    StoreError
        The file cannot be written.
    """
    text = svg(problem, tilings)
    content = text.encode() if kind == "svg" else _png(text)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise StoreError(f"cannot write {shorten(str(path))}: {error.strerror or error}") from error


def _png(text: str) -> bytes:
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise InputError("--png needs resvg: pip install 'antipodes[png]'") from error
    return bytes(svg_to_bytes(svg_string=text))
