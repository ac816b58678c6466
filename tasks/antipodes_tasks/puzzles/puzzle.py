"""The model of a puzzle: labels on places, and moves that change them."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError, PositionError
from antipodes_tasks.puzzles.board import Board
from antipodes_tasks.puzzles.first_wrong import first_wrong
from antipodes_tasks.puzzles.moves.moves import Labels, Moves, Successors
from antipodes_tasks.puzzles.notation import Notation
from antipodes_tasks.puzzles.part import Part, hold, pieces, ranges_of
from antipodes_tasks.puzzles.picture import Picture
from antipodes_tasks.quoting import counted, quote, shorten

__all__ = ["Labels", "Moves", "Puzzle"]


@dataclass(frozen=True, repr=False)
class Puzzle:
    """A puzzle: its parts, where they start, how they move, and how positions are written.

    Positions are arrays of labels (see `Labels`), texts as a person writes them, or drawings of several lines. Tables
    depend on `parts`, `starts` and `moves` only.
    """

    name: str
    family: str
    description: str
    notation: Notation
    parts: tuple[Part, ...]
    """The parts of a position, side by side: pieces, and values such as orientations."""
    starts: tuple[tuple[int, ...], ...]
    """The positions at depth 0."""
    moves: Moves
    sequence_moves: Moves | None = None
    """Further moves by name, which only sequences have: rotations of the whole puzzle, other names of moves."""
    enumerated: bool = False
    """Whether only the positions that can be reached are numbered, since they are few: a search lists them."""
    origin: tuple[int, ...] | None = None
    """The position that is drawn beside goals, which are then the starts; sequences of moves begin there.

    Where only the positions that can be reached are numbered, it is from there.
    """
    settings: Mapping[str, Any] | None = field(default=None, compare=False)
    """The ``[puzzle]`` table that describes it, from which a store rebuilds it; None: it was made in Python."""

    def __repr__(self) -> str:
        size = f"{counted(self.places, 'place')}, {counted(len(self.moves), 'move')}"
        return f"<Puzzle {shorten(self.name, 40)}: {self.family}, {size}>"

    @classmethod
    def of_pieces(
        cls,
        name: str,
        family: str,
        description: str,
        notation: Notation,
        symbols: tuple[str, ...],
        starts: tuple[tuple[int, ...], ...],
        moves: Moves,
    ) -> "Puzzle":
        """A puzzle whose positions are the arrangements of the pieces of its starts."""
        return cls(name, family, description, notation, (pieces(starts[0], symbols),), starts, moves)

    @property
    def places(self) -> int:
        """The number of places."""
        return len(self.starts[0])

    @property
    def depth_zero(self) -> str:
        """The word for the positions at depth 0: "goal" if the puzzle's file has one, else "start"."""
        return "goal" if self.origin is not None or "goal" in (self.settings or {}) else "start"

    @property
    def board(self) -> Board:
        """The notation, if that is a board; else InputError."""
        if not isinstance(self.notation, Board):
            raise InputError(f"expected a puzzle on a board, found {self.name}, of the family {self.family}")
        return self.notation

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbol of each label of the first part."""
        return self.parts[0].symbols

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of pieces with each label, if the puzzle is one arrangement of pieces; else none."""
        return (self.parts[0].counts or ()) if len(self.parts) == 1 else ()

    @cached_property
    def ranges(self) -> tuple[slice, ...]:
        """The places of each part."""
        return ranges_of(self.parts)

    @cached_property
    def start_labels(self) -> Labels:
        """The starts, ``(starts, places)``."""
        return np.array(self.starts, dtype=np.uint8)

    @property
    def first(self) -> Labels:
        """The position ``(places,)`` where sequences of moves begin: the origin, else the first start."""
        return self.start_labels[0] if self.origin is None else np.array(self.origin, dtype=np.uint8)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of parts, starts and moves, and of an origin that decides what is numbered.

        Two puzzles with the same fingerprint have the same table.
        """
        parts = [[part.symbols, part.counts, part.places] for part in self.parts]
        digest = hashlib.sha256(json.dumps([parts, sorted(self.starts)]).encode())
        digest.update(self.moves.essence_from(self.start_labels))
        if self.enumerated and self.origin is not None:
            digest.update(bytes(self.origin))
        return digest.hexdigest()

    def parse(self, text: str) -> Labels:
        """Read one position, ``(places,)``.

        Raises
        ------
        PositionError
            The text has another number of symbols, a symbol that the puzzle does not know, or other pieces.
        """
        arguments.text(text, "a position", PositionError)
        try:
            labels = self._labels(text)
            if not hold(self.parts, self.ranges, labels):
                self.checked([labels])  # raises
        except PositionError as error:
            raise PositionError(f"position {quote(shorten(text))}: {error}") from None
        return np.array(labels, dtype=np.uint8)

    def is_position(self, text: str) -> bool:
        """Whether `parse` reads the text."""
        try:
            self.parse(text)
        except PositionError:
            return False
        return True

    def parse_many(self, texts: Sequence[str]) -> Labels:
        """Read many positions, ``(n, places)``; raises as `parse` for the first text that is not a position."""
        if isinstance(texts, str) or not isinstance(texts, Sequence):
            raise PositionError(f"expected a list of texts, found {arguments.found(texts)}")
        try:
            return self._parse_all(texts)
        except PositionError:
            self.parse(texts[first_wrong(len(texts), lambda at: self._parse_all(texts[at]))])
            raise

    def _parse_all(self, texts: Sequence[str]) -> Labels:
        return self.checked(np.array([self._labels(text) for text in texts]).reshape(-1, self.places))

    def _labels(self, text: str) -> list[int]:
        arguments.text(text, "a position", PositionError)
        written = self.notation.split(text, self.parts)
        return [
            label
            for part, here in zip(self.parts, self.ranges, strict=True)
            for label in map(part.labels.__getitem__, written[here])  # the notation has checked the symbols
        ]

    def checked_one(self, labels: ArrayLike) -> Labels:
        """As `checked`, for one position ``(places,)``."""
        one = arguments.integers(labels, f"a position of {counted(self.places, 'place')}", 1, PositionError)
        checked: Labels = self.checked(one[np.newaxis])[0]
        return checked

    def checked(self, labels: ArrayLike) -> Labels:
        """The integers ``(n, places)`` as labels, checked to have exactly the pieces of the puzzle in each row.

        Raises
        ------
        PositionError
            A row has other pieces, the message names the first surplus or missing one, or values out of range.
        """
        labels = arguments.integers(labels, f"positions (n, {self.places})", 2, PositionError)
        if labels.shape[1] != self.places:
            raise PositionError(f"expected positions of {counted(self.places, 'place')}, found an array {labels.shape}")
        for part, here in zip(self.parts, self.ranges, strict=True):
            part.check(labels[:, here])
        checked: Labels = labels.astype(np.uint8, copy=False)
        return checked

    def positions(self, positions: Sequence[str] | ArrayLike) -> Labels:
        """Many positions, texts or labels, as labels ``(n, places)``; raises as `parse_many` and `checked`."""
        if isinstance(positions, list | tuple) and positions and isinstance(positions[0], str):
            return self.parse_many(positions)
        return self.checked(positions)

    def format(self, labels: ArrayLike) -> str:
        """The position as one line of text, the inverse of `parse`; PositionError if it is not one."""
        return self.notation.join(self._written(labels))

    def draw(self, labels: ArrayLike) -> str:
        """The position as a drawing of several lines; PositionError if it is not one."""
        return self.notation.draw(self._written(labels))

    def picture(self, labels: ArrayLike) -> Picture:
        """The position in shapes and colours; PositionError if it is not one."""
        return self.notation.picture(self._written(labels))

    def highlighted(self, labels: ArrayLike) -> frozenset[tuple[int, int]]:
        """Line and column of each character of `draw` inside the blocks of a goal; PositionError if it is not one."""
        return self.notation.highlighted(self._written(labels))

    def followed(self, before: ArrayLike, after: ArrayLike) -> "Puzzle":
        """The puzzle that writes and draws the position after a move with the names that its pieces had before."""
        notation = self.notation.followed(self._written(before), self._written(after))
        return self if notation is self.notation else replace(self, notation=notation)

    def along(self, path: ArrayLike) -> Iterator[tuple["Puzzle", Labels]]:
        """The positions of a path ``(length + 1, places)``, each with the puzzle that writes and draws it.

        Interchangeable blocks keep the letters of the first position, wherever they move: ``puzzle.format(position)``,
        ``puzzle.draw(position)`` and ``puzzle.picture(position)`` of each pair show the same blocks. PositionError if
        the path has something else than positions.
        """
        positions = self.checked(path)
        here = self
        for number, position in enumerate(positions):
            here = here.followed(positions[number - 1], position) if number else self
            yield here, position

    def format_path(self, path: ArrayLike) -> list[str]:
        """The positions of a path ``(length + 1, places)`` as lines of text; see `along`."""
        return [puzzle.format(position) for puzzle, position in self.along(path)]

    def _written(self, labels: ArrayLike) -> list[str]:
        """The symbol on each place. The number of each is not checked, since often many positions are written."""
        one = arguments.integers(labels, f"a position of {counted(self.places, 'place')}", 1, PositionError)
        if len(one) != self.places or not all(
            _in_range(part, one[here]) for part, here in zip(self.parts, self.ranges, strict=True)
        ):
            self.checked_one(one)  # raises
        return [
            part.symbols[label]
            for part, here in zip(self.parts, self.ranges, strict=True)
            for label in one[here].tolist()
        ]

    def successors(self, labels: ArrayLike) -> Labels:
        """All positions one move after one position, ``(k, places)``; of many positions: `successors_many`.

        PositionError if it is not a position of the puzzle.
        """
        return self.moves.successors(self.checked_one(labels))

    def successors_many(self, positions: Sequence[str] | ArrayLike) -> Successors:
        """The positions one move after each of many, texts or labels ``(n, places)``, and which moves are legal.

        The result has arrays over all moves, legal or not: ``n * moves * places`` bytes.

        Raises
        ------
        PositionError
            One of them is not a position of the puzzle.
        """
        return self.moves.successors_many(self.positions(positions))

    def predecessors(self, labels: ArrayLike) -> Labels:
        """All positions one move before a position, ``(k, places)``; PositionError if it is not one."""
        return self.moves.predecessors(self.checked_one(labels))

    def move_names(self, path: ArrayLike) -> list[str] | None:
        """The names of the moves along a path ``(length + 1, places)``; None if the puzzle's moves have no names.

        Raises
        ------
        PositionError
            The path has something else than positions of the puzzle, or a step that is no move.
        """
        if not self.moves.names:
            return None
        positions = self.checked(path)
        from antipodes_tasks.puzzles.walks import names_along

        names = names_along(self.moves, positions)
        for step, name in enumerate(names):
            if name is None:
                before, after = self.format(positions[step]), self.format(positions[step + 1])
                raise PositionError(f"expected a move from {shorten(before)}, found {shorten(after)}")
        return [name for name in names if name is not None]

    def follow(self, sequence: str, start: ArrayLike | None = None) -> Labels:
        """The positions ``(length + 1, places)`` through which a sequence of moves leads, by default from the `first`.

        The sequence has names of moves, as in ``"R U R' F2 (R U)3 [A: B]"``; see
        `antipodes_tasks.puzzles.formats.sequences`.

        Raises
        ------
        PositionError
            Moves have no names, the text is no sequence of them, or a move is not legal where it is.
        """
        from antipodes_tasks.puzzles.walks import follow

        text = arguments.text(sequence, "a sequence of moves", PositionError)
        if not self.moves.names:
            raise PositionError(f"expected a position, found a sequence of moves: those of {self.name} have no names")
        begin = self.first if start is None else self.checked_one(start)
        kinds = (self.moves,) if self.sequence_moves is None else (self.moves, self.sequence_moves)
        try:
            return follow(text, kinds, begin)
        except PositionError as error:
            raise PositionError(f"moves {quote(shorten(text))}: {error}") from None


def _in_range(part: Part, labels: NDArray[np.integer[Any]]) -> bool:
    return set(labels.tolist()) <= set(range(len(part.symbols)))
