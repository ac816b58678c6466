"""A group given by generators: permutations of places, named by the user."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from antipodes.puzzles.families.permutations import row_puzzle, row_starts
from antipodes.puzzles.formats.definition import METRICS, Turn, expand
from antipodes.puzzles.notation import Lists
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import refuse_unknown, required, text
from antipodes_tasks.errors import ConfigError
from antipodes_tasks.quoting import quote
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.values import SYMBOL

CYCLES = re.compile(r"\s*+(?:\((?:[\s,]*+\d{1,9}+)*+\s*+\)\s*+)*+")
CYCLE = re.compile(r"\(([^()]*)\)")


def generators(settings: Mapping[str, Any]) -> Puzzle:
    """Pieces in a row, those of the ``start``, or ``n`` different ones from 0, and the permutations ``moves``.

    A list ``p`` says what each place gets: ``after[i] = before[p[i]]``. In cycles, as in ``"(0 1 2)(3 4)"``, the piece
    on a place goes to the next place named. ``turns`` says which powers are moves, too; see `expand`. Sequences may
    have all names, also of moves that equal an earlier one.
    """
    refuse_unknown(settings, {"n", "start", "moves", "turns"})
    starts = row_starts(settings, 0)
    size = len(starts[0])
    given = required(settings, "moves")
    if not isinstance(given, Mapping) or not given:
        raise ConfigError(f"[puzzle] moves: expected a table of permutations by name, found {quote(given)}")
    turns = {name: _turn(name, value, size) for name, value in given.items()}
    moves = expand(turns, text(settings, "turns", METRICS[0]))
    others = {name: turn for name, turn in turns.items() if name not in moves}
    puzzle = row_puzzle(settings, starts, _permuting(moves, starts[0]), Lists((size,)))
    return replace(puzzle, sequence_moves=_permuting(others, starts[0])) if others else puzzle


def _permuting(turns: Mapping[str, Turn], start: list[str]) -> Transforms:
    return Transforms.permuting({name: turn.permutations[0] for name, turn in turns.items()}, len(set(start)))


def settings_of(puzzle: Puzzle) -> Mapping[str, Any] | None:
    """The settings from which `generators` makes the same puzzle; None if there are none, as of moves by functions."""
    moves, parts = puzzle.moves, puzzle.parts
    if not isinstance(moves, Transforms) or moves.allowed is not None or len(parts) > 1 or not parts[0].holds_pieces:
        return None
    settings = {
        "name": puzzle.name,
        "family": "generators",
        "description": puzzle.description,
        "start": [" ".join(parts[0].symbols[label] for label in start) for start in puzzle.starts],
        "moves": dict(zip(moves.names, moves.origin.tolist(), strict=True)),
        "turns": "single",
    }
    try:
        same = generators(settings)
    except ConfigError:
        return None
    alike = same.fingerprint == puzzle.fingerprint and all(
        (same.format(start), same.draw(start)) == (puzzle.format(start), puzzle.draw(start))
        for start in puzzle.start_labels
    )
    return settings if alike else None


def _turn(name: str, value: object, size: int) -> Turn:
    SYMBOL.check(name, "[puzzle] moves")
    if any(character.isspace() for character in name):
        raise ConfigError(f"[puzzle] moves: expected names without blanks, found {quote(name)}")
    return Turn((origin_of(name, value, size),), ((0,) * size,), (1,))


def origin_of(name: str, value: object, size: int, table: str = "moves") -> tuple[int, ...]:
    """The place from which each of ``size`` places gets its piece, by a move written as a list or in cycles.

    ConfigError if the value is neither; the message names the move, in the ``table`` that has it.
    """
    name = f"{table}.{name}"
    return _from_cycles(name, value, size) if isinstance(value, str) else _from_list(name, value, size)


def _from_list(name: str, value: object, size: int) -> tuple[int, ...]:
    numbers = value if isinstance(value, list) and all(type(number) is int for number in value) else None
    if numbers is None or sorted(numbers) != list(range(size)):
        raise ConfigError(
            f"[puzzle] {name}: expected each of 0 to {size - 1} once, or cycles such as '(0 1)', found {quote(value)}"
        )
    return tuple(numbers)


def _from_cycles(name: str, value: str, size: int) -> tuple[int, ...]:
    if not CYCLES.fullmatch(value):
        raise ConfigError(f"[puzzle] {name}: expected cycles such as '(0 1 2)(3 4)', found {quote(value)}")
    origin, seen = list(range(size)), set[int]()
    for cycle in CYCLE.findall(value):
        places = [int(place) for place in re.split(r"[\s,]+", cycle.strip()) if place]
        for place in places:
            if place >= size:
                raise ConfigError(f"[puzzle] {name}: expected places from 0 to {size - 1}, found {place}")
            if place in seen:
                raise ConfigError(f"[puzzle] {name}: expected each place at most once, found {place} twice")
            seen.add(place)
        for place, following in zip(places, places[1:] + places[:1], strict=True):
            origin[following] = place
    return tuple(origin)
