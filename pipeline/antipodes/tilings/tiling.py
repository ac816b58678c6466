"""One tiling of a board: its cells and its drawings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes.tilings.drawing import BOTH, STYLES, draw
from antipodes.tilings.drawing import steps as placed_one_by_one
from antipodes_tasks import arguments
from antipodes_tasks.exact_cover.placements import placements_of
from antipodes_tasks.exact_cover.problem import TilingProblem

Place = tuple[int, ...]
"""A cell by its row and column; in a box by its layer, row and column."""


@dataclass(frozen=True, eq=False)
class Tiling:
    """One way to fill the board."""

    problem: TilingProblem
    placements: NDArray[np.int32]
    """The number of the placement of each copy of each piece, ``(copies,)``."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tiling):
            return NotImplemented
        return self.problem == other.problem and np.array_equal(self.placements, other.placements)

    def __hash__(self) -> int:
        return hash(self.placements.tobytes())

    def __str__(self) -> str:
        return self.draw()

    def __repr__(self) -> str:
        return f"<tiling of {self.problem.name}: {self.draw('letters')!r}>"

    @property
    def cells(self) -> Mapping[str, list[Place]]:
        """The cells of each piece, by its name: (row, column), in a box (layer, row, column).

        The copies of a piece that has several are named "D.1", "D.2" and so on.
        """
        placed, where = placements_of(self.problem).cells, places(self.problem)
        return {
            label: sorted(where[cell] for cell in placed[number].tolist() if cell >= 0)
            for label, number in zip(self.problem.labels, self.placements.tolist(), strict=True)
        }

    def draw(self, style: str = BOTH) -> str:
        """The tiling as text: "letters", "lines", or "both"; InputError for other styles."""
        return draw(self.problem, self.placements, arguments.choice(style, "a style", STYLES))

    def steps(self, style: str = BOTH) -> Iterator[str]:
        """The tiling piece by piece, as many drawings as pieces; raises as `draw`."""
        arguments.choice(style, "a style", STYLES)
        return (draw(self.problem, placed, style) for placed in placed_one_by_one(self.problem, self.placements))


def places(problem: TilingProblem) -> list[Place]:
    """The place of each cell of the board: (row, column), or (layer, row, column) on boards of several layers."""
    coordinates = problem.board.cells if problem.board.layers > 1 else problem.board.cells[:, 1:]
    return [tuple(place) for place in coordinates.tolist()]
