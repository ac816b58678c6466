"""Pieces made of squares or cubes: orientations, drawings, named sets, and the setting ``pieces``."""

import itertools
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.base.values import FLAG, SYMBOL, integer

Cell = tuple[int, int, int]
"""A cell: layer, row and column."""
Shape = tuple[Cell, ...]
"""The cells of a piece, sorted; the minimum layer, row and column are 0."""
Coordinates = NDArray[np.int64]
"""``(cells, 3)``: layer, row and column of each cell."""

MARKS = frozenset("#*" + ascii_letters)
"""Symbols for a cell in the drawing of a piece; a period or a space is an empty square."""
MAX_DRAWN = 1 << 15
"""Maximum number of characters of a drawing."""
MAX_CELLS = 1024
"""Maximum number of cells of a board."""

ISOMETRIES: NDArray[np.int64] = np.array(
    [
        np.diag(signs)[list(order)]
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1, -1), repeat=3)
    ],
    dtype=np.int64,
)
"""``(48, 3, 3)``: the symmetries of the cube, including reflections, as matrices on ``(layer, row, column)``."""

ROTATIONS: NDArray[np.int64] = ISOMETRIES[np.linalg.det(ISOMETRIES) > 0]
"""``(24, 3, 3)``: the rotations of the cube; turning a flat piece over is one of these."""

TURNS: NDArray[np.int64] = ROTATIONS[ROTATIONS[:, 0, 0] == 1]
"""``(4, 3, 3)``: the rotations within a layer, by multiples of a quarter turn, which keep the upper side up."""


def to_origin(cells: Coordinates) -> Coordinates:
    """Return the cells translated so that the minimum layer, row and column are 0."""
    moved: Coordinates = cells - cells.min(axis=0)
    return moved


def sort_cells(cells: Coordinates, axes: tuple[int, int, int]) -> Coordinates:
    """Return the cells sorted along the axes, from the slowest to the fastest."""
    slow, middle, fast = (cells[:, axis] for axis in axes)
    ordered: Coordinates = cells[np.lexsort((fast, middle, slow))]
    return ordered


@dataclass(frozen=True, slots=True)
class Piece:
    """A named set of cells, connected or not, in one of its orientations, and its number of copies.

    A piece can be moved and rotated in space, but not mirrored. So a flat piece may be turned over, which looks like a
    reflection, and may stand upright in a box. A piece that is not flat has at most 24 orientations. If its mirror
    image is different, it is another piece. A one-sided piece can only be rotated within its layer.
    """

    name: str
    cells: tuple[Cell, ...]
    """The cells, sorted; the minimum layer, row and column are 0."""
    count: int = 1
    """Number of copies that a tiling uses. They are identical: exchanging two copies does not give another tiling."""
    one_sided: bool = False
    """Whether the piece must keep its upper side up."""

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.cells)

    @property
    def breadth(self) -> int:
        """Second longest side of the box around the piece; for example, 1 for a rod and 3 for X."""
        return int(np.sort(np.ptp(self.cells, axis=0))[1]) + 1

    @property
    def connected(self) -> bool:
        """Whether the cells are connected through their faces."""
        rest = set(self.cells)
        reached = [rest.pop()]
        for cell in reached:
            beside = rest & neighbours(cell)
            reached.extend(beside)
            rest -= beside
        return not rest

    def orientations(self, axes: tuple[int, int, int] = (0, 1, 2)) -> list[Coordinates]:
        """Return the distinct orientations of the piece, ``(size, 3)`` each, with the cells sorted along ``axes``.

        The list of orientations is also sorted along these axes, so it does not depend on how the piece is drawn.
        """
        turned = {}
        for rotation in TURNS if self.one_sided else ROTATIONS:
            cells = sort_cells(to_origin(np.array(self.cells) @ rotation.T), axes)
            turned[cells[:, axes].tobytes()] = cells
        return sorted(turned.values(), key=lambda cells: cells[:, axes].tolist())


def neighbours(cell: Cell) -> set[Cell]:
    """Return the six cells that share a face with a cell."""
    layer, row, column = cell
    return {
        *((layer + step, row, column) for step in (-1, 1)),
        *((layer, row + step, column) for step in (-1, 1)),
        *((layer, row, column + step) for step in (-1, 1)),
    }


def parse_piece(name: str, drawing: str) -> Piece:
    """Parse a piece: '#', '*' or a letter is a cell, '.' or a space is empty, and a blank line separates layers.

    Raises
    ------
    ConfigError
        The drawing contains another symbol or no cell, or is larger than any board.
    """
    cells = []
    for layer, rows in enumerate(layers_of(textwrap.dedent(drawing), f"piece {quote(name)}")):
        for row, line in enumerate(rows):
            for column, symbol in enumerate(line):
                if symbol in MARKS:
                    cells.append((layer, row, column))
                elif symbol not in ". ":
                    raise ConfigError(
                        f"piece {quote(name)}: expected '#' or a letter for a cell, found {quote(symbol)}"
                    )
    if not cells:
        raise ConfigError(f"piece {quote(name)}: the drawing has no cell; draw cells as '#' or a letter")
    return Piece(name, tuple(sorted(tuple(cell) for cell in to_origin(np.array(cells)).tolist())))


def layers_of(drawing: str, key: str) -> list[list[str]]:
    """Return the lines of a drawing by layer; blank lines separate layers.

    Raises ConfigError, beginning with ``key``, if the drawing is larger than any board.
    """
    if len(drawing) > MAX_DRAWN:
        raise ConfigError(f"{key}: expected a drawing of at most {MAX_DRAWN:,} characters, found {len(drawing):,}")
    layers: list[list[str]] = [[]]
    for line in drawing.splitlines():
        if line.strip():
            layers[-1].append(line.rstrip())
        elif layers[-1]:
            layers.append([])
    return [layer for layer in layers if layer]


def _drawn(drawings: Mapping[str, str]) -> tuple[Piece, ...]:
    """Parse several pieces, ``name: drawing``, in the given order."""
    return tuple(parse_piece(name, drawing) for name, drawing in drawings.items())


PENTOMINOES: tuple[Piece, ...] = _drawn(
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
"""The twelve pentominoes, named by the letters that they resemble (Golomb, *Polyominoes*, 1965)."""

LETTERS = (
    *PENTOMINOES,
    *_drawn({"I": "IIII", "L": "LLL\nL..", "O": "OO\nOO", "S": ".SS\nSS.", "T": "TTT\n.T."}),
    *_drawn({"I": "III", "V": "VV\nV."}),
)
"""The flat pieces with conventional letters."""
MIRRORED_TETROMINOES = {"L": "J", "S": "Z"}
"""Letters of mirror images. The mirror images of other pieces have the piece's letter in lower case."""


def _as_shape(cells: Coordinates) -> Shape:
    return tuple(sorted((layer, row, column) for layer, row, column in to_origin(cells).tolist()))


def _canonical(cells: Iterable[Cell]) -> Shape:
    """Return the first orientation of a solid, which is flat if possible; all orientations give the same result."""
    return _as_shape(Piece("", tuple(cells)).orientations()[0])


def _free(size: int, flat: bool = True) -> tuple[Piece, ...]:
    """Return the flat pieces of a size, which may be turned over; or the solids, with distinct mirror images, if
    ``flat`` is False.

    Pieces with conventional letters come first, drawn as usual; the other pieces get the unused letters.
    """
    shapes: set[Shape] = {((0, 0, 0),)}
    for _ in range(size - 1):  # add a cell in every possible place
        larger = set()
        for shape in shapes:
            beside = set().union(*map(neighbours, shape)) - set(shape)
            larger |= {_canonical((*shape, cell)) for cell in beside if not flat or cell[0] == 0}
        shapes = larger
    known = {_canonical(piece.cells): piece for piece in LETTERS}
    lettered = sorted((known[shape] for shape in shapes & known.keys()), key=lambda piece: piece.name)
    taken = {piece.name for piece in lettered}
    names = [name for name in _sequential_names(len(shapes)) if name not in taken]
    others = sorted(shapes - known.keys())
    return (*lettered, *(Piece(name, shape) for name, shape in zip(names, others, strict=False)))


def _one_sided(size: int) -> tuple[Piece, ...]:
    """Return the flat pieces of a size that may not be turned over; distinct mirror images are separate pieces."""
    shapes, names = [], []
    for piece in _free(size):
        shapes.append(piece.cells)
        names.append(piece.name)
        mirrored = _as_shape(np.array(piece.cells) * np.array((1, 1, -1)))
        if piece.cells not in {_as_shape(np.array(mirrored) @ turn.T) for turn in TURNS}:
            shapes.append(mirrored)
            names.append(MIRRORED_TETROMINOES[piece.name] if size == 4 else piece.name.lower())
    if size > 5:  # more pieces than letters
        names = _sequential_names(len(shapes))
    return tuple(Piece(name, cells, one_sided=True) for name, cells in zip(names, shapes, strict=True))


def _sequential_names(count: int) -> list[str]:
    """Return a name for each piece: one character if there are enough characters, otherwise a number from 1."""
    symbols = ascii_uppercase + ascii_lowercase + digits
    return list(symbols[:count]) if count <= len(symbols) else [str(number + 1) for number in range(count)]


PIECE_SETS: Mapping[str, Callable[[], tuple[Piece, ...]]] = {
    "trominoes": partial(_free, 3),
    "tetrominoes": partial(_free, 4),
    "one-sided-tetrominoes": partial(_one_sided, 4),
    "pentominoes": partial(_free, 5),
    "one-sided-pentominoes": partial(_one_sided, 5),
    "hexominoes": partial(_free, 6),
    "one-sided-hexominoes": partial(_one_sided, 6),
    "heptominoes": partial(_free, 7),
    "one-sided-heptominoes": partial(_one_sided, 7),
    "tetracubes": partial(_free, 4, flat=False),
    "pentacubes": partial(_free, 5, flat=False),
}
"""Functions that return the named sets."""


@lru_cache(maxsize=len(PIECE_SETS))
def piece_set(name: str) -> tuple[Piece, ...]:
    """Return the pieces of one of the `PIECE_SETS`."""
    return PIECE_SETS[name]()


KEY = "[board] pieces"
ALL_PENTOMINOES = "pentominoes"
_BY_LETTER = {piece.name: piece for piece in PENTOMINOES}
PIECE_KEYS = ("shape", "count", "one_sided")


def parse_pieces_setting(value: object) -> tuple[Piece, ...]:
    """Return the pieces that a setting names or draws; raise ConfigError, naming the key, if the setting is invalid."""
    if isinstance(value, str):
        return piece_set(value) if value in PIECE_SETS else _lettered(value)
    if isinstance(value, list):
        return _pentominoes(value)
    if isinstance(value, dict) and value:
        if len(value) > MAX_CELLS:
            raise ConfigError(f"{KEY}: at most {MAX_CELLS:,} pieces fit on a board; found {len(value):,}")
        return tuple(_piece(name, setting) for name, setting in value.items())
    raise ConfigError(f"{KEY}: expected the name of a set, letters, or a table of drawings, found {quote(value)}")


def _lettered(text: str) -> tuple[Piece, ...]:
    """Return the pentominoes with these letters.

    A text with other letters that is longer than four letters is assumed to be the name of a set.
    """
    letters: list[object] = [letter for letter in text if letter not in " ,"]
    if len(letters) > len(_BY_LETTER) or (any(letter not in _BY_LETTER for letter in letters) and len(letters) > 4):
        raise ConfigError(
            f"{KEY}: expected letters from {''.join(_BY_LETTER)}, or one of the sets {', '.join(PIECE_SETS)}; "
            f"found {quote(shorten(text))}"
        )
    return _pentominoes(letters)


def _pentominoes(letters: list[object]) -> tuple[Piece, ...]:
    for number, letter in enumerate(letters):
        if not isinstance(letter, str) or letter not in _BY_LETTER:
            raise ConfigError(f"{KEY}: expected letters from {''.join(_BY_LETTER)}, found {quote(letter)}")
        if letter in letters[:number]:
            raise ConfigError(f"{KEY}: the letter {quote(letter)} occurs twice")
    if not letters:
        raise ConfigError(f"{KEY}: the list of pieces is empty")
    return tuple(_BY_LETTER[str(letter)] for letter in letters)


def _piece(name: str, setting: Any) -> Piece:
    """Return a piece from its drawing, or from a table that contains its drawing."""
    SYMBOL.check(name, KEY)
    key = f"{KEY}.{name}"
    table: Mapping[str, Any] = setting if isinstance(setting, dict) else {"shape": setting}
    unknown = sorted(map(str, set(table) - set(PIECE_KEYS)))
    if unknown:
        raise ConfigError(f"{key}.{shorten(unknown[0])}: unknown key; expected {', '.join(PIECE_KEYS)}")
    shape, count, one_sided = table.get("shape"), table.get("count", 1), table.get("one_sided", False)
    if not isinstance(shape, str):
        raise ConfigError(f"{key}: expected a drawing, found {quote(shape)}")
    integer(1, MAX_CELLS).check(count, f"{key}.count")
    FLAG.check(one_sided, f"{key}.one_sided")
    try:
        drawn = parse_piece(name, shape)
    except ConfigError as error:
        raise ConfigError(f"{key}: {error}") from None
    return Piece(name, drawn.cells, count, one_sided)
