"""Stacks of pancakes, plain or burnt on one side: written from the top, drawn from the side."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from antipodes.puzzles.notation import Lists, Notation, check_symbols
from antipodes.puzzles.picture import INK, LINE, Line, Picture, Rectangle, Shape, Text, fitting
from antipodes_tasks.errors import PositionError
from antipodes_tasks.rules.parts import Part

WIDEST = 24
"""Half the width of the largest pancake in characters; in higher stacks, pancakes of similar size are drawn alike."""
BURNT_UP = "-"
PLAIN, BURNT_BELOW, BURNT_ABOVE = " ", "▁", "▔"
DOUGH, BURNT = "#f0c98b", "#6b4226"
THICK, NARROWEST, WIDER = 26, 60, 22
"""The height of a pancake in pictures, the width of the smallest one, and by how much each is wider than the next."""
SIGNED = re.compile(r"-?[^-]")


@dataclass(frozen=True, slots=True)
class Pancakes(Notation):
    """A stack of pancakes, ``3 1 2``: the topmost first."""

    pancakes: int
    """The number of pancakes in the stack."""
    sizes: tuple[str, ...]
    """The symbols of the pancakes, the smallest first."""

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """The pancake on each place, from the top; see `Notation`."""
        return Lists((self.pancakes,)).split(text, parts)

    def join(self, symbols: Sequence[str]) -> str:
        """One line of text."""
        return " ".join(symbols)

    def draw(self, symbols: Sequence[str]) -> str:
        """The stack on its plate, a line for each pancake."""
        return _stack([(symbol, PLAIN) for symbol in symbols], self.sizes)

    def picture(self, symbols: Sequence[str]) -> Picture:
        """The stack on its plate."""
        return _pictured([(symbol, PLAIN) for symbol in symbols], self.sizes)


@dataclass(frozen=True, slots=True)
class BurntPancakes(Notation):
    """A stack of pancakes, ``1 -2 3``: the topmost first, a minus before a pancake that lies burnt side up.

    Also read as two lists, ``1 2 3 / 0 1 0``: the pancakes, and 1 for each that lies burnt side up. The symbols of a
    position are these two lists.
    """

    pancakes: int
    """The number of pancakes in the stack."""
    sizes: tuple[str, ...]
    """The symbols of the pancakes, the smallest first."""

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """The pancake on each place, from the top, then 0 or 1 for each; see `Notation`."""
        signed = self._signed(text)
        if len(signed) != self.pancakes:
            return self._two_lists(text, parts, len(signed))
        pancakes = [symbol.removeprefix(BURNT_UP) for symbol in signed]
        check_symbols(pancakes, parts[0].symbols)
        return pancakes + ["1" if symbol.startswith(BURNT_UP) else "0" for symbol in signed]

    def _signed(self, text: str) -> list[str]:
        apart = [token for token in re.split(r"[\s,/]+", text) if token]
        close = SIGNED.findall("".join(apart))
        single = all(len(symbol) == 1 for symbol in self.sizes)
        return close if single and len(apart) != self.pancakes and len(close) == self.pancakes else apart

    def _two_lists(self, text: str, parts: Sequence[Part], found: int) -> list[str]:
        try:
            return Lists((self.pancakes, self.pancakes)).split(text, parts)
        except PositionError:
            if found == 2 * self.pancakes:
                raise
            raise PositionError(f"expected {self.pancakes} pancakes such as 1 or -1, found {found}") from None

    def join(self, symbols: Sequence[str]) -> str:
        """One line of text, with a minus before each pancake that lies burnt side up."""
        return " ".join((BURNT_UP if up == "1" else "") + symbol for symbol, up in self._pairs(symbols))

    def draw(self, symbols: Sequence[str]) -> str:
        """The stack on its plate, a line for each pancake along its burnt side."""
        return _stack(self._sides(symbols), self.sizes)

    def picture(self, symbols: Sequence[str]) -> Picture:
        """The stack on its plate, the burnt sides dark."""
        return _pictured(self._sides(symbols), self.sizes)

    def _sides(self, symbols: Sequence[str]) -> list[tuple[str, str]]:
        """Each pancake and the filling that shows its burnt side, the topmost first."""
        sides = {"0": BURNT_BELOW, "1": BURNT_ABOVE}
        return [(symbol, sides[up]) for symbol, up in self._pairs(symbols)]

    def _pairs(self, symbols: Sequence[str]) -> list[tuple[str, str]]:
        return list(zip(symbols[: self.pancakes], symbols[self.pancakes :], strict=True))


def _stack(pancakes: Sequence[tuple[str, str]], sizes: Sequence[str]) -> str:
    """The drawing of pancakes ``(symbol, filling)``, the topmost first."""
    longest = max(map(len, sizes)) | 1  # odd, so that single characters have a centre
    edges = {symbol: 1 + size * min(WIDEST, len(sizes)) // len(sizes) for size, symbol in enumerate(sizes)}
    width = longest + 2 * max(edges.values()) + 4
    lines = []
    for symbol, filling in pancakes:
        label = f" {symbol} " if filling == PLAIN else symbol
        inner = label.center(longest + 2 * edges[symbol], filling)
        lines.append(f"({inner})".center(width))
    return "\n".join([*lines, "═" * width])


def _pictured(pancakes: Sequence[tuple[str, str]], sizes: Sequence[str]) -> Picture:
    """The picture of pancakes ``(symbol, filling)``, the topmost first."""
    step = min(WIDER, 16 * WIDER / len(sizes))
    widths = {symbol: NARROWEST + step * size for size, symbol in enumerate(sizes)}
    middle = max(widths.values()) / 2 + 10
    shapes: list[Shape] = []
    for number, (symbol, filling) in enumerate(pancakes):
        left, top = middle - widths[symbol] / 2, number * THICK + 2
        shapes.append(Rectangle(left, top, widths[symbol], THICK - 3, DOUGH, LINE, rounded=THICK / 3))
        if filling != PLAIN:
            burnt = top + 1 if filling == BURNT_ABOVE else top + THICK - 9
            shapes.append(Rectangle(left + 6, burnt, widths[symbol] - 12, 5, BURNT, rounded=2))
        shapes.append(Text(middle, top + THICK / 2 - 1.5, symbol, fitting(symbol, widths[symbol] - 12, THICK * 0.55)))
    bottom = len(pancakes) * THICK + 4
    shapes.append(Line(2, bottom, 2 * middle - 2, bottom, INK, 4))
    return Picture(2 * middle, bottom + 4, tuple(shapes))
