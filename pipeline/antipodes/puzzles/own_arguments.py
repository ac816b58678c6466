"""The start, the symbols and the fields of a puzzle of a user's own, as `define_puzzle` takes them."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from antipodes.puzzles.settings import MAX_PLACES
from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.names import check_symbol
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.rules.custom_function import CustomFunction
from antipodes_tasks.rules.parts import Part

Position = Sequence[int] | str
MOST_VALUES = 256
"""Values of a place, at most: a label is a byte."""


def starts_of(start: Any) -> list[Position]:
    """The positions of the start, one or several."""
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
    """The symbol of each number: those given, else those in the texts of the starts, else the numbers themselves."""
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
        raise InputError(f"symbols: expected different texts, found {quote(symbols)}")
    for symbol in symbols:
        check_symbol(arguments.text(symbol, "symbols"), "symbols")
    if len(set(symbols)) < len(symbols) or not symbols:
        raise InputError(f"symbols: expected different texts, found {quote(symbols)}")
    return tuple(symbols)


def _checked_radices(radices: Sequence[int]) -> list[int]:
    numbers: list[int] = arguments.integers(radices, "radices", 1).tolist()
    if not numbers or not all(1 <= number <= MOST_VALUES for number in numbers):
        raise InputError(f"radices: expected numbers from 1 to {MOST_VALUES}, found {quote(numbers)}")
    return numbers


def numbers_of(position: Position, symbols: Sequence[str], parse: CustomFunction | None) -> list[int]:
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


def fields_of(radices: Sequence[int], symbols: Sequence[str]) -> tuple[Part, ...]:
    """Places side by side that have as many values are one part."""
    numbers = _checked_radices(radices)
    if max(numbers) > len(symbols):
        raise InputError(f"symbols: expected {max(numbers)}, one for each value of a place, found {len(symbols)}")
    runs = [(radix, len(list(same))) for radix, same in groupby(numbers)]
    return tuple(Part(places, tuple(symbols[:radix])) for radix, places in runs)
