"""Named sets of pieces: all polyominoes, or all polycubes, of a number of cells."""

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from string import ascii_lowercase, ascii_uppercase, digits

import numpy as np

from antipodes_tasks.exact_cover.isometries import TURNS, Coordinates, to_origin
from antipodes_tasks.exact_cover.pieces import PENTOMINOES, Cell, Piece, neighbours, parse_pieces

Shape = tuple[Cell, ...]
"""The cells of a piece, sorted; the smallest layer, row and column are 0."""

LETTERS = (
    *PENTOMINOES,
    *parse_pieces({"I": "IIII", "L": "LLL\nL..", "O": "OO\nOO", "S": ".SS\nSS.", "T": "TTT\n.T."}),
    *parse_pieces({"I": "III", "V": "VV\nV."}),
)
"""The flat pieces that have letters of their own."""
MIRRORED = {"L": "J", "S": "Z"}
"""The letters of one-sided tetrominoes; of other pieces with a letter the mirror image has the small letter."""


@lru_cache(maxsize=16)
def piece_set(name: str) -> tuple[Piece, ...]:
    """The pieces of one of the `PIECE_SETS`."""
    return PIECE_SETS[name]()


def _free_polyominoes(size: int) -> tuple[Piece, ...]:
    """The flat pieces of a size, each of which may be turned over."""
    return _named(_grown(size, flat=True))


def _one_sided_polyominoes(size: int) -> tuple[Piece, ...]:
    """The flat pieces of a size, those that differ from their mirror image in both forms; none may be turned over."""
    free = _free_polyominoes(size)
    lettered = {piece.name for piece in free} <= {piece.name for piece in LETTERS}
    shapes: dict[str, Shape] = {}
    for piece in free:
        mirrored = _mirrored(piece.cells)
        shapes[piece.name] = piece.cells
        if _turned(mirrored) != _turned(piece.cells):
            shapes[_mirror_name(piece.name, size) if lettered else f"{piece.name}'"] = mirrored
    names = shapes if lettered else _sequential_names(len(shapes))
    return tuple(Piece(name, cells, one_sided=True) for name, cells in zip(names, shapes.values(), strict=True))


def _polycubes(size: int) -> tuple[Piece, ...]:
    """The solids of a size, mirror images that differ both."""
    return _named(_grown(size, flat=False))


def _grown(size: int, flat: bool) -> list[Shape]:
    """The connected shapes of a size that differ as solids: those of one cell less with a cell added anywhere."""
    shapes: set[Shape] = {((0, 0, 0),)}
    for _ in range(size - 1):
        larger = set()
        for shape in shapes:
            beside = set().union(*map(neighbours, shape)) - set(shape)
            larger |= {_canonical((*shape, cell)) for cell in beside if not flat or cell[0] == 0}
        shapes = larger
    return sorted(shapes)


def _canonical(cells: Iterable[Cell]) -> Shape:
    """The same for all orientations of a solid: the first of them, flat if it can be."""
    first = Piece("", tuple(cells)).orientations()[0]
    return _as_shape(first)


def _as_shape(cells: Coordinates) -> Shape:
    return tuple(sorted((layer, row, column) for layer, row, column in to_origin(cells).tolist()))


def _mirrored(shape: Shape) -> Shape:
    return _as_shape(np.array(shape) * np.array((1, 1, -1)))


def _turned(shape: Shape) -> Shape:
    """The same for all orientations within a layer."""
    return min(_as_shape(np.array(shape) @ turn.T) for turn in TURNS)


def _named(shapes: list[Shape]) -> tuple[Piece, ...]:
    """The pieces of these shapes: with letters of their own first, drawn as usual, then others with spare letters."""
    known = {_canonical(piece.cells): piece for piece in LETTERS}
    lettered = sorted((known[shape] for shape in shapes if shape in known), key=lambda piece: piece.name)
    others = [shape for shape in shapes if shape not in known]
    taken = {piece.name for piece in lettered}
    names = [name for name in _sequential_names(len(shapes)) if name not in taken]
    return (*lettered, *(Piece(name, shape) for name, shape in zip(names, others, strict=False)))


def _sequential_names(count: int) -> list[str]:
    """One character each where these suffice, else numbers from 1."""
    symbols = ascii_uppercase + ascii_lowercase + digits
    return list(symbols[:count]) if count <= len(symbols) else [str(number + 1) for number in range(count)]


def _mirror_name(name: str, size: int) -> str:
    return MIRRORED[name] if size == 4 else name.lower()


def _sets() -> dict[str, Callable[[], tuple[Piece, ...]]]:
    flat = {"trominoes": 3, "tetrominoes": 4, "pentominoes": 5, "hexominoes": 6, "heptominoes": 7}
    sets: dict[str, Callable[[], tuple[Piece, ...]]] = {}
    for name, size in flat.items():
        sets[name] = partial(_free_polyominoes, size)
        if size > 3:
            sets[f"one-sided-{name}"] = partial(_one_sided_polyominoes, size)
    for name, size in {"tetracubes": 4, "pentacubes": 5}.items():
        sets[name] = partial(_polycubes, size)
    return sets


PIECE_SETS = _sets()
"""The makers of the named sets."""
