"""Lights Out: a rectangle of lights, on or off."""

from collections.abc import Sequence
from dataclasses import dataclass

from antipodes.puzzles.notation import Lists, Notation
from antipodes.puzzles.picture import LINE, PAPER, SQUARE, Disc, Picture
from antipodes_tasks.rules.parts import Part

ON = "#e69f00"
"""The colour of a light that is on."""
DRAWN = {"0": "○", "1": "●"}
READ = str.maketrans(".*○●", "0101")
"""Other ways to write a light that is off or on."""


@dataclass(frozen=True, slots=True)
class Lights(Notation):
    """Lights in rows, ``010/111/010``: 0 or ``.`` is off, 1 or ``*`` is on."""

    rows: int
    columns: int

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """The light on each place, row by row; see `Notation`."""
        return Lists((self.rows * self.columns,)).split(text.translate(READ), parts)

    def join(self, symbols: Sequence[str]) -> str:
        """One line of text, with ``/`` between rows."""
        return "/".join("".join(row) for row in self._rows(symbols))

    def draw(self, symbols: Sequence[str]) -> str:
        """A line for each row: ``●`` is on, ``○`` is off."""
        return "\n".join(" ".join(DRAWN.get(symbol, symbol) for symbol in row) for row in self._rows(symbols))

    def picture(self, symbols: Sequence[str]) -> Picture:
        """A disc for each light."""
        discs = (
            Disc((column + 0.5) * SQUARE, (row + 0.5) * SQUARE, 0.4 * SQUARE, ON if symbol == "1" else PAPER, LINE)
            for row, line in enumerate(self._rows(symbols))
            for column, symbol in enumerate(line)
        )
        return Picture(self.columns * SQUARE, self.rows * SQUARE, tuple(discs))

    def _rows(self, symbols: Sequence[str]) -> list[Sequence[str]]:
        return [symbols[first : first + self.columns] for first in range(0, len(symbols), self.columns)]
