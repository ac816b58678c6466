"""How moves pass through a stabiliser chain: an automaton that reads the digits of a position and writes the new ones.

An element of the group is a product of representatives ``v1 v2 ... vk``, one a level. A move multiplies it from the
left: ``g v1 = w1 h``. Here ``w1`` is the representative of the new digit, and ``h`` lies in the next level and
multiplies the rest in the same way. The *states* of a level are the different ``g`` that occur there, at most as many
as its group has elements. Those at the cut between rows and columns are the column maps, so column maps are counted
exactly before any table is built.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import FieldError, ResourceLimitError
from antipodes_tasks.permutations.chain import Level, Permutations, after, sifted

MOST_TRANSITIONS = 1 << 24
"""Transitions that are worth counting; it takes some seconds."""


@dataclass(frozen=True, eq=False)
class Transitions:
    """What happens at a level: ``(states, orbit)`` arrays by the state and the digit that it reads."""

    written: NDArray[np.int32]
    """The new digit."""
    next: NDArray[np.int32]
    """The state at the next level."""


@dataclass(frozen=True, eq=False)
class Automaton:
    """The automaton of some elements of a group. State 0 is the identity at every level."""

    levels: tuple[Level, ...]
    """Those of a complete chain, see `StabiliserChain.is_complete`."""
    elements: Permutations
    """``(moves, points)``: the elements that multiply positions. They are states 1 and following of the first level."""

    @cached_property
    def transitions(self) -> tuple[Transitions, ...]:
        """The transitions of each level.

        Raises
        ------
        FieldError
            An element does not lie in the group of the chain.
        ResourceLimitError
            There are more transitions than are worth counting.
        """
        identity = np.arange(self.elements.shape[1], dtype=np.int16)[np.newaxis]
        if (sifted(self.levels, self.elements) != identity).any():
            raise FieldError("generators: expected those of a group that has all moves, found another")
        states = np.concatenate([identity, self.elements])
        found: list[Transitions] = []
        left = MOST_TRANSITIONS
        for number, level in enumerate(self.levels):
            left -= len(states) * len(level.transversal)
            if left < 0:
                raise ResourceLimitError(
                    f"expected at most {MOST_TRANSITIONS:,} transitions of moves in the levels of a group, found more"
                )
            one, states = _step(states, level, [later.point for later in self.levels[number + 1 :]])
            found.append(one)
        return tuple(found)

    @cached_property
    def state_counts(self) -> tuple[int, ...]:
        """The number of states at each level, and past the last one; upper bounds where counting takes too long."""
        try:
            return (*(len(one.next) for one in self.transitions), 1)
        except ResourceLimitError:
            radices = [len(level.transversal) for level in self.levels]
            states = (1 + len(self.elements) * prod(radices[:at]) for at in range(len(radices) + 1))
            return tuple(min(count, prod(radices[at:])) for at, count in enumerate(states))

    @property
    def most_bytes(self) -> int:
        """An upper bound of the bytes of the transitions, and of those in use while they are made."""
        levels = len(self.levels)
        sizes = [count * len(level.transversal) for count, level in zip(self.state_counts, self.levels, strict=False)]
        counted = [min(size, MOST_TRANSITIONS) for size in sizes]
        passing = max((size * (14 * (levels - at) + 64) for at, size in enumerate(counted)), default=0)
        states = 12 * max(self.state_counts) * int(self.elements.shape[1])
        return 8 * sum(counted) + passing + states


def _step(states: Permutations, level: Level, later: list[int]) -> tuple[Transitions, Permutations]:
    """The transitions of a level, and the states ``(n, points)`` at the next one."""
    written = level.numbers[states[:, level.orbit]].astype(np.int32)
    images = states[:, level.transversal[:, later]]
    images = level.inverse[written[:, :, np.newaxis], images]
    numbers, first = _numbered(images.reshape(written.size, len(later)), states.shape[1])
    by, digit = np.divmod(first, written.shape[1])
    following = after(level.inverse[written[by, digit]], after(states[by], level.transversal[digit]))
    return Transitions(written, numbers.reshape(written.shape).astype(np.int32)), following


def _numbered(rows: NDArray[np.int16], points: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number for each of the rows ``(n, k)``, equal for equal rows, and where each number first occurs.

    The numbers count from 0 in the order of first occurrence.
    """
    bits = max(1, (points - 1).bit_length())
    keys, used = np.zeros(len(rows), dtype=np.int64), 0
    for column in rows.T:
        if used + bits > 63:
            keys, used = np.unique(keys, return_inverse=True)[1], len(rows).bit_length()
        keys = keys << bits | column
        used += bits
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    numbers = np.empty_like(order)
    numbers[order] = np.arange(len(order))
    return numbers[inverse.reshape(-1)], first[order]
