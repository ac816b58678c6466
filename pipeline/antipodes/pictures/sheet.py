"""Several pictures side by side on one sheet, each with a line of text above it."""

import math
from collections.abc import Sequence

from antipodes_tasks.puzzles.picture import Picture, Shape, Text

GAP, CAPTION = 14, 20
"""The space around pictures, and the height of the text above one."""
WIDE = 1.5
"""How much wider than high a sheet is, about."""


def sheet(pictures: Sequence[Picture], captions: Sequence[str] = (), across: int | None = None) -> Picture:
    """The pictures in rows of ``across``, by default so many that the sheet is about half as wide again as high."""
    width = max((one.width for one in pictures), default=0) + GAP
    height = max((one.height for one in pictures), default=0) + GAP + (CAPTION if captions else 0)
    wanted = across or round(math.sqrt(WIDE * len(pictures) * height / width))
    columns = min(max(1, wanted), max(1, len(pictures)))
    shapes: list[Shape] = []
    for number, one in enumerate(pictures):
        x, y = GAP + number % columns * width, GAP + number // columns * height
        if captions:
            shapes.append(Text(x + (width - GAP) / 2, y + CAPTION / 2 - 2, captions[number], 0.7 * CAPTION))
            y += CAPTION
        shapes.extend(one.moved(x + (width - GAP - one.width) / 2, y))
    return Picture(columns * width + GAP, -(-len(pictures) // columns) * height + GAP, tuple(shapes))
