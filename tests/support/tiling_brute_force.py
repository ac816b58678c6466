"""Tilings of small boards by brute force, and their orbits: a tiling is a tuple of frozensets of cells."""

import itertools
from collections.abc import Iterable

import numpy as np

from antipodes.exact_cover.pieces import Piece
from antipodes.exact_cover.problem import TilingProblem


def turns(proper_only: bool) -> list:
    found = []
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1, -1), repeat=3):
            matrix = np.zeros((3, 3), dtype=int)
            for axis in range(3):
                matrix[axis, order[axis]] = signs[axis]
            if not proper_only or round(np.linalg.det(matrix)) == 1:
                found.append(matrix)
    return found


def moved(cells: Iterable, matrix: np.ndarray, shift: np.ndarray) -> frozenset:
    return frozenset(tuple(int(x) for x in matrix @ np.array(cell) + shift) for cell in cells)


def orientations_of(piece: Piece) -> set:
    """The shapes of a piece in all orientations, the first cell of each at the origin."""
    shapes = set()
    for matrix in turns(proper_only=True):
        turned = sorted(tuple(matrix @ cell) for cell in np.array(piece.cells))
        shapes.add(tuple(tuple(int(a - b) for a, b in zip(cell, turned[0], strict=True)) for cell in turned))
    return shapes


def brute_force(task: TilingProblem) -> set:
    cells = {tuple(cell) for cell in task.board.cells.tolist()}
    orientations = [orientations_of(piece) for piece in task.pieces]
    found = set()

    def fill(empty: frozenset, placed: dict) -> None:
        if not empty:
            found.add(tuple(placed[number] for number in range(len(orientations))))
            return
        corner = min(empty)
        for number, shapes in enumerate(orientations):
            for shape in shapes if number not in placed else ():
                here = frozenset(tuple(a + b for a, b in zip(corner, cell, strict=True)) for cell in shape)
                if here <= empty:
                    fill(empty - here, {**placed, number: here})

    fill(frozenset(cells), {})
    return found


def isometries_of(task: TilingProblem) -> list:
    """The isometries that map the board to itself, as matrices and shifts."""
    cells = np.array(task.board.cells.tolist())
    found = []
    for matrix in turns(proper_only=False):
        shift = cells.min(axis=0) - (cells @ matrix.T).min(axis=0)
        if moved(cells, matrix, shift) == frozenset(map(tuple, cells.tolist())):
            found.append((matrix, shift))
    return found


def orbits(tilings: set, task: TilingProblem) -> int:
    """The number of orbits of the tilings under the isometries that map board and pieces to themselves.

    A reflection may turn a piece into another one, its mirror image; of equal pieces the first becomes the first.
    """
    cells = [tuple(cell) for cell in task.board.cells.tolist()]
    fitting = [placements_in(cells, piece) for piece in task.pieces]
    left, count = set(tilings), 0
    acting = []
    for matrix, shift in isometries_of(task):
        images = [frozenset(moved(one, matrix, shift) for one in here) for here in fitting]
        if all(images.count(one) == fitting.count(one) for one in fitting):
            acting.append(
                (matrix, shift, [nth(fitting, image, images[:number]) for number, image in enumerate(images)])
            )
    while left:
        tiling = left.pop()
        count += 1
        for matrix, shift, becomes in acting:
            copy = dict(zip(becomes, (moved(piece, matrix, shift) for piece in tiling), strict=True))
            left.discard(tuple(copy[number] for number in range(len(copy))))
    return count


def placements_in(cells: list, piece: Piece) -> frozenset:
    """All sets of cells of a board that a piece may cover."""
    return frozenset(
        frozenset(tuple(a + b for a, b in zip(corner, cell, strict=True)) for cell in shape)
        for shape in orientations_of(piece)
        for corner in cells
        if all(tuple(a + b for a, b in zip(corner, cell, strict=True)) in cells for cell in shape)
    )


def nth(pieces: list, wanted: frozenset, before: list) -> int:
    """The number of the piece with the wanted placements, past as many as there were of them before."""
    return [number for number, one in enumerate(pieces) if one == wanted][before.count(wanted)]
