"""Puzzle files of cubing.js (KPuzzle, ``.json``).

    {
      "name": ...,
      "orbits": [{"orbitName": NAME, "numPieces": n, "numOrientations": m}],
      "defaultPattern": {ORBIT: {"pieces": [...], "orientation": [...], "orientationMod": [...]}},
      "moves": {MOVE: {ORBIT: {"permutation": [...], "orientationDelta": [...]}}},
      "derivedMoves": {MOVE: SEQUENCE}
    }

All numbers begin at 0, and orientations belong to places, as in `Turn`. ``orientationMod`` is the divisor of
``numOrientations`` modulo which the orientation of a piece is visible; 0, the default, means the whole orientation. An
orbit that a move leaves out is unchanged. A derived move is a sequence of other moves (`antipodes.puzzles.sequences`).

The keys of earlier versions are also read: ``orbits`` as a table of names, ``startStateData`` or ``startState`` for
``defaultPattern``, ``orientation`` or ``orientation_delta`` for ``orientationDelta``, and
``experimentalDerivedMoves``. The source is the type ``KPuzzleDefinition`` of cubing.js.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from antipodes.puzzles.formats.definition import (
    MAX_LABELS,
    Orbit,
    Turn,
    TwistyDefinition,
    check_length,
    check_new,
    check_permutation,
    check_size,
    is_rotation,
    orbit_from,
    turn_of,
)
from antipodes.puzzles.sequences import resolve
from antipodes.puzzles.settings import MAX_PLACES, numbers_in
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.base.values import TABLE, TEXT, integer

ORBITS, MOVES = ("orbits",), ("moves",)
PATTERN = ("defaultPattern", "startStateData", "startState")
DERIVED = ("derivedMoves", "experimentalDerivedMoves")
COMMENTS = ("$schema", "name", "description", "experimentalPuzzleDescription")
SIZE, ORIENTATIONS = ("numPieces",), ("numOrientations", "orientations")
PIECES, TWISTS, VISIBLE = ("pieces", "permutation"), ("orientation",), ("orientationMod",)
PERMUTATION, DELTA = ("permutation",), ("orientationDelta", "orientation", "orientation_delta")

Table = Mapping[str, Any]
Sizes = Mapping[str, tuple[int, int]]
"""The number of pieces and of orientations of each orbit."""


def read_kpuzzle(text: str) -> TwistyDefinition:
    """Return the puzzle that a KPuzzle file defines.

    Raises ConfigError if the file is not valid JSON or violates the format; the message begins with the line or the
    keys.
    """
    check_length(text)
    whole = TABLE.check(_parsed(text), "the file")
    _refuse_unknown(whole, "", (*COMMENTS, *ORBITS, *PATTERN, *MOVES, *DERIVED))
    name = TEXT.check(whole.get("name", ""), "name")
    sizes = _sizes(*_value(whole, ORBITS, ""))
    orbits = _orbits(sizes, *_value(whole, PATTERN, ""))
    turns = _moves(sizes, orbits, *_value(whole, MOVES, ""))
    every = turns | _derived(turns, *_value(whole, DERIVED, "", default={}))
    others = {name: turn for name, turn in every.items() if is_rotation(name)}
    if len(others) == len(every):
        raise ConfigError("moves: all moves are rotations of the whole puzzle; at least one other move is needed")
    return TwistyDefinition(name, tuple(orbits.values()), {k: v for k, v in every.items() if k not in others}, others)


def _parsed(text: str) -> object:
    """Return the value of a JSON text; raise ConfigError if it is invalid or repeats a key of a table."""
    try:
        return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_unique_keys)
    except json.JSONDecodeError as error:
        at = quote(shorten(error.doc[error.pos :], 20)) if error.pos < len(error.doc) else "end"
        raise ConfigError(f"line {error.lineno}: not valid JSON: unexpected {at} at column {error.colno}") from None
    except RecursionError:
        raise ConfigError("the JSON is nested too deeply") from None
    except ConfigError:
        raise
    except ValueError:  # an integer of thousands of digits
        raise ConfigError("a number in the JSON has thousands of digits") from None


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ConfigError(f"{_word(twice)}: the key occurs twice in one table")
    return table


def _sizes(value: object, path: str) -> dict[str, tuple[int, int]]:
    """Return the number of pieces and of orientations of each orbit."""
    if isinstance(value, list):
        entries = [
            (TABLE.check(entry, f"{path}[{k}]"), f"{path}[{k}]") for k, entry in enumerate(value[: MAX_PLACES + 1])
        ]
        named = [(*_value(entry, ("orbitName",), where), entry, where) for entry, where in entries]
        extra: tuple[str, ...] = ("orbitName",)
    else:
        table = TABLE.check(value, path)
        paths = {name: _key_path(path, name) for name in table}
        named = [(name, paths[name], TABLE.check(entry, paths[name]), paths[name]) for name, entry in table.items()]
        extra = ()
    sizes: dict[str, tuple[int, int]] = {}
    for name, where_name, entry, where in named:
        check_new(TEXT.check(name, where_name), sizes, where_name)
        _refuse_unknown(entry, where, (*extra, *SIZE, *ORIENTATIONS))
        sizes[name] = (
            integer(1, MAX_PLACES).check(*_value(entry, SIZE, where)),
            integer(1, MAX_LABELS).check(*_value(entry, ORIENTATIONS, where)),
        )
    check_size([size for size, _ in sizes.values()], path)
    if not sizes:
        raise ConfigError(f"{path}: there are no orbits; at least one is needed")
    return sizes


def _orbits(sizes: Sizes, value: object, path: str) -> dict[str, Orbit]:
    """Return the orbits in the solved position; in an orbit that it leaves out, all pieces are different."""
    pattern = TABLE.check(value, path)
    _refuse_unknown(pattern, path, sizes)
    orbits = {}
    for name, (size, orientations) in sizes.items():
        where = _key_path(path, name)
        entry = TABLE.check(pattern.get(name, {}), where)
        _refuse_unknown(entry, where, (*PIECES, *TWISTS, *VISIBLE))
        pieces = numbers_in(*_value(entry, PIECES, where, default=list(range(size))), size, MAX_PLACES)
        twists = numbers_in(*_value(entry, TWISTS, where, default=[0] * size), size, orientations - 1)
        value, where_shown = _value(entry, VISIBLE, where, default=[0] * size)
        shown = [one or orientations for one in numbers_in(value, where_shown, size, orientations)]
        for divisor in shown:
            if orientations % divisor:
                raise ConfigError(f"{where_shown}: expected 0 or divisors of {orientations}, found {divisor}")
        orbits[name] = orbit_from(name, pieces, twists, orientations, shown, where)
    check_size([len(orbit.pieces) for orbit in orbits.values()], path)
    return orbits


def _moves(sizes: Sizes, orbits: Mapping[str, Orbit], value: object, path: str) -> dict[str, Turn]:
    """Return the moves that are given as transformations."""
    turns: dict[str, Turn] = {}
    for name, move in TABLE.check(value, path).items():
        where = _key_path(path, name)
        check_new(name, turns, where)
        table = TABLE.check(move, where)
        _refuse_unknown(table, where, sizes)
        pairs = []
        for orbit_name, (size, orientations) in sizes.items():
            path_of = _key_path(where, orbit_name)
            entry = TABLE.check(table.get(orbit_name, {}), path_of)
            _refuse_unknown(entry, path_of, (*PERMUTATION, *DELTA))
            value, where_permutation = _value(entry, PERMUTATION, path_of, default=list(range(size)))
            permutation = numbers_in(value, where_permutation, size, size - 1)
            check_permutation(permutation, where_permutation, 0)
            twist = numbers_in(*_value(entry, DELTA, path_of, default=[0] * size), size, orientations - 1)
            pairs.append(turn_of(orbits[orbit_name], permutation, twist))
        permutations, twists = zip(*pairs, strict=True)
        turns[name] = Turn(permutations, twists, tuple(orbit.orientations for orbit in orbits.values()))
    if not turns:
        raise ConfigError(f"{path}: there are no moves; at least one is needed")
    return turns


def _derived(turns: Mapping[str, Turn], value: object, path: str) -> dict[str, Turn]:
    """Return the moves that are given as sequences of other moves."""
    texts: dict[str, str] = {}
    for name, text in TABLE.check(value, path).items():
        check_new(name, {*turns, *texts}, _key_path(path, name))
        if not isinstance(text, str):
            raise ConfigError(f"{_key_path(path, name)}: expected a sequence of moves, found {quote(text)}")
        texts[name] = text
    return resolve(texts, turns, lambda name: _key_path(path, name)) if texts else {}


def _value(table: Table, keys: tuple[str, ...], path: str, *, default: object = None) -> tuple[Any, str]:
    """Return the value and the path of the key in the table; ``keys`` are the names that the key may have.

    If the table has none of these keys, return the default. Raises ConfigError if there is no default, or if the table
    has two of the keys.
    """
    present = [key for key in keys if key in table]
    if len(present) > 1:
        raise ConfigError(f"{_key_path(path, present[1])}: {present[0]} and {present[1]} cannot both be given")
    if not present and default is None:
        raise ConfigError(f"{_key_path(path, keys[0])}: this key is missing")
    key = present[0] if present else keys[0]
    return table.get(key, default), _key_path(path, key)


def _refuse_unknown(table: Table, path: str, known: Iterable[str]) -> None:
    """Raise ConfigError for the first unknown key, because the file might mean something that is not supported."""
    expected = list(known)
    for key in table:
        if key not in expected:
            raise ConfigError(
                f"{_key_path(path, key)}: this key is not supported; expected {shorten(', '.join(expected), 160)}"
            )


def _key_path(path: str, key: str) -> str:
    """Return the path of a key."""
    return f"{path}.{_word(key)}" if path else _word(key)


def _word(key: str) -> str:
    """Return a key for a path, quoted unless it is a short identifier."""
    return key if key.isidentifier() and len(key) <= 32 else shorten(quote(key), 40)
