"""The plan of a run: its division, strategy and commitment; the memory and disk space needed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from antipodes.executors.api import Capacity
from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.machine import KIB, MIB, human
from antipodes.tables.layers.division import Division, plan_chunk
from antipodes.tables.store.manifest import ChunkedSpace
from antipodes.tables.strategies.bit_strategy import BitStrategy
from antipodes.tables.strategies.commitment import JOURNAL, Commitment
from antipodes.tables.strategies.disk_strategy import DiskStrategy
from antipodes.tables.strategies.key_strategy import KeyStrategy
from antipodes.tables.strategies.strategy import LayerTraffic, Strategy
from antipodes.tables.symmetric_entries import symmetric_entries
from antipodes.tables.up_to_symmetry import symmetry_classes
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import InputError, ResourceLimitError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.bfs.layer_weights import LayerWeights
from antipodes_tasks.spaces.keyed import SPAN, Keyed
from antipodes_tasks.spaces.selection import best_space
from antipodes_tasks.spaces.space import Space

SETTING_BYTES, MANIFEST_SETTING_BYTES = 170, 2 * 24
"""Bytes per number or character of a config: in memory while it is read and written, and on disk in the manifest. While
the manifest is replaced, the disk holds two copies."""
ORDINARY_SETTINGS = 2000
"""Numbers and characters of a config that are already included in the memory of the program and in the manifest."""


def _values(setting: Any) -> int:
    """Return how many numbers, lists and characters a part of a config has."""
    if isinstance(setting, Mapping):
        return sum(map(_values, setting.values()))
    if isinstance(setting, list):
        return 1 + sum(map(_values, setting))
    return len(setting) if isinstance(setting, str) else 1


CODE_BYTES = 80 * MIB
"""Part of PROGRAM_BYTES for the code of libraries. A run does not count the code in its peak memory, because the system
can drop its pages, and may map more of them than this."""
PROGRAM_BYTES = 140 * MIB + CODE_BYTES
"""Memory of the program and its libraries in bytes: the peak of its own memory with an empty puzzle, rounded up, and
CODE_BYTES."""
UNIQUE_SHARE = 16
"""Ratio of the memory limit to the maximum memory of the list of symmetric positions."""
MANIFEST_BYTES = 64 * KIB
STRATEGIES: tuple[Strategy, ...] = (BitStrategy(bits=3), BitStrategy(bits=2), DiskStrategy(), KeyStrategy())
"""The strategies of runs. A run uses the first one that can hold its positions and fits into its memory."""


@dataclass(frozen=True)
class Plan(Division):
    """The division of the rows, and upper bounds on the memory and disk space of a run in bytes."""

    strategy: Strategy
    """How shards find and keep layers."""
    commitment: Commitment
    """How layers are committed."""
    batch_size: int
    """The number of shards that are sent what they need together; see `Strategy.batch_size`."""
    table_bytes: int
    """Memory of the move tables."""
    unsure_bytes: int
    """Bytes by which a process's move tables may turn out smaller than ``table_bytes``, which is only a bound."""
    min_bytes: int
    """Minimum memory of the run, including the program, if each segment is written to the journal immediately."""
    unique_bytes: int | None
    """Maximum memory of the list of symmetric positions in each process. None if symmetry classes are not counted, or
    without a memory limit."""
    buffer_bytes: int
    """Memory that the run uses in addition, mostly for the part of the journal that is not written yet."""
    journal_bytes: int
    """Disk space of the journal."""
    disk_bytes: int
    """Disk space of all files; see `Strategy.disk_space`."""
    rare_disk_bytes: int
    """The part of ``disk_bytes`` that few runs need; a run starts even if less is free."""

    def divides_like(self, other: "Plan") -> bool:
        """Return whether the shards of both plans have the same rows and the same strategy."""
        return (self.partition_rows, self.shard_size, self.strategy) == (
            other.partition_rows,
            other.shard_size,
            other.strategy,
        )

    @property
    def keyed(self) -> bool:
        """Whether the number of entries is unknown, because positions are keys."""
        return self.strategy.bits is None

    @property
    def starts(self) -> NDArray[Any]:
        """The indices or keys of the positions at depth 0."""
        return self.strategy.starts(self.space)

    @cached_property
    def weights(self) -> LayerWeights:
        """The weights that the search sums over each layer.

        If symmetry classes are counted, this raises as `symmetric_entries` does.
        """
        symmetric = symmetric_entries(self.space, self.unique_bytes) if self.commitment.unique else None
        return LayerWeights(self.space.weights, symmetric)

    def check_classes(self) -> None:
        """Raise InputError or ResourceLimitError if symmetry classes are to be counted, but cannot be."""
        if self.commitment.unique and self.keyed:
            raise InputError(f"{option('unique')}: positions of this puzzle are searched as keys; compute the table")
        if self.commitment.unique:
            symmetry_classes(self.space.full_space)

    @property
    def reachable(self) -> int | None:
        """The number of reachable positions if it is known without a search, else None."""
        return self.space.numbering.reachable(self.space.rules)

    @property
    def index_size(self) -> int | None:
        """The number of positions with an index, reachable or not. None if only a search finds them."""
        return self.strategy.index_size(self.space)

    @property
    def known_positions(self) -> int:
        """A lower bound on the number of positions, found while planning. 0 if none was needed."""
        return self.strategy.known_positions(self.space)

    @property
    def memory_bytes(self) -> int:
        """Maximum memory of the run."""
        return self.min_bytes + self.buffer_bytes

    @property
    def layer_traffic(self) -> LayerTraffic | None:
        """How much the search reads from disk and writes to it, or None if layers are in memory."""
        return self.strategy.layer_traffic(self)

    @property
    def disk_parts(self) -> Mapping[str, int]:
        """Disk space in bytes, by purpose."""
        if not self.journal_bytes:
            return {self.commitment.stored: self.disk_bytes}
        return {"journal": self.journal_bytes, self.commitment.stored: self.disk_bytes - self.journal_bytes}


def plan_run(
    puzzle: Puzzle,
    workers: int = 1,
    memory_limit: int | None = None,
    cut: ChunkedSpace | None = None,
    processes: int = 0,
    settings: Mapping[str, Any] | None = None,
    division: Division | None = None,
    *,
    commitment: Commitment = JOURNAL,
    symmetry: str | None = None,
    outline: bool = False,
    on_disk: bool | None = None,
) -> Plan:
    """Plan a puzzle for ``workers`` simultaneous tasks, in threads of this process or in ``processes`` other processes.

    The strategy is the first of STRATEGIES that fits into ``memory_limit`` (bytes). If none fits, it is the one that
    takes least. The rest of this memory is for the journal, if the ``commitment`` has one.

    * ``cut``: the cut of a store to be resumed. Another version may have chosen it differently.
    * ``division``: the division of a search that continues with other workers.
    * ``settings``: the settings of the puzzle's config. They also take memory and disk space, for example if they list
      half a million edges.
    * ``symmetry``: how a new store is reduced; see `antipodes.system.options.RunOptions`.
    * ``outline``: whether to estimate data that take more than a second or two to compute, which are the rows and move
      tables of large reduced spaces. Such a plan cannot be run.
    * ``on_disk``: whether layers must be on disk (True) or must not be (False), because committed layers are.
    """
    arguments.instance(puzzle, Puzzle, "a Puzzle, such as the puzzle of a Config")
    cut = division.cut if division else cut or plan_cut(puzzle, symmetry, outline=outline)
    further = max(0, _values(settings or {}) - ORDINARY_SETTINGS)
    unique = None
    if commitment.unique and memory_limit is not None:
        unique = memory_limit // (UNIQUE_SHARE * max(1, processes))
    program = PROGRAM_BYTES + puzzle.moves.memory_bytes + SETTING_BYTES * further + (unique or 0)
    manifest = MANIFEST_BYTES + MANIFEST_SETTING_BYTES * further
    capacity = Capacity(workers, processes, memory_limit)
    # Each process has its own copy of the program, the puzzle and the settings; the rest is for the search.
    left = None if memory_limit is None else memory_limit - max(1, processes) * program
    plans: list[Plan] = []
    for strategy in STRATEGIES:
        if not strategy.can_hold(cut[0], capacity) or on_disk not in (None, strategy.on_disk):
            continue
        divided = division or strategy.divide(*cut, replace(capacity, memory=left))
        committed = strategy.commitment(cut[0], commitment)
        plans.append(_plan_with(strategy, divided, committed, capacity, program, manifest, unique))
        if memory_limit is None or plans[-1].min_bytes <= memory_limit:
            return plans[-1]
    return min(plans, key=lambda plan: plan.min_bytes)


def _plan_with(
    strategy: Strategy,
    division: Division,
    commitment: Commitment,
    workers: Capacity,
    program: int,
    manifest: int,
    unique: int | None,
) -> Plan:
    """Return a plan. Each process needs ``program`` bytes of memory, of which ``unique`` bytes are for the list of
    symmetric positions. The ``manifest`` takes disk space.
    """
    needs = strategy.needs(division, commitment, workers)
    journal, stored, rare = strategy.disk_space(division, commitment)
    least = max(1, workers.processes) * (program + needs.each_process) + needs.together
    left = None if workers.memory is None else max(0, workers.memory - least)
    return Plan(
        space=division.space,
        chunk_rows=division.chunk_rows,
        partition_rows=division.partition_rows,
        shard_size=division.shard_size,
        strategy=strategy,
        commitment=commitment,
        batch_size=strategy.batch_size(division, workers),
        table_bytes=needs.each_process,
        unsure_bytes=needs.unsure,
        min_bytes=least,
        unique_bytes=unique,
        buffer_bytes=strategy.buffer_bytes(division, journal, workers, left),
        journal_bytes=journal,
        disk_bytes=journal + stored + manifest,
        rare_disk_bytes=rare,
    )


def plan_cut(puzzle: Puzzle, symmetry: str | None = None, *, outline: bool = False) -> ChunkedSpace:
    """Return the cut of a new store. It depends only on puzzle and ``symmetry``, so every run writes the same chunks.

    With ``outline``, the cut is only good for a plan that is not run; see `plan_run`.
    """
    space = best_space(puzzle.rules, symmetry or "auto", outline=outline)
    if isinstance(space.numbering, Keyed):
        return Space(space.rules, space.numbering.searched, space.leading), SPAN
    return space, plan_chunk(space)


def check_memory(plan: Plan, memory_limit: int) -> None:
    """Raise ResourceLimitError if the run takes more than the limit even without any journal in memory."""
    if plan.min_bytes > memory_limit:
        taken = plan.strategy.describe_misfit(plan.space, plan.min_bytes)
        raise ResourceLimitError(f"the puzzle does not fit into {human(memory_limit)} of memory: {taken}")
