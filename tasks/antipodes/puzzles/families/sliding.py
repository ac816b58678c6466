"""Sliding tiles on a rectangle: a tile beside the blank moves onto it."""

import re
from collections.abc import Mapping
from typing import Any

from antipodes.errors import ConfigError
from antipodes.names import check_symbol, natural
from antipodes.puzzles.board import Board
from antipodes.puzzles.moves.swaps import Swaps
from antipodes.puzzles.notation import symbols_in
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import (
    MAX_PLACES,
    identity,
    positive_integer,
    refuse_unknown,
    starts_in,
    to_labels,
)
from antipodes.quoting import quote

BLANK = ("0", ".")
TILE = re.compile(r"\w+")


def sliding(settings: Mapping[str, Any]) -> Puzzle:
    """The puzzle that the ``[puzzle]`` table of a config describes: ``rows``, ``columns`` and ``start``.

    Raises
    ------
    ConfigError
        A key is unknown, missing or out of range; the message names it.
    """
    refuse_unknown(settings, {"rows", "columns", "start"})
    rows, columns = positive_integer(settings, "rows"), positive_integer(settings, "columns")
    if rows * columns > MAX_PLACES:
        raise ConfigError(f"rows, columns: expected at most {MAX_PLACES} places, found {rows * columns}")
    board = Board(rows, columns, empty_symbols=BLANK)
    starts = [_start(text, board) for text in starts_in(settings)]
    symbols = (BLANK[0], *sorted({tile for start in starts for tile in start} - {BLANK[0]}, key=natural))
    return Puzzle.of_pieces(
        **identity(settings),
        family="sliding",
        notation=board,
        symbols=symbols,
        starts=to_labels(starts, symbols),
        moves=Swaps(neighbours(rows, columns)),
    )


def neighbours(rows: int, columns: int) -> list[tuple[int, int]]:
    """All ordered pairs of places that share an edge, in reading order."""
    places = range(rows * columns)
    right = [(p, p + 1) for p in places if p % columns < columns - 1]
    below = [(p, p + columns) for p in places if p < (rows - 1) * columns]
    return sorted(pair for a, b in right + below for pair in ((a, b), (b, a)))


def _start(text: str, board: Board) -> list[str]:
    written = symbols_in(text, board.places)
    if len(written) != board.places:
        raise ConfigError(
            f"start: expected {board.rows} x {board.columns} = {board.places} tiles, found {len(written)}"
        )
    lines = [line for line in re.split(r"[\n/]", text) if line.strip()]
    if len(lines) > 1:
        _check_rectangle(lines, board)
    tiles = [BLANK[0] if symbol in BLANK else symbol for symbol in written]
    for tile in tiles:
        if not TILE.fullmatch(tile):
            raise ConfigError(f"start: expected numbers or names of tiles, found {quote(tile)}")
        check_symbol(tile, "start")
    if tiles.count(BLANK[0]) != 1:
        raise ConfigError(f"start: expected one blank (0 or .), found {tiles.count(BLANK[0])}")
    return tiles


def _check_rectangle(lines: list[str], board: Board) -> None:
    if len(lines) != board.rows:
        raise ConfigError(f"start: expected {board.rows} rows, or all tiles on one line, found {len(lines)} rows")
    for number, line in enumerate(lines, start=1):
        found = len(symbols_in(line, board.columns))
        if found != board.columns:
            raise ConfigError(f"start: expected {board.columns} tiles in each row, found {found} in row {number}")
