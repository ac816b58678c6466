"""Verification of stored tilings: each must fill the board and occur once, and their number must match the manifest."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes.runs.run_results import Verdict
from antipodes.system.addresses import Address
from antipodes.tilings.store import TilingManifest, TilingStore
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.exact_cover.partition_search import batch_size
from antipodes_tasks.exact_cover.placements import (
    TilingArray,
    distinct,
    orbit_sizes,
    placements_of,
    smallest,
    symmetry_of,
)
from antipodes_tasks.exact_cover.problem import TilingProblem


@dataclass(frozen=True, kw_only=True, repr=False)
class TilingVerdict(Verdict):
    """The outcome of checking tilings."""

    checked_tilings: int = 0
    searched_partitions: int = 0
    partitions: int = 0
    """Number of all partitions."""

    def __str__(self) -> str:
        return super().__str__() or self.checked()

    def checked(self) -> str:
        """Return a line of text about tilings without problems."""
        searched = f"{self.searched_partitions:,} of {self.partitions:,} partitions are searched"
        if not self.complete and not self.searched_partitions:
            return f"unfinished: {searched}, so there is nothing to check"
        checked = f"ok: {counted(self.checked_tilings, 'tiling')} checked; each fills the board, and none occurs twice"
        return checked if self.complete else f"{checked}; the search is unfinished, {searched}"


def verify_tilings(address: Address) -> TilingVerdict:
    """Check every byte and every tiling in a store, finished or not.

    Raises
    ------
    NotAStoreError
        There are no tilings at the address.
    """
    store = TilingStore(arguments.address(address, "the address of tilings"))
    try:
        manifest = store.read()
        store.check_partitions(manifest)
        tilings = store.tilings(manifest)
    except StoreDamagedError as error:
        return TilingVerdict(problems=(str(error),))
    return TilingVerdict(
        problems=tuple(_problems(manifest, manifest.problem, tilings)),
        complete=manifest.complete,
        checked_tilings=len(tilings),
        searched_partitions=len(manifest.searched),
        partitions=manifest.partitions,
    )


def _problems(manifest: TilingManifest, problem: TilingProblem, tilings: TilingArray) -> Iterator[str]:
    invalid = ~_are_tilings(problem, tilings)
    if invalid.any():
        yield f"{_counted(invalid.sum(), 'invalid')}: numbers {_format_numbers(invalid)}"
        return  # the checks below need valid tilings
    yield from _symmetry_problems(manifest, problem, tilings)
    if manifest.complete and not np.array_equal(distinct(tilings), tilings):
        yield "the tilings are not in strictly ascending order"
    if duplicates := len(tilings) - len(distinct(tilings)):
        yield _counted(duplicates, "duplicate")


def _are_tilings(problem: TilingProblem, tilings: TilingArray) -> NDArray[np.bool_]:
    """Return whether each row ``(tilings,)`` places each copy, covers each required cell, and covers no cell twice."""
    placements = placements_of(problem)
    in_range = (tilings >= 0) & (tilings < len(placements))
    inside = np.where(in_range, tilings, 0)
    own_piece = in_range & (placements.piece[inside] == problem.piece_of_copy)
    room = problem.copies * placements.cells.shape[1]
    cells = np.sort(placements.cells[inside].reshape(len(tilings), room), axis=1)  # shorter rows are padded with -1
    overlap = (cells[:, 1:] == cells[:, :-1]) & (cells[:, 1:] >= 0)
    to_cover = np.append(problem.required, False)[cells]
    covers = to_cover.sum(axis=1) == problem.required.sum()
    result: NDArray[np.bool_] = own_piece.all(axis=1) & ~overlap.any(axis=1) & covers
    return result


def _symmetry_problems(manifest: TilingManifest, problem: TilingProblem, tilings: TilingArray) -> Iterator[str]:
    symmetry, larger, raw = symmetry_of(problem), np.zeros(len(tilings), dtype=np.bool_), 0
    size = batch_size(problem)
    for first in range(0, len(tilings), size):
        copies = symmetry.copies(tilings[first : first + size])
        larger[first : first + size] = (smallest(copies) != copies[0]).any(axis=1)
        raw += int(orbit_sizes(copies).sum())
    if larger.any():
        counted = _counted(larger.sum(), "non-canonical")
        yield f"{counted} (not the smallest of its orbit): numbers {_format_numbers(larger)}"
    if raw != manifest.raw_tilings:
        yield f"the manifest lists {manifest.raw_tilings} raw tilings, but the stored tilings expand to {raw}"


def _counted(count: int, kind: str) -> str:
    return counted(count, f"{kind} tiling")


def _format_numbers(which: NDArray[np.bool_]) -> str:
    numbers = (np.flatnonzero(which) + 1).tolist()
    return ", ".join(map(str, numbers[:5])) + (", ..." if len(numbers) > 5 else "")
