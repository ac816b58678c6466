"""Numbers that others have published about the puzzles of the atlas; ``published.toml`` explains its keys."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".toml")
SEQUENCE = re.compile(r"OEIS (A\d{6})")
Number = int | list[int]


@dataclass(frozen=True)
class Published:
    """A published number, or the published numbers of layers, with their source."""

    what: str
    """The quantity: positions, radius, antipodes, layers, first layers or distance."""
    value: Number
    """The number or numbers as published."""
    source: str
    """The name of the source, as Markdown."""
    url: str = ""
    """The URL of the source; empty if ``source`` determines it."""
    to: str = ""
    """For a distance: a pattern; the distance is that of the closest position that matches it."""
    note: str = ""
    """The source's name of the puzzle, or how its way of counting differs."""
    differs: str = ""
    """Why the number differs from ours; empty if it is the same."""

    @property
    def address(self) -> str:
        """The URL of the source; empty if none is known."""
        sequence = SEQUENCE.fullmatch(self.source)
        return f"https://oeis.org/{sequence[1]}" if sequence else self.url

    def ours(self, layers: Sequence[int]) -> Number | None:
        """Return our value of the quantity, from the layers of a table; None for a distance."""
        numbers: Mapping[str, Number | None] = {
            "positions": sum(layers),
            "radius": len(layers) - 1,
            "antipodes": layers[-1],
            "layers": list(layers),
            "first layers": list(layers[: len(self.value)]) if isinstance(self.value, list) else None,
            "distance": None,
        }
        return numbers[self.what]


def published(name: str) -> list[Published]:
    """Return the published numbers of a bundled puzzle of the atlas; an empty list if none were found."""
    return [Published(**claim) for claim in _content()[name]]


def published_radii(family: str) -> dict[str, Published]:
    """Return the published radii of the family with this title, by size; empty if none were found."""
    found = dict(_content()["families"].get(family, {"radii": {}}))
    return {size: Published("radius", radius, **found) for size, radius in found.pop("radii").items()}


def searched() -> str:
    """Return when and where we searched, as the end of a sentence."""
    return str(_content()["searched"])


@cache
def _content() -> Mapping[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))
