"""The formats of puzzle files, by their names."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from antipodes.puzzles.formats.definition import Definition
from antipodes.puzzles.formats.gap import read_gap
from antipodes.puzzles.formats.kpuzzle import read_kpuzzle
from antipodes.puzzles.formats.tws import read_tws


class Format(NamedTuple):
    """How files of a format are read."""

    read: Callable[[str], Definition]
    """The definition in a text; ConfigError says what is wrong, and where."""
    first_label: int
    """The number from which the format counts pieces."""


FORMATS: Mapping[str, Format] = {
    "tws": Format(read_tws, 1),
    "kpuzzle": Format(read_kpuzzle, 0),
    "gap": Format(read_gap, 1),
}
