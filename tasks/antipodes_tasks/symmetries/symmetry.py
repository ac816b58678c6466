"""A symmetry: a map of positions that moves what is on each place to another place, and renames it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.quoting import shorten
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules

Numbers = NDArray[np.int64]
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

    def image(self, labels: Labels) -> Labels:
        """The images of positions ``(n, places)``: if a move leads from x to y, then one leads from image to image."""
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

    def _image_of_blocks(self, labels: Labels, firsts: Numbers) -> Labels:
        """The images of positions ``(n, places)``: squares that a block covers go to such, then blocks are named."""
        rest = self.labels.shape[1] - 1
        images = np.empty_like(labels)
        images[:, self.places] = np.where(labels == 0, np.uint8(0), np.uint8(rest))
        positions, places = np.nonzero((labels > 0) & (labels < rest))
        blocks = labels[positions, places]
        images[positions, firsts[places, blocks]] = self.labels[places, blocks]
        return images
