"""Conditions on all symmetric copies of tilings, against brute force over all tilings of a board."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiling_brute_force import brute_force, holds
from tiling_stores import BOX, COPIES, SQUARE, tiled

from antipodes.tilings.table import Tiling, open_tilings
from antipodes_tasks.exact_cover.placements import symmetry_of
from antipodes_tasks.exact_cover.tiling_problem import TilingProblem

HOLES = {
    "name": "holes",
    "cells": "......\n..##..\n..##..\n......",
    "pieces": {"D": {"shape": "##", "count": 7}, "I": {"shape": "###", "count": 2}},
}
ONE_SIDED = {
    "name": "one-sided",
    "cells": ".....\n.....\n.....\n.....",
    "pieces": {
        "L": {"shape": "###\n#..", "one_sided": True, "count": 2},
        "J": {"shape": "###\n..#", "one_sided": True, "count": 2},
        "O": "##\n##",
    },
}
WITHOUT_SYMMETRY = {"name": "plain", "cells": ".....\n...#.\n..##.", "pieces": {"D": {"shape": "##", "count": 6}}}
SAME_SHAPE = {"name": "same", "cells": "....\n....\n....", "pieces": {"A": "###\n#..", "B": "###\n#..", "O": "##\n##"}}
UNDER_A_CONDITION = {**SQUARE, "name": "conditioned", "where": ["I covers 2"]}
BOARDS = {
    one["name"]: one for one in (SQUARE, BOX, COPIES, HOLES, ONE_SIDED, WITHOUT_SYMMETRY, SAME_SHAPE, UNDER_A_CONDITION)
}
"""A square, a box, copies and optional cells, holes, mirror images, no symmetry, equal shapes, a stored condition."""


def cell_number(problem: TilingProblem, cell: int) -> int:
    """The number of a cell in reading order, as in conditions."""
    return problem.board.in_reading_order.tolist().index(cell)


def as_sets(tiling: Tiling) -> tuple[frozenset[frozenset[tuple[int, ...]]], ...]:
    """A tiling as `tiling_brute_force` writes it."""
    problem = tiling.problem
    cells = list(tiling.cells.values())
    placed = [
        frozenset(cell if len(cell) == 3 else (0, *cell) for cell in cells[copy]) for copy in range(problem.copies)
    ]
    return tuple(
        frozenset(placed[copy] for copy in np.flatnonzero(problem.piece_of_copy == piece).tolist())
        for piece in range(len(problem.pieces))
    )


@pytest.mark.parametrize("name", BOARDS)
def test_numbers_against_brute_force(name: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = BOARDS[name]
    random = np.random.default_rng(4)
    with open_tilings(tiled(settings, tmp_path / "t.zarr")) as tilings, open_tilings(tmp_path / "t.zarr", True) as raw:
        problem = tilings.problem
        every = brute_force(problem)
        assert len(every) == tilings.copies > 0
        symmetries = symmetry_of(problem)
        numbers = {tiling: number for number, tiling in enumerate(map(as_sets, raw))}
        class_of = [tilings.array.tolist().index(symmetries.expand(row[np.newaxis])[0].tolist()) for row in raw.array]
        for _ in range(12):
            conditions, parsed = [], []
            for _ in range(random.integers(1, 3)):
                piece = problem.pieces[random.integers(len(problem.pieces))].name
                cells = random.choice(problem.board.size, random.integers(1, 3), replace=False).tolist()
                verb = random.choice(["covers", "avoids"])
                conditions.append(f"{piece} {verb} {' '.join(str(cell_number(problem, cell)) for cell in cells)}")
            found = tilings.matching(*conditions)
            parsed = replace(problem, where=tuple(_conditions(problem, conditions)))
            expected = [tiling for tiling in every if holds(tiling, parsed)]
            assert found.copies == len(expected), conditions
            assert found.numbers.tolist() == sorted({class_of[numbers[tiling]] for tiling in expected})
            assert all(as_sets(one) in expected for one in found.placed(found.numbers.tolist()))
            copies = raw.matching(*conditions)
            assert copies.numbers.tolist() == sorted(numbers[tiling] for tiling in expected)
            assert (copies.classes, copies.copies) == (found.classes, found.copies)


def _conditions(problem: TilingProblem, texts: list[str]) -> list[Any]:
    from antipodes_tasks.exact_cover.tiling_problem import parse_condition

    return [parse_condition(text, problem.board, [piece.name for piece in problem.pieces], "where") for text in texts]


@pytest.mark.parametrize("name", BOARDS)
def test_images_of_conditions_have_equal_numbers(name: str, tmp_path: Path) -> None:
    with open_tilings(tiled(BOARDS[name], tmp_path / "t.zarr")) as tilings:
        problem, symmetries = tilings.problem, symmetry_of(tilings.problem)
        for piece in range(len(problem.pieces)):
            for cell in range(0, problem.board.size, 3):
                found = {
                    (matches.classes, matches.copies)
                    for pieces, cells in zip(symmetries.pieces, symmetries.cells, strict=True)
                    for matches in [
                        tilings.matching(
                            f"{problem.pieces[pieces[piece]].name} covers {cell_number(problem, cells[cell])}"
                        )
                    ]
                }
                assert len(found) == 1
