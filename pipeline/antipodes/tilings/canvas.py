"""Characters in rows and columns, each known to belong to a piece or to none, so that a printer can colour them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NO_PIECE = -1


class Canvas(NamedTuple):
    """A drawing in characters."""

    symbols: NDArray[np.str_]
    """``(lines, columns)``, a character each."""
    pieces: NDArray[np.int64]
    """The number of the piece at each character, ``(lines, columns)``; NO_PIECE at lines between pieces and outside."""

    def text(self) -> str:
        """The characters, without blanks at the ends of the lines."""
        return "\n".join("".join(line).rstrip() for line in self.symbols.tolist())


def beside(canvases: Sequence[Canvas], gap: int = 3) -> Canvas:
    """Canvases side by side, ``gap`` columns between them."""
    height = max(len(one.symbols) for one in canvases)
    gaps = [gap] * (len(canvases) - 1) + [0]
    padded = [_padded(one, height - len(one.symbols), gap) for one, gap in zip(canvases, gaps, strict=True)]
    return Canvas(np.hstack([one.symbols for one in padded]), np.hstack([one.pieces for one in padded]))


def above(canvases: Sequence[Canvas], gap: int = 1) -> Canvas:
    """Canvases one below the other, ``gap`` lines between them."""
    width = max(one.symbols.shape[1] for one in canvases)
    gaps = [gap] * (len(canvases) - 1) + [0]
    padded = [_padded(one, gap, width - one.symbols.shape[1]) for one, gap in zip(canvases, gaps, strict=True)]
    return Canvas(np.vstack([one.symbols for one in padded]), np.vstack([one.pieces for one in padded]))


def caption(text: str) -> Canvas:
    """A line of text as a canvas."""
    return Canvas(np.array([list(text)]), np.full((1, len(text)), NO_PIECE))


def _padded(one: Canvas, below: int, right: int) -> Canvas:
    margins = ((0, below), (0, right))
    return Canvas(
        np.pad(one.symbols, margins, constant_values=" "), np.pad(one.pieces, margins, constant_values=NO_PIECE)
    )
