"""Positions of cubing.js, as its ``KPattern`` and ``KTransformation`` write them in JSON.

    {"CORNERS": {"pieces": [...], "orientation": [...]}, "EDGES": {...}}
    {"CORNERS": {"permutation": [...], "orientationDelta": [...]}, "EDGES": {...}}

The second one is applied to the solved position. Either may be in an object with ``patternData`` or
``transformationData``. Pieces, places and orientations count from 0, as in the file of a puzzle (`formats.kpuzzle`);
those of bundled cubes as in cubing.js. An orbit that is left out is solved; one that the puzzle does not have, such as
centres, must have its pieces in order.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from antipodes_tasks.errors import PositionError
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.rules.parts import Part

WRAPPED = ("patternData", "transformationData")
PIECES, TWISTS, PERMUTATION, DELTA = "pieces", "orientation", "permutation", "orientationDelta"
IGNORED = "orientationMod"
CUBE = {
    "CORNERS": "UFR URB UBL ULF DRF DFL DLB DBR",
    "EDGES": "UF UR UB UL DF DR DB DL FR FL BR BL",
}
"""The pieces of cubes in the order of cubing.js, by the faces of their facelets counterclockwise, the first of which
has orientation 0."""
Pieces = Sequence[tuple[int, int]]
"""The piece on each place of an orbit, and its orientation."""


def is_kpattern(text: str) -> bool:
    """Whether a text may be a position in JSON."""
    return text.lstrip().startswith("{")


def read_kpattern(text: str, parts: Sequence[Part], solved: Sequence[str]) -> dict[str, Pieces]:
    """The pieces of each orbit of a puzzle with such parts; ``solved`` are the symbols of the solved position.

    PositionError where the text is no JSON, or not as the format says.
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
            raise PositionError("expected a position of another form: the orbits of the puzzle have no names for JSON")
        twisted = after is not None and after.twists and after.name == part.name
        twists = [int(symbol) for symbol in solved[at : at + part.places]] if twisted else [0] * part.places
        start = [(part.labels[symbol], twist) for symbol, twist in zip(solved[places], twists, strict=True)]
        entry, orientations = given.pop(part.name, {}), len(after.symbols) if twisted and after is not None else 1
        found[part.name] = _pieces(entry, start, (len(part.symbols), orientations), part.name)
    for name, entry in given.items():
        _check_in_order(name, entry)
    return found


def written(found: Mapping[str, Pieces], parts: Sequence[Part]) -> list[str]:
    """The symbols on the places of all parts, of pieces that count as these do."""
    return [part.symbols[piece if part.holds_pieces else twist] for part in parts for piece, twist in found[part.name]]


def cube_facelets(found: Mapping[str, Pieces]) -> dict[tuple[str, frozenset[str]], str]:
    """The face whose colour each facelet of a cube shows; a facelet is its face, and the faces of its place."""
    shown = {}
    for orbit, pieces in found.items():
        names = CUBE[orbit].split()
        for place, (piece, twist) in zip(names, pieces, strict=True):
            for number, face in enumerate(place):
                shown[face, frozenset(place)] = names[piece][(number + twist) % len(place)]
    return shown


def _orbits(text: str) -> dict[str, Any]:
    """The orbits in a text."""
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        raise PositionError(f"expected JSON, found a mistake at character {error.pos + 1}") from None
    except (RecursionError, ValueError):
        raise PositionError("expected JSON of a few levels and numbers of few digits, found others") from None
    for key in WRAPPED:
        if isinstance(whole, dict) and key in whole:
            whole = whole[key]
    if not isinstance(whole, dict) or not all(isinstance(entry, dict) for entry in whole.values()):
        raise PositionError("expected an object in JSON with an object for each orbit, found something else")
    return dict(whole)


def _pieces(entry: Mapping[str, Any], start: Pieces, kinds: tuple[int, int], name: str) -> Pieces:
    """The pieces of an orbit; ``kinds`` are the numbers of pieces and of orientations."""
    unknown = [key for key in entry if key not in (PIECES, TWISTS, PERMUTATION, DELTA, IGNORED)]
    pattern, change = ([key for key in keys if key in entry] for keys in ((PIECES, TWISTS), (PERMUTATION, DELTA)))
    if unknown or (pattern and change):
        found = quote(shorten(unknown[0])) if unknown else f"{pattern[0]} and {change[0]}"
        raise PositionError(f"{name}: expected {PIECES} and {TWISTS}, or {PERMUTATION} and {DELTA}, found {found}")
    size, (labels, orientations) = len(start), kinds
    if change:
        places = _numbers(entry.get(PERMUTATION, list(range(size))), size, size, f"{name}.{PERMUTATION}")
        _check_counts(places, range(size), f"{name}.{PERMUTATION}")
        added = _numbers(entry.get(DELTA, [0] * size), size, 1 << 8, f"{name}.{DELTA}")
        return [(start[at][0], (start[at][1] + add) % orientations) for at, add in zip(places, added, strict=True)]
    solved = [piece for piece, _ in start], [twist for _, twist in start]
    pieces = _numbers(entry.get(PIECES, solved[0]), size, labels, f"{name}.{PIECES}")
    _check_counts(pieces, solved[0], f"{name}.{PIECES}")
    twists = _numbers(entry.get(TWISTS, solved[1]), size, 1 << 8, f"{name}.{TWISTS}")
    return [(piece, twist % orientations) for piece, twist in zip(pieces, twists, strict=True)]


def _check_counts(numbers: Sequence[int], expected: Sequence[int], where: str) -> None:
    """PositionError unless each number is there as often as expected."""
    found, wanted = Counter(numbers), Counter(expected)
    for number, count in wanted.items():
        if found[number] != count:
            raise PositionError(f"{where}: expected the number {number} {count} x, found it {found[number]} x")


def _numbers(value: object, size: int, end: int, where: str) -> list[int]:
    """A list of so many numbers from 0, all below an end."""
    if not isinstance(value, list) or len(value) != size:
        found = str(len(value)) if isinstance(value, list) else "something else"
        raise PositionError(f"{where}: expected a list of {size} numbers, found {found}")
    for number in value:
        if type(number) is not int or not 0 <= number < end:
            raise PositionError(f"{where}: expected numbers from 0 to {end - 1}, found {quote(shorten(str(number)))}")
    return value


def _check_in_order(name: str, entry: Mapping[str, Any]) -> None:
    """PositionError unless an orbit that the puzzle does not have is solved."""
    value = entry.get(PIECES, entry.get(PERMUTATION, []))
    if not isinstance(value, list) or value != list(range(len(value))):
        raise PositionError(f"{shorten(name)}: expected pieces in order, since the puzzle does not have them")
