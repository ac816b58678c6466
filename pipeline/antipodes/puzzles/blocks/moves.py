"""The moves of blocks: permutations of places, each legal where the block is there and its way is empty.

A block that moves exchanges its squares with the empty ones that it enters. In steps a block moves by one square. In
slides it moves any way through squares that are empty, even around corners: for each two places of a block there are as
many moves as there are least sets of squares that must be empty.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from antipodes.puzzles.blocks.board import squares_covered
from antipodes.puzzles.blocks.kinds import Kind
from antipodes_tasks.errors import ConfigError
from antipodes_tasks.rules.squares import DIRECTIONS, Square, square_name
from antipodes_tasks.rules.transforms import Transforms

MOST_MOVES = 1 << 12
"""Moves of all blocks: every position is tried for each."""


class BlockMove(NamedTuple):
    """A block of a kind goes from one first square to another."""

    kind: int
    origin: Square
    destination: Square
    empty: frozenset[Square]
    """The squares that must be empty."""


@dataclass(frozen=True)
class BlockMoves:
    """All moves of blocks on the squares of a board."""

    kinds: tuple[Kind, ...]
    squares: tuple[Square, ...]
    """The square of each place."""
    rows: int
    empty: int
    """The number of empty squares."""
    slides: bool

    def transforms(self, symbols: int) -> Transforms:
        """The moves on labels: 0 is empty, and a block's first square has the number of its kind, from 1.

        ConfigError if there are too many.
        """
        moves = self._all()
        place = {square: number for number, square in enumerate(self.squares)}
        origin = np.tile(np.arange(len(place), dtype=np.int16), (len(moves), 1))
        allowed = np.full(origin.shape, ~np.uint64(0))
        for number, move in enumerate(moves):
            allowed[number, place[move.origin]] = np.uint64(1) << np.uint64(move.kind + 1)
            allowed[number, [place[square] for square in move.empty]] = 1
            for to, come_from in self._exchanged(move):
                origin[number, place[to]] = place[come_from]
        return Transforms(map(self._name, moves), origin, [symbols] * len(place), allowed=allowed)

    def _all(self) -> list[BlockMove]:
        found: list[BlockMove] = []
        for number in range(len(self.kinds)):
            for move in self._of_kind(number):
                found.append(move)
                self._check_number(len(found))
        return sorted(found, key=lambda move: min(move.empty))  # searches skip all moves onto a square that is taken

    def _check_number(self, moves: int) -> None:
        if moves > MOST_MOVES:
            fewer = 'moves = "steps"' if self.slides else "a smaller board"
            raise ConfigError(f"moves: expected at most {MOST_MOVES:,} moves of blocks, found more: choose {fewer}")

    def _of_kind(self, number: int) -> Iterator[BlockMove]:
        kind, board = self.kinds[number], set(self.squares)
        places = [square for square in self.squares if self._fits(kind, square, board)]
        for origin in places:
            for destination, empty in self._ways(kind, origin, set(places)):
                yield BlockMove(number, origin, destination, empty)

    def _fits(self, kind: Kind, first: Square, board: set[Square]) -> bool:
        return kind.may_stand(first) and board.issuperset(squares_covered(kind, first))

    def _ways(self, kind: Kind, origin: Square, places: set[Square]) -> Iterator[tuple[Square, frozenset[Square]]]:
        """Where a block can go, each with a least set of squares that must be empty."""
        own = frozenset(squares_covered(kind, origin))
        least: dict[Square, list[frozenset[Square]]] = {origin: [frozenset()]}
        waiting = deque([(origin, frozenset[Square]())])
        while waiting:
            self._check_number(len(waiting))
            at, empty = waiting.popleft()
            if empty not in least[at] or (at != origin and not self.slides):
                continue
            for down, right in DIRECTIONS:
                after = at[0] + down, at[1] + right
                needed = empty | (frozenset(squares_covered(kind, after)) - own)
                known = least.setdefault(after, [])
                if after not in places or len(needed) > self.empty or any(one <= needed for one in known):
                    continue
                known[:] = [one for one in known if not needed <= one] + [needed]
                waiting.append((after, needed))
        del least[origin]
        return ((after, empty) for after, sets in least.items() for empty in sets)

    def _exchanged(self, move: BlockMove) -> Iterator[tuple[Square, Square]]:
        """For each square that changes, the square whose content it gets."""
        kind = self.kinds[move.kind]
        before, after = (squares_covered(kind, first) for first in (move.origin, move.destination))
        yield from zip(after, before, strict=True)
        yield from zip(sorted(set(before) - set(after)), sorted(set(after) - set(before)), strict=True)

    @cached_property
    def _square_names(self) -> frozenset[str]:
        return frozenset(square_name(square, self.rows) for square in self.squares)

    def _name(self, move: BlockMove) -> str:
        """The block, by its letter if it alone has its shape, else by its square; and where it goes.

        A letter that is the name of a square would be taken for the block on that square.
        """
        letters = self.kinds[move.kind].letters
        by_letter = len(letters) == 1 and letters[0] not in self._square_names
        block = letters[0] if by_letter else square_name(move.origin, self.rows)
        (row, column), (to_row, to_column) = move.origin, move.destination
        to = square_name(move.destination, self.rows)
        return f"{block}-{to if self.slides else DIRECTIONS[to_row - row, to_column - column]}"
