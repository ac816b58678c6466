"""Layers, positions and paths drawn for terminals and as plots."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import Command

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.notation import Lists
from antipodes.puzzles.puzzle import Puzzle
from antipodes.tables.drawing import draw_layers, draw_path, draw_positions, plot_layers
from antipodes_tasks.base.errors import InputError, StoreError
from antipodes_tasks.rules.parts import pieces
from antipodes_tasks.rules.transforms import Transforms

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


def test_the_first_and_the_last_of_many_layers() -> None:
    lines = draw_layers(list(range(1, 8)), 4).splitlines()
    assert [line.split()[0] for line in lines] == ["depth", "0", "1", "...", "5", "6"]
    assert draw_layers(list(range(1, 8)), 7) == draw_layers(list(range(1, 8)))


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


class Heaps(Lists):
    """Drawings of as many lines as the first symbol says, of different widths."""

    def draw(self, symbols: Sequence[str]) -> str:
        return "\n".join("#" * (line + 1) for line in range(int(symbols[0])))


def test_drawings_of_different_sizes() -> None:
    start = (3, 1, 2, 4)
    moves = Transforms.permuting({"L": [1, 2, 3, 0]}, 5)
    puzzle = Puzzle.of("p", "test", "", Heaps((4,)), [pieces(start, tuple("01234"))], (start,), moves)
    path = puzzle.follow("L L L")
    assert draw_path(puzzle, path, 80).splitlines()[1:] == [
        "#     #     #     #",
        "##          ##    ##",
        "###               ###",
        "                  ####",
    ]
    assert len(draw_path(puzzle, path, 10).splitlines()) == 10
    assert draw_positions(puzzle, path[:0], 80) == ""


class Words(Lists):
    """Positions in one line of text, as puzzles without a board are drawn."""

    def draw(self, symbols: Sequence[str]) -> str:
        return self.join(symbols)


def test_positions_in_one_line_of_text_are_farther_apart_than_their_symbols() -> None:
    symbols = ("十", "二", "A", "B")
    moves = Transforms.permuting({"L": [1, 2, 3, 0]}, 4)
    puzzle = Puzzle.of("p", "test", "", Words((4,)), [pieces((0, 1, 2, 3), symbols)], ((0, 1, 2, 3),), moves)
    path = puzzle.follow("L L")
    captions, texts = draw_path(puzzle, path, 30).splitlines()[:2]
    assert texts == "十 二 A B    二 A B 十"
    assert captions == "    2            1", "wide characters take two columns"


@pytest.mark.parametrize("layers", [[1], pytest.param([1] * 300, marks=pytest.mark.slow)])
def test_pictures(layers: list[int], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plot_layers(layers, "five-tiles", tmp_path / "layers.svg", complete=False)
    assert "<svg" in (tmp_path / "layers.svg").read_text()


def test_refused(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(InputError, match="ending in"):
        plot_layers([1, 2], "p", tmp_path / "layers.doc")
    with pytest.raises(StoreError, match="cannot write"):
        plot_layers([1, 2], "p", tmp_path / "none" / "layers.svg")


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.tables.drawing.find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install"):
        plot_layers([1, 2], "p", tmp_path / "layers.svg")


def test_endings_are_refused_before_the_store_is_read(cli: Command) -> None:
    for name in ("layers.doc", "layers", "layers.svgz"):
        assert "expected a file name ending in" in cli("layers", "none.zarr", "--plot", name).err


@pytest.mark.slow
def test_heavy_libraries_are_loaded_only_by_commands_that_need_them() -> None:
    code = (
        "import sys; from antipodes.cli.main import run_command\n"
        "for words in sys.argv[2:]: run_command(words.split())\n"
        "print(sorted(set(sys.argv[1].split()) & set(sys.modules)))"
    )
    everything = "matplotlib numba zarr dask distributed rich"
    for absent, commands in ((everything, ["--help", "puzzles", "boards"]), ("numba", ["rank eight-puzzle 123456780"])):
        words = [sys.executable, "-c", code, absent, *commands]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"
