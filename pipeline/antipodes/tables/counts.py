"""The layers and the antipodes of a counts-only run, open for queries.

>>> with open_counts("outputs/two-by-seven.counts.zarr") as counts:  # doctest: +SKIP
...     counts.radius
108
"""

from __future__ import annotations

from typing import Self

import numpy as np

from antipodes.puzzles.config import PuzzleLike
from antipodes.puzzles.puzzle import PositionLike, PositionsLike, Puzzle
from antipodes.system.addresses import Address, in_shell
from antipodes.tables.display import show_result, start_without_table
from antipodes.tables.store.manifest import MAX_ANTIPODES, SearchManifest
from antipodes.tables.store.search_stores import CountsStore, read_given
from antipodes.tables.up_to_symmetry import first_of_classes, stabilisers
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, UnfinishedError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.quoting import counted, shorten, shorten_path
from antipodes_tasks.properties.obstacles import obstacles
from antipodes_tasks.spaces.space import Space

__all__ = ["Counts", "open_counts"]


def open_counts(address: Address, puzzle: PuzzleLike | None = None) -> Counts:
    """Open a store of counts, at a path or a URL. `open_table` describes when a ``puzzle`` is needed.

    Raises
    ------
    InputError
        The address is not valid.
    NotAStoreError, StoreDamagedError
        There are no counts at the address, or the manifest is corrupt.
    SourceError, StoreMismatchError
        See `open_table`.
    """
    store = CountsStore(arguments.address(address, "the address of counts"))
    return Counts(store.address, read_given(store, puzzle))


NOTHING_YET = "nothing is committed yet"
"""The reason why a store has no answers if its first run was refused or killed."""


class SearchResult:
    """The number of positions of a puzzle at each distance from its start."""

    def __init__(self, address: str, manifest: SearchManifest) -> None:
        self.puzzle: Puzzle = manifest.config.puzzle
        self.index_size = manifest.numbered
        """Number of positions, reachable or not."""
        self.complete = manifest.complete
        """Whether all positions are searched."""
        self.radius = manifest.radius
        """The greatest distance. Before all positions are searched, the greatest committed distance."""
        self.address = address
        """The path or the URL of the store."""
        self._manifest = manifest

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: no file is open."""

    def __len__(self) -> int:
        """Return the number of positions that have a distance."""
        return self._manifest.states

    def __repr__(self) -> str:
        reached = f"{self.radius}" if self.complete else f"{self.radius} so far, unfinished"
        name, address = shorten(self.puzzle.name, 30), shorten_path(self.address, 40)
        return f"<{type(self).__name__} of {name}: {counted(len(self), 'position')}, radius {reached}, in {address}>"

    def _repr_html_(self) -> str:
        kind, start = type(self).__name__, self.captioned_start()[0]
        return show_result(kind, self.puzzle, start, self.layers, self.complete, self.address)

    def captioned_start(self) -> tuple[Labels, str]:
        """Return a position ``(places,)`` at depth 0, and a caption such as "the start" or "one of 12 goals".

        If a search had to find the goals that the puzzle's ``start`` reaches, the position is this ``start``.
        """
        position = start_without_table(self.puzzle)
        return position, "the start" if self.puzzle.rules.depends_on_origin else self._start_caption()

    def _start_caption(self) -> str:
        zero, count = self.puzzle.depth_zero, self._manifest.start_count
        return f"the {zero}" if count == 1 or count is None else f"one of {counted(count, zero)}"

    @property
    def layers(self) -> list[int]:
        """Number of positions at each depth, as a new list."""
        return list(self._manifest.positions)

    @property
    def counts_classes(self) -> bool:
        """Whether the number of symmetry classes at each depth is known or can be found."""
        return not self._manifest.COUNTS_ONLY or self._manifest.unique is not None

    def obstacle(self, position: PositionLike) -> str | None:
        """Return why a position is unreachable, if a parity or sum that no move changes proves it; otherwise None.

        Raises PositionError if the argument is not a position of the puzzle.
        """
        labels = self.puzzle.parse(position) if isinstance(position, str) else self.puzzle.rules.checked_one(position)
        return self._obstacles(labels[np.newaxis])[0]

    def _obstacles(self, positions: Labels) -> list[str | None]:
        """Return the `obstacle` of one position, or of each of the unreachable positions ``(n, places)``."""
        rules = self.puzzle.rules
        return obstacles(rules, positions, rules.start_labels, self.puzzle.depth_zero)

    def symmetries_at(self, positions: PositionsLike) -> list[int]:
        """Return how many symmetries leave each position ``(n, places)`` unchanged, including the identity.

        Raises PositionError if one of them is not a position of the puzzle, InputError if the moves are functions,
        whose symmetries are unknown, and ResourceLimitError if there are more than 10,000 symmetries.
        """
        return stabilisers(self._numbered_space(), self.puzzle.positions(positions))

    def _numbered_space(self) -> Space:
        """Return the space of the store; in a table of keys, it has their list."""
        return self._manifest.space_of(self.puzzle)

    def _check_complete(self, kind: str) -> None:
        if not self.complete:
            raise self._unfinished_error(
                f"the unfinished {kind} depth {self.radius}, so the antipodes are not known yet"
            )

    def _unfinished_error(self, problem: str) -> UnfinishedError:
        """Return the error for a problem that resuming the run solves."""
        problem = NOTHING_YET if self.radius < 0 else problem
        return UnfinishedError(f"{problem}; resume with: antipodes resume {in_shell(self.address)}")


class Counts(SearchResult):
    """The number of positions of a puzzle at each distance from its start, without the distances themselves."""

    def antipodes(self, limit: int | None = None) -> Labels:
        """Return the first positions farthest from the start, ``(n, places)``, in the order of their indices.

        A store contains at most 1,000 of them; ``layers[-1]`` is their total number.

        Raises InputError if the limit is negative or not an integer, and UnfinishedError if the counts are unfinished,
        so that the antipodes are not known yet.
        """
        most = arguments.optional(limit, arguments.integer, "a limit", 0)
        self._check_complete("counts end at")
        positions = self._manifest.first_antipodes(most)
        return positions[: MAX_ANTIPODES if most is None else min(most, MAX_ANTIPODES)]

    def unique_layers(self) -> list[int]:
        """Return the number of symmetry classes at each depth, as a new list.

        Raises InputError unless the run counted them (option ``unique``).
        """
        if self._manifest.unique is None:
            raise InputError(
                f"{self.address} does not count positions up to symmetry; compute the table, or the counts with "
                f"{option('unique')}"
            )
        return list(self._manifest.unique)

    def unique_antipodes(self, limit: int | None = None) -> Labels:
        """Return the lexicographically first position of each symmetry class of `antipodes`, ``(n, places)``.

        Raises InputError also if there are more antipodes than the store contains.
        """
        most = arguments.optional(limit, arguments.integer, "a limit", 0)
        manifest, known = self._manifest, len(self.antipodes())
        if manifest.layers and len(manifest.antipodes) < manifest.layers[-1]:
            raise InputError(
                f"the store contains only the first {known:,} of {manifest.positions[-1]:,} antipodes, "
                "too few to find all symmetry classes; compute the table"
            )
        return first_of_classes(self._numbered_space(), manifest.first_antipodes())[:most]
