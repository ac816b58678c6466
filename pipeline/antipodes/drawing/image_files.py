"""Picture files with one or several pictures: SVG, PNG and GIF. PNG and GIF need Pillow (extra ``pictures``)."""

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from antipodes.drawing.picture import PAPER, Disc, Line, Picture, Polygon, Region, Shape, Text
from antipodes.system.output_files import output_file
from antipodes_tasks.base.errors import InputError, missing_package
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.quoting import quote

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

SVG, PNG, GIF = "svg", "png", "gif"
GAP, CAPTION = 14, 20
"""Space around the pictures of a sheet, and height of a caption."""
ASPECT = 1.5
"""Approximate width of a sheet divided by its height."""
SVG_FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
BASELINE = 0.36
"""Distance from the middle of a letter down to its baseline, as a fraction of the font size."""
SUPERSAMPLING = 3
"""Factor by which images are drawn larger, if memory allows, before they are scaled down to smooth their edges."""
FONTS = ("DejaVuSans.ttf", "Arial.ttf", "LiberationSans-Regular.ttf")
FRAME_MS, LAST_FRAME_MS = 700, 2500
"""Duration of a frame of a GIF file and of its last frame, in milliseconds."""
MAX_PIXELS = 1 << 28
"""Maximum number of pixels of an image, which takes 800 MB."""


def check_endings(files: Mapping[str, Path]) -> None:
    """Raise InputError unless the suffix of each file matches its kind."""
    for kind, path in files.items():
        if path.suffix.lower() != f".{kind}":
            raise InputError(f"--{kind}: expected a file name ending in .{kind}, found {quote(str(path))}")


def write_pictures(
    files: Mapping[str, Path], pictures: Sequence[Picture], captions: Sequence[str] = (), size: int | None = None
) -> None:
    """Write pictures to files: a GIF is an animation, and the other kinds are sheets with all pictures.

    Parameters
    ----------
    files
        Paths by kind of file: SVG, PNG, GIF.
    pictures
        At least one picture.
    captions
        A line of text above each picture; either empty or one per picture.
    size
        Width of the widest picture in pixels; by default its own width.

    Raises
    ------
    InputError
        A file has the wrong suffix, Pillow is needed but not installed, or the image would be too large.
    StoreError
        A file cannot be written.
    """
    check_endings(files)
    scale = 1.0 if size is None else size / max(one.width for one in pictures)
    for kind, path in files.items():
        if kind == GIF:
            content = gif([sheet([one], captions[k : k + 1]) for k, one in enumerate(pictures)], scale)
        else:
            whole = sheet(pictures, captions)
            content = png(whole, scale) if kind == PNG else svg(whole, scale).encode()
        with output_file(path) as file:
            file.write(content)


def sheet(pictures: Sequence[Picture], captions: Sequence[str] = ()) -> Picture:
    """Return a sheet with rows of pictures; its aspect ratio is about `ASPECT`."""
    width = max((one.width for one in pictures), default=0) + GAP
    height = max((one.height for one in pictures), default=0) + GAP + (CAPTION if captions else 0)
    wanted = round(math.sqrt(ASPECT * len(pictures) * height / width))
    columns = min(max(1, wanted), max(1, len(pictures)))
    shapes: list[Shape] = []
    for number, one in enumerate(pictures):
        x, y = GAP + number % columns * width, GAP + number // columns * height
        if captions:
            shapes.append(Text(x + (width - GAP) / 2, y + CAPTION / 2 - 2, captions[number], 0.7 * CAPTION))
            y += CAPTION
        shapes.extend(one.moved(x + (width - GAP - one.width) / 2, y))
    return Picture(columns * width + GAP, -(-len(pictures) // columns) * height + GAP, tuple(shapes))


def svg(picture: Picture, scale: float = 1) -> str:
    """Return the picture as an SVG document with ``scale`` pixels per unit and searchable text."""
    width, height = _number(picture.width), _number(picture.height)
    size = f'width="{_number(picture.width * scale)}" height="{_number(picture.height * scale)}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}" '
            f'font-family="{SVG_FONT}" text-anchor="middle">',
            f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
            *map(svg_element, picture.shapes),
            "</svg>",
            "",
        ]
    )


def svg_element(shape: Shape) -> str:
    """Return the shape as an SVG element; text is centred if its parent element sets ``text-anchor`` to ``middle``."""
    return f"<{' '.join(_svg_parts(shape))}"


def _svg_parts(shape: Shape) -> Iterator[str]:
    """Yield the parts of an SVG element, without its opening bracket."""
    if isinstance(shape, Text):
        baseline = shape.y + BASELINE * shape.size
        yield f'text x="{_number(shape.x)}" y="{_number(baseline)}" font-size="{_number(shape.size)}"'
        yield f'fill="{escape(shape.colour)}">{escape(shape.text, quote=False)}</text>'
    elif isinstance(shape, Line):
        ends = ((shape.x, shape.y), (shape.end_x, shape.end_y))
        yield "line " + " ".join(f'x{n}="{_number(x)}" y{n}="{_number(y)}"' for n, (x, y) in enumerate(ends, start=1))
        yield f'stroke="{escape(shape.colour)}" stroke-width="{_number(shape.width)}" stroke-linecap="round"/>'
    elif isinstance(shape, Region):
        side = _number(shape.side)
        corners = ((shape.x + column * shape.side, shape.y + row * shape.side) for row, column in shape.squares)
        path = "".join(f"M{_number(x)} {_number(y)}h{side}v{side}h-{side}z" for x, y in corners)
        yield f'path d="{path}" fill="{escape(shape.fill)}"/>'
    else:
        if isinstance(shape, Polygon):
            points = (f"{_number(shape.x + right)},{_number(shape.y + down)}" for right, down in shape.points)
            yield f'polygon points="{" ".join(points)}"'
        elif isinstance(shape, Disc):
            yield f'circle cx="{_number(shape.x)}" cy="{_number(shape.y)}" r="{_number(shape.radius)}"'
        else:
            rounded = f' rx="{_number(shape.rounded)}"' if shape.rounded else ""
            place = f'x="{_number(shape.x)}" y="{_number(shape.y)}"'
            yield f'rect {place} width="{_number(shape.width)}" height="{_number(shape.height)}"{rounded}'
        outline = f' stroke="{escape(shape.outline)}"' if shape.outline else ""
        yield f'fill="{escape(shape.fill)}"{outline}/>'


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def png(picture: Picture, scale: float = 1) -> bytes:
    """Return a PNG file with ``scale`` pixels per unit; raise InputError without Pillow, or if it is too large."""
    written = io.BytesIO()
    image(picture, scale, option("png")).save(written, "PNG", optimize=True)
    return written.getvalue()


def gif(pictures: Sequence[Picture], scale: float = 1) -> bytes:
    """Return a GIF file that shows pictures of the same size in an endless loop; raise the errors of `png`."""
    first, *others = (image(one, scale, option("gif")) for one in pictures)
    times = [FRAME_MS] * len(others) + [LAST_FRAME_MS]
    written = io.BytesIO()
    first.save(written, "GIF", save_all=True, append_images=others, duration=times, loop=0)
    return written.getvalue()


def image(picture: Picture, scale: float, wanted_by: str) -> "Image":
    """Return the picture as an image of Pillow in colours; raise the errors of `png`, which name ``wanted_by``."""
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise missing_package(wanted_by, "Pillow", "pictures") from error
    size = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
    if size[0] * size[1] > MAX_PIXELS:
        raise InputError(
            f"{wanted_by}: the image would have {size[0]:,} x {size[1]:,} pixels, more than {MAX_PIXELS:,} in total"
        )
    factor = min(SUPERSAMPLING, math.isqrt(MAX_PIXELS // (size[0] * size[1])))
    drawn = Image.new("RGB", (size[0] * factor, size[1] * factor), PAPER)
    draw = ImageDraw.Draw(drawn)
    for shape in picture.shapes:
        _draw(draw, shape, scale * factor)
    return drawn.resize(size, Image.Resampling.LANCZOS)


def _draw(draw: "ImageDraw", shape: Shape, scale: float) -> None:
    x, y = shape.x * scale, shape.y * scale
    if isinstance(shape, Text):
        draw.text((x, y), shape.text, shape.colour, _font(shape.size * scale), anchor="mm")
    elif isinstance(shape, Region):
        for row, column in shape.squares:
            left, top = (shape.x + column * shape.side) * scale, (shape.y + row * shape.side) * scale
            draw.rectangle([left, top, left + shape.side * scale, top + shape.side * scale], shape.fill)
    elif isinstance(shape, Line):
        end = shape.end_x * scale, shape.end_y * scale
        draw.line([(x, y), end], shape.colour, max(1, round(shape.width * scale)))
    else:
        fill, width = None if shape.fill == "none" else shape.fill, max(1, round(scale))
        if isinstance(shape, Polygon):
            corners = [((shape.x + right) * scale, (shape.y + down) * scale) for right, down in shape.points]
            draw.polygon(corners, fill, shape.outline, width)
        elif isinstance(shape, Disc):
            draw.circle((x, y), shape.radius * scale, fill, shape.outline, width)
        else:
            box = [x, y, (shape.x + shape.width) * scale, (shape.y + shape.height) * scale]
            draw.rounded_rectangle(box, shape.rounded * scale, fill, shape.outline, width)


@lru_cache(maxsize=64)
def _font(size: float) -> "FreeTypeFont | ImageFont":
    """Return a font of the system, or Pillow's default font."""
    from PIL import ImageFont

    for name in FONTS:
        try:
            return ImageFont.truetype(name, size)
        except OSError:  # this font is not installed
            continue
    return ImageFont.load_default(size)
