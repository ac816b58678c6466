"""Sliding-tile puzzles: a tile next to an empty square moves onto it; in the metric "slides", a whole line may move."""

import re
from collections.abc import Mapping, Sequence
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
    refuse_unknown,
    starts_in,
    to_labels,
)
from antipodes.puzzles.walls import Pair, neighbours, walls_in
from antipodes_tasks.base import values
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import counted, quote
from antipodes_tasks.base.values import SYMBOL, natural
from antipodes_tasks.rules.counted_swaps import CountedSwaps
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import pieces
from antipodes_tasks.rules.slides import slides
from antipodes_tasks.rules.squares import TileStep, squares_of
from antipodes_tasks.rules.swaps import Swaps

BLANK = ("0", ".")
TILE = re.compile(r"\w+")
METRICS = STEPS, SLIDES = "steps", "slides"


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
    walls = walls_in(settings, rows, columns, holes)
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
        # Positions that free moves connect count as one, so several starts may become the same.
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


def _board(rows: int, columns: int, holes: frozenset[int], walls: frozenset[Pair]) -> Board:
    if walls:
        return WalledBoard(rows, columns, holes, empty_symbols=BLANK, walls=walls)
    return Board(rows, columns, holes, empty_symbols=BLANK)


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
