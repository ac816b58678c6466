"""A symmetry: a map of positions that moves the label on each place to another place, and renames it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.quoting import shorten
from antipodes_tasks.rules.rules import Rules

Answers = TypeVar("Answers")
NO_MOVE = -1
"""Used instead of a move's index if it is not known to which move a Python function is mapped."""


@dataclass(frozen=True, eq=False, repr=False)
class Symmetry:
    """A map of positions onto positions that takes starts to starts and moves to moves, and so preserves distances.

    The label ``v`` on place ``i`` becomes ``labels[i, v]`` on place ``places[i]``. If the label is the twist of a piece
    ``p`` on place ``carriers[i]``, ``turns[i, p]`` is added, modulo the number of twists.
    """

    rules: Rules
    places: Numbers
    """``(places,)``: the image of each place."""
    labels: NDArray[np.uint8]
    """``(places, labels)``: the new label of each label on each place, before turns are added. A twist ``v``
    becomes ``labels[i, 0] + v`` or ``labels[i, 0] - v``. Pieces are renamed equally on all places of a part."""
    turns: NDArray[np.uint8]
    """``(places, labels)``: the number that is added to the twist on each place, by the label of its piece; otherwise
    0."""
    carriers: Numbers
    """``(places,)``: for a twist, the place of its piece; otherwise the place itself."""
    moduli: Numbers
    """``(places,)``: the number of labels of each place."""
    moves: Numbers
    """``(moves,)``: the number of the image of each move, or NO_MOVE if it is not known. If several moves are equal to
    the image, it is the number of any of them."""
    firsts: Numbers | None = None
    """``(places, labels)``: in block puzzles, the first square of the image of a block, by the block's first square and
    label. None in other puzzles."""

    def __repr__(self) -> str:
        places = shorten(" ".join(map(str, self.places.tolist())))
        return f"<Symmetry of {shorten(self.rules.name, 30)}: places {places}>"

    @property
    def is_identity(self) -> bool:
        """Whether the symmetry leaves all labels on all places unchanged."""
        same = bool((self.places == np.arange(len(self.places))).all()) and not self.turns.any()
        return same and bool((self.labels == np.arange(self.labels.shape[1])).all())

    def image(self, labels: ArrayLike) -> Labels:
        """Return the images of positions ``(n, places)``. The images of a position and a successor are one move apart.

        Raises
        ------
        PositionError
            The labels are not positions. For an array of bytes, only its shape and the range of labels are checked.
        """
        return self._of_positions(self._image, labels)

    def leaves(self, positions: ArrayLike) -> NDArray[np.bool_]:
        """Return a mask ``(n,)`` of the positions ``(n, places)`` that it leaves unchanged; errors as in `image`."""
        return self._of_positions(self._leaves, positions)

    def _of_positions(self, answer: Callable[[Labels], Answers], labels: ArrayLike) -> Answers:
        """Apply a function to positions and return its result; raise PositionError if the labels are not positions."""
        checked = self._checked(labels)
        try:
            return answer(checked)
        except IndexError:  # a label without a piece
            self.rules.checked(checked)
            raise

    def _checked(self, labels: ArrayLike) -> Labels:
        """Return checked positions. Arrays of bytes come from the program, and checking them again would take long."""
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
        """Whether the new label depends only on the place and the old label, and for a twist on its piece."""
        return self.firsts is None and self.rules.moves.free is None

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
        """Return the images of positions ``(n, places)``: map the covered squares, then write the labels of blocks."""
        rest = self.labels.shape[1] - 1
        images = np.empty_like(labels)
        images[:, self.places] = np.where(labels == 0, np.uint8(0), np.uint8(rest))
        positions, places = np.nonzero((labels > 0) & (labels < rest))
        blocks = labels[positions, places]
        images[positions, firsts[places, blocks]] = self.labels[places, blocks]
        return images
