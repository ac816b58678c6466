"""Square-1 and its relatives: two layers of corners and edges, cut in halves; a slash exchanges one half of each layer.

A position has a place for each cell and one for the middle layer. The cells of a layer are numbered clockwise from the
front of the cut, as seen from outside the puzzle: first the upper layer, then the lower layer. A corner covers two
cells: the first holds its letter, and the second holds the small letter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from antipodes.drawing.picture import PLAIN
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import choice, identity, refuse_unknown, starts_in, to_labels
from antipodes.puzzles.square_1_notation import (
    FLAT,
    FLIPPED,
    SLASH,
    Square1Notation,
    cell_count,
    cells_in,
    turn_name,
)
from antipodes_tasks.base.errors import ConfigError, PositionError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.rules.free_moves import FreeMoves
from antipodes_tasks.rules.larger_pieces import LargerPieces
from antipodes_tasks.rules.parts import Part, moduli_of, pieces
from antipodes_tasks.rules.transforms import Transforms

SOLVED = "A1B2C3D45E6F7G8H-"
METRICS = ("wca", "twist")
MAX_CELLS = 12
"""Maximum number of cells of a layer."""
UPPER, LOWER = "#f0e442", "#ffffff"
"""Colours of the pieces that are in the upper and the lower layer at the start."""


def square_1(settings: Mapping[str, Any]) -> Puzzle:
    """Return the puzzle that begins at ``start`` (by default the solved Square-1).

    A move turns the upper layer, the lower layer or both; a slash is a move too, and is legal unless a corner lies
    across the cut. In the metric "twist", turns are free. Letters are corners and digits are edges; equal symbols are
    identical pieces.
    """
    refuse_unknown(settings, {"start", "metric"})
    metric = choice(settings, "metric", METRICS)
    texts = starts_in({"start": SOLVED, **settings})
    size = _layer_size(texts[0])
    starts = [_cells(text, size) for text in texts]
    symbols = tuple(sorted({*starts[0][:-1]}))
    cells, *_ = to_labels([start[:-1] for start in starts], symbols)
    parts = (pieces(cells, symbols), Part(1, (FLAT, FLIPPED)))
    puzzle = Puzzle.of(
        **identity(settings),
        family="square-1",
        notation=Square1Notation(size, _colours(starts[0], size)),
        parts=parts,
        starts=_labels(starts, parts),
        moves=_moves(size, parts),
    )
    rules = replace(puzzle.rules, larger=_corners(size, parts[0]))
    if metric == "twist":
        turns = [name for name in puzzle.moves.names if name != SLASH]
        return replace(puzzle, rules=replace(rules, moves=FreeMoves(_moves(size, parts), turns)))
    is_shape = len(symbols) <= len("Aa1")  # the shape is the whole position, so there are no arrangements to number
    return replace(puzzle, rules=replace(rules, enumerated=True, by_shape=not is_shape))


def _corners(size: int, part: Part) -> LargerPieces | None:
    """Return the corners, whose second cell follows clockwise on the first one in the same layer."""
    cells = np.arange(2 * size).reshape(2, size)
    placements = np.stack((cells, np.roll(cells, -1, axis=1)), axis=2).reshape(-1, 2)
    corners = [[label, part.labels[symbol.lower()]] for symbol, label in part.labels.items() if symbol.isupper()]
    if not corners:
        return None
    labels = np.array(corners)
    return LargerPieces(np.repeat(labels, len(placements), axis=0), np.tile(placements, (len(labels), 1)))


def _layer_size(text: str) -> int:
    """Return the number of cells of each layer of a start."""
    size, rest = divmod(cell_count(text), 2)
    if rest or size % 2 or not 4 <= size <= MAX_CELLS:
        raise ConfigError(
            f"start: expected two layers of 4, 6, 8, 10 or {MAX_CELLS} cells (a corner covers two cells, an edge one), "
            f"found {cell_count(text)} cells in {quote(shorten(text))}"
        )
    return size


def _cells(text: str, size: int) -> list[str]:
    try:
        return cells_in(text, size)
    except PositionError as error:
        raise ConfigError(f"start: {error}") from None


def _labels(starts: Sequence[Sequence[str]], parts: Sequence[Part]) -> tuple[tuple[int, ...], ...]:
    """Return the distinct starts as labels; raise ConfigError unless all of them have the same pieces."""
    cells = [to_labels([starts[0][:-1], start[:-1]], parts[0].symbols)[-1] for start in starts]
    middles = [parts[1].labels[start[-1]] for start in starts]
    return tuple(dict.fromkeys((*one, middle) for one, middle in zip(cells, middles, strict=True)))


def _colours(start: Sequence[str], size: int) -> dict[str, str]:
    """Return the colours of pieces, which show where they are at the start; identical pieces may be in both layers."""
    upper, lower = set(start[:size]), set(start[size : 2 * size])
    return {
        symbol: PLAIN if symbol in upper & lower else UPPER if symbol in upper else LOWER for symbol in upper | lower
    }


def _moves(size: int, parts: Sequence[Part]) -> Transforms:
    """Return the slash and all turns.

    A slash is illegal if the second cell of a corner is just behind the cut. Then its first cell is just before the
    cut. The condition names both cells, so that a reflection, which exchanges them, is recognized as a symmetry.
    """
    cells, half = np.arange(2 * size).reshape(2, size), size // 2
    slash = cells.copy()
    slash[0, half:], slash[1, :half] = cells[1, :half], cells[0, half:]
    origins = {SLASH: slash}
    for upper, lower in list(product(range(size), repeat=2))[1:]:
        origins[turn_name(upper, lower, size)] = np.stack((np.roll(cells[0], upper), np.roll(cells[1], lower)))
    origin = np.array([[*one.ravel(), 2 * size] for one in origins.values()])
    added, allowed = np.zeros_like(origin), np.full(origin.shape, ~np.uint64(0))
    added[0, -1] = 1
    ends = np.array([0, half, size, size + half])
    for symbol, label in parts[0].labels.items():
        if symbol.isalpha():
            allowed[0, ends if symbol.islower() else ends + half - 1] ^= np.uint64(1 << label)
    return Transforms(origins, origin, moduli_of(parts), added, allowed)
