"""Unfolded solids as text: pictures of solved puzzles, and the point of a face that each letter shows."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from workshop.geometry.solids import EQUATOR, LOWER, OCTAHEDRON, TETRAHEDRON, UPPER, Point

LETTER = "*"
BORDERS = {5: "│", 10: "─", 6: "┌", 12: "┐", 3: "└", 9: "┘", 7: "├", 13: "┤", 14: "┬", 11: "┴", 15: "┼"}
"""Border character for each sum of the directions of its lines: up (1), right (2), down (4), left (8)."""
FACES_OF_BOX = {
    "W": ((1, 0), (0, 0, 1), (1, 0, 0)),
    "O": ((0, 1), (0, -1, 0), (0, 0, 1)),
    "G": ((1, 1), (0, -1, 0), (1, 0, 0)),
    "R": ((2, 1), (0, -1, 0), (0, 0, -1)),
    "B": ((3, 1), (0, -1, 0), (-1, 0, 0)),
    "Y": ((1, 2), (0, 0, -1), (1, 0, 0)),
}
"""For each face: its column and row in the net, and the directions down and right on it."""
FACES_OF_TETRAHEDRON = {
    "R": ("L", "B", "U", 0),
    "G": ("U", "L", "R", 1),
    "B": ("R", "U", "B", 2),
    "Y": ("B", "L", "R", 3),
}
"""For each face: its corners at the tip, on the left and on the right, as drawn, and its triangle in the net."""


@dataclass
class Canvas:
    """Characters by row and column, and the points that some of them show."""

    characters: dict[tuple[int, int], str] = field(default_factory=dict)
    points: dict[tuple[int, int], tuple[str, Point]] = field(default_factory=dict)

    def put(self, row: int, column: int, colour: str, point: Point) -> None:
        """Draw the letter of a colour for the facelet at a point of a face."""
        self.characters[row, column] = colour
        self.points[row, column] = colour, point

    def text(self) -> str:
        """Return the lines of the picture."""
        rows, columns = (1 + max(of) for of in zip(*self.characters, strict=True))
        lines = ["".join(self.characters.get((row, column), " ") for column in range(columns)) for row in range(rows)]
        return "\n".join(line.rstrip() for line in lines)

    def in_reading_order(self) -> list[tuple[str, Point]]:
        """Return the points that the letters show, in reading order."""
        return [self.points[key] for key in sorted(self.points)]


def net_of_box(extents: Sequence[float], cells: Sequence[int], face: Sequence[str] = ()) -> Canvas:
    """Return a cross of six faces with ``cells`` letters along each axis.

    ``face`` is a drawing of a face, in which ``*`` stands for a letter.
    """
    canvas = Canvas()
    x, y, z = cells
    lefts, tops = _ends((z, x, z, x), 2), _ends((z, y, z), 1)
    borders: dict[tuple[int, int], int] = {}
    for colour, ((column, row), down, right) in FACES_OF_BOX.items():
        top, left = tops[row], lefts[column]
        height, width = (int(np.abs(way) @ cells) for way in (down, right))
        outward = np.cross(down, right)
        for i in range(height):
            for j in range(width):
                mark = face[i][j] if face else LETTER
                canvas.characters[top + 1 + i, left + 2 + 2 * j] = mark
                if mark == LETTER:
                    at = outward + np.array(down) * _middle(i, height) + np.array(right) * _middle(j, width)
                    canvas.put(top + 1 + i, left + 2 + 2 * j, colour, at * extents)
        _add_border(borders, top, left, height + 1, 2 * width + 2)
    canvas.characters |= {key: BORDERS[bits] for key, bits in borders.items()}
    return canvas


def _ends(sizes: Sequence[int], pitch: int) -> list[int]:
    """Return where faces of these sizes begin; each has a frame, which it shares with its neighbours."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + size * pitch + pitch)
    return starts


def _middle(k: int, count: int) -> float:
    """Return the middle of part ``k`` if the range from -1 to 1 is divided into ``count`` equal parts."""
    return (2 * k + 1) / count - 1


def _add_border(borders: dict[tuple[int, int], int], top: int, left: int, height: int, width: int) -> None:
    for j in range(left, left + width):
        for i in (top, top + height):
            borders[i, j] = borders.get((i, j), 0) | 2
            borders[i, j + 1] = borders.get((i, j + 1), 0) | 8
    for i in range(top, top + height):
        for j in (left, left + width):
            borders[i, j] = borders.get((i, j), 0) | 4
            borders[i + 1, j] = borders.get((i + 1, j), 0) | 1


def net_of_tetrahedron() -> Canvas:
    """Return the three upper faces side by side, and the lower face below the front face; nine letters each."""
    canvas = Canvas()
    for colour, (tip, left, right, triangle) in FACES_OF_TETRAHEDRON.items():
        points_down = triangle != 1
        for from_tip in range(3):
            row = (2 - from_tip if points_down else from_tip) + (4 if triangle == 3 else 0)
            middle = (8, 16, 24, 16)[triangle]
            for k in range(2 * from_tip + 1):
                at = _small_triangle([TETRAHEDRON[corner] for corner in (tip, left, right)], from_tip, k, 3)
                canvas.put(row, middle + 2 * (k - from_tip), colour, at)
            canvas.characters[row, middle - 2 * from_tip - 2] = "╲" if points_down else "╱"
            canvas.characters[row, middle + 2 * from_tip + 2] = "╱" if points_down else "╲"
    canvas.characters |= {(3, column): "─" for column in range(10, 23)}
    return canvas


def net_of_octahedron() -> Canvas:
    """Return the upper faces side by side, and the lower faces below them; four letters each."""
    canvas = Canvas()
    for number, (one, other) in enumerate(zip(EQUATOR, EQUATOR[1:] + EQUATOR[:1], strict=True)):
        middle = 5 + 10 * number
        for colour, apex, top in ((UPPER[number], "U", 0), (LOWER[number], "D", 3)):
            corners = [OCTAHEDRON[corner] for corner in (apex, one, other)]
            for row in range(2):
                line = top + (row if apex == "U" else 1 - row)
                for k in range(2 * row + 1):
                    canvas.put(line, middle + 2 * (k - row), colour, _small_triangle(corners, row, k, 2))
                canvas.characters[line, middle - 2 * row - 2] = "╱" if apex == "U" else "╲"
                canvas.characters[line, middle + 2 * row + 2] = "╲" if apex == "U" else "╱"
    canvas.characters |= {(2, column): "─" for column in range(1, 40)}
    return canvas


def _small_triangle(corners: Sequence[Point], row: int, k: int, cuts: int) -> Point:
    """Return the middle of a small triangle of a face whose edges are divided into ``cuts`` parts.

    ``row`` counts from the tip, and ``k`` from the left. ``corners`` are the tip, left and right corner of the face.
    """
    tip, left, right = corners

    def corner(row: int, k: int) -> Point:
        at: Point = tip + (row * (left - tip) + k * (right - left)) / cuts
        return at

    half, points_down = divmod(k, 2)
    if points_down:
        return (corner(row + 1, half + 1) + corner(row, half) + corner(row, half + 1)) / 3
    return (corner(row, half) + corner(row + 1, half) + corner(row + 1, half + 1)) / 3
