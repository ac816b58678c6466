"""Pictures of nets: coloured stickers that fill the faces of a net drawn with characters.

A rectangular face is divided into a grid, or into triangles along its diagonals. A triangular face consists of rows of
letters between diagonals, each row two letters shorter or longer than the row before. It is divided into small
triangles.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from antipodes.drawing.picture import BOX, COLUMN, LINE, ROW, Line, Picture, Polygon, Rectangle, Shape, text_picture
from antipodes.puzzles.facelets import LETTER

Character = tuple[int, int]
"""Line and column of a character of a net."""
Point = tuple[float, float]
DIAGONALS = RISING, FALLING, CROSS = "╱", "╲", "╳"
GAP = 1.5
"""Gap between a sticker and the edge of its cell."""
ROW_OF_TRIANGLES = re.compile(
    rf"(?<={FALLING} ){LETTER.pattern}(?: {LETTER.pattern} {LETTER.pattern})*(?= {RISING})"
    rf"|(?<={RISING} ){LETTER.pattern}(?: {LETTER.pattern} {LETTER.pattern})*(?= {FALLING})"
)
"""An odd number of letters, two columns apart, between two opposite diagonals."""
EDGE = 2.5
"""Width of the edges of faces."""
TALL_ROW = 36
"""Height of a row of triangular stickers, which are 48 wide."""
SMALL = 20
"""Side of the sticker of a letter that is outside all faces."""


class FaceFrame(NamedTuple):
    """The lines and columns of the characters that enclose a face."""

    top: int
    left: int
    bottom: int
    right: int

    def corners(self) -> tuple[Point, Point, Point, Point]:
        """Return the corners of the face in the picture, clockwise from the upper left."""
        (left, top), (right, bottom) = _centre(self.top, self.left), _centre(self.bottom, self.right)
        return (left, top), (right, top), (right, bottom), (left, bottom)


def net_picture(lines: Sequence[str], shown: Mapping[Character, str]) -> Picture:
    """Return the picture of a net; ``shown`` is the colour of each of its letters."""
    cells = cells_of(tuple(lines))
    if set(cells) != set(shown):  # some letters are outside faces: draw the characters in their places
        colours = iter(shown.values())

        def sticker(letter: str, x: float, y: float) -> Iterator[Shape]:
            yield Rectangle(x - SMALL / 2, y - SMALL / 2, SMALL, SMALL, next(colours), LINE, rounded=3)

        return text_picture("\n".join(lines), sticker)
    stickers = [_sticker(cells[at], colour) for at, colour in shown.items()]
    edges = list(_edges(face_frames(lines)))
    width = max(x for cell in cells.values() for x, _ in cell) + COLUMN
    height = max(y for cell in cells.values() for _, y in cell) + COLUMN
    return Picture(width, height, (*stickers, *edges))


@lru_cache(maxsize=16)
def cells_of(lines: tuple[str, ...]) -> Mapping[Character, tuple[Point, ...]]:
    """Return the corners, clockwise, of the cell that each letter has in its face; other letters are left out."""
    frames = face_frames(lines)
    faces = defaultdict[FaceFrame, list[Character]](list)
    for at, frame in frames.items():
        faces[frame].append(at)
    cells: dict[Character, tuple[Point, ...]] = {}
    for frame, letters in faces.items():
        cells |= _in_frame(lines, frame, letters)
    if not frames:
        cells |= dict(_triangles(lines))
    return cells


def face_frames(lines: Sequence[str]) -> Mapping[Character, FaceFrame]:
    """Return the frame around each letter, if it has one."""
    found = {}
    for line, text in enumerate(lines):
        for letter in LETTER.finditer(text):
            frame = _frame(lines, line, letter.start())
            if frame is not None:
                found[line, letter.start()] = frame
    return found


def _frame(lines: Sequence[str], line: int, column: int) -> FaceFrame | None:
    def place_of(row: int, place: int) -> str:
        return BOX.get(lines[row][place : place + 1], "")

    columns, rows = range(len(lines[line])), range(len(lines))
    left = max((one for one in columns if one < column and {*place_of(line, one)} & {*"ud"}), default=None)
    right = min((one for one in columns if one > column and {*place_of(line, one)} & {*"ud"}), default=None)
    top = max((one for one in rows if one < line and {*place_of(one, column)} & {*"lr"}), default=None)
    bottom = min((one for one in rows if one > line and {*place_of(one, column)} & {*"lr"}), default=None)
    if left is None or right is None or top is None or bottom is None:
        return None
    return FaceFrame(top, left, bottom, right)


def _in_frame(
    lines: Sequence[str], frame: FaceFrame, letters: Sequence[Character]
) -> Mapping[Character, tuple[Point, ...]]:
    """Return the cells of the letters in a frame; empty if the letters form neither a grid nor a cross."""
    rows, columns = (sorted({at[axis] for at in letters}) for axis in (0, 1))
    inside = [lines[line][frame.left + 1 : frame.right] for line in range(frame.top + 1, frame.bottom)]
    if any(mark in text for text in inside for mark in DIAGONALS):
        return _around_cross(lines, frame, letters)
    if len(letters) != len(rows) * len(columns):
        return {}
    (left, top), _, (right, bottom), _ = frame.corners()
    width, height = (right - left) / len(columns), (bottom - top) / len(rows)

    def corners(line: int, column: int) -> tuple[Point, ...]:
        x, y = left + columns.index(column) * width, top + rows.index(line) * height
        return (x, y), (x + width, y), (x + width, y + height), (x, y + height)

    return {at: corners(*at) for at in letters}


def _around_cross(
    lines: Sequence[str], frame: FaceFrame, letters: Sequence[Character]
) -> Mapping[Character, tuple[Point, ...]]:
    """Return the triangles between the centre of a face and its sides, for four letters around a cross."""
    crosses = [
        (line, column)
        for line in range(frame.top + 1, frame.bottom)
        for column in range(frame.left + 1, frame.right)
        if lines[line][column : column + 1] == CROSS
    ]
    if len(crosses) != 1 or len(letters) != len(frame.corners()):
        return {}
    (line, column), corners = crosses[0], frame.corners()
    middle = (corners[0][0] + corners[2][0]) / 2, (corners[0][1] + corners[2][1]) / 2
    sides = {(-1, 0): 0, (0, 1): 1, (1, 0): 2, (0, -1): 3}
    found = {}
    for at in letters:
        side = sides.get((_sign(at[0] - line), _sign(at[1] - column)))
        if side is not None:
            found[at] = (corners[side], corners[(side + 1) % 4], middle)
    return found if len(set(found.values())) == len(letters) else {}


def _triangles(lines: Sequence[str]) -> Iterator[tuple[Character, tuple[Point, ...]]]:
    """Yield the cells of letters in rows between diagonals: triangles that alternately point down and up."""
    for line, text in enumerate(lines):
        for row in ROW_OF_TRIANGLES.finditer(text):
            for place, letter in enumerate(range(row.start(), row.end(), 2)):
                down = (text[row.start() - 2] == FALLING) == (place % 2 == 0)
                yield (line, letter), _triangle(line, letter, down)


def _triangle(line: int, column: int, down: bool) -> tuple[Point, ...]:
    x, top = (column + 0.5) * COLUMN, line * TALL_ROW + COLUMN
    base, tip = (top, top + TALL_ROW) if down else (top + TALL_ROW, top)
    ends = (x - 2 * COLUMN, base), (x + 2 * COLUMN, base)
    return (*(ends if down else reversed(ends)), (x, tip))


def _sticker(corners: tuple[Point, ...], colour: str) -> Shape:
    """Return a sticker that fills a cell except for a gap at its edges."""
    if len(corners) == 4:
        (left, top), _, (right, bottom), _ = corners
        return Rectangle(left + GAP, top + GAP, right - left - 2 * GAP, bottom - top - 2 * GAP, colour, LINE, rounded=3)
    smaller = _shrunk(corners)
    x, y = (min(places) for places in zip(*smaller, strict=True))
    return Polygon(x, y, tuple((round(px - x, 2), round(py - y, 2)) for px, py in smaller), colour, LINE)


def _shrunk(corners: Sequence[Point]) -> list[Point]:
    """Return the triangle with its sides moved inwards by the gap, that is, scaled towards its incentre."""
    sides = [math.dist(corners[(k + 1) % 3], corners[(k + 2) % 3]) for k in range(3)]
    around = sum(sides)
    centre = [sum(side * at[axis] for side, at in zip(sides, corners, strict=True)) / around for axis in (0, 1)]
    (ax, ay), (bx, by), (cx, cy) = corners
    radius = abs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / around
    kept = 1 - GAP / radius
    return [(centre[0] + kept * (x - centre[0]), centre[1] + kept * (y - centre[1])) for x, y in corners]


def _edges(frames: Mapping[Character, FaceFrame]) -> Iterator[Line]:
    """Yield the sides of all faces; a shared side is drawn once."""
    sides = chain.from_iterable(_sides(frame.corners()) for frame in dict.fromkeys(frames.values()))
    for (x, y), (end_x, end_y) in dict.fromkeys(sides):
        yield Line(x, y, end_x, end_y, LINE, EDGE)


def _sides(corners: tuple[Point, ...]) -> Iterable[tuple[Point, Point]]:
    upper_left, upper_right, lower_right, lower_left = corners
    return (
        (upper_left, upper_right),
        (upper_right, lower_right),
        (lower_left, lower_right),
        (upper_left, lower_left),
    )


def _centre(line: int, column: int) -> Point:
    """Return the centre of a character."""
    return (column + 0.5) * COLUMN, (line + 0.5) * ROW


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
