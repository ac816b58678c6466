"""Boards of squares or cubes: their cells, how these are numbered, and the symmetries."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import ConfigError
from antipodes_tasks.exact_cover.isometries import ISOMETRIES, Coordinates, in_scan_order, scan_axes, to_origin
from antipodes_tasks.exact_cover.pieces import Cell, check_drawing, layers_of
from antipodes_tasks.quoting import counted, quote

MOST_CELLS = 1024

CELL, OPTIONAL, HOLE = ".", "?", "#"


@dataclass(frozen=True)
class Board:
    """The cells that are to be filled, and those that may be.

    The cells are numbered in scan order, along the short side first (see `scan_axes`), whatever way the board
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
        """The axes from the slowest to the fastest in the numbering of the cells."""
        return scan_axes(self.extent)

    @cached_property
    def cells(self) -> Coordinates:
        """Where cell 0, 1, 2, ... lies in the drawing, ``(size, 3)``."""
        return in_scan_order(self._drawn, self.axes)

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
    check_drawing(drawing, key)
    layers = [[line.strip() for line in layer] for layer in layers_of(drawing)]
    _check_rectangular(layers, key)
    symbols = np.array([[list(line) for line in layer] for layer in layers])
    foreign = ~np.isin(symbols, (CELL, OPTIONAL, HOLE))
    if foreign.any():
        expected = "'.' (a cell), '?' (a cell that may stay empty) or '#' (a hole)"
        raise ConfigError(f"{key}: expected {expected}, found {quote(str(symbols[foreign][0]))}")
    count = int((symbols != HOLE).sum())
    if not 1 <= count <= MOST_CELLS:
        raise ConfigError(f"{key}: expected 1 to {MOST_CELLS:,} cells, found {count:,}")
    layer_count, rows, columns = symbols.shape
    holes, optional = (
        frozenset(_as_cell(cell) for cell in np.argwhere(symbols == symbol)) for symbol in (HOLE, OPTIONAL)
    )
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
