"""The numbering of pieces that move to empty places: all arrangements, or the half with the right parity.

**Half the arrangements.** If the place of the empty square determines the parity of every reachable arrangement (see
`parity_by_place`), the parity also determines the order of the two pieces with the last two labels, once all other
pieces are placed. The last digit of the index, which would store this order, is then omitted, and only the half with
the right parity is numbered.

The move tables are then those of the puzzle in which the last two pieces are identical. Moves do not depend on which
piece they move, so exchanging two pieces commutes with every move. Each arrangement with two identical pieces stands
for two arrangements of different parity, which differ by an exchange of these pieces. Only the one with the right
parity is numbered. A move takes it to an arrangement that also has the right parity, so the tables lead to the correct
index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import FieldError
from antipodes_tasks.base.quoting import shorten
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.permutations.parity import parities
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import any_order, swap_edges, two_colouring
from antipodes_tasks.spaces.orbit_parts import PiecesIndex
from antipodes_tasks.spaces.space import Numbering, SpaceRecord
from antipodes_tasks.spaces.swap_tables import SwapTables

MAX_SWAPS = 100_000
"""Maximum number of swaps for which the graph of places is examined, which takes a tenth of a second."""
PARITY = "parity"
"""The key under which the details contain the parities if half the arrangements are numbered."""
MIN_PLACES, MAX_PLACES = 3, 20
"""Minimum and maximum number of places for numbering half the arrangements. At least one empty place and two pieces are
needed; with more than 20 places, even half the arrangements are too many."""


@dataclass(frozen=True)
class Arrangements(Numbering):
    """The numbering of all arrangements of a puzzle's pieces, reachable or not, or of the half with the right parity.

    There is a digit for each label: the number of the set of places that have this label, among the places that earlier
    labels leave free.
    """

    KIND: ClassVar[str] = "arrangements"

    pieces: tuple[int, ...]
    """Number of pieces with each label."""
    parity: tuple[int, ...] | None = None
    """For each place of label 0, the parity of the numbered arrangements. None if all arrangements are numbered."""

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """Return the numbering of all arrangements, or of half of them if no move leaves this half."""
        return cls(rules.counts, numbered_parity(rules))

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """Return the numbering with the parities of a record; raise FieldError if they do not match the puzzle."""
        if rules.moves.pairs is None:
            raise FieldError(f"space: the kind {record.kind!r} does not match the puzzle {rules.name}")
        numbering = cls.of(rules) if record.details else cls(rules.counts)
        if record.details != numbering.details:
            found = shorten(repr(dict(record.details)))
            raise FieldError(f"details: expected {numbering.details}, found {found}")
        return numbering

    @cached_property
    def index(self) -> PiecesIndex:
        """The numbering as that of a single part."""
        return PiecesIndex(0, self.pieces, self.parity)

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """Number of values of the digit of each label."""
        return self.index.radices

    @property
    def any_digits_form_blocks(self) -> bool:
        """True, because a move changes the places of some labels independently of the places of later labels."""
        return True

    @property
    def details(self) -> Mapping[str, Any]:
        """The parities of the numbered half."""
        return {} if self.parity is None else {PARITY: list(self.parity)}

    def rank(self, labels: Labels) -> Indices:
        """Return the index of each position ``(n, places)``, as ``(n,)`` int64; NOT_NUMBERED if the parity is wrong.

        The pieces are not checked.
        """
        return self.index.rank(labels)

    def rank_one(self, labels: Sequence[int]) -> int:
        """Return the index of one position given as Python integers."""
        return self.index.rank_one(labels)

    def unrank(self, indices: Indices) -> Labels:
        """Return the position ``(n, places)`` of each index ``(n,)``. The indices are not checked."""
        return self.index.unrank(indices)

    def filler(self, rules: Rules, leading: int) -> SwapTables:
        """Return the filler of the move tables: a row determines the places of the leading labels."""
        return SwapTables(rules.moves, self.index.counts, leading)

    def reachable(self, rules: Rules) -> int | None:
        """Return the number of numbered arrangements if `any_order` proves that all are reachable; otherwise None."""
        return self.size_for(rules) if len(rules.moves) <= MAX_SWAPS and any_order(rules) else None


def numbered_parity(rules: Rules) -> tuple[int, ...] | None:
    """Return the parity by the place of label 0 if half the arrangements are numbered; None if all are numbered."""
    return parity_by_place(rules) if rules.places <= MAX_PLACES else None


def parity_by_place(rules: Rules) -> tuple[int, ...] | None:
    """Return the parity of all reachable arrangements by the place of label 0; None if the place does not determine it.

    A move exchanges the empty place with a piece, so each move changes the parity. If the places can be coloured with
    two colours such that each move takes the empty place to the other colour, colour and parity change together. Then
    half of all arrangements are unreachable (W. W. Johnson and W. E. Story, "Notes on the '15' puzzle", 1879).

    The parity is computed for each connected component of places, because the empty places of the starts may be in
    several components. If the starts of a component disagree, or its graph has a cycle of odd length, the place does
    not determine the parity. In a component without a start, either of the two possible choices is correct.
    """
    if rules.places < MIN_PLACES or set(rules.counts) != {1} or rules.moves.pairs is None:
        return None
    empty, wanted = rules.start_labels.argmin(axis=1), parities(rules.start_labels)
    seeds = tuple(zip(empty.tolist(), wanted.tolist(), strict=True))
    colours = two_colouring(swap_edges(rules) or frozenset(), rules.places, seeds)
    if colours is None or (colours[empty] != wanted).any():
        return None
    return tuple(colours.tolist())
