"""The rules of a puzzle: labels on places, and moves that change them. A table depends only on the rules."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.errors import InputError, PositionError
from antipodes_tasks.base.quoting import counted, quote, shorten
from antipodes_tasks.rules.footprints import Footprints
from antipodes_tasks.rules.larger_pieces import LargerPieces
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import Part, ranges_of
from antipodes_tasks.rules.squares import Grid
from antipodes_tasks.rules.starts import Starts


@dataclass(frozen=True, repr=False)
class Rules:
    """The parts, the starts and the moves of a puzzle. Positions are arrays of labels, see `Labels`."""

    parts: tuple[Part, ...]
    """The parts of a position, in the order of the places: pieces, or values such as orientations."""
    starts: Sequence[tuple[int, ...]]
    """The positions at depth 0: a tuple, or `Starts` if there are many."""
    moves: Moves
    enumerated: bool = False
    """Whether only reachable positions are numbered: a search lists them, since they are few."""
    by_shape: bool = field(default=False, compare=False)
    """Whether positions are numbered by shapes if there are not too many shapes: some pieces cover several places."""
    origin: tuple[int, ...] | None = None
    """The ``start`` of the puzzle file if its ``goal`` names the positions at depth 0; sequences of moves begin there.

    If only reachable positions are numbered, these are the positions reachable from the origin.
    """
    name: str = field(default="", compare=False)
    """Name of the puzzle, for messages."""
    layout: Grid | None = field(default=None, compare=False)
    """The board, if the places are squares of a board."""
    footprints: Footprints | None = field(default=None, compare=False)
    """The places that blocks cover, in a sliding-block puzzle; the moves determine them."""
    larger: LargerPieces | None = field(default=None, compare=False)
    """The pieces that cover several places, if there are any. A position consists of whole pieces."""

    def __repr__(self) -> str:
        size = f"{counted(self.places, 'place')}, {counted(len(self.moves), 'move')}"
        return f"<Rules of {shorten(self.name, 40)}: {size}>"

    @property
    def places(self) -> int:
        """Number of places."""
        return len(self.starts[0])

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbol of each label of the first part."""
        return self.parts[0].symbols

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of pieces with each label if the puzzle is one arrangement of pieces; otherwise empty."""
        return (self.parts[0].counts or ()) if len(self.parts) == 1 else ()

    @cached_property
    def ranges(self) -> tuple[slice, ...]:
        """The places of each part."""
        return ranges_of(self.parts)

    @property
    def board(self) -> Grid:
        """The layout; raises InputError if there is none."""
        if self.layout is None:
            raise InputError(f"{self.name} is not a puzzle on a board")
        return self.layout

    @cached_property
    def start_labels(self) -> Labels:
        """The starts ``(starts, places)``, first the given ones, then those that free moves connect with them.

        If `depends_on_origin`, the table may lack some of them.
        """
        return self.moves.closed(self.given_starts)

    @property
    def given_starts(self) -> Labels:
        """The given starts ``(starts, places)``."""
        return self.starts.labels if isinstance(self.starts, Starts) else np.array(self.starts, dtype=np.uint8)

    @cached_property
    def start_count(self) -> int:
        """Number of given starts; starts that free moves connect count once."""
        if not self.moves.free_moves:
            return len(self.starts)
        seen, count = set[bytes](), 0
        for start in self.given_starts:
            if bytes(start) not in seen:
                seen.update(map(bytes, self.moves.closed(start[np.newaxis])))
                count += 1
        return count

    def reversed_path(self, path: Labels) -> Labels:
        """Return a path from a start to a position, from one ``(length + 1, places)`` from the position to a start.

        With free moves, it begins at a given start and ends at some position of the class, because each move ends
        with a counted one. Otherwise it contains the same positions in reverse order.
        """
        if not self.moves.free_moves:
            return path[::-1]
        given = set(map(bytes, self.given_starts))
        found = [next((one for one in self.moves.closed(path[-1:]) if bytes(one) in given), path[-1])]
        for expected in path[-2::-1]:
            same = set(map(bytes, self.moves.closed(expected[np.newaxis])))
            found.append(next(one for one in self.moves.successors(found[-1]) if bytes(one) in same))
        return np.array(found, dtype=np.uint8)

    @property
    def depends_on_origin(self) -> bool:
        """Whether only the goals that the origin reaches are at depth 0, so only a search can find them."""
        return self.enumerated and self.origin is not None

    @property
    def first(self) -> Labels:
        """The position ``(places,)`` where sequences of moves begin: the origin, or else the first start."""
        return self.start_labels[0] if self.origin is None else np.array(self.origin, dtype=np.uint8)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the parts, starts and moves, and of the origin if it determines the numbering.

        Two puzzles with the same fingerprint have the same table.
        """
        parts = [[part.symbols, part.counts, part.places] for part in self.parts]
        many = isinstance(self.starts, Starts)
        digest = hashlib.sha256(json.dumps([parts, [] if many else sorted(self.starts)]).encode())
        if many:
            digest.update(b"starts" + self.start_labels.tobytes())
        digest.update(self.moves.table_key_from(self.start_labels))
        if self.enumerated and self.origin is not None:
            digest.update(bytes(self.origin))
        return digest.hexdigest()

    def holds(self, labels: list[int]) -> bool:
        """Return whether a list of one integer per place is a valid position; for one position, this is fastest."""
        right = all(part.holds(labels[here]) for part, here in zip(self.parts, self.ranges, strict=True))
        return right and (self.larger is None or not self._torn(np.array([labels], dtype=np.uint8)).any())

    def whole(self, labels: Labels) -> Labels:
        """Return the positions ``(n, places)`` in which no piece is torn, of pieces that cover several places."""
        return labels if self.larger is None else labels[~self._torn(labels).any(axis=1)]

    def _torn(self, labels: Labels) -> Mask:
        """Return a mask ``(n, places of the first part)`` of the places that hold a cell of a torn piece."""
        first = labels[:, self.ranges[0]]
        return np.zeros(first.shape, dtype=np.bool_) if self.larger is None else self.larger.torn(first)

    def checked_one(self, labels: ArrayLike) -> Labels:
        """Return one position ``(places,)``, converted and checked as by `checked`."""
        one = arguments.integers(labels, f"a position of {counted(self.places, 'place')}", 1, PositionError)
        checked: Labels = self.checked(one[np.newaxis])[0]
        return checked

    def checked(self, labels: ArrayLike) -> Labels:
        """Return integers ``(n, places)`` as labels, after checking that each row has exactly the pieces of the puzzle.

        Raises PositionError if a row has other pieces, values out of range, or a torn piece (one that covers several
        places); the message names a wrong piece or value, or the place.
        """
        labels = arguments.integers(labels, f"positions (n, {self.places})", 2, PositionError)
        if labels.shape[1] != self.places:
            raise PositionError(f"expected positions of {counted(self.places, 'place')}, found an array {labels.shape}")
        for part, here in zip(self.parts, self.ranges, strict=True):
            part.check(labels[:, here])
        narrow = labels.astype(np.uint8, copy=False)
        if self.larger is not None and (torn := self._torn(narrow)).any():
            row, place = np.argwhere(torn)[0].tolist()
            raise PositionError(self._reason_torn(self.larger, place, int(narrow[row, place])))
        return self.moves.canonical(narrow)

    def _reason_torn(self, larger: LargerPieces, place: int, label: int) -> str:
        found = [quote(" ".join(self.symbols[one] for one in piece)) for piece in larger.holding(label)]
        return (
            f"place {place} holds {quote(self.symbols[label])}, but the other places do not hold the rest of the piece "
            f"{shorten(' or '.join(found))}"
        )

    def written(self, labels: ArrayLike) -> list[str]:
        """Return the symbol on each place. Piece counts are not checked, to save time if many positions are written."""
        one = arguments.integers(labels, f"a position of {counted(self.places, 'place')}", 1, PositionError)
        if len(one) != self.places or not all(
            set(one[here].tolist()) <= set(range(len(part.symbols)))
            for part, here in zip(self.parts, self.ranges, strict=True)
        ):
            self.checked_one(one)  # raises
        return [
            part.symbols[label]
            for part, here in zip(self.parts, self.ranges, strict=True)
            for label in one[here].tolist()
        ]

    def successors(self, labels: ArrayLike) -> Labels:
        """Return all successors ``(k, places)`` of one position; raise PositionError if it is invalid."""
        return self.moves.successors(self.checked_one(labels))

    def predecessors(self, labels: ArrayLike) -> Labels:
        """Return all predecessors ``(k, places)`` of one position; raise PositionError if it is invalid."""
        return self.moves.predecessors(self.checked_one(labels))
