"""Tilings of small boards by brute force, and their orbits.

A tiling is a tuple with the copies of each piece, a frozenset of frozensets of cells.
"""

import itertools
from collections.abc import Iterable

import numpy as np

from antipodes_tasks.exact_cover.pieces import Piece
from antipodes_tasks.exact_cover.problem import AVOIDS, TilingProblem


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
        if piece.one_sided and tuple(matrix @ (1, 0, 0)) != (1, 0, 0):
            continue
        turned = sorted(tuple(matrix @ cell) for cell in np.array(piece.cells))
        shapes.add(tuple(tuple(int(a - b) for a, b in zip(cell, turned[0], strict=True)) for cell in turned))
    return shapes


def brute_force(task: TilingProblem) -> set:
    """All tilings: each cell, in order, is left empty if it may be, or covered by some piece."""
    cells = sorted(tuple(cell) for cell in task.board.cells.tolist())
    orientations = [orientations_of(piece) for piece in task.pieces]
    found = set()

    def fill(number: int, empty: frozenset, placed: tuple) -> None:
        if number == len(cells):
            if all(len(copies) == piece.count for copies, piece in zip(placed, task.pieces, strict=True)):
                found.add(tuple(map(frozenset, placed)))
            return
        corner = cells[number]
        if corner not in empty or corner in task.board.optional:
            fill(number + 1, empty - {corner}, placed)
        for piece, shapes in enumerate(orientations if corner in empty else ()):
            for shape in shapes if len(placed[piece]) < task.pieces[piece].count else ():
                here = frozenset(tuple(a + b for a, b in zip(corner, cell, strict=True)) for cell in shape)
                if here <= empty:
                    fill(number + 1, empty - here, (*placed[:piece], (*placed[piece], here), *placed[piece + 1 :]))

    fill(0, frozenset(cells), ((),) * len(task.pieces))
    return {tiling for tiling in found if holds(tiling, task)}


def holds(tiling: tuple, task: TilingProblem) -> bool:
    """Whether a tiling fulfils the conditions of the task."""
    names = [piece.name for piece in task.pieces]
    for condition in task.where:
        cells = {tuple(task.board.cells[cell].tolist()) for cell in condition.cells}
        copies = tiling[names.index(condition.piece)]
        if condition.verb == AVOIDS:
            if any(cells & copy for copy in copies):
                return False
        elif not any(cells <= copy for copy in copies):
            return False
    return True


def isometries_of(task: TilingProblem) -> list:
    """The isometries that map the board to itself, cells that may stay empty to such, as matrices and shifts."""
    cells = np.array(task.board.cells.tolist())
    covered = {cell for condition in task.where if condition.verb != AVOIDS for cell in condition.cells}
    optional = task.board.optional
    left = optional - {tuple(cells[cell].tolist()) for cell in covered}
    found = []
    for matrix in turns(proper_only=False):
        shift = cells.min(axis=0) - (cells @ matrix.T).min(axis=0)
        if moved(cells, matrix, shift) != frozenset(map(tuple, cells.tolist())):
            continue
        if moved(optional, matrix, shift) == optional and moved(left, matrix, shift) == left:
            found.append((matrix, shift))
    return found


def orbits(tilings: set, task: TilingProblem) -> int:
    """The number of orbits of the tilings under the isometries that map board and pieces to themselves.

    A reflection may turn a piece into another one, its mirror image, of which there are as many copies; of equal pieces
    the first becomes the first. Isometries that do not keep the conditions do not count.
    """
    cells = [tuple(cell) for cell in task.board.cells.tolist()]
    fitting = [
        (frozenset(one for one in placements_in(cells, piece) if is_allowed(one, piece, task)), piece.count)
        for piece in task.pieces
    ]
    left, count = set(tilings), 0
    acting = []
    for matrix, shift in isometries_of(task):
        images = [(frozenset(moved(one, matrix, shift) for one in here), copies) for here, copies in fitting]
        if all(images.count(one) == fitting.count(one) for one in fitting):
            acting.append(
                (matrix, shift, [nth(fitting, image, images[:number]) for number, image in enumerate(images)])
            )

    def image(tiling: tuple, matrix: np.ndarray, shift: np.ndarray, becomes: list) -> tuple:
        copies = (frozenset(moved(copy, matrix, shift) for copy in piece) for piece in tiling)
        copy = dict(zip(becomes, copies, strict=True))
        return tuple(copy[number] for number in range(len(copy)))

    while left:
        tiling = left.pop()
        count += 1
        for one in acting:
            left.discard(image(tiling, *one))
    return count


def is_allowed(copy: frozenset, piece: Piece, task: TilingProblem) -> bool:
    """Whether a piece may cover these cells under each condition alone."""
    for condition in task.where:
        cells = {tuple(task.board.cells[cell].tolist()) for cell in condition.cells}
        own = condition.piece == piece.name
        if cells & copy and (own if condition.verb == AVOIDS else not (own and cells <= copy)):
            return False
    return True


def placements_in(cells: list, piece: Piece) -> frozenset:
    """All sets of cells of a board that a piece may cover."""
    return frozenset(
        frozenset(tuple(a + b for a, b in zip(corner, cell, strict=True)) for cell in shape)
        for shape in orientations_of(piece)
        for corner in cells
        if all(tuple(a + b for a, b in zip(corner, cell, strict=True)) in cells for cell in shape)
    )


def nth(pieces: list, wanted: tuple, before: list) -> int:
    """The number of the piece with the wanted placements, past as many as there were of them before."""
    return [number for number, one in enumerate(pieces) if one == wanted][before.count(wanted)]
