"""A twisty puzzle as files define it: orbits of pieces with orientations, and turns that move and twist them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import gcd, lcm


@dataclass(frozen=True)
class Orbit:
    """Places whose pieces the turns exchange among each other."""

    name: str
    pieces: tuple[int, ...]
    """The label of the piece on each place of the solved position, from 0 without gaps; equal labels are identical
    pieces."""
    orientations: int
    """In how many ways a piece can lie on a place; 1: pieces have no orientation."""
    twists: tuple[int, ...]
    """The orientation on each place of the solved position, from 0 to ``orientations - 1``."""
    contents: int | None = field(default=None, compare=False)
    """How many contents the pieces can make at most, if they are fewer than all arrangements and orientations."""


@dataclass(frozen=True)
class Turn:
    """A transformation of all orbits, each entry of a field belongs to one.

    An orientation belongs to the place: a turn makes of labels ``p`` and orientations ``o``

        new_p[i] = p[permutation[i]]
        new_o[i] = (o[permutation[i]] + twist[i]) % orientations
    """

    permutations: tuple[tuple[int, ...], ...]
    """From which place each place gets its piece."""
    twists: tuple[tuple[int, ...], ...]
    """What is added to the orientation of the piece that comes to each place; zeros where there is no orientation."""
    orientations: tuple[int, ...]
    """The orientations of each orbit."""

    @property
    def order(self) -> int:
        """How often the turn must be done, at least once, until everything is as before."""
        return lcm(1, *(length * (modulus // gcd(twist, modulus)) for length, twist, modulus in self._cycles()))

    @property
    def is_identity(self) -> bool:
        """Whether the turn changes nothing."""
        return self.order == 1

    def then(self, other: "Turn") -> "Turn":
        """The turn that does this one, and after it the other one."""
        permutations, twists = [], []
        for k, modulus in enumerate(self.orientations):
            first, first_twist = self.permutations[k], self.twists[k]
            second, second_twist = other.permutations[k], other.twists[k]
            permutations.append(tuple([first[place] for place in second]))
            twists.append(
                tuple([(first_twist[i] + add) % modulus for i, add in zip(second, second_twist, strict=True)])
            )
        return Turn(tuple(permutations), tuple(twists), self.orientations)

    def inverse(self) -> "Turn":
        """The turn that undoes this one."""
        return self.power(-1)

    def power(self, exponent: int) -> "Turn":
        """The turn that does this one so many times, or undoes it if the exponent is negative.

        The computation goes along the cycles, so that a large exponent takes no longer than a small one.
        """
        pairs = [_power(*orbit, exponent) for orbit in zip(*self._fields(), strict=True)]
        return Turn(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs), self.orientations)

    def _fields(self) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...], tuple[int, ...]]:
        return self.permutations, self.twists, self.orientations

    def _cycles(self) -> list[tuple[int, int, int]]:
        """Of each cycle its length, the sum of its twists, and the orientations of its orbit."""
        return [
            (len(cycle), sum(twist[place] for place in cycle), modulus)
            for permutation, twist, modulus in zip(*self._fields(), strict=True)
            for cycle in cycles_of(permutation)
        ]


@dataclass(frozen=True)
class Definition:
    """What a puzzle file says."""

    name: str
    """The name in the file, empty if there is none; often that of the program that wrote the file."""
    orbits: tuple[Orbit, ...]
    turns: Mapping[str, Turn]
    """The moves of a search by their names, as given, in the order of the file."""
    others: Mapping[str, Turn]
    """Names for sequences of moves alone: rotations of the whole puzzle, and other names of moves."""


def identity(orbits: tuple[Orbit, ...]) -> Turn:
    """The turn of these orbits that changes nothing."""
    sizes = [len(orbit.pieces) for orbit in orbits]
    return Turn(
        tuple(tuple(range(size)) for size in sizes),
        tuple((0,) * size for size in sizes),
        tuple(orbit.orientations for orbit in orbits),
    )


def cycles_of(permutation: tuple[int, ...]) -> list[list[int]]:
    """The cycles of a permutation, fixed places too: each place is followed by the one that it maps to."""
    seen = [False] * len(permutation)
    cycles = []
    for start in range(len(permutation)):
        cycle, place = [], start
        while not seen[place]:
            seen[place] = True
            cycle.append(place)
            place = permutation[place]
        if cycle:
            cycles.append(cycle)
    return cycles


def _power(
    permutation: tuple[int, ...], twist: tuple[int, ...], modulus: int, exponent: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """One orbit of a power: a piece comes from ``exponent`` places further along the cycle.

    On the way it passes every place of the cycle ``exponent // length`` times, and the places up to its own once more.
    """
    origins, added = list(permutation), list(twist)
    for cycle in cycles_of(permutation):
        length = len(cycle)
        rounds, rest = divmod(exponent, length)
        sums = [0]
        for place in cycle + cycle:
            sums.append(sums[-1] + twist[place])
        for k, place in enumerate(cycle):
            origins[place] = cycle[(k + rest) % length]
            added[place] = (rounds * sums[length] + sums[k + rest] - sums[k]) % modulus
    return tuple(origins), tuple(added)
