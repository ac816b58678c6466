"""Twisty puzzles: orbits of pieces with orientations, as files of other programs define them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.formats.definition import METRICS, Orbit, Turn, TwistyDefinition, expand, with_moves, without
from antipodes.puzzles.formats.gap import read_gap
from antipodes.puzzles.formats.kpuzzle import read_kpuzzle
from antipodes.puzzles.formats.tws import read_tws
from antipodes.puzzles.notation import Lists, Notation, rectangle
from antipodes.puzzles.picture import LINE, PALETTE, Picture, Rectangle, Shape, text_picture
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import identity, refuse_unknown, text
from antipodes_tasks.arguments import GREATEST
from antipodes_tasks.errors import ConfigError
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.rules.parts import Part, moduli_of, pieces, values
from antipodes_tasks.rules.transforms import Transforms

FORMATS: Mapping[str, tuple[Callable[[str], TwistyDefinition], int]] = {
    "tws": (read_tws, 1),
    "kpuzzle": (read_kpuzzle, 0),
    "gap": (read_gap, 1),
}
"""For each format the function that reads a file, whose ConfigError says what is wrong and where, and the number from
which the format counts pieces."""
HALF = METRICS[0]
WASTE = 4
"""Contents per position up to which all contents are numbered, since a list of the positions takes longer."""
MOST_LISTED = 1 << 24
"""Positions that can be listed; see `antipodes_tasks.reachability.enumeration`."""


def twisty(settings: Mapping[str, Any]) -> Puzzle:
    """The puzzle of a ``definition`` in a ``format``: the text of a file, which a config names by ``file``.

    ``turns`` says which of them are moves: "half", "quarter" or "single"; see `expand`. With ``only_moves`` these turns
    alone are, and sets to ``omit`` are left out. A ``net`` draws positions, and its ``facelets`` say what its letters
    show; see `net_of`.

    ConfigError where a key is unknown, missing or out of range, or the definition is not one; the message says where.
    """
    refuse_unknown(settings, {"file", "definition", "format", "turns", "only_moves", "omit", "net", "facelets"})
    if "file" in settings:
        raise ConfigError("[puzzle] file: expected in a config that is a file, found in settings: give definition")
    kind = text(settings, "format")
    if kind not in FORMATS:
        raise ConfigError(f"[puzzle] format: expected one of {', '.join(FORMATS)}, found {quote(kind)}")
    read, first_label = FORMATS[kind]
    definition = read(text(settings, "definition"))
    if "only_moves" in settings:
        definition = with_moves(definition, text(settings, "only_moves"))
    if "omit" in settings:
        definition = without(definition, text(settings, "omit").split())
    return puzzle_of(definition, settings, first_label)


def puzzle_of(definition: TwistyDefinition, settings: Mapping[str, Any], first_label: int) -> Puzzle:
    """The puzzle of a definition, with the name and the ``turns`` of the settings."""
    moves = expand(definition.turns, text(settings, "turns", HALF), definition.others)
    others = {name: turn for name, turn in {**definition.turns, **definition.others}.items() if name not in moves}
    parts = list(chain.from_iterable(_parts(orbit, first_label) for orbit in definition.orbits))
    start = tuple(chain.from_iterable((*orbit.pieces, *_twists(orbit, orbit.twists)) for orbit in definition.orbits))
    notation: Notation = Lists(tuple(part.places for part in parts))
    if "net" in settings or "facelets" in settings:
        notation = net_of(text(settings, "net"), text(settings, "facelets"), parts, start)
    return Puzzle.of(
        **identity(settings),
        family=settings["family"],
        notation=notation,
        parts=tuple(parts),
        starts=(start,),
        moves=transforms(definition, moves, parts),
        sequence_moves=transforms(definition, others, parts) if others else None,
        enumerated=_is_mostly_impossible(definition.orbits, parts) or _is_bandaged(definition),
    )


def _is_mostly_impossible(orbits: tuple[Orbit, ...], parts: list[Part]) -> bool:
    """Whether few of the contents of the parts are positions, so few that these are better listed; see `orbit_from`."""
    if all(orbit.contents is None for orbit in orbits):
        return False
    numbered = prod(part.size for part in parts)
    possible = prod(
        prod(part.size for part in _parts(orbit, 0)) if orbit.contents is None else orbit.contents for orbit in orbits
    )
    return possible * WASTE < numbered and (possible <= MOST_LISTED or numbered > GREATEST)


def _is_bandaged(definition: TwistyDefinition) -> bool:
    """Whether conditions keep orbits in one piece that are too large for move tables: few positions can be reached."""
    pieces = prod(_parts(definition.orbits[number], 0)[0].size for number in {orbit for orbit, _ in definition.illegal})
    return pieces > MOST_LISTED


def transforms(definition: TwistyDefinition, moves: Mapping[str, Turn], parts: list[Part]) -> Transforms:
    """The turns as transforms of the places of all parts, legal where illegal pieces are neither before nor after."""
    origin = np.array([_origin(definition.orbits, turn) for turn in moves.values()])
    added = [_added(definition.orbits, turn) for turn in moves.values()]
    allowed = None
    if definition.illegal:
        before = _legal_labels(definition, parts)
        after = np.empty_like(origin, dtype=np.uint64)
        np.put_along_axis(after, origin, np.tile(before, (len(origin), 1)), axis=1)
        allowed = before & after
    return Transforms(moves, origin, moduli_of(parts), added, allowed)


def _legal_labels(definition: TwistyDefinition, parts: list[Part]) -> NDArray[np.uint64]:
    """The labels that each place may have, as bits."""
    every = np.full(sum(part.places for part in parts), ~np.uint64(0))
    firsts, first = [], 0
    for orbit in definition.orbits:
        firsts.append(first)
        first += sum(part.places for part in _parts(orbit, 0))
    for (number, place), labels in definition.illegal.items():
        for label in labels:
            every[firsts[number] + place] &= ~(np.uint64(1) << np.uint64(label))
    return every


def _parts(orbit: Orbit, first_label: int) -> list[Part]:
    """The pieces of an orbit and, if it has any, their orientations."""
    places = len(orbit.pieces)
    symbols = tuple(str(label + first_label) for label in range(max(orbit.pieces) + 1))
    parts = [pieces(orbit.pieces, symbols, orbit.name)]
    return [*parts, values(places, orbit.orientations, True, orbit.name)] if orbit.orientations > 1 else parts


def _twists(orbit: Orbit, twists: tuple[int, ...]) -> tuple[int, ...]:
    return twists if orbit.orientations > 1 else ()


def _origin(orbits: tuple[Orbit, ...], turn: Turn) -> list[int]:
    origin: list[int] = []
    for orbit, permutation in zip(orbits, turn.permutations, strict=True):
        for _ in range(2 if orbit.orientations > 1 else 1):
            first = len(origin)
            origin += [first + place for place in permutation]
    return origin


def _added(orbits: tuple[Orbit, ...], turn: Turn) -> list[int]:
    added: list[int] = []
    for orbit, twist in zip(orbits, turn.twists, strict=True):
        added += [0] * len(orbit.pieces) + [*_twists(orbit, twist)]
    return added


LETTER = re.compile(r"[^\W_]")
FACELET = re.compile(r"([a-z])(\d{1,4})\.(\d{1,2})")
FIXED = "-"
STICKERS = {
    "W": "#ffffff", "Y": "#ffd500", "O": "#ff8a1f", "R": "#c8202f", "G": "#00955c", "B": "#0b5bc1",
}  # fmt: skip
"""The colours of the letters that usually stand for them; others take a palette."""
MOST_CHARACTERS = 1 << 14
"""Characters of a picture: more than a screen shows."""


@dataclass(frozen=True, slots=True)
class Facelet:
    """A letter of the picture, and the facelet behind it."""

    line: int
    column: int
    orbit: int
    place: int
    number: int
    """The facelets of a place count clockwise; a piece of twist ``t`` shows its facelet 0 ``t`` orientations on."""


@dataclass(frozen=True, slots=True)
class FaceletOrbit:
    """Where a position has the pieces of an orbit and their twists, and how many facelets a piece shows."""

    first_piece: int
    places: int
    first_twist: int | None
    """None: the pieces have no orientation."""
    orientations: int
    facelets: int

    def on_piece(self, symbols: Sequence[str], facelet: Facelet) -> tuple[str, int]:
        """The piece that a facelet shows in a position, and which of the piece's facelets."""
        twist = 0 if self.first_twist is None else int(symbols[self.first_twist + facelet.place])
        number = facelet.number - twist * (self.facelets // self.orientations)
        return symbols[self.first_piece + facelet.place], number % self.facelets


@dataclass(frozen=True, slots=True)
class Net(Lists):
    """Lists of pieces and twists, drawn as a net; see `net_of`."""

    picture_of_start: tuple[str, ...]
    facelets: tuple[Facelet, ...]
    orbits: tuple[FaceletOrbit, ...]
    colours: tuple[Mapping[tuple[str, int], str], ...] = field(hash=False)
    """For each orbit the letter of each piece's facelets."""

    def draw(self, symbols: Sequence[str]) -> str:
        """The picture, with the letter that each facelet shows."""
        lines = [list(line) for line in self.picture_of_start]
        for one in self.facelets:
            lines[one.line][one.column] = self.colours[one.orbit][self.orbits[one.orbit].on_piece(symbols, one)]
        return rectangle(["".join(line) for line in lines])

    def picture(self, symbols: Sequence[str]) -> Picture:
        """The net with a coloured square for each letter."""
        letters = sorted(set(filter(LETTER.match, "".join(self.picture_of_start))) - STICKERS.keys())
        others = {letter: PALETTE[number % len(PALETTE)] for number, letter in enumerate(letters)}

        def sticker(letter: str, x: float, y: float) -> Iterator[Shape]:
            yield Rectangle(x - 10, y - 10, 20, 20, STICKERS.get(letter) or others[letter], LINE, rounded=3)

        return text_picture(self.draw(symbols), sticker)


def net_of(picture: str, facelets: str, parts: Sequence[Part], start: Sequence[int]) -> Net:
    """The net whose picture of the start shows the colours by letters.

    ``facelets`` says of each letter, in reading order, what it shows: ``b3.1`` is facelet 1 on place 3 of the second
    orbit (places and facelets count from 0), ``-`` is no facelet: the letter never changes.

    ConfigError where there are more letters than facelets, or fewer, or facelets that the puzzle does not have, or a
    piece without a letter for one of its facelets; the message says which.
    """
    if len(picture) > MOST_CHARACTERS:
        raise ConfigError(f"[puzzle] net: expected at most {MOST_CHARACTERS:,} characters, found {len(picture):,}")
    lines = tuple(line.rstrip() for line in picture.rstrip().split("\n"))
    if not all(line.isprintable() for line in lines):
        raise ConfigError(
            "[puzzle] net: expected letters, blanks and lines that can be printed, found another character"
        )
    sizes = [part.places for part in parts if not part.twists]
    shown = tuple(_facelets(lines, facelets.split(), sizes))
    orbits = tuple(_orbits(parts, shown))
    colours = _colours(lines, shown, orbits, tuple(_symbols(parts, start)))
    return Net(tuple(part.places for part in parts), lines, shown, orbits, colours)


def _facelets(lines: Sequence[str], tokens: Sequence[str], sizes: Sequence[int]) -> Iterator[Facelet]:
    """What the letters of the picture show; fixed letters are left out."""
    letters = [(line, found.start()) for line, text in enumerate(lines) for found in LETTER.finditer(text)]
    if not letters:
        raise ConfigError("[puzzle] net: expected a letter for each facelet, found none")
    if len(letters) != len(tokens):
        raise ConfigError(f"[puzzle] facelets: expected {len(letters)}, one per letter of net, found {len(tokens)}")
    for (line, column), token in zip(letters, tokens, strict=True):
        if token != FIXED:
            yield Facelet(line, column, *_facelet(token, sizes))


def _facelet(token: str, sizes: Sequence[int]) -> tuple[int, int, int]:
    """The orbit, the place and the number that a token names."""
    found = FACELET.fullmatch(token)
    if found is None:
        raise ConfigError(f"[puzzle] facelets: expected facelets such as a0.1, found {quote(shorten(token))}")
    orbit, place = ord(found[1]) - ord("a"), int(found[2])
    if orbit >= len(sizes):
        raise ConfigError(f"[puzzle] facelets: expected {len(sizes)} orbits, from a on, found {quote(token)}")
    if place >= sizes[orbit]:
        expected = f"{found[1]}0 to {found[1]}{sizes[orbit] - 1}"
        raise ConfigError(f"[puzzle] facelets: expected places {expected}, found {quote(token)}")
    return orbit, place, int(found[3])


def _orbits(parts: Sequence[Part], shown: Sequence[Facelet]) -> Iterator[FaceletOrbit]:
    """The orbits of a puzzle: each part of pieces, with the twists that may follow."""
    ends = list(accumulate((part.places for part in parts), initial=0))
    numbers = [k for k, part in enumerate(parts) if not part.twists]
    for number, k in enumerate(numbers):
        twists = k + 1 if k + 1 < len(parts) and parts[k + 1].twists else None
        orientations = 1 if twists is None else len(parts[twists].symbols)
        facelets = 1 + max((one.number for one in shown if one.orbit == number), default=orientations - 1)
        if facelets % orientations:
            letter = chr(ord("a") + number)
            raise ConfigError(
                f"[puzzle] facelets: expected a multiple of {orientations} facelets per piece of orbit {letter}, "
                f"found {facelets}"
            )
        yield FaceletOrbit(ends[k], parts[k].places, None if twists is None else ends[twists], orientations, facelets)


def _symbols(parts: Sequence[Part], labels: Sequence[int]) -> Iterator[str]:
    """The symbol on each place."""
    remaining = iter(labels)
    for part in parts:
        for _ in range(part.places):
            yield part.symbols[next(remaining)]


def _colours(
    lines: Sequence[str], shown: Sequence[Facelet], orbits: Sequence[FaceletOrbit], start: Sequence[str]
) -> tuple[dict[tuple[str, int], str], ...]:
    """For each orbit the letter of each piece's facelets, from the picture of the start."""
    colours: tuple[dict[tuple[str, int], str], ...] = tuple({} for _ in orbits)
    for one in shown:
        letter, key = lines[one.line][one.column], orbits[one.orbit].on_piece(start, one)
        known = colours[one.orbit].setdefault(key, letter)
        if known != letter:
            raise ConfigError(
                f"[puzzle] net: expected one letter for each facelet of a piece, found {known} and {letter}"
            )
    for number, (orbit, found) in enumerate(zip(orbits, colours, strict=True)):
        expected = orbit.facelets * len(set(start[orbit.first_piece : orbit.first_piece + orbit.places]))
        if found and len(found) != expected:
            letter = chr(ord("a") + number)
            raise ConfigError(
                f"[puzzle] facelets: expected {expected} of orbit {letter}, all of each piece, found {len(found)}"
            )
    return colours
