"""Sliding-tile puzzles: a tile next to an empty square moves onto it; in the metric "slides", a whole line may move."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from antipodes.puzzles.board import HOLE, Board, WalledBoard, common_holes
from antipodes.puzzles.notation import symbols_in
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import (
    MAX_PLACES,
    bounded_integer,
    choice,
    identity,
    pairs_in,
    refuse_unknown,
    starts_in,
    to_labels,
)
from antipodes_tasks.base import values
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import counted, quote
from antipodes_tasks.base.values import SYMBOL, natural
from antipodes_tasks.rules.counted_swaps import CountedSwaps
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import pieces
from antipodes_tasks.rules.slides import slides
from antipodes_tasks.rules.squares import Square, TileStep, square_of, squares_of
from antipodes_tasks.rules.swaps import Swaps

BLANK = ("0", ".")
TILE = re.compile(r"\w+")
METRICS = STEPS, SLIDES = "steps", "slides"
Pair = tuple[int, int]


def sliding(settings: Mapping[str, Any]) -> Puzzle:
    """Return the sliding-tile puzzle of a ``[puzzle]`` table.

    The keys are ``rows``, ``columns``, ``start``, ``walls``, ``free`` and ``metric``. In ``start``, ``0`` or ``.`` is a
    blank, and ``#`` marks a hole. A wall is a pair of adjacent squares between which no tile can move. Moves of
    ``free`` tiles cost nothing. The ``metric`` counts ``"steps"`` of one tile, or ``"slides"`` of all tiles of a row or
    column between a tile and a blank.
    """
    refuse_unknown(settings, {"rows", "columns", "start", "walls", "free", "metric"})
    rows, columns = (bounded_integer(settings, key, 1, MAX_PLACES) for key in ("rows", "columns"))
    if rows * columns > MAX_PLACES:
        raise ConfigError(f"rows, columns: expected at most {MAX_PLACES} places, found {rows * columns}")
    drawn = [_start(text, rows, columns) for text in starts_in(settings)]
    holes = common_holes(drawn)
    starts = [[tile for tile in tiles if tile != HOLE] for tiles in drawn]
    symbols = (BLANK[0], *sorted({tile for start in starts for tile in start} - {BLANK[0]}, key=natural))
    squares = squares_of(rows, columns, holes)
    pairs = neighbours(rows, columns, holes)
    walls = _walls(settings, squares, rows, pairs)
    labels = to_labels(starts, symbols)
    one_blank = starts[0].count(BLANK[0]) == 1
    steps = [pair for pair in pairs if pair not in walls]
    moves: Moves
    if choice(settings, "metric", METRICS) == SLIDES:
        if "free" in settings:
            raise ConfigError('metric: "slides" cannot be combined with free tiles; use "steps"')
        moves = slides(steps, squares, rows, len(symbols), one_blank)
    elif "free" in settings:
        moves = CountedSwaps(Swaps(steps, TileStep(squares, rows, False)), _free(settings["free"], symbols, starts[0]))
        labels = tuple(dict.fromkeys(map(tuple, moves.canonical(np.array(labels, dtype=np.uint8)).tolist())))
    else:
        moves = Swaps(steps, TileStep(squares, rows, one_blank))
    return Puzzle.of(
        **identity(settings),
        family="sliding",
        notation=_board(rows, columns, holes, walls),
        parts=[pieces(labels[0], symbols)],
        starts=labels,
        moves=moves,
    )


def _free(value: Any, symbols: Sequence[str], start: Sequence[str]) -> int:
    """Return the label of the tiles whose moves cost nothing."""
    if not (values.LIST.fits(value) and len(value) == 1 and isinstance(value[0], str)):
        raise ConfigError(
            f'free: expected a list of one symbol, such as ["x"], for all free tiles, found {quote(value)}'
        )
    (symbol,) = value
    if symbol not in symbols[1:]:
        raise ConfigError(f"free: expected a tile of the start, found {quote(symbol)}")
    if start.count(BLANK[0]) > 1:
        raise ConfigError(f"free: expected a start with one blank, found {start.count(BLANK[0])}")
    if len(symbols) == 2:
        raise ConfigError(f"free: at least one tile must not be free, but all tiles are {quote(symbol)}")
    return symbols.index(symbol)


def neighbours(rows: int, columns: int, holes: Collection[int] = ()) -> list[Pair]:
    """Return all ordered pairs of adjacent places, in reading order; ``holes`` are squares without a place."""
    squares = squares_of(rows, columns, holes)
    place = {square: number for number, square in enumerate(squares)}
    beside = [((row, column), after) for row, column in squares for after in ((row, column + 1), (row + 1, column))]
    pairs = [(place[one], place[other]) for one, other in beside if other in place]
    return sorted(pair for a, b in pairs for pair in ((a, b), (b, a)))


def _board(rows: int, columns: int, holes: frozenset[int], walls: frozenset[Pair]) -> Board:
    if walls:
        return WalledBoard(rows, columns, holes, empty_symbols=BLANK, walls=walls)
    return Board(rows, columns, holes, empty_symbols=BLANK)


def _walls(settings: Mapping[str, Any], squares: Sequence[Square], rows: int, pairs: Sequence[Pair]) -> frozenset[Pair]:
    """Return the pairs of places with a wall between them, in both orders.

    A wall is given by the names of the two squares, ``a3|b3``, or by the numbers of the two places.
    """
    given, walls = settings.get("walls", []), set[Pair]()
    if not values.LIST.fits(given):
        raise ConfigError(f'walls: expected a list of walls such as "a3|b3" or [0, 1], found {quote(given)}')
    place, touching = {square: number for number, square in enumerate(squares)}, set(pairs)
    for wall in given:
        named = isinstance(wall, str)
        (pair,) = [_named_wall(wall, place, rows)] if named else pairs_in([wall], "walls")
        if pair not in touching:
            numbers = f" (numbered from 0 to {len(squares) - 1} in reading order, holes not counted)"
            found = quote(wall) if named else f"{pair[0]} and {pair[1]}"
            raise ConfigError(f"walls: expected two adjacent squares{'' if named else numbers}, found {found}")
        walls |= {pair, pair[::-1]}
    return frozenset(walls)


def _named_wall(wall: str, place: Mapping[Square, int], rows: int) -> Pair:
    """Return the two places that are separated by a wall such as ``a3|b3``."""
    squares = [square_of(name.strip(), rows) for name in wall.split("|")]
    if len(squares) != 2 or None in squares:
        raise ConfigError(f'walls: expected two squares such as "a3|b3", found {quote(wall)}')
    places = [place.get(square) for square in squares if square is not None]
    if None in places:
        name = wall.split("|")[places.index(None)].strip()
        row, column = squares[places.index(None)] or (-1, -1)
        is_hole = 0 <= row < rows and 0 <= column <= max(square[1] for square in place)
        problem = f"{name} is a hole of the board" if is_hole else f"the board has no square {quote(name)}"
        raise ConfigError(f"walls: {problem}, in {quote(wall)}")
    one, other = (number for number in places if number is not None)
    return one, other


def _start(text: str, rows: int, columns: int) -> list[str]:
    """Return the tile on each square, or HOLE."""
    written = symbols_in(text, rows * columns)
    if len(written) != rows * columns:
        raise ConfigError(f"start: expected {rows} x {columns} = {rows * columns} tiles, found {len(written)}")
    lines = [line for line in re.split(r"[\n/]", text) if line.strip()]
    if len(lines) > 1:
        _check_rectangle(lines, rows, columns)
    tiles = [BLANK[0] if symbol in BLANK else symbol for symbol in written]
    for tile in tiles:
        if tile != HOLE and not TILE.fullmatch(tile):
            raise ConfigError(f"start: expected numbers or names of tiles, '.' or '#', found {quote(tile)}")
        SYMBOL.check(tile, "start")
    if BLANK[0] not in tiles:
        raise ConfigError("start: the board has no blank (0 or .); it needs at least one")
    return tiles


def _check_rectangle(lines: list[str], rows: int, columns: int) -> None:
    if len(lines) != rows:
        raise ConfigError(
            f"start: expected {counted(rows, 'row')}, or all tiles on one line, found {counted(len(lines), 'row')}"
        )
    for number, line in enumerate(lines, start=1):
        found = len(symbols_in(line, columns))
        if found != columns:
            raise ConfigError(f"start: expected {columns} tiles in each row, found {found} in row {number}")
