"""Checks and rules that the readers of all formats share."""

import re
from collections.abc import Collection

from antipodes.puzzles.settings import MAX_PLACES
from antipodes_tasks.errors import ConfigError
from antipodes_tasks.quoting import quote

MOST_CHARACTERS = 1 << 20
"""Of a file: the largest puzzles that fit into `MAX_PLACES` take a tenth of it."""
MOST_MOVES = 1024
"""Of a puzzle, powers and other names too: they are held in memory one by one."""
MOST_LABELS = 256
"""Different pieces of an orbit, and orientations of a piece: labels are bytes."""
LONGEST_NAME = 64
"""Characters: some files name moves by the sequences that they stand for."""
WHOLE = re.compile(r"[0-9]{1,9}")
ROTATION = re.compile(r"[xyz][2']?|[A-Z_]+v")


def check_length(text: str) -> None:
    """Raise ConfigError where a file has more than `MOST_CHARACTERS`."""
    if len(text) > MOST_CHARACTERS:
        raise ConfigError(f"expected at most {MOST_CHARACTERS:,} characters, found {len(text):,}")


def check_new(name: str, known: Collection[str], where: str) -> None:
    """Raise ConfigError where a name cannot be shown, or is one of the ``known``, or these are too many."""
    if not name.isprintable() or not 1 <= len(name) <= LONGEST_NAME or name.isspace():
        raise ConfigError(f"{where}: expected a name of 1 to {LONGEST_NAME} printable characters, found {quote(name)}")
    if name in known:
        raise ConfigError(f"{where}: expected a new name, found {quote(name)} again")
    if len(known) >= MOST_MOVES:
        raise ConfigError(f"{where}: expected at most {MOST_MOVES:,} names, found more")


def whole_number(token: str, where: str, least: int, most: int) -> int:
    """The number that the token writes in decimal digits; ConfigError if it is none or out of range."""
    if not WHOLE.fullmatch(token) or not least <= int(token) <= most:
        raise ConfigError(f"{where}: expected a number from {least} to {most}, found {quote(token)}")
    return int(token)


def check_size(sizes: list[int], where: str) -> None:
    """Raise ConfigError where the orbits have more places together than a puzzle may."""
    if sum(sizes) > MAX_PLACES:
        raise ConfigError(f"{where}: expected at most {MAX_PLACES} places in all, found {sum(sizes):,}")


def check_permutation(permutation: list[int], where: str, first: int) -> None:
    """Raise ConfigError for the first number that the list repeats; its range must be checked before.

    ``first`` is what the file counts from.
    """
    seen = set()
    for number in permutation:
        if number in seen:
            raise ConfigError(f"{where}: expected each place once, found {number + first} twice")
        seen.add(number)


def is_rotation(name: str) -> bool:
    """Whether a name means a rotation of the whole puzzle, which is no move of a search.

    The rule is that of twsearch: ``x``, ``y`` and ``z``, alone or with ``2`` or a prime, and names of capital letters
    and underscores with a ``v`` at the end, such as ``Uv``.
    """
    return ROTATION.fullmatch(name) is not None
