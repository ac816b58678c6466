"""Checks that a table is correct, from its bytes to its distances."""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from antipodes import arguments
from antipodes.bfs.proof import SHOWN, Findings, Wrong
from antipodes.errors import StoreDamagedError
from antipodes.events import Listener, silence
from antipodes.executors.api import never
from antipodes.executors.opening import as_scheduler
from antipodes.executors.threads import Threads
from antipodes.machine import available_workers
from antipodes.quoting import counted, shorten
from antipodes.runs.verdict import Verdict
from antipodes.spaces.space import StateSpace
from antipodes.storage.address import Address
from antipodes.tables.store.chunks import TableChunks
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.search_manifest import NOTHING_COMMITTED
from antipodes.tables.store.table_store import TableStore
from antipodes.tables.verification.check import Checked, TableCheck
from antipodes.tables.verification.memory import plan_memory


@dataclass(frozen=True, kw_only=True, repr=False)
class TableVerdict(Verdict):
    """The outcome of checking a table."""

    committed_depth: int | None = None
    """The depth up to which an unfinished table was checked; None if nothing is committed yet."""
    checked_states: int = 0
    """Positions whose depth was checked, unreached ones included."""
    sampled_states: int = 0
    """Those of them whose neighbours were also computed from the rules of the puzzle, without the move tables."""
    sample_seed: int | None = None
    """The seed that the sample was drawn with; None if none was drawn."""

    def checked(self) -> str:
        """One line on a table without problems."""
        if not self.complete and self.committed_depth is None:
            return "unfinished: nothing is committed yet, so there is nothing to check"
        checked = (
            f"{counted(self.checked_states, 'position')} checked, {self.sampled_states:,} of them by the rules alone"
        )
        if self.complete:
            return f"ok: {checked}, every distance is correct"
        return f"ok, but unfinished: {checked}, every distance up to depth {self.committed_depth} is correct"


def verify(
    address: Address,
    scheduler: Any = None,
    seed: int | None = None,
    memory_limit: int | None = None,
    listener: Listener = silence,
) -> TableVerdict:
    """Check every byte and every distance of the table in a store, finished or not.

    Each call draws another sample of positions to check without the move tables. The ``sample_seed`` of an earlier
    verdict, from 0 to 2^63 - 1, repeats that sample. The scheduler, such as ``Threads(2)``, or the client of
    dask.distributed stays open; by default threads check, one a processor. Depths that do not fit into
    ``memory_limit``, in bytes, on a cluster of all workers together, are read again where they are needed; by default
    it is the free memory. The ``listener`` is told how many positions are checked.

    Raises
    ------
    InputError
        An argument is of another type, or out of range.
    NotAStoreError
        There is no table at the address.
    ResourceLimitError
        The memory limit is less than a check takes at least; the message names that.
    """
    store = TableStore(arguments.address(address, "the address of a table"))
    seed = secrets.randbits(32) if seed is None else arguments.integer(seed, "seed", 0, arguments.GREATEST)
    arguments.optional(memory_limit, arguments.integer, "memory_limit", 1, arguments.GREATEST)
    arguments.function(listener, "listener")
    with as_scheduler(Threads(available_workers()) if scheduler is None else scheduler) as opened:
        try:
            manifest = store.read()
            if manifest.committed_depth == NOTHING_COMMITTED:
                return TableVerdict(complete=False)
            opened.wait_for_workers(listener, never)
            memory = plan_memory(manifest, opened, memory_limit)
            checked = TableCheck(store, manifest, opened, memory, seed, listener).run()
            problems = (*_problems(manifest, checked), *_wrong_index(store, manifest, checked.findings))
            return _verdict(manifest, checked, problems, seed)
        except StoreDamagedError as error:
            return TableVerdict(problems=(str(error),))


def _verdict(manifest: TableManifest, checked: Checked, problems: tuple[str, ...], seed: int) -> TableVerdict:
    return TableVerdict(
        problems=problems,
        complete=manifest.complete,
        committed_depth=manifest.committed_depth,
        checked_states=manifest.index_size,
        sampled_states=len(checked.sample),
        sample_seed=seed,
    )


def _problems(manifest: TableManifest, checked: Checked) -> Iterator[str]:
    """A line for each kind of problem."""
    space = manifest.cut[0]
    yield from _wrong_counts(manifest, checked.findings)
    for kind, what in (
        ("not_zero", f"a {space.puzzle.depth_zero} whose depth is not 0"),
        ("unsupported", "reached, but no predecessor is one less deep"),
        ("skipped", "more than one deeper than a predecessor, or unreached"),
    ):
        yield from _shown(space, what, _together([getattr(finding, kind) for finding in checked.findings]))
    for what, indices in checked.contradicted.items():
        yield from _shown(space, what, Wrong(len(indices), indices[:SHOWN]))


def _wrong_counts(manifest: TableManifest, findings: Sequence[Findings]) -> Iterator[str]:
    """A line if the manifest counts other positions than the chunks hold; there is one of the findings per chunk."""
    layers = np.sum([finding.layers for finding in findings], axis=0)[:-1].tolist()
    counts = enumerate(zip(manifest.layers, layers, strict=True))
    if wrong := [(depth, expected, found) for depth, (expected, found) in counts if expected != found]:
        depth, expected, found = wrong[0]
        others = f"; the counts of {counted(len(wrong) - 1, 'other depth')} differ, too" if len(wrong) > 1 else ""
        yield f"the manifest counts {counted(expected, 'position')} at depth {depth}, the table has {found:,}{others}"


def _wrong_index(store: TableStore, manifest: TableManifest, findings: Sequence[Findings]) -> Iterator[str]:
    """A line if positions would not be found by their depth; what else was found is told, too, if that is damaged."""
    found = np.array([finding.layers[:-1] for finding in findings])
    try:
        if wrong := np.count_nonzero((store.layer_counts(manifest) != found).any(axis=1)):
            chunks = counted(int(wrong), "chunk")
            yield f"the numbers of positions at each depth of {chunks} are not those of the chunks"
        elif manifest.antipodes and found.sum(axis=0).tolist() == list(manifest.layers):
            first = TableChunks(store, manifest, 0).first_of(manifest.radius, len(manifest.antipodes))
            if first.tolist() != list(manifest.antipodes):
                yield "the antipodes of the manifest are not the first positions at the greatest depth"
    except StoreDamagedError as error:
        yield str(error)


def _together(blocks: Sequence[Wrong]) -> Wrong:
    """The wrong positions of blocks in ascending order, as those of one block."""
    return Wrong(sum(wrong.count for wrong in blocks), np.concatenate([wrong.first for wrong in blocks])[:SHOWN])


def _shown(space: StateSpace, what: str, wrong: Wrong) -> Iterator[str]:
    """A line for a kind of problem that positions have."""
    if wrong.count:
        shown = "; ".join(shorten(space.puzzle.format(labels)) for labels in space.unrank(wrong.first))
        yield f"{wrong.count:,} x {what}: {shown}{'; ...' if wrong.count > SHOWN else ''}"
