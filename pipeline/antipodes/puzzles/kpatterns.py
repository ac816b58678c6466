"""Positions in the JSON of cubing.js (``KPattern`` and ``KTransformation``).

    {"CORNERS": {"pieces": [...], "orientation": [...]}, "EDGES": {...}}
    {"CORNERS": {"permutation": [...], "orientationDelta": [...]}, "EDGES": {...}}

The second form is a transformation, which is applied to the solved position. Either form may be wrapped in an object
with the key ``patternData`` or ``transformationData``. Pieces, places and orientations are numbered from 0 in the order
of the puzzle's file (`formats.kpuzzle`), or in the order of cubing.js for bundled cubes. An orbit that is left out is
solved. An orbit that the puzzle does not have, such as centres, must have its pieces in order.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from antipodes.puzzles.settings import numbers_in
from antipodes_tasks.base.errors import PositionError
from antipodes_tasks.base.quoting import counted, quote, shorten
from antipodes_tasks.rules.parts import Part

WRAPPED = ("patternData", "transformationData")
PIECES, TWISTS, PERMUTATION, DELTA = "pieces", "orientation", "permutation", "orientationDelta"
IGNORED = "orientationMod"
CUBE = {
    "CORNERS": "UFR URB UBL ULF DRF DFL DLB DBR",
    "EDGES": "UF UR UB UL DF DR DB DL FR FL BR BL",
}
"""The pieces of cubes in the order of cubing.js. A piece is named by the faces of its facelets, counterclockwise from
the facelet with orientation 0."""
MAX_TWIST = 255
"""Maximum orientation in a file; orientations are reduced modulo the number of orientations."""
Pieces = Sequence[tuple[int, int]]
"""The piece on each place of an orbit and its orientation."""


def is_kpattern(text: str) -> bool:
    """Return whether a text looks like a position in JSON."""
    return text.lstrip().startswith("{")


def read_kpattern(text: str, parts: Sequence[Part], solved: Sequence[str]) -> dict[str, Pieces]:
    """Return the pieces of each orbit of a puzzle; ``solved`` contains the symbols of the solved position.

    Raises PositionError if the text is not valid JSON or does not follow the format.
    """
    found, given = dict[str, Pieces](), _orbits(text)
    at = 0
    for part, after in pairwise([*parts, None]):
        assert part is not None
        places = slice(at, at + part.places)
        at += part.places
        if not part.holds_pieces:
            continue
        if not part.name or part.name in found:
            raise PositionError("the orbits of this puzzle have no names, so a position cannot be given in JSON")
        twisted = after is not None and after.twists and after.name == part.name
        twists = [int(symbol) for symbol in solved[at : at + part.places]] if twisted else [0] * part.places
        start = [(part.labels[symbol], twist) for symbol, twist in zip(solved[places], twists, strict=True)]
        entry, orientations = given.pop(part.name, {}), len(after.symbols) if twisted and after is not None else 1
        found[part.name] = _pieces(entry, start, (len(part.symbols), orientations), part.name)
    for name, entry in given.items():
        _check_in_order(name, entry)
    return found


def written(found: Mapping[str, Pieces], parts: Sequence[Part]) -> list[str]:
    """Return the symbols on the places of all parts if the numbers of pieces are the labels of the puzzle."""
    return [part.symbols[piece if part.holds_pieces else twist] for part in parts for piece, twist in found[part.name]]


def cube_facelets(found: Mapping[str, Pieces]) -> dict[tuple[str, frozenset[str]], str]:
    """Return the face whose colour each facelet of a cube shows, by (face of the facelet, faces of its place)."""
    shown = {}
    for orbit, pieces in found.items():
        names = CUBE[orbit].split()
        for place, (piece, twist) in zip(names, pieces, strict=True):
            for number, face in enumerate(place):
                shown[face, frozenset(place)] = names[piece][(number + twist) % len(place)]
    return shown


def _orbits(text: str) -> dict[str, Any]:
    """Return the orbits in a text."""
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        raise PositionError(f"not valid JSON: there is an error at character {error.pos + 1}") from None
    except (RecursionError, ValueError):
        raise PositionError("the JSON is nested too deeply, or a number has too many digits") from None
    for key in WRAPPED:
        if isinstance(whole, dict) and key in whole:
            whole = whole[key]
    if not isinstance(whole, dict) or not all(isinstance(entry, dict) for entry in whole.values()):
        raise PositionError("expected a JSON object that contains an object for each orbit")
    return dict(whole)


def _pieces(entry: Mapping[str, Any], start: Pieces, kinds: tuple[int, int], name: str) -> Pieces:
    """Return the pieces of an orbit; ``kinds`` is the number of different pieces and the number of orientations."""
    unknown = [key for key in entry if key not in (PIECES, TWISTS, PERMUTATION, DELTA, IGNORED)]
    pattern, change = ([key for key in keys if key in entry] for keys in ((PIECES, TWISTS), (PERMUTATION, DELTA)))
    if unknown or (pattern and change):
        found = quote(shorten(unknown[0])) if unknown else f"{pattern[0]} and {change[0]}"
        raise PositionError(f"{name}: expected {PIECES} and {TWISTS}, or {PERMUTATION} and {DELTA}, found {found}")
    size, (labels, orientations) = len(start), kinds

    def numbers(key: str, default: list[int], maximum: int) -> list[int]:
        return numbers_in(entry.get(key, default), f"{name}.{key}", size, maximum, PositionError)

    if change:
        places = numbers(PERMUTATION, list(range(size)), size - 1)
        _check_counts(places, range(size), f"{name}.{PERMUTATION}")
        added = numbers(DELTA, [0] * size, MAX_TWIST)
        return [(start[at][0], (start[at][1] + add) % orientations) for at, add in zip(places, added, strict=True)]
    solved = [piece for piece, _ in start], [twist for _, twist in start]
    pieces = numbers(PIECES, solved[0], labels - 1)
    _check_counts(pieces, solved[0], f"{name}.{PIECES}")
    twists = numbers(TWISTS, solved[1], MAX_TWIST)
    return [(piece, twist % orientations) for piece, twist in zip(pieces, twists, strict=True)]


def _check_counts(numbers: Sequence[int], expected: Sequence[int], where: str) -> None:
    """Raise PositionError unless each number occurs as often as expected."""
    found, wanted = Counter(numbers), Counter(expected)
    for number, count in wanted.items():
        if found[number] != count:
            needed, given = counted(count, "time"), counted(found[number], "time")
            raise PositionError(f"{where}: the number {number} must occur {needed}, but occurs {given}")


def _check_in_order(name: str, entry: Mapping[str, Any]) -> None:
    """Raise PositionError unless an orbit that the puzzle does not have is solved."""
    value = entry.get(PIECES, entry.get(PERMUTATION, []))
    if not isinstance(value, list) or value != list(range(len(value))):
        raise PositionError(f"{shorten(name)}: the puzzle does not have this orbit, so its pieces must be in order")
