"""The designs of the puzzles: how each solid is cut, which layers turn, and how it is drawn."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workshop.geometry.cutting import CutSolid, Layer, Turn
from workshop.geometry.nets import Canvas, net_of_box, net_of_octahedron, net_of_tetrahedron
from workshop.geometry.solids import TETRAHEDRON, Point, box, diagonals, octahedron, tetrahedron

SIDES: dict[str, Point] = {
    "U": np.array([0.0, 1, 0]),
    "F": np.array([0.0, 0, 1]),
    "R": np.array([1.0, 0, 0]),
    "D": np.array([0.0, -1, 0]),
    "B": np.array([0.0, 0, -1]),
    "L": np.array([-1.0, 0, 0]),
}
"""The directions of the faces of a cube, by the names of their turns."""
TETRAHEDRAL = {"UFR": "R", "UBL": "B", "DFL": "L", "DBR": "D"}
"""Four corners of a cube, no two of them adjacent, and the name of each one's turn on an ivy cube."""
ALONG_DIAGONALS = ("╲*╱", "*╳*", "╱*╲")


@dataclass(frozen=True)
class Design:
    """A twisty puzzle."""

    name: str
    cut: CutSolid
    net: Callable[[], Canvas]
    orbits: tuple[str, ...]
    """Names of the orbits, sorted by facelets per piece, the most first."""


def designs() -> list[Design]:
    """Return the designs of all puzzles."""
    return [*_cubes(), *_cut_across_corners(), *_tetrahedra(), _octahedron()]


def _cubes() -> list[Design]:
    halves, thirds = _parallel(0), _parallel(1 / 3)

    def small() -> Canvas:
        return net_of_box((1, 1, 1), (2, 2, 2))

    def large() -> Canvas:
        return net_of_box((1, 1, 1), (3, 3, 3))

    cube = box(1, 1, 1)
    return [
        Design("2x2x2", CutSolid(cube, halves, _turns("UFRDBL", 4)), small, ("CORNERS",)),
        Design("2x2x2-corner", CutSolid(cube, halves, _turns("UFR", 4)), small, ("CORNERS",)),
        _tower(),
        Design(
            "3x3x3-squares",
            CutSolid(cube, thirds, {f"{name}2": turn for name, turn in _turns("UFRDBL", 2).items()}),
            large,
            ("CORNERS1", "CORNERS2", "EDGES1", "EDGES2", "EDGES3"),
        ),
        Design("3x3x3", CutSolid(cube, thirds, _turns("UFRDBL", 4)), large, ("CORNERS", "EDGES")),
        Design("3x3x3-two-faces", CutSolid(cube, thirds, _turns("UR", 4)), large, ("CORNERS", "EDGES")),
    ]


def _tower() -> Design:
    """Return the 2x2x3 tower, held so that the middle piece of its back left column is fixed."""
    layers = [Layer(axis, 0.5 if name in "UD" else 0) for name, axis in SIDES.items()]
    turns = _turns("UD", 4) | {f"{name}2": turn for name, turn in _turns("RF", 2).items()}
    solid = CutSolid(box(1, 1.5, 1), tuple(layers), turns)
    return Design("2x2x3", solid, lambda: net_of_box((1, 1.5, 1), (2, 3, 2)), ("CORNERS", "EDGES"))


def _parallel(depth: float) -> tuple[Layer, ...]:
    return tuple(Layer(axis, depth) for axis in SIDES.values())


def _turns(names: str, fraction: int) -> dict[str, Turn]:
    """Return turns of the layers at these sides by a fraction of a full turn."""
    return {name: Turn((list(SIDES).index(name),), fraction) for name in names}


def _cut_across_corners() -> list[Design]:
    cube = box(1, 1, 1)
    corners = diagonals()
    number = {name: k for k, name in enumerate(corners)}
    thirds = {name: Turn((k,), 3) for name, k in number.items()}
    through_centre = tuple(Layer(axis, 0) for axis in corners.values())
    fixed = {turn: thirds[corner] for turn, corner in zip("URLB", ("UBL", "DBR", "DFL", "DBL"), strict=True)}
    through_corners = tuple(Layer(axis, 1 / np.sqrt(3)) for axis in corners.values())
    away = {name: turn for name, turn in thirds.items() if name not in ("DBL", "DBR")}
    round_cuts = tuple(Layer(corners[name], 2, is_round=True) for name in TETRAHEDRAL)
    ivy = {turn: Turn((k,), 3) for k, turn in enumerate(TETRAHEDRAL.values())}

    def nine() -> Canvas:
        return net_of_box((1, 1, 1), (3, 3, 3))

    def four() -> Canvas:
        return net_of_box((1, 1, 1), (3, 3, 3), ALONG_DIAGONALS)

    return [
        Design("skewb", CutSolid(cube, through_centre, thirds), nine, ("CORNERS1", "CORNERS2", "CENTRES")),
        Design("skewb-corner", CutSolid(cube, through_centre, fixed), nine, ("CORNERS1", "CORNERS2", "CENTRES")),
        Design("dino", CutSolid(cube, through_corners, thirds), four, ("EDGES",)),
        Design("dino-edge", CutSolid(cube, through_corners, away), four, ("EDGES",)),
        Design("ivy", CutSolid(cube, round_cuts, ivy), nine, ("CORNERS", "CENTRES")),
    ]


def _tetrahedra() -> list[Design]:
    solid, corners = tetrahedron(), TETRAHEDRON.values()
    two_thirds = tuple(Layer(axis, 1 / 9) for axis in corners)
    tips = tuple(Layer(axis, 5 / 9) for axis in corners)
    opposite = tuple(Layer(-axis, -1 / 9) for axis in corners)
    thin = tuple(Layer(-axis, 1 / 15) for axis in corners)
    corner_turns = {name: Turn((k,), 3) for k, name in enumerate(TETRAHEDRON)}
    tip_turns = {name.lower(): Turn((4 + k,), 3) for k, name in enumerate(TETRAHEDRON)}
    face_turns = {name: Turn((k,), 3) for k, name in enumerate(("D", "BR", "BL", "F"))}
    faces_beside_tips = {name: Turn((8 + k,), 3) for k, name in enumerate(face_turns)}
    every = (*two_thirds, *tips, *opposite)
    whole = ("TIPS", "AXIALS", "EDGES")
    return [
        Design("pyraminx", CutSolid(solid, two_thirds, corner_turns), net_of_tetrahedron, ("AXIALS", "EDGES")),
        Design("pyraminx-tips", CutSolid(solid, every, corner_turns | tip_turns), net_of_tetrahedron, whole),
        Design("pyraminx-faces", CutSolid(solid, every, faces_beside_tips | tip_turns), net_of_tetrahedron, whole),
        Design("halpern-kolmelij", CutSolid(solid, thin, face_turns), net_of_tetrahedron, ("CORNERS", "EDGES")),
    ]


def _octahedron() -> Design:
    """Return the skewb diamond, cut like a skewb; only the layer on one side of each cut turns."""
    corners = diagonals()
    layers = tuple(Layer(axis, 0) for axis in corners.values())
    turns = {name: Turn((list(corners).index(name),), 3) for name in TETRAHEDRAL}
    return Design("skewb-diamond", CutSolid(octahedron(), layers, turns), net_of_octahedron, ("CORNERS", "FACES"))
