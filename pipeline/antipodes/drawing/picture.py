"""Pictures made of shapes, and the colours of pieces. `drawing.image_files` writes them as SVG, PNG and GIF."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from unicodedata import east_asian_width

from antipodes_tasks.base.quoting import counted
from antipodes_tasks.base.values import natural

SQUARE = 40
"""Side of a square of a board, in units of pictures, which are pixels unless the picture is scaled."""
INK, LINE, PAPER, HOLLOW = "#26262b", "#8a8a90", "#ffffff", "#5a5a60"
"""Colours of letters, outlines, background and holes."""
PLAIN = "#efe6d2"
"""Colour of a piece whose symbol occurs only once."""
COLUMN, ROW = 12, 24
"""Width and height of a character of a drawing."""
WIDE_LETTERS = frozenset("MWmw@%")
"""Characters that are almost as wide as the font size; all others fit into a column at a larger size."""
BOX = {
    **dict.fromkeys("─━═", "lr"),
    **dict.fromkeys("│║", "ud"),
    **dict.fromkeys("┌╭╔", "rd"),
    **dict.fromkeys("┐╮╗", "ld"),
    **dict.fromkeys("└╰╚", "ru"),
    **dict.fromkeys("┘╯╝", "lu"),
    **dict.fromkeys("├╟", "rud"),
    **dict.fromkeys("┤╢", "lud"),
    "┬": "lrd",
    "┴": "lru",
    "┼": "lrud",
}
"""Directions of the lines of each box-drawing character: left, right, up, down."""
PALETTE = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#0072b2", "#d55e00", "#b3b3b3")
"""Colours that people with any colour vision can distinguish (M. Okabe and K. Ito, Color Universal Design, 2008)."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle with its upper left corner at ``(x, y)``."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    outline: str | None = None
    rounded: float = 0
    """Radius of the corners."""


@dataclass(frozen=True, slots=True)
class Disc:
    """A disc with the centre ``(x, y)``."""

    x: float
    y: float
    radius: float
    fill: str
    outline: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line between two points."""

    x: float
    y: float
    end_x: float
    end_y: float
    colour: str = INK
    width: float = 2


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text whose centre is ``(x, y)``."""

    x: float
    y: float
    text: str
    size: float
    colour: str = INK


@dataclass(frozen=True, slots=True)
class Region:
    """A seamless area of squares of a grid; square ``(0, 0)`` has its upper left corner at ``(x, y)``."""

    x: float
    y: float
    squares: tuple[tuple[int, int], ...]
    """Row and column of each square."""
    side: float
    fill: str


@dataclass(frozen=True, slots=True)
class Polygon:
    """A polygon in a box whose upper left corner is at ``(x, y)``."""

    x: float
    y: float
    points: tuple[tuple[float, float], ...]
    """The corners, each as the distances to the right of ``x`` and down from ``y``."""
    fill: str
    outline: str | None = None


Shape = Rectangle | Disc | Line | Text | Region | Polygon


@dataclass(frozen=True, slots=True, repr=False)
class Picture:
    """Shapes on white paper; later ones cover earlier ones."""

    width: float
    height: float
    shapes: tuple[Shape, ...]

    def __repr__(self) -> str:
        return f"<Picture: {self.width:g} x {self.height:g}, {counted(len(self.shapes), 'shape')}>"

    def moved(self, x: float, y: float) -> Iterator[Shape]:
        """Yield the shapes, moved right by ``x`` and down by ``y``."""
        for shape in self.shapes:
            if isinstance(shape, Line):
                yield replace(shape, x=shape.x + x, y=shape.y + y, end_x=shape.end_x + x, end_y=shape.end_y + y)
            else:
                yield replace(shape, x=shape.x + x, y=shape.y + y)


def colours_of(symbols: Sequence[str]) -> Mapping[str, str]:
    """Return a colour for each symbol: PLAIN if the symbol occurs once, otherwise a colour of its own."""
    counts = Counter(symbols)
    repeated = [symbol for symbol in sorted(counts, key=natural) if counts[symbol] > 1]
    colours = {symbol: _shade(number) for number, symbol in enumerate(repeated)}
    return {symbol: colours.get(symbol, PLAIN) for symbol in counts}


def ink_on(fill: str) -> str:
    """Return the colour in which letters are legible on a fill colour."""
    red, green, blue = (int(fill[at : at + 2], 16) for at in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 110 else PAPER


def fitting(text: str, width: float, max_size: float) -> float:
    """Return the font size with which a text fits into a width, at most ``max_size``."""
    return min(max_size, 1.5 * width / max(1, len(text)))


def tile(symbol: str, x: float, y: float, fill: str) -> Iterator[Shape]:
    """Yield the shapes of a tile with its symbol; the upper left corner of its square is ``(x, y)``."""
    yield Rectangle(x + 1.5, y + 1.5, SQUARE - 3, SQUARE - 3, fill, LINE, rounded=SQUARE / 9)
    yield Text(x + SQUARE / 2, y + SQUARE / 2, symbol, fitting(symbol, SQUARE - 10, SQUARE * 0.48), ink_on(fill))


def text_picture(drawing: str, letter: Callable[[str, float, float], Iterator[Shape]] | None = None) -> Picture:
    """Return a picture of a drawing in characters; box-drawing characters become lines, which do not depend on fonts.

    ``letter`` draws a letter or digit around the point ``(x, y)``; by default it is drawn as text.
    """
    lines, margin = drawing.split("\n"), COLUMN if letter is None else 0
    shapes = [
        shape
        for row, line in enumerate(lines)
        for one, end in zip(line, accumulate(map(cell_width, line)), strict=True)
        if not one.isspace()
        for shape in _character(one, margin + (end - cell_width(one) / 2) * COLUMN, (row + 0.5) * ROW, letter)
    ]
    return Picture(COLUMN * max(map(cell_width, lines)) + 2 * margin, ROW * len(lines), tuple(shapes))


def cell_width(text: str) -> int:
    """Return the number of columns that a text takes on a terminal: two for each wide character, such as a kanji."""
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in text)


def _character(
    one: str, x: float, y: float, letter: Callable[[str, float, float], Iterator[Shape]] | None
) -> Iterator[Shape]:
    if one in BOX:
        ends = {"l": (x - COLUMN / 2, y), "r": (x + COLUMN / 2, y), "u": (x, y - ROW / 2), "d": (x, y + ROW / 2)}
        for side in BOX[one]:
            yield Line(x, y, *ends[side], colour=LINE)
    elif letter is not None and one.isalnum():
        yield from letter(one, x, y)
    else:
        yield Text(x, y, one, COLUMN if one in WIDE_LETTERS else 1.25 * COLUMN)


def _shade(number: int) -> str:
    """Return a colour of the palette; numbers beyond its end give lighter versions of the same colours."""
    colour, lighter = PALETTE[number % len(PALETTE)], 0.55 ** (number // len(PALETTE))
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - part) * lighter):02x}" for part in parts)
