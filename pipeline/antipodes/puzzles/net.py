"""Nets: pictures of unfolded puzzles that show a position by the colours of its facelets."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from antipodes.puzzles.drafts import Form
from antipodes.puzzles.facelet_form import facelet_form
from antipodes.puzzles.facelets import (
    LETTER,
    Facelet,
    FaceletOrbit,
    OfPiece,
    Reader,
    Spelling,
    check_size,
    letters_in,
)
from antipodes.puzzles.kpatterns import CUBE, Pieces, cube_facelets
from antipodes.puzzles.net_picture import net_picture
from antipodes.puzzles.notation import Lists, rectangle
from antipodes.puzzles.picture import PALETTE, Picture
from antipodes_tasks.errors import ConfigError, PositionError
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.solvability import wrong_sum

FACELET = re.compile(r"([a-z])(\d{1,4})\.(\d{1,2})")
FACE = re.compile(r"[^\W\d_]:[^\W_]")
FIXED = "-"
CUBE_FACES = set("URFDLB")
STICKERS = {
    "W": "#ffffff", "Y": "#ffd500", "O": "#ff8a1f", "R": "#c8202f", "G": "#00955c", "B": "#0b5bc1",
}  # fmt: skip
"""The colours of the letters that usually stand for them; others take a palette."""
MAX_CHARACTERS = 1 << 14
"""Characters of a picture: more than a screen shows."""


@dataclass(frozen=True)
class Net(Lists):
    """Lists of pieces and twists, drawn as a net, and read from the letters of one, too; see `net_of`."""

    picture_of_start: tuple[str, ...]
    facelets: tuple[Facelet, ...]
    orbits: tuple[FaceletOrbit, ...]
    colours: tuple[OfPiece, ...] = field(hash=False)
    """For each orbit the letter of each piece's facelets."""
    faces: tuple[tuple[str, str], ...] = ()
    """The letters that stand for those of the picture in the text of other programs, in the order of the faces there;
    none: there is no such text."""
    rules: Rules | None = field(default=None, compare=False, repr=False)
    """Those of the puzzle, which know some of what no moves do; None before it is made."""

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """The symbol on each place, of lists or of the letters of all facelets, as drawn or face by face.

        PositionError also where letters are not those of a puzzle that moves lead to, as far as that is known.
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
        """The symbol on each place; the pieces of cubes are those of cubing.js, told by the faces that they show."""
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
        """The letters of the picture, of a cube whose facelets show these faces."""
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
        """The picture, with the letter that each facelet shows."""
        lines = [list(line) for line in self.picture_of_start]
        for one in self.facelets:
            lines[one.line][one.column] = self.colours[one.orbit][self.orbits[one.orbit].on_piece(symbols, one)]
        return rectangle(["".join(line) for line in lines])

    def picture(self, symbols: Sequence[str]) -> Picture:
        """The net with a coloured sticker for each letter."""
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
        """The stickers, if their colours tell all pieces apart; else the places of pieces and their twists."""
        reader = self._reader_with(self._spelling)
        at = [(line, column) for line, column, _ in self.letters]
        return facelet_form(reader, at, self.sticker_colours) or Lists.form(self, parts)

    @property
    def _spelling(self) -> Spelling:
        """The spelling face by face, if the faces have names, with the letters of the picture."""
        letters = [letter for _, _, letter in self.letters]
        return Spelling.of_faces(self.faces, letters) if self.faces else Spelling.of_picture(letters)

    @property
    def _shown(self) -> list[Facelet | None]:
        """The facelet behind each letter of the picture; None if it never changes."""
        known = {(one.line, one.column): one for one in self.facelets}
        return [known.get((line, column)) for line, column, _ in self.letters]

    def _as_drawn(self, letters: list[str]) -> list[str]:
        """Letters that are all small as capitals, where the puzzle has capitals alone."""
        known = {letter for _, _, letter in self.letters} | {face for face, _ in self.faces}
        small = all(map(str.islower, letters)) and all(map(str.isupper, known))
        return [letter.upper() for letter in letters] if small else letters

    @property
    def letters(self) -> list[tuple[int, int, str]]:
        """Line, column and letter of each sticker of the start, in reading order."""
        return _letters(self.picture_of_start)

    def _hint(self, letters: Sequence[str]) -> str:
        """For letters that were read as the picture has them: what those face by face are."""
        if not self.faces or self._by_face(letters):
            return ""
        return f"; the letters of faces, one face after another, are {' '.join(face for face, _ in self.faces)}"

    def _by_face(self, letters: Sequence[str]) -> bool:
        """Whether letters are written face by face: they are letters of faces, or none of the picture."""
        picture = {letter for _, _, letter in self.letters}
        return bool(self.faces) and ({*letters} <= {face for face, _ in self.faces} or not {*letters} <= picture)

    def _reader(self, letters: Sequence[str]) -> Reader:
        """The reader of letters: face by face, if they are letters of faces, else as the picture has them."""
        picture = [letter for _, _, letter in self.letters]
        by_face = self._by_face(letters)
        return self._reader_with(Spelling.of_faces(self.faces, picture) if by_face else Spelling.of_picture(picture))

    def _reader_with(self, spelling: Spelling) -> Reader:
        """Return the reader of letters in a spelling."""
        picture = [letter for _, _, letter in self.letters]
        return Reader(picture, self._shown, self.orbits, self.colours, spelling, sum(self.sizes))


def check_reached(rules: Rules, symbols: Sequence[str]) -> None:
    """PositionError where sums that all moves keep say that no moves lead to a position; the message says which."""
    labels = rules.first.copy()
    for part, at in zip(rules.parts, rules.ranges, strict=True):
        labels[at] = [part.labels[symbol] for symbol in symbols[at]]
    wrong = wrong_sum(rules, labels)
    if wrong is None:
        return
    if wrong.part is None or wrong.part.holds_pieces:
        raise PositionError("expected permutations whose parities fit together, found others: two pieces are swapped")
    raise PositionError(
        f"expected orientations of {wrong.part.name} with the sum {wrong.expected} modulo {len(wrong.part.symbols)}, "
        f"found {wrong.found}: a piece is turned on its place"
    )


def net_of(picture: str, facelets: str, parts: Sequence[Part], start: Sequence[int], faces: str = "") -> Net:
    """The net whose picture of the start shows the colours by letters.

    ``facelets`` says of each letter, in reading order, what it shows: ``b3.1`` is facelet 1 on place 3 of the second
    orbit (places and facelets count from 0), ``-`` is no facelet: the letter never changes. ``faces`` has the letters
    of the faces as other programs write them, in their order, each with that of the picture: ``U:W R:R F:G D:Y``.

    ConfigError where there are more letters than facelets, or fewer, or facelets that the puzzle does not have, or a
    piece without a letter for one of its facelets, or not one face for each letter; the message says which.
    """
    if len(picture) > MAX_CHARACTERS:
        raise ConfigError(f"[puzzle] net: expected at most {MAX_CHARACTERS:,} characters, found {len(picture):,}")
    lines = tuple(line.rstrip() for line in picture.rstrip().split("\n"))
    if not all(line.isprintable() for line in lines):
        raise ConfigError(
            "[puzzle] net: expected letters, blanks and lines that can be printed, found another character"
        )
    shown = tuple(_facelets(lines, facelets.split(), [part.places for part in parts if not part.twists]))
    orbits = tuple(_orbits(parts, shown))
    colours = _colours(lines, shown, orbits, tuple(_symbols(parts, start)))
    sizes = tuple(part.places for part in parts)
    return Net(sizes, lines, shown, orbits, colours, _faces(faces, {letter for _, _, letter in _letters(lines)}))


def _faces(text: str, letters: set[str]) -> tuple[tuple[str, str], ...]:
    """The pairs of letters of faces and of the picture."""
    pairs = [(pair[0], pair[-1]) for pair in text.split() if FACE.fullmatch(pair)]
    different = len({face for face, _ in pairs}) == len({letter for _, letter in pairs}) == len(pairs)
    if len(pairs) != len(text.split()) or not different or (pairs and {letter for _, letter in pairs} != letters):
        expected, found = " ".join(sorted(letters)), quote(shorten(text))
        raise ConfigError(
            f"[puzzle] faces: expected a pair such as U:W for each letter of net ({expected}), found {found}"
        )
    return tuple(pairs)


def _letters(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """Line, column and letter of each facelet of a picture."""
    return [(line, found.start(), found[0]) for line, text in enumerate(lines) for found in LETTER.finditer(text)]


def _facelets(lines: Sequence[str], tokens: Sequence[str], sizes: Sequence[int]) -> Iterator[Facelet]:
    """What the letters of the picture show; fixed letters are left out."""
    letters = _letters(lines)
    if not letters:
        raise ConfigError("[puzzle] net: expected a letter for each facelet, found none")
    if len(letters) != len(tokens):
        raise ConfigError(f"[puzzle] facelets: expected {len(letters)}, one per letter of net, found {len(tokens)}")
    for (line, column, _), token in zip(letters, tokens, strict=True):
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
) -> tuple[OfPiece, ...]:
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
