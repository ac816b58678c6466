"""Tilings as text and as SVG."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from antipodes.exact_cover.partitions import partitions_of
from antipodes.exact_cover.problem import TilingProblem, parse_problem
from antipodes.exact_cover.search import search_partition
from antipodes.tilings.drawing import draw, steps, symbols_of
from antipodes.tilings.pictures import PALETTE, colours, svg


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
    assert symbols_of(task) == ("r", "n", "b", "a", "x")


def test_colours_are_all_different() -> None:
    assert colours(3) == PALETTE[:3]
    assert len(set(colours(128))) == 128
    assert all(len(colour) == 7 for colour in colours(128))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_svg_shows_every_piece_of_every_tiling(count: int) -> None:
    tilings = np.repeat(tilings_of(BOX), count, axis=0)
    root = ElementTree.fromstring(svg(BOX, tilings))
    fills = [path.get("fill") for path in root.iter("{http://www.w3.org/2000/svg}path")]
    shown = [colour for colour in fills if colour != "none"]
    assert set(shown) == set(colours(2) if count else ())
    assert fills.count("none") == 2 * count


def test_a_sheet_has_as_many_side_by_side_as_asked() -> None:
    tilings = np.repeat(tilings_of(FLAT), 6, axis=0)
    wide, high = (ElementTree.fromstring(svg(FLAT, tilings, across)) for across in (6, 1))
    assert int(wide.get("width", 0)) > 4 * int(high.get("width", 0))
    assert int(high.get("height", 0)) > 4 * int(wide.get("height", 0))
