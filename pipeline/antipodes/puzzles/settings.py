"""Keys of the ``[puzzle]`` table of a config that all puzzle families share."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from antipodes_tasks import values
from antipodes_tasks.errors import ConfigError
from antipodes_tasks.quoting import quote, shorten

MAX_PLACES = 1024
"""Places of the largest board: a position on it is numbered in microseconds; no larger puzzle has a table that fits."""
MAX_TEXT = 1 << 16
"""Characters of a start: more than the largest board takes with the longest names of its pieces."""
MAX_SYMBOLS = 256
"""Different pieces of a puzzle: a label is a byte."""
START, GOAL, STARTS = "start", "goal", "starts"
"""The key of the positions at depth 0, another word for it, and that of many."""
POSITIONS = "positions"
"""The key of ``starts`` in the settings of a store: the starts themselves; see `antipodes.puzzles.packed_positions`."""
ENUMERATED = "enumerated"
"""The key that says whether positions have numbers, or a search lists them."""
PYTHON = "python"
"""The family of puzzles that are written in Python."""
COMMON = {"name", "description", "family", STARTS, ENUMERATED}
"""The keys of all families."""


def refuse_unknown(settings: Mapping[str, Any], known: set[str]) -> None:
    """Raise ConfigError for the first key that is neither in ``known`` nor common to all families."""
    expected = sorted(known | COMMON | ({GOAL} if START in known else set()))
    for key in settings:
        if key not in expected:
            raise ConfigError(f"[puzzle] {shorten(key)}: unknown key; expected {', '.join(expected)}")


class Identity(TypedDict):
    """What every family takes from a config as it is."""

    name: str
    description: str


def identity(settings: Mapping[str, Any]) -> Identity:
    """The name and the description, as Puzzle takes them."""
    name = text(settings, "name")
    values.NAME.check(name, "[puzzle] name")
    return {"name": name, "description": text(settings, "description", "")}


def text(settings: Mapping[str, Any], key: str, default: str | None = None) -> str:
    """The value of a key that must be a text."""
    kind = values.TEXT if default is not None else values.matching(str.strip, values.TEXT.noun)
    return str(kind.check(required(settings, key, default), f"[puzzle] {key}"))


def bounded_integer(settings: Mapping[str, Any], key: str, least: int, most: int, default: int | None = None) -> int:
    """The value of a key that must be an integer from ``least`` to ``most``."""
    return int(values.integer(least, most).check(required(settings, key, default), f"[puzzle] {key}"))


def flag(settings: Mapping[str, Any], key: str) -> bool:
    """The value of a key that must be true or false; false if it is not given."""
    return bool(values.FLAG.check(settings.get(key, False), f"[puzzle] {key}"))


def choice(settings: Mapping[str, Any], key: str, choices: Sequence[str]) -> str:
    """The value of a key that must be one of some texts; the first one if it is not given."""
    return str(values.one_of(*choices).check(settings.get(key, choices[0]), f"[puzzle] {key}"))


def starts_in(settings: Mapping[str, Any], key: str = START) -> list[str]:
    """The texts of the start, or of another key, which may be one or a list."""
    value = required(settings, key)
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(one, str) and one.strip() for one in texts):
        raise ConfigError(f"[puzzle] {key}: expected a position or a list of positions, found {quote(value)}")
    longest = max(map(len, texts))
    if longest > MAX_TEXT:
        raise ConfigError(f"[puzzle] {key}: expected at most {MAX_TEXT:,} characters, found {longest:,}")
    return texts


def pairs_in(value: Any, key: str, least: int = 0) -> list[tuple[int, int]]:
    """The pairs of integers in a list, each once, at ``least`` so many."""
    if not values.LIST.fits(value) or len(value) < least:
        raise ConfigError(f"{key}: expected a list of pairs of integers, found {quote(value)}")
    for pair in value:
        if not (values.LIST.fits(pair) and len(pair) == 2 and all(map(values.INTEGER.fits, pair))):
            raise ConfigError(f"{key}: expected pairs of integers, found {quote(pair)}")
    return list(dict.fromkeys((a, b) for a, b in value))


def to_labels(starts: Sequence[Sequence[str]], symbols: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The starts as labels, each once; all must have the same pieces."""
    pieces = Counter(starts[0])
    for start in starts[1:]:
        if Counter(start) != pieces:
            differing = sorted((Counter(start) - pieces) + (pieces - Counter(start)))
            raise ConfigError(f"start: expected the same pieces in every position, found other {quote(differing)}")
    if len(symbols) > MAX_SYMBOLS:
        raise ConfigError(f"start: expected at most {MAX_SYMBOLS} different symbols, found {len(symbols)}")
    label = {symbol: number for number, symbol in enumerate(symbols)}
    return tuple(dict.fromkeys(tuple(label[symbol] for symbol in start) for start in starts))


def required(settings: Mapping[str, Any], key: str, default: Any = None) -> Any:
    """The value of a key, or the default if it is not given; ConfigError if there is none of them."""
    if key in settings:
        return settings[key]
    if default is None:
        raise ConfigError(f"[puzzle] {key}: expected this key, which is missing")
    return default
