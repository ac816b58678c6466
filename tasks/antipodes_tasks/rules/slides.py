"""Slides: tiles side by side, in a row or column up to an empty square, that move one square in one move."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from antipodes_tasks.errors import ConfigError
from antipodes_tasks.rules.squares import DIRECTIONS, Square, square_name
from antipodes_tasks.rules.transforms import MAX_MASKED, Transforms

EMPTY = 0
HOLDS_EMPTY, HOLDS_TILE = np.uint64(1), ~np.uint64(1)
"""What a place may hold before a move, as bits by label."""


class Slide(NamedTuple):
    """Tiles that move together."""

    empty: int
    """The place that is empty before."""
    tiles: tuple[int, ...]
    """The places of the tiles, the nearest to the empty one first; the last one is empty afterwards."""
    direction: str
    """Where they go: a value of DIRECTIONS."""

    def name(self, squares: Sequence[Square], rows: int, single: bool) -> str:
        """``L`` or, of three tiles, ``L3``; where there are several empty places, the last tile's: ``d1-left``."""
        if not single:
            return f"{square_name(squares[self.tiles[-1]], rows)}-{self.direction}"
        letter = self.direction[0].upper()
        return letter if len(self.tiles) == 1 else f"{letter}{len(self.tiles)}"


def slides(
    steps: Collection[tuple[int, int]], squares: Sequence[Square], rows: int, labels: int, single: bool
) -> Transforms:
    """All slides along ``steps``, which lead from the place of a tile to a place beside it.

    ``squares`` has the square of each place on a board of so many ``rows``, ``labels`` counts the labels, and
    ``single`` says whether one place alone is empty. ConfigError if there are more labels than conditions tell apart.
    """
    if labels > MAX_MASKED:
        raise ConfigError(
            f'metric: expected at most {MAX_MASKED} different tiles and blanks for "slides", found {labels}'
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
    """The place of the tile that would come next in a line to a square."""
    return place.get((first[0] - len(line) * step[0], first[1] - len(line) * step[1]))
