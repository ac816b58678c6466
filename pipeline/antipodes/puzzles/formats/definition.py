"""Definitions of twisty puzzles in files: orbits of pieces with orientations, and turns that move and twist them."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import factorial, gcd, lcm, prod
from types import MappingProxyType

from antipodes.puzzles.sequences import POWER, parse_sequence
from antipodes.puzzles.settings import MAX_PLACES
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.permutations.parity import cycles


@dataclass(frozen=True)
class Orbit:
    """Places among which turns exchange pieces."""

    name: str
    pieces: tuple[int, ...]
    """The label of the piece on each place of the solved position, from 0 without gaps; identical pieces share one."""
    orientations: int
    """Number of orientations that a piece can have on a place; 1 if pieces have no orientation."""
    twists: tuple[int, ...]
    """The orientation on each place of the solved position, from 0 to ``orientations - 1``."""
    contents: int | None = field(default=None, compare=False)
    """For an orbit of points, the number of arrangements that correspond to pieces (see `orbit_from`); else None."""


@dataclass(frozen=True)
class Turn:
    """A transformation of all orbits; each field has one entry for each orbit.

    Orientations belong to places. A turn changes labels ``p`` and orientations ``o`` to

        new_p[i] = p[permutation[i]]
        new_o[i] = (o[permutation[i]] + twist[i]) % orientations
    """

    permutations: tuple[tuple[int, ...], ...]
    """The place from which each place gets its piece."""
    twists: tuple[tuple[int, ...], ...]
    """The number added to the orientation of the piece that comes to each place; zeros if there is no orientation."""
    orientations: tuple[int, ...]

    @property
    def order(self) -> int:
        """The smallest positive number of repetitions after which nothing has changed."""
        return lcm(1, *(length * (modulus // gcd(twist, modulus)) for length, twist, modulus in self._cycles()))

    def compose(self, other: "Turn") -> "Turn":
        """Return this turn followed by the other one."""
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
        """Return the inverse turn."""
        return self.power(-1)

    def power(self, exponent: int) -> "Turn":
        """Return this turn repeated ``exponent`` times, or its inverse repeated if the exponent is negative.

        The computation works on cycles, so a large exponent takes no longer than a small one.
        """
        pairs = [_power(*orbit, exponent) for orbit in zip(*self._fields(), strict=True)]
        return Turn(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs), self.orientations)

    def _fields(self) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...], tuple[int, ...]]:
        return self.permutations, self.twists, self.orientations

    def _cycles(self) -> list[tuple[int, int, int]]:
        """Return, for each cycle, its length, the sum of its twists, and the number of orientations of its orbit."""
        return [
            (len(cycle), sum(twist[place] for place in cycle), modulus)
            for permutation, twist, modulus in zip(*self._fields(), strict=True)
            for cycle in cycles(permutation)
        ]


@dataclass(frozen=True)
class TwistyDefinition:
    """The content of a puzzle file."""

    name: str
    """The name in the file, or "" if there is none; often the name of the program that wrote the file."""
    orbits: tuple[Orbit, ...]
    turns: Mapping[str, Turn]
    """The moves of a search by their names, in the order of the file."""
    others: Mapping[str, Turn]
    """More turns by name, for use in sequences only: rotations of the whole puzzle, and other names of moves."""
    illegal: Mapping[tuple[int, int], frozenset[int]] = field(default_factory=dict)
    """The labels that a place must never have, by the index of the orbit and the index of the place in this orbit."""


def with_moves(definition: TwistyDefinition, moves: str) -> TwistyDefinition:
    """Return the definition with only these moves, given as names or powers separated by spaces: ``"U R F2"``.

    All other names can still be used in sequences. Raises ConfigError if one of the words is not a move.
    """
    known = {**definition.turns, **definition.others}
    for word in moves.split():
        if not any(_is_power(word, name) for name in known):
            names = shorten(", ".join(known))
            raise ConfigError(f"only_moves: expected moves among {names}, or powers such as R2; found {quote(word)}")
    turns = {word: parse_sequence(word, known) for word in moves.split()}
    return replace(definition, turns=turns, others={name: turn for name, turn in known.items() if name not in turns})


def _is_power(word: str, name: str) -> bool:
    """Return whether a word is a name or a power of it, such as ``R2`` or ``(A2)2``."""
    beginnings = (begin for begin in (name, f"({name})") if word.startswith(begin))
    return any(POWER.fullmatch(word, len(begin)) for begin in beginnings)


def drop_orbits(definition: TwistyDefinition, orbits: Collection[str]) -> TwistyDefinition:
    """Return the definition without some orbits; raise ConfigError if an orbit does not exist or none is left."""
    names = [orbit.name for orbit in definition.orbits]
    if unknown := [name for name in orbits if name not in names]:
        raise ConfigError(f"omit: expected some of the sets {', '.join(names)}, found {quote(unknown[0])}")
    kept = [number for number, name in enumerate(names) if name not in orbits]
    if not kept:
        raise ConfigError(f"omit: at least one set must remain; the sets are {', '.join(names)}")
    turns, others = (
        {name: _of(turn, kept) for name, turn in some.items()} for some in (definition.turns, definition.others)
    )
    illegal = {
        (kept.index(orbit), place): labels for (orbit, place), labels in definition.illegal.items() if orbit in kept
    }
    return TwistyDefinition(
        definition.name, tuple(definition.orbits[number] for number in kept), turns, others, illegal
    )


def _of(turn: Turn, orbits: Sequence[int]) -> Turn:
    """Return a turn restricted to the orbits with these numbers."""
    kept = [(turn.permutations[number], turn.twists[number], turn.orientations[number]) for number in orbits]
    return Turn(*(tuple(one) for one in zip(*kept, strict=True)))


def identity(orbits: tuple[Orbit, ...]) -> Turn:
    """Return the turn of these orbits that changes nothing."""
    sizes = [len(orbit.pieces) for orbit in orbits]
    return Turn(
        tuple(tuple(range(size)) for size in sizes),
        tuple((0,) * size for size in sizes),
        tuple(orbit.orientations for orbit in orbits),
    )


def _power(
    permutation: tuple[int, ...], twist: tuple[int, ...], modulus: int, exponent: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the permutation and the twists of a power of a turn on one orbit.

    Each piece moves ``exponent`` steps along its cycle. On its way, it passes every place of the cycle
    ``exponent // length`` times, and then the places up to its destination once more.
    """
    origins, added = list(permutation), list(twist)
    for cycle in cycles(permutation):
        length = len(cycle)
        rounds, rest = divmod(exponent, length)
        sums = [0]
        for place in cycle + cycle:
            sums.append(sums[-1] + twist[place])
        for k, place in enumerate(cycle):
            origins[place] = cycle[(k + rest) % length]
            added[place] = (rounds * sums[length] + sums[k + rest] - sums[k]) % modulus
    return tuple(origins), tuple(added)


METRICS = HALF, QUARTER, SINGLE = "half", "quarter", "single"
PRIME = "'"


def expand(
    turns: Mapping[str, Turn], metric: str = HALF, others: Mapping[str, Turn] = MappingProxyType({})
) -> dict[str, Turn]:
    """Return the moves of a search in a metric.

    The moves are all powers of the turns in the metric "half", the turns and their inverses in "quarter", and only the
    turns in "single". Moves that change nothing, or that have the same effect as an earlier move, are left out.

    The powers of a turn ``R`` of order ``n`` are written as usual: ``R``, ``R2``, ... up to half of ``n``, then
    ``R3'``, ``R2'``, ``R'``. A power is written with brackets, ``(R2)2``, if the name of the turn ends in a digit, or
    if the usual name is the name of another turn in ``others``.

    Raises ConfigError if the metric is unknown, no turn changes anything, or there are more than `MAX_MOVES` moves.
    """
    if metric not in METRICS:
        raise ConfigError(f"turns: expected one of {', '.join(METRICS)}, found {quote(metric)}")
    orders = {name: turn.order for name, turn in turns.items()}
    # The limit is checked before any power is computed, because a turn can have an enormous order.
    if metric == HALF and sum(orders.values()) - len(orders) > MAX_MOVES:
        longest = max(orders, key=orders.__getitem__)
        raise ConfigError(
            f"turns: with all their powers, the turns make more than {MAX_MOVES:,} moves ({quote(longest)} alone makes "
            f"{quote(orders[longest] - 1)}); use {QUARTER!r} or {SINGLE!r}"
        )
    moves: dict[str, Turn] = {}
    effects: set[Turn] = set()
    for name, turn in turns.items():
        for exponent in exponents(orders[name], metric):
            power = turn.power(exponent)
            if power not in effects:
                effects.add(power)
                taken = {**turns, **{other: turn for other, turn in others.items() if turn != power}}
                moves[power_name(name, exponent, taken, moves)] = power
    if not moves:
        raise ConfigError("turns: none of the turns changes anything")
    return moves


def exponents(order: int, metric: str) -> list[int]:
    """Return the exponents of the moves of a turn, from 1 up to half of its order, then the negative exponents."""
    if order == 1:
        return []
    if metric == HALF:
        return [*range(1, order // 2 + 1), *range(order // 2 + 1 - order, 0)]
    return [1, -1] if metric == QUARTER else [1]


def power_name(name: str, exponent: int, turns: Mapping[str, Turn], moves: Collection[str]) -> str:
    """Return a name for a power of a turn that is not among ``moves`` and cannot be read as a power of another turn."""
    if exponent == 1:
        return name
    family, backwards = name, exponent < 0
    amount = "" if abs(exponent) == 1 else str(abs(exponent))
    if name.endswith("'"):
        family, backwards = name[:-1], not backwards
    written = f"{family}{amount}{PRIME if backwards else ''}"
    reads_as = max((other for other in turns if written.startswith(other)), key=len, default=name)
    if family and not family[-1].isdigit() and not family.endswith(PRIME) and reads_as == name and written not in moves:
        return written
    return f"({name}){amount}{PRIME if exponent < 0 else ''}"


def orbit_from(
    name: str, pieces: Sequence[int], twists: Sequence[int], orientations: int, shown: Sequence[int], where: str
) -> Orbit:
    """Return the orbit of a set, given the piece and the orientation on each place of the solved position.

    ``shown[i]`` is the divisor of ``orientations`` modulo which the orientation of the piece on place ``i`` is visible;
    it is 1 if the orientation does not matter. If all pieces have the same divisor ``d``, the set is an orbit with
    ``d`` orientations. Otherwise the meaning of an orientation on a place would depend on the piece there.

    Such a set becomes an orbit of points without orientation. Point ``place * orientations + k`` bears the mark of the
    piece on that place if ``k`` is congruent to the piece's orientation modulo its divisor. A piece whose whole
    orientation is visible marks one point; a piece without visible orientation marks all points of its place. Points
    without a mark are identical. The marks of one kind of pieces without visible orientation are left out, because
    these pieces are on the remaining places. The marks determine each piece's place and visible orientation, so
    positions of the set and of the points correspond one to one. Most arrangements of marks, however, are not
    positions.

    Raises ConfigError if identical pieces have different divisors, or there are more than `MAX_LABELS` different
    pieces; the message begins with ``where``.
    """
    if len(set(zip(pieces, shown, strict=True))) > len(set(pieces)):
        raise ConfigError(f"{where}: identical pieces must have the same visible orientations (orientationMod or ?)")
    if len(set(shown)) == 1:
        labels, visible = _dense([(1, piece) for piece in pieces], where), shown[0]
        return Orbit(name, labels, visible, tuple(twist % visible for twist in twists))
    marks = _marks(pieces, twists, orientations, shown)
    contents = factorial(len(pieces)) // prod(map(factorial, Counter(pieces).values())) * prod(shown)
    return Orbit(name, _dense(marks, where), 1, (0,) * len(marks), contents)


def turn_of(orbit: Orbit, permutation: Sequence[int], twist: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Convert the permutation and the twists of a set to those of its orbit, in the convention of `Turn`."""
    size = len(permutation)
    if len(orbit.pieces) == size:
        return tuple(permutation), tuple(one % orbit.orientations for one in twist)
    points = len(orbit.pieces) // size
    origins = [permutation[i] * points + (k - twist[i]) % points for i in range(size) for k in range(points)]
    return tuple(origins), (0,) * len(origins)


def _marks(
    pieces: Sequence[int], twists: Sequence[int], orientations: int, shown: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the mark of each point: ``(1, piece)``, or ``(0, 0)`` if the point has no mark."""
    silent = Counter(piece for piece, divisor in zip(pieces, shown, strict=True) if divisor == 1).most_common(1)
    unmarked = {piece for piece, _ in silent}
    marks = [(0, 0)] * (len(pieces) * orientations)
    for place, (piece, twist, divisor) in enumerate(zip(pieces, twists, shown, strict=True)):
        if piece not in unmarked:
            for k in range(twist % divisor, orientations, divisor):
                marks[place * orientations + k] = (1, piece)
    return marks


def _dense(values: Sequence[tuple[int, int]], where: str) -> tuple[int, ...]:
    """Return the values as labels from 0 without gaps, in the same order."""
    different = sorted(set(values))
    if len(different) > MAX_LABELS:
        raise ConfigError(f"{where}: expected at most {MAX_LABELS} different pieces, found {len(different)}")
    label = {value: number for number, value in enumerate(different)}
    return tuple(label[value] for value in values)


MAX_CHARACTERS = 1 << 20
"""Maximum number of characters of a file; the largest puzzles with `MAX_PLACES` places need a tenth of it."""
MAX_MOVES = 1024
"""Maximum number of moves of a puzzle, including powers and other names, each of which takes memory."""
MAX_LABELS = 256
"""Maximum number of different pieces of an orbit, and of orientations of a piece: labels are bytes."""
LONGEST_NAME = 64
"""Maximum number of characters of a name; some files name moves by the sequences that they abbreviate."""
WHOLE = re.compile(r"[0-9]{1,9}")
ROTATION = re.compile(r"[xyz][2']?|[A-Z_]+v")


def check_length(text: str) -> None:
    """Raise ConfigError if a file has more than `MAX_CHARACTERS` characters."""
    if len(text) > MAX_CHARACTERS:
        raise ConfigError(f"expected at most {MAX_CHARACTERS:,} characters, found {len(text):,}")


def check_new(name: str, known: Collection[str], where: str) -> None:
    """Raise ConfigError if a name is not printable or already in ``known``, or if ``known`` is full."""
    if not name.isprintable() or not 1 <= len(name) <= LONGEST_NAME or name.isspace():
        raise ConfigError(f"{where}: expected a name of 1 to {LONGEST_NAME} printable characters, found {quote(name)}")
    if name in known:
        raise ConfigError(f"{where}: the name {quote(name)} is already used")
    if len(known) >= MAX_MOVES:
        raise ConfigError(f"{where}: there are more than {MAX_MOVES:,} names")


def whole_number(token: str, where: str, minimum: int, maximum: int) -> int:
    """Return the value of a token of decimal digits; raise ConfigError if it is invalid or out of range."""
    if not WHOLE.fullmatch(token) or not minimum <= int(token) <= maximum:
        raise ConfigError(f"{where}: expected a number from {minimum} to {maximum}, found {quote(token)}")
    return int(token)


def check_size(sizes: list[int], where: str) -> None:
    """Raise ConfigError if the orbits together have more than MAX_PLACES places."""
    if sum(sizes) > MAX_PLACES:
        raise ConfigError(f"{where}: expected at most {MAX_PLACES} places in all, found {sum(sizes):,}")


def check_permutation(permutation: list[int], where: str, first: int) -> None:
    """Raise ConfigError for the first number that the list repeats; the caller has checked the range.

    ``first`` is the number from which the file counts.
    """
    seen = set()
    for number in permutation:
        if number in seen:
            raise ConfigError(f"{where}: expected each place once, found {number + first} twice")
        seen.add(number)


def is_rotation(name: str) -> bool:
    """Return whether a name denotes a rotation of the whole puzzle, which is not a move of a search.

    The rule is the same as in twsearch: ``x``, ``y`` and ``z``, with or without ``2`` or a prime, and names of capital
    letters and underscores that end in ``v``, such as ``Uv``.
    """
    return ROTATION.fullmatch(name) is not None
