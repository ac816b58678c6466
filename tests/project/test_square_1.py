"""The check that some positions of Square-1 need 27 moves, near the start, and the published path."""

import re

import numpy as np
import pytest
from project import DOCS

import antipodes as ap
from benchmarks import square_1
from benchmarks.square_1 import (
    CELLS,
    START,
    cells_of,
    layers_around,
    meetings,
    moves_along,
    pack,
    path_of_13,
    slash,
    unpack,
)

PAGE = (DOCS / "explanation" / "large-runs.md").read_text(encoding="utf-8")


def test_layers_and_meetings() -> None:
    upper, lower = (cells_of(layer) for layer in START)
    around_s = layers_around(pack(upper, lower), 2)
    around_x = layers_around(pack(*slash(upper, lower, 6, 0)), 2)
    assert [len(layer) for layer in around_s] == [1, 64, 1153]
    assert [len(layer) for layer in around_x] == [1, 16, 281]
    assert np.array_equal(pack(*unpack(around_s[2])), around_s[2])
    assert meetings(around_s, layers_around(pack(cells_of("G5DA6BC"), cells_of("H834127EF")), 2)) == 0
    assert meetings(around_s, layers_around(around_s[2][:1], 2)) > 0


def test_the_published_path_leads_to_the_published_position() -> None:
    published = re.search(r"^    (\([^\n]*\))\n", PAGE[PAGE.index("a path of 27 moves") :], re.MULTILINE)
    assert published
    moves = published[1]
    puzzle = ap.load_puzzle("square-1")
    position = puzzle.format(puzzle.follow(moves)[-1])
    assert (len(moves.split()), f"`{position}`" in PAGE) == (27, True)
    classes = re.search(r"upper layer `(\w+)` and the lower\nlayer `(\w+)`", PAGE)
    assert classes
    upper, lower = position[:7], position[7:-1]
    assert upper in classes[1] * 2
    assert lower in classes[2] * 2


def test_a_path_leads_to_a_position_with_a_corner_across_the_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(square_1, "RADIUS", 1)
    around_s = layers_around(pack(*map(cells_of, START)), 3)
    moves = moves_along(path_of_13(around_s, layers_around(around_s[3][:1], 1)))
    puzzle = ap.load_puzzle("square-1")
    position = puzzle.format(puzzle.follow(moves)[-1])
    pieces = position[:-1].upper()
    cuts = range(1, len(pieces))
    classes = {int(pack(cells_of(pieces[:cut]), cells_of(pieces[cut:]))[0]) for cut in cuts if whole(pieces[:cut])}
    assert moves.count("/") == 3
    assert classes == {int(around_s[3][0])}
    with pytest.raises(ap.errors.PositionError, match="not legal"):
        puzzle.apply(position, "/")


def whole(pieces: str) -> bool:
    """Tell whether these pieces are a layer."""
    return cells_of(pieces).shape[1] == CELLS
