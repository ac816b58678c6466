"""Names of puzzles, boards, tiles and pieces."""

import re

from antipodes_tasks.errors import ConfigError
from antipodes_tasks.quoting import quote

NAME = re.compile(r"\w[\w .,+-]{0,59}")
"""The name of a puzzle or a board is also that of a file."""
LONGEST_FILE_NAME = 200
"""Bytes of a name; file systems take 255, of which a store needs some for names beside its own."""
LONGEST_SYMBOL = 32
"""Characters of a tile or a piece."""


def check_name(name: str, key: str) -> None:
    """Raise ConfigError, which begins with the key, where a name cannot be that of a file, too."""
    if not NAME.fullmatch(name) or len(name.encode()) > LONGEST_FILE_NAME:
        raise ConfigError(f"{key}: expected at most 60 letters, digits, blanks and . , + - _, found {quote(name)}")


def check_symbol(symbol: str, key: str) -> None:
    """Raise ConfigError, which begins with the key, where a tile or a piece has a name that boards cannot show."""
    if not symbol.isprintable() or not 1 <= len(symbol) <= LONGEST_SYMBOL or symbol.isspace():
        raise ConfigError(f"{key}: expected names of 1 to {LONGEST_SYMBOL} printable characters, found {quote(symbol)}")


def natural(symbol: str) -> tuple[bool, int, str]:
    """The key by which symbols are sorted: numbers by value, then names by alphabet."""
    return (not symbol.isdecimal(), int(symbol) if symbol.isdecimal() else 0, symbol)
