"""Verification of stored tilings: each must fill the board and occur once, and their number must match the manifest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.runs.verification import BlockCache, BlockReader, CallingThread, OneBlock, Verdict
from antipodes.system.addresses import Address
from antipodes.tilings.store import TilingManifest, TilingStore
from antipodes_tasks.base import arguments
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
from antipodes_tasks.exact_cover.tiling_problem import TilingProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedTilings:
    """The outcome of checking tilings, for JSON output."""

    ok: bool
    complete: bool | None
    checked_tilings: int
    searched_partitions: int
    partitions: int
    problems: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class TilingVerdict(Verdict):
    """The outcome of checking tilings."""

    RECORD = VerifiedTilings

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
    return TilingVerdict.of(partial(_verdict, store))


def _verdict(store: TilingStore) -> TilingVerdict:
    """Return the verdict on a store; raise StoreDamagedError if a file is corrupt."""
    manifest = store.read()
    store.check_partitions(manifest)
    jobs = [OneBlock(number) for number in range(len(manifest.blocks))]
    blocks = BlockReader(CallingThread(), partial(store.read_block, manifest), jobs)
    checked = blocks.run(check_block, manifest.problem)
    return TilingVerdict(
        problems=tuple(_problems(manifest, checked)),
        complete=manifest.complete,
        checked_tilings=sum(len(one.tilings) for one in checked),
        searched_partitions=len(manifest.searched),
        partitions=manifest.partitions,
    )


class CheckedBlock(NamedTuple):
    """The findings of the check of a block of tilings."""

    tilings: TilingArray
    invalid: NDArray[np.bool_]
    """Whether each tiling is invalid."""
    larger: NDArray[np.bool_]
    """Whether each tiling is larger than one of its symmetric copies. Unknown if any is invalid."""
    raw: int
    """Number of tilings, counting symmetric copies separately. Unknown if any is invalid."""


def check_block(blocks: BlockCache[TilingArray], job: OneBlock, problem: TilingProblem) -> CheckedBlock:
    """Check each tiling of a block by itself."""
    tilings = blocks.get(job.number)
    invalid = ~_are_tilings(problem, tilings)
    if invalid.any():
        return CheckedBlock(tilings, invalid, np.zeros_like(invalid), 0)
    return CheckedBlock(tilings, invalid, *_compare_copies(problem, tilings))


def _problems(manifest: TilingManifest, checked: Sequence[CheckedBlock]) -> Iterator[str]:
    invalid = np.concatenate([np.empty(0, dtype=np.bool_), *(one.invalid for one in checked)])
    if invalid.any():
        yield f"{_counted(invalid.sum(), 'invalid')}: numbers {_format_numbers(invalid)}"
        return  # the checks below need valid tilings
    larger = np.concatenate([invalid[:0], *(one.larger for one in checked)])
    if larger.any():
        counted = _counted(larger.sum(), "non-canonical")
        yield f"{counted} (not the smallest of its orbit): numbers {_format_numbers(larger)}"
    if (raw := sum(one.raw for one in checked)) != manifest.raw_tilings:
        yield f"the manifest lists {manifest.raw_tilings} raw tilings, but the stored tilings expand to {raw}"
    tilings = np.concatenate([np.empty((0, len(manifest.pieces)), dtype=np.int32), *(one.tilings for one in checked)])
    in_order = distinct(tilings)
    if manifest.complete and not np.array_equal(in_order, tilings):
        yield "the tilings are not in strictly ascending order"
    if duplicates := len(tilings) - len(in_order):
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


def _compare_copies(problem: TilingProblem, tilings: TilingArray) -> tuple[NDArray[np.bool_], int]:
    """Return whether each tiling is larger than a symmetric copy, and the number of all tilings and their copies."""
    symmetry, larger, raw = symmetry_of(problem), np.zeros(len(tilings), dtype=np.bool_), 0
    size = batch_size(problem)
    for first in range(0, len(tilings), size):
        copies = symmetry.copies(tilings[first : first + size])
        larger[first : first + size] = (smallest(copies) != copies[0]).any(axis=1)
        raw += int(orbit_sizes(copies).sum())
    return larger, raw


def _counted(count: int, kind: str) -> str:
    return counted(count, f"{kind} tiling")


def _format_numbers(which: NDArray[np.bool_]) -> str:
    numbers = (np.flatnonzero(which) + 1).tolist()
    return ", ".join(map(str, numbers[:5])) + (", ..." if len(numbers) > 5 else "")
