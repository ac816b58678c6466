"""The shards of a run: started or restored, advanced and written by one task for each process that holds shards."""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from antipodes.executors.api import Call, Handle, Key, Scheduler, Stop, never_stop
from antipodes.system.events import Listener, Restoring, silence
from antipodes.tables.journal import Journal
from antipodes.tables.layers.key_shard import KeyShard
from antipodes.tables.layers.residence import Neighbourhood, Residence, hold
from antipodes.tables.layers.shard import Shard
from antipodes.tables.layers.shard_segments import ShardSegments
from antipodes.tables.planning.plan import Plan
from antipodes.tables.store.found_layers import LayerSize
from antipodes.tables.strategies.commitment import Commitment
from antipodes_tasks.base.errors import InterruptedRunError
from antipodes_tasks.bfs.layer_weights import total

Result = TypeVar("Result")
Settled = Callable[[int, int], None]
"""Called with the number of shards that have finished a layer, and the number of shards that take part in it."""


class Shards:
    """The shards of a plan, whose residences are handles of results that stay on the workers."""

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
        self._make_state = plan.strategy.make_state(plan, plan.weights)
        self._links = self._link(stop)
        try:
            self._wait_for_links(stop)
        except InterruptedRunError:
            self._links = None  # otherwise the traceback would keep the tables on the worker that builds them
            raise
        self._processes: Mapping[str, Sequence[int]] = {}
        """The numbers of the shards of each process, ascending, by its address."""
        self._residences: dict[str, Handle] = {}
        """The `Residence` of each process."""
        self._unwritten: list[dict[int, int]] = [{} for _ in range(plan.shard_count)]
        """The number of positions that each shard has found at each depth since it was last written."""
        self._token = ""
        """The fencing token of the tasks."""

    def begin(self, starts: NDArray[Any], token: str) -> None:
        """Set the shards to depth 0; ``starts`` are indices ``(n,)`` or keys."""
        self._token, self._residences = token, {}
        self._create(new_shard, dict.fromkeys(range(self.plan.shard_count), (starts,)))
        self._go_back(0)
        self._unwritten = [{0: count} for count in self.counts]

    def restore(self, depth: int, token: str, states: int) -> tuple[list[int], list[str]]:
        """Restore the shards at ``depth``, or at an earlier depth if the journal is corrupt.

        ``states`` is the number of committed positions. Returns the number of positions at each restored depth (empty
        if not even the starts could be restored), and the problems found.
        """
        self._token, self._residences = token, {}  # frees memory for the shards to be restored
        damaged: list[str] = []
        arguments = self._restore_arguments(depth, range(self.plan.shard_count), damaged)
        self._create(restored_shard, arguments, self._restoring(states))
        found = self._gather(report, self.plan.commitment)
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
        self._token, self._links = token, self._link(stop)
        if depth >= 0:
            self._create(restored_shard, self._restore_arguments(depth, lost, []))
        else:
            self._create(new_shard, dict.fromkeys(lost, (starts,)))
        # Only the lost shards matter: another shard may be at a smaller depth because it had no new positions.
        found = self._gather(report, self.plan.commitment)
        reached = min([max(0, depth), *(found[number].depth for number in lost)])
        if reached >= 0:
            self._go_back(reached)
        return reached

    @property
    def lost(self) -> Sequence[int]:
        """The numbers of the shards to be restored after a loss: the lost shards, or all if none can go back."""
        held = {number for process in self._held for number in self._processes[process]}
        lost = [number for number in range(self.plan.shard_count) if number not in held]
        return self.plan.commitment.shards_to_restore(lost, self.plan.shard_count)

    @property
    def _held(self) -> dict[str, Handle]:
        """The residences that are not lost."""
        return {process: one for process, one in self._residences.items() if self._scheduler.holds(one)}

    def unwritten_positions(self, numbers: Iterable[int]) -> int:
        """Return how many positions these shards have found since they were last written."""
        return sum(sum(self._unwritten[number].values()) for number in numbers)

    def advance(self, depth: int, layers: int, settled: Settled) -> list[int]:
        """Find ``layers`` layers after ``depth`` in one round trip; return the number of positions in each."""
        arguments = self._links, depth, layers, self.batch_size, self._token
        progress = [settled] if self._scheduler.shares_memory else []
        done = settled if layers == 1 else None
        found = np.zeros((self.plan.shard_count, layers), dtype=np.int64)
        for numbers, counts in self._on_residences(Residence.advance, *arguments, *progress, settled=done):
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
        gathered = self._gather(Shard.weighed, first_depth, len(entries))
        sums = map(total, zip(*gathered, strict=True))
        return [
            LayerSize(each, one.positions, weights.classes(one, depth))
            for depth, (each, one) in enumerate(zip(entries, sums, strict=True), first_depth)
        ]

    def flush(self, depth: int) -> None:
        """Write durably what is needed to restore all shards at ``depth``, which they have reached."""
        self.plan.commitment.flush(self._on_groups, depth, self._token)
        self._unwritten = [{} for _ in self._unwritten]

    def forget(self, depth: int) -> None:
        """Delete the layers that are no longer needed, once the store is committed at ``depth``."""
        self.plan.commitment.forget(self._on_groups, depth, self._token)

    def positions(self, depth: int, limit: int) -> NDArray[Any]:
        """Return the first indices or keys at the last depth, in ascending order."""
        return np.concatenate(self._gather(Shard.positions, depth, limit))[:limit]

    def hash_sums(self, depth: int, seed: int) -> list[int]:
        """Return for each key shard the sum of the hashes at the last depth; see `antipodes_tasks.keys.sums`."""
        return self._gather(KeyShard.hash_sum, depth, seed)

    def release(self) -> list[ShardSegments]:
        """Release the bits and the move tables; return the segments of all shards if they are in this process."""
        residences, self._residences, self._links = self._residences, {}, None
        if not self._scheduler.shares_memory:
            return []
        return [shard.segments for one in residences.values() for shard in one.shards.values()]

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

    def _create(
        self, make: Callable[..., Shard], arguments: Mapping[int, Call], progress: Settled | None = None
    ) -> None:
        """Create the shards with these numbers in processes that hold few shards, beside the other shards there."""
        plan, scheduler, name = self.plan, self._scheduler, self._name("residence")
        kept = {  # also in a process that has left since `lost` was read, so that the next wait raises an error
            process: left
            for process, numbers in self._processes.items()
            if (left := [number for number in numbers if number not in arguments])
        }
        order = plan.strategy.creation_order(arguments, scheduler.workers)
        created = scheduler.divide(order, {process: len(numbers) for process, numbers in kept.items()})
        processes = {one: _ascending([*kept.get(one, ()), *created.get(one, ())]) for one in {**kept, **created}}
        everywhere = Neighbourhood(name, processes, plan.shard_size, scheduler.channel)
        calls = dict[Key, Call]()
        for at, process in enumerate(processes):
            shards = {
                number: (make, *self._settings(number), *arguments[number]) for number in created.get(process, ())
            }
            earlier = self._residences[process] if process in kept else None
            threads = scheduler.threads_of(process)
            calls[name, at] = hold, plan.strategy.residence, shards, earlier, process, everywhere, threads
        self._residences = dict(zip(processes, self._held_by(processes, calls, progress), strict=True))
        self._processes = processes

    def _held_by(self, processes: Iterable[str], calls: Mapping[Key, Call], progress: Settled | None) -> list[Handle]:
        """Run one call in each of the processes; return the handles of the results."""
        if self._scheduler.shares_memory:
            return [function(*arguments, progress) for function, *arguments in calls.values()]
        done = progress and _counting(calls, progress)
        return [  # one at a time, since the calls of all processes together may take much memory
            self._scheduler.persist({key: calls[key]}, done, {key: process})[key]
            for key, process in zip(calls, processes, strict=True)
        ]

    def _settings(self, number: int) -> tuple[type[Shard], tuple[Any, ...]]:
        """Return the kind of a shard, and the arguments from which it is made."""
        plan, parts = self.plan, self.plan.shards[number]
        weights = plan.weights.of_part(parts[0].first_row, parts[-1].end_row)
        share = plan.buffer_bytes // plan.shard_count
        return plan.strategy.shard, (parts, weights, self._make_state, self._journal, share, plan.commitment.max_gaps)

    def _go_back(self, depth: int) -> None:
        """Take all shards back to ``depth``. From now on only tasks with the current token can change them."""
        counts = [0] * self.plan.shard_count
        for numbers, found in self._on_residences(Residence.go_back, depth, self._token):
            for number, count in zip(numbers, found, strict=True):
                counts[number] = count
        self.counts = counts

    def _on_residences(
        self, function: Callable[..., Result], *arguments: Any, settled: Settled | None = None
    ) -> Iterable[tuple[Sequence[int], Result]]:
        """Apply a function to each residence; return the numbers of its shards, and the result.

        Threads of this process belong to the residence, so the function is called without a task.
        """
        every, residences = self._processes.values(), self._residences.values()
        if self._scheduler.shares_memory:
            return zip(every, [function(one, *arguments) for one in residences], strict=True)
        name = self._name(function.__name__)
        calls: dict[Key, Call] = {(name, at): (function, one, *arguments) for at, one in enumerate(residences)}
        places = dict(zip(calls, self._processes, strict=True))
        handles = self._scheduler.persist(calls, settled and _counting(calls, settled), places)
        return zip(every, self._scheduler.gather(list(handles.values())), strict=True)

    def _gather(self, function: Callable[..., Result], *arguments: Any) -> list[Result]:
        """Apply a function to each shard in its process; return the results in the order of the shards' numbers."""
        results = dict[int, Result]()
        for numbers, found in self._on_residences(Residence.on_shards, function, *arguments):
            results |= zip(numbers, found, strict=True)
        return [results[number] for number in range(self.plan.shard_count)]

    def _on_groups(self, function: Callable[..., object], *arguments: Any, together: bool = False) -> None:
        """Apply a function to each group of shards on its worker; if ``together``, threads are one group."""
        self._on_residences(Residence.on_groups, together, function, *arguments)

    def _restoring(self, states: int) -> Settled:
        """Return a function that reports the progress, given how many of all shards, or of all processes, are ready."""
        positions = self.plan.strategy.restored_positions(self.plan.space, states)
        self._listener(Restoring(0, positions))
        return lambda done, of: self._listener(Restoring(done * positions // of, positions))

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


def _ascending(numbers: Sequence[int]) -> Sequence[int]:
    """Return the numbers, sorted; as a range if possible, since tasks for all processes contain them."""
    found = sorted(numbers)
    every = range(found[0], found[-1] + 1, max(1, (found[-1] - found[0]) // max(1, len(found) - 1)))
    return every if list(every) == found else found


def _counting(keys: Iterable[Key], settled: Settled) -> Callable[[Key], None]:
    """Return a function that reports how many of ``keys`` are finished. It is called with each finished key."""
    awaited = set(keys)
    done: list[Key] = []

    def count(key: Key) -> None:
        if key in awaited:
            done.append(key)
            settled(len(done), len(awaited))

    return count
