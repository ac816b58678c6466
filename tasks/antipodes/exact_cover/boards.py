"""Boards of squares or cubes: their cells, how these are numbered, and the symmetries."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from antipodes.errors import ConfigError
from antipodes.exact_cover.isometries import ISOMETRIES, Coordinates, in_scan_order, scan_axes, to_origin
from antipodes.exact_cover.pieces import Cell, check_drawing, layers_of
from antipodes.quoting import quote

MOST_CELLS = 128
"""Two machine words."""

CELL, HOLE = ".", "#"


@dataclass(frozen=True)
class Board:
    """The cells that are to be filled.

    The cells are numbered in scan order, along the short side first (see `scan_axes`), whatever way the board
    lies: 6x10 and 10x6 are numbered alike.
    """

    layers: int
    rows: int
    columns: int
    holes: frozenset[Cell] = frozenset()

    @property
    def shape(self) -> tuple[int, int, int]:
        """Layers, rows and columns of the drawing."""
        return self.layers, self.rows, self.columns

    @property
    def size(self) -> int:
        """How many cells there are to fill."""
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

    @property
    def cross_section(self) -> int:
        """The area of the smallest face of the box around the cells: how wide a search in scan order is."""
        return int(np.prod(sorted(self.extent)[:2]))

    @cached_property
    def symmetries(self) -> NDArray[np.int64]:
        """The rotations and reflections that map the cells to themselves, ``(symmetries, size)``.

        Each row says where every cell goes; the rows differ, are sorted, and the first is the identity. Holes
        around the cells do not matter.
        """
        original = to_origin(self.cells)
        found = {tuple(range(self.size))}
        for isometry in ISOMETRIES:
            image = to_origin(original @ isometry.T)
            order = np.lexsort(image[:, self.axes[::-1]].T)
            if np.array_equal(image[order], original):
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
    """Read a board: '.' for a cell to fill, '#' for a hole, a blank line between layers.

    Raises
    ------
    ConfigError
        A symbol other than these, lines or layers of different lengths, no cell, more than 128, or
        a drawing of more than 32,768 characters. The message begins with ``key``.
    """
    check_drawing(drawing, key)
    layers = [[line.strip() for line in layer] for layer in layers_of(drawing)]
    _check_rectangular(layers, key)
    symbols = np.array([[list(line) for line in layer] for layer in layers])
    foreign = (symbols != CELL) & (symbols != HOLE)
    if foreign.any():
        raise ConfigError(f"{key}: expected '.' (a cell) or '#' (a hole), found {quote(str(symbols[foreign][0]))}")
    count = int((symbols == CELL).sum())
    if not 1 <= count <= MOST_CELLS:
        raise ConfigError(f"{key}: expected 1 to {MOST_CELLS} cells, found {count}")
    layer_count, rows, columns = symbols.shape
    holes = frozenset(_as_cell(hole) for hole in np.argwhere(symbols == HOLE))
    return Board(layer_count, rows, columns, holes)


def _check_rectangular(layers: list[list[str]], key: str) -> None:
    if not layers:
        raise ConfigError(f"{key}: expected a drawing of '.' and '#', found nothing")
    for number, layer in enumerate(layers, start=1):
        if len(layer) != len(layers[0]):
            raise ConfigError(f"{key}: expected {len(layers[0])} lines in layer {number}, found {len(layer)}")
        for line in layer:
            if len(line) != len(layers[0][0]):
                raise ConfigError(f"{key}: expected lines of {len(layers[0][0])} symbols, found {quote(line)}")


def _as_cell(coordinates: NDArray[np.int64]) -> Cell:
    layer, row, column = coordinates.tolist()
    return layer, row, column
