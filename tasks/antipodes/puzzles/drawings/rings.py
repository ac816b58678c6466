"""TopSpin: numbers on a ring, of which a turntable turns the first few over."""

from collections.abc import Sequence
from dataclasses import dataclass

from antipodes.puzzles.notation import Lists, Notation
from antipodes.puzzles.part import Part


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
