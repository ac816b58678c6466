"""Pictures in pixels, by Pillow: PNG files, and GIF files that show one after another. Needs the extra ``pictures``."""

import io
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from antipodes_tasks.errors import InputError, missing_package
from antipodes_tasks.puzzles.picture import PAPER, Disc, Line, Picture, Rectangle, Region, Text

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

FINER = 3
"""Shapes are drawn so many times as large, where memory allows, and made smaller again: that smooths their edges."""
FONTS = ("DejaVuSans.ttf", "Arial.ttf", "LiberationSans-Regular.ttf")
STEP, LAST = 700, 2500
"""Milliseconds of a frame of a GIF file, and of its last one."""
MOST_PIXELS = 1 << 28
"""Pixels of the largest image that is drawn: it takes 800 MB."""


def png(picture: Picture, scale: float = 1) -> bytes:
    """A PNG file, ``scale`` pixels for a unit; InputError if Pillow is missing, or the image would be too large."""
    written = io.BytesIO()
    _image(picture, scale, "--png").save(written, "PNG", optimize=True)
    return written.getvalue()


def gif(pictures: Sequence[Picture], scale: float = 1) -> bytes:
    """A GIF file that shows pictures of one size, one after another, forever; raises as `png`."""
    first, *others = (_image(one, scale, "--gif") for one in pictures)
    times = [STEP] * len(others) + [LAST]
    written = io.BytesIO()
    first.save(written, "GIF", save_all=True, append_images=others, duration=times, loop=0)
    return written.getvalue()


def _image(picture: Picture, scale: float, option: str) -> "Image":
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise missing_package(option, "Pillow", "pictures") from error
    size = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
    if size[0] * size[1] > MOST_PIXELS:
        raise InputError(f"{option}: expected at most {MOST_PIXELS:,} pixels, found {size[0]:,} x {size[1]:,}")
    finer = min(FINER, math.isqrt(MOST_PIXELS // (size[0] * size[1])))
    image = Image.new("RGB", (size[0] * finer, size[1] * finer), PAPER)
    drawn = ImageDraw.Draw(image)
    for shape in picture.shapes:
        if isinstance(shape, Text):
            _write(drawn, shape, scale * finer)
        else:
            _draw(drawn, shape, scale * finer)
    return image.resize(size, Image.Resampling.LANCZOS)


def _draw(drawn: "ImageDraw", shape: Rectangle | Disc | Line | Region, scale: float) -> None:
    if isinstance(shape, Region):
        for row, column in shape.squares:
            x, y = (shape.x + column * shape.side) * scale, (shape.y + row * shape.side) * scale
            drawn.rectangle([x, y, x + shape.side * scale, y + shape.side * scale], shape.fill)
        return
    if isinstance(shape, Line):
        ends = [(shape.x * scale, shape.y * scale), (shape.end_x * scale, shape.end_y * scale)]
        drawn.line(ends, shape.colour, max(1, round(shape.width * scale)))
        return
    fill, width = None if shape.fill == "none" else shape.fill, max(1, round(scale))
    if isinstance(shape, Disc):
        drawn.circle((shape.x * scale, shape.y * scale), shape.radius * scale, fill, shape.outline, width)
        return
    box = [shape.x * scale, shape.y * scale, (shape.x + shape.width) * scale, (shape.y + shape.height) * scale]
    drawn.rounded_rectangle(box, shape.rounded * scale, fill, shape.outline, width)


def _write(drawn: "ImageDraw", shape: Text, scale: float) -> None:
    font = _font(shape.size * scale)
    drawn.text((shape.x * scale, shape.y * scale), shape.text, shape.colour, font, anchor="mm")


@lru_cache(maxsize=64)
def _font(size: float) -> "FreeTypeFont | ImageFont":
    """A font of the system, else that which comes with Pillow."""
    from PIL import ImageFont

    for name in FONTS:
        try:
            return ImageFont.truetype(name, size)
        except OSError:  # not on this machine
            continue
    return ImageFont.load_default(size)
