"""Pancakes, TopSpin, and permutations of a user's own: pieces in a row that moves permute."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from antipodes.puzzles.drafts import VALUES, Form, FormGroup, FormSymbol, form_of
from antipodes.puzzles.notation import Notation, check_symbols, symbols_in
from antipodes.puzzles.picture import (
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
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import MAX_SYMBOLS, bounded_integer, identity, refuse_unknown, starts_in, to_labels
from antipodes_tasks.errors import ConfigError, PositionError
from antipodes_tasks.quoting import counted, quote
from antipodes_tasks.rules.parts import Part, pieces, values
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.values import SYMBOL, natural

Starts = list[list[str]]
Origins = dict[str, list[int]]


def pancake(settings: Mapping[str, Any]) -> Puzzle:
    """A stack of ``n`` pancakes, or the ``start``, in which some may be equal; a move turns over the topmost ones.

    A move is named after the number of pancakes that it turns over.
    """
    refuse_unknown(settings, {"n", "start"})
    starts = row_starts(settings, 1)
    size = len(starts[0])
    if size < 2:
        raise ConfigError("expected at least 2 pancakes, found 1")
    flips = {str(n): [*range(n - 1, -1, -1), *range(n, size)] for n in range(2, size + 1)}
    return _puzzle(settings, starts, flips, Pancakes(symbols_of(starts)))


def topspin(settings: Mapping[str, Any]) -> Puzzle:
    """A ring of ``n`` pieces, or the ``start``, and a turntable for ``k`` of them, by default 4.

    ``L`` and ``R`` rotate all pieces by one place, to the left or to the right; ``X`` reverses the first ``k``.
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
    """The symbols of each start: of the key ``start``, else those of ``n`` different pieces, counted from ``first``."""
    if "start" not in settings:
        if "n" not in settings:
            raise ConfigError("[puzzle]: expected the key n or start, found neither")
        n = bounded_integer(settings, "n", 1, MAX_SYMBOLS)
        return [[str(number) for number in range(first, first + n)]]
    starts = [_symbols(text) for text in starts_in(settings)]
    if settings.get("n", len(starts[0])) != len(starts[0]):
        raise ConfigError(f"[puzzle] n: expected {len(starts[0])}, the pieces of start, found {quote(settings['n'])}")
    for start in starts:
        if len(start) != len(starts[0]):
            raise ConfigError(
                f"start: expected {counted(len(starts[0]), 'symbol')} in every position, found {len(start)}"
            )
        for symbol in start:
            SYMBOL.check(symbol, "start")
    return starts


def _symbols(text: str) -> list[str]:
    """The symbols of a start; a single word of several characters is as many symbols."""
    written = symbols_in(text)
    return list(written[0]) if len(written) == 1 else written


def symbols_of(starts: Starts) -> tuple[str, ...]:
    """The different symbols, numbers by value."""
    return tuple(sorted(set(starts[0]), key=natural))


def row_puzzle(settings: Mapping[str, Any], starts: Starts, moves: Transforms, notation: Notation) -> Puzzle:
    """The puzzle of pieces in a row with these starts and moves."""
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
    """A stack of ``n`` pancakes, burnt side down; a move turns over the topmost ones, each of them included.

    A move is named after the number of pancakes that it turns over.
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

    sizes: tuple[str, ...]
    """The symbols of the pancakes, the smallest first."""

    def form(self, parts: Sequence[Part]) -> Form:
        """The pancakes from the top, one below the other."""
        names = [f"pancake {k} from the top" for k in range(1, parts[0].places + 1)]
        return form_of(parts, names, [(row, 0) for row in range(parts[0].places)])

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
            return Notation.split(self, text, parts)
        except PositionError:
            if found == 2 * self.pancakes:
                raise
            raise PositionError(f"expected {self.pancakes} pancakes such as 1 or -1, found {found}") from None

    def join(self, symbols: Sequence[str]) -> str:
        """One line of text, with a minus before each pancake that lies burnt side up."""
        return " ".join((BURNT_UP if up == "1" else "") + symbol for symbol, up in self._pairs(symbols))

    def form(self, parts: Sequence[Part]) -> Form:
        """The pancakes from the top, one below the other, with the side that each lies on beside it."""
        rows = range(self.pancakes)
        names = [f"pancake {row + 1} from the top" for row in rows] + [
            f"burnt side of pancake {row + 1}" for row in rows
        ]
        form = form_of(parts, names, [*((row, 0) for row in rows), *((row, 1) for row in rows)])
        sides = (FormSymbol("0", "down"), FormSymbol("1", "up", colour=BURNT))
        return replace(form, groups=(form.groups[0], FormGroup(VALUES, sides)))

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


DISC = 18
"""The radius of a piece in pictures."""


@dataclass(frozen=True, slots=True)
class Ring(Notation):
    """Pieces around a ring, ``1 2 3 4 5 6``: clockwise, those on the turntable first."""

    turntable: int
    """The number of pieces on the turntable, at most all."""

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
