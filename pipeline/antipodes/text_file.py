"""Files that a person wrote, texts and TOML, within limits that any puzzle or board keeps."""

import re
import tomllib
from itertools import accumulate
from pathlib import Path
from typing import Any

from antipodes.regular_file import open_file
from antipodes_tasks.errors import ConfigError
from antipodes_tasks.quoting import quote

MAX_BYTES = 1 << 20
"""A complete graph of 400 squares, edge by edge, is smaller."""
DEEPEST = 16
"""Parts of a key, and brackets within brackets. tomllib takes time and memory by the square of a key's parts."""

TEXT_OR_COMMENT = re.compile(
    r'"""(?:[^"\\]++|\\.?|"(?!""))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']++|'(?!''))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]++|\\.?)*+(?:"|$)'
    r"|'[^'\n]*+(?:'|$)"
    r"|#[^\n]*+",
    re.DOTALL | re.MULTILINE,
)
"""Where dots and brackets mean nothing. Each part ends at the end of the line or of the file at the latest."""
BETWEEN_KEYS = re.compile(r"[\n=,\[\]{}]")


def read_text(path: Path, what: str) -> str:
    """The text of a file, without a byte order mark; messages call it ``what``.

    Raises
    ------
    ConfigError
        The file cannot be read, is not UTF-8, or is larger than 1 MiB.
    """
    try:
        with open_file(path) as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"expected {what}: {error.strerror or error}") from error
    if len(content) > MAX_BYTES:
        raise ConfigError(f"expected {what} of at most {MAX_BYTES:,} bytes, found a larger one")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"expected {what} in UTF-8, found other bytes at {error.start}") from error


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file.

    Raises
    ------
    ConfigError
        The file cannot be read, is no TOML in UTF-8, is larger than 1 MiB, or nests keys or brackets deeper than 16.
    """
    text = read_text(path, "a TOML file")
    _check_depth(TEXT_OR_COMMENT.sub("", text))
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # numbers without end are a ValueError
        raise ConfigError(f"expected a TOML file: {_brief(error)}") from error


def _check_depth(structure: str) -> None:
    parts = 1 + max(piece.count(".") for piece in BETWEEN_KEYS.split(structure))
    if parts > DEEPEST:
        raise ConfigError(f"expected a TOML file whose keys have at most {DEEPEST} parts, found one of {parts:,}")
    brackets = (1 if bracket in "[{" else -1 for bracket in re.findall(r"[\[\]{}]", structure))
    depth = max(accumulate(brackets), default=0)
    if depth > DEEPEST:
        raise ConfigError(f"expected a TOML file with at most {DEEPEST} brackets in brackets, found {depth:,}")


def _brief(error: Exception) -> str:
    """The parser's message, in which a key may be quoted whole."""
    message = str(error)
    return message if len(message) <= 120 else f"{quote(message)[1:-1]} {message[-40:]}"
