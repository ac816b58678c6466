"""Generators of permutation groups for GAP (``.gap``), as written by cubing.js and twsearch.

    M_R:=(1,3,8,6)(2,5,7,4);            statements may span lines and end with a semicolon
    Gen:=[M_R,M_L];                     the moves; without this list, all permutations are moves
    ip:=[[1],[2,4],...];                sets of identical points
    Size(Group(Gen));                   questions to GAP are skipped, and so is the rest of a line after a #

Points are numbered from 1. The content of a point goes to the next point of its cycle. The prefix ``M_`` of names is
removed. cubing.js writes the prefix twice, so ``M_M_`` is removed if all names begin with it.

The orbits of pieces follow from the permutations and ``ip``; see `orbits_of`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from antipodes.puzzles.formats.definition import (
    MAX_LABELS,
    Orbit,
    Turn,
    TwistyDefinition,
    check_length,
    check_new,
    is_rotation,
)
from antipodes.puzzles.settings import MAX_PLACES
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.permutations.parity import connected_points

NAME = re.compile(r"\s*([^\s:=;,()\[\]\"]+)\s*:=(.*)", re.DOTALL)
QUESTION = re.compile(r"\s*(?:(?:Size|Order)\s*\(.*\)\s*)?", re.DOTALL)
CYCLES = re.compile(r"(?:\((?:[0-9]+(?:,[0-9]+)*)?\))+")
NAMES = re.compile(r"\[[^\[\]()]*\]")
SETS = re.compile(r"\[(?:\[[0-9]+(?:,[0-9]+)*\](?:,(?!\])|(?=\])))*\]")
PREFIX = "M_"


def read_gap(text: str) -> TwistyDefinition:
    """Return the puzzle that a GAP file defines.

    Raises ConfigError if a statement is not supported, or contains a point or a permutation that does not exist; the
    message begins with the line of the statement.
    """
    check_length(text)
    found = _Statements()
    for line, statement in _statements(text):
        found.read(line, statement)
    if not found.cycles:
        raise ConfigError("the file contains no permutation, such as M_R:=(1,2,3);")
    names = _names(list(found.cycles))
    generators = found.generators or list(found.cycles)
    origins = {name: _origins(cycles, found.degree) for name, cycles in found.cycles.items()}
    orbits, turns = orbits_of(origins, found.identical or [], found.degree)
    chosen = {names[old]: turns[old] for old in generators if not is_rotation(names[old])}
    if not chosen:
        raise ConfigError("all permutations are rotations of the whole puzzle; at least one other move is needed")
    others = {names[old]: turn for old, turn in turns.items() if names[old] not in chosen}
    return TwistyDefinition("", orbits, chosen, others)


@dataclass
class _Statements:
    """The content of the statements of a file; points are numbered from 0."""

    cycles: dict[str, list[list[int]]] = field(default_factory=dict)
    """The cycles of each permutation, in the order of the file."""
    generators: list[str] = field(default_factory=list)
    identical: list[list[int]] | None = None
    """Sets of identical points; None if the file does not list them."""
    degree: int = 0
    """Number of points: the largest point plus one."""

    def read(self, line: int, statement: str) -> None:
        """Read the statement that begins in a line."""
        match = NAME.fullmatch(statement)
        if match is None:
            if not QUESTION.fullmatch(statement):
                raise ConfigError(f"line {line}: {quote(statement.strip())} is not supported; expected NAME:=...")
            return
        name, value = match[1], "".join(match[2].split())
        where = f"line {line}: {name if name.isidentifier() and len(name) <= 32 else shorten(quote(name), 40)}"
        if name == "Gen":
            self._read_generators(value, where)
        elif name == "ip":
            self._read_identical(value, where)
        else:
            check_new(name, self.cycles, where)
            self.cycles[name] = self._read_cycles(value, where)

    def _read_cycles(self, value: str, where: str) -> list[list[int]]:
        if not CYCLES.fullmatch(value):
            raise ConfigError(
                f"{where}: expected cycles such as (1,2,3)(4,5), found {quote(value)}; powers and other expressions "
                "are not supported"
            )
        return self._lists(value, where, "()")

    def _read_generators(self, value: str, where: str) -> None:
        if self.generators or not NAMES.fullmatch(value):
            raise ConfigError(f"{where}: expected one list of names such as [M_R,M_L], found {quote(value)}")
        if value == "[]":
            raise ConfigError(f"{where}: the list of permutations is empty")
        for name in value[1:-1].split(","):
            if name not in self.cycles:
                raise ConfigError(f"{where}: {quote(name)} is not the name of a permutation")
            if name in self.generators:
                raise ConfigError(f"{where}: {quote(name)} is listed twice")
            self.generators.append(name)

    def _read_identical(self, value: str, where: str) -> None:
        if self.identical is not None or not SETS.fullmatch(value):
            raise ConfigError(f"{where}: expected one list of lists such as [[1],[2,3]], found {quote(value)}")
        self.identical = self._lists(value[1:-1], where, "[]")

    def _lists(self, value: str, where: str, brackets: str) -> list[list[int]]:
        """Return the points in each bracket; raise ConfigError if one is out of range or occurs twice."""
        lists = []
        seen: set[int] = set()
        for part in value.split(brackets[1])[:-1]:
            points = [self._point(number, where) for number in part.lstrip("," + brackets[0]).split(",") if number]
            for point in points:
                if point in seen:
                    raise ConfigError(f"{where}: expected each point once, found {point + 1} twice")
                seen.add(point)
            lists.append(points)
        return lists

    def _point(self, number: str, where: str) -> int:
        if len(number) > 9 or not 1 <= int(number) <= MAX_PLACES:
            raise ConfigError(f"{where}: expected points from 1 to {MAX_PLACES}, found {quote(number)}")
        self.degree = max(self.degree, int(number))
        return int(number) - 1


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each statement without comments, and the line in which it begins."""
    lines = re.split("\r\n|\r|\n", text.removeprefix("\ufeff"))
    begun, parts = 1, [""]
    for number, line in enumerate(lines, start=1):
        *ends, rest = line.partition("#")[0].split(";")
        for end in ends:
            if not "".join(parts).strip():
                begun = number
            yield begun, "\n".join((*parts, end))
            begun, parts = number, []
        if not any(part.strip() for part in parts):
            begun, parts = number, []
        parts.append(rest)
    if "".join(parts).strip():
        raise ConfigError(f"line {begun}: the last statement has no ; at its end: {quote(parts[0].strip())}")


def _names(found: Sequence[str]) -> dict[str, str]:
    """Return the names of the permutations without their prefix; unchanged if they would not be unique."""
    prefix = PREFIX * 2 if all(name.startswith(PREFIX * 2) and name != PREFIX * 2 for name in found) else PREFIX
    names = {name: name.removeprefix(prefix) or name for name in found}
    return names if len(set(names.values())) == len(names) else {name: name for name in found}


def _origins(cycles: Sequence[Sequence[int]], degree: int) -> list[int]:
    """Return the point from which each point gets its content."""
    origins = list(range(degree))
    for cycle in cycles:
        for point, following in zip(cycle, (*cycle[1:], *cycle[:1]), strict=True):
            origins[following] = point
    return origins


Origins = Mapping[str, Sequence[int]]
"""For each permutation, the point from which each point gets its content."""
Orbits = tuple[tuple[Orbit, ...], dict[str, Turn]]
"""The orbits, and the permutations as turns of them."""


def orbits_of(origins: Origins, identical: Sequence[Sequence[int]], degree: int) -> Orbits:
    """Return the orbits of the pieces that permutations of the points 0 to ``degree - 1`` move.

    ``identical`` lists sets of identical points, or of the first points of identical pieces.

    cubing.js numbers the ``m`` orientations of a piece as ``m`` consecutive points and lists the first of them, so a
    piece extends from a listed point to the point before the next listed point. If every permutation moves whole pieces
    and only rotates their points, the pieces that are exchanged form orbits with orientations. A piece has the
    orientation ``k`` if its first point is on point ``k`` of its place. Otherwise each set of points that are exchanged
    is an orbit without orientation, and points that are not listed are all different. Pieces that never move are left
    out.

    Raises ConfigError if no permutation moves a point, or more than `MAX_LABELS` different pieces of an orbit move.
    """
    return _pieces(origins, identical, degree) or _points(origins, identical, degree)


def _pieces(origins: Origins, identical: Sequence[Sequence[int]], degree: int) -> Orbits | None:
    """Return the orbits and turns if pieces are consecutive points that move together; None if they do not."""
    firsts = sorted(point for one in identical for point in one)
    if not firsts or firsts[0] != 0:
        return None
    lengths = [end - start for start, end in zip(firsts, (*firsts[1:], degree), strict=True)]
    if max(lengths) > MAX_LABELS:
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
    """Return whether a permutation maps whole pieces to pieces and rotates their points by their twists."""
    return all(
        lengths[permutation[piece]] == length
        and all(
            origin[firsts[piece] + k] == firsts[permutation[piece]] + (k - twist[piece]) % length for k in range(length)
        )
        for piece, length in enumerate(lengths)
    )


def _points(origins: Origins, identical: Sequence[Sequence[int]], degree: int) -> Orbits:
    """Return the orbits and turns if every piece is a single point."""
    zeros = dict.fromkeys(origins, [0] * degree)
    return _orbits(origins, zeros, [1] * degree, _labels(identical, range(degree)))


def _labels(identical: Sequence[Sequence[int]], firsts: Sequence[int]) -> list[int]:
    """Return a number for each piece; identical pieces have the same number."""
    label = {point: min(one) for one in identical for point in one}
    return [label.get(first, first) for first in firsts]


def _orbits(
    permutations: Origins, twists: Mapping[str, Sequence[int]], lengths: Sequence[int], labels: Sequence[int]
) -> Orbits:
    """Return the orbits of pieces that the permutations exchange or twist, in the order of their first pieces."""
    groups = [
        group
        for group in connected_points(list(permutations.values()), len(lengths))
        if len(group) > 1 or any(twist[group[0]] for twist in twists.values())
    ]
    if not groups:
        raise ConfigError("none of the permutations moves a point")
    orbits = []
    for number, group in enumerate(groups, start=1):
        label = {value: k for k, value in enumerate(sorted({labels[piece] for piece in group}))}
        if len(label) > MAX_LABELS:
            raise ConfigError(f"expected at most {MAX_LABELS} different pieces that change places, found {len(label)}")
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
