"""Puzzles in which pieces jump to an empty square, such as knights on a small board."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.board import HOLE, Board, common_holes, drawn_rows
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import MAX_PLACES, identity, pairs_in, refuse_unknown, starts_in, to_labels
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.rules.parts import pieces
from antipodes_tasks.rules.squares import FromTo, squares_of
from antipodes_tasks.rules.swaps import Swaps

EMPTY = "-"
KNIGHT = [(down, right) for down in (-2, -1, 1, 2) for right in (-2, -1, 1, 2) if abs(down) != abs(right)]
NAMED_MOVES = {
    "knight": KNIGHT,
    "king": [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right],
}


def jump(settings: Mapping[str, Any]) -> Puzzle:
    """Return the jump puzzle of a ``[puzzle]`` table.

    ``start`` draws the board: ``#`` marks a hole, ``-`` an empty square. The pieces move like the chess piece that
    ``moves`` names, by ``offsets`` (rows down, columns right), or in both directions along ``edges`` between squares,
    which are numbered in reading order.
    """
    refuse_unknown(settings, {"start", "moves", "offsets", "edges"})
    drawings = [drawn_rows(text, (EMPTY, HOLE), "pieces, '-' or '#'") for text in starts_in(settings)]
    board = _board(drawings)
    starts = [[symbol for row in drawing for symbol in row if symbol != HOLE] for drawing in drawings]
    if EMPTY not in starts[0]:
        raise ConfigError("start: the board has no empty square '-'; it needs at least one")
    symbols = (EMPTY, *sorted({piece for start in starts for piece in start} - {EMPTY}))
    labels = to_labels(starts, symbols)
    return Puzzle.of(
        **identity(settings),
        family="jump",
        notation=board,
        parts=[pieces(labels[0], symbols)],
        starts=labels,
        moves=Swaps(_edges(settings, board), FromTo(squares_of(board.rows, board.columns, board.holes), board.rows)),
    )


def _board(drawings: list[list[list[str]]]) -> Board:
    rows, columns = len(drawings[0]), len(drawings[0][0])
    squares = [[symbol for row in drawing for symbol in row] for drawing in drawings]
    if rows * columns > MAX_PLACES:
        raise ConfigError(f"start: expected at most {MAX_PLACES} squares, found {rows * columns}")
    for drawing in drawings:
        if (len(drawing), len(drawing[0])) != (rows, columns):
            found = f"{len(drawing)} x {len(drawing[0])}"
            raise ConfigError(f"start: expected {rows} x {columns} squares in every position, found {found}")
    holes = common_holes(squares)
    single = all(len(symbol) == 1 for drawn in squares for symbol in drawn)
    return Board(rows, columns, holes, empty_symbols=(EMPTY,), separator="" if single else " ")


def _edges(settings: Mapping[str, Any], board: Board) -> NDArray[np.int64]:
    """Return the distinct pairs ``(origin, destination)`` of places, ``(moves, 2)``, in ascending order."""
    given = [key for key in ("moves", "offsets", "edges") if key in settings]
    if len(given) != 1:
        raise ConfigError(
            f"[puzzle]: give exactly one of the keys moves, offsets and edges ({' and '.join(given) or 'none'} given)"
        )
    if given == ["edges"]:
        edges = [_edge(a, b, board) for a, b in pairs_in(settings["edges"], "edges")]
        pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
        return _different(np.concatenate((pairs, pairs[:, ::-1])), board)
    return _edges_by_offset(_offsets(settings), board)


def _offsets(settings: Mapping[str, Any]) -> list[tuple[int, int]]:
    if "offsets" in settings:
        return pairs_in(settings["offsets"], "offsets", 1)
    name = settings["moves"]
    if not isinstance(name, str) or name not in NAMED_MOVES:
        raise ConfigError(f"moves: expected one of {', '.join(NAMED_MOVES)}, found {quote(name)}")
    return NAMED_MOVES[name]


def _edge(a: int, b: int, board: Board) -> tuple[int, int]:
    for square in (a, b):
        if not 0 <= square < board.places:
            raise ConfigError(f"edges: expected squares from 0 to {board.places - 1}, found {quote(square)}")
    if a == b:
        raise ConfigError(f"edges: expected two different squares, found {a} twice")
    return a, b


def _edges_by_offset(offsets: list[tuple[int, int]], board: Board) -> NDArray[np.int64]:
    squares = np.full(board.rows * board.columns, -1)
    squares[[square not in board.holes for square in range(len(squares))]] = np.arange(board.places)
    grid = squares.reshape(board.rows, board.columns)
    edges = [np.empty((0, 2), dtype=np.int64)]
    for down, right in offsets:
        if (down, right) != (0, 0) and abs(down) < board.rows and abs(right) < board.columns:
            ends = _moved(grid, -down, -right), _moved(grid, down, right)
            pairs = np.stack([end.ravel() for end in ends], axis=1)
            edges.append(pairs[(pairs >= 0).all(axis=1)])
    return _different(np.concatenate(edges), board)


def _moved(grid: NDArray[np.int64], down: int, right: int) -> NDArray[np.int64]:
    """Return the squares that remain on the grid when they are moved by the opposite of the offset."""
    rows, columns = grid.shape
    return grid[max(0, down) : rows + min(0, down), max(0, right) : columns + min(0, right)]


def _different(pairs: NDArray[np.int64], board: Board) -> NDArray[np.int64]:
    return np.stack(np.divmod(np.unique(pairs[:, 0] * board.places + pairs[:, 1]), board.places), axis=1)
