r"""Sequences of moves in the usual notation: ``R U R' F2 (R U)3 [A: B] [A, B]``.

A sequence consists of names of moves, with spaces, commas or nothing between them. A number after a name or a closing
bracket is an exponent, and a prime ``'`` inverts: ``R2'`` is ``R' R'``. ``[A: B]`` is the conjugate ``A B A'`` and
``[A, B]`` the commutator ``A B A' B'``. A full stop is a pause, and ``//`` begins a comment that extends to the end of
the line. This is the notation of cubing.js. If several names match, the longest is used. If a name ends with a digit,
a power of it needs brackets: ``(6)3``, because ``63`` could also be a mistyped name.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Generic, NoReturn, Protocol, Self, TypeVar

import numpy as np

from antipodes.puzzles.cube_notation import CubeNotation
from antipodes.puzzles.move_words import PRIME, Word
from antipodes.puzzles.settings import MAX_TEXT
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import ConfigError, InputError, PositionError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.rules.moves import Moves

POWER = re.compile(r"([0-9]*)(['’′]?)")
DIGITS = re.compile(r"[0-9]{1,20}")
WORD = re.compile(r"[^\s()\[\],:]+")
MAX_LISTED = 80
"""Maximum number of characters of the names listed in a message; enough for the names of a cube."""
LONGEST_POWER = 18
"""Maximum number of digits of a power; longer numbers would take long to parse."""


class Composable(Protocol):
    """A value of a name in sequences: a transformation that can be composed, repeated and inverted."""

    def compose(self, other: Self) -> Self:
        """Return this transformation followed by the other one."""
        ...

    def power(self, exponent: int) -> Self:
        """Return this transformation repeated ``exponent`` times; a negative exponent repeats its inverse."""
        ...


T = TypeVar("T", bound=Composable)


@dataclass(frozen=True)
class Spelling:
    """Other texts for the names of moves. Names have no powers then: ``/3,0`` is a slash and a turn."""

    pattern: str
    """Regular expression of these texts, without groups."""
    name_of: Callable[[str], str]
    """Function that returns the name for such a text, or for a name; it is empty if the text means no move."""


@dataclass(frozen=True, slots=True)
class Token:
    """A name or a bracket of a sequence."""

    text: str
    place: int
    """Number of its first character, counted from 1."""
    is_name: bool
    power: int
    """Exponent of a name or closing bracket; 1 for an opening bracket or a separator."""


def parse_sequence(
    text: str,
    names: Mapping[str, T],
    error: type[InputError] = ConfigError,
    listed: Collection[str] | None = None,
    spelling: Spelling | None = None,
) -> T:
    """Return the transformation of a sequence of moves; the identity if the text is empty.

    With a ``spelling``, the sequence may contain other texts for the names.

    Raises an ``error`` if the text is not a sequence of these names, or if ``names`` is empty. The message gives the
    character at which the error is, and the ``listed`` names (by default all names).
    """
    if not names:
        raise error("the moves have no names, so sequences are not possible")
    return _evaluate(_Tokens(names, error, listed, spelling).tokens(text), names, error)


def resolve(texts: Mapping[str, str], names: Mapping[str, T], where: Callable[[str], str]) -> dict[str, T]:
    """Return the transformation of each key of ``texts``, given as a sequence of known ``names`` and other keys.

    Raises ConfigError if a text is not a sequence of these names, or a definition is circular. The message begins with
    ``where(name)``.
    """
    if sum(map(len, texts.values())) > MAX_TEXT:
        raise ConfigError(f"{where(next(iter(texts)))}: all sequences together exceed {MAX_TEXT:,} characters")
    notation = _Tokens([*names, *texts])
    tokens = {}
    for name, text in texts.items():
        with _located(where(name)):
            tokens[name] = list(notation.tokens(text))
    used = {name: {token.text for token in found if token.is_name} & texts.keys() for name, found in tokens.items()}
    values = dict(names)
    try:
        for name in TopologicalSorter(used).static_order():
            with _located(where(name)):
                values[name] = _evaluate(tokens[name], values, ConfigError)
    except CycleError as error:
        cycle = error.args[1]
        raise ConfigError(f"{where(cycle[0])}: {quote(cycle[0])} occurs in its own definition") from None
    return {name: values[name] for name in texts}


class _Tokens:
    """A splitter of sequences into the names of moves and brackets."""

    def __init__(
        self,
        names: Collection[str],
        error: type[InputError] = ConfigError,
        listed: Collection[str] | None = None,
        spelling: Spelling | None = None,
    ) -> None:
        longest_first = sorted(filter(None, names), key=len, reverse=True)
        known = "|".join([*([spelling.pattern] if spelling else []), *map(re.escape, longest_first)]) or "(?!)"
        self._name_of = spelling.name_of if spelling else str
        self._powers = spelling is None
        self._pattern = re.compile(rf"(?P<name>{known})|(?P<mark>[()\[\],:])|\s+|\.|//[^\n]*")
        self._shown = shorten(", ".join(names if listed is None else listed), MAX_LISTED)
        self._error = error

    def tokens(self, text: str) -> Iterator[Token]:
        """Yield the names and brackets of a sequence; raise an error for anything else."""
        if len(text) > MAX_TEXT:
            raise self._error(f"expected a sequence of at most {MAX_TEXT:,} characters, found {len(text):,}")
        place = 0
        while place < len(text):
            match = self._pattern.match(text, place)
            if match is None:
                self._refuse(text, place)
            start, place = place, match.end()
            if match.lastgroup is not None:
                power = 1
                if match["mark"] in ("]", ")") or (match["name"] is not None and self._powers):
                    self._check_clear(text, start, match)
                    power, place = self._power(text, place)
                name = match[0] if match["name"] is None else self._name_of(match[0])
                if name:
                    yield Token(name, start + 1, match["name"] is not None, power)

    def _check_clear(self, text: str, start: int, match: re.Match[str]) -> None:
        """Raise an error if digits after a name or bracket may be a part of another name."""
        digits = DIGITS.match(text, match.end())
        if digits is None:
            return
        where = f"at character {start + 1}"
        if match["name"] is not None and match[0][-1].isdecimal():
            found, power = text[start : digits.end()], f"({match[0]}){shorten(digits[0], 9)}"
            raise self._error(
                f"unknown move {quote(shorten(found, 40))} {where}; write {power} for a power of {quote(match[0])}, "
                "and spaces between moves"
            )
        for begin in range(*digits.span()):
            name = self._pattern.match(text, begin)
            if name is not None and name["name"] is not None and name.end() > digits.end():
                found = quote(shorten(text[start : name.end()], 40))
                raise self._error(f"{found} {where} can be read in several ways; write spaces between moves")

    def _power(self, text: str, place: int) -> tuple[int, int]:
        """Return the exponent at a place of the text, and the place at which it ends."""
        match = POWER.match(text, place)
        assert match is not None
        digits, prime = match.groups()
        if len(digits) > LONGEST_POWER:
            raise self._error(
                f"expected a power of at most {LONGEST_POWER} digits, found {len(digits):,} at character {place + 1}"
            )
        amount = int(digits) if digits else 1
        return -amount if prime else amount, match.end()

    def _refuse(self, text: str, place: int) -> NoReturn:
        """Raise the error for the word at a place of the text."""
        start = place
        while start and WORD.fullmatch(text[start - 1]) and place - start < 64:
            start -= 1
        word = WORD.match(text, start)
        found = text[start : start + 1] if word is None else word[0]
        raise self._error(f"unknown move {quote(found)} at character {start + 1}; the moves are {self._shown}")


@dataclass(slots=True)
class _Frame(Generic[T]):
    """An open bracket, or the whole sequence."""

    opening: str
    place: int
    value: T
    """Transformation of the part since the last separator."""
    left: T | None = None
    """Transformation of the part before the separator."""
    separator: str = ""

    def closed(self) -> T:
        """Return the transformation of the content of the bracket."""
        if self.left is None:
            return self.value
        conjugate = self.left.compose(self.value).compose(self.left.power(-1))
        return conjugate if self.separator == ":" else conjugate.compose(self.value.power(-1))


def _evaluate(tokens: Iterator[Token] | list[Token], values: Mapping[str, T], error: type[InputError]) -> T:
    """Return the transformation of a sequence. Open brackets are kept on a stack, so any nesting depth is possible."""
    nothing = next(iter(values.values())).power(0)
    frames = [_Frame("", 0, nothing)]
    for token in tokens:
        frame = frames[-1]
        if token.is_name:
            frame.value = frame.value.compose(values[token.text].power(token.power))
        elif token.text in "([":
            frames.append(_Frame(token.text, token.place, nothing))
        elif token.text in ")]":
            _close(frames, token, error)
        elif frame.opening == "[" and frame.left is None:
            frame.left, frame.value, frame.separator = frame.value, nothing, token.text
        elif token.text == ":" or frame.opening == "[":
            raise error(f"unexpected {quote(token.text)} at character {token.place}: write one ':' or ',' in [ ]")
    if len(frames) > 1:
        raise error(f"the bracket {frames[-1].opening!r} at character {frames[-1].place} is not closed")
    return frames[0].value


def _close(frames: list[_Frame[T]], token: Token, error: type[InputError]) -> None:
    """Replace the innermost bracket by its transformation."""
    frame = frames[-1]
    if frame.opening + token.text not in ("()", "[]"):
        raise error(f"the bracket {token.text!r} at character {token.place} matches no open bracket")
    if frame.opening == "[" and frame.left is None:
        raise error(f"the bracket ']' at character {token.place} needs a ':' or ',' before it; write [A: B] or [A, B]")
    frames.pop()
    frames[-1].value = frames[-1].value.compose(frame.closed().power(token.power))


@contextmanager
def _located(where: str) -> Iterator[None]:
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


@dataclass(frozen=True)
class SequenceMoves:
    """The names that the sequences of a puzzle may contain, and their moves."""

    kinds: tuple[Moves, ...]
    """The moves of the puzzle, and moves for use in sequences only. A name means the first move that has it."""
    spelling: Spelling | None = None
    """Other texts for the names."""

    @cached_property
    def cube(self) -> CubeNotation | None:
        """The rotations, slices and wide turns for sequences; None if the moves are not the turns of a cube."""
        return CubeNotation.of(self.kinds)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the moves, and of the words of the `cube` notation."""
        names = (name for moves in self.kinds for name in moves.names)
        return tuple(dict.fromkeys((*names, *(self.cube.words if self.cube else ()))))

    def follow(self, text: str, start: Labels) -> Labels:
        """Return the positions ``(length + 1, places)`` along a sequence of moves from a start ``(places,)``.

        A move may be inverted even if its inverse is not a move.

        Raises PositionError if the text is not a sequence of these names, has more than LONGEST moves, or contains a
        move that is not legal at that point.
        """
        numbers = self._numbers()
        words = {name: Word(((name, False),)) for name in numbers}
        if self.cube is None:
            steps = parse_sequence(text, words, PositionError, spelling=self.spelling).steps
        else:
            steps = self.cube.moves(parse_sequence(text, {**words, **self.cube.words}, PositionError, self.cube.names))
        path = [start]
        for at, (name, undone) in enumerate(steps, start=1):
            moves, those = numbers[name]
            path.append(_moved(moves, those, undone, path[-1], f"{quote(name + PRIME * undone)} as move {at}"))
        return np.array(path, dtype=np.uint8)

    def _numbers(self) -> dict[str, tuple[Moves, list[int]]]:
        """Return the first kind of moves that contains each name, and the numbers of its moves with this name."""
        found: dict[str, tuple[Moves, list[int]]] = {}
        for moves in self.kinds:
            for number, name in enumerate(moves.names):
                of, numbers = found.setdefault(name, (moves, []))
                if of is moves:
                    numbers.append(number)
        return found


def _moved(moves: Moves, numbers: list[int], undone: bool, labels: Labels, found: str) -> Labels:
    """Return the position ``(places,)`` after the legal move among the moves ``numbers``, which have the same name.

    Raises PositionError if none of these moves is legal, or if undoing them leads to several positions: the name of a
    slide contains its destination, but not its origin. Messages name the move with the text ``found``.
    """
    tried = [(moves.undo if undone else moves.move)(number, labels[np.newaxis]) for number in numbers]
    ends: dict[bytes, Labels] = {changed[0].tobytes(): changed[0] for changed, legal in tried if legal[0]}
    if not ends:
        raise PositionError(f"{found} is not legal there")
    if len(ends) > 1:
        raise PositionError(f"{found} is ambiguous: it can be undone in {len(ends)} ways")
    (position,) = ends.values()
    return position


def names_along(moves: Moves, path: Labels) -> list[str | None]:
    """Return the name of each move along a path ``(length + 1, places)``; None for a step that is not a move.

    The steps of a followed sequence may be free moves.
    """
    names = [None if number is None else moves.names[number] for number in moves.moves_on_path(path)]
    if None in names and moves.free_moves:
        return [name or single for name, single in zip(names, names_along(moves.elementary, path), strict=True)]
    return names
