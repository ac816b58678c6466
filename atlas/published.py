"""Numbers that others have published about the puzzles of the atlas; ``published.toml`` says what its keys mean."""

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
    """One number, or the numbers of layers, with the place where it was published."""

    what: str
    """positions, radius, antipodes, layers, first layers or distance."""
    value: Number
    """As published."""
    source: str
    """In words, as Markdown."""
    url: str = ""
    """The source on the web, unless its words tell it."""
    to: str = ""
    """Of a distance: the pattern at whose nearest match it ends."""
    note: str = ""
    """What the source calls the puzzle, or counts otherwise."""
    differs: str = ""
    """Why the number is not ours; empty if it is the same."""

    @property
    def address(self) -> str:
        """The source on the web; empty if none is known."""
        sequence = SEQUENCE.fullmatch(self.source)
        return f"https://oeis.org/{sequence[1]}" if sequence else self.url

    def ours(self, layers: Sequence[int]) -> Number | None:
        """The same number of a table with these layers; None for a distance, which layers do not tell."""
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
    """What is published about a bundled puzzle of the atlas; an empty list if nothing was found."""
    return [Published(**claim) for claim in _content()[name]]


def published_radii(family: str) -> dict[str, Published]:
    """The radii that are published of a family of this title, by size; none if nothing was found."""
    found = dict(_content()["families"].get(family, {"radii": {}}))
    return {size: Published("radius", radius, **found) for size, radius in found.pop("radii").items()}


def searched() -> str:
    """When and where was searched, as the end of a sentence."""
    return str(_content()["searched"])


def searched_puzzles() -> list[str]:
    """The names of the puzzles that were searched for."""
    return [name for name in _content() if name not in {"searched", "families"}]


@cache
def _content() -> Mapping[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))
