"""Walks through the positions of a puzzle: those that a sequence of moves leads through, and the names along a path."""

from dataclasses import dataclass

import numpy as np

from antipodes.puzzles.formats.sequences import parse_sequence
from antipodes_tasks.errors import PositionError
from antipodes_tasks.quoting import quote
from antipodes_tasks.rules.moves import Labels, Moves

PRIME = "'"
LONGEST = 10_000
"""Moves of a sequence: powers and brackets write more of them in a few characters than anyone can follow."""


@dataclass(frozen=True, slots=True)
class Word:
    """Moves one after another, as sequences are made of; see `antipodes.puzzles.formats.sequences.Composable`."""

    steps: tuple[tuple[str, bool], ...]
    """The name of each move, and whether it is undone instead."""

    def then(self, other: "Word") -> "Word":
        """These moves, and after them the others."""
        _check_length(len(self.steps) + len(other.steps))
        return Word(self.steps + other.steps)

    def power(self, exponent: int) -> "Word":
        """These moves so many times; undone, from the last to the first, if the exponent is negative."""
        _check_length(len(self.steps) * abs(exponent))
        steps = self.steps if exponent >= 0 else tuple((name, not undone) for name, undone in reversed(self.steps))
        return Word(steps * abs(exponent))


def _check_length(moves: int) -> None:
    if moves > LONGEST:
        raise PositionError(f"expected a sequence of at most {LONGEST:,} moves, found {moves:,}")


def follow(text: str, kinds: tuple[Moves, ...], start: Labels) -> Labels:
    """The positions ``(length + 1, places)`` that a sequence leads through, from a start ``(places,)``.

    Names are looked up in each of the ``kinds`` of moves, the first that has one counts. A move may also be undone.

    Raises
    ------
    PositionError
        The text is no sequence of these names, is longer than LONGEST, or has a move that is not legal where it is.
    """
    numbers = _numbers(kinds)
    steps = parse_sequence(text, {name: Word(((name, False),)) for name in numbers}, PositionError).steps
    path = [start]
    for at, (name, undone) in enumerate(steps, start=1):
        moves, those = numbers[name]
        path.append(_moved(moves, those, undone, path[-1], f"{quote(name + PRIME * undone)} as move {at}"))
    return np.array(path, dtype=np.uint8)


def _numbers(kinds: tuple[Moves, ...]) -> dict[str, tuple[Moves, list[int]]]:
    """For each name the moves that have it, of the first kind that does, and their numbers."""
    found: dict[str, tuple[Moves, list[int]]] = {}
    for moves in kinds:
        for number, name in enumerate(moves.names):
            of, numbers = found.setdefault(name, (moves, []))
            if of is moves:
                numbers.append(number)
    return found


def _moved(moves: Moves, numbers: list[int], undone: bool, labels: Labels, found: str) -> Labels:
    """The position ``(places,)`` after the legal moves of some numbers, which all have one name.

    PositionError, which says what was ``found``, if none is legal; or if several are that come from different
    positions: a slide has the name of the square where it ends, and not of that where it began.
    """
    tried = [(moves.before if undone else moves.after)(number, labels[np.newaxis]) for number in numbers]
    ends = np.unique([changed[0] for changed, legal in tried if legal[0]] or labels[:0].reshape(0, 0), axis=0)
    if not len(ends):
        raise PositionError(f"expected legal moves, found {found}")
    if len(ends) > 1:
        raise PositionError(f"expected moves that are undone in one way, found {found}, with {len(ends)} ways back")
    position: Labels = ends[0]
    return position


def names_along(moves: Moves, path: Labels) -> list[str | None]:
    """The name of the move from each position of a path ``(length + 1, places)`` to the next; None where none leads."""
    return [None if number is None else moves.names[number] for number in moves.along(path)]
