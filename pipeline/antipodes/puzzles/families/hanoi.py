"""The Towers of Hanoi: discs on pegs; a larger disc is never put on a smaller disc."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from antipodes.drawing.picture import INK, LINE, PALETTE, Line, Picture, Rectangle, Shape, Text, ink_on
from antipodes.puzzles.drafts import Form, form_of
from antipodes.puzzles.notation import Notation, symbols_in
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import MAX_PLACES, bounded_integer, identity, refuse_unknown, starts_in
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.rules.parts import Part, values
from antipodes_tasks.rules.transforms import MAX_MASKED, Transforms

EVERY_PEG = ~np.uint64(0)
MAX_MOVES = 1 << 16
"""Maximum number of moves (disc, origin and destination); a table that fits into memory has far fewer."""


def hanoi(settings: Mapping[str, Any]) -> Puzzle:
    """Return the puzzle of ``discs`` on ``pegs``, whose positions list the peg of each disc, the smallest disc first.

    All discs start on peg 0 unless ``start`` is given. A move is named after its two pegs: ``0-2``.
    """
    refuse_unknown(settings, {"pegs", "discs", "start"})
    pegs = bounded_integer(settings, "pegs", 2, MAX_MASKED, 3)
    discs = bounded_integer(settings, "discs", 1, MAX_PLACES)
    if discs * pegs * (pegs - 1) > MAX_MOVES:
        raise ConfigError(f"discs, pegs: expected at most {MAX_MOVES:,} moves, found {discs * pegs * (pegs - 1):,}")
    texts = starts_in(settings) if "start" in settings else ["0 " * discs]
    return Puzzle.of(
        **identity(settings),
        family="hanoi",
        notation=Towers(pegs, discs),
        parts=(values(discs, pegs),),
        starts=tuple(dict.fromkeys(_start(text, pegs, discs) for text in texts)),
        moves=_moves(pegs, discs),
    )


def _start(text: str, pegs: int, discs: int) -> tuple[int, ...]:
    written = symbols_in(text, discs)
    if len(written) != discs:
        raise ConfigError(f"start: expected the peg of each of {discs} discs, found {len(written)}")
    for peg in written:
        if not (peg.isdecimal() and peg.isascii() and int(peg) < pegs):
            raise ConfigError(f"start: expected pegs from 0 to {pegs - 1}, found {quote(peg)}")
    return tuple(map(int, written))


def _moves(pegs: int, discs: int) -> Transforms:
    """Return a move for each disc and ordered pair of pegs, which is legal if no smaller disc is on either peg."""
    names, added, allowed = zip(*_steps(pegs, discs), strict=True)
    return Transforms(names, np.tile(np.arange(discs), (len(names), 1)), [pegs] * discs, added, allowed)


def _steps(pegs: int, discs: int) -> Iterator[tuple[str, Any, Any]]:
    one = np.uint64(1)
    for disc in range(discs):
        for a, b in permutations(range(pegs), 2):
            added = np.zeros(discs, dtype=np.uint8)
            added[disc] = (b - a) % pegs
            allowed = np.full(discs, EVERY_PEG)
            allowed[:disc] = ~(one << np.uint64(a) | one << np.uint64(b))
            allowed[disc] = one << np.uint64(a)
            yield f"{a}-{b}", added, allowed


WIDEST = 8
"""Half the width of the largest disc in characters; if there are more discs, several sizes share one width."""
THICK = 24
"""Height of a disc in pictures."""
DISCS_IN_ROW = 6
"""Number of discs in a row of a form."""
PEG, DISC, BASE, FOOT = "│", "━", "─", "┴"


@dataclass(frozen=True, slots=True)
class Towers(Notation):
    """A notation that lists the peg of each disc, the smallest disc first: ``0 0 1 2``."""

    pegs: int
    discs: int

    def draw(self, symbols: Sequence[str]) -> str:
        """Draw the pegs side by side; the discs are numbered from 1 (the smallest)."""
        towers = [self._tower([d for d, on in enumerate(symbols) if on == str(peg)]) for peg in range(self.pegs)]
        lines = [" ".join(slices) for slices in zip(*towers, strict=True)]
        return "\n".join([*lines, BASE.join([self._line(FOOT, self._half, BASE)] * self.pegs)])

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Return a picture of the pegs side by side, with each disc in a different colour."""
        pitch, bottom = self._width(self.discs - 1) + 16, (self.discs + 1) * THICK
        shapes: list[Shape] = [Line(4, bottom + 2, self.pegs * pitch - 4, bottom + 2, INK, 4)]
        for peg in range(self.pegs):
            middle = (peg + 0.5) * pitch
            shapes.append(Line(middle, THICK / 2, middle, bottom, LINE, 6))
            for height, disc in enumerate(d for d in reversed(range(self.discs)) if symbols[d] == str(peg)):
                width, top, fill = self._width(disc), bottom - (height + 1) * THICK, PALETTE[disc % len(PALETTE)]
                shapes.append(Rectangle(middle - width / 2, top + 1, width, THICK - 2, fill, LINE, rounded=6))
                shapes.append(Text(middle, top + THICK / 2, str(disc + 1), THICK * 0.6, ink_on(fill)))
        return Picture(self.pegs * pitch, bottom + 6, tuple(shapes))

    def form(self, parts: Sequence[Part]) -> Form:
        """Return the form with a field for the peg of each disc, the smallest disc first."""
        names = [f"disc {disc + 1}" for disc in range(self.discs)]
        squares = [divmod(disc, DISCS_IN_ROW) for disc in range(self.discs)]
        return form_of(parts, names, squares, {str(peg): f"peg {peg}" for peg in range(self.pegs)})

    @staticmethod
    def _width(disc: int) -> float:
        return 34 + 16 * disc

    @property
    def _half(self) -> int:
        """Half the width of a tower."""
        return min(WIDEST, self.discs) + len(str(self.discs)) // 2 + 1

    def _tower(self, discs: Sequence[int]) -> list[str]:
        """Return the lines of one peg, from the top."""
        bare = [self._line(PEG, 0)] * (self.discs + 1 - len(discs))
        halves = [1 + disc * min(WIDEST, self.discs) // self.discs + len(str(self.discs)) // 2 for disc in discs]
        return bare + [self._line(str(disc + 1), half) for disc, half in zip(discs, halves, strict=True)]

    def _line(self, centre: str, half: int, filling: str = DISC) -> str:
        """Return a line of a tower: a bar that extends ``half`` characters to both sides of its centre."""
        return centre.center(2 * half + 1, filling).center(2 * self._half + 1)
