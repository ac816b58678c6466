"""Block puzzles such as Klotski and Rush Hour: pieces of one or more squares that slide through empty squares."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from antipodes.puzzles.block_board import (
    EMPTY,
    REST,
    BlockBoard,
    BlockKind,
    Walls,
    blocks_on,
    kinds_of,
    squares_covered,
    walled_pairs,
)
from antipodes.puzzles.board import HOLE, drawn_rows
from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.settings import MAX_PLACES, choice, flag, identity, refuse_unknown, starts_in, text, to_labels
from antipodes.puzzles.walls import walls_in
from antipodes_tasks.base.errors import ConfigError, PositionError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.rules.footprints import Footprint, Footprints
from antipodes_tasks.rules.parts import pieces
from antipodes_tasks.rules.squares import DIRECTIONS, Square, square_name, squares_of
from antipodes_tasks.rules.transforms import MAX_MASKED, Transforms

STEPS, SLIDES = "steps", "slides"


def blocks(settings: Mapping[str, Any]) -> Puzzle:
    """Return the block puzzle of a ``[puzzle]`` table, in which ``start`` draws the board and the blocks.

    Each letter is a block. ``moves`` selects what counts as one move: ``"steps"`` of one square, or ``"slides"`` of one
    block over any distance. With ``distinct``, blocks of one shape are distinguished; with ``axis``, each block only
    moves lengthwise. No block crosses ``walls``, or lies across one. The blocks of ``target`` are drawn in a separate
    colour.
    """
    refuse_unknown(settings, {"start", "moves", "distinct", "axis", "target", "walls"})
    slides = choice(settings, "moves", (STEPS, SLIDES)) == SLIDES
    distinct, axis = flag(settings, "distinct"), flag(settings, "axis")
    drawings = [drawn_rows(start, (EMPTY, HOLE), "blocks, '.' or '#'") for start in starts_in(settings)]
    try:
        board = _walled(_board(drawings[0], distinct, axis), settings)
        board = replace(board, targets=_targets(settings, board))
        starts = [board.split("/".join(map(" ".join, drawing)), ()) for drawing in drawings]
    except PositionError as error:
        raise ConfigError(f"start: {error}") from None
    symbols = _symbols(board)
    labels = to_labels(starts, symbols)
    squares = squares_of(board.rows, board.columns, board.holes)
    moves = BlockMoves(board.kinds, squares, board.rows, labels[0].count(0), slides, board.walls)
    return Puzzle.of(
        **identity(settings),
        family="blocks",
        notation=board,
        parts=(pieces(labels[0], symbols),),
        starts=labels,
        moves=moves.transforms(len(symbols)),
        enumerated=True,
        footprints=_footprints(board, moves.squares),
    )


def _footprints(board: BlockBoard, squares: Sequence[Square]) -> Footprints:
    """Return the places that a block of each kind covers, for every square on which it fits."""
    place = {square: number for number, square in enumerate(squares)}
    every = [
        Footprint(covered[0], label, tuple(sorted(covered[1:])))
        for label, kind in enumerate(board.kinds, start=1)
        for covered in _places_of_kind(kind, squares, place)
        if covered and not walled_pairs(squares_covered(kind, squares[covered[0]]), board.walls)
    ]
    return Footprints(len(board.kinds) + 1, tuple(every))


def _board(drawing: Sequence[Sequence[str]], distinct: bool, axis: bool) -> BlockBoard:
    rows, columns = len(drawing), len(drawing[0])
    if rows * columns > MAX_PLACES:
        raise ConfigError(f"start: expected at most {MAX_PLACES} squares, found {rows * columns}")
    squares = [symbol for row in drawing for symbol in row]
    found = blocks_on(drawing, EMPTY + HOLE)
    if not found:
        raise ConfigError("start: the board has no block; it needs at least one")
    if EMPTY not in squares:
        raise ConfigError("start: the board has no empty square '.'; it needs at least one")
    return BlockBoard(
        rows,
        columns,
        holes=frozenset(square for square, symbol in enumerate(squares) if symbol == HOLE),
        empty_symbols=(EMPTY,),
        separator="" if all(len(symbol) == 1 for symbol in squares) else " ",
        kinds=kinds_of(found, distinct, axis),
        distinct=distinct,
    )


def _walled(board: BlockBoard, settings: Mapping[str, Any]) -> BlockBoard:
    """Return the board with the walls of the settings."""
    squares = squares_of(board.rows, board.columns, board.holes)
    walls = walls_in(settings, board.rows, board.columns, board.holes)
    return replace(board, walls=frozenset((squares[one], squares[other]) for one, other in walls))


def _targets(settings: Mapping[str, Any], board: BlockBoard) -> frozenset[str]:
    """Return the symbols of the kinds of the blocks that ``target`` names."""
    letters = text(settings, "target").split() if "target" in settings else []
    kinds = {letter: kind.letters[0] for kind in board.kinds for letter in kind.letters}
    for letter in letters:
        if letter not in kinds:
            raise ConfigError(f"[puzzle] target: the start has no block {quote(letter)}")
    return frozenset(kinds[letter] for letter in letters)


def _symbols(board: BlockBoard) -> tuple[str, ...]:
    symbols = (EMPTY, *(kind.letters[0] for kind in board.kinds), REST)
    if len(symbols) > MAX_MASKED:
        raise ConfigError(f"start: expected at most {MAX_MASKED - 2} kinds of blocks, found {len(board.kinds)}")
    return symbols


def _places_of_kind(kind: BlockKind, squares: Sequence[Square], place: Mapping[Square, int]) -> list[tuple[int, ...]]:
    """Return, for each place, the places that a block covers if its first cell is there; empty if it does not fit."""
    covered = [squares_covered(kind, square) if kind.may_stand(square) else [] for square in squares]
    return [tuple(place[one] for one in of_block) if place.keys() >= set(of_block) else () for of_block in covered]


MAX_MOVES = 1 << 13
"""Maximum number of moves of all blocks, which are listed in a few seconds."""


class BlockShift(NamedTuple):
    """A move of a block, given by its first square before and after the move."""

    kind: int
    origin: Square
    destination: Square
    empty: frozenset[Square]
    """The squares that must be empty."""


@dataclass(frozen=True)
class BlockMoves:
    """All moves of blocks on a board, as permutations that are legal if the block is there and its path is empty.

    A moving block swaps its squares with the empty squares that it enters. In the metric "steps", a block moves by one
    square. In the metric "slides", it moves along any path of empty squares, even around corners: for each origin and
    destination there is one move per minimal set of squares that must be empty.
    """

    kinds: tuple[BlockKind, ...]
    squares: tuple[Square, ...]
    """The square of each place."""
    rows: int
    empty: int
    """Number of empty squares."""
    slides: bool
    walls: Walls = frozenset()

    def transforms(self, symbols: int) -> Transforms:
        """Return the moves on labels: 0 is an empty square, and a block's first square has its kind's number, from 1.

        Raises ConfigError if there are too many moves.
        """
        moves = self._all_moves()
        place = {square: number for number, square in enumerate(self.squares)}
        origin = np.tile(np.arange(len(place), dtype=np.int16), (len(moves), 1))
        allowed = np.full(origin.shape, ~np.uint64(0))
        for number, move in enumerate(moves):
            allowed[number, place[move.origin]] = np.uint64(1) << np.uint64(move.kind + 1)
            allowed[number, [place[square] for square in move.empty]] = 1
            for to, come_from in self._exchanged(move):
                origin[number, place[to]] = place[come_from]
        return Transforms(map(self._name, moves), origin, [symbols] * len(place), allowed=allowed)

    def _all_moves(self) -> list[BlockShift]:
        found: list[BlockShift] = []
        for number in range(len(self.kinds)):
            for move in self._of_kind(number):
                found.append(move)
                self._check_number(len(found))
        return sorted(found, key=lambda move: min(move.empty))  # so a search skips all moves onto an occupied square

    def _check_number(self, moves: int) -> None:
        if moves > MAX_MOVES:
            fewer = 'moves = "steps"' if self.slides else "a smaller board"
            raise ConfigError(f"moves: the blocks have more than {MAX_MOVES:,} moves; choose {fewer}")

    def _of_kind(self, number: int) -> Iterator[BlockShift]:
        kind, board = self.kinds[number], set(self.squares)
        places = [square for square in self.squares if self._fits(kind, square, board)]
        for origin in places:
            for destination, empty in self._ways(kind, origin, set(places)):
                yield BlockShift(number, origin, destination, empty)

    def _fits(self, kind: BlockKind, first: Square, board: set[Square]) -> bool:
        covered = squares_covered(kind, first)
        return kind.may_stand(first) and board.issuperset(covered) and not walled_pairs(covered, self.walls)

    def _ways(self, kind: BlockKind, origin: Square, places: set[Square]) -> Iterator[tuple[Square, frozenset[Square]]]:
        """Yield the destinations of a block, each with a minimal set of squares that must be empty."""
        covers = {square: self._mask(squares_covered(kind, square)) for square in places}
        free = ~covers[origin]
        minimal: dict[Square, list[int]] = {origin: [0]}
        waiting, found = deque([(origin, 0)]), 0
        while waiting:
            at, empty = waiting.popleft()
            if empty not in minimal[at] or (at != origin and not self.slides):
                continue
            for down, right in DIRECTIONS:
                after = at[0] + down, at[1] + right
                needed = empty | (covers.get(after, 0) & free)
                known = minimal.setdefault(after, [])
                if after not in places or self._crosses(kind, at, after):
                    continue
                if needed.bit_count() > self.empty or any(one & ~needed == 0 for one in known):
                    continue
                kept = [one for one in known if needed & ~one]
                found += len(kept) + 1 - len(known)
                self._check_number(found)
                known[:] = [*kept, needed]
                waiting.append((after, needed))
        del minimal[origin]
        return ((after, self._squares_of(empty)) for after, sets in minimal.items() for empty in sets)

    def _crosses(self, kind: BlockKind, before: Square, after: Square) -> bool:
        """Return whether a block crosses a wall when its first cell moves to the adjacent square ``after``."""
        steps = zip(squares_covered(kind, before), squares_covered(kind, after), strict=True)
        return bool(self.walls) and not self.walls.isdisjoint(steps)

    def _mask(self, squares: Iterable[Square]) -> int:
        return sum(1 << self._numbers[square] for square in squares)

    def _squares_of(self, mask: int) -> frozenset[Square]:
        return frozenset(square for square, number in self._numbers.items() if mask >> number & 1)

    @cached_property
    def _numbers(self) -> dict[Square, int]:
        return {square: number for number, square in enumerate(self.squares)}

    def _exchanged(self, move: BlockShift) -> Iterator[tuple[Square, Square]]:
        """Yield each square that changes and the square from which it gets its content."""
        kind = self.kinds[move.kind]
        before, after = (squares_covered(kind, first) for first in (move.origin, move.destination))
        yield from zip(after, before, strict=True)
        yield from zip(sorted(set(before) - set(after)), sorted(set(after) - set(before)), strict=True)

    @cached_property
    def _square_names(self) -> frozenset[str]:
        return frozenset(square_name(square, self.rows) for square in self.squares)

    def _name(self, move: BlockShift) -> str:
        """Return the name of a move: the block and its destination.

        The block is named by its letter if no other block has its shape, otherwise by its square. A letter that is also
        the name of a square is not used, because it would be ambiguous.
        """
        letters = self.kinds[move.kind].letters
        by_letter = len(letters) == 1 and letters[0] not in self._square_names
        block = letters[0] if by_letter else square_name(move.origin, self.rows)
        (row, column), (to_row, to_column) = move.origin, move.destination
        to = square_name(move.destination, self.rows)
        return f"{block}-{to if self.slides else DIRECTIONS[to_row - row, to_column - column]}"
