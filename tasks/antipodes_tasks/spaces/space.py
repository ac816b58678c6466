"""The interface between puzzles and the engine: positions as numbers in rows and columns, and moves between them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

import numpy as np

from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import counted
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.move_tables import Filler, Indices, Neighbours

NOT_NUMBERED = -1
"""Instead of an index: no number stands for the position, since no moves lead to it from the start."""
REDUCED, NUMBERED, ORDER = "reduced", "positions", "order"
"""The kind of spaces that are reduced by symmetries; the keys of their details that have the number of positions, and
of symmetries."""
KEYED = "keys"
"""The kind of spaces without move tables, whose positions only a search lists."""
BATCH = 1 << 13
"""Neighbours that are ranked together."""


@dataclass(frozen=True)
class SpaceRecord:
    """The part of a store's manifest from which, with the rules, `stored_space` builds the same space again."""

    kind: str
    """The `Numbering.KIND` of its numbering."""
    rows: int
    width: int
    details: Mapping[str, Any] = field(default_factory=dict)
    """What else the numbering needs, as JSON."""


class Numbering(ABC):
    """Positions as numbers of several digits: the most significant ones are the row of a space, the others its column.

    Each kind of numbering is a subclass in a module of its own. Immutable, and cheap to send to other processes.
    """

    KIND: ClassVar[str]
    """The name of this kind in a store."""

    @classmethod
    @abstractmethod
    def of(cls, rules: Rules) -> Self:
        """The numbering of the positions of a puzzle, also if 64 bits are too few for it."""

    @classmethod
    @abstractmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The numbering of a store; FieldError if the puzzle has no such."""

    @property
    @abstractmethod
    def radices(self) -> tuple[int, ...]:
        """The number of values of each digit."""

    @property
    def block_digits(self) -> int:
        """How many first digits decide what moves make of them: they take a block of such rows into a block."""
        return 1

    @classmethod
    def size_for(cls, rules: Rules) -> int:
        """The number of positions that have a number, even if 64 bits are too few for it."""
        return cls.of(rules).size

    @property
    def cuts(self) -> Sequence[int]:
        """The numbers of digits that a row can have."""
        return range(1, max(2, len(self.radices)))

    @property
    def details(self) -> Mapping[str, Any]:
        """What a store records of the numbering, as JSON."""
        return {}

    @abstractmethod
    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64; NOT_NUMBERED for those that have none.

        The pieces are not checked.
        """

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one position, given as Python's integers: one is faster in a loop than in arrays."""
        return int(self.rank(np.array([labels], dtype=np.uint8))[0])

    @abstractmethod
    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``, which is not checked."""

    @abstractmethod
    def filler(self, rules: Rules, leading: int) -> Filler:
        """The move tables of the space whose rows have the ``leading`` digits."""

    def weights(self, leading: int) -> Indices | None:
        """How many positions an entry of each row stands for, ``(rows,)``, in a space whose rows have the digits.

        None: each entry is one position. Where several have one number, `unrank` gives a representative.
        """
        return None

    @property
    def full_numbering(self) -> "Numbering":
        """The numbering of all positions, where entries stand for several; else this one."""
        return self

    @property
    def is_outline(self) -> bool:
        """Whether the number of rows is only estimated, as a plan needs it."""
        return False

    @property
    def symmetries(self) -> int:
        """The number of symmetries by which positions are one entry; 1: none but the identity."""
        return 1

    def positions_of_entries(self, indices: Indices) -> tuple[Indices, Labels]:
        """All positions that entries ``(n,)`` stand for, ``(k, places)``, and the place of the entry of each, ``(k,)``.

        The positions of an entry are together, as many as the weight of its row.
        """
        return np.arange(len(indices)), self.unrank(indices)

    def one_of(self, indices: Indices, numbers: Indices) -> Labels:
        """Of the positions of each entry ``(n,)``, see `several`, the one with a number ``(n,)`` from 0 on."""
        return self.unrank(indices)

    def starts(self, rules: Rules) -> Labels:
        """The starts that have a number, ``(starts, places)``."""
        starts = rules.start_labels
        numbered: Labels = starts[self.rank(starts) != NOT_NUMBERED]
        return numbered

    def reachable(self, rules: Rules) -> int | None:
        """The number of positions that can be reached, where that is known without a search."""
        return None

    @property
    def size(self) -> int:
        """The product of the radices."""
        return prod(self.radices)


@dataclass(frozen=True, repr=False)
class Space:
    """The positions of a puzzle, numbered as ``row * width + column``, and the moves between them.

    A move leads from each row to one row, and permutes the columns. Immutable, and cheap to send to other processes.
    """

    rules: Rules
    numbering: Numbering
    leading: int
    """The number of digits of the numbering that are the row; the others are the column."""

    def __repr__(self) -> str:
        size = f"{counted(self.rows, 'row')} of {counted(self.width, 'column')}"
        return f"<{self.numbering.KIND} of {self.rules.name}: {size}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what was found out about the space."""
        return Space, (self.rules, self.numbering, self.leading)

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return prod(self.numbering.radices[: self.leading])

    @cached_property
    def width(self) -> int:
        """The number of columns of each row."""
        return prod(self.numbering.radices[self.leading :])

    @property
    def size(self) -> int:
        """The number of entries of a table: positions that have a number, reachable or not."""
        return self.rows * self.width

    @property
    def record(self) -> SpaceRecord:
        """The part of a manifest from which the space can be built again."""
        return SpaceRecord(self.numbering.KIND, self.rows, self.width, self.numbering.details)

    @cached_property
    def filler(self) -> Filler:
        """The move tables: their size, and how they are filled."""
        return self.numbering.filler(self.rules, self.leading)

    @cached_property
    def full_space(self) -> "Space":
        """The space of all positions, where entries stand for several; else this one."""
        outside = self.numbering.full_numbering
        return self if outside is self.numbering else Space(self.rules, outside, outside.cuts[0])

    @cached_property
    def weights(self) -> Indices | None:
        """How many positions an entry of each row stands for, ``(rows,)``; None: each is one."""
        return self.numbering.weights(self.leading)

    @property
    def starts(self) -> Labels:
        """The starts that have a number, ``(starts, places)``: the positions at depth 0."""
        return self.numbering.starts(self.rules)

    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64, or NOT_NUMBERED. The pieces are not checked."""
        return self.numbering.rank(labels)

    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``; InputError where one is not in 0 to ``size - 1``."""
        outside = (indices < 0) | (indices >= self.size)
        if outside.any():
            raise InputError(f"expected an index from 0 to {self.size - 1}, found {indices[outside][0]}")
        return self.numbering.unrank(indices)

    def successors(self, indices: Indices) -> Neighbours:
        """The entries one move after each of ``(n,)``, by the rules alone: move tables are checked against them."""
        return self.neighbours_after(self.unrank(indices))

    def predecessors(self, indices: Indices) -> Neighbours:
        """The entries one move before each of ``(n,)``, by the rules alone.

        InputError if a move has no known inverse.
        """
        return self.neighbours_before(self.unrank(indices))

    def neighbours_after(self, positions: Labels) -> Neighbours:
        """The entries one move after each of the positions ``(n, places)``."""
        return self._neighbours(self.rules.moves.successors, positions)

    def neighbours_before(self, positions: Labels) -> Neighbours:
        """The entries one move before each of the positions ``(n, places)``; InputError as `predecessors`."""
        return self._neighbours(self.rules.moves.predecessors, positions)

    def _neighbours(self, moved: Callable[[Labels], Labels], positions: Labels) -> Neighbours:
        of: list[Indices] = [np.empty(0, dtype=np.int64)]
        ranked: list[Indices] = [np.empty(0, dtype=np.int64)]
        waiting: list[Labels] = []
        for number, labels in enumerate(positions):
            waiting.append(moved(labels))
            of.append(np.full(len(waiting[-1]), number))
            if sum(map(len, waiting)) >= BATCH or number == len(positions) - 1:
                ranked.append(self.rank(np.concatenate(waiting)))
                waiting = []
        return Neighbours(np.concatenate(of), np.concatenate(ranked))
