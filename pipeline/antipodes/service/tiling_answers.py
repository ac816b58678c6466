"""The service's answers about tilings: the board, selected tilings, their pictures and symmetric images."""

from dataclasses import dataclass

import numpy as np

from antipodes.drawing.picture import Picture
from antipodes.system.records import schema_name, values_of
from antipodes.tilings.drawing import colours, draw_tiling
from antipodes.tilings.table import ListedTiling, ListedTilings, Place, Tiling, Tilings, listed_tilings, places
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import NumberError
from antipodes_tasks.exact_cover.fitting_copies import fitting
from antipodes_tasks.exact_cover.placements import symmetry_of


@schema_name("Piece")
@dataclass(frozen=True, slots=True)
class BoardPiece:
    """A piece of a board, and the names of its copies."""

    name: str
    count: int
    colour: str
    labels: list[str]


@schema_name("Board")
@dataclass(frozen=True, slots=True)
class TiledBoard:
    """A board and its pieces."""

    name: str
    layers: int
    rows: int
    columns: int
    cells: list[Place]
    """Cells as (row, column), or (layer, row, column) in a box."""
    pieces: list[BoardPiece]


@schema_name("Tilings")
@dataclass(frozen=True, slots=True)
class ChosenTilings(ListedTilings):
    """Some of the tilings that satisfy conditions, after the ``first`` ones, which are skipped."""

    first: int


@dataclass(frozen=True, slots=True)
class TilingImage(ListedTiling):
    """A symmetric image of a tiling; its number, from 1, is its place among the images."""

    matches: bool
    """Whether this image satisfies the conditions."""


def board_view(tilings: Tilings) -> TiledBoard:
    """Return the board of the tilings and its pieces."""
    problem = tilings.problem
    labels: list[list[str]] = [[] for _ in problem.pieces]
    for label, number in zip(problem.labels, problem.piece_of_copy.tolist(), strict=True):
        labels[number].append(label)
    pieces = [
        BoardPiece(piece.name, len(copies), colour, copies)
        for piece, copies, colour in zip(problem.pieces, labels, colours(len(problem.pieces)), strict=True)
    ]
    return TiledBoard(problem.name, *problem.board.shape, places(problem), pieces)


def chosen_view(tilings: Tilings, first: int, limit: int, conditions: list[str]) -> ChosenTilings:
    """Return the tilings that satisfy conditions such as "X covers 23", after skipping ``first`` of them.

    Raises InputError if a condition is invalid.
    """
    matches = tilings.matching(*conditions)
    listed = listed_tilings(matches, matches.numbers[first : first + limit].tolist())
    return ChosenTilings(**values_of(listed), first=first)


def picture_of(tilings: Tilings, number: int) -> Picture:
    """Return the picture of a tiling by its number from 1; raise NumberError if there is no such tiling."""
    return draw_tiling(tilings.problem, _tiling(tilings, number).placements)


def images_view(tilings: Tilings, number: int, conditions: list[str]) -> list[TilingImage]:
    """Return the distinct symmetric images of a tiling, including itself, and whether each satisfies conditions.

    Raises NumberError if the tiling does not exist, and InputError if a condition is invalid.
    """
    tiling = _tiling(tilings, number)
    copies = symmetry_of(tilings.problem).expand(tiling.placements[np.newaxis])
    satisfied = fitting(copies, tilings.matching(*conditions).requirements)
    return [
        TilingImage(image, Tiling(tilings.problem, placements).cells, bool(fits))
        for image, (placements, fits) in enumerate(zip(copies, satisfied, strict=True), start=1)
    ]


def _tiling(tilings: Tilings, number: int) -> Tiling:
    return tilings[arguments.integer(number, "the number of a tiling", 1, len(tilings), NumberError) - 1]
