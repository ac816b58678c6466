"""Puzzles that users define in Python; `antipodes` exports the names that such a definition needs.

>>> puzzle = define_puzzle(name="dial", radices=[5], start=[0], moves={"up": lambda dials: (dials + 1) % 5})
>>> puzzle.successors(puzzle.parse("4")).tolist()
[[0]]
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from antipodes.drawing.picture import Picture
from antipodes.puzzles.board import board_of_shape, check_shape
from antipodes.puzzles.drafts import Form
from antipodes.puzzles.families.generators import origin_of
from antipodes.puzzles.notation import Notation
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import MAX_PLACES
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import InputError, PositionError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.base.values import NAME, SYMBOL
from antipodes_tasks.rules.custom_function import CustomFunction
from antipodes_tasks.rules.functions import Function, Functions
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import Part, moduli_of, pieces
from antipodes_tasks.rules.transforms import Transforms

Position = Sequence[int] | str
MAX_VALUES = 256
"""Maximum number of values of a place: a label is a byte."""


def starts_of(start: Any) -> list[Position]:
    """Return the start positions as a list, from one position or a list of positions."""
    if isinstance(start, str):
        return [start]
    is_scalar = isinstance(start, np.ndarray) and not start.ndim
    if not isinstance(start, list | tuple | range | np.ndarray) or is_scalar or not len(start):
        raise InputError(f"start: expected a position or a list of positions, found {arguments.found(start)}")
    several = isinstance(start[0], str | list | tuple | range | np.ndarray)
    positions: Any = start if several else [start]
    return list(positions)


def symbols_of(
    starts: Sequence[Position],
    symbols: Sequence[str] | None,
    radices: Sequence[int] | None,
    parse: CustomFunction | None,
) -> tuple[str, ...]:
    """Return the symbol of each number: by default, the number itself.

    If no symbols are given and starts are texts, the symbols are those that occur in these texts, unless the caller
    gives ``radices`` or ``parse``.
    """
    if symbols is not None:
        return _checked_symbols(symbols)
    if radices is not None:
        return tuple(map(str, range(max(_checked_radices(radices)))))
    texts = [one for one in starts if isinstance(one, str)]
    if texts and not parse:
        return tuple(sorted({symbol for text in texts for symbol in _tokens(text)}))
    numbers = [numbers_of(one, (), parse) for one in starts]
    return tuple(map(str, range(max(map(max, numbers)) + 1)))


def _checked_symbols(symbols: Sequence[str]) -> tuple[str, ...]:
    if not isinstance(symbols, str | list | tuple):
        raise InputError(f"symbols: expected a list of distinct strings, found {quote(symbols)}")
    for symbol in symbols:
        SYMBOL.check(arguments.text(symbol, "symbols"), "symbols")
    if len(set(symbols)) < len(symbols) or not symbols:
        raise InputError(f"symbols: expected at least one string, all of them distinct, found {quote(symbols)}")
    return tuple(symbols)


def _checked_radices(radices: Sequence[int]) -> list[int]:
    numbers: list[int] = arguments.integers(radices, "radices", 1).tolist()
    if not numbers or not all(1 <= number <= MAX_VALUES for number in numbers):
        raise InputError(f"radices: expected numbers from 1 to {MAX_VALUES}, found {quote(numbers)}")
    return numbers


def numbers_of(position: Position, symbols: Sequence[str], parse: CustomFunction | None) -> list[int]:
    """Return the numbers of a start; raise InputError if there are too many or one is out of range."""
    if not isinstance(position, str):
        read: Any = position
    elif parse is not None:
        read = parse(position)
    else:
        read = [_label(token, symbols) for token in _tokens(position, symbols)]
    numbers: list[int] = arguments.integers(read, "start", 1).tolist()
    if not 1 <= len(numbers) <= MAX_PLACES:
        raise InputError(f"start: expected 1 to {MAX_PLACES} places, found {len(numbers)}")
    for number in numbers:
        arguments.integer(number, "start: numbers", 0, (len(symbols) or MAX_VALUES) - 1)
    return numbers


def _tokens(text: str, known: Sequence[str] = ()) -> list[str]:
    """Return the symbols of a text: its words, or the characters of a single word that is not a known symbol."""
    words = text.split()
    return list(words[0]) if len(words) == 1 and words[0] not in known else words


def _label(token: str, symbols: Sequence[str]) -> int:
    if token not in symbols:
        raise InputError(f"start: expected one of {shorten(' '.join(symbols))}, found {quote(token)}")
    return list(symbols).index(token)


def fields_of(radices: Sequence[int], symbols: Sequence[str]) -> tuple[Part, ...]:
    """Return the parts of a puzzle of values; adjacent places with the same number of values form one part."""
    numbers = _checked_radices(radices)
    if max(numbers) > len(symbols):
        raise InputError(f"symbols: expected {max(numbers)} (one per value of a place), found {len(symbols)}")
    runs = [(radix, len(list(same))) for radix, same in groupby(numbers)]
    return tuple(Part(places, tuple(symbols[:radix])) for radix, places in runs)


@dataclass(frozen=True)
class CustomNotation(Notation):
    """The notation of a puzzle defined in Python.

    ``format`` and ``drawing`` take a position as a tuple of numbers, one per place; ``parse`` returns such numbers.
    Without ``format`` and ``parse``, a position is written as its symbols with spaces between them.
    """

    parts: tuple[Part, ...]
    format: CustomFunction | None = None
    parse: CustomFunction | None = None
    drawing: CustomFunction | None = None
    shape: tuple[int, int] | None = None
    """Rows and columns of the board on which positions are drawn, or None to draw no board."""

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """Return the symbol on each place; see `Notation`."""
        if self.parse is None:
            return Notation.split(self, text, parts)
        try:
            labels = self._labels(self.parse(text))
        except InputError as error:
            raise PositionError(str(error)) from error
        return [known[label] for known, label in zip(self._symbols, labels, strict=True)]

    def join(self, symbols: Sequence[str]) -> str:
        """Return one line of text."""
        if self.format is None:
            return Notation.join(self, symbols)
        line = _text(self.format(self._numbers(symbols)), self.format.role)
        if not line.strip() or len(line.splitlines()) != 1:
            raise InputError(f"{self.format.role}: expected one line of text, found {arguments.found(line)}")
        return line

    def draw(self, symbols: Sequence[str]) -> str:
        """Draw the position with the user's function if there is one, else on the board, else as a line of text."""
        if self.drawing is None:
            return self.join(symbols) if self.shape is None else board_of_shape(self.shape).draw(symbols)
        return _text(self.drawing(self._numbers(symbols)), self.drawing.role)

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Return a picture of the board if there is one, otherwise of the drawing."""
        return Notation.picture(self, symbols) if self.shape is None else board_of_shape(self.shape).picture(symbols)

    def form(self, parts: Sequence[Part]) -> Form:
        """Return the form of the board if there is one, otherwise with a row of places for each part."""
        return Notation.form(self, parts) if self.shape is None else board_of_shape(self.shape).form(parts)

    @property
    def _symbols(self) -> list[tuple[str, ...]]:
        return [part.symbols for part in self.parts for _ in range(part.places)]

    def _numbers(self, symbols: Sequence[str]) -> tuple[int, ...]:
        return tuple(known.index(symbol) for known, symbol in zip(self._symbols, symbols, strict=True))

    def _labels(self, read: Any) -> list[int]:
        """Return the numbers that `parse` returned; raise PositionError if they are not labels of the places."""
        assert self.parse is not None
        symbols = self._symbols
        numbers = read.tolist() if isinstance(read, np.ndarray) else read
        if not isinstance(numbers, list | tuple) or len(numbers) != len(symbols):
            count = f"{len(numbers)}" if isinstance(numbers, list | tuple) else arguments.found(read)
            raise PositionError(f"{self.parse.role}: expected {len(symbols)} numbers, found {count}")
        return [
            arguments.integer(number, f"{self.parse.role}: numbers", 0, len(known) - 1, PositionError)
            for number, known in zip(numbers, symbols, strict=True)
        ]


def _text(value: object, role: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{role}: expected a string, found {arguments.found(value)}")
    return value


Move = Function | Sequence[int] | str
Inverses = Mapping[str, str | Function | None]


def define_puzzle(
    *,
    name: str,
    start: Position | Sequence[Position],
    moves: Mapping[str, Move] | Moves,
    radices: Sequence[int] | None = None,
    symbols: Sequence[str] | None = None,
    inverses: Inverses | None = None,
    symmetries: Mapping[str, Move] | None = None,
    format: Callable[[tuple[int, ...]], str] | None = None,
    parse: Callable[[str], Sequence[int]] | None = None,
    draw: Callable[[tuple[int, ...]], str] | None = None,
    shape: Sequence[int] | None = None,
    plain: bool = False,
    enumerated: bool = False,
    description: str = "",
) -> Puzzle:
    """Define a puzzle that can be run and queried like the bundled puzzles.

    Parameters
    ----------
    name
        Name of the puzzle. With the suffix ``.zarr`` it is also the name of the puzzle's store.
    start
        One position (the numbers on the places, or a text), or a list of positions.
    moves
        A dictionary from names to moves. A move is a function of positions ``(n, places)`` (see `Functions`) or a
        permutation of the places. A permutation is a list ``p`` with ``after[i] = before[p[i]]``, or a text of cycles
        such as ``"(0 1 2)(3 4)"``, in which the content of each place goes to the place named next. If all moves are
        permutations, the puzzle runs much faster than with functions.
    radices
        Number of values of each place; the values are 0, 1, 2, ... If it is None, the places hold the pieces of the
        start, in any arrangement. Pieces with the same number are identical.
    symbols
        Symbol that is written for each number; by default the number itself, or the symbols of a start that is a text,
        sorted as texts.
    inverses
        Name of the inverse of each reversible move, or a function that undoes the move. A move without an entry
        may be irreversible. The inverses of permutations are computed.
    symmetries
        A dictionary from names to functions of positions or permutations of the places. Each must map every start
        to a start and every move to a move, as rotations and reflections do. If all moves are permutations, the
        symmetries are computed.
    format
        Function that returns a position (a tuple of numbers) as one line of text.
    parse
        Function that returns the numbers of such a line.
    draw
        Function that returns a drawing of a position, in one or several lines.
    shape
        Rows and columns of a board, ``(rows, columns)``, whose squares are the places in reading order. Positions
        are drawn on the board in the terminal, in pictures and in the explorer. A place with the symbol ``.`` is drawn
        as an empty square. If ``draw`` is also given, the terminal shows its drawing instead.
    plain
        Whether the move tables list every position separately, which takes more memory. Functions that treat some rare
        positions differently may need this; the run reports it if they do.
    enumerated
        Whether only reachable positions are numbered. A search lists them, and the list becomes part of the table. Use
        it if only a small fraction of all arrangements is reachable.
    description
        Description of the puzzle in one line.

    Raises
    ------
    InputError
        An argument is invalid; the message names it.
    """
    NAME.check(arguments.text(name, "name"), "name")
    starts = starts_of(start)
    read = _custom(parse, "parse")
    written = symbols_of(starts, symbols, radices, read)
    numbers = tuple(dict.fromkeys(tuple(numbers_of(one, written, read)) for one in starts))
    # Without radices, the numbers of the first start define the pieces, so the starts are read before the parts exist.
    parts = (pieces(numbers[0], written),) if radices is None else fields_of(radices, written)
    text = arguments.text(description, "description")
    notation = CustomNotation(parts, _custom(format, "format"), read, _custom(draw, "draw"), _shape(shape, parts))
    stated = _moves(moves, parts, inverses, plain, symmetries)
    is_enumerated = arguments.flag(enumerated, "enumerated")
    return _with_checked_starts(
        Puzzle.of(name, "python", text, notation, parts, numbers, stated, enumerated=is_enumerated)
    )


PARAMETERS = inspect.signature(define_puzzle).parameters


class Definition:
    """Base class for a puzzle defined as a class, whose attributes and methods are arguments of `define_puzzle`.

    ``moves``, ``inverses`` and ``symmetries`` may be methods that return the argument. By default the puzzle has the
    name of the class, and its description is the first line of the docstring.
    """


def puzzle_of(definition: object, name: str) -> Puzzle:
    """Return the puzzle of a definition: a Puzzle, a function that returns one, or a class like `Definition`.

    Raises InputError if the definition is something else, or if it fails.
    """
    if isinstance(definition, Puzzle):
        return definition
    if isinstance(definition, type):
        return _puzzle_of_class(definition)
    if not callable(definition):
        raise InputError(
            f"{name}: expected a Puzzle, or a function or class that defines one, found {arguments.found(definition)}"
        )
    made = CustomFunction(definition, name)()
    if not isinstance(made, Puzzle):
        raise InputError(f"{name}: the function must return a Puzzle, but returned {arguments.found(made)}")
    return made


def _puzzle_of_class(definition: type) -> Puzzle:
    """Return the puzzle whose arguments are the attributes of a class; some may be methods that return them."""
    instance = CustomFunction(definition, definition.__name__)()
    given = {key: getattr(instance, key) for key in PARAMETERS if hasattr(instance, key)}
    for key in ("moves", "inverses", "symmetries"):
        if inspect.ismethod(given.get(key)):
            given[key] = CustomFunction(given[key], f"{definition.__name__}.{key}")()
    for key in ("start", "moves"):
        if key not in given:
            raise InputError(f"{definition.__name__}: the attribute {key} is missing")
    description = (inspect.getdoc(definition) or "").partition("\n")[0]
    return define_puzzle(**{"name": definition.__name__, "description": description, **given})


def _shape(shape: Sequence[int] | None, parts: Sequence[Part]) -> tuple[int, int] | None:
    """Return rows and columns as Python integers; raise InputError unless the board has one square per place."""
    if shape is None:
        return None
    numbers = arguments.integers(shape, "shape: (rows, columns)", 1).tolist()
    check_shape(numbers, sum(part.places for part in parts))
    rows, columns = numbers
    return rows, columns


def _custom(function: Callable[..., Any] | None, role: str) -> CustomFunction | None:
    return None if function is None else CustomFunction(arguments.function(function, role), role)


def _with_checked_starts(puzzle: Puzzle) -> Puzzle:
    """Return the puzzle; raise InputError if one of its starts is not a position."""
    places = sum(part.places for part in puzzle.parts)
    for start in puzzle.starts:
        if len(start) != places:
            raise InputError(f"start: expected {places} numbers, found {len(start)}")
    try:
        puzzle.checked(puzzle.start_labels)
    except InputError as error:
        raise InputError(f"start: {error}") from None
    return puzzle


def _moves(moves: Any, parts: Sequence[Part], inverses: Any, plain: Any, symmetries: Any) -> Moves:
    """Return the moves that the arguments of `define_puzzle` describe; raise InputError if one is invalid."""
    inverses = dict(arguments.optional(inverses, arguments.mapping, "inverses") or {})
    arguments.flag(plain, "plain")
    symmetries = dict(arguments.optional(symmetries, arguments.mapping, "symmetries") or {})
    if isinstance(moves, Moves):
        _refuse_symmetries(symmetries)
        return moves
    if not isinstance(moves, Mapping) or not moves:
        raise InputError(
            f"moves: expected a dict from names to functions or permutations, found {arguments.found(moves)}"
        )
    for name in moves:
        _check_name(name)
    moduli = moduli_of(parts)
    origins = {name: _origin(name, move, len(moduli)) for name, move in moves.items() if not callable(move)}
    if len(origins) == len(moves):
        if inverses:
            raise InputError("inverses: not needed, because all moves are permutations; leave them out")
        _refuse_symmetries(symmetries)
        return Transforms(origins, list(origins.values()), moduli)
    functions = {name: _permuting(origins[name]) if name in origins else move for name, move in moves.items()}
    known = {name: _permuting(np.argsort(origin)) for name, origin in origins.items()}
    maps = {
        name: one if callable(one) else _permuting(_origin(name, one, len(moduli), "symmetries"))
        for name, one in symmetries.items()
    }
    return Functions(functions, parts, {**known, **inverses}, plain=plain, symmetries=maps)


def _refuse_symmetries(symmetries: Mapping[str, Any]) -> None:
    if symmetries:
        raise InputError(
            "symmetries: only needed if a move is a function, because otherwise they are computed; leave them out"
        )


def _check_name(name: object) -> None:
    SYMBOL.check(arguments.text(name, "the name of a move"), "moves")
    if any(character.isspace() for character in str(name)):
        raise InputError(f"moves: expected names without spaces, found {quote(name)}")


def _origin(name: str, move: Any, places: int, key: str = "moves") -> tuple[int, ...]:
    if not isinstance(move, str):
        move = arguments.integers(move, f"{key}: {name} as a function, or a permutation of the places", 1).tolist()
    return origin_of(name, move, places, key)


def _permuting(origin: Sequence[int] | np.ndarray[Any, Any]) -> Function:
    places = np.asarray(origin)
    return lambda positions: positions[:, places]
