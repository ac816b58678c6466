"""``antipodes plan``: an estimate of a run's memory, disk and time, and whether it can run on this machine."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from antipodes.cli.command import command, commands
from antipodes.cli.pattern_tables import pattern_lines, pattern_records
from antipodes.cli.running import preparing, run_options
from antipodes.cli.shared_options import (
    AsJson,
    GivenOptions,
    Omit,
    OnlyMoves,
    PuzzleArgument,
    Verbose,
    takes_run_options,
)
from antipodes.cli.streams import print_json, print_line
from antipodes.executors.open_scheduler import cluster_workers as workers_at
from antipodes.progress.show import show_progress
from antipodes.puzzles.config import Config, load_config, restrict_moves
from antipodes.solving.pattern_stores import Cost, ListedPattern
from antipodes.storage.opening import storage_at
from antipodes.system.addresses import Address, in_shell
from antipodes.system.machine import available_memory, human, process_began
from antipodes.system.options import (
    CONTENTS,
    MAX_WORKERS,
    RESOURCES,
    RunOptions,
    chosen_store,
    memory_size,
    tasks_at_once,
)
from antipodes.system.records import ABSENT, optional, record_of, values_of
from antipodes.tables.json_results import PlanSizes, plan_sizes
from antipodes.tables.planning.cluster_fit import ClusterFit, PlannedCluster, fit_cluster, identical_workers
from antipodes.tables.planning.cluster_fit import Workers as Cluster
from antipodes.tables.planning.network import ROUND_TRIPS, NetworkCost, network_rate
from antipodes.tables.planning.plan import Plan, plan_run
from antipodes.tables.search.duration import Duration, described_range, estimate_duration
from antipodes.tables.strategies.commitment import commitment_of
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import InputError, ResourceLimitError, SizeLimitError
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.spaces.selection import index_size, reason_not_reduced, size_in_words

LONGEST_START = 10.0
"""Maximum number of seconds counted as loading the program; a process that is older has done other work."""


ClusterWorkers = Annotated[int | None, typer.Option(metavar="N", help="Plan for a cluster with N workers.")]
WorkerMemory = Annotated[
    str | None, typer.Option(metavar="SIZE", help="Memory limit of each cluster worker, such as 15GiB.")
]
WorkerThreads = Annotated[
    int | None,
    typer.Option(metavar="N", help="Threads of each cluster worker. [default: 1]"),
]
Network = Annotated[
    str | None,
    typer.Option(metavar="RATE", help="Estimate what a network costs on the cluster, such as 10Gbit for each worker."),
]
PlannedScheduler = Annotated[
    str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Plan for the workers of this dask scheduler.")
]
PlannedSchedulerFile = Annotated[
    str | None,
    typer.Option("--scheduler-file", metavar="FILE", help="Plan for the workers of the scheduler named in FILE."),
]

app = commands()


@dataclass(frozen=True, slots=True)
class Phases:
    """Estimated seconds of each phase of a run, for JSON output."""

    start: float
    tables: float
    search: float
    write: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun(PlanSizes):
    """The estimate of a run, for JSON output."""

    fits: bool
    free_disk_bytes: int | None
    seconds: float | None
    seconds_at_least: float | None
    seconds_range: tuple[float, float]
    phases: Phases
    cluster: PlannedCluster | None = optional()
    patterns: list[ListedPattern]
    build: Cost | None
    build_large: Cost | None


@dataclass(frozen=True, slots=True)
class TooLarge:
    """A puzzle that is too large for a table, for JSON output."""

    index_size: int
    fits: bool
    problem: str
    patterns: list[ListedPattern]
    build: Cost | None
    build_large: Cost | None


@command(app, "plan", "antipodes plan seven-tiles", "antipodes plan my-puzzle.toml --memory-limit 4GiB")
@takes_run_options("plan", omit=(RESOURCES, CONTENTS))
def plan(
    given: GivenOptions,
    puzzle: PuzzleArgument,
    only_moves: OnlyMoves = None,
    omit: Omit = None,
    cluster_workers: ClusterWorkers = None,
    worker_memory: WorkerMemory = None,
    worker_threads: WorkerThreads = None,
    network: Network = None,
    scheduler: PlannedScheduler = None,
    scheduler_file: PlannedSchedulerFile = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Estimate the memory, disk and time of a run without running it."""
    config = restrict_moves(load_config(puzzle), only_moves, omit or ())
    options = run_options(config.run, given)
    rate = None if network is None else network_rate(network, "--network")
    unlimited = rate is not None
    cluster = _described_cluster(cluster_workers, worker_memory, worker_threads, scheduler, scheduler_file, unlimited)
    if rate is not None and cluster is None:
        raise InputError("--network needs a cluster; describe one with --cluster-workers")
    limit = available_memory() if options.memory_limit is None else options.memory_limit
    tasks = tasks_at_once(options.workers)
    try:
        planned = _planned(config, options, tasks, limit)
    except (SizeLimitError, ResourceLimitError) as error:
        _print_too_large(config, str(error), as_json, solvable_as=None if only_moves or omit else puzzle)
        return
    planned.check_classes()
    store = chosen_store(None, config.run, config.puzzle.name, options.counts_only)
    # Layers on disk are written to the directory `spill`, which may be on another disk than the store.
    spills = planned.strategy.on_disk and options.spill is not None
    free = storage_at(Path(str(options.spill)) if spills else store).free_bytes()
    expected = _duration(planned, tasks, store)
    on_cluster = None
    if cluster is not None:
        fit = fit_cluster(config, options, planned.cut, cluster)
        cost = fit.network_cost(expected.search * min(tasks, planned.partition_count), rate) if fit and rate else None
        on_cluster = ClusterEstimate(fit, rate, cost)
    estimate = Estimate(config, options, planned, store, tasks, limit, free, expected, on_cluster)
    if as_json:
        print_json(estimate.to_record())
        return
    for line in estimate.lines(verbose):
        print_line(line)


@dataclass(frozen=True)
class ClusterEstimate:
    """How a run fits a cluster, and what the cluster's network costs it."""

    fit: ClusterFit | None
    """None if the cluster has no workers yet."""
    rate: float | None
    """Bytes per second of each worker's network, or None if it was not given."""
    cost: NetworkCost | None
    """None if it is unknown."""

    def to_record(self) -> PlannedCluster | None:
        """Return the value of the key ``cluster`` for JSON output."""
        return self.fit.to_record(ABSENT if self.rate is None else self.cost) if self.fit else None

    def lines(self) -> Iterator[str]:
        """Yield whether the run fits, and what the network costs, as text."""
        yield f"  cluster      {self.fit or 'it has no workers yet'}"
        if self.cost is not None:
            lost = "less than a second" if self.cost.seconds < 1 else described_range((self.cost.seconds,) * 2)
            few = f"more than {counted(self.cost.useful_workers, 'worker')} would save little time"
            trips = f" and {ROUND_TRIPS} round trips per layer" if self.cost.sent_bytes else ""
            yield f"  network      about {human(self.cost.sent_bytes)} sent, {lost}{trips} lost; {few}"
        elif self.rate is not None:
            yield "  network      unknown: only the search can count what is sent"


@dataclass(frozen=True)
class Estimate:
    """The estimate of a run that is not too large."""

    config: Config
    options: RunOptions
    planned: Plan
    store: Address
    tasks: int
    """Number of parallel tasks."""
    limit: int
    """Bytes of memory that the run may take."""
    free: int | None
    """Free bytes of the disk, or None if they are unknown."""
    expected: Duration
    cluster: ClusterEstimate | None
    """None if no cluster was described or named."""

    @property
    def lacking(self) -> str:
        """The resources, of memory and disk, that are too small on this machine, as text."""
        too_much = {
            "memory": self.planned.min_bytes - self.planned.unsure_bytes > self.limit,
            "disk": self.free is not None and self.planned.disk_bytes - self.planned.rare_disk_bytes > self.free,
        }
        return " and ".join(what for what, lacks in too_much.items() if lacks)

    def to_record(self) -> PlannedRun:
        """Return the estimate for JSON output."""
        known = self.expected.known and isinstance(self.store, Path)
        return PlannedRun(
            **values_of(plan_sizes(self.planned)),
            fits=not self.lacking,
            free_disk_bytes=self.free,
            seconds=self.expected.seconds if known else None,
            seconds_at_least=None if known else self.expected.seconds,
            seconds_range=self.expected.range,
            phases=record_of(Phases, self.expected),
            cluster=self.cluster.to_record() if self.cluster else ABSENT,
            **pattern_records(self.config)._asdict(),
        )

    def lines(self, verbose: bool) -> Iterator[str]:
        """Yield the estimate as text; if ``verbose``, also how the positions are numbered and divided into tasks."""
        yield from self._key_lines() if self.planned.keyed else self._index_lines(verbose)
        yield f"  can run      {f'no: too little {self.lacking}' if self.lacking else 'yes'}"
        if self.cluster:
            yield from self.cluster.lines()
        yield from pattern_lines(self.config)

    def _key_lines(self) -> Iterator[str]:
        """Yield the estimates for a puzzle whose positions are searched as keys."""
        planned, size = self.planned, self.planned.reachable
        found = f"more than {counted(planned.known_positions, 'position')}; only the search can count them"
        yield f"{self.config.puzzle.name}: {found if size is None else counted(size, 'position')}"
        yield f"  memory       {human(planned.min_bytes)}{' and more, as layers grow' if size is None else ' at most'}"
        yield f"  disk         {'unknown' if size is None else 'at most ' + human(planned.disk_bytes)}"
        yield f"  time         {self._time() if size is not None else 'unknown'}"

    def _index_lines(self, verbose: bool) -> Iterator[str]:
        """Yield the estimates for a puzzle whose positions have an index."""
        planned, space = self.planned, self.planned.space
        yield f"{self.config.puzzle.name}: {counted(space.full_space.size, 'position')}{_reachable(planned)}"
        if space.full_space is not space:
            why = "" if self.options.symmetry == "on" else ", which saves time or memory"
            entries = counted(space.size, "entry", "entries")
            yield f"  reduced      by {space.numbering.symmetries} symmetries to {entries}{why}"
        elif verbose:
            yield f"  not reduced  {reason_not_reduced(space)}"
        if verbose:
            cut = f"{counted(space.rows, 'row')} of {counted(space.width, 'column')}"
            maps = counted(space.filler.most_column_maps, "column map")
            yield f"  space        {space.numbering.KIND}: {cut}, {maps}; move tables {human(planned.table_bytes)}"
            yield f"  tasks        {counted(planned.partition_count, 'partition')}"
        yield f"  memory       {_memory(planned, self.limit, 'free' if self.options.memory_limit is None else 'limit')}"
        yield f"  disk         {_disk(planned, self.free)}"
        if traffic := planned.layer_traffic:
            yield f"  layers       about {human(traffic.written)} written, at most {human(traffic.read)} read again"
        yield f"  time         {self._time()}"

    def _time(self) -> str:
        """Return the time of a run, and how it was estimated, as text."""
        bucket = "" if isinstance(self.store, Path) else ", and the time that the bucket takes"
        source = "measured in a short trial" if self.expected.known else "a rough estimate from a typical rate"
        return f"{described_range(self.expected.range)} with {counted(self.tasks, 'thread')}{bucket}, {source}"


def _planned(config: Config, options: RunOptions, tasks: int, limit: int) -> Plan:
    """Return the plan of a run; raise SizeLimitError or ResourceLimitError if the puzzle is too large for a table."""
    with preparing(tasks):
        return plan_run(
            config.puzzle,
            tasks,
            limit,
            settings=config.settings,
            commitment=commitment_of(options),
            symmetry=options.symmetry,
            outline=True,
        )


def _described_cluster(
    workers: int | None,
    memory: str | None,
    threads: int | None,
    scheduler: str | None,
    scheduler_file: str | None,
    unlimited: bool,
) -> Cluster | None:
    """Return the workers of the cluster that the options describe or name, or None if no such option is given.

    If it may be ``unlimited``, the memory of the workers need not be described.
    """
    described = workers is not None or memory is not None or threads is not None
    if scheduler is not None or scheduler_file is not None:
        if described:
            raise InputError("--cluster-workers and --scheduler both define a cluster; give only one of them")
        with show_progress(quiet=False) as listener:
            return workers_at(scheduler, scheduler_file, listener)
    if not described:
        return None
    if workers is None or (memory is None and not unlimited):
        raise InputError("to describe a cluster, give both --cluster-workers and --worker-memory")
    count = arguments.integer(workers, "--cluster-workers", 1, MAX_WORKERS)
    each = 1 if threads is None else arguments.integer(threads, "--worker-threads", 1, MAX_WORKERS)
    return identical_workers(count, 0 if memory is None else memory_size(memory, "--worker-memory"), each)


def _print_too_large(config: Config, problem: str, as_json: bool, solvable_as: str | None) -> None:
    """Print that the puzzle is too large for a table, and the cost of its pattern tables.

    If the command solve can be used instead, ``solvable_as`` is its argument.
    """
    size = index_size(config.puzzle.rules)
    if as_json:
        print_json(TooLarge(size, False, problem, *pattern_records(config)))
        return
    print_line(f"{config.puzzle.name}: {size_in_words(size)} positions")
    print_line(f"  can run      no: {problem}")
    for line in pattern_lines(config):
        print_line(line)
    if solvable_as is not None:
        print_line(f"  solve        single positions with: antipodes solve {in_shell(solvable_as)} POSITION")


def _duration(planned: Plan, tasks: int, store: Address) -> Duration:
    """Return the estimated time of a run, without the time to write to a bucket, whose speed is unknown."""
    starting = min(LONGEST_START, time.perf_counter() - process_began())
    return estimate_duration(planned, tasks, store.parent if isinstance(store, Path) else None, starting)


def _memory(planned: Plan, limit: int, what: str) -> str:
    """Return the memory of a run as text; ``what`` names the limit: "free" or "limit"."""
    least = planned.min_bytes - planned.unsure_bytes
    if least > limit:
        return f"does not fit: at least {human(least)}; {what} {human(limit)}"
    if planned.min_bytes > limit:
        either = f"between {human(least)} and {human(planned.min_bytes)}"
        return f"{either}, known once the move tables are built; {what} {human(limit)}"
    how = ", with two bits per position" if planned.strategy.bits == 2 else ", with layers on disk"
    return f"at most {human(planned.memory_bytes)}{how if planned.strategy.bits in (1, 2) else ''}"


def _disk(planned: Plan, free: int | None) -> str:
    """Return the disk space of a run as text, with the free bytes if known."""
    parts = ", ".join(f"{what} {human(size)}" for what, size in planned.disk_parts.items())
    shown = "" if free is None else f"; free {human(free)}"
    usual = f", rarely more than {human(planned.disk_bytes - planned.rare_disk_bytes)}" * (planned.rare_disk_bytes > 0)
    return f"at most {human(planned.disk_bytes)}{usual}: {parts}{shown}"


def _reachable(planned: Plan) -> str:
    if planned.reachable is None:
        return ""
    return (
        ", all reachable"
        if planned.reachable == planned.space.full_space.size
        else f", {planned.reachable:,} reachable"
    )
