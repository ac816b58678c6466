"""Puzzles: rules, together with a notation for positions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from antipodes.drawing.picture import Picture
from antipodes.puzzles.board import Board
from antipodes.puzzles.notation import Notation, labels_in
from antipodes.puzzles.packed_positions import packed
from antipodes.puzzles.sequences import SequenceMoves, names_along
from antipodes.puzzles.settings import GOAL, POSITIONS, PYTHON, STARTS
from antipodes_tasks.base import arguments, values
from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import InputError, PositionError
from antipodes_tasks.base.quoting import counted, quote, shorten
from antipodes_tasks.keys.bit_fields import Fields
from antipodes_tasks.keys.packing import rows_of, squeezed
from antipodes_tasks.keys.sorted_keys import sorted_unique
from antipodes_tasks.rules.footprints import Footprints
from antipodes_tasks.rules.moves import LegalMoves, Moves, Successors
from antipodes_tasks.rules.parts import Part, first_wrong
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.starts import Starts
from antipodes_tasks.rules.transforms import Transforms

PositionLike = str | ArrayLike
"""One position, as text or labels ``(places,)``."""
PositionsLike = Sequence[str] | ArrayLike
"""Many positions, as texts or labels ``(n, places)``."""


@dataclass(frozen=True, repr=False)
class Puzzle:
    """A puzzle: its rules (parts, starts and moves) and its notation.

    A position is an array of labels (see `Labels`). It can be written as one line of text, and drawn in several lines.
    Tables depend only on the `rules`.
    """

    rules: Rules
    family: str
    description: str
    notation: Notation
    sequence_moves: Moves | None = None
    """More named moves, for use in sequences only: rotations of the whole puzzle, and other names of moves."""
    settings: Mapping[str, Any] | None = field(default=None, compare=False)
    """The ``[puzzle]`` table from which a store rebuilds the puzzle; None if the puzzle was made in Python."""

    def __repr__(self) -> str:
        size = f"{counted(self.places, 'place')}, {counted(len(self.moves), 'move')}"
        return f"<Puzzle {shorten(self.name, 40)}: {self.family}, {size}>"

    @classmethod
    def of(
        cls,
        name: str,
        family: str,
        description: str,
        notation: Notation,
        parts: Sequence[Part],
        starts: Sequence[tuple[int, ...]],
        moves: Moves,
        *,
        enumerated: bool = False,
        sequence_moves: Moves | None = None,
        footprints: Footprints | None = None,
    ) -> Puzzle:
        """Return the puzzle with these parts, starts and moves."""
        layout = notation.layout if isinstance(notation, Board) else None
        rules = Rules(tuple(parts), tuple(starts), moves, enumerated, name=name, layout=layout, footprints=footprints)
        return cls(rules, family, description, notation, sequence_moves)

    @property
    def name(self) -> str:
        """Name of the puzzle and of its store."""
        return self.rules.name

    @property
    def parts(self) -> tuple[Part, ...]:
        """See `Rules.parts`."""
        return self.rules.parts

    @property
    def starts(self) -> Sequence[tuple[int, ...]]:
        """The positions at depth 0."""
        return self.rules.starts

    @property
    def moves(self) -> Moves:
        """The moves."""
        return self.rules.moves

    @property
    def places(self) -> int:
        """Number of places."""
        return self.rules.places

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbol of each label of the first part."""
        return self.rules.symbols

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of pieces with each label if all places form a single part that holds pieces; otherwise empty."""
        return self.rules.counts

    @property
    def depth_zero(self) -> str:
        """The word for the positions at depth 0: "goal" if the puzzle's file names a goal, else "start"."""
        settings = self.settings or {}
        named = GOAL in settings and STARTS not in settings
        return "goal" if named or self.rules.origin is not None else "start"

    @property
    def board(self) -> Board:
        """The notation, which must be a board; raises InputError if it is not."""
        if not isinstance(self.notation, Board):
            raise InputError(f"{self.name}, of the family {self.family}, is not played on a board")
        return self.notation

    @property
    def start_labels(self) -> Labels:
        """The starts, or the goals if the file names a goal, ``(starts, places)``.

        Goals that the ``start`` cannot reach are included, because only a search can find them. In ``blocks``, and with
        ``enumerated``, tables do not contain these goals: ``table.positions_at(0)`` returns the others.
        """
        return self.rules.start_labels

    def starting_at(self, positions: PositionsLike, *, name: str) -> Puzzle:
        """Return the same puzzle under another name, with these positions (texts or labels ``(n, places)``) as starts.

        There may be millions of starts, such as ``table.positions_at(5)``. Symmetries are not computed for more than
        65,536 starts.

        A store of such a puzzle contains a compressed copy of the positions and can be opened anywhere. If the puzzle
        is defined by functions, or the copy would exceed 262,144 characters, the store only contains a digest. To open
        or resume the store, give the puzzle as well: ``open_table(store, puzzle=...)``, ``--puzzle path.py:name``.

        Raises PositionError if ``positions`` contains an invalid position, and InputError if it is empty.
        """
        values.NAME.check(arguments.text(name, "name"), "name")
        found = self.with_starts(self.positions(positions), name)
        return replace(found, settings=_with_positions(self.settings, found))

    def with_starts(self, positions: Labels, name: str) -> Puzzle:
        """Return the same puzzle as `starting_at`, but without settings."""
        starts = starts_of([self.checked(positions)], self.moves, self.parts)
        if not starts:
            raise InputError("positions: the list is empty; give at least one position")
        return replace(self, rules=replace(self.rules, starts=starts, origin=None, name=name), settings=None)

    @property
    def fingerprint(self) -> str:
        """See `Rules.fingerprint`."""
        return self.rules.fingerprint

    def parse(self, text: str) -> Labels:
        """Return the labels ``(places,)`` of a position given as text.

        Raises PositionError if the text has the wrong number of symbols, an unknown symbol, or the wrong pieces.
        """
        arguments.text(text, "a position", PositionError)
        try:
            labels = labels_in(text, self.notation, self.rules)
            if not self.rules.holds(labels):
                self.checked([labels])  # raises
        except PositionError as error:
            raise PositionError(f"position {quote(shorten(text))}: {error}") from None
        return self.moves.canonical(np.array(labels, dtype=np.uint8))

    def is_position(self, text: str) -> bool:
        """Return whether `parse` accepts the text."""
        try:
            self.parse(text)
        except PositionError:
            return False
        return True

    def parse_many(self, texts: Sequence[str]) -> Labels:
        """Return the labels ``(n, places)`` of many texts; raise the error of `parse` for the first invalid text."""
        _check_list(texts)

        def parse_all(texts: Sequence[str]) -> Labels:
            labels = [labels_in(text, self.notation, self.rules) for text in texts]
            return self.checked(np.array(labels).reshape(-1, self.places))

        try:
            return parse_all(texts)
        except PositionError:
            self.parse(texts[first_wrong(len(texts), lambda at: parse_all(texts[at]))])
            raise

    def checked(self, labels: ArrayLike) -> Labels:
        """Return the integers ``(n, places)`` as labels after checking that they are positions; see `Rules.checked`."""
        return self.rules.checked(labels)

    def positions(self, positions: PositionsLike) -> Labels:
        """Return positions, given as texts or labels, as labels ``(n, places)``.

        Raises the errors of `parse_many` and `checked`.
        """
        if isinstance(positions, list | tuple) and (not positions or isinstance(positions[0], str)):
            return self.parse_many(positions)
        return self.checked(positions)

    def format(self, labels: ArrayLike) -> str:
        """Return the position as one line of text, which `parse` can read; raise PositionError if it is invalid."""
        return self.notation.join(self.rules.written(labels))

    def draw(self, labels: ArrayLike) -> str:
        """Return a drawing of the position in several lines of text; raise PositionError if it is invalid."""
        return self.notation.draw(self.rules.written(labels))

    def picture(self, labels: ArrayLike) -> Picture:
        """Return a picture of the position; raise PositionError if it is invalid."""
        return self.notation.picture(self.rules.written(labels))

    def highlighted(self, labels: ArrayLike) -> frozenset[tuple[int, int]]:
        """Return the line and column of each character of `draw` that is inside a block of a goal.

        Raises PositionError if the position is invalid.
        """
        return self.notation.highlighted(self.rules.written(labels))

    def followed(self, before: ArrayLike, after: ArrayLike) -> Puzzle:
        """Return the puzzle for the position after a move; each piece keeps the name that it had before the move."""
        notation = self.notation.followed(self.rules.written(before), self.rules.written(after))
        return self if notation is self.notation else replace(self, notation=notation)

    def along(self, path: ArrayLike) -> Iterator[tuple[Puzzle, Labels]]:
        """Yield each position of a path ``(length + 1, places)`` with the puzzle to write and draw it.

        Interchangeable blocks keep their letters along the path if each position is written and drawn by the puzzle
        with which it is yielded: ``puzzle.format(position)``, ``puzzle.draw(position)``, ``puzzle.picture(position)``.

        Raises PositionError if the path contains an invalid position.
        """
        positions = self.checked(path)
        here = self
        for number, position in enumerate(positions):
            here = here.followed(positions[number - 1], position) if number else self
            yield here, position

    def format_path(self, path: ArrayLike) -> list[str]:
        """Return the positions of a path ``(length + 1, places)`` as lines of text; see `along`."""
        return [puzzle.format(position) for puzzle, position in self.along(path)]

    def successors(self, labels: ArrayLike) -> Labels:
        """Return all successors of one position, ``(k, places)``; for many positions see `successors_many`.

        Raises PositionError if the position is invalid.
        """
        return self.rules.successors(labels)

    @overload
    def successors_many(self, positions: PositionsLike, *, compact: Literal[False] = False) -> Successors: ...

    @overload
    def successors_many(self, positions: PositionsLike, *, compact: Literal[True]) -> LegalMoves: ...

    @overload
    def successors_many(self, positions: PositionsLike, *, compact: bool) -> Successors | LegalMoves: ...

    def successors_many(self, positions: PositionsLike, *, compact: bool = False) -> Successors | LegalMoves:
        """Return the successors of many positions (texts or labels ``(n, places)``), and which moves are legal.

        The result has arrays over all moves, legal or not: ``n * moves * places`` bytes. A ``compact`` result
        lists only the legal moves: the number of the position, the number of the move and the position after it.

        Raises PositionError if one of the positions is invalid.
        """
        labels = self.positions(positions)
        is_compact = arguments.flag(compact, "compact")
        return self.moves.legal_moves(labels) if is_compact else self.moves.successors_many(labels)

    def predecessors(self, labels: ArrayLike) -> Labels:
        """Return all predecessors of a position, ``(k, places)``; raise PositionError if it is invalid."""
        return self.rules.predecessors(labels)

    def move_names(self, path: ArrayLike) -> list[str] | None:
        """Return the names of the moves along a path ``(length + 1, places)``; None if moves have no names.

        Raises PositionError if the path contains an invalid position, or a step that is not a move.
        """
        if not self.moves.names:
            return None
        positions = self.checked(path)
        names = names_along(self.moves, positions)
        for step, name in enumerate(names):
            if name is None:
                before, after = self.format(positions[step]), self.format(positions[step + 1])
                raise PositionError(f"no move leads from {shorten(before)} to {shorten(after)}")
        return [name for name in names if name is not None]

    @property
    def actions(self) -> tuple[str, ...] | range:
        """The different names of the moves, or the numbers of the moves if they have no names."""
        return tuple(dict.fromkeys(self.moves.names)) or range(len(self.moves))

    @property
    def permutations(self) -> Numbers:
        """The moves as permutations, ``(moves, points)``: a row ``p`` means ``after[i] = before[p[i]]``.

        The points are the places; a place with an orientation has one point for each orientation. Raises InputError if
        the moves are not permutations that are always legal.
        """
        moves = Transforms.of(self.moves)
        if moves is None or moves.allowed is not None:
            raise InputError(f"the moves of {self.name} are not permutations that are always legal")
        return moves.permutations()

    def apply(self, position: PositionLike, move: str | int) -> Labels:
        """Return the position ``(places,)`` after a move, given by its name or its number in `actions`.

        Free moves are given by their names.

        Raises PositionError if the position is invalid, or the move is not legal in it or does not exist, and
        InputError if there is no move with this number.
        """
        labels = self.parse(position) if isinstance(position, str) else self.rules.checked_one(position)
        actions = self.actions
        if isinstance(move, str) and move not in (*actions, *self.moves.free_moves):
            expected = f"expected one of {', '.join(map(str, actions))}"
            raise PositionError(f"there is no move {quote(shorten(move))}; {shorten(expected, 100)}")
        action = move if isinstance(move, str) else actions[arguments.integer(move, "a move", 0, len(actions) - 1)]
        if isinstance(action, str):
            after: Labels = self.follow(action, labels)[-1]
            return after
        moved, legal = self.moves.move(action, labels[np.newaxis])
        if not legal[0]:
            raise PositionError(f"move {action} is not legal in {shorten(self.format(labels))}")
        result: Labels = moved[0]
        return result

    @cached_property
    def sequences(self) -> SequenceMoves:
        """The names that sequences may contain, and their moves."""
        moves = self.moves.elementary
        kinds = (moves,) if self.sequence_moves is None else (moves, self.sequence_moves)
        return SequenceMoves(kinds, self.notation.spelling)

    def follow(self, sequence: str, start: ArrayLike | None = None) -> Labels:
        """Return the positions ``(length + 1, places)`` along a sequence of moves, by default from the first start.

        The sequence contains names of moves, as in ``"R U R' F2 (R U)3 [A: B]"``; see `antipodes.puzzles.sequences`.
        On cubes it may contain rotations, slices and wide turns, as in ``"x R M2 u'"``; the path then contains the
        positions after each of the turns that they abbreviate.

        Raises PositionError if moves have no names, the text is not a sequence of such names, or a move is not legal.
        """
        text = arguments.text(sequence, "a sequence of moves", PositionError)
        if not self.moves.names:
            raise PositionError(f"a sequence of moves is not possible: the moves of {self.name} have no names")
        begin = self.rules.first if start is None else self.rules.checked_one(start)
        try:
            return self.sequences.follow(text, begin)
        except PositionError as error:
            raise PositionError(f"moves {quote(shorten(text))}: {error}") from None

    def follow_many(self, sequences: Sequence[str]) -> Labels:
        """Return the position after each of many sequences of moves from the first start, ``(n, places)``.

        Raises the error of `follow` for the first invalid sequence.
        """
        _check_list(sequences)
        ends = [self.follow(sequence)[-1] for sequence in sequences]
        return np.array(ends, dtype=np.uint8).reshape(-1, self.places)


def _check_list(texts: object) -> None:
    """Raise PositionError unless the argument is a sequence of texts, not a single text."""
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise PositionError(f"expected a list of strings, found {arguments.found(texts)}")


def _with_positions(settings: Mapping[str, Any] | None, puzzle: Puzzle) -> Mapping[str, Any] | None:
    """Return settings with the name and starts of a puzzle.

    None if the puzzle is written in Python, has no settings, or has too many starts to store.
    """
    if settings is None or settings["family"] == PYTHON:
        return None
    positions = packed(puzzle.rules.given_starts)
    return None if positions is None else {**settings, "name": puzzle.name, STARTS: {POSITIONS: positions}}


MIN_ARRAY_STARTS = 1 << 16
"""Maximum number of starts that are kept as tuples; more are kept in one array."""


def starts_of(batches: Iterable[Labels], moves: Moves, parts: Sequence[Part]) -> Sequence[tuple[int, ...]]:
    """Return the positions in batches ``(n, places)`` as starts, without duplicates, in ascending order of keys."""
    fields = Fields.of(parts)
    keys = [np.empty((0, fields.words), dtype=np.uint64), *(fields.pack(moves.canonical(some)) for some in batches)]
    labels = fields.unpack(rows_of(sorted_unique(squeezed(np.concatenate(keys)))))
    return tuple(map(tuple, labels.tolist())) if len(labels) <= MIN_ARRAY_STARTS else Starts(labels)
