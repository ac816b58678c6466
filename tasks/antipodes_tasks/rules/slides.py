"""Slides: one move shifts a line of adjacent tiles, in a row or column, by one square onto an empty square."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.rules.squares import DIRECTIONS, Square, square_name
from antipodes_tasks.rules.transforms import MAX_MASKED, Transforms

EMPTY = 0
HOLDS_EMPTY, HOLDS_TILE = np.uint64(1), ~np.uint64(1)
"""Bit masks of the labels that a place may hold before a move: only EMPTY, or any other label."""


class Slide(NamedTuple):
    """Adjacent tiles that move together by one square."""

    empty: int
    """The place that is empty before the move."""
    tiles: tuple[int, ...]
    """Places of the tiles, nearest to the empty place first; the last of them is empty after the move."""
    direction: str
    """Direction in which the tiles move: a value of DIRECTIONS."""

    def name(self, squares: Sequence[Square], rows: int, single: bool) -> str:
        """Return the name of the move: ``L``, or ``L3`` for three tiles.

        With several blanks, it consists of the square of the last tile and the direction, as in ``d1-left``.
        """
        if not single:
            return f"{square_name(squares[self.tiles[-1]], rows)}-{self.direction}"
        letter = self.direction[0].upper()
        return letter if len(self.tiles) == 1 else f"{letter}{len(self.tiles)}"


def slides(
    steps: Collection[tuple[int, int]], squares: Sequence[Square], rows: int, labels: int, single: bool
) -> Transforms:
    """Return all slides along ``steps``, the pairs of a tile's place and an adjacent place to which the tile can move.

    ``squares`` contains the square of each place on a board with ``rows`` rows, ``labels`` is the number of labels, and
    ``single`` is True if the puzzle has exactly one empty place.

    Raises ConfigError if there are more labels than a bit mask can distinguish.
    """
    if labels > MAX_MASKED:
        raise ConfigError(
            f'metric: "slides" allows at most {MAX_MASKED} different tiles and blanks; the puzzle has {labels}'
        )
    every = sorted(_iterate_slides(frozenset(steps), squares))
    origin = np.tile(np.arange(len(squares)), (len(every), 1))
    allowed = np.full(origin.shape, ~np.uint64(0))
    for number, slide in enumerate(every):
        line = [slide.empty, *slide.tiles]
        origin[number, line] = [*slide.tiles, slide.empty]
        allowed[number, line] = [HOLDS_EMPTY, *[HOLDS_TILE] * len(slide.tiles)]
    names = [slide.name(squares, rows, single) for slide in every]
    return Transforms(names, origin, np.full(len(squares), labels), allowed=allowed)


def _iterate_slides(steps: frozenset[tuple[int, int]], squares: Sequence[Square]) -> Iterator[Slide]:
    place = {square: number for number, square in enumerate(squares)}
    for empty, (row, column) in enumerate(squares):
        for (down, right), direction in DIRECTIONS.items():
            line = [empty]
            while (beside := _next_tile_place(line, (row, column), (down, right), place)) is not None and (
                beside,
                line[-1],
            ) in steps:
                line.append(beside)
                yield Slide(empty, tuple(line[1:]), direction)


def _next_tile_place(line: Sequence[int], first: Square, step: Square, place: dict[Square, int]) -> int | None:
    """Return the place of the next tile in a line of tiles that moves towards ``first``; None outside the board."""
    return place.get((first[0] - len(line) * step[0], first[1] - len(line) * step[1]))
