"""The layers and the antipodes of a counts-only run, open for queries.

>>> with open_counts("outputs/two-by-seven.counts.zarr") as counts:  # doctest: +SKIP
...     counts.radius
108
"""

from __future__ import annotations

from typing import Self

from antipodes.config import PuzzleLike
from antipodes.puzzles.puzzle import PositionsLike, Puzzle
from antipodes.storage.address import Address, in_shell
from antipodes.tables.display import show_result
from antipodes.tables.store.manifest import MAX_ANTIPODES, SearchManifest
from antipodes.tables.store.search_stores import CountsStore, read_given
from antipodes.tables.up_to_symmetry import first_of_classes, stabilisers
from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError, UnfinishedError
from antipodes_tasks.quoting import counted, shorten, shorten_path
from antipodes_tasks.rules.moves import Labels

__all__ = ["Counts", "open_counts"]


def open_counts(address: Address, puzzle: PuzzleLike | None = None) -> Counts:
    """The layers and antipodes in a store of counts, at a path or a URL; a ``puzzle`` is given as for `open_table`.

    Raises
    ------
    InputError
        The address is not one.
    NotAStoreError, StoreDamagedError
        There are no counts at the address, or the manifest is damaged.
    SourceError, StoreMismatchError
        As for `open_table`.
    """
    store = CountsStore(arguments.address(address, "the address of counts"))
    return Counts(store.address, read_given(store, puzzle))


class SearchResult:
    """How many positions of a puzzle there are at each distance from its start."""

    def __init__(self, address: str, manifest: SearchManifest) -> None:
        self.puzzle: Puzzle = manifest.config.puzzle
        self.index_size = manifest.numbered
        """How many positions there are, reachable or not."""
        self.complete = manifest.complete
        """Whether all positions are searched."""
        self.radius = manifest.radius
        """The greatest distance; before all are searched the greatest committed one."""
        self.address = address
        """The path or the URL of the store."""
        self._manifest = manifest

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: no file is open."""

    def __len__(self) -> int:
        """How many positions have a distance."""
        return self._manifest.states

    def __repr__(self) -> str:
        reached = f"{self.radius}" if self.complete else f"{self.radius} so far, unfinished"
        name, address = shorten(self.puzzle.name, 30), shorten_path(self.address, 40)
        return f"<{type(self).__name__} of {name}: {counted(len(self), 'position')}, radius {reached}, in {address}>"

    def _repr_html_(self) -> str:
        kind = type(self).__name__
        return show_result(kind, self.puzzle, self.layers, self.complete, self.address)

    @property
    def layers(self) -> list[int]:
        """How many positions there are at each depth; a list of the caller's own."""
        return list(self._manifest.positions)

    def symmetries_at(self, positions: PositionsLike) -> list[int]:
        """How many symmetries leave each position ``(n, places)`` as it is, the identity among them.

        PositionError where one is not a position of the puzzle; InputError where the moves are functions, so symmetries
        are not known; ResourceLimitError where there are more than 10,000.
        """
        return stabilisers(self._manifest.space_of(self.puzzle), self.puzzle.positions(positions))

    def _check_complete(self, kind: str) -> None:
        if not self.complete:
            raise UnfinishedError(
                f"the {kind} depth {self.radius}, unfinished, so the antipodes are not known: "
                f"antipodes resume {in_shell(self.address)}"
            )


class Counts(SearchResult):
    """How many positions of a puzzle there are at each distance from its start, without the distances themselves."""

    def antipodes(self, limit: int | None = None) -> Labels:
        """The first positions that are farthest from the start, ``(n, places)``, in the order of their indices.

        A store keeps 1,000 of them at most; ``layers[-1]`` says how many there are.

        InputError where the limit is negative, or not an integer; UnfinishedError where the counts are unfinished, so
        the antipodes are not known.
        """
        most = arguments.optional(limit, arguments.integer, "a limit", 0)
        self._check_complete("counts end at")
        positions = self._manifest.first_antipodes(most)
        return positions[: MAX_ANTIPODES if most is None else min(most, MAX_ANTIPODES)]

    def unique_antipodes(self, limit: int | None = None) -> Labels:
        """One of each class of `antipodes` up to symmetry, ``(n, places)``: the first in the order of labels.

        InputError also where there are more antipodes than the store keeps.
        """
        most = arguments.optional(limit, arguments.integer, "a limit", 0)
        antipodes, count = self.antipodes(), self._manifest.positions[-1] if self._manifest.layers else 0
        known = len(antipodes)
        if known < count:
            raise InputError(
                f"expected all {count:,} antipodes to compare, found the first {known:,}, which counts keep: "
                "make the table"
            )
        return first_of_classes(self._manifest.space_of(self.puzzle), antipodes)[:most]
