"""Kinds of values in files and manifests, names among them: what fits, and what messages call it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from antipodes_tasks.errors import ConfigError
from antipodes_tasks.quoting import quote


@dataclass(frozen=True)
class Kind:
    """A kind of value, as TOML and JSON know it."""

    noun: str
    """The word for it in messages, after "expected"."""
    fits: Callable[[Any], bool]

    def check(self, value: Any, key: str, error: type[Exception] = ConfigError) -> Any:
        """The value, if it fits; an ``error`` that begins with the key if not."""
        if not self.fits(value):
            raise error(f"{key}: expected {self.noun}, found {quote(value)}")
        return value


TEXT = Kind("a text", lambda value: isinstance(value, str))
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
INTEGER = Kind("an integer", lambda value: type(value) is int)
NUMBER = Kind("a number", lambda value: type(value) in (int, float))
LIST = Kind("a list", lambda value: isinstance(value, list))
TABLE = Kind("a table", lambda value: isinstance(value, dict))
OBJECT = Kind("an object", TABLE.fits)
"""JSON's word for a table."""


def integer(least: int, most: int) -> Kind:
    """Integers from ``least`` to ``most``; no truth values."""
    return Kind(f"an integer from {least:,} to {most:,}", lambda value: type(value) is int and least <= value <= most)


def unsigned(bits: int) -> Kind:
    """Integers of at most so many bits, none of them negative; no truth values."""
    noun = f"an unsigned integer of at most {bits:,} bits"
    return Kind(noun, lambda value: type(value) is int and value >= 0 and value.bit_length() <= bits)


def one_of(*values: str) -> Kind:
    """These texts."""
    return Kind(f"one of {', '.join(values)}", lambda value: isinstance(value, str) and value in values)


def matching(fits: Callable[[str], object], noun: str) -> Kind:
    """Texts for which ``fits`` is true, such as the method of a regular expression."""
    return Kind(noun, lambda value: isinstance(value, str) and bool(fits(value)))


def _is_name(text: str) -> bool:
    """Whether a file system takes it, too."""
    return re.fullmatch(r"\w[\w .,+-]{0,59}", text) is not None and len(text.encode()) <= LONGEST_FILE_NAME


def _is_symbol(text: str) -> bool:
    """Whether boards can show it."""
    return text.isprintable() and 1 <= len(text) <= LONGEST_SYMBOL and not text.isspace()


LONGEST_FILE_NAME = 200
"""Bytes of a name; file systems take 255, of which a store needs some for names beside its own."""
LONGEST_SYMBOL = 32
"""Characters of a tile or a piece."""
NAME = matching(_is_name, "at most 60 letters, digits, blanks and . , + - _")
"""The name of a puzzle or a board, which is also that of a file."""
SYMBOL = matching(_is_symbol, f"names of 1 to {LONGEST_SYMBOL} printable characters")
"""The name of a tile or a piece."""


def natural(symbol: str) -> tuple[bool, int, str]:
    """The key by which symbols are sorted: numbers by value, then names by alphabet."""
    return (not symbol.isdecimal(), int(symbol) if symbol.isdecimal() else 0, symbol)
