"""Pictures as JSON: shapes with the names of their fields, which the page draws as SVG."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from antipodes.puzzles.picture import Disc, Line, Picture, Rectangle, Region, Shape, Text
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.rules.moves import Labels

FIELDS: dict[type[Shape], tuple[str, ...]] = {
    kind: tuple(one.name for one in fields(kind)) for kind in (Rectangle, Disc, Line, Text, Region)
}
"""The fields of each kind of shape; its ``kind`` in JSON is the name of the class in small letters."""


def picture_view(picture: Picture) -> dict[str, Any]:
    """A picture: its size, and its shapes in the order in which they cover each other."""
    return {"width": picture.width, "height": picture.height, "shapes": [_shape_view(one) for one in picture.shapes]}


def _shape_view(shape: Shape) -> dict[str, Any]:
    kind = type(shape)
    return {"kind": kind.__name__.lower(), **{name: getattr(shape, name) for name in FIELDS[kind]}}


def pictures_of(puzzle: Puzzle, positions: Iterable[Labels]) -> list[dict[str, Any]]:
    """The pictures of positions ``(places,)``."""
    return [picture_view(puzzle.picture(position)) for position in positions]
