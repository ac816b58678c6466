"""The interface between puzzles and the engine: positions as numbers, and moves between these numbers.

A *numbering* writes the number of a position, its *index*, as several *digits* of different radices (a mixed radix
number). A *cut* divides the digits: the leading ones form the *row* of the position and the others its *column*, so an
index is ``row * width + column``, where ``width`` is the number of columns. A table has one *entry* for each index. In
a space that is reduced by symmetries, an entry stands for several positions, and `Numbering.unrank` returns one of
them, the *representative*.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.move_tables import Filler, Indices, Neighbours
from antipodes_tasks.rules.moves import Steps
from antipodes_tasks.rules.rules import Rules

NOT_NUMBERED = -1
"""Returned instead of an index for a position without an index. Such a position is unreachable from the start."""
REDUCED, NUMBERED, ORDER = "reduced", "positions", "order"
"""The kind of spaces that are reduced by symmetries, and the keys of two of their details: the number of positions and
the number of symmetries."""
KEYED = "keys"
"""The kind of spaces without move tables. Only a search can list their positions."""
MAX_BLOCK_LABELS = 1 << 22
"""Maximum number of labels that all moves of all blocks of rows read. For a plan, they take about 0.1 seconds."""
BATCH = 1 << 13
"""Number of neighbours that are ranked together."""


@dataclass(frozen=True)
class SpaceRecord:
    """The part of a store's manifest from which `stored_space` rebuilds the same space for given rules."""

    kind: str
    """The `Numbering.KIND` of the numbering."""
    rows: int
    width: int
    details: Mapping[str, Any] = field(default_factory=dict)
    """Everything else that the numbering needs, as JSON."""


class BlockNeighbours(NamedTuple):
    """The moves between blocks: ranges of rows that agree in their leading digits. A move takes a block to a block."""

    rows: int
    """Number of rows of each block."""
    of: Indices
    """``(moves,)``: the block of each move."""
    to: Indices
    """``(moves,)``: the block to which it leads. Since moves are reversible, this block also has a move back."""


class Numbering(ABC):
    """A bijection between positions and numbers of several digits, the most significant digit first.

    Each kind of numbering is a subclass in its own module. Numberings are immutable and cheap to send to other
    processes.
    """

    KIND: ClassVar[str]
    """The name of this kind of numbering in a store."""

    @classmethod
    @abstractmethod
    def of(cls, rules: Rules) -> Self:
        """Return the numbering of the positions of a puzzle, even if there are too many positions for 64 bits."""

    @classmethod
    @abstractmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """Return the numbering recorded in a store; raise FieldError if it does not match the puzzle."""

    @property
    @abstractmethod
    def radices(self) -> tuple[int, ...]:
        """The number of values of each digit."""

    @property
    def block_digits(self) -> int:
        """Number of leading digits whose new values depend only on these digits.

        If rows agree in these digits, a move takes them to rows that also agree in these digits.
        """
        return 1

    @property
    def any_digits_form_blocks(self) -> bool:
        """Whether `block_digits` could be any number, and the first digit determines which moves are legal."""
        return False

    @classmethod
    def size_for(cls, rules: Rules) -> int:
        """Return the number of positions that have an index, even if there are too many for 64 bits."""
        return cls.of(rules).size

    @property
    def cuts(self) -> Sequence[int]:
        """The possible numbers of digits in the row."""
        return range(1, max(2, len(self.radices)))

    @property
    def details(self) -> Mapping[str, Any]:
        """The record of the numbering in a store, as JSON."""
        return {}

    @abstractmethod
    def rank(self, labels: Labels) -> Indices:
        """Return the index of each position ``(n, places)``, as ``(n,)`` int64; NOT_NUMBERED if it has none.

        It is not checked whether the positions have the right pieces.
        """

    def rank_one(self, labels: Sequence[int]) -> int:
        """Return the index of one position given as Python integers. For one position, this is faster than `rank`."""
        return int(self.rank(np.array([labels], dtype=np.uint8))[0])

    @abstractmethod
    def unrank(self, indices: Indices) -> Labels:
        """Return the position ``(n, places)`` of each index ``(n,)``. The indices are not checked."""

    @abstractmethod
    def filler(self, rules: Rules, leading: int) -> Filler:
        """Return the filler for the move tables of the space whose rows have ``leading`` digits."""

    @property
    def weights(self) -> Indices | None:
        """For each row, the number of positions that an entry of the row stands for, ``(rows,)``.

        None if every entry stands for one position; otherwise `unrank` returns a representative.
        """
        return None

    @property
    def full_numbering(self) -> "Numbering":
        """The numbering of all positions: this numbering, unless its entries stand for several positions."""
        return self

    @property
    def is_outline(self) -> bool:
        """Whether the number of rows is only an estimate, which is enough for a plan."""
        return False

    @property
    def symmetries(self) -> int:
        """Number of symmetries by which the numbering is reduced; 1 means the identity only."""
        return 1

    def positions_of_entries(self, indices: Indices) -> tuple[Indices, Labels]:
        """Return all positions that the entries ``(n,)`` stand for, together with their entries.

        The first array ``(k,)`` contains, for each position, the place of its entry in ``indices``. The second array
        ``(k, places)`` contains the positions. The positions of an entry are adjacent, and their number is the weight
        of its row.
        """
        return np.arange(len(indices)), self.unrank(indices)

    def one_of(self, indices: Indices, numbers: Indices) -> Labels:
        """Return one position of each entry ``(n,)``: the one with number ``numbers[i]`` in `positions_of_entries`."""
        return self.unrank(indices)

    def starts(self, rules: Rules) -> Labels:
        """Return the starts that have an index, ``(starts, places)``."""
        starts = rules.start_labels
        numbered: Labels = starts[self.rank(starts) != NOT_NUMBERED]
        return numbered

    def reachable(self, rules: Rules) -> int | None:
        """Return the number of reachable positions; None if only a search can find it."""
        return None

    @property
    def size(self) -> int:
        """The product of the radices."""
        return prod(self.radices)


@dataclass(frozen=True, repr=False)
class Space:
    """The positions of a puzzle, numbered as ``row * width + column``, and the moves between them.

    A move takes all entries of a row to the same row. The row and the move determine the *column map*, which contains
    the new column of each column. Spaces are immutable and cheap to send to other processes.
    """

    rules: Rules
    numbering: Numbering
    leading: int
    """Number of leading digits that form the row; the other digits form the column."""

    def __repr__(self) -> str:
        size = f"{counted(self.rows, 'row')} of {counted(self.width, 'column')}"
        return f"<{self.numbering.KIND} of {self.rules.name}: {size}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out cached properties when pickling."""
        return Space, (self.rules, self.numbering, self.leading)

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        return prod(self.numbering.radices[: self.leading])

    @cached_property
    def width(self) -> int:
        """Number of columns of each row."""
        return prod(self.numbering.radices[self.leading :])

    @property
    def size(self) -> int:
        """Number of entries of a table: positions that have an index, reachable or not."""
        return self.rows * self.width

    @property
    def record(self) -> SpaceRecord:
        """The part of a manifest from which the space can be rebuilt."""
        return SpaceRecord(self.numbering.KIND, self.rows, self.width, self.numbering.details)

    @cached_property
    def filler(self) -> Filler:
        """The object that computes the size of the move tables and fills them."""
        return self.numbering.filler(self.rules, self.leading)

    @cached_property
    def full_space(self) -> "Space":
        """The space of all positions: this space, unless its entries stand for several positions."""
        outside = self.numbering.full_numbering
        return self if outside is self.numbering else Space(self.rules, outside, outside.cuts[0])

    @cached_property
    def weights(self) -> Indices | None:
        """For each row, the number of positions that an entry stands for, ``(rows,)``; None if it is always one."""
        return self.numbering.weights

    @cached_property
    def block_neighbours(self) -> BlockNeighbours | None:
        """The blocks of rows that reversible moves connect. None if finding them would take long."""
        numbering = self.numbering
        if not (numbering.any_digits_form_blocks and self.rules.moves.reversible):
            return None
        most = MAX_BLOCK_LABELS // max(1, len(self.rules.moves) * self.rules.places)
        counts = [prod(numbering.radices[:digits]) for digits in range(1, self.leading + 1)]
        blocks = max((count for count in counts if count <= most), default=None)
        if blocks is None:
            return None
        size = self.size // blocks
        found = self.successors(np.arange(blocks) * size)
        return BlockNeighbours(self.rows // blocks, found.of, found.indices // size)

    @property
    def starts(self) -> Labels:
        """The starts that have an index, ``(starts, places)``: the positions at depth 0."""
        return self.numbering.starts(self.rules)

    def rank(self, labels: Labels) -> Indices:
        """Return the index of each position ``(n, places)``, as ``(n,)`` int64; NOT_NUMBERED if it has none.

        It is not checked whether the positions have the right pieces.
        """
        return self.numbering.rank(labels)

    def unrank(self, indices: Indices) -> Labels:
        """Return the position ``(n, places)`` of each index ``(n,)``.

        Raises InputError if an index is not from 0 to ``size - 1``.
        """
        outside = (indices < 0) | (indices >= self.size)
        if outside.any():
            raise InputError(f"expected an index from 0 to {self.size - 1}, found {indices[outside][0]}")
        return self.numbering.unrank(indices)

    def successors(self, indices: Indices) -> Neighbours:
        """Return the entries one move after each entry ``(n,)``, computed from the rules, to verify move tables."""
        return self.neighbours_after(self.unrank(indices))

    def predecessors(self, indices: Indices) -> Neighbours:
        """Return the entries one move before each entry ``(n,)``, computed from the rules.

        Raises InputError if a move has no known inverse.
        """
        return self.neighbours_before(self.unrank(indices))

    def neighbours_after(self, positions: Labels) -> Neighbours:
        """Return the entries one move after each of the positions ``(n, places)``."""
        return self._neighbours(self.rules.moves.steps, positions)

    def neighbours_before(self, positions: Labels) -> Neighbours:
        """Return the entries one move before each of the positions ``(n, places)``; errors as in `predecessors`."""
        return self._neighbours(self.rules.moves.steps_back, positions)

    def _neighbours(self, steps: Callable[[Labels], Steps], positions: Labels) -> Neighbours:
        of: list[Indices] = [np.empty(0, dtype=np.int64)]
        ranked: list[Indices] = [np.empty(0, dtype=np.int64)]
        size = max(1, BATCH // max(1, len(self.rules.moves)))
        for first in range(0, len(positions), size):
            parents, _, moved = steps(positions[first : first + size])
            of.append(first + parents)
            ranked.append(self.rank(moved))
        return Neighbours(np.concatenate(of), np.concatenate(ranked))
