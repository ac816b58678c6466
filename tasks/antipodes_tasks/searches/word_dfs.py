"""Depth-first search without a heuristic, by transforms, on positions packed into words.

The kernel writes the successors of one position after another, as `keys.kernels.expand_rows` does for many. A common
inner function for one position would take 1.7 times as long for keys, and two to six times as long here.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from antipodes_tasks.base.array_types import Mask, Numbers, Words
from antipodes_tasks.base.jit import kernel, trailing_zeros
from antipodes_tasks.keys.compiled_moves import CompiledMoves
from antipodes_tasks.keys.kernels import OTHERS
from antipodes_tasks.keys.steps import CompiledSteps
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.searches.depth_first import (
    DEPTH,
    EXPANDED,
    FAR,
    FOUND,
    NEXT_BOUND,
    Descent,
    replayed,
    room_for_paths,
)
from antipodes_tasks.searches.move_sequences import MAX_PAIRED, redundant_pairs
from antipodes_tasks.searches.problem import Problem, Request

ZERO, ONE, SIX = np.uint64(0), np.uint64(1), np.uint64(6)
WAITING = DEPTH
"""Index, in the tally of a search by words, of the number of positions that wait to be expanded."""
LEFT_BITS = np.uint64(32)
LEFT = (ONE << LEFT_BITS) - ONE
"""The bits of a pending entry that hold the number of moves left; the other bits hold the last move."""
FIRST_ROOM = 1 << 10
"""Number of positions for which a search by words has room at first; the room grows when it is needed."""


class _WordStack(NamedTuple):
    """Positions that wait to be expanded, the next one last, and the path to the position that is expanded."""

    words: Words
    """``(room, words)``: the packed positions."""
    pending: Words
    """``(room,)``: the last move of each position, and the number of moves left; see `LEFT`."""
    taken: Words
    """``(depth,)``: the moves from the root to the last expanded position."""
    tally: Numbers
    """``[WAITING, EXPANDED, FOUND, NEXT_BOUND]``; NEXT_BOUND is the next depth if a path of this depth exists."""
    after: Words
    """``(moves, words)``: scratch memory for the successors of a position."""
    made: Words
    """``(moves,)``: scratch memory for the moves that lead to these successors."""
    kept: Words
    """``(moves,)``: scratch memory for the indices of the successors that may be on a shortest path."""

    def with_room(self, more: int) -> "_WordStack":
        """Return the stack with room for ``more`` positions than are waiting."""
        if self.tally[WAITING] + more <= len(self.pending):
            return self
        room = len(self.pending) + more
        return self._replace(
            words=np.concatenate((self.words, np.empty((room, self.words.shape[1]), dtype=np.uint64))),
            pending=np.concatenate((self.pending, np.empty(room, dtype=np.uint64))),
        )


class _Follow(NamedTuple):
    """Which moves may be skipped after a move, by the numbers of moves in the rules."""

    inverse: Words
    """``(moves,)``: the inverse of each move, or NOTHING."""
    redundant: Mask
    """``(moves, moves)``: whether two moves in a row have the effect of a single move, or no effect. Empty if this is
    unknown."""
    ambiguous: bool
    """Whether two moves can lead from one position to the same successor."""


def descent_by_words(depth: int, problem: Problem, steps: CompiledSteps, request: Request) -> Descent:
    """Return the search for paths of ``depth`` moves, by compiled transforms and without a heuristic.

    The rules must state transforms: swaps are numbered differently (see `depth_first`).
    """
    packing, moves = problem.packing, transforms_of(problem.rules)
    follow = _Follow(moves.inverse.astype(np.uint64), redundant_pairs(moves), _ambiguous(moves, problem.rules.parts))
    most, goals = len(steps.compiled.number), packing.pack(problem.goals)
    stack = _WordStack(
        words=packing.pack(problem.position[np.newaxis]).repeat(FIRST_ROOM, axis=0),
        pending=np.full(FIRST_ROOM, depth, dtype=np.uint64),
        taken=np.zeros(depth, dtype=np.uint64),
        tally=np.array([1, 0, 0, FAR]),
        after=np.empty((most, packing.words), dtype=np.uint64),
        made=np.empty(most, dtype=np.uint64),
        kept=np.empty(most, dtype=np.uint64),
    )
    paths = room_for_paths(depth, request, np.uint64, depth)
    known = goals, steps.compiled, follow, paths, request.every

    def advance(budget: int) -> bool:
        nonlocal stack
        stop, over = stack.tally[EXPANDED] + budget, False
        while not over and stack.tally[EXPANDED] < stop:
            stack = stack.with_room(most)
            over = _descend_by_words(stack, stop, *known)
        return over

    return Descent(advance, stack.tally, lambda: replayed(stack.tally, paths, problem, request))


def _ambiguous(moves: Transforms, parts: Sequence[Part]) -> bool:
    """Return whether two moves may lead from one position to the same successor.

    This is impossible if the moves take different pieces to some place of a part whose pieces all differ, or add
    different numbers to the same label. More than MAX_PAIRED moves are not compared, but assumed to be ambiguous.
    """
    if len(moves) > MAX_PAIRED:
        return True
    sizes = [part.places for part in parts]
    of_part = np.repeat(np.arange(len(parts)), sizes)
    stays = (of_part[moves.origin] == of_part).all(axis=0) & ~moves.added.any(axis=0)
    distinct = stays & np.repeat([part.holds_pieces and part.all_different for part in parts], sizes)
    for number in range(1, len(moves)):
        other_origin = moves.origin[:number] != moves.origin[number]
        distinguished = np.where(other_origin, distinct, moves.added[:number] != moves.added[number])
        if not distinguished.any(axis=1).all():
            return True
    return False


@kernel
def _descend_by_words(
    stack: _WordStack, stop: int, goals: Words, moves: CompiledMoves, follow: _Follow, paths: Words, every: bool
) -> bool:
    """Continue the search until ``stop`` positions are expanded or the stack is full; return whether it is complete."""
    # Arrays are kept in local variables; see `keys.kernels`. Indices are unsigned, so numba does not test their signs.
    words, pending, taken, tally, after, made, kept = stack
    inverse, redundant, ambiguous = follow
    number, low, high, first_move, mask, value, change = moves[:7]
    condition_at, condition_word, condition_shift, condition_mask, allowed, lookup_at, lookups = moves[7:]
    lookup_word, lookup_shift, lookup_mask, table_at, changed_word, entries = lookups
    first, condition_at, lookup_at = first_move.view(np.uint64), condition_at.view(np.uint64), lookup_at.view(np.uint64)
    greatest, every_word, paired = np.uint64(len(taken)), np.uint64(words.shape[1]), len(redundant) > 0
    size, expanded, most = np.uint64(tally[WAITING]), tally[EXPANDED], np.uint64(len(words) - len(made))
    key = np.empty(words.shape[1], np.uint64)
    while size > ZERO and expanded < stop and size <= most and (every or tally[FOUND] == 0):
        size -= ONE
        last, left = pending[size] >> LEFT_BITS, pending[size] & LEFT
        depth = greatest - left
        if depth:
            taken[depth - ONE] = last
        expanded += 1
        for w in range(every_word):
            key[w] = words[size, w]
        guard_word = count = new = empty = ZERO
        guard = every_word << SIX  # moves without a guard
        while True:
            for move in range(first[guard], first[guard + ONE]):
                this = np.uint64(number[move])
                follows = depth == ZERO or not (this == inverse[last] or (paired and redundant[last, this]))
                if not (follows or ambiguous):
                    continue
                fit = ZERO
                while fit < every_word and (key[fit] & mask[move, fit]) == value[move, fit]:
                    fit += ONE
                if fit < every_word:
                    continue
                condition, end = condition_at[move], condition_at[move + ONE]
                while condition < end:
                    at = np.uint64(condition_word[condition])
                    field = (key[at] >> condition_shift[condition]) & condition_mask[condition]
                    if not (allowed[condition] >> min(OTHERS, field)) & ONE:
                        break
                    condition += ONE
                if condition < end:
                    continue
                for w in range(every_word):
                    after[count, w] = key[w] ^ change[move, w]
                for look in range(lookup_at[move], lookup_at[move + ONE]):
                    index = (key[np.uint64(lookup_word[look])] >> lookup_shift[look]) & lookup_mask[look]
                    after[count, np.uint64(changed_word[look])] ^= entries[np.uint64(table_at[look]) + index]
                if follows and not (ambiguous and not _is_new(after, count)):
                    made[count], kept[new] = this, count
                    new += ONE
                count += ONE
            while empty == ZERO and guard_word < every_word:
                word = key[guard_word]
                empty = ~(((word & low[guard_word]) + low[guard_word]) | word) & high[guard_word]
                guard_word += ONE
            if empty == ZERO:
                break
            guard = (guard_word - ONE << SIX) + trailing_zeros(empty)
            empty &= empty - ONE
        if left == ONE:
            for n in range(new):
                tally[NEXT_BOUND] = np.int64(greatest) + 1
                if (every or tally[FOUND] == 0) and _is_goal(after, kept[n], goals):
                    taken[depth] = made[kept[n]]
                    if tally[FOUND] < len(paths):
                        paths[tally[FOUND]] = taken
                    tally[FOUND] += 1
            continue
        while new > ZERO:  # the first successor is expanded first
            new -= ONE
            for w in range(every_word):
                words[size, w] = after[kept[new], w]
            pending[size] = made[kept[new]] << LEFT_BITS | (left - ONE)
            size += ONE
    tally[WAITING], tally[EXPANDED] = size, expanded
    return bool(size == ZERO or (tally[FOUND] > 0 and not every))


@kernel
def _is_new(after: Words, number: np.uint64) -> bool:
    """Return whether no earlier successor is the same position."""
    for earlier in range(number):
        w = ZERO
        while w < np.uint64(after.shape[1]) and after[earlier, w] == after[number, w]:
            w += ONE
        if w == np.uint64(after.shape[1]):
            return False
    return True


@kernel
def _is_goal(after: Words, number: np.uint64, goals: Words) -> bool:
    """Return whether a successor is one of the goals."""
    for goal in range(np.uint64(len(goals))):
        w = ZERO
        while w < np.uint64(after.shape[1]) and after[number, w] == goals[goal, w]:
            w += ONE
        if w == np.uint64(after.shape[1]):
            return True
    return False
