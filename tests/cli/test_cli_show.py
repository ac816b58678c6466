"""The command ``show``: drawings in the terminal and in files."""

import json
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from programs import Command
from tiling_stores import BOX, SQUARE, tiled

from antipodes.tables.run import RunOptions
from antipodes.tilings.board_config import BoardConfig
from antipodes.tilings.run import tile_board
from antipodes.tilings.table import open_tilings

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def square(tmp_path: Path) -> Path:
    return tiled(SQUARE, tmp_path / "square.zarr")


def test_the_first_tilings_side_by_side(square: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    outcome = cli("show", square, "--limit", 4)
    assert (outcome.status, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    with open_tilings(square) as tilings:
        count = len(tilings)
        drawings = [str(tiling).splitlines() for tiling in tilings[:4]]
    assert lines[0].split("   ") == [f"1 of {count}", *lines[0].split("   ")[1:]]
    for row, (left, middle, right) in enumerate(zip(*drawings[:3], strict=True), start=1):
        assert lines[row] == f"{left}   {middle}   {right}"
    assert lines[13] == f"4 of {count}"
    assert lines[14:25] == drawings[3]
    assert lines[25] == f"and {count - 4} more: --all"


def test_as_many_as_there_are(square: Path, cli: Command) -> None:
    with open_tilings(square) as tilings:
        shown = cli("show", square, "--all", "--letters").out
        assert shown.count(f" of {len(tilings)}") == len(tilings)
    assert "more" not in shown


@pytest.mark.parametrize(
    ("options", "style"),
    [([], "both"), (["--letters"], "letters"), (["--lines"], "lines"), (["--letters", "--lines"], "both")],
)
@pytest.mark.parametrize("settings", [SQUARE, BOX], ids=["square", "box"])
def test_styles(settings: dict[str, str], options: list[str], style: str, cli: Command, tmp_path: Path) -> None:
    store = tiled(settings, tmp_path / "store.zarr")
    with open_tilings(store) as tilings:
        drawing, count = tilings[1].draw(style), len(tilings)
    lines = cli("show", store, "--number", 2, *options).out.splitlines()
    assert lines == [f"2 of {count}", *drawing.splitlines()]


def test_steps(square: Path, cli: Command) -> None:
    lines = cli("show", square, "--number", 3, "--steps", "--letters").out.splitlines()
    with open_tilings(square) as tilings:
        steps = list(tilings[2].steps("letters"))
    assert lines[0].split() == ["1", "of", "5", "2", "of", "5", "3", "of", "5", "4", "of", "5", "5", "of", "5"]
    assert [line.split()[4] for line in lines[1:]] == steps[-1].splitlines()
    assert [sum(line.split()[step].count("·") for line in lines[1:]) for step in range(5)] == [20, 15, 10, 5, 0]


def test_raw_shows_symmetric_copies(square: Path, cli: Command) -> None:
    with open_tilings(square, raw=True) as tilings:
        count = len(tilings)
    assert f"1 of {count}\n" in cli("show", square, "--raw", "--number", 1).out


def test_json(square: Path, cli: Command) -> None:
    shown = json.loads(cli("show", square, "--number", 2, "--json").out)
    with open_tilings(square) as tilings:
        assert (shown["board"], shown["complete"], shown["count"]) == ("square", True, len(tilings))
        ((number, pieces),) = [one.values() for one in shown["tilings"]]
        assert number == 2
        assert pieces == {name: [list(cell) for cell in cells] for name, cells in tilings[1].cells.items()}


def test_a_sheet_in_svg(square: Path, cli: Command, tmp_path: Path) -> None:
    outcome = cli("show", square, "--all", "--svg", "sheet.svg")
    with open_tilings(square) as tilings:
        count = len(tilings)
    assert outcome.err == f"antipodes: {count} tilings of {count} drawn into sheet.svg\n"
    assert outcome.out == ""
    paths = list(ElementTree.parse(tmp_path / "sheet.svg").iter(f"{SVG}path"))
    assert len(paths) == 5 * count, "one for each of the five pieces"


def test_png_and_svg_together(square: Path, cli: Command, tmp_path: Path) -> None:
    cli("show", square, "--number", 1, "--svg", "one.svg", "--png", "one.png")
    content = (tmp_path / "one.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    root = ElementTree.parse(tmp_path / "one.svg").getroot()
    size = [int.from_bytes(content[begin : begin + 4], "big") for begin in (16, 20)]
    assert size == [int(root.get("width", 0)), int(root.get("height", 0))]


def test_steps_as_a_gif(square: Path, cli: Command, tmp_path: Path) -> None:
    outcome = cli("show", square, "--steps", "--gif", "steps.gif")
    assert outcome.err.startswith("antipodes: tiling 1 of ")
    assert Image.open(tmp_path / "steps.gif").n_frames == 5


def test_png_without_its_library(square: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert "--png needs Pillow: pip install '.[pictures]'" in refused("show", square, "--png", "one.png")


def test_an_unfinished_store_shows_the_tilings_found_so_far(cli: Command, tmp_path: Path) -> None:
    asked = iter(range(100))
    store = tmp_path / "square.zarr"
    tile_board(BoardConfig(SQUARE), store, options=RunOptions(workers=1), interrupted=lambda: next(asked) >= 2)
    outcome = cli("show", store, "--number", 1)
    assert (outcome.status, outcome.err) == (0, f"antipodes: unfinished; resume with: antipodes resume {store}\n")
    assert outcome.out.startswith("1 of ")
    with open_tilings(store) as tilings:
        assert not tilings.complete


def test_colours_on_a_terminal(square: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from antipodes.tilings.drawing import PALETTE

    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    coloured = cli("show", square, "--number", 1).out
    monkeypatch.setenv("NO_COLOR", "1")
    plain = cli("show", square, "--number", 1).out
    red, green, blue = (int(PALETTE[0][k : k + 2], 16) for k in (1, 3, 5))
    assert f"48;2;{red};{green};{blue}m" in coloured
    assert "\x1b" not in plain
