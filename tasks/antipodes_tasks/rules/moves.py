"""The interface of moves: what the rest of the program asks of them, whatever their kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.quoting import counted

Labels = NDArray[np.uint8]
"""Positions as arrays ``(..., places)``: the label on each place."""
Mask = NDArray[np.bool_]
GoalTest = Callable[[Labels], Mask]
"""Returns which of the positions ``(n, places)`` are goals, ``(n,)``, if these are too many to list."""
MOVE_BYTES = 16
"""Memory of a move that is a few numbers."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Successors:
    """The positions one move after each of n positions; ``positions[legal]`` are those that moves lead to."""

    positions: Labels
    """``(n, moves, places)``: the position after each move; where the move is illegal, the position before it."""
    legal: Mask
    """``(n, moves)``: whether the position allows the move."""
    names: tuple[str, ...]
    """The name of each move; none if moves have no names."""

    def __repr__(self) -> str:
        return (
            f"<Successors of {len(self.legal):,} positions: {int(self.legal.sum()):,} by {self.legal.shape[1]} moves>"
        )


ACTIONS = ("U", "D", "L", "R")
"""The order of the names of moves that are directions, whatever the size of the board is."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class LegalMoves:
    """Legal moves of n positions, and the position after each; in the order of the positions, then of the moves."""

    parents: NDArray[np.int64]
    """``(k,)``: number of the position, from 0."""
    moves: NDArray[np.int64]
    """``(k,)``: number of the move in ``names``; among the moves of the puzzle if they have no names."""
    positions: Labels
    """``(k, places)``: position after the move."""
    names: tuple[str, ...]
    """The different names of moves, such as U, D, L and R; none if moves have no names."""
    count: int
    """Number n of the positions."""

    def __repr__(self) -> str:
        return f"<LegalMoves: {counted(len(self.moves), 'move')} of {counted(self.count, 'position')}>"

    def __len__(self) -> int:
        return len(self.moves)

    def chosen(self, mask: Mask) -> LegalMoves:
        """Return some of the moves, by a mask ``(k,)``."""
        return LegalMoves(self.parents[mask], self.moves[mask], self.positions[mask], self.names, self.count)

    def by_position(self) -> list[list[str]] | list[list[int]]:
        """Return the names of the moves of each position; their numbers if they have no names."""
        words = [self.names[move] for move in self.moves.tolist()] if self.names else self.moves.tolist()
        ends = np.cumsum(np.bincount(self.parents, minlength=self.count)).tolist()
        return [words[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


Steps = tuple[NDArray[np.int64], NDArray[np.int64], Labels]
"""Of some moves ``(k,)``: the numbers of the positions that they are applied to, their own, and the positions after."""


class Moves(ABC):
    """The moves of a puzzle; immutable, and cheap to send to other processes."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {counted(len(self), 'move')}>"

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each move; none if moves have no names.

        Where moves of one name are legal together, they lead to the same position.
        """
        return ()

    @abstractmethod
    def __len__(self) -> int:
        """The number of moves."""

    @property
    def memory_bytes(self) -> int:
        """An upper bound of the memory of the moves, if there are many."""
        return MOVE_BYTES * len(self)

    @property
    @abstractmethod
    def reversible(self) -> bool:
        """Whether each move is undone by a move, wherever it is legal."""

    @property
    def invertible(self) -> bool:
        """Whether `before` is known for each move; of a user's own function it may not be."""
        return True

    @property
    @abstractmethod
    def table_key(self) -> bytes:
        """The bytes of a fingerprint: equal for moves that make the same table."""

    def table_key_from(self, starts: Labels) -> bytes:
        """The `table_key`, and what it leaves out of the moves from some starts ``(n, places)``."""
        return self.table_key

    @property
    def identity(self) -> bytes:
        """Equal only for moves that are the same everywhere, also where the `table_key` of functions did not look."""
        return self.table_key

    def canonical(self, labels: Labels) -> Labels:
        """The positions ``(..., places)``, each as one of the labels that stand for it: by default it has no others."""
        return labels

    @abstractmethod
    def move(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """The positions ``(n, places)`` after a move, and where it is legal, ``(n,)``; elsewhere they mean nothing."""

    @abstractmethod
    def undo(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """The positions ``(n, places)`` from which a move leads to each, and whether there is one, ``(n,)``.

        InputError where that is not known: see `invertible`.
        """

    def moves_on_path(self, path: Labels) -> list[int | None]:
        """The number of the move from each position of a path ``(length + 1, places)`` to the next; None if none is."""
        found: list[int | None] = [None] * (len(path) - 1)
        for number in range(len(self)):
            after, legal = self.move(number, path[:-1])
            for step in np.flatnonzero(legal & (after == path[1:]).all(axis=1)).tolist():
                found[step] = number if found[step] is None else found[step]
        return found

    def successors(self, labels: Labels) -> Labels:
        """All positions one move after ``(places,)``, ``(k, places)``, in the order of the moves."""
        found = (self.move(number, labels[np.newaxis]) for number in range(len(self)))
        return _stacked([after for after, legal in found if legal[0]], labels)

    def successors_many(self, labels: Labels) -> Successors:
        """The positions after each move, of positions ``(n, places)``."""
        positions = np.repeat(labels[:, np.newaxis], len(self), axis=1)
        allowed = np.zeros(positions.shape[:2], dtype=np.bool_)
        for number in range(len(self)):
            after, legal = self.move(number, labels)
            positions[legal, number], allowed[:, number] = after[legal], legal
        return Successors(positions, allowed, self.names)

    def legal_moves(self, labels: Labels) -> LegalMoves:
        """Return the legal moves of positions ``(n, places)``, at most one of each name, since these lead to the same.

        Moves of one name are one action: a sliding puzzle has four, however many squares its board has.
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
        """Return all legal moves of positions ``(n, places)``, in the order of the positions, then of the moves."""
        return self._collect(self.move, labels)

    def steps_back(self, labels: Labels) -> Steps:
        """Return all moves that lead to positions ``(n, places)``, each with the position before it; see `steps`."""
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
        """All positions one move before ``(places,)``, ``(k, places)``, in the order of the moves."""
        found = (self.undo(number, labels[np.newaxis]) for number in range(len(self)))
        return _stacked([before for before, legal in found if legal[0]], labels)


def _stacked(positions: list[Labels], labels: Labels) -> Labels:
    return np.concatenate(positions) if positions else np.empty((0, len(labels)), dtype=labels.dtype)
