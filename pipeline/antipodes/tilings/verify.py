"""Proof that stored tilings are tilings, each once, and as many as the manifest says."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes import arguments
from antipodes.errors import StoreDamagedError
from antipodes.exact_cover.partitions import partitions_of
from antipodes.exact_cover.placements import placements_of
from antipodes.exact_cover.problem import TilingProblem
from antipodes.exact_cover.symmetry import Tilings, distinct, symmetry_of
from antipodes.storage.address import Address
from antipodes.tilings.store import TilingManifest, TilingStore


@dataclass(frozen=True)
class TilingVerdict:
    """What the proof came to."""

    ok: bool
    checked_tilings: int
    problems: tuple[str, ...]
    complete: bool | None = None
    """Whether all partitions are searched; None if the store is too damaged to tell."""
    searched: int = 0
    """How many partitions are searched."""
    partitions: int = 0
    """How many there are."""


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
        return TilingVerdict(False, 0, (str(error),))
    problems = tuple(_problems(manifest, manifest.problem, tilings))
    searched, partitions = len(manifest.searched), manifest.partitions
    return TilingVerdict(not problems, len(tilings), problems, manifest.complete, searched, partitions)


def _problems(manifest: TilingManifest, problem: TilingProblem, tilings: Tilings) -> Iterator[str]:
    wrong = ~_are_tilings(problem, tilings)
    if wrong.any():
        yield f"{wrong.sum():,} x no tiling of the board with each piece once: numbers {_some(wrong)}"
        return  # what follows takes them for tilings
    yield from _symmetry_problems(manifest, problem, tilings)
    if manifest.complete and not np.array_equal(distinct(tilings), tilings):
        yield "the tilings are not in ascending order, each once"
    if len(distinct(tilings)) < len(tilings):
        yield f"{len(tilings) - len(distinct(tilings)):,} x a tiling that is there before"


def _are_tilings(problem: TilingProblem, tilings: Tilings) -> NDArray[np.bool_]:
    """Which rows place each piece, and cover each cell once, ``(tilings,)``."""
    placements = placements_of(problem)
    in_range = (tilings >= 0) & (tilings < len(placements))
    inside = np.where(in_range, tilings, 0)
    right_piece = in_range & (placements.piece[inside] == np.arange(len(problem.pieces)))
    room = len(problem.pieces) * placements.cells.shape[1]
    cells = np.sort(placements.cells[inside].reshape(len(tilings), room), axis=1)  # what fills short rows comes first
    covers = (cells[:, room - problem.board.size :] == np.arange(problem.board.size)).all(axis=1)
    result: NDArray[np.bool_] = right_piece.all(axis=1) & covers
    return result


def _symmetry_problems(manifest: TilingManifest, problem: TilingProblem, tilings: Tilings) -> Iterator[str]:
    symmetry = symmetry_of(problem)
    turned = (symmetry.canonical(tilings) != tilings).any(axis=1)
    if turned.any():
        yield f"{turned.sum():,} x not the smallest of the images under the symmetries: numbers {_some(turned)}"
    raw = int(symmetry.orbit_sizes(tilings).sum())
    if manifest.complete and raw != manifest.raw_tilings:
        yield f"the manifest counts {manifest.raw_tilings} raw tilings, the symmetric copies of those stored are {raw}"
    owned = partitions_of(problem, manifest.method).counts(tilings, symmetry)
    recorded = np.zeros_like(owned)
    for one in manifest.searched:
        recorded[one.number] = one.tilings
    if not np.array_equal(owned, recorded):
        yield f"the manifest counts {recorded.tolist()} tilings by partition, those stored belong to {owned.tolist()}"


def _some(which: NDArray[np.bool_]) -> str:
    numbers = (np.flatnonzero(which) + 1).tolist()
    return ", ".join(map(str, numbers[:5])) + (", ..." if len(numbers) > 5 else "")
