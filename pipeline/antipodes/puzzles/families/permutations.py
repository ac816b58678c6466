"""Pancakes, TopSpin, and permutations of a user's own: pieces in a row that moves permute."""

from collections.abc import Mapping, Sequence
from typing import Any

from antipodes.puzzles.drawings.pancakes import Pancakes
from antipodes.puzzles.drawings.rings import Ring
from antipodes.puzzles.notation import Notation, symbols_in
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import (
    MAX_SYMBOLS,
    bounded_integer,
    identity,
    refuse_unknown,
    starts_in,
    to_labels,
)
from antipodes_tasks.errors import ConfigError
from antipodes_tasks.names import check_symbol, natural
from antipodes_tasks.quoting import counted, quote
from antipodes_tasks.rules.transforms import Transforms

Starts = list[list[str]]
Origins = dict[str, list[int]]


def pancake(settings: Mapping[str, Any]) -> Puzzle:
    """A stack of ``n`` pancakes, or the ``start``, in which some may be equal; a move turns over the topmost ones.

    A move is named after the number of pancakes that it turns over.

    Raises
    ------
    ConfigError
        A key is unknown, missing or out of range; the message names it.
    """
    refuse_unknown(settings, {"n", "start"})
    starts = row_starts(settings, 1)
    size = len(starts[0])
    if size < 2:
        raise ConfigError("expected at least 2 pancakes, found 1")
    flips = {str(n): [*range(n - 1, -1, -1), *range(n, size)] for n in range(2, size + 1)}
    return _puzzle(settings, starts, flips, Pancakes(size, symbols_of(starts)))


def topspin(settings: Mapping[str, Any]) -> Puzzle:
    """A ring of ``n`` pieces, or the ``start``, and a turntable for ``k`` of them, by default 4.

    ``L`` and ``R`` rotate all pieces by one place, to the left or to the right; ``X`` reverses the first ``k``.

    Raises
    ------
    ConfigError
        A key is unknown, missing or out of range; the message names it.
    """
    refuse_unknown(settings, {"n", "k", "start"})
    starts = row_starts(settings, 1)
    size = len(starts[0])
    k = bounded_integer(settings, "k", 2, size, 4)
    moves = {
        "L": [*range(1, size), 0],
        "R": [size - 1, *range(size - 1)],
        "X": [*range(k - 1, -1, -1), *range(k, size)],
    }
    return _puzzle(settings, starts, moves, Ring(size, k))


def row_starts(settings: Mapping[str, Any], first: int) -> Starts:
    """The symbols of each start: of the key ``start``, else those of ``n`` different pieces, counted from ``first``."""
    if "start" not in settings:
        if "n" not in settings:
            raise ConfigError("[puzzle]: expected the key n or start, found neither")
        n = bounded_integer(settings, "n", 1, MAX_SYMBOLS)
        return [[str(number) for number in range(first, first + n)]]
    starts = [_symbols(text) for text in starts_in(settings)]
    if settings.get("n", len(starts[0])) != len(starts[0]):
        raise ConfigError(f"[puzzle] n: expected {len(starts[0])}, the pieces of start, found {quote(settings['n'])}")
    for start in starts:
        if len(start) != len(starts[0]):
            raise ConfigError(
                f"start: expected {counted(len(starts[0]), 'symbol')} in every position, found {len(start)}"
            )
        for symbol in start:
            check_symbol(symbol, "start")
    return starts


def _symbols(text: str) -> list[str]:
    """The symbols of a start; a single word of several characters is as many symbols."""
    written = symbols_in(text)
    return list(written[0]) if len(written) == 1 else written


def symbols_of(starts: Starts) -> tuple[str, ...]:
    """The different symbols, numbers by value."""
    return tuple(sorted(set(starts[0]), key=natural))


def row_puzzle(settings: Mapping[str, Any], starts: Starts, moves: Transforms, notation: Notation) -> Puzzle:
    """The puzzle of pieces in a row with these starts and moves."""
    symbols = symbols_of(starts)
    return Puzzle.of_pieces(
        **identity(settings),
        family=settings["family"],
        notation=notation,
        symbols=symbols,
        starts=to_labels(starts, symbols),
        moves=moves,
    )


def _puzzle(
    settings: Mapping[str, Any], starts: Starts, origins: Mapping[str, Sequence[int]], notation: Notation
) -> Puzzle:
    return row_puzzle(settings, starts, Transforms.permuting(origins, len(set(starts[0]))), notation)
