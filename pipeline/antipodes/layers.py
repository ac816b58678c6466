"""The layer loop: the tasks of each depth, when they are committed, and how the search goes on from a commit."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from antipodes import partition
from antipodes.checkpoint import read_state, write_depths
from antipodes.clock import Clock
from antipodes.errors import DepthLimitError
from antipodes.events import Begun, Committed, Committing, LayerSettled, Listener, PartitionSettled, Widened
from antipodes.kernels import warm_up
from antipodes.moves import move_tables
from antipodes.plan import Plan
from antipodes.puzzles.puzzle import Puzzle
from antipodes.scheduler import Call, Handle, Scheduler
from antipodes.store import NOTHING_COMMITTED, WIDEST, Record, TableStore


@dataclass
class LayerSearch:
    """A breadth-first search, a layer at a time, that goes on from what the store holds."""

    puzzle: Puzzle
    plan: Plan
    store: TableStore
    record: Record
    """The last commit."""
    scheduler: Scheduler
    checkpoint_every: float
    """Seconds between two commits at least; 0 commits every layer."""
    listener: Listener
    interrupted: Callable[[], bool]
    """Asked between layers whether to commit and stop."""
    clock: Clock = field(default_factory=Clock)
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    """Part of every key, so that two runs on one cluster do not share results."""

    tables: Handle = field(init=False)
    sources: list[list[int]] = field(init=False)
    """From which partitions moves lead into each."""
    states: list[Handle] = field(init=False)
    frontiers: list[Handle] = field(init=False)
    """The states as other partitions need them; of those at the last depth only."""
    counts: list[int] = field(init=False)
    """How many positions of each partition are at the last depth."""
    layers: list[int] = field(init=False)
    unwritten: set[int] = field(default_factory=set)
    """Partitions that have changed since they were written."""
    last_commit: float = field(init=False)
    found: int = 0
    """Positions that this run has found."""

    def run(self) -> Record:
        """Search until no new position is found, or the run is interrupted; the commit it ends with."""
        with self.clock.measure("tables"):
            self._build_tables()
        with self.clock.measure("write"):
            self._go_on()
        if self._is_commit_due():
            self._commit()
        while any(self.counts) and not self.interrupted():
            if self.depth + 1 == self.record.unreached:
                self._widen()
            self._advance()
            if self._is_commit_due():
                self._commit()
        if self.unwritten or not self.record.complete:
            self._commit()
        return self.record

    @property
    def depth(self) -> int:
        """The depth of the last layer."""
        return len(self.layers) - 1

    def _build_tables(self) -> None:
        bounds = [*(part.first_row for part in self.plan.partitions), self.plan.index.rows]
        preparing: dict[int, Call] = {0: (move_tables, self.puzzle, self.plan.index), 1: (warm_up,)}
        self.tables, _ = self._persist("prepare", preparing).values()
        (reaches,) = self._persist("reaches", {0: (partition.reaches, self.tables, bounds)}).values()
        self.sources = partition.sources(self.scheduler.values([reaches])[0])

    def _go_on(self) -> None:
        """Take up the search at the committed depth, or at the starts."""
        resumed = self.record.committed_depth != NOTHING_COMMITTED
        calls = self._restored() if resumed else self._begun()
        self.states = list(self._persist("begin", calls).values())
        self.frontiers = self.scheduler.parts(partition.for_others, self.states)
        self.counts = self.scheduler.values(self.scheduler.parts(partition.found, self.states))
        self.layers = list(self.record.layers) or [sum(self.counts)]
        if not resumed:
            self.unwritten = {number for number, count in enumerate(self.counts) if count}
        self.last_commit = time.monotonic()
        size = self.plan.index.size
        self.listener(Begun(self.puzzle.name, size, self.depth, sum(self.layers), resumed, self.plan.hold_depths))

    def _begun(self) -> dict[int, Call]:
        starts = self.plan.index.rank(self.puzzle.start_labels)
        width, dtype, hold = self.plan.index.width, self.record.dtype, self.plan.hold_depths
        return {
            part.number: (partition.begin, part.first_row, part.rows, width, starts, dtype, hold)
            for part in self.plan.partitions
        }

    def _restored(self) -> dict[int, Call]:
        return {
            part.number: (read_state, self.store, self.record, part, self.plan.hold_depths)
            for part in self.plan.partitions
        }

    def _advance(self) -> None:
        """Find the next layer."""
        with self.clock.measure("search"):
            self._settle(self.depth + 1)
        count = sum(self.counts)
        if count:
            self.layers.append(count)
            self.found += count
            rate = self.found / self.clock.search
            self.listener(LayerSettled(self.depth, count, sum(self.layers), rate))

    def _settle(self, depth: int) -> None:
        """One task for each partition that the last layer leads into."""
        calls: dict[int, Call] = {}
        for number, sources in enumerate(self.sources):
            active = [self.frontiers[source] for source in sources if self.counts[source]]
            if active:
                calls[number] = (partition.advance, self.states[number], active, self.tables, depth)
        advanced = self._persist(f"advance-{depth}", calls, self._progress(depth, len(calls)))
        self.counts = [0] * len(self.states)
        counts = self.scheduler.values(self.scheduler.parts(partition.found, list(advanced.values())))
        frontiers = self.scheduler.parts(partition.for_others, list(advanced.values()))
        for (number, state), count, frontier in zip(advanced.items(), counts, frontiers, strict=True):
            self.states[number], self.counts[number], self.frontiers[number] = state, count, frontier
            if count:
                self.unwritten.add(number)

    def _is_commit_due(self) -> bool:
        overdue = time.monotonic() - self.last_commit >= self.checkpoint_every
        return bool(self.unwritten) and (overdue or not self.plan.hold_depths)

    def _commit(self) -> None:
        self.listener(Committing(self.depth))
        with self.clock.measure("write"):
            calls: dict[int, Call] = {
                number: (write_depths, self.store, self.record, self.states[number], self.depth)
                for number in sorted(self.unwritten)
            }
            written = self.scheduler.values(list(self._persist(f"write-{self.depth}", calls).values()))
            self.record = replace(
                self.record,
                complete=not any(self.counts),
                committed_depth=self.depth,
                layers=tuple(self.layers),
                chunks=tuple(sorted({*self.record.chunks, *(chunk for chunks in written for chunk in chunks)})),
            )
            self.store.commit(self.record)
        self.unwritten.clear()
        self.last_commit = time.monotonic()
        self.listener(Committed(self.depth))

    def _widen(self) -> None:
        """Go on with 16 bits a depth, from the store: the one way to begin again.

        Raises
        ------
        DepthLimitError
            16 bits do not hold the next depth either; what was found is committed.
        """
        if self.unwritten:
            self._commit()
        if self.record.dtype == WIDEST:
            raise DepthLimitError(f"expected depths up to {self.depth:,}, found positions that lie deeper")
        with self.clock.measure("write"):
            self.states.clear()  # the depths of a byte each make room for the wider ones
            self.record = self.store.widen(self.record)
            self.plan = self.plan.widened()
            self.states = list(self._persist("widen", self._restored()).values())
        self.listener(Widened(self.depth))

    def _progress(self, depth: int, partitions: int) -> Callable[[], None]:
        settled = 0

        def done() -> None:
            nonlocal settled
            settled += 1
            self.listener(PartitionSettled(depth, settled, partitions))

        return done

    def _persist(self, name: str, calls: dict[int, Call], done: Callable[[], None] | None = None) -> dict[int, Handle]:
        keyed = {(f"{name}-{self.run_id}", number): call for number, call in calls.items()}
        handles = self.scheduler.persist(keyed, done)
        return dict(zip(calls, handles.values(), strict=True))
