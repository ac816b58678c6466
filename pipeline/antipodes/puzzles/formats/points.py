"""The orbits of pieces in permutations of points, such as the facelets of a puzzle.

cubing.js numbers the ``m`` orientations of a piece as ``m`` consecutive points, and lists the first of them: a piece is
from there up to the next listed point. If all permutations move pieces as a whole and only rotate their points, pieces
that they exchange form an orbit with orientations: a piece has the orientation ``k`` where its first point lies on the
point ``k`` of the place. Otherwise every set of points that they exchange is an orbit without orientation, and points
that are not listed are all different. Pieces that never move are left out.
"""

from collections.abc import Iterable, Mapping, Sequence

from antipodes.puzzles.formats.checks import MOST_LABELS
from antipodes.puzzles.formats.definition import Orbit, Turn
from antipodes_tasks.errors import ConfigError

Origins = Mapping[str, Sequence[int]]
"""Of each permutation from which point each point gets its content."""
Orbits = tuple[tuple[Orbit, ...], dict[str, Turn]]
"""The orbits, and the permutations as turns of them."""


def orbits_of(origins: Origins, identical: Sequence[Sequence[int]], degree: int) -> Orbits:
    """The orbits of pieces in permutations of points from 0 to ``degree - 1``.

    ``identical`` lists sets of identical points, or of the first points of identical pieces.

    Raises
    ------
    ConfigError
        No permutation moves a point, or more than `MOST_LABELS` different pieces change places.
    """
    return _pieces(origins, identical, degree) or _points(origins, identical, degree)


def _pieces(origins: Origins, identical: Sequence[Sequence[int]], degree: int) -> Orbits | None:
    """The orbits and turns, if pieces are consecutive points that move together; None if they do not."""
    firsts = sorted(point for one in identical for point in one)
    if not firsts or firsts[0] != 0:
        return None
    lengths = [end - start for start, end in zip(firsts, (*firsts[1:], degree), strict=True)]
    if max(lengths) > MOST_LABELS:
        return None
    piece_at = [piece for piece, length in enumerate(lengths) for _ in range(length)]
    permutations: dict[str, list[int]] = {}
    twists: dict[str, list[int]] = {}
    for name, origin in origins.items():
        permutations[name] = [piece_at[origin[first]] for first in firsts]
        twists[name] = [
            (first_of - origin[first]) % length
            for first, length, first_of in zip(firsts, lengths, (firsts[p] for p in permutations[name]), strict=True)
        ]
        if not _moves_together(origin, firsts, lengths, permutations[name], twists[name]):
            return None
    return _orbits(permutations, twists, lengths, _labels(identical, firsts))


def _moves_together(
    origin: Sequence[int],
    firsts: Sequence[int],
    lengths: Sequence[int],
    permutation: Sequence[int],
    twist: Sequence[int],
) -> bool:
    """Whether every piece gets all points of another one, rotated by its twist."""
    return all(
        lengths[permutation[piece]] == length
        and all(
            origin[firsts[piece] + k] == firsts[permutation[piece]] + (k - twist[piece]) % length for k in range(length)
        )
        for piece, length in enumerate(lengths)
    )


def _points(origins: Origins, identical: Sequence[Sequence[int]], degree: int) -> Orbits:
    """The orbits and turns of single points."""
    zeros = dict.fromkeys(origins, [0] * degree)
    return _orbits(origins, zeros, [1] * degree, _labels(identical, range(degree)))


def _labels(identical: Sequence[Sequence[int]], firsts: Sequence[int]) -> list[int]:
    """A number for each piece, the same for identical ones."""
    label = {point: min(one) for one in identical for point in one}
    return [label.get(first, first) for first in firsts]


def _orbits(
    permutations: Origins, twists: Mapping[str, Sequence[int]], lengths: Sequence[int], labels: Sequence[int]
) -> Orbits:
    """The sets of pieces that the permutations exchange or twist, in the order of their first pieces."""
    groups = [group for group in _exchanged(permutations.values(), len(lengths)) if _changes(group, twists.values())]
    if not groups:
        raise ConfigError("expected a permutation that moves points, found none")
    orbits = []
    for number, group in enumerate(groups, start=1):
        label = {value: k for k, value in enumerate(sorted({labels[piece] for piece in group}))}
        if len(label) > MOST_LABELS:
            raise ConfigError(f"expected at most {MOST_LABELS} different pieces that change places, found {len(label)}")
        pieces = tuple(label[labels[piece]] for piece in group)
        orbits.append(Orbit(f"ORBIT{number}", pieces, lengths[group[0]], (0,) * len(group)))
    orientations = tuple(orbit.orientations for orbit in orbits)
    positions = [{piece: k for k, piece in enumerate(group)} for group in groups]
    turns = {
        name: Turn(
            tuple(tuple(at[permutation[p]] for p in group) for group, at in zip(groups, positions, strict=True)),
            tuple(tuple(twists[name][p] for p in group) for group in groups),
            orientations,
        )
        for name, permutation in permutations.items()
    }
    return tuple(orbits), turns


def _changes(group: Sequence[int], twists: Iterable[Sequence[int]]) -> bool:
    """Whether a set has several pieces, or one that is twisted."""
    return len(group) > 1 or any(twist[group[0]] for twist in twists)


def _exchanged(permutations: Iterable[Sequence[int]], size: int) -> list[list[int]]:
    """The sets of places that the permutations connect, each in ascending order."""
    parent = list(range(size))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = place = parent[parent[place]]
        return place

    for permutation in permutations:
        for place, origin in enumerate(permutation):
            a, b = sorted((root(place), root(origin)))
            parent[b] = a
    sets: dict[int, list[int]] = {}
    for place in range(size):
        sets.setdefault(root(place), []).append(place)
    return list(sets.values())
