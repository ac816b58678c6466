"""The shards of a process, which find layers together: one task for each process, whatever the number of its shards.

Shards of the same process read each other in place. What a shard needs from shards in other processes is asked for in
pieces, and a piece is used before the next but one is asked for. Nothing is sent that was not asked for, and the
scheduler does not see what is sent.

A layer has two steps. First, each process finds it, and reads the layer before it, in its own shards and in those of
other processes. When all processes have done so, which each asks the others that it exchanges data with, the layer is
*settled*: it may be read, and the layer before it may be overwritten. So waits always go back from a layer to the layer
before it, and no process waits for itself. A process that is lost makes the others wait until the run has noticed this;
then their tasks end, and `Shards.recover` restores the shards from the last commit.
"""

import asyncio
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn, TypeVar

from antipodes.executors.api import Answers, Call, Channel
from antipodes.tables.layers.bit_shard import Boundary, boundary
from antipodes.tables.layers.boundaries import MAX_ANSWERS
from antipodes.tables.layers.key_shard import KeyShard, successors_of
from antipodes.tables.layers.shard import Shard, all_held
from antipodes_tasks.base.errors import InterruptedRunError
from antipodes_tasks.bfs.key_partition import KeySuccessors

Item = TypeVar("Item")
Result = TypeVar("Result")
Advanced = Callable[[int, int], None]
"""Called with the number of shards that have found a layer, and the number of all shards of the process."""


@dataclass(frozen=True)
class Neighbourhood:
    """The processes of a search, and the shards that each of them holds."""

    name: str
    """The name by which the residences of the search ask each other."""
    processes: Mapping[str, Sequence[int]]
    """The numbers of the shards of each process, ascending, by address."""
    shard_size: int
    """The number of partitions of each shard except the last."""
    channel: Channel | None
    """The channel between the processes; None if there is only this one."""


class Residence(ABC):
    """The shards of a process, and how they find layers together."""

    def __init__(self, own: str, all_processes: Neighbourhood, threads: int) -> None:
        """``own`` is the address of this process, which has ``threads`` threads for its shards."""
        self.numbers = list(all_processes.processes[own])
        self.shards: dict[int, Shard] = {}
        self._created: Collection[int] = ()
        """The numbers of the shards that were created for this residence."""
        self.links: Any = None
        self.slots = asyncio.Semaphore(MAX_ANSWERS)
        self._all = all_processes
        self.own = own
        self._threads = threads
        self._token = ""
        """The fencing token of the tasks; empty until the first one."""
        self._found = self._settled = -1
        """The depth of the last layer that all shards of this process have found, and of the last settled layer."""

    def __reduce__(self) -> NoReturn:
        raise TypeError("the shards of a process cannot leave it")

    def __sizeof__(self) -> int:
        """Return the size in bytes for dask, without shards that are counted in an earlier residence.

        dask asks only once, while both residences exist. If shards were counted twice, dask might try in vain to move
        them to disk. So its sum is too small after a loss, once the earlier residence is gone.
        """
        return sum(sys.getsizeof(self.shards[number]) for number in self._created)

    def fill(self, created: Mapping[int, Call], kept: Mapping[int, Shard], advanced: Advanced | None = None) -> None:
        """Create some shards by calls, and take over those that the process has ``kept``."""
        made = self._each(lambda number: created[number][0](*created[number][1:]), list(created), advanced)
        shards = {**kept, **dict(zip(created, made, strict=True))}
        self.shards, self._created = {number: shards[number] for number in self.numbers}, list(created)

    def advance(
        self, links: Any, depth: int, layers: int, batch: int, token: str, advanced: Advanced | None = None
    ) -> list[list[int]]:
        """Find the ``layers`` layers after ``depth``; return for each shard the number of positions in each.

        A ``batch`` is the number of shards that get rows from other processes together.

        Raises
        ------
        InterruptedRunError
            The run has returned to an earlier depth, or no longer waits for the task.
        WorkerUnreachableError
            No connection to another process succeeds.
        """
        self._token = ""  # no answers in the meantime
        self.links, self._found, self._settled = links, depth, depth
        self._token = token
        found = [self._layer(at, batch, advanced) for at in range(depth, depth + layers)]
        return [[layer[number] for layer in found] for number in self.numbers]

    def go_back(self, depth: int, token: str) -> list[int]:
        """Take all shards back to ``depth``; return the number of positions of each shard there.

        From now on, only tasks with this token can change them. All shards get the token before any goes back, since a
        task of an earlier token may still read one of them in order to change another one.
        """
        for shard in self.shards.values():
            shard.shut_out(token)
        return self._each(lambda number: self.shards[number].go_back(depth, token), self.numbers)

    def on_shards(self, function: Callable[..., Result], *arguments: Any) -> list[Result]:
        """Apply a function to each shard; return the results in the order of the shards' numbers."""
        return self._each(lambda number: function(self.shards[number], *arguments), self.numbers)

    def on_groups(self, together: bool, function: Callable[..., object], *arguments: Any) -> None:
        """Apply a function to groups of shards, one for each thread; if ``together``, threads are one group."""
        groups = [self.numbers] if together and self._all.channel is None else self._groups(self.numbers)
        self._each(lambda group: function([self.shards[number] for number in group], *arguments), groups)

    def is_ready(self, question: Mapping[str, Any]) -> bool:
        """Return whether the question of another process can be answered."""
        if question["token"] != self._token:
            return False
        return self._found >= question["depth"] if question["kind"] == "found" else self._is_offered(question["depth"])

    def answer(self, question: Mapping[str, Any]) -> Any:
        """Return what another process needs, or whether a layer is found; None if the run has gone back meanwhile."""
        if question["kind"] == "found":
            return True
        try:
            found = self._piece(question)
        except InterruptedRunError:
            return None
        # shards get a new token before they go back, so with the old one, they were read in time
        return found if all(shard.token == question["token"] for shard in self.shards.values()) else None

    def _layer(self, depth: int, batch: int, advanced: Advanced | None) -> dict[int, int]:
        """Find the layer after ``depth``, and settle it; return the number of positions of each shard."""
        found = self._find(depth, batch, advanced)
        self._found = depth + 1
        self._ask("found", {peer: {} for peer in self._peers}, depth + 1).wait()
        self._settle([number for number, count in found.items() if count], depth + 1)
        self._settled = depth + 1
        return found

    @abstractmethod
    def _find(self, depth: int, batch: int, advanced: Advanced | None) -> dict[int, int]:
        """Find the layer after ``depth``; return the number of positions of each shard."""

    @abstractmethod
    def _is_offered(self, depth: int) -> bool:
        """Return whether other processes can get what they need at this depth."""

    @abstractmethod
    def _piece(self, question: Mapping[str, Any]) -> Any:
        """Return what another process needs."""

    @property
    @abstractmethod
    def _peers(self) -> Iterable[str]:
        """The addresses of the other processes from which or into which moves lead."""

    def _settle(self, numbers: Sequence[int], depth: int) -> None:
        """Settle a layer in the shards that have positions in it."""
        self._each(lambda number: self.shards[number].settle(depth, self._token), numbers)

    def _ask(self, kind: str, questions: Mapping[str, Mapping[str, Any]], depth: int) -> Answers:
        if self._all.channel is None or not questions:
            return NoAnswers()
        common = {"kind": kind, "depth": depth, "token": self._token}
        return self._all.channel.ask(self._all.name, {to: {**common, **one} for to, one in questions.items()})

    def _advance_each(
        self, numbers: Sequence[int], sources: Callable[[int], Sequence[Any]], depth: int, advanced: Advanced | None
    ) -> dict[int, int]:
        """Advance shards, given what each of them reads; return the number of new positions of each."""

        def advance(number: int) -> int:
            return self.shards[number].advance(sources(number), self.links, depth, 1, self._token)[0]

        return dict(zip(numbers, self._each(advance, numbers, advanced), strict=True))

    def _each(
        self, function: Callable[[Item], Result], items: Sequence[Item], advanced: Advanced | None = None
    ) -> list[Result]:
        """Apply a function to items, in the order in which they start; return the results in this order."""
        if self._pool is None:
            return [function(one) for one in items]
        futures = [self._pool.submit(function, one) for one in items]
        try:
            for number, future in enumerate(as_completed(futures), 1):
                future.result()
                if advanced:
                    advanced(number, len(items))
        finally:
            for future in futures:
                future.cancel()
        return [future.result() for future in futures]

    def _groups(self, numbers: Sequence[int]) -> list[Sequence[int]]:
        """Return groups of shards, one for each thread. In threads of one process, each group is one shard."""
        threads = len(numbers) if self._all.channel is None else self._threads
        return [group for first in range(threads) if (group := sorted(numbers[first::threads]))]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor | None:
        """The threads; None if there is one, and it is the thread of the task. The main thread reacts to signals."""
        return None if self._threads == 1 and self._all.channel else ThreadPoolExecutor(self._threads)


class RowResidence(Residence):
    """Shards of positions with an index, which need rows of frontiers."""

    def _find(self, depth: int, batch: int, advanced: Advanced | None) -> dict[int, int]:
        found: dict[int, int] = {}
        batches = [self.numbers[at : at + batch] for at in range(0, len(self.numbers), batch)]
        asked = self._ask_rows(batches[0], depth)
        try:
            for here, following in zip(batches, [*batches[1:], []], strict=True):
                received: list[Boundary] = asked.wait()
                asked = self._ask_rows(following, depth)
                found |= self._advance_with(received, here, depth, advanced)
                del received  # before the next rows arrive
        finally:
            asked.cancel()
        return found

    def _advance_with(
        self, received: Sequence[Boundary], batch: Sequence[int], depth: int, advanced: Advanced | None
    ) -> dict[int, int]:
        return self._advance_each(batch, lambda number: [*self._neighbours[number], *received], depth, advanced)

    def _is_offered(self, depth: int) -> bool:
        return self._settled >= depth

    def _piece(self, question: Mapping[str, Any]) -> Boundary:
        rows = [range(first, end) for first, end in question["rows"]]
        sources = [self.shards[number] for number in question["shards"]]
        return boundary(sources, self.links, rows, question["depth"], question["token"])

    def _ask_rows(self, batch: Sequence[int], depth: int) -> Answers:
        """Ask for the rows from which moves lead into a batch of shards."""
        needed: dict[str, set[int]] = {}
        for number in batch:
            for source in self._sources[number]:
                needed.setdefault(self._owners[source], set()).add(source)
        needed.pop(self.own, None)
        rows = [[part.first_row, part.end_row] for number in batch for part in self._parts_of(number)]
        ask = {process: {"rows": rows, "shards": sorted(sources)} for process, sources in needed.items()}
        return self._ask("rows", ask, depth)

    def _parts_of(self, number: int) -> list[Any]:
        return [state.part for state in self.shards[number].states]

    @cached_property
    def _owners(self) -> dict[int, str]:
        """The process of each shard."""
        return {number: process for process, numbers in self._all.processes.items() for number in numbers}

    @cached_property
    def _sources(self) -> dict[int, list[int]]:
        """For each shard of this process, the other shards with moves into it."""
        return {number: self._sources_of(number) for number in self.numbers}

    def _sources_of(self, number: int) -> list[int]:
        size, predecessors = self._all.shard_size, self.links.predecessors
        end = min((number + 1) * size, len(predecessors))
        return sorted({one // size for at in range(number * size, end) for one in predecessors[at]} - {number})

    @cached_property
    def _neighbours(self) -> dict[int, list[Shard]]:
        """For each shard, the other shards of this process with moves into it."""
        return {
            number: [self.shards[one] for one in sources if one in self.shards]
            for number, sources in self._sources.items()
        }

    @cached_property
    def _peers(self) -> Iterable[str]:
        if self._all.channel is None:
            return ()
        if not self.links.tables.undirected:  # moves may lead into processes from which none leads back
            return sorted(self._all.processes.keys() - {self.own})
        return sorted({self._owners[one] for number in self.numbers for one in self._sources[number]} - {self.own})


class KeyResidence(Residence):
    """Shards of keys, which need successors from all other shards."""

    _offered: tuple[int, Sequence[KeySuccessors]] | None = None
    """The successors of the frontiers at a depth, until all processes have got theirs."""

    def _find(self, depth: int, batch: int, advanced: Advanced | None) -> dict[int, int]:
        numbers = sorted(self.numbers, key=lambda number: -self.shards[number].count(depth))
        expanded = self._each(lambda group: self._expand(group, depth), self._groups(numbers))
        self._offered = depth, expanded
        own = self._chunks(self.numbers)
        received = self._ask("successors", {peer: {"chunks": own} for peer in self._peers}, depth).wait()
        offers = [*expanded, *(one for answer in received for one in answer)]
        return self._advance_each(numbers, lambda number: offers, depth, advanced)

    def _settle(self, numbers: Sequence[int], depth: int) -> None:
        self._offered = None  # all processes have got theirs, and the next ones need the memory
        super()._settle(numbers, depth)

    def _is_offered(self, depth: int) -> bool:
        offered = self._offered
        return offered is not None and offered[0] == depth

    def _piece(self, question: Mapping[str, Any]) -> list[KeySuccessors] | None:
        offered = self._offered
        if offered is None or offered[0] != question["depth"]:
            return None
        return [one.of([range(*chunks) for chunks in question["chunks"]]) for one in offered[1]]

    def _expand(self, numbers: Sequence[int], depth: int) -> KeySuccessors:
        shards = [one for number in numbers if isinstance(one := self.shards[number], KeyShard)]
        with all_held(shards, self._token):
            return successors_of(shards, self.links, depth)

    def _chunks(self, numbers: Sequence[int]) -> list[list[int]]:
        states = [self.shards[number].states for number in numbers]
        return [[one[0].chunks.start, one[-1].chunks.stop] for one in states]

    @property
    def _peers(self) -> Iterable[str]:
        return [process for process in self._all.processes if process != self.own]


class NoAnswers:
    """The answers to no questions."""

    def wait(self) -> list[Any]:
        """Return an empty list."""
        return []

    def cancel(self) -> None:
        """Do nothing."""


def hold(
    kind: type[Residence],
    created: Mapping[int, Call],
    earlier: Residence | None,
    own: str,
    all_processes: Neighbourhood,
    threads: int,
    advanced: Advanced | None = None,
) -> Residence:
    """Return the residence of the shards of a process, and let other processes ask it.

    Some shards are ``created`` by calls, by their numbers, and the others belonged to an ``earlier`` residence.
    """
    residence = kind(own, all_processes, threads)
    residence.fill(created, earlier.shards if earlier else {}, advanced)
    if all_processes.channel is not None:
        all_processes.channel.open(all_processes.name, residence)
    return residence
