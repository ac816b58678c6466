"""Puzzle files of twsearch (``.tws``), which ksolve's are much like.

A line begins with a keyword, and ``#`` in its first column makes it a comment:

    Name WORD
    Set NAME PIECES ORIENTATIONS        once for each set of pieces
    Solved                              or StartState, which counts pieces from 0, not from 1
    NAME                                for each set: the piece on each place,
    1 2 3 ...                           identical pieces by the same number,
    0 0 0 ...                           and its orientation; ? where it does not matter, zeros if the line is left out
    End
    Move NAME                           or MoveTransformation, which counts from 0; a block as above
    MoveAlias NEW OLD                   another name of a move, or of a power of it
    MoveSequence NAME MOVE...           a move that is several others
    Illegal SET PLACE PIECE...          pieces that no move may bring to a place, both counted from 1

A set that a block leaves out stays in order. Every place gets the piece from the place that the move names for it. The
orientations under ``Move`` belong to the pieces: the twist that the piece on place ``p`` gets stands at ``p``. Under
``MoveTransformation`` they belong to the places, as in `Turn`. twsearch takes a sequence for a move of the search, so
it is one here; rotations of the whole puzzle are none (`is_rotation`). Facts about the format are from twsearch's
source (``readksolve.cpp``).
"""

import re
from dataclasses import dataclass, field

from antipodes.puzzles.formats.definition import (
    MAX_LABELS,
    Orbit,
    Turn,
    TwistyDefinition,
    check_length,
    check_new,
    check_permutation,
    check_size,
    identity,
    is_rotation,
    orbit_from,
    turn_of,
    whole_number,
)
from antipodes.puzzles.sequences import resolve
from antipodes.puzzles.settings import MAX_PLACES
from antipodes_tasks.errors import ConfigError
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.rules.transforms import MAX_MASKED

KEYWORDS = ("Name", "Set", "Solved", "StartState", "Move", "MoveTransformation", "MoveAlias", "MoveSequence", "Illegal")
NAME = re.compile(r"\w{1,32}")
WILD = "?"
BEGINS_NUMBERS = "0123456789?-+"
"""The first character of a line of numbers, good or bad ones; names of sets begin otherwise."""


def read_tws(text: str) -> TwistyDefinition:
    """The puzzle that a ``.tws`` file defines.

    ConfigError where a line is not as the format says, or uses a keyword that is not supported; the message begins with
    the line.
    """
    check_length(text)
    reader = _Reader(_Lines(text))
    while reader.lines.tokens:
        reader.read()
        reader.lines.go_on()
    return reader.definition()


class _Lines:
    """The lines of a file that say something, one at a time."""

    def __init__(self, text: str) -> None:
        self._lines = re.split("\r\n|\r|\n", text.removeprefix("\ufeff"))
        self.number = 0
        self.tokens: list[str] = []
        """The words of the current line, none at the end of the file."""
        self.go_on()

    def go_on(self) -> None:
        """Go to the next line that is neither empty nor a comment."""
        self.tokens = []
        while not self.tokens and self.number < len(self._lines):
            line = self._lines[self.number]
            self.number += 1
            self.tokens = [] if line.startswith("#") else line.split()

    def location(self, key: str = "") -> str:
        """The current line for a message, and the word in it that the message is about."""
        return f"line {self.number}: {key}" if NAME.fullmatch(key) else f"line {self.number}"

    def take(self, *expected: str) -> list[str]:
        """The words after the keyword, which must be as many as these names of them."""
        keyword, *words = self.tokens
        if len(words) != len(expected):
            wanted = " ".join((keyword, *expected))
            raise ConfigError(f"{self.location()}: expected '{wanted}', found {self.shown()}")
        return words

    def shown(self) -> str:
        """The current line as a message quotes it."""
        return shorten(quote(" ".join(self.tokens))) if self.tokens else "the end of the file"


@dataclass(frozen=True)
class _Set:
    """A set of pieces as the file declares it."""

    size: int
    orientations: int


@dataclass(frozen=True)
class _Entry:
    """What a block says about a set: pieces or places from 0, and orientations, None for ``?``."""

    pieces: list[int]
    twists: list[int | None]
    where: str
    """The line of the pieces."""


@dataclass
class _Reader:
    """What the file has said so far."""

    lines: _Lines
    name: str | None = None
    sets: dict[str, _Set] = field(default_factory=dict)
    orbits: tuple[Orbit, ...] = ()
    turns: dict[str, Turn] = field(default_factory=dict)
    sequences: dict[str, str] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)
    places: dict[str, str] = field(default_factory=dict)
    """Where each name of a move was defined."""
    pieces: dict[str, list[int]] = field(default_factory=dict)
    """The different pieces of each set, from 0 on; a label is the place of a piece here."""
    illegal: dict[tuple[int, int], frozenset[int]] = field(default_factory=dict)
    """See `TwistyDefinition.illegal`."""

    def read(self) -> None:
        """Read what begins at the current line."""
        keyword = self.lines.tokens[0]
        if keyword == "Name":
            self._name()
        elif keyword == "Set":
            self._set()
        elif keyword in ("Solved", "StartState"):
            self._solved(keyword)
        elif keyword in ("Move", "MoveTransformation"):
            self._move(keyword)
        elif keyword in ("MoveAlias", "MoveSequence"):
            self._sequence(keyword)
        elif keyword == "Illegal":
            self._illegal()
        else:
            expected, found = ", ".join(KEYWORDS), self.lines.shown()
            raise ConfigError(f"{self.lines.location(keyword)}: expected {expected}; {found} is not supported")

    def definition(self) -> TwistyDefinition:
        """The whole puzzle, when the file has been read."""
        end = f"line {self.lines.number}: end of the file"
        if not self.orbits:
            raise ConfigError(f"{end}: expected Solved or StartState, found none")
        known = self.turns or {"": identity(self.orbits)}
        resolved = resolve(self.sequences, known, self.places.__getitem__) if self.sequences else {}
        every = {name: self.turns[name] if name in self.turns else resolved[name] for name in self.places}
        others = {name: turn for name, turn in every.items() if name in self.aliases or is_rotation(name)}
        turns = {name: turn for name, turn in every.items() if name not in others}
        if not turns:
            raise ConfigError(f"{end}: expected a Move that is no rotation of the whole, found none")
        return TwistyDefinition(self.name or "", self.orbits, turns, others, self.illegal)

    def _name(self) -> None:
        if self.name is not None or self.sets or self.orbits:
            raise ConfigError(f"{self.lines.location('Name')}: expected it once, as the first line, found it later")
        (self.name,) = self.lines.take("WORD")

    def _set(self) -> None:
        if self.orbits:
            raise ConfigError(f"{self.lines.location('Set')}: expected it before the solved position, found it after")
        name, size, orientations = self.lines.take("NAME", "PIECES", "ORIENTATIONS")
        where = self.lines.location("Set")
        check_new(name, self.sets, where)
        if name == "End" or _is_numbers([name]):
            raise ConfigError(f"{where}: expected a name that begins with a letter, found {quote(name)}")
        self.sets[name] = _Set(
            whole_number(size, f"{where}: pieces", 1, MAX_PLACES),
            whole_number(orientations, f"{where}: orientations", 1, MAX_LABELS),
        )
        check_size([one.size for one in self.sets.values()], where)

    def _solved(self, keyword: str) -> None:
        where = self.lines.location(keyword)
        if not self.sets or self.orbits:
            raise ConfigError(f"{where}: expected it once, after the sets, found it elsewhere")
        self.lines.take()
        block = self._block(0 if keyword == "StartState" else 1, is_move=False)
        self.orbits = tuple(self._orbit(name, block.get(name), where) for name in self.sets)
        check_size([len(orbit.pieces) for orbit in self.orbits], where)

    def _orbit(self, name: str, entry: _Entry | None, where: str) -> Orbit:
        """The orbit of a set, whose pieces are all different where the solved position leaves them out."""
        found = self.sets[name]
        if entry is None:
            entry = _Entry(list(range(found.size)), [0] * found.size, where)
        self.pieces[name] = sorted(set(entry.pieces))
        twists = [0 if twist is None else twist for twist in entry.twists]
        shown = [1 if twist is None else found.orientations for twist in entry.twists]
        return orbit_from(name, entry.pieces, twists, found.orientations, shown, entry.where)

    def _move(self, keyword: str) -> None:
        (name,) = self.lines.take("NAME")
        self._define(name, keyword)
        block = self._block(0 if keyword == "MoveTransformation" else 1, is_move=True)
        pairs = []
        for orbit, (of, found) in zip(self.orbits, self.sets.items(), strict=True):
            entry = block.get(of) or _Entry(list(range(found.size)), [0] * found.size, "")
            twists = [twist or 0 for twist in entry.twists]
            if keyword == "Move":  # a twist stands at the place that its piece comes from
                twists = [twists[origin] for origin in entry.pieces]
            pairs.append(turn_of(orbit, entry.pieces, twists))
        permutations, twisted = zip(*pairs, strict=True)
        self.turns[name] = Turn(permutations, twisted, tuple(orbit.orientations for orbit in self.orbits))

    def _sequence(self, keyword: str) -> None:
        if keyword == "MoveAlias":
            name, text = self.lines.take("NEW", "OLD")
            self.aliases.add(name)
        elif len(self.lines.tokens) < 3:
            self.lines.take("NAME", "MOVE...")
        else:
            name, text = self.lines.tokens[1], " ".join(self.lines.tokens[2:])
        self._define(name, keyword)
        self.sequences[name] = text

    def _illegal(self) -> None:
        where, words = self.lines.location("Illegal"), self.lines.tokens[1:]
        if not self.orbits:
            raise ConfigError(f"{where}: expected it after the solved position, found it before")
        if len(words) < 3 or words[0] not in self.sets:
            sets = shorten(", ".join(self.sets))
            raise ConfigError(f"{where}: expected 'Illegal SET PLACE PIECE...' of {sets}, found {self.lines.shown()}")
        number = list(self.sets).index(words[0])
        orbit, known = self.orbits[number], self.pieces[words[0]]
        if orbit.contents is not None:
            raise ConfigError(f"{where}: expected a set whose pieces all show their orientation, found {words[0]}")
        if len(known) > MAX_MASKED:
            raise ConfigError(f"{where}: expected a set of at most {MAX_MASKED} different pieces, found {len(known)}")
        place = whole_number(words[1], f"{where}: place", 1, len(orbit.pieces)) - 1
        given = [whole_number(word, f"{where}: piece", 1, known[-1] + 1) - 1 for word in words[2:]]
        if missing := [piece for piece in given if piece not in known]:
            raise ConfigError(f"{where}: expected a piece of {words[0]}, found {missing[0] + 1}")
        labels = frozenset(known.index(piece) for piece in given)
        if orbit.pieces[place] in labels:
            raise ConfigError(f"{where}: expected pieces other than that of the solved position, found it")
        self.illegal[number, place] = self.illegal.get((number, place), frozenset()) | labels

    def _define(self, name: str, keyword: str) -> None:
        """Note a new name of a move."""
        where = self.lines.location(keyword)
        if not self.orbits:
            raise ConfigError(f"{where}: expected it after the solved position, found it before")
        check_new(name, self.places, where)
        self.places[name] = f"{where} {name}"

    def _block(self, first: int, is_move: bool) -> dict[str, _Entry]:
        """What the lines up to ``End`` say about the sets; pieces are counted from ``first``."""
        begun = self.lines.location(self.lines.tokens[0])
        block: dict[str, _Entry] = {}
        self.lines.go_on()
        while self.lines.tokens and self.lines.tokens[0] != "End":
            name = self.lines.tokens[0]
            if name not in self.sets or name in block or len(self.lines.tokens) > 1:
                expected = shorten(", ".join(("End", *(one for one in self.sets if one not in block))))
                raise ConfigError(f"{self.lines.location()}: expected {expected}; found {self.lines.shown()}")
            block[name] = self._entry(self.sets[name], first, self.lines.location(name), is_move)
        if not self.lines.tokens:
            raise ConfigError(f"{self.lines.location()}: expected End of {begun}, found the end of the file")
        self.lines.take()
        return block

    def _entry(self, found: _Set, first: int, where: str, is_move: bool) -> _Entry:
        """The two lines, or the one, after the name of a set."""
        self.lines.go_on()
        if not _is_numbers(self.lines.tokens):
            raise ConfigError(f"{where}: expected a line of {found.size} numbers after it, found {self.lines.shown()}")
        line = self.lines.location()
        most = (found.size if is_move else MAX_PLACES) - 1
        pieces = [number - first for number in self._numbers(found.size, first, most + first)]
        if is_move:
            check_permutation(pieces, line, first)
        self.lines.go_on()
        twists: list[int | None] = [0] * found.size
        if _is_numbers(self.lines.tokens):
            twists = self._twists(found, is_move)
            self.lines.go_on()
        return _Entry(pieces, twists, line)

    def _numbers(self, size: int, least: int, most: int) -> list[int]:
        """The numbers on the current line."""
        tokens = self.lines.tokens
        if len(tokens) != size:
            raise ConfigError(f"{self.lines.location()}: expected {size} numbers, found {len(tokens)}")
        return [whole_number(token, self.lines.location(), least, most) for token in tokens]

    def _twists(self, found: _Set, is_move: bool) -> list[int | None]:
        """The orientations on the current line, None for those that do not matter."""
        tokens = self.lines.tokens
        wild = [token == WILD and not is_move for token in tokens]
        self.lines.tokens = ["0" if ignored else token for token, ignored in zip(tokens, wild, strict=True)]
        numbers = self._numbers(found.size, 0, found.orientations - 1)
        return [None if ignored else number for number, ignored in zip(numbers, wild, strict=True)]


def _is_numbers(tokens: list[str]) -> bool:
    """Whether a line has numbers, or the mark of an orientation that does not matter, rather than a name."""
    return bool(tokens) and tokens[0][0] in BEGINS_NUMBERS
