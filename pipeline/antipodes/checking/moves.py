"""Checks of moves on some positions: the same result each time, alone or among others, and inverses that undo them."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.quoting import counted, shorten
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.moves import Labels, Mask
from antipodes_tasks.rules.swaps import Swaps

ALONE = 40
"""Positions that are moved one at a time."""
MOST_MOVES = 200
"""Moves that are tried, spread over all."""


def move_problems(puzzle: Puzzle, sample: Labels) -> Iterator[str]:
    """The problems of all moves on positions ``(n, places)``."""
    for number in tried_moves(puzzle):
        yield from _problems(puzzle, number, sample)
    yield from _ambiguous(puzzle, sample)


def move_notes(puzzle: Puzzle, sample: Labels) -> Iterator[str]:
    """What is worth knowing of the moves."""
    moves = puzzle.moves
    if isinstance(moves, Functions):
        unknown = [name for number, name in enumerate(moves.names) if not moves.has_inverse(number)]
        if unknown:
            yield f"no inverse is known of {shorten(', '.join(unknown))}: paths of a table take longer to find"
    if isinstance(moves, Swaps) and not moves.reversible:
        yield "some moves lead one way: depths count the moves from the start to a position, not back"
    legal: dict[str, bool] = {}
    for number in tried_moves(puzzle):
        name = name_of(puzzle, number)
        legal[name] = legal.get(name, False) or bool(moves.after(number, sample)[1].any())
    if never := [name for name, somewhere in legal.items() if not somewhere]:
        yield f"legal in none of {counted(len(sample), 'position')}: {shorten(', '.join(never))}"


def tried_moves(puzzle: Puzzle) -> list[int]:
    """The numbers of moves that are tried."""
    numbers: list[int] = np.unique(np.linspace(0, len(puzzle.moves) - 1, MOST_MOVES).astype(int)).tolist()
    return numbers


def name_of(puzzle: Puzzle, number: int) -> str:
    """The name of a move, or its number."""
    return repr(puzzle.moves.names[number]) if puzzle.moves.names else f"number {number}"


def listed(labels: NDArray[np.uint8]) -> str:
    """A position as its numbers: the text of one may be what is wrong."""
    return shorten(" ".join(map(str, labels.tolist())))


def _problems(puzzle: Puzzle, number: int, sample: Labels) -> Iterator[str]:
    moves, move = puzzle.moves, f"move {name_of(puzzle, number)}"
    after, legal = moves.after(number, sample)
    again = moves.after(number, sample)
    if (at := _first_difference((after, legal), again)) is not None:
        yield f"{move}: expected the same result each time, found two from {listed(sample[at])}"
        return
    turned, turned_legal = moves.after(number, sample[::-1])
    alone = [moves.after(number, position[np.newaxis]) for position in sample[:ALONE]]
    one, one_legal = (np.concatenate(parts) for parts in zip(*alone, strict=True))
    for found, found_legal in ((turned[::-1], turned_legal[::-1]), (one, one_legal)):
        count = len(found)
        if (at := _first_difference((after[:count], legal[:count]), (found, found_legal))) is not None:
            yield (
                f"{move}: expected a result that does not depend on the other positions of the array, "
                f"found {_result(after, legal, at)} and {_result(found, found_legal, at)} from {listed(sample[at])}"
            )
            return
    yield from _inverse_problems(puzzle, number, sample[legal], after[legal])


def _inverse_problems(puzzle: Puzzle, number: int, before: Labels, after: Labels) -> Iterator[str]:
    moves, move = puzzle.moves, f"move {name_of(puzzle, number)}"
    if isinstance(moves, Functions):
        if not moves.has_inverse(number):
            return
        back, found = moves.undone(number, after)
    else:
        back, found = moves.before(number, after)
    if (at := _first_difference((back, found), (before, np.ones_like(found)))) is not None:
        yield (
            f"{move}: expected an inverse that leads from {listed(after[at])} back to {listed(before[at])}, "
            f"found {_result(back, found, at)}"
        )


def _ambiguous(puzzle: Puzzle, sample: Labels) -> Iterator[str]:
    """Moves of one name that are legal together and lead to different positions."""
    names = puzzle.moves.names
    same: dict[str, list[int]] = {}
    for number in tried_moves(puzzle) if names else ():
        same.setdefault(names[number], []).append(number)
    for name, numbers in same.items():
        results = [puzzle.moves.after(number, sample) for number in numbers] if len(numbers) > 1 else []
        for (one, legal), (other, legal_too) in combinations(results, 2):
            both = np.flatnonzero(legal & legal_too & (one != other).any(axis=1))
            if len(both):
                yield f"move {name!r}: expected one result, found two from {listed(sample[both[0]])}"


def _first_difference(one: tuple[Labels, Mask], other: tuple[Labels, Mask]) -> int | None:
    """The place of the first position whose legality, or result where it is legal, differs."""
    differs = (one[1] != other[1]) | ((one[0] != other[0]).any(axis=1) & one[1])
    return int(differs.argmax()) if differs.any() else None


def _result(after: Labels, legal: Mask, at: int) -> str:
    return listed(after[at]) if legal[at] else "no legal move"
