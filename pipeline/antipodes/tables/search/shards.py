"""The shards of a run: started or restored, advanced together by a graph of tasks, and written by tasks."""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from antipodes.executors.api import Call, Handle, Key, OnDone, Scheduler, Stop, never_stop
from antipodes.system.events import Listener, Restoring, silence
from antipodes.tables.journal import Journal
from antipodes.tables.layers.key_shard import KeyShard
from antipodes.tables.layers.residence import Neighbourhood, advance, go_back, hold
from antipodes.tables.layers.shard import Shard
from antipodes.tables.layers.shard_segments import ShardSegments
from antipodes.tables.planning.plan import Plan
from antipodes.tables.store.found_layers import LayerSize
from antipodes.tables.strategies.commitment import Commitment
from antipodes_tasks.base.errors import InterruptedRunError
from antipodes_tasks.bfs.layer_weights import LayerWeights, total
from antipodes_tasks.bfs.partition import Partition

Result = TypeVar("Result")
Settled = Callable[[int, int], None]
"""Called with the number of shards that have finished a layer, and the number of shards that take part in it."""


class Shards:
    """The shards of a plan, as handles of results that stay on the workers."""

    def __init__(
        self,
        scheduler: Scheduler,
        plan: Plan,
        journal: Journal,
        stop: Stop = never_stop,
        listener: Listener = silence,
    ) -> None:
        """Build the move tables; raise InterruptedRunError if ``stop`` returns True meanwhile."""
        self.plan = plan
        self.batch_size = plan.batch_size
        """The `Plan.batch_size` for the current workers."""
        self.counts: list[int] = []
        """The number of positions of each shard at the last depth."""
        self._scheduler = scheduler
        self._journal = journal
        self._listener = listener
        self._run = uuid.uuid4().hex
        """A part of every key, so that other runs have other keys."""
        self._names = 0
        self._links = self._link(stop)
        try:
            self._wait_for_links(stop)
        except InterruptedRunError:
            self._links = None  # otherwise the traceback would keep the tables on the worker that builds them
            raise
        self._shards: list[Handle] = []
        self._processes: Mapping[str, list[int]] = {}
        """The numbers of the shards of each process."""
        self._residences: list[Handle] = []
        """The `Residence` of each process."""
        self._unwritten: list[dict[int, int]] = [{} for _ in range(plan.shard_count)]
        """The number of positions that each shard has found at each depth since it was last written."""
        self._token = ""
        """The fencing token of the tasks."""

    def begin(self, starts: NDArray[Any], token: str) -> None:
        """Set the shards to depth 0; ``starts`` are indices ``(n,)`` or keys."""
        self._token = token
        self._shards = self._place("begin", dict.fromkeys(range(self.plan.shard_count), (starts,)), new_shard)
        self._go_back(0)
        self._unwritten = [{0: count} for count in self.counts]

    def restore(self, depth: int, token: str, states: int) -> tuple[list[int], list[str]]:
        """Restore the shards at ``depth``, or at an earlier depth if the journal is corrupt.

        ``states`` is the number of committed positions. Returns the number of positions at each restored depth (empty
        if not even the starts could be restored), and the problems found.
        """
        self._token, self._shards, self._residences = token, [], []  # frees memory for the shards to be restored
        damaged: list[str] = []
        arguments = self._restore_arguments(depth, range(self.plan.shard_count), damaged)
        self._shards = self._place("restore", arguments, restored_shard, on_done=self._restoring(states))
        found = self._gather("found", report, self.plan.commitment)
        reached = min(one.depth for one in found)
        if reached >= 0:
            self._go_back(reached)
        layers = np.sum([one.layers[: reached + 1] for one in found], axis=0).tolist()
        return layers, list(dict.fromkeys([*damaged, *(line for one in found for line in one.damaged)]))

    def recover(self, depth: int, starts: NDArray[Any], token: str, stop: Stop = never_stop) -> int:
        """Restore the lost shards at ``depth``, or at depth 0 if ``depth`` is negative; return the depth of all shards.

        The other shards return to this depth. They replay the layers that they had found after it. The result is less
        than ``depth`` if the journal is corrupt. It is -1 if even the starts are missing; then the shards cannot be
        used any more.
        """
        lost = self.lost
        for number in lost:
            self._unwritten[number].clear()
        kept = [handle for number, handle in enumerate(self._shards) if number not in lost]
        self._token, self._links = token, self._link(stop)
        if depth >= 0:
            placed = self._place("recover", self._restore_arguments(depth, lost, []), restored_shard, kept)
        else:
            placed = self._place("recover", dict.fromkeys(lost, (starts,)), new_shard, kept)
        for number, handle in zip(lost, placed, strict=True):
            self._shards[number] = handle
        # Only the lost shards matter: another shard may be at a smaller depth because it had no new positions.
        found = self._gather("found", report, self.plan.commitment)
        reached = min([max(0, depth), *(found[number].depth for number in lost)])
        if reached >= 0:
            self._go_back(reached)
        return reached

    @property
    def lost(self) -> Sequence[int]:
        """The numbers of the shards to be restored after a loss: the lost shards, or all if none can go back."""
        lost = [number for number, handle in enumerate(self._shards) if not self._scheduler.holds(handle)]
        return self.plan.commitment.shards_to_restore(lost, len(self._shards))

    def unwritten_positions(self, numbers: Iterable[int]) -> int:
        """Return how many positions these shards have found since they were last written."""
        return sum(sum(self._unwritten[number].values()) for number in numbers)

    def advance(self, depth: int, layers: int, settled: Settled) -> list[int]:
        """Find ``layers`` layers after ``depth`` in one round trip; return the number of positions in each."""
        arguments = self._links, depth, layers, self.batch_size, self._token
        progress = [settled] if self._scheduler.shares_memory else []
        done = settled if layers == 1 else None
        found = np.zeros((len(self._shards), layers), dtype=np.int64)
        for numbers, counts in self._on_residences("advance", advance, *arguments, *progress, settled=done):
            found[numbers] = counts
            for number, each in zip(numbers, counts, strict=True):
                self._unwritten[number].update(enumerate(each, depth + 1))
        self.counts = found[:, -1].tolist()
        totals: list[int] = found.sum(axis=0).tolist()
        return totals

    def weighed(self, first_depth: int, entries: list[int]) -> list[LayerSize]:
        """Return the size of each layer from a depth on, given the numbers of ``entries``."""
        weights = self.plan.weights
        if weights.all_one:
            return [LayerSize(each, each) for each in entries]
        gathered = self._gather("weighed", Shard.weighed, first_depth, len(entries))
        sums = map(total, zip(*gathered, strict=True))
        return [
            LayerSize(each, one.positions, weights.classes(one, depth))
            for depth, (each, one) in enumerate(zip(entries, sums, strict=True), first_depth)
        ]

    def flush(self, depth: int) -> None:
        """Write durably what is needed to restore all shards at ``depth``, which they have reached."""
        self.plan.commitment.flush(self._on_groups, depth, self._token)
        self._unwritten = [{} for _ in self._shards]

    def forget(self, depth: int) -> None:
        """Delete the layers that are no longer needed, once the store is committed at ``depth``."""
        self.plan.commitment.forget(self._on_groups, depth, self._token)

    def positions(self, depth: int, limit: int) -> NDArray[Any]:
        """Return the first indices or keys at the last depth, in ascending order."""
        return np.concatenate(self._gather("positions", Shard.positions, depth, limit))[:limit]

    def hash_sums(self, depth: int, seed: int) -> list[int]:
        """Return for each key shard the sum of the hashes at the last depth; see `antipodes_tasks.keys.sums`."""
        return self._gather("sums", KeyShard.hash_sum, depth, seed)

    def release(self) -> list[ShardSegments]:
        """Release the bits and the move tables; return the segments of all shards if they are in this process."""
        shards, self._shards, self._residences, self._links = self._shards, [], [], None
        return [one.segments for one in shards] if self._scheduler.shares_memory else []

    @property
    def _groups(self) -> Sequence[Sequence[int]]:
        """The numbers of the shards, in groups. The shards of a group are on one worker and advance in one task."""
        return self._scheduler.groups_by_thread(self._shards)

    def _hold(self) -> None:
        """Make the residence of each process from its shards."""
        self._residences, self._processes = [], self._scheduler.groups_by_process(self._shards)
        name, plan, channel = self._name("residence"), self.plan, self._scheduler.channel
        everywhere = Neighbourhood(name, self._processes, plan.shard_size, channel)
        calls, places = dict[Key, Call](), dict[Key, Handle]()
        for at, (process, numbers) in enumerate(self._processes.items()):
            shards, threads = [self._shards[number] for number in numbers], self._scheduler.threads_of(process)
            calls[name, at] = hold, plan.strategy.residence, shards, process, everywhere, threads
            places[name, at] = shards[0]
        self._residences = list(self._scheduler.persist(calls, None, places).values())

    def _link(self, stop: Stop) -> Handle:
        """Return the moves and the pairs of partitions that they connect."""
        return self.plan.strategy.link(self.plan, self._scheduler, self._name("links"), stop, self._listener)

    def _wait_for_links(self, stop: Stop) -> None:
        """Wait until the moves exist; raise InterruptedRunError if ``stop`` returns True meanwhile."""
        handles = self._scheduler.persist({(self._name("built"), 0): (is_built, self._links)})
        self._scheduler.gather(list(handles.values()), stop)

    def _restore_arguments(self, depth: int, numbers: Iterable[int], damaged: list[str]) -> Mapping[int, Call]:
        """Return the arguments from which each of these shards is restored; add problems to ``damaged``."""
        sources = self.plan.commitment.sources(self._journal, depth, self.plan.shard_chunks, damaged)
        return {number: (self.plan.commitment, depth, sources[number]) for number in numbers}

    def _place(
        self,
        name: str,
        arguments: Mapping[int, Call],
        make: Callable[..., Shard],
        kept: Sequence[Handle] = (),
        on_done: OnDone | None = None,
    ) -> list[Handle]:
        """Create the shards with these numbers on workers that hold few shards; return their handles."""

        def weights_of(parts: Sequence[Partition]) -> LayerWeights:
            return plan.weights.of_part(parts[0].first_row, parts[-1].end_row)

        plan, share = self.plan, self.plan.buffer_bytes // self.plan.shard_count
        kind, shards = plan.strategy.shard, plan.shards
        make_state = plan.strategy.make_state(plan, plan.weights)
        settings = make_state, self._journal, share, plan.commitment.max_gaps
        name = self._name(name)
        calls: dict[Key, Call] = {
            (name, number): (make, kind, (shards[number], weights_of(shards[number]), *settings), *arguments[number])
            for number in plan.strategy.creation_order(arguments, self._scheduler.workers)
        }
        handles = self._scheduler.submit(calls, kept, on_done)
        return [handles[name, number] for number in arguments]

    def _go_back(self, depth: int) -> None:
        """Take all shards back to ``depth``. From now on only tasks with the current token can change them."""
        self._hold()
        counts = [0] * len(self._shards)
        for numbers, found in self._on_residences("back", go_back, depth, self._token):
            for number, count in zip(numbers, found, strict=True):
                counts[number] = count
        self.counts = counts

    def _on_residences(
        self, name: str, function: Callable[..., Result], *arguments: Any, settled: Settled | None = None
    ) -> Iterable[tuple[list[int], Result]]:
        """Apply a function to each residence; return the numbers of its shards, and the result.

        Threads of this process belong to the residence, so the function is called without a task.
        """
        every = list(self._processes.values())
        if self._scheduler.shares_memory:
            return zip(every, [function(one, *arguments) for one in self._residences], strict=True)
        name = self._name(name)
        calls: dict[Key, Call] = {(name, at): (function, one, *arguments) for at, one in enumerate(self._residences)}
        places = {key: self._shards[every[key[1]][0]] for key in calls}
        handles = self._scheduler.persist(calls, settled and _counting(calls, settled), places)
        return zip(every, self._scheduler.gather(list(handles.values())), strict=True)

    def _gather(self, name: str, function: Callable[..., Result], *arguments: Any) -> list[Result]:
        """Apply a function to each shard on its worker; return the results."""
        name = self._name(name)
        calls: dict[Key, Call] = {
            (name, number): (function, one, *arguments) for number, one in enumerate(self._shards)
        }
        places: dict[Key, Handle] = {key: self._shards[key[1]] for key in calls}
        handles = self._scheduler.persist(calls, None, places)
        results: list[Result] = self._scheduler.gather(list(handles.values()))
        return results

    def _on_groups(self, function: Callable[..., object], *arguments: Any, together: bool = False) -> None:
        """Apply a function to each group of shards on its worker; if ``together``, threads are one group."""
        every = together and self._scheduler.shares_memory
        groups = [range(len(self._shards))] if every else self._groups
        name = self._name("group")
        shards = {(name, group[0]): [self._shards[number] for number in group] for group in groups}
        calls: dict[Key, Call] = {key: (function, group, *arguments) for key, group in shards.items()}
        handles = self._scheduler.persist(calls, None, {key: group[0] for key, group in shards.items()})
        self._scheduler.gather(list(handles.values()))

    def _restoring(self, states: int) -> OnDone:
        """Return a function that reports the progress. It is called with the key of each restored shard."""
        space, shards, done = self.plan.space, self.plan.shards, 0
        positions = self.plan.strategy.restored_positions(space, states)
        self._listener(Restoring(0, positions))

        def report_shard(key: Key) -> None:
            nonlocal done
            done += space.width * sum(part.rows for part in shards[key[1]])
            self._listener(Restoring(done * positions // space.size, positions))

        return report_shard

    def _name(self, name: str) -> str:
        """Return a new first part for the keys of tasks, different from all others."""
        self._names += 1
        return f"{name}-{self._run}-{self._names}"


def is_built(links: Any) -> bool:
    """Return True, after the moves exist."""
    return True


def new_shard(kind: type[Shard], settings: tuple[Any, ...], starts: NDArray[Any]) -> Shard:
    """Return a new shard at depth 0."""
    shard = kind(*settings)
    shard.begin(starts)
    return shard


def restored_shard(
    kind: type[Shard], settings: tuple[Any, ...], commitment: Commitment, depth: int, source: Any
) -> Shard:
    """Return a shard restored at ``depth``, or at an earlier one if files are corrupt; see `Commitment.restore`."""
    shard = kind(*settings)
    commitment.restore(shard, depth, source)
    return shard


class Restored(NamedTuple):
    """The result of restoring a shard."""

    depth: int
    layers: list[int]
    """The number of positions at each depth up to ``depth``."""
    damaged: list[str]


def report(shard: Shard, commitment: Commitment) -> Restored:
    """Return the depth, the layers and the problems of a restored shard."""
    return Restored(shard.depth, commitment.layers(shard), shard.damaged)


def _counting(keys: Iterable[Key], settled: Settled) -> Callable[[Key], None]:
    """Return a function that reports how many of ``keys`` are finished. It is called with each finished key."""
    awaited = set(keys)
    done: list[Key] = []

    def count(key: Key) -> None:
        if key in awaited:
            done.append(key)
            settled(len(done), len(awaited))

    return count
