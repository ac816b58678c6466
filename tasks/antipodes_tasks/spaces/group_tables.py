"""The move tables of a group: an automaton that reads the digits of a position and writes the digits after a move.

An element of the group is a product ``v1 v2 ... vk`` of one representative for each level of a stabiliser chain. A move
multiplies it from the left: ``g v1 = w1 h``. Here ``w1`` is the representative of the new digit, and ``h`` lies in the
group of the next level and multiplies the rest in the same way. The *states* of a level are the different elements
``g`` that occur there, at most as many as its group has elements. The states at the cut between row and column are the
column maps, so column maps are counted exactly before any table is built.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import FieldError, ResourceLimitError
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.move_tables import (
    ColumnMap,
    ColumnMaps,
    Fill,
    Filler,
    MoveTables,
    blocks,
    index_type,
    unfilled_maps,
)
from antipodes_tasks.permutations.chain import Level, Permutations, compose, inverted, sifted
from antipodes_tasks.permutations.multisets import number_rows

GroupNumbers = NDArray[np.int32]

MAX_TRANSITIONS = 1 << 24
"""Maximum number of transitions that are computed, which takes a few seconds."""


@dataclass(frozen=True, eq=False)
class Transitions:
    """The transitions of a level, as arrays ``(states, orbit)`` that are indexed by state and digit."""

    written: NDArray[np.int32]
    """The new digit."""
    next: NDArray[np.int32]
    """The state at the next level."""


@dataclass(frozen=True, eq=False)
class Automaton:
    """The automaton that multiplies by some elements of a group. State 0 is the identity at every level."""

    levels: tuple[Level, ...]
    """The levels of a complete chain, see `StabiliserChain.is_complete`."""
    elements: Permutations
    """``(moves, points)``: the elements by which moves multiply positions. They are the states 1, 2, ... of the first
    level."""

    @cached_property
    def transitions(self) -> tuple[Transitions, ...]:
        """The transitions of each level.

        Raises
        ------
        FieldError
            An element does not belong to the group of the chain.
        ResourceLimitError
            There are more than MAX_TRANSITIONS transitions.
        """
        identity = np.arange(self.elements.shape[1], dtype=np.int16)[np.newaxis]
        if (sifted(self.levels, self.elements) != identity).any():
            raise FieldError("generators: the group does not contain all moves")
        states = np.concatenate([identity, self.elements])
        found: list[Transitions] = []
        left = MAX_TRANSITIONS
        for number, level in enumerate(self.levels):
            left -= len(states) * len(level.transversal)
            if left < 0:
                raise ResourceLimitError(
                    f"the group of the moves is too large: its tables need over {MAX_TRANSITIONS:,} transitions"
                )
            one, states = _step(states, level, [later.point for later in self.levels[number + 1 :]])
            found.append(one)
        return tuple(found)

    @cached_property
    def state_counts(self) -> tuple[int, ...]:
        """Number of states at each level, and after the last level; upper bounds if counting takes too long."""
        try:
            return (*(len(one.next) for one in self.transitions), 1)
        except ResourceLimitError:
            radices = [len(level.transversal) for level in self.levels]
            states = (1 + len(self.elements) * prod(radices[:at]) for at in range(len(radices) + 1))
            return tuple(min(count, prod(radices[at:])) for at, count in enumerate(states))

    @property
    def most_bytes(self) -> int:
        """Upper bound on the bytes of the transitions, including those in use only while they are computed."""
        levels = len(self.levels)
        sizes = [count * len(level.transversal) for count, level in zip(self.state_counts, self.levels, strict=False)]
        counted = [min(size, MAX_TRANSITIONS) for size in sizes]
        passing = max((size * (14 * (levels - at) + 64) for at, size in enumerate(counted)), default=0)
        states = 12 * max(self.state_counts) * int(self.elements.shape[1])
        return 8 * sum(counted) + passing + states


def _step(states: Permutations, level: Level, later: list[int]) -> tuple[Transitions, Permutations]:
    """Return the transitions of a level, and the states ``(n, points)`` at the next level."""
    written = level.numbers[states[:, level.orbit]].astype(np.int32)
    images = states[:, level.transversal[:, later]]
    images = level.inverse[written[:, :, np.newaxis], images]
    numbers, first = number_rows(images.reshape(written.size, len(later)), states.shape[1])
    by, digit = np.divmod(first, written.shape[1])
    following = compose(level.inverse[written[by, digit]], compose(states[by], level.transversal[digit]))
    return Transitions(written, numbers.reshape(written.shape).astype(np.int32)), following


@dataclass(frozen=True, eq=False)
class GroupTables(Filler):
    """The filler for a chain that is cut after its first ``leading`` levels.

    A row consists of the digits of the leading levels, and a column of the other digits: it is an element of the group
    that fixes the leading base points. A move multiplies the column by an element of this group, which is the column
    map.
    """

    automaton: Automaton
    leading: int

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """Number of values of the digit of each level."""
        return tuple(len(level.transversal) for level in self.automaton.levels)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return prod(self.radices[: self.leading])

    @property
    def width(self) -> int:
        """Number of columns."""
        return prod(self.radices[self.leading :])

    @property
    def max_moves(self) -> int:
        """Number of moves."""
        return len(self.automaton.elements)

    @property
    def most_column_maps(self) -> int:
        """Number of column maps; an upper bound if counting takes too long."""
        return self.automaton.state_counts[self.leading]

    @cached_property
    def undirected(self) -> bool:
        """Whether the inverse of each move is a move."""
        elements = self.automaton.elements
        return {each.tobytes() for each in elements} == {each.tobytes() for each in inverted(elements)}

    def building_bytes(self, threads: int) -> int:
        """Return an upper bound on the bytes in use, besides the tables, while they are filled."""
        above = 8 * self.max_moves * self.rows // (self.radices[self.leading - 1] if self.leading else 1)
        before = 8 * self.most_column_maps * self.width // (self.radices[-1] if self.width > 1 else 1)
        return self.automaton.most_bytes + 3 * (above + before)  # the arrays of a level, and their inputs

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Return unfilled tables and the calls that fill them; too many transitions raise ResourceLimitError."""
        transitions = self.automaton.transitions
        rows, width, count = self.rows, self.width, self.most_column_maps
        target = np.zeros((rows, self.max_moves), dtype=np.int32)
        column_map: ColumnMap = np.zeros((rows, self.max_moves if width > 1 else 0), dtype=index_type(count))
        tables = MoveTables(target, column_map, unfilled_maps(count, width), self.undirected)
        upper, lower = transitions[: self.leading], transitions[self.leading :]
        return tables, [*_row_fills(tables, upper), *_column_fills(tables.column_maps, lower)]


def _row_fills(tables: MoveTables, levels: Sequence[Transitions]) -> list[Fill]:
    rows, moves = tables.target.shape
    first_states = 1 + np.arange(moves, dtype=np.int32)
    if not levels or not moves:
        tables.column_map[:] = first_states[: tables.column_map.shape[1]]
        return []
    before, states = _passed(levels[:-1], first_states)
    return [
        partial(
            fill_rows,
            tables.target[first:end],
            tables.column_map[first:end],
            first,
            before,
            states,
            levels[-1].written,
            levels[-1].next,
        )
        for first, end in blocks(rows, moves)
    ]


def _column_fills(maps: ColumnMaps, levels: Sequence[Transitions]) -> list[Fill]:
    if not levels:
        return []
    before, states = _passed(levels[:-1], np.arange(len(maps), dtype=np.int32))
    return [
        partial(fill_columns, maps[first:end], before[first:end], states[first:end], levels[-1].written)
        for first, end in blocks(*maps.shape)
    ]


def _passed(
    transitions: Sequence[Transitions], states: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Run the automaton over all combinations of the digits of some levels, beginning in each of the states ``(n,)``.

    Return the numbers that it writes and the states that it reaches, both ``(n, combinations)``.
    """
    written, states = np.zeros((len(states), 1), dtype=np.int32), states[:, np.newaxis]
    for one in transitions:
        digits = one.written.shape[1]
        written = (written[:, :, np.newaxis] * np.int32(digits) + one.written[states]).reshape(len(states), -1)
        states = one.next[states].reshape(len(states), -1)
    return written, states


@kernel
def fill_rows(
    target: GroupNumbers,
    column_map: ColumnMap,
    first_row: int,
    before: GroupNumbers,
    states: GroupNumbers,
    written: GroupNumbers,
    following: GroupNumbers,
) -> None:
    """Fill lines of the row tables, beginning with row ``first_row``.

    The digits of the row, except the last one, have been processed: ``before`` and ``states``, ``(moves, combinations
    of these digits)``, contain the numbers written for them and the states in which the last level of the row is
    reached. ``written`` and ``following``, ``(states, digits)``, are the transitions of this level.
    """
    digits = written.shape[1]
    for line in range(target.shape[0]):
        above, digit = divmod(first_row + line, digits)
        for move in range(target.shape[1]):
            state = states[move, above]
            target[line, move] = before[move, above] * digits + written[state, digit]
            if column_map.shape[1]:
                column_map[line, move] = following[state, digit]


@kernel
def fill_columns(maps: ColumnMaps, before: GroupNumbers, states: GroupNumbers, written: GroupNumbers) -> None:
    """Fill column maps ``(maps, width)``. The other arrays are as in `fill_rows`, for the digits of the column."""
    digits = written.shape[1]
    for number in range(maps.shape[0]):
        for above in range(before.shape[1]):
            state, base = states[number, above], before[number, above] * digits
            for digit in range(digits):
                maps[number, above * digits + digit] = base + written[state, digit]
