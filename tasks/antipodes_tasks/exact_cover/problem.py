"""A tiling problem: a board, the pieces that are to fill it, and conditions on the tilings."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import ConfigError
from antipodes_tasks.exact_cover.boards import Board, parse_board
from antipodes_tasks.exact_cover.conditions import COVERS, Condition, parse_condition
from antipodes_tasks.exact_cover.piece_settings import ALL_PENTOMINOES, parse_pieces_setting
from antipodes_tasks.exact_cover.pieces import PENTOMINOES, Piece
from antipodes_tasks.quoting import counted, quote, shorten
from antipodes_tasks.values import NAME, TEXT

KEYS = ("name", "cells", "pieces", "where", "description")


@dataclass(frozen=True, repr=False)
class TilingProblem:
    """A board and the pieces to fill it with.

    A tiling uses every copy of every piece. Two pieces of the same shape under two names are two pieces: swapping
    them gives another tiling. Swapping copies of one piece does not.
    """

    name: str
    board: Board
    pieces: tuple[Piece, ...] = PENTOMINOES
    description: str = ""
    where: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        area, least, most = self.area, int(self.board.required.sum()), self.board.size
        if least <= area <= most:
            self._check_labels()
            return
        if least == most:
            raise ConfigError(
                f"[board] cells: expected {counted(area, 'cell')}, as many as the pieces fill, found {most}"
            )
        raise ConfigError(
            f"[board] cells: expected at most {area} cells '.', as many as the pieces fill, and at least as many with "
            f"the cells '?'; found {least} and {most}"
        )

    def _check_labels(self) -> None:
        """Raise ConfigError where a piece has the name of another, or of a copy of another."""
        if len(set(self.labels)) < len(self.labels):
            label, _ = Counter(self.labels).most_common(1)[0]
            raise ConfigError(
                f"[board] pieces: expected a name of its own for each piece and each copy (copies of D are D.1, "
                f"D.2, ...), found {quote(label)} twice"
            )

    @property
    def area(self) -> int:
        """How many cells the pieces fill."""
        return sum(piece.size * piece.count for piece in self.pieces)

    @property
    def copies(self) -> int:
        """How many placements a tiling has."""
        return len(self.piece_of_copy)

    @cached_property
    def piece_of_copy(self) -> NDArray[np.int64]:
        """The piece of each copy, ascending, ``(copies,)``."""
        return np.repeat(np.arange(len(self.pieces)), [piece.count for piece in self.pieces])

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A name for each copy: that of its piece, with a number from 1 where there are several, as in "D.3"."""
        return tuple(
            f"{piece.name}.{number + 1}" if piece.count > 1 else piece.name
            for piece in self.pieces
            for number in range(piece.count)
        )

    @cached_property
    def required(self) -> NDArray[np.bool_]:
        """Which cells every tiling covers, ``(cells,)``."""
        required = self.board.required.copy()
        for condition in self.where:
            if condition.verb == COVERS:
                required[list(condition.cells)] = True
        return required

    @cached_property
    def connected(self) -> bool:
        """Whether the parts of each piece touch."""
        return all(piece.connected for piece in self.pieces)

    def __repr__(self) -> str:
        size = f"{counted(self.board.size, 'cell')}, {counted(len(self.pieces), 'piece')}"
        return f"<TilingProblem {shorten(self.name, 30)}: {size}>"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that the tilings depend on: board, pieces and conditions, not name and description."""
        board = [self.board.shape, sorted(self.board.holes)]
        pieces = [(piece.name, piece.cells) for piece in self.pieces]
        content: list[object] = [board, pieces]
        further = {
            "optional": sorted(self.board.optional),
            "counts": [piece.count for piece in self.pieces if piece.count > 1] and [one.count for one in self.pieces],
            "one_sided": [piece.name for piece in self.pieces if piece.one_sided],
            "where": sorted({(one.piece, one.verb, one.cells) for one in self.where}),
        }
        if any(further.values()):
            content.append(further)
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def parse_problem(table: Mapping[str, object]) -> TilingProblem:
    """Read the table ``[board]`` of a config: ``name``, ``cells``, perhaps ``pieces``, ``where`` and ``description``.

    ``pieces`` is the name of a set ("pentominoes", the default), some letters of pentominoes ("FLPX", or a list of
    them), or a table of name = drawing, or name = table of ``shape``, ``count`` and ``one_sided``.

    Raises
    ------
    ConfigError
        A key that is unknown, missing or of the wrong type, a drawing that cannot be read, or pieces whose
        area is not that of the board. The message names the key.
    """
    unknown = sorted(map(str, set(table) - set(KEYS)))
    if unknown:
        raise ConfigError(f"[board] {shorten(unknown[0])}: unknown key; expected {', '.join(KEYS)}")
    name = _text(table, "name")
    NAME.check(name, "[board] name")
    board = parse_board(_text(table, "cells"))
    pieces = parse_pieces_setting(table.get("pieces", ALL_PENTOMINOES))
    where = _conditions(table.get("where", []), board, pieces)
    return TilingProblem(name, board, pieces, _text({"description": "", **table}, "description"), where)


def _text(table: Mapping[str, object], key: str) -> str:
    if key not in table:
        raise ConfigError(f"[board] {key}: expected this key, which is missing")
    return str(TEXT.check(table[key], f"[board] {key}"))


def _conditions(value: object, board: Board, pieces: tuple[Piece, ...]) -> tuple[Condition, ...]:
    names = [piece.name for piece in pieces]
    return tuple(parse_condition(one, board, names, "[board] where") for one in listed_conditions(value))


def listed_conditions(value: object) -> list[str]:
    """The sentences of the key ``where``, a list of them or one; ConfigError if it is neither."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise ConfigError(f"[board] where: expected a list of conditions, found {quote(value)}")
    return listed
