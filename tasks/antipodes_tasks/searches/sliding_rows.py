"""Rows and columns of a sliding puzzle's pattern table, and the effect on them of a move along each edge."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.quoting import shorten
from antipodes_tasks.move_tables import ILLEGAL, MoveTables
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.arrangements import Arrangements
from antipodes_tasks.spaces.regions import Edges, Regions, RegionTables
from antipodes_tasks.spaces.selection import smallest_cut
from antipodes_tasks.spaces.space import Numbering, Space


@dataclass(frozen=True)
class SwapRows:
    """A numbering of a sliding puzzle with one blank, cut into rows and columns so that its move tables are small."""

    rules: Rules
    numbering: Numbering

    @cached_property
    def edges(self) -> Edges:
        """The moves: pairs of the place of a piece and the place of the blank."""
        ends = self.rules.moves.ends
        assert ends is not None
        return tuple(dict.fromkeys((a, b) for a, b in ends.tolist() if a != b))

    @cached_property
    def _space(self) -> Space:
        return smallest_cut(self.rules, self.numbering)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._space.rows

    @property
    def width(self) -> int:
        """Number of columns."""
        return self._space.width

    def tables(self) -> MoveTables:
        """Return the move tables with one move per edge, in the order of the edges.

        The target is ILLEGAL if the move is illegal in the row. Raises InputError if the numbering is neither an
        `Arrangements` nor a `Regions`.
        """
        if isinstance(self.numbering, Regions):
            return RegionTables(self.numbering).by_edge()
        if not isinstance(self.numbering, Arrangements):
            raise InputError(
                f"{option('tables')}: expected a table whose index is of the kind arrangements or regions, "
                f"found the kind {shorten(self.numbering.KIND)}"
            )
        listed = self._space.filler.filled()
        blank = self.numbering.unrank(np.arange(self.rows) * self.width).argmin(axis=1)
        target = np.full((self.rows, len(self.edges)), ILLEGAL, dtype=np.int32)
        column_map = np.zeros(target.shape, dtype=listed.column_map.dtype)
        for place in range(self.rules.places):
            here = np.flatnonzero(blank == place)
            # The listed moves of a row correspond to the edges that end at the row's blank, in the same order.
            edges = np.array([number for number, (_, to) in enumerate(self.edges) if to == place], dtype=np.int64)
            target[np.ix_(here, edges)] = listed.target[here, : len(edges)]
            if self.width > 1:
                column_map[np.ix_(here, edges)] = listed.column_map[here, : len(edges)]
        return MoveTables(target, column_map, listed.column_maps, listed.undirected)
