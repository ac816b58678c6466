"""Keys of the ``[puzzle]`` table of a config that all puzzle families share, and functions that read them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from antipodes_tasks.base import values
from antipodes_tasks.base.errors import ConfigError, InputError
from antipodes_tasks.base.quoting import quote, shorten

MAX_PLACES = 1024
"""Maximum number of places. Ranking a position of this size takes microseconds; no table of a larger puzzle would fit.
"""
MAX_TEXT = 1 << 16
"""Maximum number of characters of a start; enough for the largest board with the longest names of pieces."""
MAX_SYMBOLS = 256
"""Maximum number of different pieces of a puzzle: a label is a byte."""
START, GOAL, STARTS = "start", "goal", "starts"
"""The key of the start, its synonym if there is no start, and the key of a large set of starts."""
POSITIONS = "positions"
"""The key of the packed starts in a store's ``starts``; see `antipodes.puzzles.packed_positions`."""
ENUMERATED = "enumerated"
"""The key for listing the reachable positions by a search instead of numbering all arrangements by a formula."""
PYTHON = "python"
"""The family of puzzles that are written in Python."""
COMMON = {"name", "description", "family", STARTS, ENUMERATED}
"""The keys that all families have."""


def refuse_unknown(settings: Mapping[str, Any], known: set[str]) -> None:
    """Raise ConfigError for the first key that is neither in ``known`` nor common to all families."""
    expected = sorted(known | COMMON | ({GOAL} if START in known else set()))
    for key in settings:
        if key not in expected:
            raise ConfigError(f"[puzzle] {shorten(key)}: unknown key; expected {', '.join(expected)}")


class Identity(TypedDict):
    """The settings that every family copies into the puzzle unchanged."""

    name: str
    description: str


def identity(settings: Mapping[str, Any]) -> Identity:
    """Return the name and description, as keyword arguments of Puzzle."""
    name = text(settings, "name")
    values.NAME.check(name, "[puzzle] name")
    return {"name": name, "description": text(settings, "description", "")}


def text(settings: Mapping[str, Any], key: str, default: str | None = None) -> str:
    """Return the value of a key that must be a string."""
    kind = values.TEXT if default is not None else values.matching(str.strip, values.TEXT.noun)
    return str(kind.check(required(settings, key, default), f"[puzzle] {key}"))


def bounded_integer(
    settings: Mapping[str, Any], key: str, minimum: int, maximum: int, default: int | None = None
) -> int:
    """Return the value of a key that must be an integer from ``minimum`` to ``maximum``."""
    return int(values.integer(minimum, maximum).check(required(settings, key, default), f"[puzzle] {key}"))


def flag(settings: Mapping[str, Any], key: str) -> bool:
    """Return the value of a key that must be true or false (default false)."""
    return bool(values.FLAG.check(settings.get(key, False), f"[puzzle] {key}"))


def choice(settings: Mapping[str, Any], key: str, choices: Sequence[str]) -> str:
    """Return the value of a key that must be one of the ``choices`` (default the first)."""
    return str(values.one_of(*choices).check(settings.get(key, choices[0]), f"[puzzle] {key}"))


def starts_in(settings: Mapping[str, Any], key: str = START) -> list[str]:
    """Return the texts of the start, or of another key whose value is one text or a list of texts."""
    value = required(settings, key)
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(one, str) and one.strip() for one in texts):
        raise ConfigError(f"[puzzle] {key}: expected a position or a list of positions, found {quote(value)}")
    longest = max(map(len, texts))
    if longest > MAX_TEXT:
        raise ConfigError(f"[puzzle] {key}: expected at most {MAX_TEXT:,} characters, found {longest:,}")
    return texts


def pairs_in(value: Any, key: str, min_pairs: int = 0) -> list[tuple[int, int]]:
    """Return the distinct pairs of integers in a list, which must contain at least ``min_pairs`` pairs."""
    if not values.LIST.fits(value) or len(value) < min_pairs:
        raise ConfigError(f"{key}: expected a list of pairs of integers, found {quote(value)}")
    for pair in value:
        if not (values.LIST.fits(pair) and len(pair) == 2 and all(map(values.INTEGER.fits, pair))):
            raise ConfigError(f"{key}: expected pairs of integers, found {quote(pair)}")
    return list(dict.fromkeys((a, b) for a, b in value))


def numbers_in(value: Any, where: str, size: int, maximum: int, error: type[InputError] = ConfigError) -> list[int]:
    """Return the value if it is a list of ``size`` integers from 0 to ``maximum``; raise an ``error`` otherwise."""
    if not values.LIST.fits(value) or len(value) != size:
        found = f"a list of {len(value)}" if values.LIST.fits(value) else quote(value)
        raise error(f"{where}: expected a list of {size} numbers, found {found}")
    kind = values.integer(0, maximum)
    return [kind.check(one, f"{where}[{k}]", error) for k, one in enumerate(value)]


def to_labels(starts: Sequence[Sequence[str]], symbols: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the distinct starts as labels; raise ConfigError unless all starts have the same pieces."""
    pieces = Counter(starts[0])
    for start in starts[1:]:
        if Counter(start) != pieces:
            differing = sorted((Counter(start) - pieces) + (pieces - Counter(start)))
            names = shorten(", ".join(differing))
            raise ConfigError(f"start: every position must have the same pieces, but these differ in number: {names}")
    if len(symbols) > MAX_SYMBOLS:
        raise ConfigError(f"start: expected at most {MAX_SYMBOLS} different symbols, found {len(symbols)}")
    label = {symbol: number for number, symbol in enumerate(symbols)}
    return tuple(dict.fromkeys(tuple(label[symbol] for symbol in start) for start in starts))


def required(settings: Mapping[str, Any], key: str, default: Any = None) -> Any:
    """Return the value of a key, or the default; raise ConfigError if the key is missing and has no default."""
    if key in settings:
        return settings[key]
    if default is None:
        raise ConfigError(f"[puzzle]: the key '{key}' is missing")
    return default
