"""Pictures of positions in files: what they show, how large they are, and what is refused."""

import io
import sys
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image
from programs import Command

from antipodes.drawing.image_files import _font, gif, png, sheet, svg, write_pictures
from antipodes.drawing.picture import (
    INK,
    PALETTE,
    PAPER,
    Disc,
    Line,
    Picture,
    Polygon,
    Rectangle,
    Text,
    colours_of,
    ink_on,
    text_picture,
)
from antipodes.puzzles.config import bundled_configs, load_config
from antipodes_tasks.base.errors import InputError

NEAR = "1 2 3 4 0 5 7 8 6"
SVG = "{http://www.w3.org/2000/svg}"


def texts(path: Path) -> list[str]:
    """The texts in an SVG file, in the order in which they are drawn."""
    return [str(one.text) for one in ElementTree.parse(path).iter(f"{SVG}text")]


@pytest.mark.parametrize("name", bundled_configs())
def test_every_puzzle_has_a_picture(name: str) -> None:
    puzzle = load_config(name).puzzle
    picture = puzzle.picture(puzzle.start_labels[0])
    root = ElementTree.fromstring(svg(picture))
    size = [float(number) for number in str(root.get("viewBox")).split()[2:]]
    assert size == pytest.approx([picture.width, picture.height], abs=0.01)
    assert len(root) > max(2, puzzle.places // 2)
    for shape in picture.shapes:
        xs = (shape.x, shape.end_x) if isinstance(shape, Line) else (shape.x,)
        assert all(0 <= x <= picture.width for x in xs)


def test_a_board_shows_its_pieces_and_equal_ones_in_one_colour() -> None:
    puzzle = load_config("three-colours").puzzle
    shapes = puzzle.picture(puzzle.start_labels[0]).shapes
    shown = [one.text for one in shapes if isinstance(one, Text)]
    assert "".join(shown) == "112211221332333"
    fills = [one.fill for one in shapes if isinstance(one, Rectangle)][1:]
    assert {symbol: {fill for fill, one in zip(fills, shown, strict=True) if one == symbol} for symbol in "123"} == {
        symbol: {PALETTE[number]} for number, symbol in enumerate("123")
    }


def test_colours() -> None:
    many = [str(number) for number in range(30) for _ in range(2)]
    assert len(set(colours_of(many).values())) >= 24
    assert len(set(colours_of(list("abc")).values())) == 1, "pieces that all differ need no colours"
    assert all(contrast(fill, ink_on(fill)) > 3 for fill in (*colours_of(many).values(), *PALETTE))


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, 1 to 21 (Web Content Accessibility Guidelines 2.1)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_shapes_are_where_they_should_be() -> None:
    picture = Picture(
        30, 20, (Rectangle(0, 0, 10, 20, "#ff0000"), Disc(20, 10, 8, "#0000ff"), Line(15, 1, 29, 1, "#00ff00", 2))
    )
    image = Image.open(io.BytesIO(png(picture, 2)))
    assert image.size == (60, 40)
    expected = {(10, 20): (255, 0, 0), (40, 20): (0, 0, 255), (44, 2): (0, 255, 0), (58, 38): (255, 255, 255)}
    for place, colour in expected.items():
        assert image.getpixel(place) == pytest.approx(colour, abs=10)


def test_a_polygon_is_drawn_in_its_place() -> None:
    picture = Picture(40, 40, (Polygon(10, 10, ((0, 0), (20, 0), (0, 20)), "#ff0000"),))
    image = Image.open(io.BytesIO(png(picture, 2)))
    assert image.getpixel((26, 26)) == (255, 0, 0)
    assert image.getpixel((54, 54)) == image.getpixel((10, 10)) == (255, 255, 255)
    assert '<polygon points="10,10 30,10 10,30" fill="#ff0000"/>' in svg(picture)


def test_text_is_drawn_in_its_place() -> None:
    image = Image.open(io.BytesIO(png(Picture(60, 30, (Text(45, 15, "8", 20),))))).convert("L")
    dark = [(x, y) for x in range(60) for y in range(30) if image.getpixel((x, y)) < 128]
    assert dark
    assert all(35 < x < 55 and 3 < y < 27 for x, y in dark)
    assert "&lt;&amp;" in svg(Picture(9, 9, (Text(1, 1, "<&", 3),)))


def test_the_characters_of_a_text_do_not_overlap() -> None:
    drawn = sheet([text_picture("WMmw @%& OQ 10"), text_picture("日本 W8")], ["1", "0"]).shapes
    texts = [shape for shape in drawn if isinstance(shape, Text)]
    for row in {one.y for one in texts}:
        line = sorted((one for one in texts if one.y == row), key=lambda one: one.x)
        spans = [(one.x - half, one.x + half) for one in line if (half := _font(one.size).getlength(one.text) / 2)]
        assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))


def test_pictures_of_texts_are_farther_apart_than_words() -> None:
    one = text_picture("1 2")
    places = sorted(shape.x for shape in sheet([one, one, one, one]).shapes if isinstance(shape, Text) and shape.y < 30)
    gaps = [after - before for before, after in pairwise(places)]
    assert max(gaps) > 1.5 * min(gaps)


def test_a_sheet_has_rows_and_captions() -> None:
    one = Picture(10, 10, (Rectangle(0, 0, 10, 10, INK),))
    whole = sheet([one] * 5, list("abcde"))
    corners = {(shape.x, shape.y) for shape in whole.shapes if isinstance(shape, Rectangle)}
    assert (len({x for x, _ in corners}), len({y for _, y in corners}), len(corners)) == (4, 2, 5)
    assert [shape.text for shape in whole.shapes if isinstance(shape, Text)] == list("abcde")
    assert sheet([]).shapes == ()


def test_a_gif_has_a_frame_for_each_position() -> None:
    frames = [Picture(20, 20, (Rectangle(0, 0, 20, 20, fill),)) for fill in ("#ff0000", PAPER, "#0000ff")]
    image = Image.open(io.BytesIO(gif(frames)))
    assert (image.n_frames, image.size, image.info["loop"]) == (3, (20, 20), 0)
    image.seek(2)
    assert image.convert("RGB").getpixel((10, 10)) == (0, 0, 255)


def test_too_large_an_image_is_refused(tmp_path: Path) -> None:
    huge = Picture(10, 10, ())
    with pytest.raises(InputError, match="1,900,000 x 1,900,000 pixels, more than 268,435,456"):
        write_pictures({"png": tmp_path / "a.png"}, [huge], size=500_000)
    assert not list(tmp_path.iterdir())


def test_the_farthest_positions_as_files(finished: Path, cli: Command, tmp_path: Path) -> None:
    done = cli("farthest", finished, "--svg", "far.svg", "--png", "far.PNG", "--size", 200)
    assert "2 positions drawn into far.svg and far.PNG" in done.err
    assert texts(tmp_path / "far.svg") == list("6478532186725431")
    assert Image.open(tmp_path / "far.PNG").width == round(298 * 200 / 128)


@pytest.mark.parametrize("kind", ["svg", "png", "gif"])
def test_a_solution_as_a_file(kind: str, cli: Command, tmp_path: Path) -> None:
    assert cli("solve", "eight-puzzle", NEAR, f"--{kind}", f"way.{kind}").status == 0
    if kind == "svg":
        shown = texts(tmp_path / "way.svg")
        assert (shown[::9], len(shown)) == (["2", "1", "0"], 27)
    elif kind == "gif":
        assert Image.open(tmp_path / "way.gif").n_frames == 3
    else:
        assert Image.open(tmp_path / "way.png").format == "PNG"


@pytest.mark.parametrize("command", [("farthest",), ("solve",)])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--svg", "a.png"), "--svg: expected a file name ending in .svg, found 'a.png'"),
        (("--png", "a"), "--png: expected a file name ending in .png, found 'a'"),
        (("--svg", "no/such/a.svg"), "cannot write no/such/a.svg: No such file or directory"),
    ],
)
def test_bad_files_are_refused(
    command: tuple[str], options: tuple[str, str], message: str, finished: Path, cli: Command
) -> None:
    given = [finished] if command == ("farthest",) else ["eight-puzzle", NEAR]
    outcome = cli(*command, *given, *options)
    assert message in outcome.err.splitlines()[-1]
    assert outcome.status == (1 if "cannot" in message else 2)


@pytest.mark.parametrize(("command", "known"), [("farthest", "--svg or --png"), ("query", "--svg, --png or --gif")])
def test_a_size_names_the_options_of_the_command(command: str, known: str, finished: Path, cli: Command) -> None:
    positions = [NEAR] if command == "query" else []
    refused = cli(command, finished, *positions, "--size", "90")
    assert (refused.status, refused.err) == (2, f"antipodes: --size can only be used with {known}\n")


def test_pillow_is_needed_for_pixels_alone(finished: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert cli("farthest", finished, "--svg", "a.svg").status == 0
    refused = cli("farthest", finished, "--png", "a.png")
    assert (refused.status, "--png needs Pillow: pip install '.[pictures]'" in refused.err) == (2, True)


def test_a_query_as_a_file(finished: Path, cli: Command, tmp_path: Path) -> None:
    assert cli("query", finished, "--path", NEAR, "--svg", "way.svg", "--gif", "way.gif").status == 0
    assert texts(tmp_path / "way.svg")[::9] == ["2", "1", "0"]
    assert Image.open(tmp_path / "way.gif").n_frames == 3
    cli("query", finished, NEAR, "1 2 3 4 5 6 8 7 0", "--svg", "two.svg")
    assert texts(tmp_path / "two.svg")[::9] == ["2", "unreachable"]


def test_what_is_printed_at_random_is_what_is_drawn(finished: Path, cli: Command, tmp_path: Path) -> None:
    printed = cli("query", finished, "--depth", 20, "--random", 5, "--svg", "some.svg").out
    shown = texts(tmp_path / "some.svg")
    tiles = [shown[first + 1 : first + 9] for first in range(0, 45, 9)]
    assert tiles == [[tile for tile in line.split() if tile != "0"] for line in printed.splitlines()]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--depth", 25), "at most 1,000 positions, not 15,578"),
        (("--depth", 25, "--count"), "--svg cannot be combined with --count"),
        (("--pattern", "1 ? ? ? ? ? ? ? ?"), "--svg cannot be combined with --pattern"),
        (("-",), "--svg cannot be combined with positions on stdin"),
    ],
)
def test_pictures_without_an_end_are_refused(
    options: tuple[object, ...], message: str, finished: Path, refused: Callable[..., str]
) -> None:
    assert message in refused("query", finished, *options, "--svg", "a.svg")


def test_lights_are_drawn_where_they_are() -> None:
    puzzle = load_config("lights-out-5x5").puzzle
    picture = puzzle.picture(puzzle.start_labels[0])
    square, discs = picture.width / 5, [one for one in picture.shapes if isinstance(one, Disc)]
    assert [one.x / square for one in discs] == pytest.approx([column + 0.5 for column in range(5)] * 5)
    assert [one.y / square for one in discs] == pytest.approx([row + 0.5 for row in range(5) for _ in range(5)])


def test_lines_of_neighbouring_characters_meet() -> None:
    lines = [one for one in text_picture("┌─┐\n│ │\n└─┘").shapes if isinstance(one, Line)]
    ends = Counter((one.end_x, one.end_y) for one in lines)
    assert (len(lines), set(ends.values())) == (16, {2})
