"""Puzzles of a user's own, defined in Python: the one module that such a definition imports.

>>> puzzle = define_puzzle(name="dial", radices=[5], start=[0], moves={"up": lambda dials: (dials + 1) % 5})
>>> puzzle.successors(puzzle.parse("4")).tolist()
[[0]]
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from antipodes import arguments
from antipodes.errors import InputError
from antipodes.names import check_name, check_symbol
from antipodes.puzzles.families.generators import origin_of
from antipodes.puzzles.moves.functions import Function, Functions
from antipodes.puzzles.moves.moves import Moves
from antipodes.puzzles.moves.transforms import Transforms
from antipodes.puzzles.own_function import OwnFunction
from antipodes.puzzles.own_notation import OwnNotation
from antipodes.puzzles.part import Part, pieces
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import MAX_PLACES
from antipodes.quoting import quote, shorten

Position = Sequence[int] | str
Move = Function | Sequence[int] | str
Inverses = Mapping[str, str | Function | None]
MOST_VALUES = 256
"""Values of a place, at most: a label is a byte."""


def define_puzzle(
    *,
    name: str,
    start: Position | Sequence[Position],
    moves: Mapping[str, Move] | Moves,
    radices: Sequence[int] | None = None,
    symbols: Sequence[str] | None = None,
    inverses: Inverses | None = None,
    format: Callable[[tuple[int, ...]], str] | None = None,
    parse: Callable[[str], Sequence[int]] | None = None,
    draw: Callable[[tuple[int, ...]], str] | None = None,
    plain: bool = False,
    description: str = "",
) -> Puzzle:
    """A puzzle, to run and query as those that come with the program.

    Parameters
    ----------
    name
        The name of the puzzle and, with ``.zarr``, of its store.
    start
        The numbers on the places, or the text of a position, or a list of several such positions.
    moves
        By name, either functions of positions ``(n, places)``; see `Functions`. Or permutations of the places: a list
        ``p`` says what each place gets, ``after[i] = before[p[i]]``; in cycles such as ``"(0 1 2)(3 4)"`` the content
        of a place goes to the next place named. Permutations alone run much faster than functions.
    radices
        For each place the number of its values, which are counted from 0. None: the places hold the pieces of the
        start, in any arrangement; pieces with the same number are equal.
    symbols
        How each number is written, where that is not the number itself.
    inverses
        For a move the name of the move that undoes it, or a function that does. Without it the move may be one-way.
        The inverse of a permutation is known.
    format, parse
        A position, a tuple of numbers, as one line of text; and the numbers of such a line.
    draw
        A position as a drawing of one or several lines.
    plain
        Whether the move tables list each position apart, which takes more memory. Functions that move some rare
        positions differently may need that; a run says so.
    description
        A line about the puzzle.

    Raises
    ------
    InputError
        An argument is none of these; the message names it.
    """
    check_name(arguments.text(name, "name"), "name")
    starts = _starts(start)
    written = _written(starts, symbols, radices, parse)
    read = _own(parse, "parse")
    first, *others = (tuple(_numbers(one, written, read)) for one in starts)
    parts = (pieces(first, written),) if radices is None else _fields(radices, written)
    puzzle = Puzzle(
        name,
        "python",
        arguments.text(description, "description"),
        OwnNotation(parts, _own(format, "format"), read, _own(draw, "draw")),
        parts,
        tuple(dict.fromkeys((first, *others))),
        _moves(moves, parts, dict(inverses or {}), arguments.flag(plain, "plain")),
    )
    _check_starts(puzzle)
    return puzzle


PARAMETERS = inspect.signature(define_puzzle).parameters


class Definition:
    """The base of a puzzle that is a class: its attributes and methods are the arguments of `define_puzzle`.

    ``moves`` and ``inverses`` may be methods that return them. The name is that of the class, and the description the
    first line of its docstring, if they are not said otherwise.
    """


def puzzle_of(definition: object, name: str) -> Puzzle:
    """The puzzle of a definition: a Puzzle, a function that returns one, or a class with the arguments of one.

    Raises
    ------
    InputError
        It is something else, or fails.
    """
    if isinstance(definition, Puzzle):
        return definition
    if isinstance(definition, type):
        return _puzzle_of_class(definition)
    if not callable(definition):
        raise InputError(
            f"{name}: expected a Puzzle, or a function or class for one, found {arguments.found(definition)}"
        )
    made = OwnFunction(definition, name)()
    if not isinstance(made, Puzzle):
        raise InputError(f"{name}: expected a function that returns a Puzzle, found {arguments.found(made)}")
    return made


def _puzzle_of_class(definition: type) -> Puzzle:
    """The puzzle whose arguments are the attributes of a class; ``moves`` may be a method that returns them."""
    instance = OwnFunction(definition, definition.__name__)()
    given = {key: getattr(instance, key) for key in PARAMETERS if hasattr(instance, key)}
    for key in ("moves", "inverses"):
        if inspect.ismethod(given.get(key)):
            given[key] = OwnFunction(given[key], f"{definition.__name__}.{key}")()
    for key in ("start", "moves"):
        if key not in given:
            raise InputError(f"{definition.__name__}: expected an attribute {key}, found none")
    return define_puzzle(**{"name": definition.__name__, "description": _first_line(definition), **given})


def _first_line(definition: type) -> str:
    return (inspect.getdoc(definition) or "").partition("\n")[0]


def _own(function: Callable[..., Any] | None, role: str) -> OwnFunction | None:
    return None if function is None else OwnFunction(arguments.function(function, role), role)


def _starts(start: Any) -> list[Position]:
    """The positions of the start, one or several."""
    if isinstance(start, str):
        return [start]
    if not isinstance(start, list | tuple | np.ndarray) or not len(start):
        raise InputError(f"start: expected a position or a list of positions, found {arguments.found(start)}")
    several = isinstance(start[0], str | list | tuple | np.ndarray)
    positions: Any = start if several else [start]
    return list(positions)


def _written(
    starts: Sequence[Position], symbols: Sequence[str] | None, radices: Sequence[int] | None, parse: object
) -> tuple[str, ...]:
    """The symbol of each number: those given, else those in the texts of the starts, else the numbers themselves."""
    if symbols is not None:
        return _checked_symbols(symbols)
    if radices is not None:
        return tuple(map(str, range(max(_checked_radices(radices)))))
    texts = [one for one in starts if isinstance(one, str)]
    if texts and not parse:
        return tuple(sorted({symbol for text in texts for symbol in _tokens(text)}))
    numbers = [_numbers(one, (), _own(parse, "parse")) for one in starts]  # type: ignore[arg-type]
    return tuple(map(str, range(max(map(max, numbers)) + 1)))


def _checked_symbols(symbols: Sequence[str]) -> tuple[str, ...]:
    if isinstance(symbols, str | list | tuple) and len(set(symbols)) == len(symbols) > 0:
        for symbol in symbols:
            check_symbol(arguments.text(symbol, "symbols"), "symbols")
        return tuple(symbols)
    raise InputError(f"symbols: expected different texts, found {quote(symbols)}")


def _checked_radices(radices: Sequence[int]) -> list[int]:
    numbers: list[int] = arguments.integers(radices, "radices", 1).tolist()
    if not numbers or not all(1 <= number <= MOST_VALUES for number in numbers):
        raise InputError(f"radices: expected numbers from 1 to {MOST_VALUES}, found {quote(numbers)}")
    return numbers


def _numbers(position: Position, symbols: Sequence[str], parse: OwnFunction | None) -> list[int]:
    """The numbers of a start, in range of a label."""
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
        arguments.integer(number, "start: numbers", 0, (len(symbols) or MOST_VALUES) - 1)
    return numbers


def _tokens(text: str, known: Sequence[str] = ()) -> list[str]:
    """The symbols of a text: those between blanks, or the characters of a single word that is not known itself."""
    words = text.split()
    return list(words[0]) if len(words) == 1 and words[0] not in known else words


def _label(token: str, symbols: Sequence[str]) -> int:
    if token not in symbols:
        raise InputError(f"start: expected one of {shorten(' '.join(symbols))}, found {quote(token)}")
    return list(symbols).index(token)


def _fields(radices: Sequence[int], symbols: Sequence[str]) -> tuple[Part, ...]:
    """Places side by side that have as many values are one part."""
    numbers = _checked_radices(radices)
    if max(numbers) > len(symbols):
        raise InputError(f"symbols: expected {max(numbers)}, one for each value of a place, found {len(symbols)}")
    runs = [(radix, len(list(same))) for radix, same in groupby(numbers)]
    return tuple(Part(places, tuple(symbols[:radix])) for radix, places in runs)


def _check_starts(puzzle: Puzzle) -> None:
    places = sum(part.places for part in puzzle.parts)
    for start in puzzle.starts:
        if len(start) != places:
            raise InputError(f"start: expected {places} numbers, found {len(start)}")
    try:
        puzzle.checked(puzzle.start_labels)
    except InputError as error:
        raise InputError(f"start: {error}") from None


def _moves(moves: Any, parts: Sequence[Part], inverses: dict[str, str | Function | None], plain: bool) -> Moves:
    if isinstance(moves, Moves):
        return moves
    if not isinstance(moves, Mapping) or not moves:
        raise InputError(f"moves: expected functions or permutations by name, found {arguments.found(moves)}")
    for name in moves:
        _check_name(name)
    moduli = [len(part.symbols) for part in parts for _ in range(part.places)]
    origins = {name: _origin(name, move, len(moduli)) for name, move in moves.items() if not callable(move)}
    if len(origins) == len(moves):
        if inverses:
            raise InputError("inverses: expected none, since those of permutations are known")
        return Transforms(origins, list(origins.values()), moduli)
    functions = {name: _permuting(origins[name]) if name in origins else move for name, move in moves.items()}
    known = {name: _permuting(np.argsort(origin)) for name, origin in origins.items()}
    return Functions(functions, parts, {**known, **inverses}, plain=plain)


def _check_name(name: object) -> None:
    check_symbol(arguments.text(name, "the name of a move"), "moves")
    if any(character.isspace() for character in str(name)):
        raise InputError(f"moves: expected names without blanks, found {quote(name)}")


def _origin(name: str, move: Any, places: int) -> tuple[int, ...]:
    if not isinstance(move, str):
        move = arguments.integers(move, f"moves: {name} as a function, or a permutation of the places", 1).tolist()
    return origin_of(name, move, places)


def _permuting(origin: Sequence[int] | np.ndarray[Any, Any]) -> Function:
    places = np.asarray(origin)
    return lambda positions: positions[:, places]
