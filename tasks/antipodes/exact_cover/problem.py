"""A tiling problem: a board, and the pieces that are to fill it, each used once."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from antipodes.errors import ConfigError
from antipodes.exact_cover.boards import MOST_CELLS, Board, parse_board
from antipodes.exact_cover.pieces import PENTOMINOES, Piece, parse_piece
from antipodes.names import check_name, check_symbol
from antipodes.quoting import quote, shorten

KEYS = ("name", "cells", "pieces", "description")
ALL_PENTOMINOES = "pentominoes"


@dataclass(frozen=True, repr=False)
class TilingProblem:
    """A board and the pieces to fill it with.

    Two pieces of the same shape under two names are two pieces: swapping them gives another tiling.
    """

    name: str
    board: Board
    pieces: tuple[Piece, ...] = PENTOMINOES
    description: str = ""

    def __post_init__(self) -> None:
        area = sum(piece.size for piece in self.pieces)
        if area != self.board.size:
            raise ConfigError(
                f"[board] cells: expected {area} cells, as many as the pieces fill, found {self.board.size}"
            )

    def __repr__(self) -> str:
        return f"<TilingProblem {shorten(self.name, 30)}: {self.board.size} cells, {len(self.pieces)} pieces>"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that the tilings depend on: board and pieces, not name and description."""
        board = [self.board.shape, sorted(self.board.holes)]
        pieces = [(piece.name, piece.cells) for piece in self.pieces]
        return hashlib.sha256(json.dumps([board, pieces]).encode()).hexdigest()


def parse_problem(table: Mapping[str, object]) -> TilingProblem:
    """Read the table ``[board]`` of a config: ``name``, ``cells``, perhaps ``pieces`` and ``description``.

    ``pieces`` is "pentominoes" (the default), some of their letters ("FLPX", or a list of them), or a table
    of name = drawing.

    Raises
    ------
    ConfigError
        A key that is unknown, missing or of the wrong type, a drawing that cannot be read, or pieces whose
        area is not that of the board. The message names the key.
    """
    unknown = sorted(set(table) - set(KEYS))
    if unknown:
        raise ConfigError(f"[board] {shorten(unknown[0])}: unknown key; expected {', '.join(KEYS)}")
    name = _text(table, "name")
    check_name(name, "[board] name")
    board = parse_board(_text(table, "cells"))
    pieces = _pieces(table.get("pieces", ALL_PENTOMINOES))
    return TilingProblem(name, board, pieces, _text({"description": "", **table}, "description"))


def _text(table: Mapping[str, object], key: str) -> str:
    if key not in table:
        raise ConfigError(f"[board] {key}: expected a text, found nothing")
    value = table[key]
    if not isinstance(value, str):
        raise ConfigError(f"[board] {key}: expected a text, found {quote(value)}")
    return value


def _pieces(value: object) -> tuple[Piece, ...]:
    if value == ALL_PENTOMINOES:
        return PENTOMINOES
    if isinstance(value, str):
        return _pentominoes([letter for letter in value if letter not in " ,"])
    if isinstance(value, list):
        return _pentominoes(value)
    if isinstance(value, dict) and value:
        if len(value) > MOST_CELLS:
            raise ConfigError(f"[board] pieces: expected at most {MOST_CELLS}, a cell each, found {len(value):,}")
        return tuple(_drawn_piece(name, drawing) for name, drawing in value.items())
    raise ConfigError(f"[board] pieces: expected 'pentominoes', letters, or a table of drawings, found {quote(value)}")


def _pentominoes(letters: list[object]) -> tuple[Piece, ...]:
    known: dict[object, Piece] = {piece.name: piece for piece in PENTOMINOES}
    for position, letter in enumerate(letters):
        if not isinstance(letter, str) or letter not in known:
            raise ConfigError(f"[board] pieces: expected letters of {''.join(map(str, known))}, found {quote(letter)}")
        if letter in letters[:position]:
            raise ConfigError(f"[board] pieces: expected each letter once, found {quote(letter)} again")
    if not letters:
        raise ConfigError("[board] pieces: expected at least one piece, found none")
    return tuple(known[letter] for letter in letters)


def _drawn_piece(name: str, drawing: object) -> Piece:
    check_symbol(name, "[board] pieces")
    if not isinstance(drawing, str):
        raise ConfigError(f"[board] pieces.{name}: expected a drawing, found {quote(drawing)}")
    try:
        return parse_piece(name, drawing)
    except ConfigError as error:
        raise ConfigError(f"[board] pieces.{name}: {error}") from None
