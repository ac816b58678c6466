"""The puzzle families: each turns the ``[puzzle]`` table of a config into a `Puzzle`."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from antipodes import arguments
from antipodes.errors import ConfigError
from antipodes.puzzles.puzzle import Puzzle
from antipodes.quoting import quote

FAMILIES: Mapping[str, tuple[str, str]] = {
    "burnt-pancake": ("burnt_pancake", "burnt_pancake"),
    "generators": ("generators", "generators"),
    "hanoi": ("hanoi", "hanoi"),
    "jump": ("jump", "jump"),
    "lights-out": ("lights_out", "lights_out"),
    "pancake": ("permutations", "pancake"),
    "sliding": ("sliding", "sliding"),
    "topspin": ("permutations", "topspin"),
    "twisty": ("twisty", "twisty"),
}
"""The module and the function of each family, loaded when a puzzle needs it: all of them take 25 ms."""


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
    module, function = FAMILIES[family]
    describe: Callable[[Mapping[str, Any]], Puzzle] = getattr(import_module(f"{__name__}.{module}"), function)
    return describe(settings)
