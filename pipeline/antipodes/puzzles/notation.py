"""How positions are read, written and drawn: the interface, and the plain list of symbols."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from antipodes.puzzles.drafts import Form, form_of
from antipodes.puzzles.kpatterns import Pieces, written
from antipodes.puzzles.picture import SQUARE, Picture, Shape, colours_of, text_picture, tile
from antipodes_tasks.errors import PositionError
from antipodes_tasks.quoting import counted, quote, shorten
from antipodes_tasks.rules.parts import Part, ranges_of

SEPARATORS = re.compile(r"[\s,/]+")
ROW_ENDS = re.compile(r"[\n/]")


class Notation(ABC):
    """How the symbols of a position are read from a text, written in a line, and drawn in several."""

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """The symbol on each place, by default in the order of the places.

        PositionError where it has another number of symbols than places, or one that a part does not know.
        """
        places = sum(part.places for part in parts)
        single = all(part.single_characters for part in parts)
        symbols = symbols_in(text, places) if single else _split_moves(text)
        if len(symbols) != places:
            found = len(symbols[0]) if single and len(symbols) == 1 else len(symbols)
            raise PositionError(f"expected {counted(places, 'symbol')}, found {found}")
        for part, here in zip(parts, ranges_of(parts), strict=True):
            check_symbols(symbols[here], part.symbols)
        return symbols

    def of_kpattern(self, found: Mapping[str, Pieces], parts: Sequence[Part]) -> list[str]:
        """The symbol on each place, of a position of cubing.js, by default with pieces that count as the puzzle's."""
        return written(found, parts)

    def join(self, symbols: Sequence[str]) -> str:
        """One line of text, which `split` reads back."""
        return " ".join(symbols)

    @abstractmethod
    def draw(self, symbols: Sequence[str]) -> str:
        """A drawing of one or several lines, all of one length, so that drawings stand side by side."""

    def picture(self, symbols: Sequence[str]) -> Picture:
        """The position in shapes and colours; by default the drawing."""
        return text_picture(self.draw(symbols))

    def followed(self, before: Sequence[str], after: Sequence[str]) -> "Notation":
        """The notation of the position after a move, which names each piece as this one does before the move.

        By default this one: most pieces are named by what they are, and equal ones have no names of their own.
        """
        return self

    def form(self, parts: Sequence[Part]) -> Form:
        """The form in which a person edits positions; by default a row of places for each part."""
        return form_of(parts)

    def highlighted(self, symbols: Sequence[str]) -> frozenset[tuple[int, int]]:
        """Line and column of each character of `draw` that deserves a colour of its own; by default none."""
        return frozenset()


@dataclass(frozen=True, slots=True)
class Lists(Notation):
    """The symbols in the order of places, one list for each part, with ``/`` between the lists."""

    sizes: tuple[int, ...]
    """The number of places of each part."""

    def join(self, symbols: Sequence[str]) -> str:
        """One line of text."""
        return " / ".join(" ".join(symbols[first:end]) for first, end in self._ranges)

    def draw(self, symbols: Sequence[str]) -> str:
        """A line for each part."""
        return rectangle([" ".join(symbols[first:end]) for first, end in self._ranges])

    def picture(self, symbols: Sequence[str]) -> Picture:
        """A row of tiles for each part."""
        shapes: list[Shape] = []
        for row, (first, end) in enumerate(self._ranges):
            colours = colours_of(symbols[first:end])
            for column, symbol in enumerate(symbols[first:end]):
                shapes.extend(tile(symbol, column * SQUARE, row * SQUARE, colours[symbol]))
        return Picture(max(self.sizes) * SQUARE, len(self.sizes) * SQUARE, tuple(shapes))

    @property
    def _ranges(self) -> list[tuple[int, int]]:
        return list(pairwise(accumulate(self.sizes, initial=0)))


def rectangle(lines: Sequence[str]) -> str:
    """The lines as one text, filled with blanks to the length of the longest."""
    width = max(map(len, lines))
    return "\n".join(line.ljust(width) for line in lines)


def check_symbols(written: Sequence[str], known: Sequence[str]) -> None:
    """Raise PositionError for the first symbol that is not known."""
    for symbol in written:
        if symbol not in known:
            raise PositionError(f"expected one of {shorten(' '.join(known))}, found {quote(symbol)}")


def symbols_in(text: str, *expected: int) -> list[str]:
    """The symbols of a text: the parts between separators, or the characters if their number is one of the expected."""
    apart = _split_moves(text)
    close = list("".join(apart))
    if len(apart) not in expected and len(close) in expected:
        return close
    return apart


def characters_in(text: str) -> list[str]:
    """The symbols of a text in which each is a single character."""
    return list("".join(_split_moves(text)))


def rows_in(text: str, symbols: int) -> list[int]:
    """The number of symbols in each line of a text, which has so many."""
    lines = [apart for line in ROW_ENDS.split(text) if (apart := _split_moves(line))]
    lengths = [len(line) for line in lines]
    return lengths if sum(lengths) == symbols else [len("".join(line)) for line in lines]


def _split_moves(text: str) -> list[str]:
    return [token for token in SEPARATORS.split(text) if token]
