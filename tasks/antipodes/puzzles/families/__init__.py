"""The puzzle families: each turns the ``[puzzle]`` table of a config into a `Puzzle`."""

from collections.abc import Callable, Mapping
from typing import Any

from antipodes import arguments
from antipodes.errors import ConfigError
from antipodes.puzzles.families.burnt_pancake import burnt_pancake
from antipodes.puzzles.families.generators import generators
from antipodes.puzzles.families.hanoi import hanoi
from antipodes.puzzles.families.jump import jump
from antipodes.puzzles.families.lights_out import lights_out
from antipodes.puzzles.families.permutations import pancake, topspin
from antipodes.puzzles.families.sliding import sliding
from antipodes.puzzles.families.twisty import twisty
from antipodes.puzzles.puzzle import Puzzle
from antipodes.quoting import quote

FAMILIES: dict[str, Callable[[Mapping[str, Any]], Puzzle]] = {
    "burnt-pancake": burnt_pancake,
    "generators": generators,
    "hanoi": hanoi,
    "jump": jump,
    "lights-out": lights_out,
    "pancake": pancake,
    "sliding": sliding,
    "topspin": topspin,
    "twisty": twisty,
}


def puzzle_from(settings: Mapping[str, Any]) -> Puzzle:
    """The puzzle that a ``[puzzle]`` table describes.

    Raises
    ------
    ConfigError
        The family is unknown, or the table does not fit it.
    """
    family = arguments.mapping(settings, "settings of a puzzle").get("family")
    if not isinstance(family, str) or family not in FAMILIES:
        raise ConfigError(f"[puzzle] family: expected one of {', '.join(sorted(FAMILIES))}, found {quote(family)}")
    return FAMILIES[family](settings)
