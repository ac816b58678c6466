"""Lights Out: pressing a light toggles it and its neighbours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.drawing.picture import LINE, PAPER, SQUARE, Disc, Picture
from antipodes.puzzles.drafts import Form, form_of
from antipodes.puzzles.notation import Lists, Notation
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import (
    MAX_PLACES,
    bounded_integer,
    identity,
    pairs_in,
    refuse_unknown,
    required,
    starts_in,
)
from antipodes.puzzles.walls import neighbours
from antipodes_tasks.base.errors import ConfigError, PositionError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.rules.parts import Part, values
from antipodes_tasks.rules.transforms import Transforms


def lights_out(settings: Mapping[str, Any]) -> Puzzle:
    """Return the puzzle of lights in ``rows`` and ``columns``, or on a graph of ``edges`` between ``lights``.

    Lights are numbered from 0 in reading order. All lights are off in the start unless ``start`` is given. A move is
    named by the number of the pressed light.
    """
    refuse_unknown(settings, {"rows", "columns", "lights", "edges", "start"})
    graph = _graph(settings) if "edges" in settings or "lights" in settings else _rectangle(settings)
    texts = starts_in(settings) if "start" in settings else ["0 " * graph.lights]
    return Puzzle.of(
        **identity(settings),
        family="lights-out",
        notation=graph.notation,
        parts=(values(graph.lights, 2),),
        starts=tuple(dict.fromkeys(_start(text, graph) for text in texts)),
        moves=_presses(graph),
    )


class _Graph(NamedTuple):
    """The number of lights and the pairs of neighbours."""

    lights: int
    neighbours: list[tuple[int, int]]
    """Pairs of neighbours, each in both orders."""
    notation: Notation


def _rectangle(settings: Mapping[str, Any]) -> _Graph:
    rows, columns = (bounded_integer(settings, key, 1, MAX_PLACES) for key in ("rows", "columns"))
    if rows * columns > MAX_PLACES:
        raise ConfigError(f"rows, columns: expected at most {MAX_PLACES} lights, found {rows * columns}")
    return _Graph(rows * columns, neighbours(rows, columns), Lights(rows, columns))


def _graph(settings: Mapping[str, Any]) -> _Graph:
    if "rows" in settings or "columns" in settings:
        raise ConfigError("give rows and columns, or lights and edges, but not both")
    lights = bounded_integer(settings, "lights", 1, MAX_PLACES)
    return _Graph(lights, _edges(settings, lights), Lists((lights,)))


def _edges(settings: Mapping[str, Any], lights: int) -> list[tuple[int, int]]:
    """Return the pairs of neighbours, each in both orders."""
    pairs = pairs_in(required(settings, "edges"), "edges")
    for light in (light for pair in pairs for light in pair):
        if not 0 <= light < lights:
            raise ConfigError(f"edges: expected lights from 0 to {lights - 1}, found {quote(light)}")
    return pairs + [(b, a) for a, b in pairs]


def _start(text: str, graph: _Graph) -> tuple[int, ...]:
    try:
        written = graph.notation.split(text, (values(graph.lights, 2),))
    except PositionError as error:
        raise ConfigError(f"start: {error}") from None
    return tuple(map(int, written))


def _presses(graph: _Graph) -> Transforms:
    switched: NDArray[np.uint8] = np.eye(graph.lights, dtype=np.uint8)
    for a, b in graph.neighbours:
        switched[a, b] = 1
    places = np.tile(np.arange(graph.lights), (graph.lights, 1))
    names = [str(light) for light in range(graph.lights)]
    return Transforms(names, places, [2] * graph.lights, switched)


ON = "#e69f00"
"""The colour of a light that is on."""
DRAWN = {"0": "○", "1": "●"}
STATES = {"0": "off", "1": "on"}
READ = str.maketrans(".*○●", "0101")
"""Translation of the other characters for lights that are off or on."""


@dataclass(frozen=True, slots=True)
class Lights(Notation):
    """A notation that lists the lights in rows, ``010/111/010``; 0 or ``.`` is off, 1 or ``*`` is on."""

    rows: int
    columns: int

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """Return the light on each place, row by row; see `Notation`."""
        return Notation.split(self, text.translate(READ), parts)

    def join(self, symbols: Sequence[str]) -> str:
        """Return one line of text, with ``/`` between rows."""
        return "/".join("".join(row) for row in self._rows(symbols))

    def draw(self, symbols: Sequence[str]) -> str:
        """Draw a line for each row; ``●`` is on, ``○`` is off."""
        return "\n".join(" ".join(DRAWN.get(symbol, symbol) for symbol in row) for row in self._rows(symbols))

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Return a picture with a disc for each light."""
        discs = (
            Disc((column + 0.5) * SQUARE, (row + 0.5) * SQUARE, 0.4 * SQUARE, ON if symbol == "1" else PAPER, LINE)
            for row, line in enumerate(self._rows(symbols))
            for column, symbol in enumerate(line)
        )
        return Picture(self.columns * SQUARE, self.rows * SQUARE, tuple(discs))

    def form(self, parts: Sequence[Part]) -> Form:
        """Return the form with the lights in their rows, named by the moves that press them."""
        lights = range(self.rows * self.columns)
        squares = [divmod(light, self.columns) for light in lights]
        return form_of(parts, [f"light {light}" for light in lights], squares, STATES, {"1": ON})

    def _rows(self, symbols: Sequence[str]) -> list[Sequence[str]]:
        return [symbols[first : first + self.columns] for first in range(0, len(symbols), self.columns)]
