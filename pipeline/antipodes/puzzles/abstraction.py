"""Patterns of a puzzle: the same puzzle with some pieces taken as equal, as settings for a config.

Each position of the puzzle is one of the pattern, and each move a move. So the pattern's distances are never greater
than those of the puzzle: its table is an admissible heuristic (J. C. Culberson and J. Schaeffer, Pattern Databases,
1998).
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from antipodes.puzzles.board import HOLE, Board
from antipodes.puzzles.notation import symbols_in
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.values import NAME

OTHERS = ("x", "y", "z", "others")
"""Symbols for the pieces that are taken as equal: the first that the puzzle does not have."""
FAMILIES = ("sliding", "jump", "pancake", "topspin", "generators")
"""The families whose positions are pieces with symbols in a row, as their ``start`` writes them."""
N, START, GOAL, FREE = "n", "start", "goal", "free"


def abstracted(
    puzzle: Puzzle, keep: Sequence[str] | None, equal: Sequence[Sequence[str]] = (), free: bool = False
) -> dict[str, Any]:
    """The settings of a pattern of the puzzle.

    Parameters
    ----------
    keep
        The symbols of the pieces that stay as they are; all others but the blank become equal. None: all stay.
    equal
        Symbols that become equal among themselves, under the first of them.
    free
        Whether moves of the pieces that are not kept cost nothing, in sliding puzzles.

    Raises
    ------
    InputError
        The puzzle is of another family, or has no such symbol; or nothing becomes equal.
    """
    settings = dict(puzzle.settings or {})
    if settings.get("family") not in FAMILIES:
        raise InputError(f"expected a puzzle of the family {', '.join(FAMILIES)}, found {shorten(puzzle.family)}")
    if free and (settings["family"] != "sliding" or keep is None):
        raise InputError("--free: expected a sliding puzzle and --keep: moves of the other tiles cost nothing")
    pieces = [symbol for symbol in puzzle.symbols if symbol not in _empty(puzzle)]
    for symbol in chain(keep or (), *equal):
        if symbol not in pieces:
            raise InputError(f"expected pieces of {puzzle.name}: {shorten(' '.join(pieces))}; found {quote(symbol)}")
    other = next(symbol for symbol in OTHERS if symbol not in pieces)
    becomes = {symbol: symbol if keep is None or symbol in keep else other for symbol in pieces}
    given = list(chain(*map(dict.fromkeys, equal)))
    if twice := [symbol for symbol in pieces if given.count(symbol) > 1]:
        raise InputError(f"--equal: expected each piece once, found {quote(twice[0])} twice; name all of them together")
    for own in equal:
        becomes.update(dict.fromkeys(own, own[0]))
    if len(set(becomes.values())) == len(pieces):
        raise InputError(f"expected pieces that become equal, found {shorten(' '.join(pieces))}, all different")
    key = GOAL if GOAL in settings else START
    starts = settings.get(key, puzzle.format(puzzle.start_labels[0]))
    several = isinstance(starts, list)
    rewritten = [_rewritten(start, puzzle, becomes) for start in (starts if several else [starts])]
    kept = "-".join(keep if keep is not None else map("".join, equal))
    name = f"{puzzle.name}-{kept}"
    settings.pop(N, None)  # the start says how many
    return {
        **settings,
        "name": name if NAME.fits(name) else f"{puzzle.name[:40]}-pattern",
        "description": f"A pattern of {puzzle.name}",
        key: rewritten if several else rewritten[0],
        **({FREE: [other]} if free else {}),
    }


def _empty(puzzle: Puzzle) -> tuple[str, ...]:
    """The symbols of no piece."""
    return (HOLE, *puzzle.notation.empty_symbols) if isinstance(puzzle.notation, Board) else ()


def _rewritten(start: str, puzzle: Puzzle, becomes: Mapping[str, str]) -> str:
    """A start with the new symbols; on a board in rows."""
    board = puzzle.notation if isinstance(puzzle.notation, Board) else None
    row = board.columns if board else puzzle.places
    symbols = symbols_in(start, puzzle.places, row * (board.rows if board else 1))
    new = [becomes.get(symbol, symbol) for symbol in symbols]
    return "\n".join(" ".join(new[first : first + row]) for first in range(0, len(new), row))
