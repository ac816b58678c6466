"""The groups of partitions, where the scheduler keeps them: begun or restored, advanced together, written."""

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from antipodes.bfs import group
from antipodes.bfs.rows import Partition
from antipodes.errors import InterruptedRunError, StoreDamagedError
from antipodes.executors.api import Call, Handle, Key, Scheduler, Stop, is_result, result_of
from antipodes.tables.building import build_tables
from antipodes.tables.checkpoint import read_group, write_group
from antipodes.tables.plan import Plan
from antipodes.tables.store import TableManifest, TableStore
from antipodes.tables.summaries import Summaries

Settled = Callable[[int, int], None]
"""Told how many groups of a layer are settled, and of how many."""


@dataclass
class Block:
    """Layers that are handed over together: their tasks, and what stands for the groups after the last of them."""

    groups: list[Handle]
    frontiers: list[Handle]
    """The groups as others need them."""
    active: set[int]
    """The groups that may have positions at the last depth."""
    calls: dict[Key, Call] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)


class Groups:
    """Each group as a handle, and what the others need of it."""

    def __init__(self, scheduler: Scheduler, plan: Plan, stop: Stop = lambda: False) -> None:
        """Build the move tables; InterruptedRunError where ``stop`` says so meanwhile."""
        self.plan = plan
        self.counts: list[int] = []
        """How many positions of each group are at the last depth."""
        self._scheduler = scheduler
        self._run = uuid.uuid4().hex
        """Part of every key, so that no result of another run, or of one that lost workers, is taken for ours."""
        self._links = self._link(stop)
        try:
            self._sources = self._sources_of_groups(stop)
            """The groups from which moves lead into each, itself among them if its own do."""
        except InterruptedRunError:
            self._links = None  # else the error would keep the tables on the worker that builds them
            raise
        self._groups: list[Handle] = []
        self._frontiers: list[Handle] = []

    def begin(self, starts: NDArray[np.int64], manifest: TableManifest) -> None:
        """Have the groups at depth 0; ``starts`` are indices."""
        width, hold = self.plan.space.width, self.plan.hold_depths
        self._place("begin", [(group.begin, here, width, starts, manifest.dtype, hold) for here in self.plan.groups], 0)

    def restore(self, store: TableStore, manifest: TableManifest) -> None:
        """Have the groups at the committed depth, from the store.

        Raises
        ------
        StoreDamagedError
            There are not as many positions at each depth as were committed.
        """
        self._groups, self._frontiers = [], []  # what they hold makes room
        hold = self.plan.hold_depths
        calls: list[Call] = [(read_group, store, _about(manifest, parts), parts, hold) for parts in self.plan.groups]
        found = self._place("restore", calls, manifest.committed_depth)
        layers = [sum(here.get(depth, 0) for here in found) for depth in range(manifest.committed_depth + 1)]
        if layers != list(manifest.layers):
            depth = next(depth for depth, count in enumerate(layers) if count != manifest.layers[depth])
            raise StoreDamagedError(
                f"{store.address} is damaged: expected {manifest.layers[depth]:,} positions at depth {depth}, "
                f"as committed, found {layers[depth]:,}"
            )

    def advance(self, depth: int, layers: int, settled: Settled) -> tuple[set[int], list[int]]:
        """Go on from ``depth`` by so many layers, in one round trip.

        The groups in which there are new positions, and how many there are in each layer.
        """
        block = Block(
            list(self._groups), list(self._frontiers), {number for number, count in enumerate(self.counts) if count}
        )
        if len(self._groups) == 1:
            self._add_layers(block, depth, layers)
        else:
            for at in range(depth, depth + layers):
                self._add_layers(block, at, 1)
        self._run_block(block, settled if layers == 1 else None)
        found = self._found(sorted(block.changed))
        depths = range(depth + 1, depth + layers + 1)
        self.counts = [found.get(number, {}).get(depths[-1], 0) for number in range(len(self._groups))]
        reached = {number for number, here in found.items() if any(here.get(at) for at in depths)}
        return reached, [sum(here.get(at, 0) for here in found.values()) for at in depths]

    def write(
        self, numbers: Iterable[int], store: TableStore, manifest: TableManifest, depth: int, token: str
    ) -> list[Summaries]:
        """Store what the groups of these numbers know up to ``depth``; the summaries of the chunks that changed."""
        calls: dict[Key, Call] = {
            self._key(f"write-{depth}", number): (
                write_group,
                store,
                _about(manifest, self.plan.groups[number]),
                self._groups[number],
                depth,
                token,
            )
            for number in numbers
        }
        written = self._scheduler.gather(list(self._scheduler.persist(calls).values()))
        return [chunks for group in written for chunks in group]

    def _link(self, stop: Stop) -> Handle:
        """The move tables, and how partitions lead into each other."""
        tables = build_tables(self._scheduler, self.plan.space, stop)
        linked = self._key("links", 0)
        bounds = (*(part.first_row for part in self.plan.partitions), self.plan.space.rows)
        return self._scheduler.persist({linked: (group.links, tables, bounds)})[linked]

    def _sources_of_groups(self, stop: Stop) -> list[list[int]]:
        (sources,) = self._scheduler.gather(self._scheduler.map(group.predecessors, [self._links]), stop)
        size = self.plan.group_size
        return [
            sorted({source // size for part in parts for source in sources[part.number]}) for parts in self.plan.groups
        ]

    def _place(self, name: str, calls: list[Call], depth: int) -> list[dict[int, int]]:
        """Have the results of the calls as the groups at ``depth``; how many positions each holds, by depth."""
        keyed = {self._key(f"{name}-{depth}", number): call for number, call in enumerate(calls)}
        self._groups = list(self._scheduler.submit(keyed).values())
        self._frontiers = self._groups
        if not self._scheduler.shares_memory:
            lean: dict[Key, Call] = {
                self._key(f"frontier-{name}-{depth}", number): (group.boundary, here, self._links, depth)
                for number, here in enumerate(self._groups)
            }
            self._frontiers = list(self._scheduler.persist(lean).values())
        found = self._found(range(len(self._groups)))
        self.counts = [here.get(depth, 0) for here in found.values()]
        return list(found.values())

    def _add_layers(self, block: Block, depth: int, layers: int) -> None:
        """Add the tasks of layers behind ``depth``; of more than one only if there is one group."""
        before = list(block.groups)
        reached = [number for number, sources in enumerate(self._sources) if block.active.intersection(sources)]
        for number in reached:
            others = [block.frontiers[one] for one in self._sources[number] if one in block.active and one != number]
            key = self._key(f"advance-{depth}", number)
            block.calls[key] = (group.advance, before[number], others, self._links, depth, layers)
            block.groups[number] = result_of(key)
        if self._scheduler.shares_memory:
            block.frontiers = list(block.groups)
        else:
            for number in reached:
                key = self._key(f"frontier-{depth}", number)
                block.calls[key] = (group.boundary, block.groups[number], self._links, depth + layers)
                block.frontiers[number] = result_of(key)
        block.active = set(reached)
        block.changed |= block.active

    def _run_block(self, block: Block, settled: Settled | None) -> None:
        """Run the calls, and keep those of their results that stand for groups and frontiers in the end."""
        groups = [one.key for one in block.groups if is_result(one)]
        frontiers = [one.key for one in block.frontiers if is_result(one)]
        wanted = list(dict.fromkeys([*groups, *frontiers]))
        handles = self._scheduler.persist(block.calls, wanted, _counting(groups, settled) if settled else None)
        self._groups = [handles[one.key] if is_result(one) else one for one in block.groups]
        self._frontiers = [handles[one.key] if is_result(one) else one for one in block.frontiers]

    def _found(self, numbers: Iterable[int]) -> dict[int, dict[int, int]]:
        """How many positions the groups found, by depth."""
        numbers = list(numbers)
        parts = self._scheduler.map(group.found, [self._groups[number] for number in numbers])
        return dict(zip(numbers, self._scheduler.gather(parts), strict=True))

    def _key(self, name: str, number: int) -> Key:
        return f"{name}-{self._run}", number


def _about(manifest: TableManifest, parts: Sequence[Partition]) -> TableManifest:
    """What the manifest says of some partitions: of a large table, it would not be sent along with each task whole."""
    first, end = parts[0].first_row // manifest.chunk_rows, -(-parts[-1].end_row // manifest.chunk_rows)
    return replace(manifest, puzzle={}, chunks=manifest.chunks.part(first, end), layers=(), metadata={})


def _counting(keys: Iterable[Key], settled: Settled) -> Callable[[Key], None]:
    """Tell how many of the keys there are once another one is."""
    awaited = set(keys)
    done: list[Key] = []

    def count(key: Key) -> None:
        if key in awaited:
            done.append(key)
            settled(len(done), len(awaited))

    return count
