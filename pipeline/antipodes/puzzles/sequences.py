r"""Sequences of moves as people write them: ``R U R' F2 (R U)3 [A: B] [A, B]``.

A sequence is names of moves one after another, with blanks, commas or nothing between. After a name, or after a
bracket that closes, a number says how often, and a prime ``'`` means backwards: ``R2'`` is ``R' R'``. ``[A: B]`` is the
conjugate ``A B A'``, ``[A, B]`` the commutator ``A B A' B'``. A point is a pause, and ``//`` begins a comment up to the
end of the line. This is the notation of cubing.js. Where several names fit, the longest one counts.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Generic, NoReturn, Protocol, Self, TypeVar

import numpy as np

from antipodes.puzzles.cube_notation import CubeNotation
from antipodes.puzzles.move_words import PRIME, Word
from antipodes.puzzles.settings import MAX_TEXT
from antipodes_tasks.errors import ConfigError, InputError, PositionError
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.rules.moves import Labels, Moves

POWER = re.compile(r"([0-9]*)(['’′]?)")
WORD = re.compile(r"[^\s()\[\],:]+")
MAX_LISTED = 80
"""Characters of the names in a message: enough for those of a cube."""
LONGEST_POWER = 18
"""Digits: the effort does not grow with the number, but reading a long number does."""


class Composable(Protocol):
    """What names of moves can stand for: transformations that can be done one after another, repeated and undone."""

    def compose(self, other: Self) -> Self:
        """What this one makes, and after it the other one."""
        ...

    def power(self, exponent: int) -> Self:
        """What this one makes so many times; undone so many times if the exponent is negative."""
        ...


T = TypeVar("T", bound=Composable)


@dataclass(frozen=True, slots=True)
class Token:
    """A name or a bracket of a sequence."""

    text: str
    place: int
    """The number of its first character, from 1."""
    is_name: bool
    power: int
    """How often it counts; 1 after an opening bracket and a separator."""


def parse_sequence(
    text: str, names: Mapping[str, T], error: type[InputError] = ConfigError, listed: Collection[str] | None = None
) -> T:
    """The transformation that a sequence of moves makes, nothing if the text is empty.

    InputError where the text is no sequence of these names, or there are no names; an ``error`` of that kind. The
    message says at which character, and has the ``listed`` names, by default all of them.
    """
    if not names:
        raise error("expected moves with names, found none")
    return _evaluate(_Tokens(names, error, listed).tokens(text), names, error)


def resolve(texts: Mapping[str, str], names: Mapping[str, T], where: Callable[[str], str]) -> dict[str, T]:
    """The transformations of names that are defined by sequences of known names and of each other, in any order.

    ConfigError where a text is no sequence of these names, or a name is defined by itself. The message begins with
    ``where(name)``.
    """
    if sum(map(len, texts.values())) > MAX_TEXT:
        raise ConfigError(f"{where(next(iter(texts)))}: expected sequences of at most {MAX_TEXT:,} characters in all")
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
        circle = error.args[1]
        raise ConfigError(
            f"{where(circle[0])}: expected a sequence of other moves, found {quote(circle[0])} in its own definition"
        ) from None
    return {name: values[name] for name in texts}


class _Tokens:
    """Names of moves, prepared for reading sequences."""

    def __init__(
        self, names: Collection[str], error: type[InputError] = ConfigError, listed: Collection[str] | None = None
    ) -> None:
        """Prepare the names."""
        longest_first = sorted(filter(None, names), key=len, reverse=True)
        known = "|".join(map(re.escape, longest_first)) or "(?!)"
        self._pattern = re.compile(rf"(?P<name>{known})|(?P<mark>[()\[\],:])|\s+|\.|//[^\n]*")
        self._shown = shorten(", ".join(names if listed is None else listed), MAX_LISTED)
        self._error = error

    def tokens(self, text: str) -> Iterator[Token]:
        """The names and brackets of a sequence; the error of the notation if something else is in it."""
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
                if match["name"] is not None or match["mark"] in ("]", ")"):
                    power, place = self._power(text, place)
                yield Token(match[0], start + 1, match["name"] is not None, power)

    def _power(self, text: str, place: int) -> tuple[int, int]:
        """The exponent at a place of the text, and where it ends."""
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
        raise self._error(f"expected moves {self._shown}; found {quote(found)} at character {start + 1}")


@dataclass(slots=True)
class _Frame(Generic[T]):
    """A bracket that is open, or the whole sequence."""

    opening: str
    place: int
    value: T
    """What the part since the last separator makes."""
    left: T | None = None
    """What the part before the separator makes."""
    separator: str = ""

    def closed(self) -> T:
        """What the content of the bracket makes."""
        if self.left is None:
            return self.value
        conjugate = self.left.compose(self.value).compose(self.left.power(-1))
        return conjugate if self.separator == ":" else conjugate.compose(self.value.power(-1))


def _evaluate(tokens: Iterator[Token] | list[Token], values: Mapping[str, T], error: type[InputError]) -> T:
    """What a sequence makes. Brackets are on a list, so that they nest as deep as the text is long."""
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
            raise error(f"expected one separator in brackets [ ], found {quote(token.text)} at character {token.place}")
    if len(frames) > 1:
        raise error(f"expected a bracket that closes the {frames[-1].opening!r} at character {frames[-1].place}")
    return frames[0].value


def _close(frames: list[_Frame[T]], token: Token, error: type[InputError]) -> None:
    """Put what the innermost bracket makes in its place."""
    frame = frames[-1]
    if frame.opening + token.text not in ("()", "[]"):
        raise error(f"expected no {token.text!r} here, found it at character {token.place}")
    if frame.opening == "[" and frame.left is None:
        raise error(f"expected [A: B] or [A, B], found no separator before character {token.place}")
    frames.pop()
    frames[-1].value = frames[-1].value.compose(frame.closed().power(token.power))


@contextmanager
def _located(where: str) -> Iterator[None]:
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def follow(text: str, kinds: tuple[Moves, ...], start: Labels, cube: CubeNotation | None = None) -> Labels:
    """The positions ``(length + 1, places)`` that a sequence leads through, from a start ``(places,)``.

    Names are looked up in each of the ``kinds`` of moves, the first that has one counts. A move may also be undone.
    The ``cube`` notation has further names.

    PositionError where the text is no sequence of these names, is longer than LONGEST, or has a move that is not legal
    where it is.
    """
    numbers = _numbers(kinds)
    words = {name: Word(((name, False),)) for name in numbers}
    if cube is None:
        steps = parse_sequence(text, words, PositionError).steps
    else:
        steps = cube.moves(parse_sequence(text, {**words, **cube.words}, PositionError, cube.names))
    path = [start]
    for at, (name, undone) in enumerate(steps, start=1):
        moves, those = numbers[name]
        path.append(_moved(moves, those, undone, path[-1], f"{quote(name + PRIME * undone)} as move {at}"))
    return np.array(path, dtype=np.uint8)


def _numbers(kinds: tuple[Moves, ...]) -> dict[str, tuple[Moves, list[int]]]:
    """For each name the moves that have it, of the first kind that does, and their numbers."""
    found: dict[str, tuple[Moves, list[int]]] = {}
    for moves in kinds:
        for number, name in enumerate(moves.names):
            of, numbers = found.setdefault(name, (moves, []))
            if of is moves:
                numbers.append(number)
    return found


def _moved(moves: Moves, numbers: list[int], undone: bool, labels: Labels, found: str) -> Labels:
    """The position ``(places,)`` after the legal moves of some numbers, which all have one name.

    PositionError, which says what was ``found``, if none is legal; or if several are that come from different
    positions: a slide has the name of the square where it ends, and not of that where it began.
    """
    tried = [(moves.undo if undone else moves.move)(number, labels[np.newaxis]) for number in numbers]
    ends = np.unique([changed[0] for changed, legal in tried if legal[0]] or labels[:0].reshape(0, 0), axis=0)
    if not len(ends):
        raise PositionError(f"expected legal moves, found {found}")
    if len(ends) > 1:
        raise PositionError(f"expected moves that are undone in one way, found {found}, with {len(ends)} ways back")
    position: Labels = ends[0]
    return position


def names_along(moves: Moves, path: Labels) -> list[str | None]:
    """The name of the move from each position of a path ``(length + 1, places)`` to the next; None where none leads."""
    return [None if number is None else moves.names[number] for number in moves.moves_on_path(path)]
