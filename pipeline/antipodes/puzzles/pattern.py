"""Patterns: sets of positions, written like a position.

========== ==========================================================================
``A``      the piece A is here
``[AB]``   A or B is here
``[^AB]``  a piece other than A and B is here
``?``      any piece is here
``{ABC}``  A, B and C are on the next three squares, in any order
========== ==========================================================================

Symbols of several characters need separators, also in brackets: ``{10 11 12}``. Either all holes of the board are
written as ``#``, or all are omitted.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, pairwise

import numpy as np

from antipodes.puzzles.block_board import EMPTY, BlockBoard, squares_covered, walled_pairs
from antipodes.puzzles.board import HOLE, Board
from antipodes.puzzles.notation import ROW_ENDS, SEPARATORS
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels, Mask, Numbers
from antipodes_tasks.base.errors import PatternError, PositionError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.rules.squares import squares_of

GROUP = re.compile(r"\[(?P<choice>[^][{}]*)\]|\{(?P<bag>[^][{}]*)\}|(?P<run>[^][{}\s,/]+)|[\s,/]+|(?P<wrong>.)")
ANYTHING, NOT = "?", "^"
BATCH = 1 << 16
"""Maximum number of positions of a batch."""
Fill = Callable[[Labels, Numbers], tuple[Labels, Numbers]]
"""Function that fills one place of positions ``(n, places)`` with every possible piece.

Its second argument is the number of pieces of each label that are left for each position, ``(n, labels)``. It returns
the new positions and the pieces that are left for them."""


@dataclass(frozen=True, slots=True)
class _Group:
    """A group of a pattern: a bag (pieces in any order, one square for each), or the choices for one square."""

    labels: tuple[int, ...]
    """The labels in a bag, or the labels that the square may have; empty for a hole."""
    bag: bool
    part: int = 0
    """The number of the puzzle's part to which the labels belong."""

    @property
    def squares(self) -> int:
        return len(self.labels) if self.bag else 1


@dataclass(frozen=True, slots=True)
class _Step:
    """A step that fills one place with a label from a pool."""

    place: int
    labels: tuple[int, ...]
    first: int
    """The number of the part's first label among the labels of all parts."""
    pool: Numbers | None
    """``(labels,)``: the count of each label of all parts in the pool, if a new pool begins at this step; None keeps
    the pool of the previous step."""


@dataclass(frozen=True)
class Pattern:
    """The positions of a puzzle that match a text."""

    puzzle: Puzzle
    text: str
    groups: tuple[_Group, ...]

    @classmethod
    def parse(cls, puzzle: Puzzle, text: str) -> "Pattern":
        """Read a pattern.

        Raises PatternError if the pattern covers too many or too few squares, names an unknown piece, needs more pieces
        of a kind than the puzzle has, has an unbalanced bracket, or has a bag that extends over two parts.
        """
        arguments.instance(puzzle, Puzzle, "a Puzzle")
        arguments.text(text, "a pattern", PatternError)
        try:
            parts, square = list[tuple[str, list[_Group]]](), 0
            for part in GROUP.finditer(text):
                parts.append((part[0], list(_groups(puzzle, part, square))))
                square += sum(group.squares for group in parts[-1][1])
            pattern = cls(puzzle, text, tuple(_places_only(puzzle, [group for _, groups in parts for group in groups])))
            if isinstance(puzzle.notation, Board):
                _check_rows(puzzle.notation, parts)
            _check_parts(puzzle, pattern.groups)
            symbols = [symbol for part in puzzle.parts for symbol in part.symbols]
            _check_left(pattern._counts.tolist(), symbols, pattern._free)
        except (PatternError, PositionError) as error:
            raise PatternError(f"pattern {quote(shorten(text))}: {error}") from None
        return pattern

    def batches(self) -> Iterator[Labels]:
        """Yield all positions that match, each once, in batches ``(n, places)`` of at most BATCH positions."""
        nothing = np.zeros(self.puzzle.places, dtype=np.uint8)
        return _filled(nothing, self._free, [partial(_fill, step) for step in self._steps])

    @property
    def allowed(self) -> list[tuple[int, ...]]:
        """The labels that each place may hold; raises PatternError if the pattern has pieces in any order."""
        if any(group.squares != 1 for group in self.groups):
            raise PatternError("pieces in any order, {...}, are not possible here; give the piece on each place")
        return [group.labels for group in self.groups]

    def matches(self, labels: Labels) -> Mask:
        """Return which of the positions ``(n, places)`` match, ``(n,)``."""
        found, place = np.ones(len(labels), dtype=np.bool_), 0
        for group in self.groups:
            here = labels[:, place : place + group.squares]
            if group.bag:
                found &= (np.sort(here, axis=1) == np.sort(group.labels)).all(axis=1)
            else:
                found &= np.isin(here[:, 0], group.labels)
            place += group.squares
        return found

    @cached_property
    def _first(self) -> list[int]:
        """The number of each part's first label among the labels of all parts."""
        return list(accumulate((len(part.symbols) for part in self.puzzle.parts), initial=0))

    @cached_property
    def _counts(self) -> Numbers:
        """``(labels,)``: the maximum count of each label of all parts; a value may be on every place of its part."""
        counts = [part.counts or (part.places,) * len(part.symbols) for part in self.puzzle.parts]
        return np.array([count for own in counts for count in own], dtype=np.int64)

    @cached_property
    def _free(self) -> Numbers:
        """``(labels,)``: the number of pieces of each label that are not in a bag."""
        free: Numbers = self._counts - sum(self._count(group) for group in self.groups if group.bag)
        return free

    @cached_property
    def _steps(self) -> list[_Step]:
        """The steps: first the bags, each with its own pool, then the other places, ordered by number of labels."""
        steps, singles, place = [], [], 0
        for group in self.groups:
            first = self._first[group.part]
            labels, pool = tuple(sorted(set(group.labels))), self._count(group)
            for offset in range(group.squares):
                if group.bag:
                    steps.append(_Step(place + offset, labels, first, None if offset else pool))
                else:
                    singles.append(_Step(place, group.labels, first, None))
            place += group.squares
        singles.sort(key=lambda step: len(step.labels))
        if singles:
            singles[0] = replace(singles[0], pool=self._free)
        return steps + singles

    def _count(self, group: _Group) -> Numbers:
        """Return ``(labels,)``: the count of each label of all parts in a group."""
        numbers = np.array(group.labels, dtype=np.int64) + self._first[group.part]
        return np.bincount(numbers, minlength=self._first[-1])


def _check_parts(puzzle: Puzzle, groups: Sequence[_Group]) -> None:
    """Raise PatternError for the first bag that extends over two parts."""
    place = 0
    for group in groups:
        if place + group.squares > puzzle.rules.ranges[group.part].stop:
            raise PatternError("pieces in any order, {...}, must not extend over two parts of the position")
        place += group.squares


def _check_left(counts: Sequence[int], symbols: Sequence[str], left: Numbers) -> None:
    """Raise PatternError for the first piece that the pattern uses too often: a negative number of it is left."""
    for label in np.flatnonzero(left < 0).tolist():
        most, symbol = counts[label], symbols[label]
        raise PatternError(f"expected at most {most} x {symbol!r}, found {most - int(left[label])}")


def _filled(labels: Labels, left: Numbers, steps: Sequence[Fill]) -> Iterator[Labels]:
    """Apply the steps to one position ``(places,)`` and the pieces left; yield the resulting positions in batches."""
    waiting = [(0, labels[np.newaxis], left[np.newaxis])]
    while waiting:
        number, some, of_each = waiting.pop()
        if number == len(steps):
            yield some
            continue
        some, of_each = steps[number](some, of_each)
        parts = range(0, len(some), BATCH)
        waiting += [(number + 1, some[at : at + BATCH], of_each[at : at + BATCH]) for at in reversed(parts)]


def _fill(step: _Step, labels: Labels, left: Numbers) -> tuple[Labels, Numbers]:
    """Fill one more place with every possible label; return the new positions and the rest of the pool for each."""
    if step.pool is not None:
        left = np.repeat(step.pool[np.newaxis], len(labels), axis=0)
    numbers = np.array(step.labels, dtype=np.int64) + step.first
    rows, chosen = np.nonzero(left[:, numbers])
    labels, left = labels[rows], left[rows]
    labels[:, step.place] = np.array(step.labels, dtype=np.uint8)[chosen]
    left[np.arange(len(rows)), numbers[chosen]] -= 1
    return labels, left


def _groups(puzzle: Puzzle, part: re.Match[str], square: int) -> Iterator[_Group]:
    """Yield the groups in a matched piece of the text; ``square`` is the square at which it begins."""
    if part["wrong"]:
        raise PatternError(f"expected brackets in pairs, found {quote(part['wrong'])}")
    if part["run"] is not None:
        for here, symbol in enumerate(_symbols(puzzle, part["run"]), start=square):
            own = _part_at(puzzle, here)
            if symbol == HOLE and isinstance(puzzle.notation, Board):
                yield _Group((), bag=False)
            elif symbol == ANYTHING:
                yield _Group(tuple(range(len(puzzle.parts[own].symbols))), bag=False, part=own)
            else:
                yield _Group((_label(puzzle, own, symbol),), bag=True, part=own)
    own = _part_at(puzzle, square)
    if part["bag"] is not None:
        yield _Group(_listed(puzzle, own, part[0], part["bag"]), bag=True, part=own)
    if (choice := part["choice"]) is not None:
        labels = set(_listed(puzzle, own, part[0], choice.removeprefix(NOT)))
        if choice.startswith(NOT):
            labels = set(range(len(puzzle.parts[own].symbols))) - labels
            if not labels:
                raise PatternError(f"{quote(part[0])} excludes every piece")
        yield _Group(tuple(sorted(labels)), bag=False, part=own)


def _part_at(puzzle: Puzzle, square: int) -> int:
    """Return the index of the part to which a square belongs; the last part if the square is beyond the end.

    Squares are counted like places, because boards with holes have a single part.
    """
    return next((number for number, at in enumerate(puzzle.rules.ranges) if square < at.stop), len(puzzle.parts) - 1)


def _listed(puzzle: Puzzle, part: int, group: str, written: str) -> tuple[int, ...]:
    """Return the labels of the symbols in brackets."""
    labels = tuple(_label(puzzle, part, symbol) for symbol in _symbols(puzzle, written))
    if not labels:
        raise PatternError(f"the brackets {quote(group)} contain no pieces")
    return labels


def _symbols(puzzle: Puzzle, text: str) -> list[str]:
    """Return the symbols of a text; they need no separators if all symbols are single characters."""
    words = [run for run in SEPARATORS.split(text) if run]
    single = all(part.single_characters for part in puzzle.parts)
    return [symbol for run in words for symbol in (run if single or set(run) <= {ANYTHING, HOLE} else [run])]


def _label(puzzle: Puzzle, part: int, symbol: str) -> int:
    if isinstance(puzzle.notation, Board) and symbol in puzzle.notation.empty_symbols:
        return 0
    label = puzzle.parts[part].labels.get(symbol)
    if label is None:
        expected = shorten(" ".join(puzzle.parts[part].symbols))
        raise PatternError(f"expected one of {expected}, found {quote(symbol)}")
    return label


def _places_only(puzzle: Puzzle, groups: list[_Group]) -> list[_Group]:
    """Return the groups without holes; raise PatternError unless the board has the same holes."""
    holes, square = set(), 0
    for group in groups:
        if not group.labels:
            holes.add(square)
        square += group.squares
    expected = puzzle.board.rows * puzzle.board.columns if holes else puzzle.places
    if square != expected:
        raise PatternError(f"expected {expected} squares, found {square}")
    if holes and holes != puzzle.board.holes:
        raise PatternError(puzzle.board.described(min(holes ^ puzzle.board.holes)))
    return [group for group in groups if group.labels]


def _check_rows(board: Board, parts: Sequence[tuple[str, Sequence[_Group]]]) -> None:
    """Raise PositionError if the lines of the pattern are not the rows of the board. A bag may extend over rows."""
    ends, in_bags, square = set[int](), set[int](), 0
    for text, groups in parts:
        if not groups and ROW_ENDS.search(text):
            ends.add(square)
        for group in groups:
            in_bags.update(range(square + 1, square + group.squares))
            square += group.squares
    if ends - {0, square}:
        ends |= in_bags & set(accumulate(board.row_lengths(square)))
        board.check_rows([end - begin for begin, end in pairwise(sorted(ends | {0, square}))])


UNDECIDED = 255
"""Value of a place whose label the pattern leaves open."""


@dataclass(frozen=True, eq=False)
class BlockPattern:
    """The positions of a block puzzle that match a text, which is written like a position.

    A letter is a block, ``.`` an empty square, and ``?`` a square with any content.
    """

    puzzle: Puzzle
    board: BlockBoard
    labels: Labels
    """``(places,)``: the label that the pattern requires on each place, or UNDECIDED."""

    @classmethod
    def parse(cls, puzzle: Puzzle, text: str) -> "BlockPattern":
        """Read a pattern.

        Raises PatternError if the text has the wrong number of squares, or blocks that the puzzle does not have.
        """
        arguments.text(text, "a pattern", PatternError)
        board = puzzle.notation
        assert isinstance(board, BlockBoard)
        try:
            pattern = cls(puzzle, board, _labels(puzzle, board, text))
            _check_left(puzzle.rules.counts, puzzle.rules.symbols, pattern._unnamed_counts)
        except (PositionError, PatternError) as error:
            raise PatternError(f"pattern {quote(shorten(text))}: {error}") from None
        return pattern

    @property
    def named(self) -> set[str]:
        """The symbols of the kinds of blocks in the pattern."""
        return {self.puzzle.rules.symbols[label] for label in set(self.labels.tolist()) if 0 < label < self._rest}

    def batches(self) -> Iterator[Labels]:
        """Yield all positions that match, reachable or not, each once, in batches ``(n, places)``."""
        return _filled(
            self.labels, self._unnamed_counts, [partial(self._decided, at) for at in range(self.puzzle.places)]
        )

    def matches(self, labels: Labels) -> Mask:
        """Return which of the positions ``(n, places)`` match, ``(n,)``."""
        found: Mask = ((self.labels == UNDECIDED) | (labels == self.labels)).all(axis=1)
        return found

    def _decided(self, place: int, labels: Labels, left: Numbers) -> tuple[Labels, Numbers]:
        """Fill a place in every possible way; return the new positions and the pieces left for each."""
        open_ = labels[:, place] == UNDECIDED
        found, counts = [labels[~open_]], [left[~open_]]
        labels, left = labels[open_], left[open_]
        for label, covered in self._choices[place]:
            fits = (left[:, label] > 0) & (labels[:, covered] == UNDECIDED).all(axis=1)
            filled, rest = labels[fits], left[fits]
            filled[:, covered] = self._rest
            filled[:, place] = label
            rest[:, label] -= 1
            found.append(filled)
            counts.append(rest)
        return np.concatenate(found), np.concatenate(counts)

    @property
    def _rest(self) -> int:
        return len(self.board.kinds) + 1

    @cached_property
    def _choices(self) -> list[list[tuple[int, list[int]]]]:
        """For each place, the labels that it may have, each with the places that a block with this label covers."""
        squares = squares_of(self.board.rows, self.board.columns, self.board.holes)
        place = {square: number for number, square in enumerate(squares)}
        choices = []
        for square in squares:
            choices.append([(0, [place[square]])])
            for label, kind in enumerate(self.board.kinds, start=1):
                covered = squares_covered(kind, square)
                crossed = walled_pairs(covered, self.board.walls)
                if kind.may_stand(square) and place.keys() >= set(covered) and not crossed:
                    choices[-1].append((label, [place[one] for one in covered]))
        return choices

    @cached_property
    def _unnamed_counts(self) -> Numbers:
        """The number of pieces of each label that the pattern does not name."""
        named = np.bincount(self.labels, minlength=UNDECIDED + 1)[: self._rest]
        left: Numbers = np.array(self.puzzle.rules.counts[: self._rest]) - named
        return left


def _labels(puzzle: Puzzle, board: BlockBoard, text: str) -> Labels:
    rows = board.grid(text)
    symbols = board.places_of([[EMPTY if symbol == ANYTHING else symbol for symbol in row] for row in rows])
    number = {symbol: label for label, symbol in enumerate(puzzle.rules.symbols)}
    pairs = [
        (written, symbol)
        for row, drawn in zip(rows, symbols, strict=True)
        for written, symbol in zip(row, drawn, strict=True)
    ]
    labels = [UNDECIDED if written == ANYTHING else number[symbol] for written, symbol in pairs if written != HOLE]
    return np.array(labels, dtype=np.uint8)


def batches(puzzle: Puzzle, pattern: str) -> Iterator[Labels]:
    """Yield all positions that match a pattern, each once, in batches ``(n, places)``.

    Raises PatternError if the pattern is invalid.
    """
    return map(puzzle.rules.whole, parse_pattern(puzzle, pattern).batches())


def parse_pattern(puzzle: Puzzle, text: str) -> Pattern | BlockPattern:
    """Return the pattern that a text describes; raise PatternError if it is not a pattern of the puzzle."""
    return (BlockPattern if isinstance(puzzle.notation, BlockBoard) else Pattern).parse(puzzle, text)


def all_placements(puzzle: Puzzle) -> Iterator[Labels]:
    """Yield all arrangements of the blocks of a block puzzle, reachable or not, in batches ``(n, places)``."""
    board = puzzle.notation
    assert isinstance(board, BlockBoard)
    return BlockPattern(puzzle, board, np.full(puzzle.places, UNDECIDED, dtype=np.uint8)).batches()
