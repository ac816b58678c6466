"""Checks that a table is correct, from its bytes to its distances."""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes import arguments
from antipodes.bfs import partition
from antipodes.bfs.proof import Block, Findings, check_partition
from antipodes.bfs.rows import Partition
from antipodes.errors import ResourceLimitError, StoreDamagedError
from antipodes.events import silence
from antipodes.executors.api import Handle, Scheduler, never
from antipodes.executors.opening import as_scheduler
from antipodes.machine import available_memory
from antipodes.quoting import shorten
from antipodes.runs.verdict import Verdict
from antipodes.sizes import human
from antipodes.spaces.move_tables import MoveTables
from antipodes.storage.address import Address
from antipodes.tables.layers.building import build_tables
from antipodes.tables.planning.plan import partitions, plan_partition
from antipodes.tables.sample import KnownDepths, check_sample, draw_sample
from antipodes.tables.store.manifest import NOTHING_COMMITTED, TableManifest
from antipodes.tables.store.table_store import TableStore

SHOWN = 5
"""Positions named for each kind of problem, at most."""


@dataclass(frozen=True, kw_only=True)
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
        checked = (
            f"ok: {self.checked_states:,} positions checked, {self.sampled_states:,} of them by the rules alone, "
            "every distance"
        )
        if self.complete:
            return f"{checked} is correct"
        if self.committed_depth is None:
            return "unfinished: nothing is committed yet, so there is nothing to check"
        return (
            f"{checked} up to depth {self.committed_depth} is correct; "
            "the table is unfinished, greater ones are not known yet"
        )


def verify(address: Address, scheduler: Any, seed: int | None = None) -> TableVerdict:
    """Check every byte and every distance of the table in a store, finished or not.

    Each call draws another sample of positions to check without the move tables. The ``sample_seed`` of an earlier
    verdict, from 0 to 2^63 - 1, repeats that sample if the number of workers is the same. The scheduler, such as
    ``Threads(2)``, or the client of dask.distributed stays open.

    Raises
    ------
    InputError
        An argument is of another type, or out of range.
    NotAStoreError
        There is no table at the address.
    ResourceLimitError
        The move tables do not fit into memory.
    """
    store = TableStore(arguments.address(address, "the address of a table"))
    seed = secrets.randbits(32) if seed is None else arguments.integer(seed, "seed", 0, arguments.GREATEST)
    with as_scheduler(scheduler) as opened:
        try:
            manifest = store.read()
            if manifest.committed_depth == NOTHING_COMMITTED:
                return TableVerdict(complete=False)
            opened.wait_for_workers(silence, never)
            return _Check(store, manifest, opened, seed).verdict()
        except StoreDamagedError as error:
            return TableVerdict(problems=(str(error),))


class _Check:
    """The check of one table: where it is stored, how it is cut, and the tasks that compare its depths."""

    def __init__(self, store: TableStore, manifest: TableManifest, scheduler: Scheduler, seed: int) -> None:
        self.store = store
        self.manifest = manifest
        self.scheduler = scheduler
        self.seed = seed
        self.space = manifest.cut[0]
        self.puzzle = self.space.puzzle
        self.partitions = partitions(self.space, plan_partition(self.space, manifest.chunk_rows, scheduler.workers))

    def verdict(self) -> TableVerdict:
        """Check all partitions by the move tables, and a sample of the positions without them."""
        self._check_memory()
        tables = build_tables(self.scheduler, self.space)
        blocks = self._blocks()
        findings = self._findings(tables, blocks)
        sample = draw_sample(self.space, [finding.drawn for finding in findings], self.seed)
        (here,) = self.scheduler.gather([tables])
        known = KnownDepths(self.space, self.partitions, blocks, self._read_here)
        wrong = check_sample(self.space, sample, here, known, *self._depths_known)
        return TableVerdict(
            problems=(*self._problems(findings), *self._shown(wrong)),
            complete=self.manifest.complete,
            committed_depth=self.manifest.committed_depth,
            checked_states=self.space.size,
            sampled_states=len(sample),
            sample_seed=self.seed,
        )

    def _read_here(self, block: Handle) -> Block:
        if isinstance(block, Partition):
            return _read(self.store, self.manifest, block)
        read: Block = self.scheduler.gather([block])[0]
        return read

    @property
    def _depths_known(self) -> tuple[int, int]:
        """The greatest depth, and the greatest one whose successors are known."""
        deepest = self.manifest.committed_depth
        return deepest, deepest if self.manifest.complete else deepest - 1

    def _check_memory(self) -> None:
        building = self.space.building_bytes(self.scheduler.workers)
        needed, available = self.space.table_bytes + building, available_memory()
        if needed > available:
            raise ResourceLimitError(
                f"the check needs the move tables, which take up to {human(needed)} of memory; "
                f"{human(available)} are available"
            )

    def _findings(self, tables: Handle, blocks: list[Handle]) -> list[Findings]:
        starts = self._starts()
        before = self._predecessors(tables)
        calls = {
            ("check", part.number): (
                _check, self.store, self.manifest, blocks[part.number],
                [blocks[number] for number in before[part.number]], tables, starts, *self._depths_known, self.seed,
            )
            for part in self.partitions
        }  # fmt: skip
        found: list[Findings] = self.scheduler.gather(list(self.scheduler.persist(calls).values()))
        return found

    def _starts(self) -> NDArray[np.int64]:
        """The indices of the starts, ranked and unranked again: all distances are counted from them."""
        starts = self.space.rank(self.puzzle.start_labels)
        if not np.array_equal(self.space.unrank(starts), self.puzzle.start_labels):
            raise StoreDamagedError("the indices of the starts are those of other positions: nothing can be checked")
        return starts

    def _predecessors(self, tables: Handle) -> list[list[int]]:
        """For each partition the numbers of those whose moves lead into it."""
        bounds = [*(part.first_row for part in self.partitions), self.space.rows]
        (successors,) = self.scheduler.persist({("successors", 0): (partition.successors, tables, bounds)}).values()
        return partition.predecessors(self.scheduler.gather([successors])[0])

    def _blocks(self) -> list[Handle]:
        """The depths of all partitions; if memory cannot hold them all, the partitions, to be read when needed."""
        if self.space.size * np.dtype(self.manifest.dtype).itemsize > available_memory() // 2:
            return list(self.partitions)
        calls = {("block", part.number): (_read, self.store, self.manifest, part) for part in self.partitions}
        return list(self.scheduler.persist(calls).values())

    def _problems(self, findings: list[Findings]) -> Iterator[str]:
        layers = np.sum([finding.layers for finding in findings], axis=0)[:-1].tolist()
        counts = enumerate(zip(self.manifest.layers, layers, strict=True))
        if wrong := [(depth, expected, found) for depth, (expected, found) in counts if expected != found]:
            depth, expected, found = wrong[0]
            others = f"; the counts of {len(wrong) - 1:,} more depths differ, too" if len(wrong) > 1 else ""
            yield f"the manifest counts {expected:,} positions at depth {depth}, the table has {found:,}{others}"
        yield from self._shown(
            {
                what: np.concatenate([getattr(finding, kind) for finding in findings])
                for kind, what in (
                    ("not_zero", "a start whose depth is not 0"),
                    ("unsupported", "reached, but no predecessor is one less deep"),
                    ("skipped", "more than one deeper than a predecessor, or unreached"),
                )
            }
        )

    def _shown(self, wrong: Mapping[str, NDArray[np.int64]]) -> Iterator[str]:
        """A line for each kind of problem that positions have, given by their indices."""
        for what, indices in wrong.items():
            if len(indices):
                shown = "; ".join(shorten(self.puzzle.format(labels)) for labels in self.space.unrank(indices[:SHOWN]))
                yield f"{len(indices):,} x {what}: {shown}{'; ...' if len(indices) > SHOWN else ''}"


def _read(store: TableStore, manifest: TableManifest, part: Partition) -> Block:
    return Block(part.first_row, store.read_rows(manifest, part.first_row, part.end_row))


def _check(
    store: TableStore,
    manifest: TableManifest,
    block: Block | Partition,
    predecessors: list[Block | Partition],
    tables: MoveTables,
    starts: NDArray[np.int64],
    deepest: int,
    expanded: int,
    seed: int,
) -> Findings:
    def read(one: Block | Partition) -> Block:
        return _read(store, manifest, one) if isinstance(one, Partition) else one

    return check_partition(read(block), [read(one) for one in predecessors], tables, starts, deepest, expanded, seed)
