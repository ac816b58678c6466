"""Pictures as JSON: shapes with the names of their fields, which the page draws as SVG."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache

from antipodes.puzzles.picture import Disc, Line, Picture, Polygon, Rectangle, Region, Shape, Text
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.rules.moves import Labels

FIELDS: dict[type[Shape], tuple[str, ...]] = {
    kind: tuple(one.name for one in fields(kind)) for kind in (Rectangle, Disc, Line, Text, Region, Polygon)
}
"""The fields of each kind of shape; its ``kind`` in JSON is the name of the class in small letters."""
KNOWN_SHAPES = 1 << 14
"""Shapes whose JSON stays in memory: most shapes of a picture are in others, too."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture as JSON, which answers contain as it is."""

    text: str


def drawn(picture: Picture) -> Drawn:
    """A picture: its size, and its shapes in the order in which they cover each other."""
    shapes = ",".join(map(_shape, picture.shapes))
    return Drawn(f'{{"width":{json.dumps(picture.width)},"height":{json.dumps(picture.height)},"shapes":[{shapes}]}}')


@lru_cache(maxsize=KNOWN_SHAPES)
def _shape(shape: Shape) -> str:
    kind = type(shape)
    values = {"kind": kind.__name__.lower(), **{name: getattr(shape, name) for name in FIELDS[kind]}}
    return json.dumps(values, separators=(",", ":"))


def pictures_of(puzzle: Puzzle, positions: Iterable[Labels]) -> list[Drawn]:
    """The pictures of positions ``(places,)``."""
    return [drawn(puzzle.picture(position)) for position in positions]
