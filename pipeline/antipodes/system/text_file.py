"""Text and TOML files written by users, with size limits that any puzzle or board satisfies."""

import re
import tomllib
from itertools import accumulate
from pathlib import Path
from typing import Any

from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.base.regular_file import open_file

MAX_BYTES = 1 << 20
"""Maximum size of a file in bytes; the edges of a complete graph of 400 squares take less."""
DEEPEST = 16
"""Maximum number of parts of a key, and of nested brackets. tomllib's cost is quadratic in the parts of a key."""

TEXT_OR_COMMENT = re.compile(
    r'"""(?:[^"\\]++|\\.?|"(?!""))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']++|'(?!''))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]++|\\.?)*+(?:"|$)'
    r"|'[^'\n]*+(?:'|$)"
    r"|#[^\n]*+",
    re.DOTALL | re.MULTILINE,
)
"""Strings and comments, in which dots and brackets have no meaning; an unclosed string ends with the line or file."""
CLOSED = re.compile(r'"""(?:[^\\]|\\.)*"""' r"|'''.*'''" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'" r"|#.*", re.DOTALL)
"""A whole comment, or a whole string with the quotes that close it."""
QUOTES = re.compile("\"\"\"|'''|.")
"""The quotes that open a string."""
TOKEN = re.compile(rf"{TEXT_OR_COMMENT.pattern}|[\[\]{{}}]", TEXT_OR_COMMENT.flags)
"""A string, a comment or a bracket."""
ERROR_PLACE = re.compile(r"at line (\d+), column (\d+)")
"""The place of an error in the parser's message; otherwise it is at the end of the file."""
BETWEEN_KEYS = re.compile(r"[\n=,\[\]{}]")


def read_text(path: Path, what: str) -> str:
    """Return the text of a file without a byte order mark; messages call the file ``what``.

    Raises
    ------
    ConfigError
        The file cannot be read, is not UTF-8, or is larger than 1 MiB.
    """
    try:
        with open_file(path) as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"cannot be read as {what}: {error.strerror or error}") from error
    if len(content) > MAX_BYTES:
        raise ConfigError(f"{what} may have at most {MAX_BYTES:,} bytes; this file is larger")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"expected {what} in UTF-8, but byte {error.start} is invalid") from error


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises
    ------
    ConfigError
        The file cannot be read, is not TOML in UTF-8, is larger than 1 MiB, or nests keys or brackets deeper than 16.
    """
    text = read_text(path, "a TOML file")
    _check_depth(TEXT_OR_COMMENT.sub("", text))
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # overlong numbers raise ValueError
        raise ConfigError(f"not a valid TOML file: {_unclosed(text, error) or _brief(error)}") from error


def _check_depth(structure: str) -> None:
    parts = 1 + max(piece.count(".") for piece in BETWEEN_KEYS.split(structure))
    if parts > DEEPEST:
        raise ConfigError(f"a TOML key may have at most {DEEPEST} parts; this file has one with {parts:,}")
    brackets = (1 if bracket in "[{" else -1 for bracket in re.findall(r"[\[\]{}]", structure))
    depth = max(accumulate(brackets), default=0)
    if depth > DEEPEST:
        raise ConfigError(f"TOML brackets may be nested at most {DEEPEST} deep; this file has {depth:,} levels")


def _unclosed(text: str, error: Exception) -> str | None:
    """Return a message about a quote or bracket that is not closed; None if the error has another cause.

    The parser reports the end of the line or file, where it expects the quote or bracket that closes.
    """
    text = text.replace("\r\n", "\n")
    place = ERROR_PLACE.search(str(error))
    end = len(text)
    if place is not None:
        end = sum(len(line) + 1 for line in text.split("\n")[: int(place[1]) - 1]) + int(place[2]) - 1
    brackets = list[re.Match[str]]()
    for token in TOKEN.finditer(text):
        if token.start() >= end:
            break
        if token[0] in ("[", "{"):
            brackets.append(token)
        elif token[0] in ("]", "}"):
            brackets = brackets[:-1]
        elif not CLOSED.fullmatch(token[0]):
            (quotes,) = QUOTES.findall(token[0])[:1]
            return f"the quote {quotes} in {_line(text, token)} is not closed"
    return f"the bracket {brackets[-1][0]} in {_line(text, brackets[-1])} is not closed" if brackets else None


def _line(text: str, token: re.Match[str]) -> str:
    """Return the line of a token as text."""
    return f"line {1 + text.count(chr(10), 0, token.start())}"


def _brief(error: Exception) -> str:
    """Return the parser's message, shortened, because it may quote a whole key."""
    message = str(error)
    return message if len(message) <= 120 else f"{quote(message)[1:-1]} {message[-40:]}"
