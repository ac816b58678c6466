from typing import Any

import numpy as np
import pytest

from antipodes.puzzles.families import puzzle_from
from antipodes.tables.drawing import draw_layers, draw_path, draw_positions

TABLE: dict[str, Any] = {"name": "p", "family": "sliding", "rows": 2, "columns": 2, "start": "1 2 3 0"}
PUZZLE = puzzle_from(TABLE)


@pytest.mark.parametrize("layers", [[1], [1, 1, 1], [1, 2, 1_000_000], [3, 0, 1]])
def test_a_line_a_depth(layers: list[int]) -> None:
    lines = draw_layers(layers).splitlines()
    assert len(lines) == len(layers) + 1
    for depth, (count, line) in enumerate(zip(layers, lines[1:], strict=True)):
        assert line.split()[:2] == [str(depth), f"{count:,}"]
    assert "█" * 40 in lines[1 + layers.index(max(layers))]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("columns", [1, 9, 20, 80, 1000])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_boards_side_by_side(columns: int, count: int) -> None:
    drawn = draw_positions(PUZZLE, np.repeat(PUZZLE.start_labels, count, axis=0), columns)
    assert drawn.count("╭") == count
    assert max(map(len, drawn.splitlines())) <= max(columns, 7)


def test_a_path_counts_down() -> None:
    start = PUZZLE.start_labels[0]
    path = np.array([PUZZLE.successors(start)[0], start])
    first, *rest = draw_path(PUZZLE, path, 80).splitlines()
    assert first.split() == ["1", "0"]
    assert len(rest) == 4
