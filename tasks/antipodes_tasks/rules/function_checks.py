"""Checks of moves that a user wrote in Python: each must be deterministic, and each inverse must undo its move.

A search relies on the moves: inconsistent moves would cause wrong answers, or errors far from their cause.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import shorten
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import Part

if TYPE_CHECKING:
    from antipodes_tasks.rules.rules import Rules

ALONE = 40
"""Maximum number of sample positions that are also moved one at a time."""
NEAR = 200
"""Number of positions near the starts on which moves and symmetries are tried before a search. Symmetries are tried on
all starts, even if there are more."""


def check_functions(rules: "Rules", labels: Labels) -> None:
    """Try moves that are Python functions on positions near ``labels`` ``(n, places)``; other moves are not tried.

    The same moves are tried only once per process.

    Raises InputError, naming the move, if a move has two results for one position or its inverse does not undo it.
    """
    moves = rules.moves
    if not moves.are_functions or moves.identity in _tried:
        return
    sample = positions_near(moves, np.unique(labels, axis=0)[:NEAR], backwards=True)
    for number in range(len(moves)):
        for problem in problems_of_move(rules, number, sample):
            raise InputError(problem)
    _tried.add(moves.identity)


def check_path(rules: "Rules", path: Labels) -> None:
    """Raise InputError if Python moves that produced a path ``(length + 1, places)`` do not follow it when repeated."""
    if rules.moves.are_functions and None in (steps := rules.moves.moves_on_path(path)):
        raise contradiction(rules.parts, path[steps.index(None)])


def contradiction(parts: Sequence[Part], position: Labels) -> InputError:
    """Return the error for Python moves that, repeated, lead from a position ``(places,)`` to other positions."""
    return InputError(
        f"the moves of the definition contradict each other at {in_symbols(parts, position)}: "
        "repeated, they lead to other positions, or an inverse does not undo its move; "
        "find the cause with antipodes check"
    )


_tried = set[bytes]()
"""Identities of the moves that were found to be consistent."""


def positions_near(moves: Moves, labels: Labels, backwards: bool) -> Labels:
    """Return distinct positions: all given positions ``(n, places)`` and, up to NEAR in total, those nearest to them.

    ``backwards`` also applies the inverses of moves, so the positions may be unreachable from the given ones.
    """
    found = frontier = np.unique(labels, axis=0)
    reversible = [number for number in range(len(moves)) if backwards and moves.has_inverse(number)]
    while len(frontier) and len(found) < NEAR:
        results = [moves.move(number, frontier) for number in range(len(moves))]
        results += [moves.undone(number, frontier) for number in reversible]
        reached = np.concatenate([after[legal] for after, legal in results])
        seen = set(map(bytes, found))
        new = (position for position in np.unique(reached, axis=0) if bytes(position) not in seen)
        frontier = np.array(list(islice(new, NEAR - len(found))), dtype=np.uint8).reshape(-1, labels.shape[1])
        found = np.concatenate((found, frontier))
    return found


def name_of(moves: Moves, number: int) -> str:
    """Return the name of a move in quotes, or its number if it has no name."""
    return repr(moves.names[number]) if moves.names else f"number {number}"


def in_symbols(parts: Sequence[Part], labels: NDArray[np.integer[Any]]) -> str:
    """Return the symbol on each place as text, without the puzzle's notation, which may be wrong.

    A number that is not the label of a symbol is written as it is.
    """
    symbols = (part.symbols for part in parts for _ in range(part.places))
    written = zip(labels.tolist(), symbols, strict=True)
    return shorten(" ".join(own[label] if 0 <= label < len(own) else str(label) for label, own in written))


def problems_of_move(rules: "Rules", number: int, sample: Labels) -> Iterator[str]:
    """Yield one line for each problem of a move on positions ``(n, places)``."""
    moves, parts = rules.moves, rules.parts
    move = f"move {name_of(moves, number)}"
    after, legal = moves.move(number, sample)
    again = moves.move(number, sample)
    if (at := _first_difference((after, legal), again)) is not None:
        yield f"{move}: called twice, it gives different results for {in_symbols(parts, sample[at])}"
        return
    turned, turned_legal = moves.move(number, sample[::-1])
    alone = [moves.move(number, position[np.newaxis]) for position in sample[:ALONE]]
    one, one_legal = (np.concatenate(parts) for parts in zip(*alone, strict=True))
    for found, found_legal in ((turned[::-1], turned_legal[::-1]), (one, one_legal)):
        count = len(found)
        if (at := _first_difference((after[:count], legal[:count]), (found, found_legal))) is not None:
            one_result, other_result = (
                in_symbols(parts, result[at]) if allowed[at] else "no legal move"
                for result, allowed in ((after, legal), (found, found_legal))
            )
            yield (
                f"{move}: its result must not depend on the other positions of the array, but "
                f"it is {one_result} or {other_result} for {in_symbols(parts, sample[at])}"
            )
            return
    yield from _inverse_problems(rules, number, sample[legal], after[legal])


def _inverse_problems(rules: "Rules", number: int, before: Labels, after: Labels) -> Iterator[str]:
    moves, parts = rules.moves, rules.parts
    if not moves.has_inverse(number):
        return
    back, found = moves.undone(number, after)
    if (at := _first_difference((back, found), (before, np.ones_like(found)))) is not None:
        outcome = f"leads from there to {in_symbols(parts, back[at])}" if found[at] else "is illegal there"
        yield (
            f"move {name_of(moves, number)} leads from {in_symbols(parts, before[at])} "
            f"to {in_symbols(parts, after[at])}, "
            f"but its inverse {outcome}"
        )


def _first_difference(one: tuple[Labels, Mask], other: tuple[Labels, Mask]) -> int | None:
    """Return the index of the first position for which the two results of a move differ, or None."""
    differs = (one[1] != other[1]) | ((one[0] != other[0]).any(axis=1) & one[1])
    return int(differs.argmax()) if differs.any() else None
