"""Facelets: which piece each of them shows, and positions read from the letters of all of them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from antipodes_tasks.errors import PositionError
from antipodes_tasks.quoting import counted, quote, shorten

LETTER = re.compile(r"[^\W_]")
SEPARATOR = re.compile(r"[\s,/]")
OfPiece = Mapping[tuple[str, int], str]
"""The letter of each facelet of each piece."""


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
        return symbols[self.first_piece + facelet.place], self.of_piece(facelet.number, twist)

    def of_piece(self, number: int, twist: int) -> int:
        """Which facelet of a piece a facelet of its place shows."""
        return (number - twist * (self.facelets // self.orientations)) % self.facelets


@dataclass(frozen=True, slots=True)
class Spelling:
    """An order in which the letters of a picture are written in a line, and their names there."""

    order: tuple[int, ...]
    """Of each letter of the text the number of that of the picture, in reading order."""
    letters: Mapping[str, str]
    """The letter of the picture for each of the text."""
    names: tuple[str, ...]
    """The name of each facelet, in the order of the picture: ``U8``."""

    @classmethod
    def of_picture(cls, picture: Sequence[str]) -> "Spelling":
        """The letters as they are drawn, line by line."""
        names = tuple(f"letter {number}" for number in range(1, len(picture) + 1))
        return cls(tuple(range(len(picture))), {letter: letter for letter in picture}, names)

    @classmethod
    def of_faces(cls, faces: Sequence[tuple[str, str]], picture: Sequence[str]) -> "Spelling":
        """The letters face by face: pairs of the letter of the text, and that of the picture for the same colour."""
        order, names = list[int](), [""] * len(picture)
        for face, letter in faces:
            own = [number for number, shown in enumerate(picture) if shown == letter]
            order += own
            for number, facelet in enumerate(own, start=1):
                names[facelet] = f"{face}{number}"
        return cls(tuple(order), dict(faces), tuple(names))

    def drawn(self, text: Sequence[str]) -> list[str]:
        """The letters in the order of the picture, and as it has them; PositionError for one that is no colour."""
        found = [""] * len(self.order)
        for number, letter in zip(self.order, text, strict=True):
            if letter not in self.letters:
                known = " ".join(self.letters)
                raise PositionError(f"expected the facelets {known}, found {quote(letter)} for {self.names[number]}")
            found[number] = self.letters[letter]
        return found

    def written(self, letter: str) -> str:
        """The letter of the text for one of the picture."""
        return next(own for own, shown in self.letters.items() if shown == letter)


def letters_in(text: str, drawn: str) -> list[str]:
    """The letters of a text, without the lines of the picture and what separates letters."""
    lines = {character for character in drawn if not LETTER.match(character)}
    return [letter for letter in text if not SEPARATOR.match(letter) and letter not in lines]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the pieces and twists of a position from its letters."""

    picture: Sequence[str]
    """The letters of the start, in reading order."""
    shown: Sequence[Facelet | None]
    """The facelet behind each; None where the letter never changes."""
    orbits: Sequence[FaceletOrbit]
    colours: Sequence[OfPiece]
    spelling: Spelling
    places: int

    def symbols(self, text: Sequence[str]) -> list[str]:
        """The symbol on each place; PositionError where the letters are not those of pieces, each as often as it is."""
        letters = self.spelling.drawn(text)
        self._check_counts(letters)
        self._check_fixed(letters)
        found = [""] * self.places
        for number, orbit in enumerate(self.orbits):
            pieces = list(self._pieces(number, letters))
            self._check_pieces(number, pieces)
            for place, (piece, twist) in enumerate(pieces):
                found[orbit.first_piece + place] = piece
                if orbit.first_twist is not None:
                    found[orbit.first_twist + place] = str(twist)
        return found

    def _check_counts(self, letters: Sequence[str]) -> None:
        expected, found = Counter(self.picture), Counter(letters)
        for letter, count in expected.items():
            if found[letter] != count:
                raise PositionError(f"expected {count} x {self.spelling.written(letter)}, found {found[letter]}")

    def _check_fixed(self, letters: Sequence[str]) -> None:
        for number, (letter, fixed, facelet) in enumerate(zip(letters, self.picture, self.shown, strict=True)):
            if facelet is None and letter != fixed:
                expected, found = self.spelling.written(fixed), self.spelling.written(letter)
                name = self.spelling.names[number]
                raise PositionError(f"expected {expected} for {name}, which never moves, found {found}")

    def _pieces(self, orbit: int, letters: Sequence[str]) -> Iterator[tuple[str, int]]:
        """The piece on each place of an orbit, and its twist."""
        for place in range(self.orbits[orbit].places):
            own = [k for k, one in enumerate(self.shown) if one and (one.orbit, one.place) == (orbit, place)]
            found = {(facelet.number, letters[k]) for k in own if (facelet := self.shown[k])}
            fitting = list(self._fitting(orbit, found))
            if len(fitting) != 1:
                where = " ".join(self.spelling.names[k] for k in own)
                looks = "".join(self.spelling.written(letters[k]) for k in own)
                reason = "found " + quote(looks) if not fitting else "of which several look like that"
                raise PositionError(f"expected a piece on {where or 'each place'}, {reason}")
            yield fitting[0]

    def _fitting(self, number: int, letters: set[tuple[int, str]]) -> Iterator[tuple[str, int]]:
        """The pieces that show such letters, each with its twist."""
        orbit, colours = self.orbits[number], self.colours[number]
        for piece in dict.fromkeys(piece for piece, _ in colours):
            for twist in range(orbit.orientations):
                if all(colours[piece, orbit.of_piece(at, twist)] == letter for at, letter in letters):
                    yield piece, twist

    def _check_pieces(self, orbit: int, pieces: Sequence[tuple[str, int]]) -> None:
        expected = Counter(piece for piece, _ in self._pieces(orbit, self.picture))
        found = Counter(piece for piece, _ in pieces)
        for piece, count in expected.items():
            if found[piece] != count:
                looks = "".join(self.spelling.written(self.colours[orbit][key]) for key in self._facelets(orbit, piece))
                raise PositionError(f"expected {counted(count, 'piece')} {looks}, found {found[piece]}")

    def _facelets(self, orbit: int, piece: str) -> list[tuple[str, int]]:
        return [(piece, number) for number in range(self.orbits[orbit].facelets)]


def check_size(letters: Sequence[str], expected: int) -> None:
    """PositionError unless there is a letter for each facelet."""
    if len(letters) != expected:
        raise PositionError(f"expected {counted(expected, 'facelet')}, found {len(letters)}")
    for letter in letters:
        if not LETTER.match(letter):
            raise PositionError(f"expected a letter for each facelet, found {quote(shorten(letter))}")
