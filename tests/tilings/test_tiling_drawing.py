"""Tilings as text and as pictures."""

import numpy as np
import pytest

from antipodes.drawing.picture import Line, Region
from antipodes.tilings.drawing import PALETTE, colours, draw, draw_tiling, piece_characters, steps
from antipodes_tasks.exact_cover.partition_search import search_partition
from antipodes_tasks.exact_cover.partitions import partitions_of
from antipodes_tasks.exact_cover.pieces import piece_set
from antipodes_tasks.exact_cover.tiling_problem import TilingBoard, TilingProblem, parse_problem


def problem(cells: str, pieces: dict[str, str]) -> TilingProblem:
    return parse_problem({"name": "test", "cells": cells, "pieces": pieces})


def tilings_of(task: TilingProblem) -> np.ndarray:
    return np.concatenate([search_partition(task, k).tilings for k in range(len(partitions_of(task)))])


FLAT = problem("....\n.#..", {"V": "##\n#.", "long": "##\n.#\n.#"})
BOX = problem("..\n..\n\n..\n##", {"I": "##", "slab": "##\n##"})

LINES = """
┌───────────┬───┐
│           │   │
│   ┌───┬───┘   │
│   │░░░│       │
└───┘   └───────┘
"""
BOTH = """
┌───────────┬───┐
│ l   l   l │ V │
│   ┌───┬───┘   │
│ l │░░░│ V   V │
└───┘   └───────┘
"""


@pytest.mark.parametrize(("style", "drawing"), [("letters", "lllV\nl#VV"), ("lines", LINES), ("both", BOTH)])
def test_styles(style: str, drawing: str) -> None:
    (tiling,) = tilings_of(FLAT)
    assert draw(FLAT, tiling, style) == drawing.strip()


def test_a_box_is_drawn_layer_by_layer() -> None:
    assert {draw(BOX, tiling, "letters") for tiling in tilings_of(BOX)} == {"ss\nII\n\nss\n##"}


def test_steps_place_one_piece_after_the_other() -> None:
    (tiling,) = tilings_of(FLAT)
    drawings = [draw(FLAT, placed, "letters") for placed in steps(FLAT, tiling)]
    assert drawings == ["lll·\nl#··", "lllV\nl#VV"]


def test_each_piece_has_a_symbol_of_its_own() -> None:
    task = problem("......", {"bar": "##", "ban": "#", "b": "#", "a": "#", "x y": "#"})
    assert piece_characters(task) == ("r", "n", "b", "a", "x")


def test_each_piece_of_the_largest_set_has_a_symbol_of_its_own() -> None:
    pieces = "one-sided-heptominoes"
    cells = sum(piece.size for piece in piece_set(pieces))
    symbols = piece_characters(TilingProblem("test", TilingBoard(1, 1, cells), piece_set(pieces)))
    assert len(set(symbols)) == len(piece_set(pieces))
    assert "?" not in symbols


def test_colours_are_all_different() -> None:
    assert colours(3) == PALETTE[:3]
    assert len(set(colours(128))) == 128
    assert all(len(colour) == 7 for colour in colours(128))


def test_a_picture_has_every_piece_on_its_cells() -> None:
    for task in (BOX, FLAT):
        shapes = draw_tiling(task, tilings_of(task)[0]).shapes
        regions = [one for one in shapes if isinstance(one, Region)]
        assert {one.fill for one in regions} == set(colours(len(task.pieces)))
        assert sum(len(one.squares) for one in regions) == task.board.size


def test_lines_of_a_picture_are_the_borders_of_the_pieces() -> None:
    """A domino on two cells: a frame of four lines, and no line within."""
    domino = problem("..", {"D": "##"})
    picture = draw_tiling(domino, tilings_of(domino)[0])
    ends = {(one.x, one.y, one.end_x, one.end_y) for one in picture.shapes if isinstance(one, Line)}
    assert ends == {(0, 0, 0, 24), (48, 0, 48, 24), (0, 0, 48, 0), (0, 24, 48, 24)}
