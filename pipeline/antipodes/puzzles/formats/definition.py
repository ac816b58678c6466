"""A twisty puzzle as files define it: orbits of pieces with orientations, and turns that move and twist them."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import factorial, gcd, lcm, prod
from types import MappingProxyType

from antipodes.puzzles.sequences import POWER, parse_sequence
from antipodes.puzzles.settings import MAX_PLACES
from antipodes_tasks.errors import ConfigError
from antipodes_tasks.permutations.parity import cycles
from antipodes_tasks.quoting import quote, shorten


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

    @property
    def order(self) -> int:
        """How often the turn must be done, at least once, until everything is as before."""
        return lcm(1, *(length * (modulus // gcd(twist, modulus)) for length, twist, modulus in self._cycles()))

    def compose(self, other: "Turn") -> "Turn":
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
            for cycle in cycles(permutation)
        ]


@dataclass(frozen=True)
class TwistyDefinition:
    """What a puzzle file says."""

    name: str
    """The name in the file, empty if there is none; often that of the program that wrote the file."""
    orbits: tuple[Orbit, ...]
    turns: Mapping[str, Turn]
    """The moves of a search by their names, as given, in the order of the file."""
    others: Mapping[str, Turn]
    """Names for sequences of moves alone: rotations of the whole puzzle, and other names of moves."""
    illegal: Mapping[tuple[int, int], frozenset[int]] = field(default_factory=dict)
    """The labels that a place may never have, by the number of the orbit and the place in it."""


def with_moves(definition: TwistyDefinition, moves: str) -> TwistyDefinition:
    """The definition whose turns are these alone: names, or powers of them, with blanks between: ``"U R F2"``.

    The names of all others remain for sequences. ConfigError where one is no move.
    """
    known = {**definition.turns, **definition.others}
    for word in moves.split():
        if not any(word.startswith(name) and POWER.fullmatch(word, len(name)) for name in known):
            names = shorten(", ".join(known))
            raise ConfigError(f"only_moves: expected moves of {names}, or powers such as R2; found {quote(word)}")
    turns = {word: parse_sequence(word, known) for word in moves.split()}
    return replace(definition, turns=turns, others={name: turn for name, turn in known.items() if name not in turns})


def drop_orbits(definition: TwistyDefinition, orbits: Collection[str]) -> TwistyDefinition:
    """The definition without some orbits; ConfigError where there is no such orbit, or none is left."""
    names = [orbit.name for orbit in definition.orbits]
    if unknown := [name for name in orbits if name not in names]:
        raise ConfigError(f"omit: expected sets of {', '.join(names)}, found {quote(unknown[0])}")
    kept = [number for number, name in enumerate(names) if name not in orbits]
    if not kept:
        raise ConfigError(f"omit: expected a set that stays, found all of {', '.join(names)}")
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
    """What a turn does to the orbits of some numbers."""
    kept = [(turn.permutations[number], turn.twists[number], turn.orientations[number]) for number in orbits]
    return Turn(*(tuple(one) for one in zip(*kept, strict=True)))


def identity(orbits: tuple[Orbit, ...]) -> Turn:
    """The turn of these orbits that changes nothing."""
    sizes = [len(orbit.pieces) for orbit in orbits]
    return Turn(
        tuple(tuple(range(size)) for size in sizes),
        tuple((0,) * size for size in sizes),
        tuple(orbit.orientations for orbit in orbits),
    )


def _power(
    permutation: tuple[int, ...], twist: tuple[int, ...], modulus: int, exponent: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """One orbit of a power: a piece comes from ``exponent`` places further along the cycle.

    On the way it passes every place of the cycle ``exponent // length`` times, and the places up to its own once more.
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
    turns: Mapping[str, Turn], metric: str = "half", others: Mapping[str, Turn] = MappingProxyType({})
) -> dict[str, Turn]:
    """The moves of a search: in the half-turn metric each turn with all its powers, in the quarter-turn metric each
    turn and its inverse, in the single-turn metric the turns as they are.

    Turns that change nothing are left out, and so are those that do the same as an earlier one. The powers of a turn
    ``R`` of order ``n`` are ``R``, ``R2``, ... up to half of ``n``, then ``R3'``, ``R2'``, ``R'``, as people write
    them. A power of a turn whose name ends in a digit is written with brackets, ``(R2)2``, and so is one whose name
    the ``others`` give to another turn.

    ConfigError where there is no such metric, no turn changes anything, or there are more than `MAX_MOVES` moves.
    """
    if metric not in METRICS:
        raise ConfigError(f"turns: expected one of {', '.join(METRICS)}, found {quote(metric)}")
    orders = {name: turn.order for name, turn in turns.items()}
    if metric == "half" and sum(orders.values()) - len(orders) > MAX_MOVES:
        longest = max(orders, key=orders.__getitem__)
        raise ConfigError(
            f"turns: expected at most {MAX_MOVES:,} moves, found powers of {quote(longest)} up to "
            f"{quote(orders[longest] - 1)}; see the metrics 'quarter' and 'single'"
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
        raise ConfigError("turns: expected one that changes something, found none")
    return moves


def exponents(order: int, metric: str) -> list[int]:
    """The exponents of the moves that a turn of that order makes, from 1 up to half of it, then the negative ones."""
    if order == 1:
        return []
    if metric == "half":
        return [*range(1, order // 2 + 1), *range(order // 2 + 1 - order, 0)]
    return [1, -1] if metric == "quarter" else [1]


def power_name(name: str, exponent: int, turns: Mapping[str, Turn], moves: Collection[str]) -> str:
    """Return the name of a power of a turn: none of the ``moves``, and none that reads as a power of another turn."""
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
    """The orbit of a set, from what each of its places has in the solved position.

    ``shown[i]`` is the divisor of ``orientations`` modulo which the piece on place ``i`` shows its orientation: 1 if it
    does not matter. If the divisor ``d`` is the same for all pieces, the set is an orbit of ``d`` orientations.
    Otherwise an orientation on a place would depend on the piece there. Such a set becomes an orbit of points without
    orientation: point ``place * orientations + k`` bears the mark of a piece on that place if the piece may be said to
    have the orientation ``k``. A piece that shows its orientation marks one point, a piece that shows nothing marks all
    points of its place. All points without a mark are alike; the marks of one sort of pieces that show nothing are left
    out, too, since these pieces are on the remaining places. The marks tell where each piece is and how it is turned,
    so positions of the set and of the points correspond one to one; but most arrangements of the marks are none.

    ConfigError where identical pieces show different parts of their orientation, or there are more than `MAX_LABELS`
    different pieces; the message begins with ``where``.
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
    if len(different) > MAX_LABELS:
        raise ConfigError(f"{where}: expected at most {MAX_LABELS} different pieces, found {len(different)}")
    label = {value: number for number, value in enumerate(different)}
    return tuple(label[value] for value in values)


MAX_CHARACTERS = 1 << 20
"""Of a file: the largest puzzles that fit into `MAX_PLACES` take a tenth of it."""
MAX_MOVES = 1024
"""Of a puzzle, powers and other names too: they are held in memory one by one."""
MAX_LABELS = 256
"""Different pieces of an orbit, and orientations of a piece: labels are bytes."""
LONGEST_NAME = 64
"""Characters: some files name moves by the sequences that they stand for."""
WHOLE = re.compile(r"[0-9]{1,9}")
ROTATION = re.compile(r"[xyz][2']?|[A-Z_]+v")


def check_length(text: str) -> None:
    """Raise ConfigError where a file has more than `MAX_CHARACTERS`."""
    if len(text) > MAX_CHARACTERS:
        raise ConfigError(f"expected at most {MAX_CHARACTERS:,} characters, found {len(text):,}")


def check_new(name: str, known: Collection[str], where: str) -> None:
    """Raise ConfigError where a name cannot be shown, or is one of the ``known``, or these are too many."""
    if not name.isprintable() or not 1 <= len(name) <= LONGEST_NAME or name.isspace():
        raise ConfigError(f"{where}: expected a name of 1 to {LONGEST_NAME} printable characters, found {quote(name)}")
    if name in known:
        raise ConfigError(f"{where}: expected a new name, found {quote(name)} again")
    if len(known) >= MAX_MOVES:
        raise ConfigError(f"{where}: expected at most {MAX_MOVES:,} names, found more")


def whole_number(token: str, where: str, least: int, most: int) -> int:
    """The number that the token writes in decimal digits; ConfigError if it is none or out of range."""
    if not WHOLE.fullmatch(token) or not least <= int(token) <= most:
        raise ConfigError(f"{where}: expected a number from {least} to {most}, found {quote(token)}")
    return int(token)


def check_size(sizes: list[int], where: str) -> None:
    """Raise ConfigError where the orbits have more places together than a puzzle may."""
    if sum(sizes) > MAX_PLACES:
        raise ConfigError(f"{where}: expected at most {MAX_PLACES} places in all, found {sum(sizes):,}")


def check_permutation(permutation: list[int], where: str, first: int) -> None:
    """Raise ConfigError for the first number that the list repeats; its range must be checked before.

    ``first`` is what the file counts from.
    """
    seen = set()
    for number in permutation:
        if number in seen:
            raise ConfigError(f"{where}: expected each place once, found {number + first} twice")
        seen.add(number)


def is_rotation(name: str) -> bool:
    """Whether a name means a rotation of the whole puzzle, which is no move of a search.

    The rule is that of twsearch: ``x``, ``y`` and ``z``, alone or with ``2`` or a prime, and names of capital letters
    and underscores with a ``v`` at the end, such as ``Uv``.
    """
    return ROTATION.fullmatch(name) is not None
