"""TopSpin: numbers on a ring, of which a turntable turns the first few over."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from antipodes.puzzles.notation import Lists, Notation
from antipodes.puzzles.picture import INK, LINE, Disc, Picture, Shape, Text, colours_of, fitting, ink_on
from antipodes_tasks.rules.parts import Part

DISC = 18
"""The radius of a piece in pictures."""


@dataclass(frozen=True, slots=True)
class Ring(Notation):
    """Pieces around a ring, ``1 2 3 4 5 6``: clockwise, those on the turntable first."""

    pieces: int
    """The number of pieces on the ring."""
    turntable: int
    """The number of pieces on the turntable, at most all."""

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """The piece on each place, clockwise from the left end of the turntable; see `Notation`."""
        return Lists((self.pieces,)).split(text, parts)

    def join(self, symbols: Sequence[str]) -> str:
        """One line of text."""
        return " ".join(symbols)

    def draw(self, symbols: Sequence[str]) -> str:
        """The ring as a loop: the turntable in the upper half, the other pieces in the lower half."""
        width = max(map(len, symbols))
        written = [symbol.rjust(width) for symbol in symbols]
        table = " " + " ".join(written[: self.turntable]) + " "
        below = " ".join(reversed(written[self.turntable :]))
        inner = max(len(table) + 4, len(below) + 2)
        edge = "═" * len(table)
        return "\n".join(
            [
                f"╔{edge}╗".center(inner + 2),
                f"╭{f'╢{table}╟'.center(inner, '─')}╮",
                f"│{f'╚{edge}╝'.center(inner)}│",
                f"╰{(f' {below} ' if below else '').center(inner, '─')}╯",
            ]
        )

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Discs on a circle; those on the turntable, at the top, have a dark border."""
        radius = max(2 * DISC, DISC * self.pieces / math.pi * 1.15)
        centre = radius + 1.3 * DISC
        colours = colours_of(symbols)
        shapes: list[Shape] = [Disc(centre, centre, radius, "none", LINE)]
        for place, symbol in enumerate(symbols):
            turn = 2 * math.pi * (place - (self.turntable - 1) / 2) / self.pieces
            x, y = centre + radius * math.sin(turn), centre - radius * math.cos(turn)
            if place < self.turntable:
                shapes.append(Disc(x, y, 1.2 * DISC, INK))
            shapes.append(Disc(x, y, DISC, colours[symbol], LINE))
            shapes.append(Text(x, y, symbol, fitting(symbol, 1.4 * DISC, DISC), ink_on(colours[symbol])))
        return Picture(2 * centre, 2 * centre, tuple(shapes))
