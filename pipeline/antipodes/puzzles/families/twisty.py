"""Twisty puzzles: orbits of pieces with orientations, read from the file formats of other programs."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.formats.definition import HALF, Orbit, Turn, TwistyDefinition, drop_orbits, expand, with_moves
from antipodes.puzzles.formats.gap import read_gap
from antipodes.puzzles.formats.kpuzzle import read_kpuzzle
from antipodes.puzzles.formats.tws import read_tws
from antipodes.puzzles.net import Net, net_of
from antipodes.puzzles.notation import Lists, Notation
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import identity, refuse_unknown, text
from antipodes_tasks.base.arguments import MAX_INT64
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.rules.parts import Part, moduli_of, pieces, values
from antipodes_tasks.rules.transforms import Transforms

FORMATS: Mapping[str, tuple[Callable[[str], TwistyDefinition], int]] = {
    "tws": (read_tws, 1),
    "kpuzzle": (read_kpuzzle, 0),
    "gap": (read_gap, 1),
}
"""For each format, the function that reads a file (its ConfigError names the place of the error) and the number from
which the format counts pieces."""
WASTE = 4
"""Maximum ratio of arrangements to possible positions at which all arrangements are numbered, because listing the
positions takes longer."""
PICTURE = ("net", "facelets", "faces")
"""The keys that determine how positions are drawn."""
MAX_LISTED = 1 << 24
"""Maximum number of positions that are listed by a search, which takes a few seconds."""


def twisty(settings: Mapping[str, Any]) -> Puzzle:
    """Return the puzzle that the text ``definition`` describes in a ``format``; configs name its ``file`` instead.

    ``turns`` selects the moves among the powers of turns: "half", "quarter" or "single"; see `expand`. With
    ``only_moves``, only these turns are moves. The sets in ``omit`` are left out. Positions are drawn on a ``net``.
    ``facelets`` lists the facelet that each letter of the net shows, and ``faces`` lists the faces in the order of
    other programs; see `net_of`.

    Raises ConfigError if a key is unknown, missing or out of range, or if the definition is invalid; the message names
    the place of the error.
    """
    refuse_unknown(settings, {"file", "definition", "format", "turns", "only_moves", "omit", *PICTURE})
    if "file" in settings:
        raise ConfigError("[puzzle] file: only possible in a config file; settings need the text as 'definition'")
    kind = text(settings, "format")
    if kind not in FORMATS:
        raise ConfigError(f"[puzzle] format: expected one of {', '.join(FORMATS)}, found {quote(kind)}")
    read, first_label = FORMATS[kind]
    definition = read(text(settings, "definition"))
    if "only_moves" in settings:
        definition = with_moves(definition, text(settings, "only_moves"))
    if "omit" in settings:
        definition = drop_orbits(definition, text(settings, "omit").split())
    return puzzle_defined_by(definition, settings, first_label)


def puzzle_defined_by(definition: TwistyDefinition, settings: Mapping[str, Any], first_label: int) -> Puzzle:
    """Return the puzzle of a definition, with the name, ``turns`` and picture of the settings."""
    moves = expand(definition.turns, text(settings, "turns", HALF), definition.others)
    others = {name: turn for name, turn in {**definition.turns, **definition.others}.items() if name not in moves}
    parts = list(chain.from_iterable(_parts(orbit, first_label) for orbit in definition.orbits))
    start = tuple(chain.from_iterable((*orbit.pieces, *_twists(orbit, orbit.twists)) for orbit in definition.orbits))
    notation: Notation = Lists(tuple(part.places for part in parts))
    if any(key in settings for key in PICTURE):
        shown = (text(settings, "net"), text(settings, "facelets"))
        notation = net_of(*shown, parts, start, text(settings, "faces", ""))
    puzzle = Puzzle.of(
        **identity(settings),
        family=settings["family"],
        notation=notation,
        parts=tuple(parts),
        starts=(start,),
        moves=transforms(definition, moves, parts),
        sequence_moves=transforms(definition, others, parts) if others else None,
        enumerated=_is_mostly_impossible(definition.orbits, parts) or _is_bandaged(definition),
    )
    if isinstance(notation, Net):
        return replace(puzzle, notation=replace(notation, rules=puzzle.rules))
    return puzzle


def _is_mostly_impossible(orbits: tuple[Orbit, ...], parts: list[Part]) -> bool:
    """Return whether so few arrangements can be positions that the positions should be listed; see `orbit_from`."""
    if all(orbit.contents is None for orbit in orbits):
        return False
    numbered = prod(part.size for part in parts)
    possible = prod(
        prod(part.size for part in _parts(orbit, 0)) if orbit.contents is None else orbit.contents for orbit in orbits
    )
    return possible * WASTE < numbered and (possible <= MAX_LISTED or numbered > MAX_INT64)


def _is_bandaged(definition: TwistyDefinition) -> bool:
    """Return whether pieces are illegal on places of orbits that are too large for move tables.

    In this case, probably only a small fraction of the arrangements is reachable.
    """
    pieces = prod(_parts(definition.orbits[number], 0)[0].size for number in {orbit for orbit, _ in definition.illegal})
    return pieces > MAX_LISTED


def transforms(definition: TwistyDefinition, moves: Mapping[str, Turn], parts: list[Part]) -> Transforms:
    """Return the turns as transforms of all places; a turn is legal if no illegal piece occurs before or after it."""
    origin = np.array([_origin(definition.orbits, turn) for turn in moves.values()])
    added = [_added(definition.orbits, turn) for turn in moves.values()]
    allowed = None
    if definition.illegal:
        before = _legal_labels(definition, parts)
        after = np.empty_like(origin, dtype=np.uint64)
        np.put_along_axis(after, origin, np.tile(before, (len(origin), 1)), axis=1)
        allowed = before & after
    return Transforms(moves, origin, moduli_of(parts), added, allowed)


def _legal_labels(definition: TwistyDefinition, parts: list[Part]) -> NDArray[np.uint64]:
    """Return a bit mask of the labels that each place may have."""
    every = np.full(sum(part.places for part in parts), ~np.uint64(0))
    firsts, first = [], 0
    for orbit in definition.orbits:
        firsts.append(first)
        first += sum(part.places for part in _parts(orbit, 0))
    for (number, place), labels in definition.illegal.items():
        for label in labels:
            every[firsts[number] + place] &= ~(np.uint64(1) << np.uint64(label))
    return every


def _parts(orbit: Orbit, first_label: int) -> list[Part]:
    """Return the part of an orbit's pieces and, if they have orientations, the part of their orientations."""
    places = len(orbit.pieces)
    symbols = tuple(str(label + first_label) for label in range(max(orbit.pieces) + 1))
    parts = [pieces(orbit.pieces, symbols, orbit.name)]
    return [*parts, values(places, orbit.orientations, True, orbit.name)] if orbit.orientations > 1 else parts


def _twists(orbit: Orbit, twists: tuple[int, ...]) -> tuple[int, ...]:
    return twists if orbit.orientations > 1 else ()


def _origin(orbits: tuple[Orbit, ...], turn: Turn) -> list[int]:
    origin: list[int] = []
    for orbit, permutation in zip(orbits, turn.permutations, strict=True):
        for _ in range(2 if orbit.orientations > 1 else 1):
            first = len(origin)
            origin += [first + place for place in permutation]
    return origin


def _added(orbits: tuple[Orbit, ...], turn: Turn) -> list[int]:
    added: list[int] = []
    for orbit, twist in zip(orbits, turn.twists, strict=True):
        added += [0] * len(orbit.pieces) + [*_twists(orbit, twist)]
    return added
