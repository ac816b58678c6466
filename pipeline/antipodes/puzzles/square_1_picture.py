"""Pictures of Square-1: both layers with their corners and edges, the cut, and the middle layer from the front."""

import math
from collections.abc import Iterator, Mapping, Sequence

from antipodes.drawing.picture import INK, LINE, Line, Picture, Polygon, Rectangle, Shape, Text, ink_on

RADIUS, TIP = 70, 1.366
"""Distance of the ends of an edge from the centre, and of the tip of a corner as a multiple of it (a square layer)."""
SIDE = 2 * RADIUS * TIP + 12
"""Width and height of the picture of a layer."""
BAR = 16
"""Height of the middle layer."""
MIDDLE = "#8a8a90"
Point = tuple[float, float]
Piece = tuple[int, int, str]
"""The first cell of a piece, the number of its cells, and its symbol."""


def square_1_picture(
    upper: Sequence[Piece], lower: Sequence[Piece], size: int, colours: Mapping[str, str], flipped: bool
) -> Picture:
    """Return the upper layer from above with its front below, the lower layer from below with its front on top, and
    the middle layer from the front.

    The thick lines are the cut. A slash exchanges the halves to the right of it.
    """
    shapes = [
        *_layer(upper, size, colours, (SIDE / 2, SIDE / 2), -1),
        *_layer(lower, size, colours, (1.5 * SIDE, SIDE / 2), 1),
        *_middle(flipped, size),
    ]
    return Picture(2 * SIDE, SIDE + BAR + 8, tuple(shapes))


def _layer(
    pieces: Sequence[Piece], size: int, colours: Mapping[str, str], centre: Point, front: int
) -> Iterator[Shape]:
    """Yield the pieces and the cut of a layer; ``front`` is 1 if the front is on top, and -1 if it is below."""

    def at(cell: float, distance: float) -> Point:
        angle = 2 * math.pi * (cell - front / 2) / size
        return (
            round(centre[0] + front * distance * math.sin(angle), 2),
            round(centre[1] - front * distance * math.cos(angle), 2),
        )

    for first, cells, symbol in pieces:
        outside = [at(first + k, RADIUS * (TIP if 0 < k < cells else 1)) for k in range(cells + 1)]
        yield _polygon([centre, *outside], colours[symbol])
        yield Text(*at(first + cells / 2, RADIUS * 0.72), symbol, 20, ink_on(colours[symbol]))
    yield Line(*at(0, RADIUS * 1.2), *at(size / 2, RADIUS * 1.2), INK, 4)


def _polygon(corners: Sequence[Point], fill: str) -> Polygon:
    x, y = (min(places) for places in zip(*corners, strict=True))
    return Polygon(x, y, tuple((round(right - x, 2), round(down - y, 2)) for right, down in corners), fill, LINE)


def _middle(flipped: bool, size: int) -> Iterator[Shape]:
    """Yield the halves of the middle layer; after a slash, the right half shows its narrow side."""
    wide = RADIUS * math.cos(math.pi / size)
    narrow, top = wide - 2 * wide * math.tan(math.pi / size), SIDE
    cut = SIDE - wide * math.tan(math.pi / size)
    yield Rectangle(SIDE - wide, top, cut - SIDE + wide, BAR, MIDDLE, LINE)
    yield Rectangle(cut, top, (narrow if flipped else wide) + SIDE - cut, BAR, MIDDLE, LINE)
    yield Line(cut, top, cut, top + BAR, INK, 4)
