"""Puzzles of permutation groups, given by named generators: permutations of places."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.board import ShapedRow, check_shape
from antipodes.puzzles.families.permutations import row_puzzle, row_starts
from antipodes.puzzles.formats.definition import HALF, MAX_MOVES, Turn, expand, exponents, power_name
from antipodes.puzzles.notation import Lists
from antipodes.puzzles.pattern import Pattern
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import refuse_unknown, required, text
from antipodes_tasks.base.errors import ConfigError, InputError, PatternError, PositionError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.base.values import INTEGER, LIST, SYMBOL
from antipodes_tasks.rules.free_moves import FreeMoves
from antipodes_tasks.rules.larger_pieces import LargerPieces, piece_conditions
from antipodes_tasks.rules.parts import moduli_of
from antipodes_tasks.rules.transforms import MAX_MASKED, Transforms

CYCLES = re.compile(r"\s*+(?:\((?:[\s,]*+\d{1,9}+)*+\s*+\)\s*+)*+")
CYCLE = re.compile(r"\(([^()]*)\)")
Places = NDArray[np.int64]
Masks = NDArray[np.uint64]
EVERY = ~np.uint64(0)
MAX_NUMBERED = 1 << 24
"""Maximum number of arrangements that are numbered by a formula if moves have conditions.

With more arrangements, a search lists the positions, because perhaps only a small fraction is reachable."""


def generators(settings: Mapping[str, Any]) -> Puzzle:
    """Return the puzzle of a row of pieces (``start``, or ``n`` different pieces from 0) and permutations ``moves``.

    A permutation is a list ``p`` with ``after[i] = before[p[i]]``, or a text of cycles such as ``"(0 1 2)(3 4)"``, in
    which the piece on each place goes to the place named next. ``turns`` selects which powers are also moves; see
    `expand`. Sequences may use all names, including names of moves that equal an earlier move. ``conditions`` maps the
    name of a move to the pattern that positions must match for the move to be legal. ``pieces`` lists the places that
    each larger piece covers in the first start; a move is legal only if it moves all of them or none. ``free`` lists
    the permutations that, with all their powers, cost nothing.
    """
    refuse_unknown(settings, {"n", "start", "moves", "turns", "conditions", "pieces", "free", "shape"})
    starts = row_starts(settings, 0)
    size = len(starts[0])
    given = required(settings, "moves")
    if not isinstance(given, Mapping) or not given:
        raise ConfigError(f"[puzzle] moves: expected a table of named permutations, found {quote(given)}")
    turns = {name: _turn(name, value, size) for name, value in given.items()}
    metric = text(settings, "turns", HALF)
    moves = expand(turns, metric)
    others = {name: turn for name, turn in turns.items() if name not in moves}
    puzzle = row_puzzle(settings, starts, _permuting(moves, starts[0]), _notation(settings, size))
    free = _free_turns(settings, turns)
    if "conditions" in settings or "pieces" in settings:
        conditions, larger = _conditions(puzzle, turns, settings)
        free_first = {name: conditions[name] for name in (*free, *conditions)}
        return _conditional(puzzle, turns, metric, free_first, free, larger)
    powers = {power for name in free for power in expand({name: turns[name]}, HALF).values()}
    puzzle = _with_free(puzzle, [name for name, move in moves.items() if move in powers])
    return replace(puzzle, sequence_moves=_permuting(others, starts[0])) if others else puzzle


def _free_turns(settings: Mapping[str, Any], turns: Mapping[str, Turn]) -> list[str]:
    """Return the names of the turns that cost nothing."""
    free = settings.get("free", [])
    if not LIST.fits(free) or ("free" in settings and not free) or not all(isinstance(name, str) for name in free):
        raise ConfigError(f"[puzzle] free: expected a list of moves, found {quote(free)}")
    for name in free:
        if name not in turns:
            raise ConfigError(f"[puzzle] free: expected some of the moves {', '.join(turns)}, found {quote(name)}")
    return list(dict.fromkeys(free))


def _with_free(puzzle: Puzzle, names: Sequence[str]) -> Puzzle:
    """Return the puzzle in which the moves with these names cost nothing."""
    moves = Transforms.of(puzzle.moves)
    if not names or moves is None:
        return puzzle
    try:
        return replace(puzzle, rules=replace(puzzle.rules, moves=FreeMoves(moves, names), enumerated=False))
    except InputError as error:
        raise ConfigError(f"[puzzle] free: {error}") from None


def _notation(settings: Mapping[str, Any], size: int) -> Lists:
    """Return the notation: a row of pieces, drawn on a board if the key ``shape`` gives its rows and columns."""
    if "shape" not in settings:
        return Lists((size,))
    shape = settings["shape"]
    if not (LIST.fits(shape) and all(map(INTEGER.fits, shape))):
        raise ConfigError(f"shape: expected a list of rows and columns, such as [3, 4], found {quote(shape)}")
    check_shape(shape, size, ConfigError)
    rows, columns = shape
    return ShapedRow((size,), (rows, columns))


def _conditional(
    puzzle: Puzzle,
    turns: Mapping[str, Turn],
    metric: str,
    conditions: Mapping[str, Sequence[Masks]],
    free: Sequence[str],
    larger: LargerPieces | None,
) -> Puzzle:
    """Return the puzzle in which each turn is only legal in positions that meet one of its conditions.

    An inverse turn is legal in the positions that the turn can produce. A move consists of one or more turns in one
    direction, all of which must be legal; its name gives their number and direction. ``R3'`` is three inverse turns,
    even if one forward turn would produce the same position but is illegal. Moves with the same name exclude each
    other. The ``free`` turns must come first, so that none of them is left out because it equals a counted move.
    """
    moves, others, free_words = list[_ConditionalMove](), list[_ConditionalMove](), set[str]()
    for name, masks in conditions.items():
        for exponent in _exponents_both_ways(turns[name].order, metric):
            word = power_name(name, exponent, turns, [move.name for move in moves])
            powers = [_ConditionalMove.of(word, turns[name], one, exponent) for one in masks]
            free_words |= {word} if name in free else set()
            moves += [move for move in powers if not any(move.is_part_of(earlier) for earlier in moves)]
        others += [_ConditionalMove.of(name, turns[name], one, 1) for one in masks]
    if len(moves) > MAX_MOVES:
        raise ConfigError(f"[puzzle] pieces: expected at most {MAX_MOVES:,} cases of moves, found {len(moves):,}")
    large = puzzle.parts[0].size > MAX_NUMBERED
    rules = replace(
        puzzle.rules,
        moves=_transforms(puzzle, moves),
        enumerated=large,
        by_shape=larger is not None,
        larger=larger,
    )
    for number, start in enumerate(rules.start_labels, 1):
        try:
            rules.checked_one(start)
        except PositionError as error:
            raise ConfigError(f"[puzzle] pieces: start {number}: {error}") from None
    known = {move.name for move in moves}
    others = [move for move in others if move.name not in known]
    every = replace(puzzle, rules=rules, sequence_moves=_transforms(puzzle, others) if others else None)
    return _with_free(every, [move for move in rules.moves.names if move in free_words])


def _conditions(
    puzzle: Puzzle, turns: Mapping[str, Turn], settings: Mapping[str, Any]
) -> tuple[dict[str, list[Masks]], LargerPieces | None]:
    """Return, for each turn, masks ``(places,)`` of the labels on each place, one of which must allow a position.

    Also return the larger pieces.
    """
    if len(puzzle.symbols) > MAX_MASKED:
        key = "conditions" if "conditions" in settings else "pieces"
        raise ConfigError(
            f"[puzzle] {key}: expected at most {MAX_MASKED} different pieces, found {len(puzzle.symbols)}"
        )
    found = {name: [masks] for name, masks in _condition_masks(puzzle, turns, settings.get("conditions", {})).items()}
    if "pieces" not in settings:
        return found, None
    origins = {name: turn.permutations[0] for name, turn in turns.items()}
    try:
        whole, larger = piece_conditions(origins, puzzle.rules.start_labels, _pieces(settings["pieces"], puzzle.places))
    except InputError as error:
        raise ConfigError(f"[puzzle] pieces: {error}") from None
    return {name: [one & found[name][0] for one in masks] for name, masks in whole.items()}, larger


def _pieces(given: object, size: int) -> list[list[int]]:
    """Return the places of each piece; raise InputError unless they are different places of the puzzle."""
    if not isinstance(given, list) or not all(isinstance(piece, list) and len(piece) > 1 for piece in given):
        raise InputError(f"expected lists of two or more places, such as [[0, 1]], found {quote(given)}")
    seen = set[int]()
    for place in (place for piece in given for place in piece):
        if type(place) is not int or not 0 <= place < size:
            raise InputError(f"expected places from 0 to {size - 1}, found {quote(place)}")
        if place in seen:
            raise InputError(f"expected each place at most once, found {place} twice")
        seen.add(place)
    return given


def _condition_masks(puzzle: Puzzle, turns: Mapping[str, Turn], given: object) -> dict[str, Masks]:
    """Return, for each turn, the labels that its condition allows on each place; raise ConfigError if it is invalid."""
    if not isinstance(given, Mapping) or not all(isinstance(pattern, str) for pattern in given.values()):
        raise ConfigError(f"[puzzle] conditions: expected a table of patterns by move, found {quote(given)}")
    for name in given:
        if name not in turns:
            raise ConfigError(f"[puzzle] conditions: expected one of the moves {', '.join(turns)}, found {quote(name)}")
    everywhere = np.full(puzzle.places, EVERY)
    return {name: _masks(puzzle, name, given[name]) if name in given else everywhere for name in turns}


def _exponents_both_ways(order: int, metric: str) -> list[int]:
    """Return the exponents of a turn's moves; negative exponents are inverse turns.

    Three quarter turns forwards and one backwards produce the same position, but pass through different positions, so
    they are separate moves.
    """
    if metric == HALF:
        return [number for one in exponents(order, metric) for number in (one, one - order if one > 0 else one + order)]
    return exponents(order, metric)


@dataclass(frozen=True, eq=False)
class _ConditionalMove:
    """A power of a turn, and the positions in which it is legal."""

    name: str
    origin: Places
    """``(places,)``: the place from which each place gets its piece."""
    allowed: Masks
    """``(places,)``: bit mask of the labels that each place may hold before the move."""

    @classmethod
    def of(cls, name: str, turn: Turn, masks: Masks, exponent: int) -> "_ConditionalMove":
        return cls(name, np.array(turn.power(exponent).permutations[0]), _allowed(turn, masks, exponent))

    def is_part_of(self, other: "_ConditionalMove") -> bool:
        """Return whether the other move has the same effect and is legal whenever this move is legal."""
        return np.array_equal(self.origin, other.origin) and not (self.allowed & ~other.allowed).any()


def _transforms(puzzle: Puzzle, moves: Sequence[_ConditionalMove]) -> Transforms:
    origins = np.array([move.origin for move in moves])
    allowed = np.array([move.allowed for move in moves])
    return Transforms([move.name for move in moves], origins, moduli_of(puzzle.parts), allowed=allowed)


def _masks(puzzle: Puzzle, name: str, pattern: str) -> Masks:
    """Return ``(places,)``: a bit mask of the labels that a pattern allows on each place."""
    try:
        allowed = Pattern.parse(puzzle, pattern).allowed
    except PatternError as error:
        raise ConfigError(f"[puzzle] conditions.{name}: {error}") from None
    return np.array([sum(1 << label for label in labels) for labels in allowed], dtype=np.uint64)


def _allowed(turn: Turn, masks: Masks, exponent: int) -> Masks:
    """Return the labels that each place may hold before a power of a turn, given the condition of the turn."""
    allowed = np.full(len(masks), EVERY)
    for turns in range(abs(exponent)):
        allowed[list(turn.power(turns).permutations[0])] &= masks
    return allowed if exponent > 0 else allowed[list(turn.power(-exponent).permutations[0])]


def _permuting(turns: Mapping[str, Turn], start: list[str]) -> Transforms:
    return Transforms.permuting({name: turn.permutations[0] for name, turn in turns.items()}, len(set(start)))


MAX_WRITTEN = 1 << 18
"""Maximum total number of pieces in all starts for which `settings_of` returns settings: manifests contain them."""


def settings_of(puzzle: Puzzle) -> Mapping[str, Any] | None:
    """Return the settings from which `generators` makes the same puzzle; None if there are none.

    Moves given by functions, for example, have no settings.
    """
    moves, parts = Transforms.of(puzzle.moves), puzzle.parts
    if (
        moves is None
        or puzzle.moves.free_moves
        or moves.allowed is not None
        or len(parts) > 1
        or not parts[0].holds_pieces
    ):
        return None
    if len(puzzle.starts) * puzzle.places > MAX_WRITTEN:
        return None
    settings = {
        "name": puzzle.name,
        "family": "generators",
        "description": puzzle.description,
        "start": [" ".join(parts[0].symbols[label] for label in start) for start in puzzle.starts],
        "moves": dict(zip(moves.names, moves.origin.tolist(), strict=True)),
        "turns": "single",
    }
    if (shape := getattr(puzzle.notation, "shape", None)) is not None:
        settings["shape"] = list(shape)
    try:
        same = generators(settings)
    except ConfigError:
        return None
    is_same = same.fingerprint == puzzle.fingerprint and all(
        (same.format(start), same.draw(start)) == (puzzle.format(start), puzzle.draw(start))
        for start in puzzle.start_labels
    )
    return settings if is_same else None


def _turn(name: str, value: object, size: int) -> Turn:
    SYMBOL.check(name, "[puzzle] moves")
    if any(character.isspace() for character in name):
        raise ConfigError(f"[puzzle] moves: expected names without spaces, found {quote(name)}")
    return Turn((origin_of(name, value, size),), ((0,) * size,), (1,))


def origin_of(name: str, value: object, size: int, table: str = "moves") -> tuple[int, ...]:
    """Return the place from which each of ``size`` places gets its piece, for a move written as a list or in cycles.

    Raises ConfigError if the value is neither; the message names the move and the ``table`` that contains it.
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
