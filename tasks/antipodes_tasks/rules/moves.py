"""The interface of all kinds of moves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.rules.custom_function import CustomFunction

Pairs = NDArray[np.int16]
"""Pairs of places ``(n, 2)``."""
GoalTest = Callable[[Labels], Mask]
"""Function that returns a mask ``(n,)`` of the goals among positions ``(n, places)``, for goals too many to list."""
MOVE_BYTES = 16
"""Memory for a move that consists of a few numbers, in bytes."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Successors:
    """The successors of each of n positions; ``positions[legal]`` selects the successors under legal moves."""

    positions: Labels
    """``(n, moves, places)``: the position after each move, or the unchanged position if the move is illegal."""
    legal: Mask
    """``(n, moves)``: whether the position allows the move."""
    names: tuple[str, ...]
    """The name of each move; empty if the moves have no names."""

    def __repr__(self) -> str:
        return (
            f"<Successors of {len(self.legal):,} positions: {int(self.legal.sum()):,} by {self.legal.shape[1]} moves>"
        )


ACTIONS = ("U", "D", "L", "R")
"""The order of move names that are directions, for boards of any size."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class LegalMoves:
    """The legal moves of n positions and the position after each move, ordered by position and then by move."""

    parents: NDArray[np.int64]
    """``(k,)``: number of the position before the move, from 0."""
    moves: NDArray[np.int64]
    """``(k,)``: number of the move in ``names``, or among the moves of the puzzle if they have no names."""
    positions: Labels
    """``(k, places)``: the position after the move."""
    names: tuple[str, ...]
    """The distinct names of the moves, such as U, D, L and R; empty if the moves have no names."""
    count: int
    """The number n of positions."""

    def __repr__(self) -> str:
        return f"<LegalMoves: {counted(len(self.moves), 'move')} of {counted(self.count, 'position')}>"

    def __len__(self) -> int:
        return len(self.moves)

    def chosen(self, mask: Mask) -> LegalMoves:
        """Return the moves that a mask ``(k,)`` selects."""
        return LegalMoves(self.parents[mask], self.moves[mask], self.positions[mask], self.names, self.count)

    def by_position(self) -> list[list[str]] | list[list[int]]:
        """Return, for each position, the names of its moves, or their numbers if moves have no names."""
        words = [self.names[move] for move in self.moves.tolist()] if self.names else self.moves.tolist()
        ends = np.cumsum(np.bincount(self.parents, minlength=self.count)).tolist()
        return [words[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


Steps = tuple[NDArray[np.int64], NDArray[np.int64], Labels]
"""Three arrays with one item for each of k moves: the number of the position before it, the number of the move, and the
position after it."""


class Moves(ABC):
    """The moves of a puzzle: immutable, and cheap to send to other processes.

    A kind of move states its moves as ``pairs`` or as ``transforms``, from which compiled moves, numberings and
    symmetries are made, or sets ``are_functions``. Other code does not depend on the kind.
    """

    pairs: Pairs | None = None
    """``(moves, 2)``: the place of the piece and the empty place, if each move swaps a piece with an empty place, which
    has the label 0. None for other moves."""
    free: int | None = None
    """The label of the pieces whose moves are not counted, or None if all moves are counted. Positions that free moves
    connect count as one position; see `canonical`."""
    free_moves: tuple[str, ...] = ()
    """The names of the transforms that are not counted; see `antipodes_tasks.rules.free_moves`."""
    are_functions: ClassVar[bool] = False
    """Whether the effects of moves are only known by applying them, as for moves that a user wrote in Python. They are
    slow, and may contradict each other."""
    plain: bool = False
    """Whether move tables list each position separately, even if the moves seem to depend on only a few places."""
    symmetries: Mapping[str, CustomFunction] = MappingProxyType({})
    """The symmetries that a user declared, by name."""

    @property
    def transforms(self) -> Moves | None:
        """The moves as permutations of places that add numbers to labels, if they are stated in this form.

        `Transforms.of` returns them with their type.
        """
        return None

    @property
    def elementary(self) -> Moves:
        """The moves that sequences of moves name, one by one: the counted and the free ones."""
        return self

    @property
    def joins_positions(self) -> bool:
        """Whether free moves connect some positions, which count as one."""
        return self.free is not None or bool(self.free_moves)

    @property
    def ends(self) -> Pairs | None:
        """``(moves, 2)``: the places between which each move takes a piece; None if moves may take several pieces."""
        return self.pairs

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {counted(len(self), 'move')}>"

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each move; empty if the moves have no names.

        If two moves with the same name are both legal, they lead to the same position.
        """
        return ()

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of moves."""

    @property
    def memory_bytes(self) -> int:
        """Upper bound on the memory of the moves, in bytes."""
        return MOVE_BYTES * len(self)

    @property
    @abstractmethod
    def reversible(self) -> bool:
        """Whether every move has an inverse: a move that undoes it in every position to which it leads."""

    @property
    def invertible(self) -> bool:
        """Whether `undo` works for every move; moves that a user wrote may have no known inverse."""
        return True

    def has_inverse(self, number: int) -> bool:
        """Return whether the inverse of a move is known."""
        return True

    @property
    @abstractmethod
    def table_key(self) -> bytes:
        """The moves' contribution to a fingerprint: equal for moves that produce the same table."""

    def table_key_from(self, starts: Labels) -> bytes:
        """Return the moves' contribution to the fingerprint of a puzzle with the starts ``(n, places)``.

        It is `table_key`; if `table_key` only samples the moves, it also depends on their results near the starts.
        """
        return self.table_key

    @property
    def identity(self) -> bytes:
        """Bytes that are equal only if the moves agree everywhere; `table_key` only samples Python functions."""
        return self.table_key

    def canonical(self, labels: Labels) -> Labels:
        """Return positions ``(..., places)`` in canonical labels; different labels may stand for the same position."""
        return labels

    def closed(self, labels: Labels) -> Labels:
        """Return positions ``(n, places)``, and after them those that count as the same because of free transforms."""
        return labels

    def with_regions(self, labels: Labels) -> Labels:
        """Return positions ``(n, places)`` with the label 0 on all places that free moves can make empty."""
        return labels

    def signed(self, source: str) -> Moves:
        """Return the same moves, identified by ``source``, the SHA-256 of the file that defines them.

        Only functions depend on the file.
        """
        return self

    @abstractmethod
    def move(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Return the positions ``(n, places)`` after a move and a mask ``(n,)`` of the positions that allow it.

        The result is undefined for other positions.
        """

    @abstractmethod
    def undo(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Return the predecessors ``(n, places)`` by a move and a mask ``(n,)`` of the positions that have one.

        Raises InputError if the inverse is unknown, see `invertible`.
        """

    def undone(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Apply the inverse of a move to positions ``(n, places)``, without verifying that the move leads back."""
        return self.undo(number, labels)

    def check_undone(self, number: int, labels: Labels, after: Labels, legal: Mask) -> None:  # noqa: B027
        """Raise InputError if the declared inverse of a move does not lead back from each successor to its position.

        ``after`` and ``legal`` are the result of the move for positions ``labels``. Only functions need this check, and
        only if each of them has a declared inverse.
        """

    def symmetric(self, name: str, labels: Labels) -> Labels:
        """Return the images of positions ``(n, places)`` under a declared symmetry; raise KeyError if there is none."""
        raise KeyError(name)

    def moves_on_path(self, path: Labels) -> list[int | None]:
        """Return the number of a move for each step of a path ``(length + 1, places)``; None if no move makes it."""
        found: list[int | None] = [None] * (len(path) - 1)
        for number in range(len(self)):
            after, legal = self.move(number, path[:-1])
            for step in np.flatnonzero(legal & (after == path[1:]).all(axis=1)).tolist():
                found[step] = number if found[step] is None else found[step]
        return found

    def successors(self, labels: Labels) -> Labels:
        """Return all successors ``(k, places)`` of a position ``(places,)``, in the order of the moves."""
        found = (self.move(number, labels[np.newaxis]) for number in range(len(self)))
        return _stacked([after for after, legal in found if legal[0]], labels)

    def successors_many(self, labels: Labels) -> Successors:
        """Return the successors of positions ``(n, places)`` by every move."""
        positions = np.repeat(labels[:, np.newaxis], len(self), axis=1)
        allowed = np.zeros(positions.shape[:2], dtype=np.bool_)
        for number in range(len(self)):
            after, legal = self.move(number, labels)
            positions[legal, number], allowed[:, number] = after[legal], legal
        return Successors(positions, allowed, self.names)

    def legal_moves(self, labels: Labels) -> LegalMoves:
        """Return the legal moves of positions ``(n, places)``; moves with the same name count as one move.

        This is possible because legal moves with the same name lead to the same position. For example, a sliding puzzle
        has four moves on a board of any size.
        """
        parents, moves, positions = self.steps(labels)
        names = tuple(dict.fromkeys(self.names))
        if not names:
            return LegalMoves(parents, moves, positions, (), len(labels))
        names = tuple(sorted(names, key=ACTIONS.index)) if set(names) <= set(ACTIONS) else names
        action = {name: number for number, name in enumerate(names)}
        moves = np.array([action[name] for name in self.names], dtype=np.int64)[moves]
        _, first = np.unique(parents * len(names) + moves, return_index=True)
        return LegalMoves(parents[first], moves[first], positions[first], names, len(labels))

    def steps(self, labels: Labels) -> Steps:
        """Return all legal moves of positions ``(n, places)``, ordered by position and then by move."""
        return self._collect(self.move, labels)

    def steps_back(self, labels: Labels) -> Steps:
        """Return all moves that lead to positions ``(n, places)``, each with the predecessor, ordered as in `steps`."""
        return self._collect(self.undo, labels)

    def _collect(self, apply: Callable[[int, Labels], tuple[Labels, Mask]], labels: Labels) -> Steps:
        parents, positions = [np.empty(0, dtype=np.int64)], [labels[:0]]
        for number in range(len(self)):
            changed, legal = apply(number, labels)
            parents.append(np.flatnonzero(legal))
            positions.append(changed[parents[-1]])
        numbers = np.repeat(np.arange(-1, len(self)), list(map(len, parents)))
        of = np.concatenate(parents)
        order = np.argsort(of, kind="stable")
        return of[order], numbers[order], np.concatenate(positions)[order]

    def predecessors(self, labels: Labels) -> Labels:
        """Return all predecessors ``(k, places)`` of a position ``(places,)``, in the order of the moves."""
        found = (self.undo(number, labels[np.newaxis]) for number in range(len(self)))
        return _stacked([before for before, legal in found if legal[0]], labels)


def _stacked(positions: list[Labels], labels: Labels) -> Labels:
    return np.concatenate(positions) if positions else np.empty((0, len(labels)), dtype=labels.dtype)
