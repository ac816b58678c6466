"""Drawings of tilings on a terminal, each piece in its colour."""

import os
import sys
from collections.abc import Sequence
from itertools import groupby

from antipodes.exact_cover.problem import TilingProblem
from antipodes.tilings.canvas import Canvas
from antipodes.tilings.pictures import colours

INK = "#1c1c22"
"""The colour of letters on coloured cells."""


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
