"""A picture as the text of an SVG file."""

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from antipodes_tasks.puzzles.picture import PAPER, Disc, Line, Picture, Rectangle, Region, Shape, Text

FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
BASELINE = 0.36
"""How far below the middle of a letter its foot is, as a part of its size."""


def svg(picture: Picture, scale: float = 1) -> str:
    """The picture, ``scale`` pixels for a unit; its text can be searched and selected."""
    width, height = _number(picture.width), _number(picture.height)
    size = f'width="{_number(picture.width * scale)}" height="{_number(picture.height * scale)}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}" '
            f'font-family="{FONT}" text-anchor="middle">',
            f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
            *(_element(shape) for shape in picture.shapes),
            "</svg>",
            "",
        ]
    )


def _element(shape: Shape) -> str:
    return f"<{' '.join(_parts(shape))}"


def _parts(shape: Shape) -> Iterator[str]:
    if isinstance(shape, Text):
        foot = shape.y + BASELINE * shape.size
        yield f'text x="{_number(shape.x)}" y="{_number(foot)}" font-size="{_number(shape.size)}"'
        yield f"fill={quoteattr(shape.colour)}>{escape(shape.text)}</text>"
    elif isinstance(shape, Line):
        ends = ((shape.x, shape.y), (shape.end_x, shape.end_y))
        yield "line " + " ".join(f'x{n}="{_number(x)}" y{n}="{_number(y)}"' for n, (x, y) in enumerate(ends, start=1))
        yield f'stroke={quoteattr(shape.colour)} stroke-width="{_number(shape.width)}" stroke-linecap="round"/>'
    elif isinstance(shape, Region):
        side = _number(shape.side)
        corners = ((shape.x + column * shape.side, shape.y + row * shape.side) for row, column in shape.squares)
        path = "".join(f"M{_number(x)} {_number(y)}h{side}v{side}h-{side}z" for x, y in corners)
        yield f'path d="{path}" fill={quoteattr(shape.fill)}/>'
    else:
        if isinstance(shape, Disc):
            yield f'circle cx="{_number(shape.x)}" cy="{_number(shape.y)}" r="{_number(shape.radius)}"'
        else:
            yield _rectangle(shape)
        outline = f" stroke={quoteattr(shape.outline)}" if shape.outline else ""
        yield f"fill={quoteattr(shape.fill)}{outline}/>"


def _rectangle(shape: Rectangle) -> str:
    rounded = f' rx="{_number(shape.rounded)}"' if shape.rounded else ""
    place = f'x="{_number(shape.x)}" y="{_number(shape.y)}"'
    return f'rect {place} width="{_number(shape.width)}" height="{_number(shape.height)}"{rounded}'


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
