"""A symmetry: a map of positions that moves what is on each place to another place, and renames it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.quoting import shorten
from antipodes_tasks.rules.counted_swaps import CountedSwaps
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules

Numbers = NDArray[np.int64]
Answers = TypeVar("Answers")
NO_MOVE = -1
"""Instead of the number of a move, where moves are not listed as they are in Python functions."""


@dataclass(frozen=True, eq=False, repr=False)
class Symmetry:
    """A map of positions onto positions that keeps distances: it takes starts to starts, and moves to moves.

    The content ``v`` of place ``i`` becomes ``labels[i, v]`` on place ``places[i]``. Where it is the twist of a piece
    ``p``, which is on place ``carriers[i]``, ``turns[i, p]`` is added, modulo the number of twists.
    """

    rules: Rules
    places: Numbers
    """``(places,)``: where what is on each place goes."""
    labels: NDArray[np.uint8]
    """``(places, labels)``: what each content of each place becomes; twists before something is added. Twists become
    ``labels[i, 0] + v`` or ``labels[i, 0] - v``, and pieces the same on all places of a part."""
    turns: NDArray[np.uint8]
    """``(places, labels)``: what is added to the twist on each place, by the piece that has it; else 0."""
    carriers: Numbers
    """``(places,)``: for a twist the place of the piece that has it, else the place itself."""
    moduli: Numbers
    """``(places,)``: the number of contents that each place can have."""
    moves: Numbers
    """``(moves,)``: the number of the move that each move becomes, of equal ones any; NO_MOVE where moves are
    functions."""
    firsts: Numbers | None = None
    """``(places, labels)``: in block puzzles the place to which the label of a block on its first square goes, which
    is that of the first square of its image. None: it goes to ``places[i]``."""

    def __repr__(self) -> str:
        places = shorten(" ".join(map(str, self.places.tolist())))
        return f"<Symmetry of {shorten(self.rules.name, 30)}: places {places}>"

    @property
    def is_identity(self) -> bool:
        """Whether it leaves all contents of all places."""
        same = bool((self.places == np.arange(len(self.places))).all()) and not self.turns.any()
        return same and bool((self.labels == np.arange(self.labels.shape[1])).all())

    def image(self, labels: ArrayLike) -> Labels:
        """The images of positions ``(n, places)``: if a move leads from x to y, then one leads from image to image.

        Raises
        ------
        PositionError
            The labels are no positions. Of an array of bytes only its shape, and the range of labels, are checked.
        """
        return self._of_positions(self._image, labels)

    def leaves(self, positions: ArrayLike) -> NDArray[np.bool_]:
        """Which of the positions ``(n, places)`` it leaves unchanged, ``(n,)``; raises as `image`."""
        return self._of_positions(self._leaves, positions)

    def _of_positions(self, answer: Callable[[Labels], Answers], labels: ArrayLike) -> Answers:
        """Return what a function answers about positions; PositionError if the labels are not positions."""
        checked = self._checked(labels)
        try:
            return answer(checked)
        except IndexError:  # a label of no piece
            self.rules.checked(checked)
            raise

    def _checked(self, labels: ArrayLike) -> Labels:
        """The labels of positions; those that the program has already are not checked again, which takes long."""
        if isinstance(labels, np.ndarray) and labels.dtype == np.uint8 and labels.shape[1:] == self.places.shape:
            return labels
        return self.rules.checked(labels)

    def _image(self, labels: Labels) -> Labels:
        if self.firsts is not None:
            return self._image_of_blocks(labels, self.firsts)
        every = np.arange(len(self.places))
        become = self.labels[every, labels]
        if self.turns.any():
            turned = become.astype(np.int64) + self.turns[every, labels[:, self.carriers]]
            become = (turned % self.moduli).astype(np.uint8)
        images = np.empty_like(labels)
        images[:, self.places] = become
        return self.rules.moves.canonical(images)

    @property
    def is_local(self) -> bool:
        """Whether what becomes of a content depends only on the place, and for a twist on its piece."""
        return self.firsts is None and not isinstance(self.rules.moves, CountedSwaps)

    def _leaves(self, positions: Labels) -> NDArray[np.bool_]:
        unchanged = np.zeros(len(positions), dtype=np.bool_)
        if not self.is_local:
            unchanged[:] = (self._image(positions) == positions).all(axis=1)
            return unchanged
        rows = np.arange(len(positions))
        for place in range(len(self.places)):  # few positions are left after a few places
            become = self.labels[place, positions[rows, place]].astype(np.int64)
            if self.turns[place].any():
                turned = become + self.turns[place, positions[rows, self.carriers[place]]]
                become = turned % self.moduli[place]
            rows = rows[become == positions[rows, self.places[place]]]
        unchanged[rows] = True
        return unchanged

    def _image_of_blocks(self, labels: Labels, firsts: Numbers) -> Labels:
        """The images of positions ``(n, places)``: squares that a block covers go to such, then blocks are named."""
        rest = self.labels.shape[1] - 1
        images = np.empty_like(labels)
        images[:, self.places] = np.where(labels == 0, np.uint8(0), np.uint8(rest))
        positions, places = np.nonzero((labels > 0) & (labels < rest))
        blocks = labels[positions, places]
        images[positions, firsts[places, blocks]] = self.labels[places, blocks]
        return images
