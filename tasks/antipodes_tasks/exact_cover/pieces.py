"""Pieces made of squares or cubes: the twelve pentominoes, and drawn ones."""

import string
import textwrap
from dataclasses import dataclass

import numpy as np

from antipodes_tasks.errors import ConfigError
from antipodes_tasks.exact_cover.isometries import ROTATIONS, TURNS, Coordinates, in_scan_order, to_origin
from antipodes_tasks.quoting import quote

Cell = tuple[int, int, int]
"""Layer, row and column."""

MARKS = frozenset("#*" + string.ascii_letters)
"""Symbols for a cell in the drawing of a piece; '.' and a blank stand for none."""


MOST_DRAWN = 1 << 15
"""Characters of a drawing."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A set of cells with a name, in one of its orientations, connected or not, and how many copies there are.

    A piece can be moved and turned as a solid, never mirrored: a flat piece may be turned over, which looks
    like a reflection, and stands upright in a box; a piece that is not flat has at most 24 orientations,
    and its mirror image, where it differs, is another piece. A one-sided piece only turns within its layer.
    """

    name: str
    cells: tuple[Cell, ...]
    """Sorted; the smallest layer, row and column are 0."""
    count: int = 1
    """How many equal copies a tiling uses; swapping them does not give another tiling."""
    one_sided: bool = False
    """Whether it keeps its upper side up."""

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.cells)

    @property
    def breadth(self) -> int:
        """The second longest side of the box around it: 1 for a rod, 3 for X."""
        return int(np.sort(np.ptp(self.cells, axis=0))[1]) + 1

    @property
    def connected(self) -> bool:
        """Whether the cells are connected by their faces."""
        rest = set(self.cells)
        reached = [rest.pop()]
        for cell in reached:
            beside = rest & neighbours(cell)
            reached.extend(beside)
            rest -= beside
        return not rest

    def orientations(self, axes: tuple[int, int, int] = (0, 1, 2)) -> list[Coordinates]:
        """The different orientations of the piece, ``(size, 3)`` each, the cells sorted along ``axes``.

        The list is sorted along the same axes, so that it does not depend on the drawing.
        """
        turned = {}
        for rotation in TURNS if self.one_sided else ROTATIONS:
            cells = in_scan_order(to_origin(np.array(self.cells) @ rotation.T), axes)
            turned[cells[:, axes].tobytes()] = cells
        return sorted(turned.values(), key=lambda cells: cells[:, axes].tolist())


def neighbours(cell: Cell) -> set[Cell]:
    """The six cells that share a face with it."""
    layer, row, column = cell
    return {
        *((layer + step, row, column) for step in (-1, 1)),
        *((layer, row + step, column) for step in (-1, 1)),
        *((layer, row, column + step) for step in (-1, 1)),
    }


def parse_piece(name: str, drawing: str) -> Piece:
    """Read a piece: '#', '*' or a letter for a cell, '.' or a blank for none, a blank line between layers.

    Raises
    ------
    ConfigError
        The drawing has another symbol, or no cell, or is larger than any board.
    """
    check_drawing(drawing, f"piece {quote(name)}")
    cells = []
    for layer, rows in enumerate(layers_of(textwrap.dedent(drawing))):
        for row, line in enumerate(rows):
            for column, symbol in enumerate(line):
                if symbol in MARKS:
                    cells.append((layer, row, column))
                elif symbol not in ". ":
                    raise ConfigError(
                        f"piece {quote(name)}: expected '#' or a letter for a cell, found {quote(symbol)}"
                    )
    if not cells:
        raise ConfigError(f"piece {quote(name)}: expected at least one cell, drawn as '#' or a letter, found none")
    return Piece(name, tuple(sorted(tuple(cell) for cell in to_origin(np.array(cells)).tolist())))


def layers_of(drawing: str) -> list[list[str]]:
    """The lines of a drawing, by layers; blank lines stand between layers."""
    layers: list[list[str]] = [[]]
    for line in drawing.splitlines():
        if line.strip():
            layers[-1].append(line.rstrip())
        elif layers[-1]:
            layers.append([])
    return [layer for layer in layers if layer]


def check_drawing(drawing: str, key: str) -> None:
    """Raise ConfigError, which begins with the key, for a drawing that is larger than any board."""
    if len(drawing) > MOST_DRAWN:
        raise ConfigError(f"{key}: expected a drawing of at most {MOST_DRAWN:,} characters, found {len(drawing):,}")


def parse_pieces(drawings: dict[str, str]) -> tuple[Piece, ...]:
    """Read several pieces, ``name: drawing``, in the order given."""
    return tuple(parse_piece(name, drawing) for name, drawing in drawings.items())


PENTOMINOES: tuple[Piece, ...] = parse_pieces(
    {
        "F": ".FF\nFF.\n.F.",
        "I": "IIIII",
        "L": "LLLL\nL...",
        "N": "NN..\n.NNN",
        "P": "PP\nPP\nP.",
        "T": "TTT\n.T.\n.T.",
        "U": "U.U\nUUU",
        "V": "V..\nV..\nVVV",
        "W": "W..\nWW.\n.WW",
        "X": ".X.\nXXX\n.X.",
        "Y": "YYYY\n.Y..",
        "Z": "ZZ.\n.Z.\n.ZZ",
    }
)
"""The twelve pentominoes by the letters they resemble (Golomb, *Polyominoes*, 1965)."""
