"""Kinds of values in files and manifests. A kind defines which values are valid, and how messages describe them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import quote


@dataclass(frozen=True)
class ValueKind:
    """A kind of value in TOML or JSON."""

    noun: str
    """The description in messages, after "expected"."""
    fits: Callable[[Any], bool]
    word_type: type = str
    """The type to which the command line converts a value."""
    minimum: int | None = None
    """Minimum of a number, or None."""
    maximum: int | None = None
    """Maximum of a number, or None."""

    def check(self, value: Any, key: str, error: type[Exception] = ConfigError) -> Any:
        """Return the value if it is valid; otherwise raise an ``error`` that begins with the key."""
        if not self.fits(value):
            raise error(f"{key}: expected {self.noun}, found {quote(value)}")
        return value


TEXT = ValueKind("a string", lambda value: isinstance(value, str))
FLAG = ValueKind("true or false", lambda value: isinstance(value, bool), bool)
INTEGER = ValueKind("an integer", lambda value: type(value) is int, int)
NUMBER = ValueKind("a number", lambda value: type(value) in (int, float), float)
LIST = ValueKind("a list", lambda value: isinstance(value, list))
TABLE = ValueKind("a table", lambda value: isinstance(value, dict))
OBJECT = ValueKind("an object", TABLE.fits)
"""The same kind as TABLE, with the name that JSON uses."""


def integer(minimum: int, maximum: int) -> ValueKind:
    """Return the kind of integers from ``minimum`` to ``maximum``, without booleans."""
    noun = f"an integer from {minimum:,} to {maximum:,}"
    return ValueKind(noun, lambda value: type(value) is int and minimum <= value <= maximum, int, minimum, maximum)


def at_least(minimum: int, kind: ValueKind = INTEGER) -> ValueKind:
    """Return the kind of the numbers of a kind that are not less than the minimum."""
    noun = f"{kind.noun} of at least {minimum}"
    return ValueKind(noun, lambda value: kind.fits(value) and value >= minimum, kind.word_type, minimum)


def unsigned(bits: int) -> ValueKind:
    """Return the kind of non-negative integers of at most this many bits, without booleans."""
    noun = f"an unsigned integer of at most {bits:,} bits"
    return ValueKind(noun, lambda value: type(value) is int and value >= 0 and value.bit_length() <= bits)


def one_of(*values: str) -> ValueKind:
    """Return the kind of these strings."""
    return ValueKind(f"one of {', '.join(values)}", lambda value: isinstance(value, str) and value in values)


def matching(fits: Callable[[str], object], noun: str) -> ValueKind:
    """Return the kind of strings for which ``fits`` is true; ``fits`` can be a method of a regular expression."""
    return ValueKind(noun, lambda value: isinstance(value, str) and bool(fits(value)))


def _is_name(text: str) -> bool:
    """Return whether the text is a valid name, which must also be valid in file systems."""
    return re.fullmatch(r"\w[\w .,+-]{0,59}", text) is not None and len(text.encode()) <= LONGEST_FILE_NAME


def _is_symbol(text: str) -> bool:
    """Return whether boards can show the text as the name of a piece."""
    return text.isprintable() and 1 <= len(text) <= LONGEST_SYMBOL and not text.isspace()


LONGEST_FILE_NAME = 200
"""Maximum number of bytes of a name. File systems allow 255, and a store needs some of them for its own names."""
LONGEST_SYMBOL = 32
"""Maximum number of characters of the name of a tile or a piece."""
NAME = matching(_is_name, "at most 60 letters, digits, spaces and . , + - _")
"""The name of a puzzle or a board, which is also used as a file name."""
SYMBOL = matching(_is_symbol, f"names of 1 to {LONGEST_SYMBOL} printable characters")
"""The name of a tile or a piece."""


def natural(symbol: str) -> tuple[bool, int, str]:
    """Return the key by which symbols are sorted: numbers by value, then names alphabetically."""
    return (not symbol.isdecimal(), int(symbol) if symbol.isdecimal() else 0, symbol)
