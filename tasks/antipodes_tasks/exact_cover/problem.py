"""A tiling problem: a board, the pieces that are to fill it, and conditions on the tilings."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import ConfigError
from antipodes_tasks.exact_cover.pieces import (
    ALL_PENTOMINOES,
    ISOMETRIES,
    MAX_CELLS,
    PENTOMINOES,
    Cell,
    Coordinates,
    Piece,
    layers_of,
    parse_pieces_setting,
    sort_cells,
    to_origin,
)
from antipodes_tasks.quoting import counted, quote, shorten
from antipodes_tasks.values import NAME, TEXT

CELL, OPTIONAL, HOLE = ".", "?", "#"
COVERS, AVOIDS = "covers", "avoids"
SENTENCE = re.compile(rf"(?P<piece>.*\S)\s+(?P<verb>{COVERS}|{AVOIDS})\s+(?P<cells>\S.*)")
EXAMPLE = "'X covers 23' or 'I avoids 0 9'"
KEYS = ("name", "cells", "pieces", "where", "description")


@dataclass(frozen=True)
class Board:
    """The cells that are to be filled, and those that may be.

    The cells are numbered in scan order, along the short side first (see `axes`), whatever way the board
    lies: 6x10 and 10x6 are numbered alike.
    """

    layers: int
    rows: int
    columns: int
    holes: frozenset[Cell] = frozenset()
    optional: frozenset[Cell] = frozenset()
    """The cells that may stay empty."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Layers, rows and columns of the drawing."""
        return self.layers, self.rows, self.columns

    @property
    def size(self) -> int:
        """How many cells there are, those that may stay empty among them."""
        return len(self.cells)

    @cached_property
    def extent(self) -> tuple[int, int, int]:
        """Layers, rows and columns of the smallest box around the cells."""
        layers, rows, columns = (int(side) for side in np.ptp(self._drawn, axis=0) + 1)
        return layers, rows, columns

    @cached_property
    def axes(self) -> tuple[int, int, int]:
        """The axes from the slowest to the fastest in the numbering of the cells: the long side first.

        On a board of 6 rows and 10 columns that is column by column, and down each: the order of the textbooks.
        """
        fast, middle, slow = sorted(range(3), key=lambda axis: (self.extent[axis], axis))
        return slow, middle, fast

    @cached_property
    def cells(self) -> Coordinates:
        """Where cell 0, 1, 2, ... lies in the drawing, ``(size, 3)``."""
        return sort_cells(self._drawn, self.axes)

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The number of the cell at each place of the drawing, ``(layers, rows, columns)``, -1 at a hole."""
        numbers = np.full(self.shape, -1, dtype=np.int64)
        numbers[tuple(self.cells.T)] = np.arange(self.size)
        return numbers

    @cached_property
    def required(self) -> NDArray[np.bool_]:
        """Which cells have to be filled, ``(size,)``."""
        return np.array([tuple(cell) not in self.optional for cell in self.cells.tolist()], dtype=np.bool_)

    @cached_property
    def in_reading_order(self) -> NDArray[np.int64]:
        """The numbers of the cells as people count them, from 0: layer by layer, line by line, ``(size,)``."""
        return self.numbers[self.numbers >= 0]

    @property
    def cross_section(self) -> int:
        """The area of the smallest face of the box around the cells: how wide a search in scan order is."""
        return int(np.prod(sorted(self.extent)[:2]))

    @cached_property
    def symmetries(self) -> NDArray[np.int64]:
        """The rotations and reflections that map the cells to themselves, ``(symmetries, size)``.

        Each row says where every cell goes; the rows differ, are sorted, and the first is the identity. Holes
        around the cells do not matter; optional cells go to optional ones.
        """
        original = to_origin(self.cells)
        found = {tuple(range(self.size))}
        for isometry in ISOMETRIES:
            image = to_origin(original @ isometry.T)
            order = np.lexsort(image[:, self.axes[::-1]].T)
            if np.array_equal(image[order], original) and np.array_equal(self.required[order], self.required):
                found.add(tuple(np.argsort(order).tolist()))
        return np.array(sorted(found), dtype=np.int64)

    @cached_property
    def neighbours(self) -> list[tuple[int, int]]:
        """Pairs of cells that share a face, the smaller number first, sorted."""
        numbers = np.pad(self.numbers, 1, constant_values=-1)
        pairs = set()
        for axis in range(3):
            beside = np.roll(numbers, -1, axis=axis)
            both = (numbers >= 0) & (beside >= 0)
            pairs |= {
                (min(a, b), max(a, b)) for a, b in zip(numbers[both].tolist(), beside[both].tolist(), strict=True)
            }
        return sorted(pairs)

    @cached_property
    def colours(self) -> NDArray[np.int64]:
        """The checkerboard colour of each cell, +1 or -1, ``(size,)``."""
        colours: NDArray[np.int64] = 1 - 2 * (self.cells.sum(axis=1) % 2)
        return colours

    @cached_property
    def _drawn(self) -> Coordinates:
        drawn = np.ones(self.shape, dtype=bool)
        for hole in self.holes:
            drawn[hole] = False
        return np.argwhere(drawn).astype(np.int64)


def parse_board(drawing: str, key: str = "[board] cells") -> Board:
    """Read a board: '.' is a cell to fill, '?' one that may stay empty, '#' a hole; a blank line separates layers.

    Raises
    ------
    ConfigError
        A symbol other than these, lines or layers of different lengths, no cell, more than 1024, or
        a drawing of more than 32,768 characters. The message begins with ``key``.
    """
    layers = [[line.strip() for line in layer] for layer in layers_of(drawing, key)]
    _check_rectangular(layers, key)
    symbols = np.array([[list(line) for line in layer] for layer in layers])
    foreign = ~np.isin(symbols, (CELL, OPTIONAL, HOLE))
    if foreign.any():
        expected = "'.' (a cell), '?' (a cell that may stay empty) or '#' (a hole)"
        raise ConfigError(f"{key}: expected {expected}, found {quote(str(symbols[foreign][0]))}")
    count = int((symbols != HOLE).sum())
    if not 1 <= count <= MAX_CELLS:
        raise ConfigError(f"{key}: expected 1 to {MAX_CELLS:,} cells, found {count:,}")
    layer_count, rows, columns = symbols.shape
    holes, optional = (frozenset(map(_as_cell, np.argwhere(symbols == symbol))) for symbol in (HOLE, OPTIONAL))
    return Board(layer_count, rows, columns, holes, optional)


def _check_rectangular(layers: list[list[str]], key: str) -> None:
    if not layers:
        raise ConfigError(f"{key}: expected a drawing of '.', '?' and '#', found nothing")
    for number, layer in enumerate(layers, start=1):
        if len(layer) != len(layers[0]):
            raise ConfigError(
                f"{key}: expected {counted(len(layers[0]), 'line')} in layer {number}, found {len(layer)}"
            )
        for line in layer:
            if len(line) != len(layers[0][0]):
                raise ConfigError(
                    f"{key}: expected lines of {counted(len(layers[0][0]), 'symbol')}, found {quote(line)}"
                )


def _as_cell(coordinates: NDArray[np.int64]) -> Cell:
    layer, row, column = coordinates.tolist()
    return layer, row, column


@dataclass(frozen=True)
class Condition:
    """A copy of a piece covers all of some cells, or no copy of it covers any of them."""

    piece: str
    """The name of the piece."""
    number: int
    """Which of the pieces it is."""
    verb: str
    cells: tuple[int, ...]
    """Ascending, as the board numbers cells."""

    def excluded(self, pieces: NDArray[np.int32], cells: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which placements no tiling under this condition has, ``(placements,)``.

        Parameters
        ----------
        pieces
            The piece of each placement, ``(placements,)``.
        cells
            The cells of each, ``(placements, largest piece)``.
        """
        touching = np.isin(cells, self.cells).any(axis=1)
        allowed = pieces != self.number if self.verb == AVOIDS else self.covering(pieces, cells)
        excluded: NDArray[np.bool_] = touching & ~allowed
        return excluded

    def covering(self, pieces: NDArray[np.int32], cells: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which placements are of the piece, and cover all the cells; parameters as for `excluded`."""
        covering: NDArray[np.bool_] = (np.isin(cells, self.cells).sum(axis=1) == len(self.cells)) & (
            pieces == self.number
        )
        return covering

    def holds(
        self, tilings: NDArray[np.int32], pieces: NDArray[np.int32], cells: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """For which of the tilings it is true, ``(tilings,)``; other parameters as for `excluded`."""
        avoids = self.verb == AVOIDS
        decisive = self.excluded(pieces, cells) if avoids else self.covering(pieces, cells)
        found: NDArray[np.bool_] = decisive[tilings].any(axis=1) != avoids
        return found


def parse_condition(text: str, board: Board, names: Sequence[str], key: str) -> Condition:
    """Read a condition: a piece, "covers" or "avoids", and cells.

    A cell is its number, from 0 in reading order and without the holes, or its row and column, from 0, as in "2,3"; in
    a box its layer, row and column.

    Raises
    ------
    ConfigError
        It is no such sentence, or there is no such piece or cell. The message begins with ``key``.
    """
    found = SENTENCE.fullmatch(text.strip())
    if not found:
        raise ConfigError(f"{key}: expected a condition such as {EXAMPLE}, found {quote(text)}")
    piece = found["piece"]
    if piece not in names:
        raise ConfigError(f"{key}: expected a piece among {shorten(', '.join(names))}, found {quote(piece)}")
    cells = {_cell(word, board, key) for word in found["cells"].split()}
    return Condition(piece, names.index(piece), found["verb"], tuple(sorted(cells)))


def _cell(word: str, board: Board, key: str) -> int:
    """The number on the board of a cell by its number in reading order, or by its place."""
    if re.fullmatch(r"\d{1,9}", word) and int(word) < board.size:
        return int(board.in_reading_order[int(word)])
    if re.fullmatch(r"\d{1,9}(,\d{1,9}){1,2}", word):
        place = tuple(map(int, word.split(",")))
        place = (0, *place) if len(place) == 2 and board.layers == 1 else place
        if (
            len(place) == 3
            and all(a < b for a, b in zip(place, board.shape, strict=True))
            and board.numbers[place] >= 0
        ):
            return int(board.numbers[place])
    by_place = "layer,row,column" if board.layers > 1 else "row,column"
    raise ConfigError(f"{key}: expected a cell, 0 to {board.size - 1} or as {by_place}, found {quote(word)}")


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
    names = [piece.name for piece in pieces]
    listed = listed_conditions(table.get("where", []))
    where = tuple(parse_condition(one, board, names, "[board] where") for one in listed)
    return TilingProblem(name, board, pieces, _text({"description": "", **table}, "description"), where)


def _text(table: Mapping[str, object], key: str) -> str:
    if key not in table:
        raise ConfigError(f"[board] {key}: expected this key, which is missing")
    return str(TEXT.check(table[key], f"[board] {key}"))


def listed_conditions(value: object) -> list[str]:
    """The sentences of the key ``where``, a list of them or one; ConfigError if it is neither."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise ConfigError(f"[board] where: expected a list of conditions, found {quote(value)}")
    return listed
