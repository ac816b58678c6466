"""Conditions on tilings: "X covers 23" and "I avoids 0 9", for boards and for tilings that are found."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import ConfigError
from antipodes_tasks.exact_cover.boards import Board
from antipodes_tasks.quoting import quote, shorten

COVERS, AVOIDS = "covers", "avoids"
SENTENCE = re.compile(rf"(?P<piece>.*\S)\s+(?P<verb>{COVERS}|{AVOIDS})\s+(?P<cells>\S.*)")
EXAMPLE = "'X covers 23' or 'I avoids 0 9'"


@dataclass(frozen=True)
class Condition:
    """A copy of a piece covers all of some cells, or no copy of it covers any of them."""

    piece: str
    """The name of the piece."""
    verb: str
    cells: tuple[int, ...]
    """Ascending, as the board numbers cells."""

    def excluded(self, own: NDArray[np.bool_], cells: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which placements no tiling under this condition has, ``(placements,)``.

        Parameters
        ----------
        own
            Which placements are of the piece, ``(placements,)``.
        cells
            The cells of each, ``(placements, largest piece)``.
        """
        touched = np.isin(cells, self.cells)
        if self.verb == AVOIDS:
            return own & touched.any(axis=1)
        excluded: NDArray[np.bool_] = touched.any(axis=1) & ~self.covering(own, cells)
        return excluded

    def covering(self, own: NDArray[np.bool_], cells: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which placements are of the piece, and cover all the cells; parameters as for `excluded`."""
        covering: NDArray[np.bool_] = own & (np.isin(cells, self.cells).sum(axis=1) == len(self.cells))
        return covering

    def holds(self, tilings: NDArray[np.int32], own: NDArray[np.bool_], cells: NDArray[np.int32]) -> NDArray[np.bool_]:
        """For which of the tilings it is true, ``(tilings,)``; other parameters as for `excluded`."""
        avoids = self.verb == AVOIDS
        decisive = self.excluded(own, cells) if avoids else self.covering(own, cells)
        found: NDArray[np.bool_] = decisive[tilings].any(axis=1) != avoids
        return found


def parse_condition(text: str, board: Board, names: Sequence[str], key: str) -> Condition:
    """Read a condition: a piece, "covers" or "avoids", and cells.

    A cell is its number, from 0 in reading order and without the holes, or its row and column, from 0, as in "2,3"; in
    a box its layer, row and column.

    Raises
    ------
    ConfigError
        It is no such sentence, or there is no such piece or cell. The message begins with ``key``.
    """
    found = SENTENCE.fullmatch(text.strip())
    if not found:
        raise ConfigError(f"{key}: expected a condition such as {EXAMPLE}, found {quote(text)}")
    if found["piece"] not in names:
        raise ConfigError(f"{key}: expected a piece among {shorten(', '.join(names))}, found {quote(found['piece'])}")
    cells = {_cell(word, board, key) for word in found["cells"].split()}
    return Condition(found["piece"], found["verb"], tuple(sorted(cells)))


def _cell(word: str, board: Board, key: str) -> int:
    """The number on the board of a cell by its number in reading order, or by its place."""
    if re.fullmatch(r"\d{1,9}", word) and int(word) < board.size:
        return int(board.in_reading_order[int(word)])
    if re.fullmatch(r"\d{1,9}(,\d{1,9}){1,2}", word):
        place = tuple(map(int, word.split(",")))
        place = (0, *place) if len(place) == 2 and board.layers == 1 else place
        if (
            len(place) == 3
            and all(a < b for a, b in zip(place, board.shape, strict=True))
            and board.numbers[place] >= 0
        ):
            return int(board.numbers[place])
    by_place = "layer,row,column" if board.layers > 1 else "row,column"
    raise ConfigError(f"{key}: expected a cell, 0 to {board.size - 1} or as {by_place}, found {quote(word)}")
