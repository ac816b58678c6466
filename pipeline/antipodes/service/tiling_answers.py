"""The service's answers about tilings: the board, selected tilings, their pictures and symmetric images."""

from typing import Any

import numpy as np

from antipodes.drawing.picture import Picture
from antipodes.tilings.drawing import colours, draw_tiling
from antipodes.tilings.table import Tiling, Tilings, places, tilings_view
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import NumberError
from antipodes_tasks.exact_cover.placements import symmetry_of

Values = dict[str, Any]


def board_view(tilings: Tilings) -> Values:
    """Return the board: its size, its pieces, and its cells as (row, column), or (layer, row, column) in a box."""
    problem = tilings.problem
    layers, rows, columns = problem.board.shape
    pieces = zip(problem.pieces, colours(len(problem.pieces)), strict=True)
    copies = np.bincount(problem.piece_of_copy, minlength=len(problem.pieces)).tolist()
    return {
        "name": problem.name,
        "layers": layers,
        "rows": rows,
        "columns": columns,
        "cells": places(problem),
        "pieces": [
            {
                "name": piece.name,
                "count": copies[number],
                "colour": colour,
                "labels": [
                    label
                    for label, of in zip(problem.labels, problem.piece_of_copy.tolist(), strict=True)
                    if of == number
                ],
            }
            for number, (piece, colour) in enumerate(pieces)
        ],
    }


def chosen_view(tilings: Tilings, first: int, limit: int, conditions: list[str]) -> Values:
    """Return the tilings that satisfy conditions such as "X covers 23", after skipping ``first`` of them.

    Raises InputError if a condition is invalid.
    """
    matching = tilings.where(*conditions).tolist() if conditions else range(len(tilings))
    return {**tilings_view(tilings, matching[first : first + limit], len(matching)), "first": first}


def picture_of(tilings: Tilings, number: int) -> Picture:
    """Return the picture of a tiling by its number from 1; raise NumberError if there is no such tiling."""
    return draw_tiling(tilings.problem, _tiling(tilings, number).placements)


def images_view(tilings: Tilings, number: int) -> list[Values]:
    """Return the distinct symmetric images of a tiling, including itself; raise NumberError if it does not exist."""
    tiling = _tiling(tilings, number)
    images = symmetry_of(tilings.problem).expand(tiling.placements[np.newaxis])
    return [
        {"number": image, "pieces": Tiling(tilings.problem, placements).cells}
        for image, placements in enumerate(images, start=1)
    ]


def _tiling(tilings: Tilings, number: int) -> Tiling:
    return tilings[arguments.integer(number, "the number of a tiling", 1, len(tilings), NumberError) - 1]
