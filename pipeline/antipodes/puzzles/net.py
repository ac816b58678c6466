"""Nets: pictures of unfolded puzzles, which show a position by the colours of its facelets."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from antipodes.drawing.picture import PALETTE, Picture
from antipodes.puzzles.drafts import Form
from antipodes.puzzles.facelet_form import facelet_form
from antipodes.puzzles.facelets import (
    LETTER,
    Facelet,
    FaceletOrbit,
    FaceletSpelling,
    OfPiece,
    Reader,
    check_size,
    letters_in,
)
from antipodes.puzzles.kpatterns import CUBE, Pieces, cube_facelets
from antipodes.puzzles.net_picture import net_picture
from antipodes.puzzles.notation import Lists, rectangle
from antipodes_tasks.base.errors import ConfigError, PositionError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.properties.solvability import wrong_sum
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.rules import Rules

FACELET = re.compile(r"([a-z])(\d{1,4})\.(\d{1,2})")
FACE = re.compile(r"[^\W\d_]:[^\W_]")
FIXED = "-"
CUBE_FACES = set("URFDLB")
STICKERS = {
    "W": "#ffffff", "Y": "#ffd500", "O": "#ff8a1f", "R": "#c8202f", "G": "#00955c", "B": "#0b5bc1",
}  # fmt: skip
"""Colours of the letters that conventionally abbreviate them; other letters get colours from the palette."""
MAX_CHARACTERS = 1 << 14
"""Maximum number of characters of a picture, which is more than a screen shows."""


@dataclass(frozen=True)
class Net(Lists):
    """A notation that draws positions as a net and reads lists of symbols or the letters of a net; see `net_of`."""

    picture_of_start: tuple[str, ...]
    facelets: tuple[Facelet, ...]
    orbits: tuple[FaceletOrbit, ...]
    colours: tuple[OfPiece, ...] = field(hash=False)
    """For each orbit, the letter of each facelet of each piece."""
    faces: tuple[tuple[str, str], ...] = ()
    """For each face, its letter in the texts of other programs and the picture's letter for its colour, in the order in
    which other programs list the faces; empty if the puzzle does not define this."""
    rules: Rules | None = field(default=None, compare=False, repr=False)
    """Rules of the puzzle, to check invariants of the moves; None until the puzzle has been created."""

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """Return the symbol on each place, from lists or from the letters of all facelets, as drawn or face by face.

        Also raises PositionError if parities or sums of orientations prove that the position is unreachable.
        """
        if not any(map(str.isalpha, text)):
            return super().split(text, parts)
        letters = self._as_drawn(letters_in(text, "".join(self.picture_of_start)))
        check_size(letters, len(self.letters))
        try:
            symbols = self._reader(letters).symbols(letters)
        except PositionError as error:
            raise PositionError(f"{error}{self._hint(letters)}") from None
        if self.rules is not None:
            check_reached(self.rules, symbols)
        return symbols

    def of_kpattern(self, found: Mapping[str, Pieces], parts: Sequence[Part]) -> list[str]:
        """Return the symbol on each place; pieces of cubes are identified by the faces that they show."""
        is_cube = {face for face, _ in self.faces} == CUBE_FACES
        if is_cube and all(len(found.get(name, ())) in (0, len(names.split())) for name, names in CUBE.items()):
            letters = self._cube_letters(cube_facelets(found))
            symbols = self._reader(letters).symbols(letters)
        else:
            symbols = super().of_kpattern(found, parts)
        if self.rules is not None:
            check_reached(self.rules, symbols)
        return symbols

    def _cube_letters(self, shown: Mapping[tuple[str, frozenset[str]], str]) -> list[str]:
        """Return the letters of the picture for a cube whose facelets show these faces."""
        letter_of = dict(self.faces)
        face_of = {letter: face for face, letter in self.faces}
        at = {(line, column): face_of[letter] for line, column, letter in self.letters}
        faces = defaultdict[tuple[int, int], set[str]](set)
        for one in self.facelets:
            faces[one.orbit, one.place].add(at[one.line, one.column])
        now = {(line, column): letter for line, column, letter in self.letters}
        for one in self.facelets:
            facelet = at[one.line, one.column], frozenset(faces[one.orbit, one.place])
            now[one.line, one.column] = letter_of[shown[facelet]]
        return list(now.values())

    def draw(self, symbols: Sequence[str]) -> str:
        """Draw the picture with the letter that each facelet shows."""
        lines = [list(line) for line in self.picture_of_start]
        for one in self.facelets:
            lines[one.line][one.column] = self.colours[one.orbit][self.orbits[one.orbit].on_piece(symbols, one)]
        return rectangle(["".join(line) for line in lines])

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Return a picture of the net with a coloured sticker for each letter."""
        colours = self.sticker_colours
        shown = {(line, column): colours[letter] for line, column, letter in _letters(self.draw(symbols).split("\n"))}
        return net_picture(self.picture_of_start, shown)

    @property
    def sticker_colours(self) -> Mapping[str, str]:
        """The colour of the sticker of each letter."""
        letters = sorted({letter for _, _, letter in self.letters})
        others = [letter for letter in letters if letter not in STICKERS]
        palette = {letter: PALETTE[number % len(PALETTE)] for number, letter in enumerate(others)}
        return {letter: STICKERS.get(letter) or palette[letter] for letter in letters}

    def form(self, parts: Sequence[Part]) -> Form:
        """Return the form of the stickers if their colours identify all pieces; otherwise of pieces and twists."""
        reader = self._reader_with(self._spelling)
        at = [(line, column) for line, column, _ in self.letters]
        return facelet_form(reader, at, self.sticker_colours) or Lists.form(self, parts)

    @property
    def _spelling(self) -> FaceletSpelling:
        """The spelling face by face if the faces have names, otherwise the spelling of the picture."""
        letters = [letter for _, _, letter in self.letters]
        return FaceletSpelling.of_faces(self.faces, letters) if self.faces else FaceletSpelling.of_picture(letters)

    @property
    def _shown(self) -> list[Facelet | None]:
        """The facelet that each letter of the picture shows, or None if the letter never changes."""
        known = {(one.line, one.column): one for one in self.facelets}
        return [known.get((line, column)) for line, column, _ in self.letters]

    def _as_drawn(self, letters: list[str]) -> list[str]:
        """Return the letters in upper case if all are lower case and the puzzle only has upper-case letters."""
        known = {letter for _, _, letter in self.letters} | {face for face, _ in self.faces}
        small = all(map(str.islower, letters)) and all(map(str.isupper, known))
        return [letter.upper() for letter in letters] if small else letters

    @property
    def letters(self) -> list[tuple[int, int, str]]:
        """Line, column and letter of each sticker of the start, in reading order."""
        return _letters(self.picture_of_start)

    def _hint(self, letters: Sequence[str]) -> str:
        """Return a hint about listing letters face by face, if the text was read as the letters of the picture."""
        if not self.faces or self._by_face(letters):
            return ""
        return f"; to list the letters face by face, use the order {' '.join(face for face, _ in self.faces)}"

    def _by_face(self, letters: Sequence[str]) -> bool:
        """Return whether letters are listed face by face: all are names of faces, or some are not in the picture."""
        picture = {letter for _, _, letter in self.letters}
        return bool(self.faces) and ({*letters} <= {face for face, _ in self.faces} or not {*letters} <= picture)

    def _reader(self, letters: Sequence[str]) -> Reader:
        """Return the reader of letters, which are listed face by face or as in the picture."""
        picture = [letter for _, _, letter in self.letters]
        by_face = self._by_face(letters)
        return self._reader_with(
            FaceletSpelling.of_faces(self.faces, picture) if by_face else FaceletSpelling.of_picture(picture)
        )

    def _reader_with(self, spelling: FaceletSpelling) -> Reader:
        """Return the reader for a spelling."""
        picture = [letter for _, _, letter in self.letters]
        return Reader(picture, self._shown, self.orbits, self.colours, spelling, sum(self.sizes))


def check_reached(rules: Rules, symbols: Sequence[str]) -> None:
    """Raise PositionError if a parity or sum that no move changes proves that a position is unreachable."""
    labels = rules.first.copy()
    for part, at in zip(rules.parts, rules.ranges, strict=True):
        labels[at] = [part.labels[symbol] for symbol in symbols[at]]
    wrong = wrong_sum(rules, labels)
    if wrong is None:
        return
    if wrong.part is None or wrong.part.holds_pieces:
        raise PositionError(
            "unreachable: two pieces are swapped (the parities of the permutations contradict each other)"
        )
    raise PositionError(
        f"unreachable: a piece is turned on its place (the orientations of {wrong.part.name} have the sum "
        f"{wrong.found} modulo {len(wrong.part.symbols)}, not {wrong.expected})"
    )


def net_of(picture: str, facelets: str, parts: Sequence[Part], start: Sequence[int], faces: str = "") -> Net:
    """Return the net with this picture of the start, in which letters show the colours.

    ``facelets`` lists the facelet that each letter shows, in reading order. ``b3.1`` is facelet 1 on place 3 of the
    second orbit (both numbered from 0); ``-`` marks a letter that never changes. ``faces`` lists the faces
    in the order of other programs: the letter of these programs and the letter of the picture, ``U:W R:R F:G D:Y``.

    Raises ConfigError if the picture has more or fewer letters than ``facelets``, a facelet does not exist in the
    puzzle, a facelet of a piece has no letter, or ``faces`` does not have exactly one face for each letter.
    """
    if len(picture) > MAX_CHARACTERS:
        raise ConfigError(f"[puzzle] net: expected at most {MAX_CHARACTERS:,} characters, found {len(picture):,}")
    lines = tuple(line.rstrip() for line in picture.rstrip().split("\n"))
    if not all(line.isprintable() for line in lines):
        raise ConfigError(
            "[puzzle] net: the text contains an unprintable character; use only letters, spaces and line breaks"
        )
    shown = tuple(_facelets(lines, facelets.split(), [part.places for part in parts if not part.twists]))
    orbits = tuple(_orbits(parts, shown))
    colours = _colours(lines, shown, orbits, tuple(_symbols(parts, start)))
    sizes = tuple(part.places for part in parts)
    return Net(sizes, lines, shown, orbits, colours, _faces(faces, {letter for _, _, letter in _letters(lines)}))


def _faces(text: str, letters: set[str]) -> tuple[tuple[str, str], ...]:
    """Return pairs of a face's letter and the letter of the picture."""
    pairs = [(pair[0], pair[-1]) for pair in text.split() if FACE.fullmatch(pair)]
    different = len({face for face, _ in pairs}) == len({letter for _, letter in pairs}) == len(pairs)
    if len(pairs) != len(text.split()) or not different or (pairs and {letter for _, letter in pairs} != letters):
        expected, found = " ".join(sorted(letters)), quote(shorten(text))
        raise ConfigError(
            f"[puzzle] faces: expected a pair such as U:W for each letter of net ({expected}), found {found}"
        )
    return tuple(pairs)


def _letters(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return line, column and letter of each facelet of a picture."""
    return [(line, found.start(), found[0]) for line, text in enumerate(lines) for found in LETTER.finditer(text)]


def _facelets(lines: Sequence[str], tokens: Sequence[str], sizes: Sequence[int]) -> Iterator[Facelet]:
    """Yield the facelets that the letters of the picture show; fixed letters are left out."""
    letters = _letters(lines)
    if not letters:
        raise ConfigError("[puzzle] net: the picture contains no letters; it needs one for each facelet")
    if len(letters) != len(tokens):
        raise ConfigError(f"[puzzle] facelets: expected {len(letters)} (one per letter of net), found {len(tokens)}")
    for (line, column, _), token in zip(letters, tokens, strict=True):
        if token != FIXED:
            yield Facelet(line, column, *_facelet(token, sizes))


def _facelet(token: str, sizes: Sequence[int]) -> tuple[int, int, int]:
    """Return the orbit, the place and the number that a token names."""
    found = FACELET.fullmatch(token)
    if found is None:
        raise ConfigError(f"[puzzle] facelets: expected facelets such as a0.1, found {quote(shorten(token))}")
    orbit, place = ord(found[1]) - ord("a"), int(found[2])
    if orbit >= len(sizes):
        raise ConfigError(
            f"[puzzle] facelets: the puzzle has {len(sizes)} orbits, named a, b, ...; found {quote(token)}"
        )
    if place >= sizes[orbit]:
        expected = f"a place from {found[1]}0 to {found[1]}{sizes[orbit] - 1}"
        raise ConfigError(f"[puzzle] facelets: expected {expected}, found {quote(token)}")
    return orbit, place, int(found[3])


def _orbits(parts: Sequence[Part], shown: Sequence[Facelet]) -> Iterator[FaceletOrbit]:
    """Yield the orbits of a puzzle. An orbit is a part that holds pieces, with the part of their twists, if any."""
    ends = list(accumulate((part.places for part in parts), initial=0))
    numbers = [k for k, part in enumerate(parts) if not part.twists]
    for number, k in enumerate(numbers):
        twists = k + 1 if k + 1 < len(parts) and parts[k + 1].twists else None
        orientations = 1 if twists is None else len(parts[twists].symbols)
        facelets = 1 + max((one.number for one in shown if one.orbit == number), default=orientations - 1)
        if facelets % orientations:
            letter = chr(ord("a") + number)
            raise ConfigError(
                f"[puzzle] facelets: the number of facelets of a piece of orbit {letter} must be a multiple of "
                f"{orientations}, found {facelets}"
            )
        yield FaceletOrbit(ends[k], parts[k].places, None if twists is None else ends[twists], orientations, facelets)


def _symbols(parts: Sequence[Part], labels: Sequence[int]) -> Iterator[str]:
    """Yield the symbol on each place."""
    remaining = iter(labels)
    for part in parts:
        for _ in range(part.places):
            yield part.symbols[next(remaining)]


def _colours(
    lines: Sequence[str], shown: Sequence[Facelet], orbits: Sequence[FaceletOrbit], start: Sequence[str]
) -> tuple[OfPiece, ...]:
    """Return, for each orbit, the letter of each piece's facelets in the picture of the start."""
    colours: tuple[dict[tuple[str, int], str], ...] = tuple({} for _ in orbits)
    for one in shown:
        letter, key = lines[one.line][one.column], orbits[one.orbit].on_piece(start, one)
        known = colours[one.orbit].setdefault(key, letter)
        if known != letter:
            raise ConfigError(f"[puzzle] net: a facelet of a piece has two letters, {known} and {letter}; give it one")
    for number, (orbit, found) in enumerate(zip(orbits, colours, strict=True)):
        expected = orbit.facelets * len(set(start[orbit.first_piece : orbit.first_piece + orbit.places]))
        if found and len(found) != expected:
            letter = chr(ord("a") + number)
            raise ConfigError(
                f"[puzzle] facelets: expected all {expected} facelets of orbit {letter}, found {len(found)}"
            )
    return colours
