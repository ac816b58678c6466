"""Facelets: the piece that each facelet shows, and positions read from the letters of all facelets."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from antipodes_tasks.base.errors import PositionError
from antipodes_tasks.base.quoting import counted, quote, shorten
from antipodes_tasks.rules.parts import wrong_pieces

LETTER = re.compile(r"[^\W_]")
SEPARATOR = re.compile(r"[\s,/]")
OfPiece = Mapping[tuple[str, int], str]
"""The letter of each facelet of each piece."""


@dataclass(frozen=True, slots=True)
class Facelet:
    """A letter of the picture and the facelet that it shows."""

    line: int
    column: int
    orbit: int
    place: int
    number: int
    """Number of the facelet on its place, clockwise. A twist ``t`` moves the piece's facelets by ``t`` orientations."""


@dataclass(frozen=True, slots=True)
class FaceletOrbit:
    """The places of an orbit's pieces and twists in a position, and the number of facelets of a piece."""

    first_piece: int
    places: int
    first_twist: int | None
    """The first place of the twists; None if the pieces have no orientation."""
    orientations: int
    facelets: int

    def on_piece(self, symbols: Sequence[str], facelet: Facelet) -> tuple[str, int]:
        """Return the piece that a facelet shows in a position, and the index of the piece's own facelet."""
        twist = 0 if self.first_twist is None else int(symbols[self.first_twist + facelet.place])
        return symbols[self.first_piece + facelet.place], self.of_piece(facelet.number, twist)

    def of_piece(self, number: int, twist: int) -> int:
        """Return the index of the piece's facelet that is at facelet ``number`` of its place."""
        return (number - twist * (self.facelets // self.orientations)) % self.facelets


@dataclass(frozen=True, slots=True)
class FaceletSpelling:
    """The order in which a text lists the letters of a picture, and the letters and names that it uses for them."""

    order: tuple[int, ...]
    """For each letter of the text, the index of the corresponding letter of the picture in reading order."""
    letters: Mapping[str, str]
    """For each letter that the text uses, the letter of the picture for the same colour."""
    names: tuple[str, ...]
    """The name of each facelet, in the order of the picture: ``U8``."""

    @classmethod
    def of_picture(cls, picture: Sequence[str]) -> "FaceletSpelling":
        """Return the spelling that lists the letters as the picture shows them, line by line."""
        names = tuple(f"letter {number}" for number in range(1, len(picture) + 1))
        return cls(tuple(range(len(picture))), {letter: letter for letter in picture}, names)

    @classmethod
    def of_faces(cls, faces: Sequence[tuple[str, str]], picture: Sequence[str]) -> "FaceletSpelling":
        """Return the spelling that lists the letters face by face.

        ``faces`` contains pairs: the letter of a face in the text, and the letter of its colour in the picture.
        """
        order, names = list[int](), [""] * len(picture)
        for face, letter in faces:
            own = [number for number, shown in enumerate(picture) if shown == letter]
            order += own
            for number, facelet in enumerate(own, start=1):
                names[facelet] = f"{face}{number}"
        return cls(tuple(order), dict(faces), tuple(names))

    def drawn(self, text: Sequence[str]) -> list[str]:
        """Return the picture's letters in the order of the picture; raise PositionError for an unknown letter."""
        found = [""] * len(self.order)
        for number, letter in zip(self.order, text, strict=True):
            if letter not in self.letters:
                known = " ".join(self.letters)
                raise PositionError(f"{self.names[number]}: expected one of the letters {known}, found {quote(letter)}")
            found[number] = self.letters[letter]
        return found

    def written(self, letter: str) -> str:
        """Return the letter of the text for a letter of the picture."""
        return next(own for own, shown in self.letters.items() if shown == letter)


def letters_in(text: str, drawn: str) -> list[str]:
    """Return the letters of a text, without separators and the characters with which the picture draws lines."""
    lines = {character for character in drawn if not LETTER.match(character)}
    return [letter for letter in text if not SEPARATOR.match(letter) and letter not in lines]


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader that finds the pieces and twists of a position from its letters."""

    picture: Sequence[str]
    """The letters of the start, in reading order."""
    shown: Sequence[Facelet | None]
    """The facelet that each letter shows, or None if the letter never changes."""
    orbits: Sequence[FaceletOrbit]
    colours: Sequence[OfPiece]
    spelling: FaceletSpelling
    places: int

    def symbols(self, text: Sequence[str]) -> list[str]:
        """Return the symbol on each place; raise PositionError unless the letters show the puzzle's pieces."""
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
        if expected != found:
            counts = [(self.spelling.written(letter), count, found[letter]) for letter, count in expected.items()]
            raise PositionError(wrong_pieces(counts))

    def _check_fixed(self, letters: Sequence[str]) -> None:
        for number, (letter, fixed, facelet) in enumerate(zip(letters, self.picture, self.shown, strict=True)):
            if facelet is None and letter != fixed:
                expected, found = self.spelling.written(fixed), self.spelling.written(letter)
                name = self.spelling.names[number]
                raise PositionError(f"{name} never moves: expected {expected}, found {found}")

    def _pieces(self, orbit: int, letters: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Yield the piece on each place of an orbit, and its twist."""
        for place in range(self.orbits[orbit].places):
            own = [k for k, one in enumerate(self.shown) if one and (one.orbit, one.place) == (orbit, place)]
            found = {(facelet.number, letters[k]) for k in own if (facelet := self.shown[k])}
            fitting = list(self._fitting(orbit, found))
            if len(fitting) != 1:
                where = " ".join(self.spelling.names[k] for k in own)
                looks = "".join(self.spelling.written(letters[k]) for k in own)
                reason = f"no piece has the letters {quote(looks)}" if not fitting else "its letters are ambiguous"
                raise PositionError(f"{where or 'each place'}: {reason}")
            yield fitting[0]

    def _fitting(self, number: int, letters: set[tuple[int, str]]) -> Iterator[tuple[str, int]]:
        """Yield the pieces, each with its twist, that show these letters."""
        orbit, colours = self.orbits[number], self.colours[number]
        for piece in dict.fromkeys(piece for piece, _ in colours):
            for twist in range(orbit.orientations):
                if all(colours[piece, orbit.of_piece(at, twist)] == letter for at, letter in letters):
                    yield piece, twist

    def _check_pieces(self, orbit: int, pieces: Sequence[tuple[str, int]]) -> None:
        expected = Counter(piece for piece, _ in self._pieces(orbit, self.picture))
        found = Counter(piece for piece, _ in pieces)
        if expected != found:
            counts = [(self._looks(orbit, piece), count, found[piece]) for piece, count in expected.items()]
            raise PositionError(wrong_pieces(counts))

    def _looks(self, orbit: int, piece: str) -> str:
        """Return the letters of a piece."""
        return "".join(self.spelling.written(self.colours[orbit][key]) for key in self._facelets(orbit, piece))

    def _facelets(self, orbit: int, piece: str) -> list[tuple[str, int]]:
        return [(piece, number) for number in range(self.orbits[orbit].facelets)]


def check_size(letters: Sequence[str], expected: int) -> None:
    """Raise PositionError unless there is one letter for each facelet."""
    if len(letters) != expected:
        raise PositionError(f"expected {counted(expected, 'facelet')}, found {len(letters)}")
    for letter in letters:
        if not LETTER.match(letter):
            raise PositionError(f"expected a letter for each facelet, found {quote(shorten(letter))}")
