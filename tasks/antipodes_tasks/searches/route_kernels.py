"""Machine code behind `antipodes_tasks.searches.routes`: combinations of routes, and the walk along one of them."""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel

Numbers = NDArray[np.int32]
Positions = NDArray[np.int64]


@kernel
def next_combinations(
    chosen: Numbers,
    level: int,
    budget: int,
    first: Numbers,
    compatible: NDArray[np.bool_],
    mirror: Numbers,
    found: Numbers,
) -> tuple[int, int, int]:
    """How many combinations the call has written to ``found`` ``(m, pieces)``, its last level, and the budget left.

    They go in lexicographic order; ``chosen`` and ``level`` are where the call before stopped. A call tries at most
    ``budget`` routes; there are no more combinations where the level is negative. Of two mirror images only the
    lexicographically first is found.
    """
    pieces = len(chosen)
    count = 0
    while level >= 0 and count < len(found) and budget > 0:
        budget -= 1
        chosen[level] += 1
        if chosen[level] == first[level + 1]:
            level -= 1
        elif fits(chosen, level, compatible):
            if level == pieces - 1:
                if not mirror_comes_first(chosen, first, mirror):
                    found[count] = chosen
                    count += 1
            else:
                level += 1
                chosen[level] = first[level] - 1
    return count, level, budget


@kernel
def fits(chosen: Numbers, level: int, compatible: NDArray[np.bool_]) -> bool:
    """Whether the route chosen last gets along with all before it."""
    return bool(compatible[chosen[:level], chosen[level]].all())


@kernel
def mirror_comes_first(chosen: Numbers, first: Numbers, mirror: Numbers) -> bool:
    """Whether the mirror image of a combination is lexicographically smaller."""
    image = np.empty_like(chosen)
    for piece in range(len(chosen)):
        route = mirror[chosen[piece]]
        image[np.searchsorted(first, route, side="right") - 1] = route
    for piece in range(len(chosen)):
        if image[piece] != chosen[piece]:
            return bool(image[piece] < chosen[piece])
    return False


@kernel
def next_exchange(
    combinations: Numbers,
    begin: int,
    squares: Numbers,
    lengths: Numbers,
    visited: Numbers,
    steps: Numbers,
    expanded: Positions,
) -> tuple[int, int]:
    """The end of the first combination from ``begin`` on whose pieces can all arrive, and the steps they take, or -1.

    ``squares`` ``(routes, limit + 1)`` and ``lengths`` are the routes. Piece ``p`` is written to ``steps`` as
    ``p + 1`` where it goes forward, as ``-(p + 1)`` where it steps back. ``visited`` begins with
    a 0 for each board; ``expanded`` counts the boards.
    """
    for i in range(begin, len(combinations)):
        chosen = combinations[i]
        count = walk(squares[chosen], lengths[chosen], visited, i + 1, steps, expanded)
        if count >= 0:
            return i + 1, count
    return len(combinations), -1


@kernel
def walk(squares: Numbers, lengths: Numbers, visited: Numbers, stamp: int, steps: Numbers, expanded: Positions) -> int:
    """The number of steps of the first path that a depth-first search finds, or -1; it stamps the boards it has seen.

    ``order`` lists the pieces that have not arrived, in front of those that have.
    """
    pieces, radix = squares.shape
    weight = radix ** np.arange(pieces)
    progress = np.zeros(pieces, np.int64)
    order = np.arange(pieces)
    occupied = np.zeros(squares.max() + 1, np.bool_)
    occupied[squares[:, 0]] = True
    slots = np.empty(len(steps), np.int64)
    unfinished, depth, slot = pieces, 0, 0
    visited[0] = stamp
    board = 0
    expanded[0] += 1
    direction = forward_if_possible(squares, progress, order[:unfinished], occupied)
    while unfinished:
        slot = next_slot(squares, progress, order[:unfinished], slot, direction, occupied)
        if slot < unfinished:
            piece = order[slot]
            neighbour = board + direction * weight[piece]
            if visited[neighbour] == stamp:
                slot += 1
                continue
            visited[neighbour] = stamp
            board = neighbour
            expanded[0] += 1
            step(squares[piece], progress, piece, direction, occupied)
            to_end(order[:unfinished], slot)
            unfinished -= progress[piece] == lengths[piece]
            steps[depth] = direction * (piece + 1)
            slots[depth] = slot
            depth, slot = depth + 1, 0
            direction = forward_if_possible(squares, progress, order[:unfinished], occupied)
        elif depth:
            depth -= 1
            piece = abs(steps[depth]) - 1
            direction = 1 if steps[depth] > 0 else -1
            unfinished += progress[piece] == lengths[piece]
            from_end(order[:unfinished], slots[depth])
            step(squares[piece], progress, piece, -direction, occupied)
            board -= direction * weight[piece]
            slot = slots[depth] + 1
        else:
            return -1
    return depth


@kernel
def forward_if_possible(squares: Numbers, progress: Positions, order: Positions, occupied: NDArray[np.bool_]) -> int:
    """1 where some piece can go forward, so that none steps back; otherwise -1."""
    return 1 if next_slot(squares, progress, order, 0, 1, occupied) < len(order) else -1


@kernel
def next_slot(
    squares: Numbers,
    progress: Positions,
    order: Positions,
    slot: int,
    direction: int,
    occupied: NDArray[np.bool_],
) -> int:
    """The first slot of ``order`` from a given one on whose piece can step in a direction, or its length.

    No piece steps back onto its start.
    """
    while slot < len(order):
        piece = order[slot]
        goal = progress[piece] + direction
        if goal > 0 and not occupied[squares[piece, goal]]:
            return slot
        slot += 1
    return slot


@kernel
def step(route: Numbers, progress: Positions, piece: int, direction: int, occupied: NDArray[np.bool_]) -> None:
    """Move one piece along its route."""
    occupied[route[progress[piece]]] = False
    progress[piece] += direction
    occupied[route[progress[piece]]] = True


@kernel
def to_end(order: Positions, slot: int) -> None:
    """Move the piece in a slot to the end of the list."""
    piece = order[slot]
    for later in range(slot, len(order) - 1):
        order[later] = order[later + 1]
    order[-1] = piece


@kernel
def from_end(order: Positions, slot: int) -> None:
    """Move the piece at the end of the list back into its slot."""
    piece = order[-1]
    for later in range(len(order) - 1, slot, -1):
        order[later] = order[later - 1]
    order[slot] = piece
