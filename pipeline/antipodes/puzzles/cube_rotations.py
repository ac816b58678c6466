"""Rotations of a whole cube, described by the face that they bring to each side."""

from dataclasses import dataclass

FACES = "URFDLB"
ORDER = 12
"""A multiple of the order of each rotation: 1, 2, 3 or 4."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """An orientation in which a cube is held."""

    faces: str = FACES
    """For each direction seen by the holder, in the order of FACES, the face of the unrotated cube on that side."""

    def renamed(self, turn: str) -> str:
        """Return the name of a turn of the rotated cube on the unrotated cube: after x, ``U2`` is ``F2``."""
        return self.faces[FACES.index(turn[0])] + turn[1:] if self.faces != FACES else turn

    def compose(self, other: "Rotation") -> "Rotation":
        """Return this rotation followed by another one, which is given relative to the holder."""
        return Rotation("".join(map(self.renamed, other.faces)))

    def power(self, exponent: int) -> "Rotation":
        """Return this rotation repeated, or its inverse repeated if the exponent is negative."""
        result = Rotation()
        for _ in range(exponent % ORDER):
            result = result.compose(self)
        return result


UNROTATED = Rotation()
X = Rotation("FRDBLU")
Y = Rotation("UBRDFL")
Z = Rotation("LUFRDB")
AXES = {"x": X, "y": Y, "z": Z}
LIKE = {"R": X, "U": Y, "F": Z, "L": X.power(-1), "D": Y.power(-1), "B": Z.power(-1)}
"""For each face, the rotation of the whole cube in the direction of the face's quarter turn."""
TOPS = (*map(X.power, range(4)), Z, Z.power(-1))
"""For each face, a rotation that brings it to the top."""
ALL_ROTATIONS = tuple(top.compose(Y.power(turns)) for top in TOPS for turns in range(4))


def opposite(turn: str) -> str:
    """Return the name of the corresponding turn of the opposite face."""
    return FACES[FACES.index(turn[0]) - 3] + turn[1:]
