"""Stacks of pancakes, plain or burnt on one side: written from the top, drawn from the side."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from antipodes.errors import PositionError
from antipodes.puzzles.notation import Lists, Notation, check_symbols
from antipodes.puzzles.part import Part

WIDEST = 24
"""Half the width of the largest pancake in characters; in higher stacks, pancakes of similar size are drawn alike."""
BURNT_UP = "-"
PLAIN, BURNT_BELOW, BURNT_ABOVE = " ", "▁", "▔"
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
        sides = {"0": BURNT_BELOW, "1": BURNT_ABOVE}
        return _stack([(symbol, sides[up]) for symbol, up in self._pairs(symbols)], self.sizes)

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
