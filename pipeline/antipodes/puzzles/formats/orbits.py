"""Sets of pieces whose orientation shows in part, as orbits; and the turns of such sets.

A piece may look the same in several orientations: it shows its orientation modulo a divisor ``d`` of the orientations
of its set, 1 if the orientation does not matter. If ``d`` is the same for all pieces of a set, the set is an orbit of
``d`` orientations. Otherwise an orientation on a place would depend on which piece is there. Such a set becomes an
orbit of points without orientation: point ``place * orientations + k`` bears the mark of a piece on that place if the
piece may be said to have the orientation ``k``. A piece that shows its orientation marks one point, a piece that shows
nothing marks all points of its place. All points without a mark are alike; the marks of one sort of pieces that show
nothing are left out, too, since these pieces lie where no others do. The marks tell where each piece is and how it
lies, so that positions of the set and of the points correspond one to one; but most arrangements of the marks are no
positions.
"""

from collections import Counter
from collections.abc import Sequence
from math import factorial, prod

from antipodes.puzzles.formats.checks import MOST_LABELS
from antipodes.puzzles.formats.definition import Orbit
from antipodes_tasks.errors import ConfigError


def orbit_from(
    name: str, pieces: Sequence[int], twists: Sequence[int], orientations: int, shown: Sequence[int], where: str
) -> Orbit:
    """The orbit of a set, from what each of its places has in the solved position.

    ``shown[i]`` is the divisor of ``orientations`` modulo which the piece on place ``i`` shows its orientation.

    Raises
    ------
    ConfigError
        Identical pieces show different parts of their orientation, or there are more than `MOST_LABELS` different
        pieces; the message begins with ``where``.
    """
    if len(set(zip(pieces, shown, strict=True))) > len(set(pieces)):
        raise ConfigError(f"{where}: expected identical pieces to show the same of their orientation, found others")
    if len(set(shown)) == 1:
        labels, visible = _dense([(1, piece) for piece in pieces], where), shown[0]
        return Orbit(name, labels, visible, tuple(twist % visible for twist in twists))
    marks = _marks(pieces, twists, orientations, shown)
    contents = factorial(len(pieces)) // prod(map(factorial, Counter(pieces).values())) * prod(shown)
    return Orbit(name, _dense(marks, where), 1, (0,) * len(marks), contents)


def turn_of(orbit: Orbit, permutation: Sequence[int], twist: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The permutation and the twist of an orbit from those of its set, in the convention of `Turn`."""
    size = len(permutation)
    if len(orbit.pieces) == size:
        return tuple(permutation), tuple(one % orbit.orientations for one in twist)
    points = len(orbit.pieces) // size
    origins = [permutation[i] * points + (k - twist[i]) % points for i in range(size) for k in range(points)]
    return tuple(origins), (0,) * len(origins)


def _marks(
    pieces: Sequence[int], twists: Sequence[int], orientations: int, shown: Sequence[int]
) -> list[tuple[int, int]]:
    """What each point bears: the piece that marks it, after a 1, or the same as all points without a mark."""
    silent = Counter(piece for piece, divisor in zip(pieces, shown, strict=True) if divisor == 1).most_common(1)
    unmarked = {piece for piece, _ in silent}
    marks = [(0, 0)] * (len(pieces) * orientations)
    for place, (piece, twist, divisor) in enumerate(zip(pieces, twists, shown, strict=True)):
        if piece not in unmarked:
            for k in range(twist % divisor, orientations, divisor):
                marks[place * orientations + k] = (1, piece)
    return marks


def _dense(values: Sequence[tuple[int, int]], where: str) -> tuple[int, ...]:
    """The values as labels from 0 without gaps, in the same order."""
    different = sorted(set(values))
    if len(different) > MOST_LABELS:
        raise ConfigError(f"{where}: expected at most {MOST_LABELS} different pieces, found {len(different)}")
    label = {value: number for number, value in enumerate(different)}
    return tuple(label[value] for value in values)
