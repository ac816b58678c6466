"""Answers that are encoded only once: pictures, which the page draws as SVG, and large graphs."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import make_dataclass
from functools import lru_cache
from itertools import chain
from secrets import token_hex
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from antipodes.drawing.picture import Picture, Shape
from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.records import optional, values_of
from antipodes_tasks.base.array_types import Labels

Encodable = TypeVar("Encodable")
PLACE = token_hex(16)
"""Placeholder in JSON for an encoded value, inserted later; it is random, so no string of a store equals it."""
KNOWN_SHAPES = 1 << 14
"""Maximum number of shapes whose JSON is cached; most shapes occur in several pictures."""


class Encoded(Generic[Encodable]):
    """A record as JSON text, which is inserted into answers unchanged."""

    def __init__(self, text: str) -> None:
        self.text = text

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Describe the value like the record."""
        return handler(described(*get_args(source)))


def encoded(record: Encodable) -> Encoded[Encodable]:
    """Return a record as JSON text."""
    return Encoded(json_text(record))


def json_text(value: Any) -> str:
    """Return a value of records as ASCII JSON: some names of stores cannot be encoded as UTF-8."""
    inserted: list[str] = []

    def place_of(value: Any) -> Any:
        if isinstance(value, Encoded):
            inserted.append(value.text)
            return PLACE
        return values_of(value)

    between = json.dumps(value, separators=(",", ":"), default=place_of).split(f'"{PLACE}"')
    return "".join(chain.from_iterable(zip(between, [*inserted, ""], strict=True)))


def drawn(picture: Picture) -> Encoded[Picture]:
    """Return a picture as JSON: its size, and its shapes in the order in which they are drawn."""
    shapes = ",".join(map(_shape, picture.shapes))
    return Encoded(f'{{"width":{json.dumps(picture.width)},"height":{json.dumps(picture.height)},"shapes":[{shapes}]}}')


@lru_cache(maxsize=KNOWN_SHAPES)
def _shape(shape: Shape) -> str:
    return json_text({"kind": _kind(type(shape)), **values_of(shape)})


def _kind(shape: type) -> str:
    return shape.__name__.lower()


def pictures_of(puzzle: Puzzle, positions: Iterable[Labels]) -> list[Encoded[Picture]]:
    """Return the pictures of positions ``(places,)``."""
    return [drawn(puzzle.picture(position)) for position in positions]


def described(record: type) -> type:
    """Return the class that describes a record in the description of the API; pictures are described by one shape."""
    return PICTURE if record is Picture else record


def _shape_fields() -> Iterator[tuple[str, Any] | tuple[str, Any, Any]]:
    """Yield the fields of shapes of any kind; a field is optional unless all kinds have it."""
    kinds = [get_type_hints(kind) for kind in get_args(Shape)]
    yield "kind", str
    for name, hint in {name: hint for kind in kinds for name, hint in kind.items()}.items():
        yield (name, hint) if all(name in kind for kind in kinds) else (name, hint | None, optional(None))


SHAPE = make_dataclass("Shape", list(_shape_fields()))
SHAPE.__doc__ = "A rectangle, disc, line, text, region or polygon; its fields depend on its kind."
PICTURE = make_dataclass("Picture", [("width", float), ("height", float), ("shapes", list[SHAPE])])  # type: ignore[valid-type]
PICTURE.__doc__ = Picture.__doc__
