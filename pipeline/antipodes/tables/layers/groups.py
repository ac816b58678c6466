"""The groups of partitions that the tasks of a run hold: started or restored, advanced together, written."""

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from antipodes.bfs import group
from antipodes.bfs.rows import Partition
from antipodes.errors import InterruptedRunError, StoreDamagedError
from antipodes.executors.api import Call, Handle, Key, Scheduler, Stop, never
from antipodes.tables.layers.building import build_tables
from antipodes.tables.layers.checkpoint import read_group, write_group
from antipodes.tables.layers.graph import LayerGraph
from antipodes.tables.planning.plan import Plan
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.summaries import Summaries
from antipodes.tables.store.table_store import TableStore

Settled = Callable[[int, int], None]
"""Told how many groups have finished a layer, and how many take part in it."""


class PartitionGroups:
    """The groups of partitions of a plan, as handles of results that stay on the workers."""

    def __init__(self, scheduler: Scheduler, plan: Plan, stop: Stop = never) -> None:
        """Build the move tables; InterruptedRunError where ``stop`` says so meanwhile."""
        self.plan = plan
        self.counts: list[int] = []
        """The number of positions of each group at the last depth."""
        self._scheduler = scheduler
        self._run = uuid.uuid4().hex
        """Part of every key, so that results of another run, or from before a loss of workers, have other keys."""
        self._links = self._link(stop)
        try:
            self._predecessors = self._find_predecessors(stop)
        except InterruptedRunError:
            self._links = None  # else the traceback would keep the tables on the worker that builds them
            raise
        self._groups: list[Handle] = []
        self._boundaries: list[Handle] = []

    def begin(self, starts: NDArray[np.int64], manifest: TableManifest) -> None:
        """Set the groups to depth 0; ``starts`` are indices ``(n,)``."""
        width, hold = self.plan.space.width, self.plan.hold_depths
        self._place("begin", [(group.begin, here, width, starts, manifest.dtype, hold) for here in self.plan.groups], 0)

    def restore(self, store: TableStore, manifest: TableManifest) -> None:
        """Load the groups at the committed depth from the store.

        Raises
        ------
        StoreDamagedError
            There are not as many positions at each depth as were committed.
        """
        self._groups, self._boundaries = [], []  # makes room for those to be loaded
        hold = self.plan.hold_depths
        calls: list[Call] = [
            (read_group, store, _manifest_of(manifest, parts), parts, hold) for parts in self.plan.groups
        ]
        found = self._place("restore", calls, manifest.committed_depth)
        layers = [sum(here.get(depth, 0) for here in found) for depth in range(manifest.committed_depth + 1)]
        if layers != list(manifest.layers):
            depth = next(depth for depth, count in enumerate(layers) if count != manifest.layers[depth])
            raise StoreDamagedError(
                f"{store.address} is damaged: expected {manifest.layers[depth]:,} positions at depth {depth}, "
                f"as committed, found {layers[depth]:,}"
            )

    def advance(self, depth: int, layers: int, settled: Settled) -> tuple[set[int], list[int]]:
        """Find the next ``layers`` layers after ``depth``, in one round trip.

        The numbers of the groups with new positions, and the number of positions in each layer.
        """
        graph = LayerGraph(
            run=self._run,
            links=self._links,
            predecessors=self._predecessors,
            shares_memory=self._scheduler.shares_memory,
            groups=list(self._groups),
            boundaries=list(self._boundaries),
            active={number for number, count in enumerate(self.counts) if count},
        )
        graph.add_layers(depth, layers)
        done = _counting(graph.group_keys, settled) if layers == 1 else None
        graph.resolve(self._scheduler.persist(graph.calls, graph.wanted, done))
        self._groups, self._boundaries = graph.groups, graph.boundaries
        found = self._found(sorted(graph.changed))
        depths = range(depth + 1, depth + layers + 1)
        self.counts = [found.get(number, {}).get(depths[-1], 0) for number in range(len(self._groups))]
        reached = {number for number, here in found.items() if any(here.get(at) for at in depths)}
        return reached, [sum(here.get(at, 0) for here in found.values()) for at in depths]

    def write(
        self, numbers: Iterable[int], store: TableStore, manifest: TableManifest, depth: int, token: str
    ) -> list[Summaries]:
        """Write the depths of the groups of these numbers up to ``depth``; the summaries of the chunks that changed."""
        calls: dict[Key, Call] = {
            self._key(f"write-{depth}", number): (
                write_group,
                store,
                _manifest_of(manifest, self.plan.groups[number]),
                self._groups[number],
                depth,
                token,
            )
            for number in numbers
        }
        written = self._scheduler.gather(list(self._scheduler.persist(calls).values()))
        return [chunks for group in written for chunks in group]

    def _link(self, stop: Stop) -> Handle:
        """The move tables, and the partitions that they connect."""
        tables = build_tables(self._scheduler, self.plan.space, stop)
        linked = self._key("links", 0)
        bounds = (*(part.first_row for part in self.plan.partitions), self.plan.space.rows)
        return self._scheduler.persist({linked: (group.links, tables, bounds)})[linked]

    def _find_predecessors(self, stop: Stop) -> list[list[int]]:
        """For each group the groups whose moves lead to it, perhaps itself among them."""
        (predecessors,) = self._scheduler.gather(self._scheduler.map(group.predecessors, [self._links]), stop)
        size = self.plan.group_size
        return [
            sorted({number // size for part in parts for number in predecessors[part.number]})
            for parts in self.plan.groups
        ]

    def _place(self, name: str, calls: list[Call], depth: int) -> list[dict[int, int]]:
        """Take the results of the calls as the groups at ``depth``; how many positions each holds, by depth."""
        keyed = {self._key(f"{name}-{depth}", number): call for number, call in enumerate(calls)}
        self._groups = list(self._scheduler.submit(keyed).values())
        self._boundaries = self._groups
        if not self._scheduler.shares_memory:
            calls_of_boundaries: dict[Key, Call] = {
                self._key(f"boundary-{name}-{depth}", number): (group.boundary, here, self._links, depth)
                for number, here in enumerate(self._groups)
            }
            self._boundaries = list(self._scheduler.persist(calls_of_boundaries).values())
        found = self._found(range(len(self._groups)))
        self.counts = [here.get(depth, 0) for here in found.values()]
        return list(found.values())

    def _found(self, numbers: Iterable[int]) -> dict[int, dict[int, int]]:
        """The number of positions that each of these groups found, by depth."""
        numbers = list(numbers)
        parts = self._scheduler.map(group.found, [self._groups[number] for number in numbers])
        return dict(zip(numbers, self._scheduler.gather(parts), strict=True))

    def _key(self, name: str, number: int) -> Key:
        return f"{name}-{self._run}", number


def _manifest_of(manifest: TableManifest, parts: Sequence[Partition]) -> TableManifest:
    """The part of the manifest that tasks of these partitions need; a whole one can be too long to send to each."""
    first, end = parts[0].first_row // manifest.chunk_rows, -(-parts[-1].end_row // manifest.chunk_rows)
    return replace(manifest, puzzle={}, chunks=manifest.chunks.part(first, end), layers=(), metadata={})


def _counting(keys: Iterable[Key], settled: Settled) -> Callable[[Key], None]:
    """A function to be called with each key that is done, which tells how many of ``keys`` are."""
    awaited = set(keys)
    done: list[Key] = []

    def count(key: Key) -> None:
        if key in awaited:
            done.append(key)
            settled(len(done), len(awaited))

    return count
