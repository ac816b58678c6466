"""Notations, which read, write and draw positions: the interface, and plain lists of symbols."""

import re
from abc import ABC, abstractmethod
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from antipodes.drawing.picture import SQUARE, Picture, Shape, colours_of, text_picture, tile
from antipodes.puzzles.drafts import Form, form_of
from antipodes.puzzles.kpatterns import Pieces, is_kpattern, read_kpattern, written
from antipodes.puzzles.sequences import Spelling
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import PositionError
from antipodes_tasks.base.quoting import counted, quote, shorten
from antipodes_tasks.rules.parts import Part, ranges_of
from antipodes_tasks.rules.rules import Rules

SEPARATORS = re.compile(r"[\s,/]+")
ROW_ENDS = re.compile(r"[\n/]")


class Notation(ABC):
    """A way to read the symbols of a position from a text, write them in one line, and draw them in several lines."""

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """Return the symbol on each place; by default the text lists the symbols in the order of the places.

        Raises PositionError if the number of symbols is not the number of places, or a symbol does not belong to the
        part of its place.
        """
        places = sum(part.places for part in parts)
        single = all(part.single_characters for part in parts)
        symbols = symbols_in(text, places) if single else _split_moves(text)
        if len(symbols) != places:
            known = {symbol for part in parts for symbol in part.symbols}
            raise wrong_number_of_symbols(places, list(symbols[0]) if single and len(symbols) == 1 else symbols, known)
        for part, here in zip(parts, ranges_of(parts), strict=True):
            check_symbols(symbols[here], part.symbols)
        return symbols

    def of_kpattern(self, found: Mapping[str, Pieces], parts: Sequence[Part]) -> list[str]:
        """Return the symbol on each place of a position of cubing.js; by default, its pieces are given by labels."""
        return written(found, parts)

    def join(self, symbols: Sequence[str]) -> str:
        """Return one line of text, which `split` can read."""
        return " ".join(symbols)

    @abstractmethod
    def draw(self, symbols: Sequence[str]) -> str:
        """Return a drawing of one or several lines of equal length, so that drawings can be put side by side."""

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Return a picture of the position in shapes and colours; by default a picture of the drawing."""
        return text_picture(self.draw(symbols))

    def followed(self, before: Sequence[str], after: Sequence[str]) -> "Notation":
        """Return the notation for the position after a move, in which each piece keeps its current name.

        By default, return this notation, because names usually depend only on the kind of a piece.
        """
        return self

    @property
    def spelling(self) -> Spelling | None:
        """Other texts for the names of moves in sequences; by default none."""
        return None

    def form(self, parts: Sequence[Part]) -> Form:
        """Return the form in which a person edits positions; by default it has a row of places for each part."""
        return form_of(parts)

    def highlighted(self, symbols: Sequence[str]) -> frozenset[tuple[int, int]]:
        """Return the line and column of each character of `draw` that is to be highlighted; by default none."""
        return frozenset()


@dataclass(frozen=True, slots=True)
class Lists(Notation):
    """A notation with one list of symbols for each part, in the order of places, and ``/`` between the lists."""

    sizes: tuple[int, ...]
    """Number of places of each part."""

    def join(self, symbols: Sequence[str]) -> str:
        """Return one line of text."""
        return " / ".join(" ".join(symbols[first:end]) for first, end in self._ranges)

    def draw(self, symbols: Sequence[str]) -> str:
        """Draw a line for each part."""
        return rectangle([" ".join(symbols[first:end]) for first, end in self._ranges])

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Return a picture with a row of tiles for each part."""
        shapes: list[Shape] = []
        for row, (first, end) in enumerate(self._ranges):
            colours = colours_of(symbols[first:end])
            for column, symbol in enumerate(symbols[first:end]):
                shapes.extend(tile(symbol, column * SQUARE, row * SQUARE, colours[symbol]))
        return Picture(max(self.sizes) * SQUARE, len(self.sizes) * SQUARE, tuple(shapes))

    @property
    def _ranges(self) -> list[tuple[int, int]]:
        return list(pairwise(accumulate(self.sizes, initial=0)))


def labels_in(text: str, notation: Notation, rules: Rules) -> list[int]:
    """Return the labels that a text describes, in the notation or as a position of cubing.js, without counting pieces.

    Raises PositionError if the text has the wrong number of symbols or an unknown symbol.
    """
    arguments.text(text, "a position", PositionError)
    parts = rules.parts
    if is_kpattern(text) and any(part.name for part in parts):
        symbols = notation.of_kpattern(read_kpattern(text, parts, rules.written(rules.first)), parts)
    else:
        symbols = notation.split(text, parts)
    return [
        label
        for part, here in zip(parts, rules.ranges, strict=True)
        for label in map(part.labels.__getitem__, symbols[here])  # the notation has checked the symbols
    ]


def rectangle(lines: Sequence[str]) -> str:
    """Return the lines as one text, padded with spaces to the length of the longest line."""
    width = max(map(len, lines))
    return "\n".join(line.ljust(width) for line in lines)


def wrong_number_of_symbols(expected: int, written: Sequence[str], known: Container[str]) -> PositionError:
    """Return the error for a text with too many or too few symbols; it names the first symbol that is not known."""
    unknown = next((symbol for symbol in written if symbol not in known), None)
    unread = "" if unknown is None else f"; {quote(shorten(unknown))} is not a symbol of this puzzle"
    return PositionError(f"expected {counted(expected, 'symbol')}, found {len(written)}{unread}")


def check_symbols(written: Sequence[str], known: Sequence[str]) -> None:
    """Raise PositionError for the first symbol that is not known."""
    for symbol in written:
        if symbol not in known:
            raise PositionError(f"expected one of {shorten(' '.join(known))}, found {quote(symbol)}")


def symbols_in(text: str, *expected: int) -> list[str]:
    """Return the symbols of a text: its words, or its characters if only the number of characters is ``expected``."""
    words = _split_moves(text)
    single = list("".join(words))
    return single if len(words) not in expected and len(single) in expected else words


def characters_in(text: str) -> list[str]:
    """Return the symbols of a text if each symbol is a single character."""
    return list("".join(_split_moves(text)))


def rows_in(text: str, symbols: int) -> list[int]:
    """Return the number of symbols in each line of a text with ``symbols`` symbols in total."""
    lines = [words for line in ROW_ENDS.split(text) if (words := _split_moves(line))]
    lengths = [len(line) for line in lines]
    return lengths if sum(lengths) == symbols else [len("".join(line)) for line in lines]


def _split_moves(text: str) -> list[str]:
    return [token for token in SEPARATORS.split(text) if token]
