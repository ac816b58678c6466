"""Twisty puzzles from geometry, with pieces, cuts and rotations, written in the formats of other programs.

A place is a vector, with the directions that the stickers of a piece there face, in clockwise order. A rotation about
an axis moves the pieces beyond a cut. The orientation of a piece is the number of the direction that its first sticker
faces.

All numbers are integers. This module shares no code with the top-level ``geometry``, which cuts solids, so the two
check each other and the readers of puzzle files.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

Vector = tuple[int, ...]
CORNERS = list(product((1, -1), repeat=3))
FACES = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
EDGES = [edge for edge in product((1, 0, -1), repeat=3) if edge.count(0) == 1]
TETRAHEDRON = [corner for corner in CORNERS if corner[0] * corner[1] * corner[2] == 1]


@dataclass
class Made:
    """A puzzle: the places of each orbit with the directions of their stickers, and the effect of each move."""

    name: str
    orbits: dict[str, dict[Vector, list[Vector]]]
    moves: dict[str, dict[str, tuple[list[int], list[int]]]] = field(default_factory=dict)
    """For each move and orbit, the place from which each place gets its piece, and the twist of this piece."""

    def turn(self, name: str, axis: Vector, beyond: int) -> None:
        """Add a move: the clockwise turn by 120 degrees about an axis of all pieces beyond a cut."""
        self.moves[name] = {orbit: self._moved(places, axis, beyond) for orbit, places in self.orbits.items()}

    def _moved(self, places: dict[Vector, list[Vector]], axis: Vector, beyond: int) -> tuple[list[int], list[int]]:
        order = list(places)
        origins, twists = list(range(len(order))), [0] * len(order)
        for number, (place, directions) in enumerate(places.items()):
            if dot(place, axis) > beyond:
                there = rotated(place, axis)
                origins[order.index(there)] = number
                twists[order.index(there)] = places[there].index(rotated(directions[0], axis))
        return origins, twists

    def tws(self, keywords: tuple[str, str] = ("Solved", "Move")) -> str:
        """Return the file for twsearch, counting from 1 after ``Solved`` and ``Move``, from 0 after other keywords."""
        lines = [f"Name {self.name}"]
        lines += [f"Set {name} {len(places)} {self.orientations(name)}" for name, places in self.orbits.items()]
        first = 0 if keywords[0] == "StartState" else 1
        lines += [keywords[0]]
        for name, places in self.orbits.items():
            lines += [name, words(range(first, len(places) + first)), words([0] * len(places))]
        for move, effects in self.moves.items():
            lines += ["End", "", f"{keywords[1]} {move}"]
            for name, (origins, twists) in effects.items():
                if keywords[1] == "Move":  # the twist is listed at the place that the piece leaves
                    twists = [twists[origins.index(place)] for place in range(len(origins))]
                first = 0 if keywords[1] == "MoveTransformation" else 1
                lines += [name, words([origin + first for origin in origins]), words(twists)]
        return "\n".join([*lines, "End", ""])

    def kpuzzle(self) -> str:
        """Return the file for cubing.js."""
        orbits = [
            {"orbitName": name, "numPieces": len(places), "numOrientations": self.orientations(name)}
            for name, places in self.orbits.items()
        ]
        pattern = {
            name: {"pieces": list(range(len(places))), "orientation": [0] * len(places)}
            for name, places in self.orbits.items()
        }
        moves = {
            move: {
                name: {"permutation": origins, "orientationDelta": twists}
                for name, (origins, twists) in effects.items()
            }
            for move, effects in self.moves.items()
        }
        return json.dumps({"name": self.name, "orbits": orbits, "defaultPattern": pattern, "moves": moves})

    def gap(self) -> str:
        """Return the file for GAP; a point is mapped to the point to which its sticker moves."""
        firsts, point = [], 1
        numbered: dict[str, list[int]] = {}
        for name, places in self.orbits.items():
            numbered[name] = [point + self.orientations(name) * k for k in range(len(places))]
            firsts += numbered[name]
            point += len(places) * self.orientations(name)
        lines = []
        for move, effects in self.moves.items():
            to = list(range(point))
            for name, (origins, twists) in effects.items():
                count = self.orientations(name)
                for place, (origin, twist) in enumerate(zip(origins, twists, strict=True)):
                    for k in range(count):
                        to[numbered[name][origin] + k] = numbered[name][place] + (k + twist) % count
            lines.append(f"M_{move}:={cycles(to)};")
        names = ",".join(f"M_{move}" for move in self.moves)
        ip = ",".join(f"[{first}]" for first in firsts)
        return "\n".join([*lines, f"Gen:=[\n{names}\n];", f"ip:=[{ip}];", "Size(Group(Gen));", ""])

    def orientations(self, orbit: str) -> int:
        """Return the number of stickers of each piece of an orbit."""
        (count,) = {len(directions) for directions in self.orbits[orbit].values()}
        return count


def skewb() -> Made:
    """Return the skewb, whose turns rotate half of the cube about a corner."""
    centres: dict[Vector, list[Vector]] = {face: [face] for face in FACES}
    halves = [corner for corner in CORNERS if corner not in TETRAHEDRON]
    made = Made("skewb", {"CORNER": cube_corners(TETRAHEDRON), "CORNER2": cube_corners(halves), "CENTRE": centres})
    for number, corner in enumerate(CORNERS):
        made.turn(f"C{'ABCDEFGH'[number]}", corner, 0)
    return made


def ivy_cube() -> Made:
    """Return the ivy cube, on which four corners turn, each with three faces."""
    made = Made("ivy", {"CORNER": cube_corners(TETRAHEDRON), "CENTRE": {face: [face] for face in FACES}})
    for name, corner in zip("RLDB", TETRAHEDRON, strict=True):
        made.turn(name, corner, 0)
    return made


def dino() -> Made:
    """Return the dino cube, whose turns rotate the three edges at a corner; edges have no orientation."""
    made = Made("dino", {"EDGE": {edge: [edge] for edge in EDGES}})
    for number, corner in enumerate(CORNERS):
        made.turn(f"C{'ABCDEFGH'[number]}", corner, 1)
    return made


def pyraminx() -> Made:
    """Return the pyraminx with turns of a face, which move all but the opposite corner, and turns of tips."""
    faces = {v: tuple(-x for x in v) for v in TETRAHEDRON}
    corners = {v: clockwise(v, [faces[w] for w in TETRAHEDRON if w != v]) for v in TETRAHEDRON}
    edges = {add(v, w): [faces[x] for x in TETRAHEDRON if x not in (v, w)] for v, w in combinations(TETRAHEDRON, 2)}
    tips = {tuple(3 * x for x in v): directions for v, directions in corners.items()}
    made = Made("pyraminx", {"CORNER": corners, "TIP": tips, "EDGE": edges})
    for name, v in zip("LRBU", TETRAHEDRON, strict=True):
        made.turn(f"F{name}", faces[v], -2)
        made.turn(name.lower(), v, 3)
    return made


def cube_corners(corners: Sequence[Vector]) -> dict[Vector, list[Vector]]:
    """Return corners of a cube with their three directions."""
    return {v: clockwise(v, [(v[0], 0, 0), (0, v[1], 0), (0, 0, v[2])]) for v in corners}


def clockwise(axis: Vector, directions: list[Vector]) -> list[Vector]:
    """Return three directions in clockwise order about an axis."""
    first = directions[0]
    return [first, rotated(first, axis), rotated(rotated(first, axis), axis)]


def rotated(vector: Vector, axis: Vector) -> Vector:
    """Return a vector after a clockwise turn by 120 degrees about a diagonal of the cube, viewed from its tip."""
    a, b, c = (1 if x > 0 else -1 for x in axis)
    x, y, z = vector[0] * a, vector[1] * b, vector[2] * c
    x, y, z = (y, z, x) if a * b * c > 0 else (z, x, y)
    return x * a, y * b, z * c


def dot(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(x * y for x, y in zip(one, other, strict=True))


def add(one: Vector, other: Vector) -> Vector:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def words(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


def cycles(to: list[int]) -> str:
    """Return a permutation as cycles of more than one point; points count from 1, and entry 0 is unused."""
    text, seen = "", set()
    for start in range(1, len(to)):
        cycle, point = [], start
        while point not in seen:
            seen.add(point)
            cycle.append(point)
            point = to[point]
        if len(cycle) > 1:
            text += f"({','.join(map(str, cycle))})"
    return text or "()"
