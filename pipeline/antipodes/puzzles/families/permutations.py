"""Pancakes, TopSpin, and helpers for other puzzles whose moves permute a row of pieces."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from antipodes.drawing.picture import (
    INK,
    LINE,
    Disc,
    Line,
    Picture,
    Rectangle,
    Shape,
    Text,
    colours_of,
    fitting,
    ink_on,
)
from antipodes.puzzles.drafts import VALUES, Form, FormGroup, FormSymbol, form_of
from antipodes.puzzles.notation import Notation, check_symbols, symbols_in
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import MAX_SYMBOLS, bounded_integer, identity, refuse_unknown, starts_in, to_labels
from antipodes_tasks.base.errors import ConfigError, PositionError
from antipodes_tasks.base.quoting import counted, quote
from antipodes_tasks.base.values import SYMBOL, natural
from antipodes_tasks.rules.parts import Part, pieces, values
from antipodes_tasks.rules.transforms import Transforms

Starts = list[list[str]]
Origins = dict[str, list[int]]


def pancake(settings: Mapping[str, Any]) -> Puzzle:
    """Return the puzzle of a stack of ``n`` pancakes, or of the stack ``start``, in which pancakes may be identical.

    A move turns over the topmost pancakes and is named after their number.
    """
    refuse_unknown(settings, {"n", "start"})
    starts = row_starts(settings, 1)
    size = len(starts[0])
    if size < 2:
        raise ConfigError("start: expected at least 2 pancakes, found 1")
    flips = {str(n): [*range(n - 1, -1, -1), *range(n, size)] for n in range(2, size + 1)}
    return _puzzle(settings, starts, flips, Pancakes(symbols_of(starts)))


def topspin(settings: Mapping[str, Any]) -> Puzzle:
    """Return the puzzle of a ring of ``n`` pieces, or of the ring ``start``, with a turntable for ``k`` pieces.

    ``L`` and ``R`` rotate all pieces by one place to the left or right; ``X`` reverses the first ``k`` pieces. The
    default of ``k`` is 4.
    """
    refuse_unknown(settings, {"n", "k", "start"})
    starts = row_starts(settings, 1)
    size = len(starts[0])
    k = bounded_integer(settings, "k", 2, size, 4)
    moves = {
        "L": [*range(1, size), 0],
        "R": [size - 1, *range(size - 1)],
        "X": [*range(k - 1, -1, -1), *range(k, size)],
    }
    return _puzzle(settings, starts, moves, Ring(k))


def row_starts(settings: Mapping[str, Any], first: int) -> Starts:
    """Return the symbols of each ``start``, or of ``n`` different pieces numbered from ``first``."""
    if "start" not in settings:
        if "n" not in settings:
            raise ConfigError("[puzzle]: the key 'n' or 'start' is missing")
        n = bounded_integer(settings, "n", 1, MAX_SYMBOLS)
        return [[str(number) for number in range(first, first + n)]]
    starts = [_symbols(text) for text in starts_in(settings)]
    if settings.get("n", len(starts[0])) != len(starts[0]):
        raise ConfigError(f"[puzzle] n: start has {len(starts[0])} pieces, but n is {quote(settings['n'])}")
    for start in starts:
        if len(start) != len(starts[0]):
            raise ConfigError(
                f"start: expected {counted(len(starts[0]), 'symbol')} in every position, found {len(start)}"
            )
        for symbol in start:
            SYMBOL.check(symbol, "start")
    return starts


def _symbols(text: str) -> list[str]:
    """Return the symbols of a start; in a single word, each character is a symbol."""
    written = symbols_in(text)
    return list(written[0]) if len(written) == 1 else written


def symbols_of(starts: Starts) -> tuple[str, ...]:
    """Return the distinct symbols in natural order (numbers by value)."""
    return tuple(sorted(set(starts[0]), key=natural))


def row_puzzle(settings: Mapping[str, Any], starts: Starts, moves: Transforms, notation: Notation) -> Puzzle:
    """Return the puzzle of a row of pieces with these starts and moves."""
    symbols = symbols_of(starts)
    labels = to_labels(starts, symbols)
    parts = [pieces(labels[0], symbols)]
    return Puzzle.of(
        **identity(settings), family=settings["family"], notation=notation, parts=parts, starts=labels, moves=moves
    )


def _puzzle(
    settings: Mapping[str, Any], starts: Starts, origins: Mapping[str, Sequence[int]], notation: Notation
) -> Puzzle:
    return row_puzzle(settings, starts, Transforms.permuting(origins, len(set(starts[0]))), notation)


def burnt_pancake(settings: Mapping[str, Any]) -> Puzzle:
    """Return the puzzle of a stack of ``n`` pancakes that start with the burnt side down.

    A move turns over the topmost pancakes together, so the burnt side of each of them changes between up and down. The
    move is named after their number.
    """
    refuse_unknown(settings, {"n"})
    n = bounded_integer(settings, "n", 1, MAX_SYMBOLS)
    stack, symbols = tuple(range(n)), tuple(str(number) for number in range(1, n + 1))
    flipped = np.tri(n, dtype=np.uint8)
    origin = np.where(flipped == 1, np.arange(n)[:, np.newaxis] - np.arange(n), np.arange(n))
    moves = Transforms(
        names=[str(count) for count in range(1, n + 1)],
        origin=np.concatenate((origin, n + origin), axis=1),
        moduli=[n] * n + [2] * n,
        added=np.concatenate((np.zeros_like(flipped), flipped), axis=1),
    )
    return Puzzle.of(
        **identity(settings),
        family="burnt-pancake",
        notation=BurntPancakes(n, symbols),
        parts=(pieces(stack, symbols), values(n, 2, twists=True)),
        starts=(stack + (0,) * n,),
        moves=moves,
    )


WIDEST = 24
"""Half the width of the largest pancake in characters; in higher stacks, several sizes share one width."""
BURNT_UP = "-"
PLAIN, BURNT_BELOW, BURNT_ABOVE = " ", "▁", "▔"
DOUGH, BURNT = "#f0c98b", "#6b4226"
THICK, NARROWEST, WIDER = 26, 60, 22
"""Height of a pancake in pictures, width of the smallest pancake, and difference in width between adjacent sizes."""
SIGNED = re.compile(r"-?[^-]")


@dataclass(frozen=True, slots=True)
class Pancakes(Notation):
    """A notation that lists a stack of pancakes from top to bottom: ``3 1 2``."""

    sizes: tuple[str, ...]
    """The symbols of the pancakes, the smallest first."""

    def form(self, parts: Sequence[Part]) -> Form:
        """Return the form with the pancakes below each other, from the top down."""
        names = [f"pancake {k} from the top" for k in range(1, parts[0].places + 1)]
        return form_of(parts, names, [(row, 0) for row in range(parts[0].places)])

    def draw(self, symbols: Sequence[str]) -> str:
        """Draw the stack on its plate, with a line for each pancake."""
        return _stack([(symbol, PLAIN) for symbol in symbols], self.sizes)

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Return a picture of the stack on its plate."""
        return _pictured([(symbol, PLAIN) for symbol in symbols], self.sizes)


@dataclass(frozen=True, slots=True)
class BurntPancakes(Notation):
    """A notation that lists a stack of pancakes from top to bottom: ``1 -2 3``; a minus means burnt side up.

    It also reads two lists, ``1 2 3 / 0 1 0``: the pancakes, and 1 for each pancake with the burnt side up. The symbols
    of a position are these two lists.
    """

    pancakes: int
    sizes: tuple[str, ...]
    """The symbols of the pancakes, the smallest first."""

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """Return the pancakes from the top, followed by 0 or 1 for each; see `Notation`."""
        signed = self._signed(text)
        if len(signed) != self.pancakes:
            return self._two_lists(text, parts, len(signed))
        pancakes = [symbol.removeprefix(BURNT_UP) for symbol in signed]
        check_symbols(pancakes, parts[0].symbols)
        return pancakes + ["1" if symbol.startswith(BURNT_UP) else "0" for symbol in signed]

    def _signed(self, text: str) -> list[str]:
        words = [token for token in re.split(r"[\s,/]+", text) if token]
        joined = SIGNED.findall("".join(words))
        single = all(len(symbol) == 1 for symbol in self.sizes)
        return joined if single and len(words) != self.pancakes and len(joined) == self.pancakes else words

    def _two_lists(self, text: str, parts: Sequence[Part], found: int) -> list[str]:
        try:
            return Notation.split(self, text, parts)
        except PositionError:
            if found == 2 * self.pancakes:
                raise
            raise PositionError(f"expected {self.pancakes} pancakes such as 1 or -1, found {found}") from None

    def join(self, symbols: Sequence[str]) -> str:
        """Return one line of text, with a minus before each pancake whose burnt side is up."""
        return " ".join((BURNT_UP if up == "1" else "") + symbol for symbol, up in self._pairs(symbols))

    def form(self, parts: Sequence[Part]) -> Form:
        """Return the form with the pancakes from the top down, and a field for the burnt side next to each pancake."""
        rows = range(self.pancakes)
        names = [f"pancake {row + 1} from the top" for row in rows] + [
            f"burnt side of pancake {row + 1}" for row in rows
        ]
        form = form_of(parts, names, [*((row, 0) for row in rows), *((row, 1) for row in rows)])
        sides = (FormSymbol("0", "down", None, None), FormSymbol("1", "up", None, BURNT))
        return replace(form, groups=(form.groups[0], FormGroup(VALUES, sides)))

    def draw(self, symbols: Sequence[str]) -> str:
        """Draw the stack on its plate, with a line along each pancake's burnt side."""
        return _stack(self._sides(symbols), self.sizes)

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Return a picture of the stack on its plate, with dark burnt sides."""
        return _pictured(self._sides(symbols), self.sizes)

    def _sides(self, symbols: Sequence[str]) -> list[tuple[str, str]]:
        """Return each pancake, from the top, with the fill character that shows its burnt side."""
        sides = {"0": BURNT_BELOW, "1": BURNT_ABOVE}
        return [(symbol, sides[up]) for symbol, up in self._pairs(symbols)]

    def _pairs(self, symbols: Sequence[str]) -> list[tuple[str, str]]:
        return list(zip(symbols[: self.pancakes], symbols[self.pancakes :], strict=True))


def _stack(pancakes: Sequence[tuple[str, str]], sizes: Sequence[str]) -> str:
    """Draw pancakes ``(symbol, filling)``, given from the top."""
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
    """Return a picture of pancakes ``(symbol, filling)``, given from the top."""
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


DISC = 18
"""Radius of a piece in pictures."""


@dataclass(frozen=True, slots=True)
class Ring(Notation):
    """A notation that lists the pieces of a ring clockwise, starting with the turntable: ``1 2 3 4 5 6``."""

    turntable: int
    """Number of pieces on the turntable."""

    def draw(self, symbols: Sequence[str]) -> str:
        """Draw the ring as a loop, with the turntable in the upper half and the other pieces in the lower half."""
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
        """Return a picture of discs on a circle; the discs on the turntable, at the top, have a dark border."""
        radius = max(2 * DISC, DISC * len(symbols) / math.pi * 1.15)
        centre = radius + 1.3 * DISC
        colours = colours_of(symbols)
        shapes: list[Shape] = [Disc(centre, centre, radius, "none", LINE)]
        for place, symbol in enumerate(symbols):
            turn = 2 * math.pi * (place - (self.turntable - 1) / 2) / len(symbols)
            x, y = centre + radius * math.sin(turn), centre - radius * math.cos(turn)
            if place < self.turntable:
                shapes.append(Disc(x, y, 1.2 * DISC, INK))
            shapes.append(Disc(x, y, DISC, colours[symbol], LINE))
            shapes.append(Text(x, y, symbol, fitting(symbol, 1.4 * DISC, DISC), ink_on(colours[symbol])))
        return Picture(2 * centre, 2 * centre, tuple(shapes))
