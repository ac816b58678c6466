"""Abstractions: maps of the positions of a puzzle to those of one with fewer pieces, or equal ones, move by move.

A map that takes the goal to the start, and each move to a move or to nothing, takes a path to the goal to a path that
is no longer. So the distances of the smaller puzzle are lower bounds of those of the larger one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import InputError
from antipodes_tasks.option_names import option
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.reachability.position_set import Numbers
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms

NO_MOVE = -1
"""Instead of the number of a move: nothing moves."""


@dataclass(frozen=True, eq=False)
class Abstraction:
    """A map of positions that is proved to lead moves to moves."""

    places: Numbers
    """``(places of the pattern,)``: the place of the puzzle that each shows."""
    label_of: NDArray[np.uint8]
    """``(places of the pattern, labels)``: the label that each label of the puzzle has there."""
    moves: Numbers
    """``(moves of the puzzle,)``: the move of the pattern that does what each does, or NO_MOVE."""

    def image(self, labels: Labels) -> Labels:
        """The positions ``(n, places of the pattern)`` of the pattern, from those of the puzzle ``(n, places)``."""
        image: Labels = self.label_of[np.arange(len(self.places)), labels[:, self.places]]
        return image


def abstraction_of(rules: Rules, goal: Labels, pattern: Rules) -> Abstraction:
    """The map of a puzzle to a pattern that takes a goal ``(places,)`` to the pattern's only start.

    Each part of the pattern shows the part of the puzzle with its name, or the next one like it. A label becomes what
    is at the pattern's start where that label is at the goal; values stay as they are, modulo those of the pattern.

    InputError where there is no such map, or it does not lead moves to moves.
    """
    moves = _transforms(rules), _transforms(pattern)
    if len(pattern.starts) != 1:
        raise InputError(f"{option('tables')}: expected one start in {pattern.name}, found {len(pattern.starts)}")
    if not moves[1].reversible:
        raise InputError(
            f"{option('tables')}: expected reversible moves in {pattern.name}: its table has distances to the start"
        )
    start = pattern.start_labels[0]
    most = max(len(part.symbols) for part in rules.parts)
    places = np.empty(pattern.places, dtype=np.int64)
    label_of = np.zeros((pattern.places, most), dtype=np.uint8)
    for at, own, of in _paired(rules, pattern):
        places[at] = np.arange(of.start, of.stop)
        label_of[at] = _labels(goal[of], start[at], pattern.parts[own], most, pattern.name)
    found = Abstraction(places, label_of, _moves_in(moves[0], moves[1], places, (rules.name, pattern.name)))
    if not np.array_equal(found.image(goal[np.newaxis])[0], start):
        raise InputError(
            f"{option('tables')}: expected the goal of {rules.name} at the start of {pattern.name}, found another"
        )
    return found


def _transforms(rules: Rules) -> Transforms:
    moves = rules.moves
    if not isinstance(moves, Transforms) or moves.allowed is not None:
        raise InputError(
            f"{option('tables')}: expected a sliding puzzle with one blank, or moves that are legal everywhere, "
            f"found {shorten(rules.name)}{_reason(rules)}"
        )
    return moves


def _reason(rules: Rules) -> str:
    """What moves that are not legal everywhere are, for messages."""
    moves = rules.moves
    if not isinstance(moves, Transforms):
        return ""
    moved = (moves.origin != np.arange(moves.places)).sum(axis=1)
    if rules.layout is not None and moved.max(initial=0) > 2:
        return ", whose moves take several tiles"
    return ", whose moves are not legal everywhere"


def _paired(rules: Rules, pattern: Rules) -> Iterator[tuple[slice, int, slice]]:
    """For each part of a pattern its places, its number, and the places of the part of the puzzle that it shows."""
    rest = dict(enumerate(rules.parts))
    for number, (own, at) in enumerate(zip(pattern.parts, pattern.ranges, strict=True)):
        alike = [k for k, part in rest.items() if _alike(own, part)]
        named = [k for k in alike if rest[k].name == own.name]
        if not alike:
            kind = "pieces" if own.holds_pieces else "values"
            where = f"{kind} on {own.places} places" + (f" of {quote(own.name)}" if own.name else "")
            raise InputError(
                f"{option('tables')}: expected parts of {rules.name} in {pattern.name}, found "
                f"{where}{_split(own, rules)}"
            )
        chosen = (named or alike)[0]
        del rest[chosen]
        yield at, number, rules.ranges[chosen]


def _split(own: Part, rules: Rules) -> str:
    """For messages: what a part of a pattern is that has several places for each piece of the puzzle's part."""
    sizes = [part.places for part in rules.parts if part.holds_pieces and part.name == own.name]
    if not (own.holds_pieces and sizes and own.places > sizes[0]):
        return ""
    return ": points, since only some of its pieces lost their orientation; drop that of all of them, or of none"


def _alike(own: Part, part: Part) -> bool:
    """Whether a part of a pattern can show a part of a puzzle."""
    same_kind = (own.places, own.holds_pieces) == (part.places, part.holds_pieces)
    return same_kind and (own.holds_pieces or len(part.symbols) % len(own.symbols) == 0)


def _labels(goal: Labels, start: Labels, part: Part, most: int, name: str) -> NDArray[np.uint8]:
    """What the labels become on each place of a part, ``(places, most)``."""
    if not part.holds_pieces:
        return np.tile((np.arange(most) % len(part.symbols)).astype(np.uint8), (part.places, 1))
    become = np.zeros(most, dtype=np.uint8)
    become[goal] = start
    if not np.array_equal(become[goal], start):
        raise InputError(f"{option('tables')}: expected equal pieces to stay equal in {name}, found pieces told apart")
    return np.tile(become, (part.places, 1))


def _moves_in(moves: Transforms, pattern: Transforms, places: Numbers, names: tuple[str, str]) -> Numbers:
    """The move of a pattern that does what each move of the puzzle does on these places."""
    here = np.full(moves.places, -1)
    here[places] = np.arange(len(places))
    origin = here[moves.origin[:, places]]
    added = moves.added[:, places].astype(np.int64) % pattern.moduli
    number = {_key(*one): k for k, one in reversed(list(enumerate(zip(pattern.origin, pattern.added, strict=True))))}
    number[_key(np.arange(len(places)), np.zeros(len(places)))] = NO_MOVE
    # the values of pieces have moduli that count their symbols, which are not added to
    found = [number.get(_key(*one)) for one in zip(origin, added, strict=True)]
    for k, one in enumerate(found):
        if one is None:
            move = quote(moves.names[k]) if moves.names else str(k)
            raise InputError(
                f"{option('tables')}: expected a move in {names[1]} that does what {move} of {names[0]} does"
            )
    return np.array(found, dtype=np.int64)


def _key(origin: NDArray[np.integer], added: NDArray[np.number]) -> bytes:
    return origin.astype("<i8").tobytes() + added.astype("<i8").tobytes()
