"""Drawings on a terminal in colour: of tilings, and of positions with the blocks of a goal."""

import os
import sys
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from antipodes.cli.output import terminal_columns

if TYPE_CHECKING:
    from antipodes.puzzles.puzzle import Puzzle
    from antipodes.tables.drawing import Paint
    from antipodes.tilings.drawing import Canvas
    from antipodes_tasks.exact_cover.problem import TilingProblem
    from antipodes_tasks.rules.moves import Labels

ON_GOAL, PLAIN = "\x1b[1;97;41m", "\x1b[0m"
"""White on red, as pictures have the blocks of a goal; and back."""
INK = "#1c1c22"
"""The colour of letters on coloured cells."""


def in_colour() -> bool:
    """Whether stdout is a terminal that shows colours, and the variable NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint() -> "Paint | None":
    """What gives the blocks of a goal their colour in a drawing; None if there are no colours."""
    return (lambda text: f"{ON_GOAL}{text}{PLAIN}") if in_colour() else None


def print_positions(puzzle: "Puzzle", positions: "Labels") -> None:
    """Print positions ``(n, places)`` side by side."""
    from antipodes.tables.drawing import draw_positions

    print(draw_positions(puzzle, positions, terminal_columns(), paint=paint()))


def print_path(puzzle: "Puzzle", path: "Labels", captions: Sequence[str] = ()) -> None:
    """Print a path ``(distance + 1, places)``, each board under its distance from the end, or under a caption."""
    from antipodes.tables.drawing import draw_path

    print(draw_path(puzzle, path, terminal_columns(), captions, paint()))


def print_canvas(problem: "TilingProblem", drawing: "Canvas") -> None:
    """Print a drawing of a tiling, in colour if there are colours."""
    if in_colour():
        from antipodes.tilings.drawing import colours

        _print_in_colour(drawing, colours(len(problem.pieces)))
    else:
        print(drawing.text())


def _print_in_colour(drawing: "Canvas", palette: Sequence[str]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console()
    for symbols, pieces in zip(drawing.symbols.tolist(), drawing.pieces.tolist(), strict=True):
        line = Text()
        for piece, group in groupby(zip(pieces, symbols, strict=True), key=lambda pair: pair[0]):
            line.append("".join(symbol for _, symbol in group), f"bold {INK} on {palette[piece]}" if piece >= 0 else "")
        console.print(line, no_wrap=True, crop=False, overflow="ignore", highlight=False)
