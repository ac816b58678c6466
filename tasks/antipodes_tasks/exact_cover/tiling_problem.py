"""A tiling problem: a board, the pieces that fill it, and conditions on the tilings."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import counted, quote, shorten
from antipodes_tasks.base.values import NAME, TEXT
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

CELL, OPTIONAL, HOLE = ".", "?", "#"
COVERS, AVOIDS = "covers", "avoids"
SENTENCE = re.compile(rf"(?P<piece>.*\S)\s+(?P<verb>{COVERS}|{AVOIDS})\s+(?P<cells>\S.*)")
EXAMPLE = "'X covers 23' or 'I avoids 0 9'"
KEYS = ("name", "cells", "pieces", "where", "description")


@dataclass(frozen=True)
class TilingBoard:
    """The cells to fill, including cells that may stay empty.

    The cells are numbered in scan order, along the short side first (see `axes`), regardless of the board's
    orientation: the cells of 6x10 and 10x6 boards have the same numbers.
    """

    layers: int
    rows: int
    columns: int
    holes: frozenset[Cell] = frozenset()
    optional: frozenset[Cell] = frozenset()
    """Cells that may stay empty."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of layers, rows and columns of the drawing."""
        return self.layers, self.rows, self.columns

    @property
    def size(self) -> int:
        """Number of cells, including those that may stay empty."""
        return len(self.cells)

    @cached_property
    def extent(self) -> tuple[int, int, int]:
        """Numbers of layers, rows and columns of the smallest box around the cells."""
        layers, rows, columns = (int(side) for side in np.ptp(self._drawn, axis=0) + 1)
        return layers, rows, columns

    @cached_property
    def axes(self) -> tuple[int, int, int]:
        """Axes in the order of the numbering, the slowest first; the fastest axis runs along the shortest side.

        On a board of 6 rows and 10 columns, cells are numbered column by column, from top to bottom, as in the
        textbooks.
        """
        fast, middle, slow = sorted(range(3), key=lambda axis: (self.extent[axis], axis))
        return slow, middle, fast

    @cached_property
    def cells(self) -> Coordinates:
        """``(size, 3)``: the layer, row and column of each cell in the drawing."""
        return sort_cells(self._drawn, self.axes)

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """``(layers, rows, columns)``: the number of the cell at each place of the drawing; -1 for a hole."""
        numbers = np.full(self.shape, -1, dtype=np.int64)
        numbers[tuple(self.cells.T)] = np.arange(self.size)
        return numbers

    @cached_property
    def required(self) -> NDArray[np.bool_]:
        """``(size,)``: whether each cell has to be filled."""
        return np.array([tuple(cell) not in self.optional for cell in self.cells.tolist()], dtype=np.bool_)

    @cached_property
    def in_reading_order(self) -> NDArray[np.int64]:
        """``(size,)``: the numbers of the cells in reading order: layer by layer, line by line."""
        return self.numbers[self.numbers >= 0]

    @property
    def cross_section(self) -> int:
        """Area of the smallest face of the box around the cells, which is the width of a search in scan order."""
        return int(np.prod(sorted(self.extent)[:2]))

    @cached_property
    def symmetries(self) -> NDArray[np.int64]:
        """``(symmetries, size)``: the image of each cell under each symmetry of the board.

        Symmetries are the rotations and reflections that map the cells to themselves and optional cells to optional
        cells; holes around the cells do not matter. The rows are distinct and sorted, and the first is the identity.
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
        """``(size,)``: the checkerboard colour of each cell, +1 or -1."""
        colours: NDArray[np.int64] = 1 - 2 * (self.cells.sum(axis=1) % 2)
        return colours

    @cached_property
    def _drawn(self) -> Coordinates:
        drawn = np.ones(self.shape, dtype=bool)
        for hole in self.holes:
            drawn[hole] = False
        return np.argwhere(drawn).astype(np.int64)


def parse_board(drawing: str) -> TilingBoard:
    """Parse a board: '.' is a cell to fill, '?' a cell that may stay empty, '#' a hole; a blank line separates layers.

    Raises
    ------
    ConfigError
        The drawing contains another symbol, lines or layers of different lengths, no cell, more than 1024 cells, or
        more than 32,768 characters.
    """
    key = "[board] cells"
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
    return TilingBoard(layer_count, rows, columns, holes, optional)


def _check_rectangular(layers: list[list[str]], key: str) -> None:
    if not layers:
        raise ConfigError(f"{key}: the drawing is empty; draw cells as '.', '?' and '#'")
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
    """A condition that a copy of a piece covers all of some cells, or that no copy of it covers any of them."""

    piece: str
    """Name of the piece."""
    number: int
    """Number of the piece."""
    verb: str
    cells: tuple[int, ...]
    """Numbers of the cells on the board, ascending."""

    def excluded(self, pieces: NDArray[np.int32], cells: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return a mask ``(placements,)`` of the placements that no tiling under this condition contains.

        Parameters
        ----------
        pieces
            ``(placements,)``: the piece of each placement.
        cells
            ``(placements, largest piece)``: the cells of each placement.
        """
        touching = np.isin(cells, self.cells).any(axis=1)
        allowed = pieces != self.number if self.verb == AVOIDS else self.covering(pieces, cells)
        excluded: NDArray[np.bool_] = touching & ~allowed
        return excluded

    def covering(self, pieces: NDArray[np.int32], cells: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return a mask of the placements of the piece that cover all the cells; parameters as for `excluded`."""
        covering: NDArray[np.bool_] = (np.isin(cells, self.cells).sum(axis=1) == len(self.cells)) & (
            pieces == self.number
        )
        return covering


def parse_condition(text: str, board: TilingBoard, names: Sequence[str], key: str) -> Condition:
    """Parse a condition: a piece, "covers" or "avoids", and cells.

    A cell is given by its number, from 0 in reading order without holes, or by its row and column, from 0, as in "2,3".
    In a box it is given by its layer, row and column.

    Raises
    ------
    ConfigError
        The text is not a condition, or names an unknown piece or cell. The message begins with ``key``.
    """
    found = SENTENCE.fullmatch(text.strip())
    if not found:
        raise ConfigError(f"{key}: expected a condition such as {EXAMPLE}, found {quote(text)}")
    piece = found["piece"]
    if piece not in names:
        raise ConfigError(f"{key}: expected a piece among {shorten(', '.join(names))}, found {quote(piece)}")
    cells = {_cell(word, board, key) for word in found["cells"].split()}
    return Condition(piece, names.index(piece), found["verb"], tuple(sorted(cells)))


def _cell(word: str, board: TilingBoard, key: str) -> int:
    """Return the index of a cell on the board, given its number in reading order or its coordinates."""
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
    """A board and the pieces that fill it.

    A tiling uses every copy of every piece. Pieces with different names are different even if they have the same shape:
    exchanging them gives another tiling. Exchanging copies of the same piece does not give another tiling.
    """

    name: str
    board: TilingBoard
    pieces: tuple[Piece, ...] = PENTOMINOES
    description: str = ""
    where: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        area, least, most = self.area, int(self.board.required.sum()), self.board.size
        if least <= area <= most:
            self._check_labels()
            return
        if least == most:
            raise ConfigError(f"[board] cells: the pieces fill {counted(area, 'cell')}, but the board has {most}")
        raise ConfigError(
            f"[board] cells: the pieces fill {area} cells, so draw at most that many '.', and at least "
            f"that many '.' and '?' together; found {least} and {most}"
        )

    def _check_labels(self) -> None:
        """Raise ConfigError if two pieces or copies have the same label."""
        if len(set(self.labels)) < len(self.labels):
            label, _ = Counter(self.labels).most_common(1)[0]
            raise ConfigError(
                f"[board] pieces: the names of pieces and copies must differ (copies of D are D.1, D.2, ...), "
                f"but {quote(label)} occurs twice"
            )

    @property
    def area(self) -> int:
        """Number of cells that the pieces fill."""
        return sum(piece.size * piece.count for piece in self.pieces)

    @property
    def copies(self) -> int:
        """Number of placements in a tiling."""
        return len(self.piece_of_copy)

    @cached_property
    def piece_of_copy(self) -> NDArray[np.int64]:
        """``(copies,)``: for each copy, the number of its piece, ascending."""
        return np.repeat(np.arange(len(self.pieces)), [piece.count for piece in self.pieces])

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A label for each copy: the name of its piece, followed by a number if there are several copies: ``D.3``."""
        return tuple(
            f"{piece.name}.{number + 1}" if piece.count > 1 else piece.name
            for piece in self.pieces
            for number in range(piece.count)
        )

    @cached_property
    def required(self) -> NDArray[np.bool_]:
        """``(cells,)``: whether every tiling covers the cell."""
        required = self.board.required.copy()
        for condition in self.where:
            if condition.verb == COVERS:
                required[list(condition.cells)] = True
        return required

    @cached_property
    def connected(self) -> bool:
        """Whether every piece is connected."""
        return all(piece.connected for piece in self.pieces)

    def __repr__(self) -> str:
        size = f"{counted(self.board.size, 'cell')}, {counted(len(self.pieces), 'piece')}"
        return f"<TilingProblem {shorten(self.name, 30)}: {size}>"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything that determines the tilings: the board, the pieces and the conditions."""
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
    """Parse the table ``[board]`` of a config: ``name``, ``cells``, optionally ``pieces``, ``where``, ``description``.

    ``pieces`` is the name of a set ("pentominoes", the default), letters of pentominoes ("FLPX" or a list of letters),
    or a table of name = drawing, or of name = table with ``shape``, ``count`` and ``one_sided``.

    Raises
    ------
    ConfigError
        A key is unknown, missing or of the wrong type, a drawing is invalid, or the area of the pieces does not match
        the board. The message names the key.
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
        raise ConfigError(f"[board]: the key {key!r} is missing")
    return str(TEXT.check(table[key], f"[board] {key}"))


def listed_conditions(value: object) -> list[str]:
    """Return the conditions in a value of the key ``where``, a list of strings or one string.

    Raises ConfigError if it is neither.
    """
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise ConfigError(f"[board] where: expected a list of conditions, found {quote(value)}")
    return listed
