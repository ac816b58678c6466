"""Positions and tilings as SVG elements inside a page."""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import replace

from antipodes.drawing.image_files import SVG_FONT, svg_element
from antipodes.drawing.markup import Html, element, joined
from antipodes.drawing.picture import Line, Picture, Region, Shape

LONGER = 1.6
"""Maximum width or height of a picture, as a multiple of its size."""


def fitted(picture: Picture, size: float, largest: float = 1.0) -> float:
    """Return the scale at which a picture's area is ``size`` squared, in pixels, but at most ``largest``.

    A picture is scaled down further if its width or height would exceed `LONGER` times the size.
    """
    square = size / math.sqrt(picture.width * picture.height)
    return min(largest, square, LONGER * size / picture.width, LONGER * size / picture.height)


class Sprites:
    """The shapes of the boards on a page; each shape is written once, because boards share most shapes."""

    def __init__(self, alone: bool = True) -> None:
        """Begin without shapes.

        If the set is not ``alone`` on its page, the names of shapes are hashes of the shapes, unique across sets.
        """
        self._names: dict[Shape, str] = {}
        self._alone = alone

    def board(self, picture: Picture, size: float, label: str, largest: float = 1.0) -> Html:
        """Return a picture at the scale of `fitted`; screen readers read its ``label``."""
        scale = fitted(picture, size, largest)
        return element(
            "svg",
            *map(self._placed, picture.shapes),
            class_="board",
            width=round(picture.width * scale),
            height=round(picture.height * scale),
            viewBox=f"0 0 {picture.width:g} {picture.height:g}",
            font_family=SVG_FONT,
            text_anchor="middle",
            role="img",
            aria_label=label,
        )

    def _placed(self, shape: Shape) -> Html:
        same, x, y = _at_origin(shape)
        name = self._names.get(same) or self._named(same)
        return element("use", href=f"#{name}", x=f"{x:g}", y=f"{y:g}")

    def _named(self, shape: Shape) -> str:
        written = svg_element(shape).encode()
        name = f"s{len(self._names)}" if self._alone else f"s{hashlib.sha256(written).hexdigest()[:12]}"
        self._names[shape] = name
        return name

    def definitions(self) -> Html:
        """Return the shapes as an invisible element, which must be on the same page as the boards."""
        shapes: Iterable[Html] = (
            Html(f'<g id="{name}">{svg_element(shape)}</g>') for shape, name in self._names.items()
        )
        content = element("defs", joined(shapes, "\n"))
        return element("svg", content, width=0, height=0, aria_hidden="true", style="position:absolute")


def _at_origin(shape: Shape) -> tuple[Shape, float, float]:
    """Return the shape moved to (0, 0), and its position."""
    x, y = shape.x, shape.y
    if isinstance(shape, Line):
        end_x, end_y = round(shape.end_x - x, 3), round(shape.end_y - y, 3)
        return replace(shape, x=0, y=0, end_x=end_x, end_y=end_y), x, y
    if isinstance(shape, Region):
        top, left = (min(places) for places in zip(*shape.squares, strict=True))
        squares = tuple((row - top, column - left) for row, column in shape.squares)
        return replace(shape, x=0, y=0, squares=squares), x + left * shape.side, y + top * shape.side
    return replace(shape, x=0, y=0), x, y
