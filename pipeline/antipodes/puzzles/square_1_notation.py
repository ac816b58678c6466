"""The notation of Square-1: positions such as ``A1B2C3D45E6F7G8H-``, and moves such as ``(1,0) / (3,-3) /``.

This is the notation of Jaap Scherphuis (https://www.jaapsch.net/puzzles/square1.htm). Letters are corners, which cover
two cells, and digits are edges, clockwise from the front of the cut: the upper layer seen from above, then the lower
layer seen from below. The last character is the middle layer: FLAT or FLIPPED. One addition: a small letter at the
beginning of a layer is a corner that lies across the front of the cut.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from antipodes.drawing.picture import Picture
from antipodes.puzzles.drafts import DraftError, Form, Square, form_of
from antipodes.puzzles.notation import Notation, check_symbols
from antipodes.puzzles.sequences import Spelling
from antipodes.puzzles.square_1_picture import square_1_picture
from antipodes_tasks.base.errors import PositionError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.rules.parts import Part

FLAT, FLIPPED = "-", "/"
"""The middle layer in the solved position, and after an odd number of slashes."""
SLASH = "/"
NUMBER = r"\s*[-−]?\d{1,2}\s*"
TURN = rf"\({NUMBER},{NUMBER}\)|[-−]?\d{{1,2}}\s*,\s*[-−]?\d{{1,2}}"
"""A turn of the two layers, with or without brackets."""
EDGE, CUT, BLOCKED = "│", "║", "┊"
"""Lines of drawings: between two pieces, at the cut, and at the ends if a corner lies across the cut there."""


def turn_name(upper: int, lower: int, size: int) -> str:
    """Return the name of a turn of layers with ``size`` cells: ``(a,b)`` with numbers above -size/2, up to size/2."""
    a, b = (size // 2 - (size // 2 - turn) % size for turn in (upper, lower))
    return f"({a},{b})"


def cell_count(text: str) -> int:
    """Return the number of cells that the pieces of a position cover; characters that are no pieces are ignored."""
    return sum(2 if one.isalpha() else one.isdecimal() for one in text)


def cells_in(text: str, size: int) -> list[str]:
    """Return the symbol on each cell of two layers with ``size`` cells, and the symbol of the middle layer.

    The first cell of a corner holds its letter, and the second cell holds the small letter.

    Raises PositionError if the pieces do not fill both layers, or a corner lies across two layers.
    """
    written = "".join(text.split())
    pieces, middle = (written[:-1], written[-1]) if written[-1:] in (FLAT, FLIPPED) else (written, FLAT)
    for one in pieces:
        if not (one.isascii() and one.isalnum()):
            raise PositionError(
                f"expected letters (corners), digits (edges), and '-' or '/' at the end, found {quote(one)}"
            )
    if cell_count(pieces) != 2 * size:
        raise PositionError(
            f"expected pieces that cover {2 * size} cells (a corner covers two), found {cell_count(pieces)}"
        )
    upper, rest = _layer(pieces, size)
    lower, _ = _layer(rest, size)
    return [*upper, *lower, middle]


def _layer(pieces: str, size: int) -> tuple[list[str], str]:
    """Return the symbols on the cells of a layer, and the pieces that remain."""
    across = pieces[:1] if pieces[:1].islower() else ""
    cells, number, end = list(across), len(across), size - len(across)
    while len(cells) < end:
        piece, number = pieces[number], number + 1
        if piece.islower():
            raise PositionError(
                f"the small letter {piece!r} is not at the beginning of a layer (only a corner across the cut is small)"
            )
        cells += [piece, piece.lower()] if piece.isalpha() else [piece]
        if len(cells) > end:
            raise PositionError(f"the corner {piece!r} lies across two layers; each layer has {size} cells")
    return [*cells, *across.upper()], pieces[number:]


@dataclass(frozen=True)
class Square1Notation(Notation):
    """The notation of a puzzle like Square-1."""

    size: int
    """Number of cells of a layer."""
    colours: Mapping[str, str] = field(hash=False)
    """The colour of each piece in pictures."""

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """Return the symbol on each cell, followed by the symbol of the middle layer."""
        cells = cells_in(text, self.size)
        check_symbols(cells[:-1], parts[0].symbols)
        return cells

    def join(self, symbols: Sequence[str]) -> str:
        """Return the position in one line."""
        return "".join(map(_written, self._layers(symbols))) + symbols[-1]

    def draw(self, symbols: Sequence[str]) -> str:
        """Draw both layers as strips with the cut in their middle; a slash exchanges the right halves."""
        upper, lower = self._layers(symbols)
        half = self.size // 2
        line = {FLAT: "─", FLIPPED: "═"}[symbols[-1]]
        middle = f"├{'─' * (self.size - 1)}╫{line * (self.size - 1)}┤"
        return "\n".join((_strip(upper), middle, _strip([*lower[half:], *lower[:half]])))

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Return a picture of the layers as seen from above and from below, and of the middle layer from the front."""
        upper, lower = (list(_pieces(cells)) for cells in self._layers(symbols))
        return square_1_picture(upper, lower, self.size, self.colours, symbols[-1] == FLIPPED)

    def form(self, parts: Sequence[Part]) -> Form:
        """Return the form with a row of cells for each layer, each beginning at the front of the cut."""
        names = [f"{layer} cell {number + 1}" for layer in ("upper", "lower") for number in range(self.size)]
        squares: list[Square] = [(1.25 * layer, number) for layer in (0, 1) for number in range(self.size)]
        second = {one: f"second cell of {one.upper()}" for one in parts[0].symbols if one.islower()}
        plain = form_of(parts, [*names, "middle layer"], [*squares, (2.5, 0)], second, self.colours)
        return _CellForm(plain.groups, plain.fields)

    @property
    def spelling(self) -> Spelling:
        """The spellings of turns: ``(3,-3)``, ``( 3, 9 )``, ``3,-3``; ``(0,0)`` is not a move."""
        return Spelling(TURN, self._name_of_turn)

    def _name_of_turn(self, text: str) -> str:
        if text == SLASH:
            return text
        turns = text.replace("−", "-").strip("()").split(",")
        upper, lower = (int(turn) % self.size for turn in turns)
        return turn_name(upper, lower, self.size) if upper or lower else ""

    def _layers(self, symbols: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        return symbols[: self.size], symbols[self.size : 2 * self.size]


@dataclass(frozen=True)
class _CellForm(Form):
    """The form of the cells and the middle layer."""

    def written(self, draft: Sequence[str]) -> list[str]:
        """Return the symbol on each place; raise DraftError unless each corner covers two neighbouring cells."""
        self.check_counts(draft)
        size = len(draft) // 2
        wrong = [
            number
            for first in (0, size)
            for number in range(first, first + size)
            if _second(draft[first + (number - first - 1) % size]) != draft[number] * draft[number].islower()
        ]
        if wrong:
            raise DraftError("each corner needs its second cell after it, clockwise in the same layer", wrong)
        return list(draft)


def _written(cells: Sequence[str]) -> str:
    """Return the pieces of a layer, with a small letter at the beginning for a corner across the cut."""
    across = cells[0].islower()
    return cells[0] * across + "".join(one for one in cells[: len(cells) - across] if not one.islower())


def _second(symbol: str) -> str:
    """Return the symbol of the second cell of a corner, given the symbol of its first cell; empty for other symbols."""
    return symbol.lower() if symbol.isupper() else ""


def _pieces(cells: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the first cell, the number of cells and the symbol of each piece of a layer."""
    for first, symbol in enumerate(cells):
        if not symbol.islower():
            yield first, 1 + symbol.isupper(), symbol


def _strip(cells: Sequence[str]) -> str:
    """Draw the cells of a layer in a row; lines separate the pieces, and a double line is the cut."""
    half, drawn = len(cells) // 2, []
    for number, symbol in enumerate(cells):
        if symbol.islower():
            drawn.append(f"{symbol.upper()} " if number else f"{BLOCKED}{symbol}")
        else:
            inside = " " if symbol.isupper() and number < len(cells) - 1 else symbol
            drawn.append(f"{CUT if number == half else EDGE}{inside}")
    return "".join(drawn) + (BLOCKED if cells[0].islower() else EDGE)
