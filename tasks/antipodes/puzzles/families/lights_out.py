"""Lights Out: a press switches a light and its neighbours."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.errors import ConfigError
from antipodes.puzzles.families.sliding import neighbours
from antipodes.puzzles.moves.transforms import Transforms
from antipodes.puzzles.notation import Lists, symbols_in
from antipodes.puzzles.part import values
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import MAX_PLACES, bounded_integer, identity, pairs_in, refuse_unknown, starts_in
from antipodes.quoting import quote


def lights_out(settings: Mapping[str, Any]) -> Puzzle:
    """Lights on ``rows`` and ``columns``, or on a graph of ``edges`` between ``lights`` counted from 0.

    All lights are off at the start, unless ``start`` says which are on. A move is named after the light that is
    pressed, in reading order, from 0.

    Raises
    ------
    ConfigError
        A key is unknown, missing or out of range; the message names it.
    """
    refuse_unknown(settings, {"rows", "columns", "lights", "edges", "start"})
    if "edges" in settings or "lights" in settings:
        lights = bounded_integer(settings, "lights", 1, MAX_PLACES)
        edges = _edges(settings, lights)
        if "rows" in settings or "columns" in settings:
            raise ConfigError("expected rows and columns, or lights and edges, found both")
    else:
        rows, columns = (bounded_integer(settings, key, 1, MAX_PLACES) for key in ("rows", "columns"))
        lights = rows * columns
        if lights > MAX_PLACES:
            raise ConfigError(f"rows, columns: expected at most {MAX_PLACES} lights, found {lights}")
        edges = neighbours(rows, columns)
    texts = starts_in(settings) if "start" in settings else ["0 " * lights]
    return Puzzle(
        **identity(settings),
        family="lights-out",
        notation=Lists((lights,)),
        parts=(values(lights, 2),),
        starts=tuple(dict.fromkeys(_start(text, lights) for text in texts)),
        moves=_presses(lights, edges),
    )


def _edges(settings: Mapping[str, Any], lights: int) -> list[tuple[int, int]]:
    """The pairs of neighbours, both ways."""
    pairs = pairs_in(settings.get("edges"), "edges")
    for light in (light for pair in pairs for light in pair):
        if not 0 <= light < lights:
            raise ConfigError(f"edges: expected lights from 0 to {lights - 1}, found {quote(light)}")
    return pairs + [(b, a) for a, b in pairs]


def _start(text: str, lights: int) -> tuple[int, ...]:
    written = symbols_in(text, lights)
    if len(written) != lights:
        raise ConfigError(f"start: expected {lights} lights, found {len(written)}")
    for light in written:
        if light not in ("0", "1"):
            raise ConfigError(f"start: expected 0 (off) or 1 (on), found {quote(light)}")
    return tuple(map(int, written))


def _presses(lights: int, edges: list[tuple[int, int]]) -> Transforms:
    switched: NDArray[np.uint8] = np.eye(lights, dtype=np.uint8)
    for a, b in edges:
        switched[a, b] = 1
    places = np.tile(np.arange(lights), (lights, 1))
    return Transforms([str(light) for light in range(lights)], places, [2] * lights, switched)
