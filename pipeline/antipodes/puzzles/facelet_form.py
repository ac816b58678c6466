"""The form of a puzzle with a net: one field for the colour of each sticker."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from antipodes.puzzles.drafts import (
    STICKERS,
    DraftError,
    Form,
    FormField,
    FormGroup,
    FormSymbol,
    Square,
    summary_of,
    wrong_count,
)
from antipodes.puzzles.facelets import FaceletOrbit, Reader

COLOUR_NAMES = {"W": "white", "Y": "yellow", "O": "orange", "R": "red", "G": "green", "B": "blue"}
BETWEEN_FACES = 0.3
"""Gap between two faces, as a fraction of a sticker's side."""
Key = tuple[int, int, int]
PieceByColours = Mapping[tuple[str, ...], tuple[str, int]]


@dataclass(frozen=True)
class FaceletForm(Form):
    """The form of a net's stickers. Letters of the picture that show the same facelet form one sticker."""

    reader: Reader
    letters: tuple[tuple[int, ...], ...]
    """The numbers of the letters of the picture that belong to each field."""
    shown: Mapping[Key, int]
    """The form field that shows each facelet, by orbit, place and number."""
    pieces: tuple[PieceByColours, ...]
    """For each orbit, the piece and its twist for each sequence of colours."""

    def written(self, draft: Sequence[str]) -> list[str]:
        """See `Form.written`."""
        self.check_counts(draft)
        orbits, errors = list[list[tuple[str, int]]](), list[DraftError]()
        for number in range(len(self.reader.orbits)):
            try:
                orbits.append(self._pieces_of(number, draft))
            except DraftError as error:
                errors.append(error)
        if errors:
            raise DraftError("; ".join(map(str, errors)), [at for error in errors for at in error.fields])
        return self._assembled(orbits)

    def draft_of(self, written: Sequence[str]) -> list[str]:
        """See `Form.draft_of`."""
        reader = self.reader
        letters = [
            fixed if one is None else reader.colours[one.orbit][reader.orbits[one.orbit].on_piece(written, one)]
            for fixed, one in zip(reader.picture, reader.shown, strict=True)
        ]
        return [letters[own[0]] for own in self.letters]

    def _assembled(self, orbits: Sequence[Sequence[tuple[str, int]]]) -> list[str]:
        """Return the symbol on each place, given the piece and the twist on each place of each orbit."""
        found = [""] * self.reader.places
        for orbit, pieces in zip(self.reader.orbits, orbits, strict=True):
            for place, (piece, twist) in enumerate(pieces):
                found[orbit.first_piece + place] = piece
                if orbit.first_twist is not None:
                    found[orbit.first_twist + place] = str(twist)
        return found

    def _pieces_of(self, orbit: int, draft: Sequence[str]) -> list[tuple[str, int]]:
        """Return the piece and twist on each place of an orbit.

        Raises DraftError if the colours on a place match no piece, or a piece occurs too often or not often enough.
        """
        places = range(self.reader.orbits[orbit].places)
        found = [self._piece_on(orbit, place, draft) for place in places]
        wrong = [place for place in places if found[place] is None]
        if wrong:
            looks = [self._looks(orbit, place, draft) for place in wrong]
            raise DraftError(f"no piece has the colours {summary_of(looks)}", self._fields_on(orbit, wrong))
        known = [piece for piece in found if piece is not None]
        self._check_numbers(orbit, [piece for piece, _ in known])
        return known

    def _piece_on(self, orbit: int, place: int, draft: Sequence[str]) -> tuple[str, int] | None:
        """Return the piece on a place and its twist; None if no piece has these colours."""
        return self.pieces[orbit].get(tuple(draft[at] for at in self._fields_on(orbit, [place])))

    def _fields_on(self, orbit: int, places: Iterable[int]) -> list[int]:
        """Return the fields of the facelets on these places, in the order of the facelets' numbers."""
        numbers = range(self.reader.orbits[orbit].facelets)
        return [self.shown[orbit, place, number] for place in places for number in numbers]

    def _looks(self, orbit: int, place: int, draft: Sequence[str]) -> str:
        fields = self._fields_on(orbit, [place])
        names = ", ".join(self.fields[at].name for at in fields)
        return f"{self._colours([draft[at] for at in fields])} ({names})"

    def _colours(self, letters: Iterable[str]) -> str:
        labels = {one.symbol: one.label for one in self.groups[0].symbols}
        return "-".join(labels[letter] for letter in letters)

    def _check_numbers(self, orbit: int, pieces: Sequence[str]) -> None:
        """Raise DraftError unless each piece occurs as often as in the start."""
        start = [self.reader.picture[own[0]] for own in self.letters]
        places = range(self.reader.orbits[orbit].places)
        solved = [piece[0] for place in places if (piece := self._piece_on(orbit, place, start))]
        expected, found = Counter(solved), Counter(pieces)
        look = {piece: colours for colours, (piece, twist) in [*self.pieces[orbit].items()][::-1]}
        reasons = [
            wrong_count(f"piece {self._colours(look[piece])}", count, found[piece])
            for piece, count in expected.items()
            if found[piece] != count
        ]
        if reasons:
            surplus = [place for place in places if found[pieces[place]] > expected[pieces[place]]]
            raise DraftError(summary_of(reasons), self._fields_on(orbit, surplus))


def facelet_form(
    reader: Reader, characters: Sequence[tuple[int, int]], colours: Mapping[str, str]
) -> FaceletForm | None:
    """Return the form of the stickers of a net; None if the colours do not identify every piece.

    ``characters`` lists line and column of each letter of the picture.
    """
    letters_of: dict[Key | int, list[int]] = {}
    for number, one in enumerate(reader.shown):
        letters_of.setdefault(number if one is None else (one.orbit, one.place, one.number), []).append(number)
    shown = {key: field for field, key in enumerate(letters_of) if isinstance(key, tuple)}
    pieces = [_pieces_by_colours(reader, number, shown) for number in range(len(reader.orbits))]
    known = tuple(one for one in pieces if one is not None)
    if len(known) < len(pieces):
        return None
    letters = tuple(map(tuple, letters_of.values()))
    counts = Counter(reader.picture[own[0]] for own in letters)
    symbols = tuple(FormSymbol(one, COLOUR_NAMES.get(one, one), counts[one], colours[one]) for one in sorted(counts))
    squares = _squares(characters)
    fields = tuple(
        FormField(_name(reader, own), 0, tuple(squares[number] for number in own), reader.shown[own[0]] is None)
        for own in letters
    )
    return FaceletForm((FormGroup(STICKERS, symbols),), fields, reader, letters, shown, known)


def _name(reader: Reader, letters: Sequence[int]) -> str:
    name = reader.spelling.names[letters[0]]
    return name.replace("letter", "sticker")


def _pieces_by_colours(reader: Reader, number: int, shown: Collection[Key]) -> PieceByColours | None:
    """Return piece and twist for each sequence of colours on a place of an orbit; None if they are ambiguous."""
    orbit, colours = reader.orbits[number], reader.colours[number]
    numbers = range(orbit.facelets)
    if not colours or any((number, place, at) not in shown for place in range(orbit.places) for at in numbers):
        return None
    turned = [(piece, twist) for piece in dict.fromkeys(piece for piece, _ in colours) for twist in _twists(orbit)]
    found = {
        tuple(colours[piece, orbit.of_piece(at, twist)] for at in numbers): (piece, twist) for piece, twist in turned
    }
    return found if len(found) == len(turned) else None


def _twists(orbit: FaceletOrbit) -> range:
    return range(orbit.orientations)


def _squares(characters: Sequence[tuple[int, int]]) -> list[Square]:
    """Return the square of each letter: adjacent within a face, with a gap between faces."""
    rows = _positions(sorted({line for line, _ in characters}), 1)
    columns = _positions(sorted({column for _, column in characters}), 2)
    return [(rows[line], columns[column]) for line, column in characters]


def _positions(used: Sequence[int], pitch: int) -> Mapping[int, float]:
    steps = (1 + (BETWEEN_FACES if after - before > pitch else 0) for before, after in pairwise(used))
    return dict(zip(used, (round(at, 1) for at in accumulate(steps, initial=0.0)), strict=True))
