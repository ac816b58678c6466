"""Turns as permutations of points (place and twist), and a test whether a rotation maps turns to each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

Point = tuple[int, int]
"""A place, and a twist there."""


@dataclass(frozen=True, slots=True)
class Action:
    """A turn as a permutation of points."""

    images: tuple[int, ...]
    """For each place, the place to which its piece goes."""
    twists: tuple[int, ...]
    """For each place, the twist that its piece gets."""
    moduli: tuple[int, ...]
    """For each place, the number of twists."""

    @classmethod
    def of(cls, origin: Sequence[int], added: Sequence[int], moduli: Sequence[int]) -> Self:
        """Return the action of the move ``after[i] = (before[origin[i]] + added[i]) % moduli[i]``."""
        images = sorted(range(len(origin)), key=origin.__getitem__)
        return cls(tuple(images), tuple(added[place] for place in images), tuple(moduli))

    def image(self, point: Point) -> Point:
        """Return the point to which the turn takes a point."""
        place, twist = point
        return self.images[place], (twist + self.twists[place]) % self.moduli[place]

    @property
    def changed(self) -> set[int]:
        """The places whose pieces are moved or twisted."""
        return {place for place in range(len(self.images)) if self.image((place, 0)) != (place, 0)}

    def order_divides(self, exponent: int) -> bool:
        """Return whether making the turn ``exponent`` times changes nothing."""
        points = [(place, 0) for place in range(len(self.images))]
        now = points
        for _ in range(exponent):
            now = list(map(self.image, now))
        return now == points


def orbits_of(actions: Sequence[Action]) -> list[set[Point]]:
    """Return the orbits of the turns that contain a point of twist 0."""
    orbits: list[set[Point]] = []
    for place in range(len(actions[0].images)):
        if not any((place, 0) in orbit for orbit in orbits):
            orbits.append(set(_extended({(place, 0): (place, 0)}, [(one, one) for one in actions]) or ()))
    return orbits


def are_conjugate(pairs: Sequence[tuple[Action, Action]]) -> bool:
    """Return whether one renaming of the points turns the first action of every pair into the second action."""
    orbits = orbits_of([first for first, _ in pairs])
    return all(any(_maps(orbit, image, pairs) for other in orbits for image in other) for orbit in orbits)


def _maps(orbit: set[Point], image: Point, pairs: Sequence[tuple[Action, Action]]) -> bool:
    """Return whether mapping the first point of an orbit to ``image`` extends to a renaming that fits all pairs."""
    renamed = _extended({min(orbit): image}, pairs)
    return renamed is not None and len(set(renamed.values())) == len(orbit)


def _extended(renamed: dict[Point, Point], pairs: Sequence[tuple[Action, Action]]) -> dict[Point, Point] | None:
    """Extend a renaming to all points that the turns reach; return None if the pairs contradict each other."""
    waiting = list(renamed)
    while waiting:
        point = waiting.pop()
        for first, second in pairs:
            reached, image = first.image(point), second.image(renamed[point])
            if reached not in renamed:
                renamed[reached] = image
                waiting.append(reached)
            elif renamed[reached] != image:
                return None
    return renamed
