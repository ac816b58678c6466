"""What the service says of tilings: the board, the tilings that are asked for, their pictures and symmetric images."""

from typing import Any

import numpy as np

from antipodes.puzzles.picture import Picture
from antipodes.tilings.drawing import colours, draw_tiling
from antipodes.tilings.table import Tiling, Tilings, places, tilings_view
from antipodes_tasks import arguments
from antipodes_tasks.errors import NumberError
from antipodes_tasks.exact_cover.placements import symmetry_of

Values = dict[str, Any]


def board_view(tilings: Tilings) -> Values:
    """The board: its size, its cells as (row, column), in a box (layer, row, column), and its pieces."""
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
    """The tilings for which conditions such as "X covers 23" are true, without the ``first`` ones of them.

    InputError where one of the conditions is none.
    """
    matching = tilings.where(*conditions).tolist() if conditions else range(len(tilings))
    return {**tilings_view(tilings, matching[first : first + limit], len(matching)), "first": first}


def picture_of(tilings: Tilings, number: int) -> Picture:
    """The picture of a tiling, counted from 1; NumberError where there is none."""
    return draw_tiling(tilings.problem, _tiling(tilings, number).placements)


def images_view(tilings: Tilings, number: int) -> list[Values]:
    """The symmetric images of a tiling, each once, the tiling among them; NumberError where there is none."""
    tiling = _tiling(tilings, number)
    images = symmetry_of(tilings.problem).expand(tiling.placements[np.newaxis])
    return [
        {"number": image, "pieces": Tiling(tilings.problem, placements).cells}
        for image, placements in enumerate(images, start=1)
    ]


def _tiling(tilings: Tilings, number: int) -> Tiling:
    return tilings[arguments.integer(number, "the number of a tiling", 1, len(tilings), NumberError) - 1]
