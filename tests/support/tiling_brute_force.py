"""Tilings of small boards by brute force, and their orbits.

A tiling is a tuple that contains, for each piece, its copies as a frozenset of frozensets of cells.
"""

import itertools
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from antipodes_tasks.exact_cover.pieces import Piece
from antipodes_tasks.exact_cover.tiling_problem import AVOIDS, TilingProblem


@lru_cache(maxsize=2)
def turns(proper_only: bool) -> list:
    """Return the rotations of a solid as matrices, and also its reflections unless ``proper_only``."""
    signed = [
        np.eye(3, dtype=int)[list(order)] * signs
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1, -1), repeat=3)
    ]
    return [matrix for matrix in signed if not proper_only or round(np.linalg.det(matrix)) == 1]


def moved(cells: Iterable, matrix: np.ndarray, shift: np.ndarray) -> frozenset:
    return frozenset(tuple(int(x) for x in matrix @ np.array(cell) + shift) for cell in cells)


@lru_cache(maxsize=100)
def orientations_of(piece: Piece) -> set:
    """Return the shapes of a piece in all orientations, each with its first cell at the origin."""
    shapes = set()
    for matrix in turns(proper_only=True):
        if piece.one_sided and tuple(matrix @ (1, 0, 0)) != (1, 0, 0):
            continue
        turned = sorted(tuple(matrix @ cell) for cell in np.array(piece.cells))
        shapes.add(tuple(tuple(int(a - b) for a, b in zip(cell, turned[0], strict=True)) for cell in turned))
    return shapes


def brute_force(task: TilingProblem) -> set:
    """Return all tilings; each cell, in order, is covered by a piece, or left empty if it is optional."""
    cells = sorted(tuple(cell) for cell in task.board.cells.tolist())
    bits = {cell: 1 << number for number, cell in enumerate(cells)}
    fitting = [
        [(piece, sum(map(bits.get, here))) for piece, here in first_at(corner, task.pieces, bits)] for corner in cells
    ]
    left, found = [piece.count for piece in task.pieces], set()

    def fill(number: int, filled: int, placed: tuple) -> None:
        while filled >> number & 1:
            number += 1
        if number == len(cells):
            if not any(left):
                found.add(placed)
            return
        if cells[number] in task.board.optional:
            fill(number + 1, filled, placed)
        for piece, mask in fitting[number]:
            if left[piece] and not mask & filled:
                left[piece] -= 1
                fill(number + 1, filled | mask, (*placed, (piece, mask)))
                left[piece] += 1

    fill(0, 0, ())
    as_cells = {mask: frozenset(cell for cell in cells if bits[cell] & mask) for one in found for _, mask in one}
    tilings = {
        tuple(frozenset(as_cells[mask] for piece, mask in one if piece == wanted) for wanted in range(len(left)))
        for one in found
    }
    return {tiling for tiling in tilings if holds(tiling, task)}


def first_at(corner: tuple, pieces: Sequence[Piece], board: Container) -> Iterator[tuple[int, list]]:
    """Yield the number and the cells of each piece, in each orientation that fits with its first cell at ``corner``."""
    for number, piece in enumerate(pieces):
        for shape in orientations_of(piece):
            here = [tuple(a + b for a, b in zip(corner, cell, strict=True)) for cell in shape]
            if all(cell in board for cell in here):
                yield number, here


def holds(tiling: tuple, task: TilingProblem) -> bool:
    """Return whether a tiling satisfies the conditions of the task."""
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
    """Return the isometries that keep the board and its optional cells, as matrices and shifts."""
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
    """Return the number of orbits of the tilings under the isometries that keep the board, pieces and conditions.

    A reflection may map a piece to its mirror image if both have equally many copies. If several pieces are equal, the
    first is mapped to the first, and so on.
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
    """Return whether every single condition allows a piece to cover these cells."""
    for condition in task.where:
        cells = {tuple(task.board.cells[cell].tolist()) for cell in condition.cells}
        own = condition.piece == piece.name
        if cells & copy and (own if condition.verb == AVOIDS else not (own and cells <= copy)):
            return False
    return True


def placements_in(cells: list, piece: Piece) -> frozenset:
    """Return all sets of cells of a board that a piece can cover."""
    board, pieces = set(cells), [piece]
    return frozenset(frozenset(here) for corner in cells for _, here in first_at(corner, pieces, board))


def nth(pieces: list, wanted: tuple, before: list) -> int:
    """Return the number of the next piece with the wanted placements, after those that ``before`` contains."""
    return [number for number, one in enumerate(pieces) if one == wanted][before.count(wanted)]
