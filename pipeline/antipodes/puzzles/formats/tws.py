"""Puzzle files of twsearch (``.tws``), which are similar to the files of ksolve.

A line begins with a keyword; a line with ``#`` in the first column is a comment:

    Name WORD
    Set NAME PIECES ORIENTATIONS        once for each set of pieces
    Solved                              or StartState, which counts pieces from 0 instead of 1
    NAME                                for each set: the piece on each place
    1 2 3 ...                           (identical pieces have the same number),
    0 0 0 ...                           and its orientation: ? if it does not matter, zeros if the line is left out
    End
    Move NAME                           or MoveTransformation (numbers begin at 0); followed by a block as above
    MoveAlias NEW OLD                   another name for a move or a power of a move
    MoveSequence NAME MOVE...           a move that consists of several other moves
    Illegal SET PLACE PIECE...          pieces that no move may bring to a place, both numbered from 1

If a block leaves out a set, its pieces are in order. In a move, the number at a place is the place from which the
place gets its piece.
The orientations under ``Move`` belong to the pieces: entry ``p`` is the twist of the piece that is on place ``p``
before the move. Under ``MoveTransformation`` they belong to the places, as in `Turn`. A sequence is a move of the
search, as in twsearch; rotations of the whole puzzle (`is_rotation`) are not. The source of these facts is twsearch's
code (``readksolve.cpp``).
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
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.rules.transforms import MAX_MASKED

KEYWORDS = ("Name", "Set", "Solved", "StartState", "Move", "MoveTransformation", "MoveAlias", "MoveSequence", "Illegal")
NAME = re.compile(r"\w{1,32}")
WILD = "?"
BEGINS_NUMBERS = "0123456789?-+"
"""Possible first characters of a line of numbers, valid or not; names of sets begin with other characters."""


def read_tws(text: str) -> TwistyDefinition:
    """Return the puzzle that a ``.tws`` file defines.

    Raises ConfigError if a line violates the format or has an unsupported keyword; the message begins with the line.
    """
    check_length(text)
    reader = _Reader(_Lines(text))
    while reader.lines.tokens:
        reader.read()
        reader.lines.go_on()
    return reader.definition()


class _Lines:
    """An iterator over the lines of a file that are neither empty nor comments."""

    def __init__(self, text: str) -> None:
        self._lines = re.split("\r\n|\r|\n", text.removeprefix("\ufeff"))
        self.number = 0
        self.tokens: list[str] = []
        """The words of the current line; empty at the end of the file."""
        self.go_on()

    def go_on(self) -> None:
        """Go to the next line that is neither empty nor a comment."""
        self.tokens = []
        while not self.tokens and self.number < len(self._lines):
            line = self._lines[self.number]
            self.number += 1
            self.tokens = [] if line.startswith("#") else line.split()

    def location(self, key: str = "") -> str:
        """Return the current line number for a message, with the word that the message is about."""
        return f"line {self.number}: {key}" if NAME.fullmatch(key) else f"line {self.number}"

    def take(self, *expected: str) -> list[str]:
        """Return the words after the keyword; raise ConfigError unless there is one for each ``expected`` name."""
        keyword, *words = self.tokens
        if len(words) != len(expected):
            wanted = " ".join((keyword, *expected))
            raise ConfigError(f"{self.location()}: expected '{wanted}', found {self.shown()}")
        return words

    def shown(self) -> str:
        """Return the current line as quoted in a message."""
        return shorten(quote(" ".join(self.tokens))) if self.tokens else "the end of the file"


@dataclass(frozen=True)
class _Set:
    """A set of pieces, as declared by the file."""

    size: int
    orientations: int


@dataclass(frozen=True)
class _Entry:
    """The numbers of a set in a block: pieces or places from 0, and orientations (None for ``?``)."""

    pieces: list[int]
    twists: list[int | None]
    where: str
    """The line of the pieces."""


@dataclass
class _Reader:
    """The content of the lines that have been read so far."""

    lines: _Lines
    name: str | None = None
    sets: dict[str, _Set] = field(default_factory=dict)
    orbits: tuple[Orbit, ...] = ()
    turns: dict[str, Turn] = field(default_factory=dict)
    sequences: dict[str, str] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)
    places: dict[str, str] = field(default_factory=dict)
    """The line in which each name of a move was defined, for messages."""
    pieces: dict[str, list[int]] = field(default_factory=dict)
    """The different pieces of each set, numbered from 0; a label is an index in this list."""
    illegal: dict[tuple[int, int], frozenset[int]] = field(default_factory=dict)
    """See `TwistyDefinition.illegal`."""

    def read(self) -> None:
        """Read the statement that begins at the current line."""
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
        """Return the puzzle after the whole file has been read."""
        end = f"line {self.lines.number}: end of the file"
        if not self.orbits:
            raise ConfigError(f"{end}: Solved or StartState is missing")
        known = self.turns or {"": identity(self.orbits)}
        resolved = resolve(self.sequences, known, self.places.__getitem__) if self.sequences else {}
        every = {name: self.turns[name] if name in self.turns else resolved[name] for name in self.places}
        others = {name: turn for name, turn in every.items() if name in self.aliases or is_rotation(name)}
        turns = {name: turn for name, turn in every.items() if name not in others}
        if not turns:
            raise ConfigError(f"{end}: the file needs at least one Move that is not a rotation of the whole puzzle")
        return TwistyDefinition(self.name or "", self.orbits, turns, others, self.illegal)

    def _name(self) -> None:
        if self.name is not None or self.sets or self.orbits:
            raise ConfigError(f"{self.lines.location('Name')}: must occur once, before all other lines")
        (self.name,) = self.lines.take("WORD")

    def _set(self) -> None:
        if self.orbits:
            raise ConfigError(f"{self.lines.location('Set')}: must come before the solved position")
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
            raise ConfigError(f"{where}: must occur once, after the sets")
        self.lines.take()
        block = self._block(0 if keyword == "StartState" else 1, is_move=False)
        self.orbits = tuple(self._orbit(name, block.get(name), where) for name in self.sets)
        check_size([len(orbit.pieces) for orbit in self.orbits], where)

    def _orbit(self, name: str, entry: _Entry | None, where: str) -> Orbit:
        """Return the orbit of a set; if the solved position leaves the set out, all its pieces are different."""
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
            if keyword == "Move":  # a twist is listed at the place from which its piece comes
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
            raise ConfigError(f"{where}: must come after the solved position")
        if len(words) < 3 or words[0] not in self.sets:
            sets = shorten(", ".join(self.sets))
            found = self.lines.shown()
            raise ConfigError(f"{where}: expected 'Illegal SET PLACE PIECE...' with a set of {sets}, found {found}")
        number = list(self.sets).index(words[0])
        orbit, known = self.orbits[number], self.pieces[words[0]]
        if orbit.contents is not None:
            raise ConfigError(f"{where}: not possible for {words[0]}, in which some orientations do not matter (?)")
        if len(known) > MAX_MASKED:
            raise ConfigError(f"{where}: expected a set of at most {MAX_MASKED} different pieces, found {len(known)}")
        place = whole_number(words[1], f"{where}: place", 1, len(orbit.pieces)) - 1
        given = [whole_number(word, f"{where}: piece", 1, known[-1] + 1) - 1 for word in words[2:]]
        if missing := [piece for piece in given if piece not in known]:
            raise ConfigError(f"{where}: the set {words[0]} has no piece {missing[0] + 1}")
        labels = frozenset(known.index(piece) for piece in given)
        if (solved := orbit.pieces[place]) in labels:
            piece = f"piece {known[solved] + 1} on place {place + 1}"
            raise ConfigError(f"{where}: the solved position has {piece}, so it cannot be illegal there")
        self.illegal[number, place] = self.illegal.get((number, place), frozenset()) | labels

    def _define(self, name: str, keyword: str) -> None:
        """Record the name of a new move."""
        where = self.lines.location(keyword)
        if not self.orbits:
            raise ConfigError(f"{where}: must come after the solved position")
        check_new(name, self.places, where)
        self.places[name] = f"{where} {name}"

    def _block(self, first: int, is_move: bool) -> dict[str, _Entry]:
        """Return the entries of the sets in the lines up to ``End``; pieces are numbered from ``first``."""
        keyword, begun = self.lines.tokens[0], self.lines.number
        block: dict[str, _Entry] = {}
        self.lines.go_on()
        while self.lines.tokens and self.lines.tokens[0] != "End":
            name = self.lines.tokens[0]
            if name not in self.sets or name in block or len(self.lines.tokens) > 1:
                expected = shorten(", ".join(("End", *(one for one in self.sets if one not in block))))
                raise ConfigError(f"{self.lines.location()}: expected {expected}; found {self.lines.shown()}")
            block[name] = self._entry(self.sets[name], first, self.lines.location(name), is_move)
        if not self.lines.tokens:
            end = f"{self.lines.location()}: end of the file"
            raise ConfigError(f"{end}: the End of {keyword} (line {begun}) is missing")
        self.lines.take()
        return block

    def _entry(self, found: _Set, first: int, where: str, is_move: bool) -> _Entry:
        """Return the entry of a set from the one or two lines after its name."""
        self.lines.go_on()
        if not _is_numbers(self.lines.tokens):
            shown = self.lines.shown()
            raise ConfigError(f"{where}: expected {found.size} numbers on the next line, found {shown}")
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

    def _numbers(self, size: int, minimum: int, maximum: int) -> list[int]:
        """Return the numbers on the current line."""
        tokens = self.lines.tokens
        if len(tokens) != size:
            raise ConfigError(f"{self.lines.location()}: expected {size} numbers, found {len(tokens)}")
        return [whole_number(token, self.lines.location(), minimum, maximum) for token in tokens]

    def _twists(self, found: _Set, is_move: bool) -> list[int | None]:
        """Return the orientations on the current line; None if an orientation does not matter."""
        tokens = self.lines.tokens
        wild = [token == WILD and not is_move for token in tokens]
        self.lines.tokens = ["0" if ignored else token for token, ignored in zip(tokens, wild, strict=True)]
        numbers = self._numbers(found.size, 0, found.orientations - 1)
        return [None if ignored else number for number, ignored in zip(numbers, wild, strict=True)]


def _is_numbers(tokens: list[str]) -> bool:
    """Return whether a line contains numbers or ``?`` rather than a name."""
    return bool(tokens) and tokens[0][0] in BEGINS_NUMBERS
