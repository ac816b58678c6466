"""Pictures as JSON, which the page draws as SVG: each shape is an object with its kind and fields."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache

from antipodes.drawing.picture import Disc, Line, Picture, Polygon, Rectangle, Region, Shape, Text
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.rules.moves import Labels

FIELDS: dict[type[Shape], tuple[str, ...]] = {
    kind: tuple(one.name for one in fields(kind)) for kind in (Rectangle, Disc, Line, Text, Region, Polygon)
}
"""The fields of each kind of shape; the ``kind`` in JSON is the lower-case name of the class."""
KNOWN_SHAPES = 1 << 14
"""Maximum number of shapes whose JSON is cached; most shapes occur in several pictures."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture as JSON text, which is inserted into answers unchanged."""

    text: str


def drawn(picture: Picture) -> Drawn:
    """Return a picture as JSON: its size, and its shapes in the order in which they are drawn."""
    shapes = ",".join(map(_shape, picture.shapes))
    return Drawn(f'{{"width":{json.dumps(picture.width)},"height":{json.dumps(picture.height)},"shapes":[{shapes}]}}')


@lru_cache(maxsize=KNOWN_SHAPES)
def _shape(shape: Shape) -> str:
    kind = type(shape)
    values = {"kind": kind.__name__.lower(), **{name: getattr(shape, name) for name in FIELDS[kind]}}
    return json.dumps(values, separators=(",", ":"))


def pictures_of(puzzle: Puzzle, positions: Iterable[Labels]) -> list[Drawn]:
    """Return the pictures of positions ``(places,)``."""
    return [drawn(puzzle.picture(position)) for position in positions]
