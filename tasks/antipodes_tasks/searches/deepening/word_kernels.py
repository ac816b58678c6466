"""Depth-first search down to a depth where single pieces move to empty places and a position fits into a word.

A move is an exclusive or, so no move is undone: pending positions are on a stack, and `walk_blank` keeps the next one
in registers. Its indices have no sign, so that none is tested for counting from the end.
"""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]
ZERO, ONE = np.uint64(0), np.uint64(1)
LEFT_BITS = np.uint64(16)
LEFT = np.uint64(0xFFFF)
"""The bits of a pending entry that say how many moves are left; the others name the blank's last step."""


@kernel
def walk_blank(
    words: Words,
    pending: Words,
    tally: Words,
    budget: int,
    goals: Words,
    first: Words,
    end_of: Words,
    following: Words,
    shift: Words,
    spread: Words,
    bits: int,
    path: Words,
    paths: Words,
    every: bool,
) -> bool:
    """Whether the search is over; otherwise it has expanded about ``budget`` positions and must be called again.

    ``words`` and ``pending`` are the stack. Steps of the blank are those of `BlankSteps`; ``path`` is the current
    path; the paths found are copied to ``paths`` while there is room. A goal counts at the greatest depth only.
    """
    greatest, farthest = np.uint64(len(path) - 1), np.uint64(end_of.shape[1] - 1)
    mask = (ONE << np.uint64(bits)) - ONE
    size, expanded, found, cut = tally
    stop = expanded + np.uint64(budget)
    while size > ZERO and expanded < stop and (every or found == ZERO):
        size -= ONE
        word, step = words[size], pending[size] >> LEFT_BITS
        left = pending[size] & LEFT
        while True:
            path[greatest - left] = step
            expanded += ONE
            i, end = first[step], end_of[step, min(left, farthest)]
            cut |= end ^ first[step + ONE]
            if left == ONE or i == end:
                break
            left -= ONE
            end -= ONE
            while i < end:
                step = following[i]
                words[size] = word ^ (((word >> shift[step]) & mask) * spread[step])
                pending[size] = step << LEFT_BITS | left
                size += ONE
                i += ONE
            step = following[end]
            word ^= ((word >> shift[step]) & mask) * spread[step]
        while i < end:
            path[greatest] = following[i]
            last = word ^ (((word >> shift[following[i]]) & mask) * spread[following[i]])
            i += ONE
            cut |= ONE
            for goal in goals:
                if goal == last and (every or found == ZERO):
                    if found < len(paths):
                        paths[found] = path
                    found += ONE
    tally[:] = size, expanded, found, cut
    return bool(size == ZERO or (found > ZERO and not every))


@kernel
def move_pieces(
    words: Words,
    pending: Numbers,
    tally: Numbers,
    budget: int,
    goals: Words,
    origin: Words,
    destination: Words,
    inverse: Numbers,
    added: Numbers,
    bits: int,
    path: Numbers,
    paths: Numbers,
    every: bool,
) -> bool:
    """As `walk_blank` for any number of empty places, and with a heuristic.

    ``pending`` ``(n, 3)`` has the move that led to each position on the stack, how many moves are left, and its
    heuristic. ``origin`` and ``destination`` ``(moves,)`` are shifts of a packed position; ``added``
    ``(moves, labels)`` is the change of the heuristic by a piece's move. The last number of the ``tally`` is the least
    total of a pruned branch.
    """
    greatest, moves = len(path) - 1, len(origin)
    mask = (ONE << np.uint64(bits)) - ONE
    size, expanded, found, following = tally
    stop = expanded + budget
    while size > 0 and expanded < stop and (every or found == 0):
        size -= 1
        word = words[size]
        last, left, value = pending[size]
        path[greatest - left] = last
        expanded += 1
        back = inverse[last]
        for move in range(moves):
            piece = (word >> origin[move]) & mask
            if piece == ZERO or (word >> destination[move]) & mask != ZERO or move == back:
                continue
            estimate = value + added[move, piece]
            total = greatest - left + 1 + estimate
            if total > greatest:
                following = min(following, total)
                continue
            after = word ^ piece << origin[move] ^ piece << destination[move]
            if left > 1:
                words[size] = after
                pending[size, 0], pending[size, 1], pending[size, 2] = move, left - 1, estimate
                size += 1
                continue
            following = min(following, greatest + 1)
            path[greatest] = move
            for goal in goals:
                if goal == after and (every or found == 0):
                    if found < len(paths):
                        paths[found] = path
                    found += 1
    tally[:] = size, expanded, found, following
    return bool(size == 0 or (found > 0 and not every))
