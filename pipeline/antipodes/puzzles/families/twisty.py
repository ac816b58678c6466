"""Twisty puzzles: orbits of pieces with orientations, as files of other programs define them."""

from collections.abc import Mapping
from itertools import chain
from math import prod
from typing import Any

from antipodes.puzzles.drawings.nets import net_of
from antipodes.puzzles.formats.definition import Definition, Orbit, Turn
from antipodes.puzzles.formats.metrics import METRICS, expand
from antipodes.puzzles.formats.readers import FORMATS
from antipodes.puzzles.notation import Lists, Notation
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import identity, refuse_unknown, text
from antipodes_tasks.arguments import GREATEST
from antipodes_tasks.errors import ConfigError
from antipodes_tasks.quoting import quote
from antipodes_tasks.rules.parts import Part, moduli_of, pieces, values
from antipodes_tasks.rules.transforms import Transforms

HALF = METRICS[0]
WASTE = 4
"""Contents per position up to which all contents are numbered, since a list of the positions takes longer."""
MOST_LISTED = 1 << 24
"""Positions that can be listed; see `antipodes_tasks.reachability.enumeration`."""


def twisty(settings: Mapping[str, Any]) -> Puzzle:
    """The puzzle of a ``definition`` in a ``format``: the text of a file, which a config names by ``file``.

    ``turns`` says which of them are moves: "half", "quarter" or "single"; see `expand`. A ``net`` draws
    positions, and its ``facelets`` say what its letters show; see `net_of`.

    Raises
    ------
    ConfigError
        A key is unknown, missing or out of range, or the definition is not one; the message says where.
    """
    refuse_unknown(settings, {"file", "definition", "format", "turns", "net", "facelets"})
    if "file" in settings:
        raise ConfigError("[puzzle] file: expected in a config that is a file, found in settings: give definition")
    kind = text(settings, "format")
    if kind not in FORMATS:
        raise ConfigError(f"[puzzle] format: expected one of {', '.join(FORMATS)}, found {quote(kind)}")
    definition = FORMATS[kind].read(text(settings, "definition"))
    return puzzle_of(definition, settings, FORMATS[kind].first_label)


def puzzle_of(definition: Definition, settings: Mapping[str, Any], first_label: int) -> Puzzle:
    """The puzzle of a definition, with the name and the ``turns`` of the settings."""
    moves = expand(definition.turns, text(settings, "turns", HALF), definition.others)
    others = {name: turn for name, turn in {**definition.turns, **definition.others}.items() if name not in moves}
    parts = list(chain.from_iterable(_parts(orbit, first_label) for orbit in definition.orbits))
    start = tuple(chain.from_iterable((*orbit.pieces, *_twists(orbit, orbit.twists)) for orbit in definition.orbits))
    return Puzzle.of(
        **identity(settings),
        family=settings["family"],
        notation=_notation(settings, parts, start),
        parts=tuple(parts),
        starts=(start,),
        moves=transforms(definition.orbits, moves, parts),
        sequence_moves=transforms(definition.orbits, others, parts) if others else None,
        enumerated=_is_mostly_impossible(definition.orbits, parts),
    )


def _is_mostly_impossible(orbits: tuple[Orbit, ...], parts: list[Part]) -> bool:
    """Whether few of the contents of the parts are positions, so few that these are better listed; see `orbit_from`."""
    if all(orbit.contents is None for orbit in orbits):
        return False
    numbered = prod(part.size for part in parts)
    possible = prod(
        prod(part.size for part in _parts(orbit, 0)) if orbit.contents is None else orbit.contents for orbit in orbits
    )
    return possible * WASTE < numbered and (possible <= MOST_LISTED or numbered > GREATEST)


def _notation(settings: Mapping[str, Any], parts: list[Part], start: tuple[int, ...]) -> Notation:
    """Lists, drawn as a net if the settings have one."""
    if "net" in settings or "facelets" in settings:
        return net_of(text(settings, "net"), text(settings, "facelets"), parts, start)
    return Lists(tuple(part.places for part in parts))


def transforms(orbits: tuple[Orbit, ...], moves: Mapping[str, Turn], parts: list[Part]) -> Transforms:
    """The turns as transforms of the places of all parts."""
    origin = [_origin(orbits, turn) for turn in moves.values()]
    added = [_added(orbits, turn) for turn in moves.values()]
    return Transforms(moves, origin, moduli_of(parts), added)


def _parts(orbit: Orbit, first_label: int) -> list[Part]:
    """The pieces of an orbit and, if it has any, their orientations."""
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
