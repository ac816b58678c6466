"""``antipodes plan``: an estimate of a run's memory, disk and time, and whether it can run on this machine."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from antipodes.system.options import CONTENTS, MAX_WORKERS, RESOURCES, chosen_store, memory_size, tasks_at_once
from antipodes.system.records import ABSENT, optional, record_of, values_of
from antipodes.tables.json_results import PlanSizes, plan_sizes
from antipodes.tables.planning.cluster_fit import ClusterFit, PlannedCluster, fit_cluster, identical_workers
from antipodes.tables.planning.cluster_fit import Workers as Cluster
from antipodes.tables.planning.network import NetworkCost, network_rate
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
    store = chosen_store(None, config.run, config.puzzle.name, options.counts_only)
    free = storage_at(store).free_bytes()
    tasks = tasks_at_once(options.workers)
    try:
        with preparing(tasks):
            planned = plan_run(
                config.puzzle,
                tasks,
                limit,
                settings=config.settings,
                commitment=commitment_of(options),
                symmetry=options.symmetry,
                outline=True,
            )
    except (SizeLimitError, ResourceLimitError) as error:
        _print_too_large(config, str(error), as_json, solvable_as=None if only_moves or omit else puzzle)
        return
    planned.check_classes()
    # Layers on disk are written to this directory, which may be on another disk than the store.
    if planned.strategy.on_disk and options.spill is not None:
        free = storage_at(Path(options.spill)).free_bytes()
    lacking = _shortages(planned, limit, free)
    expected = _time(planned, tasks, store)
    fit = None if cluster is None else fit_cluster(config, options, planned.cut, cluster)
    cost = fit.network_cost(expected.search * min(tasks, planned.partition_count), rate) if fit and rate else None
    if as_json:
        known = expected.known and isinstance(store, Path)
        fitted = fit.to_record() if fit else None
        if fitted and rate is not None:
            fitted = replace(fitted, network=cost)
        print_json(
            PlannedRun(
                **values_of(plan_sizes(planned)),
                fits=not lacking,
                free_disk_bytes=free,
                seconds=expected.seconds if known else None,
                seconds_at_least=None if known else expected.seconds,
                seconds_range=expected.range,
                phases=record_of(Phases, expected),
                cluster=ABSENT if cluster is None else fitted,
                **pattern_records(config)._asdict(),
            )
        )
        return
    if planned.keyed:
        _print_keys(config, planned, _described(expected, store, tasks), lacking)
        _print_cluster(cluster, fit, rate, cost)
        return
    space = planned.space
    print_line(f"{config.puzzle.name}: {counted(space.full_space.size, 'position')}{_reachable(planned)}")
    if space.full_space is not space:
        why = "" if options.symmetry == "on" else ", which saves time or memory"
        entries = counted(space.size, "entry", "entries")
        print_line(f"  reduced      by {space.numbering.symmetries} symmetries to {entries}{why}")
    elif verbose:
        print_line(f"  not reduced  {reason_not_reduced(space)}")
    if verbose:
        _print_division(planned)
    print_line(f"  memory       {_memory(planned, limit, 'free' if options.memory_limit is None else 'limit')}")
    print_line(f"  disk         {_disk(planned, free)}")
    if traffic := planned.layer_traffic:
        print_line(f"  layers       about {human(traffic.written)} written, at most {human(traffic.read)} read again")
    print_line(f"  time         {_described(expected, store, tasks)}")
    print_line(f"  can run      {'no: too little ' + ' and '.join(lacking) if lacking else 'yes'}")
    _print_cluster(cluster, fit, rate, cost)
    _print_patterns(config)


def _print_patterns(config: Config) -> None:
    for line in pattern_lines(config):
        print_line(line)


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


def _print_cluster(
    cluster: Cluster | None, fit: ClusterFit | None, rate: float | None, cost: NetworkCost | None
) -> None:
    """Print whether the run fits the cluster, if one is described or named, and what its network costs."""
    if cluster is not None:
        print_line(f"  cluster      {fit or 'it has no workers yet'}")
    if cost is not None:
        lost = "less than a second" if cost.seconds < 1 else described_range((cost.seconds, cost.seconds))
        few = f"more than {counted(cost.useful_workers, 'worker')} would save little time"
        print_line(f"  network      about {human(cost.sent_bytes)} sent, {lost} lost; {few}")
    elif rate is not None:
        print_line("  network      unknown: only the search can count what is sent")


def _print_keys(config: Config, planned: Plan, seconds: str, lacking: Sequence[str]) -> None:
    """Print the estimates for a puzzle whose positions are searched as keys."""
    size = planned.reachable
    found = f"more than {counted(planned.known_positions, 'position')}; only the search can count them"
    print_line(f"{config.puzzle.name}: {found if size is None else counted(size, 'position')}")
    print_line(
        f"  memory       {human(planned.min_bytes)}{' and more, as layers grow' if size is None else ' at most'}"
    )
    print_line(f"  disk         {'unknown' if size is None else 'at most ' + human(planned.disk_bytes)}")
    print_line(f"  time         {seconds if size is not None else 'unknown'}")
    print_line(f"  can run      {'no: too little ' + ' and '.join(lacking) if lacking else 'yes'}")
    _print_patterns(config)


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
    _print_patterns(config)
    if solvable_as is not None:
        print_line(f"  solve        single positions with: antipodes solve {in_shell(solvable_as)} POSITION")


def _print_division(planned: Plan) -> None:
    """Print how the positions are numbered and divided into tasks."""
    space = planned.space
    cut = f"{counted(space.rows, 'row')} of {counted(space.width, 'column')}"
    maps = counted(space.filler.most_column_maps, "column map")
    print_line(f"  space        {space.numbering.KIND}: {cut}, {maps}; move tables {human(planned.table_bytes)}")
    print_line(f"  tasks        {counted(planned.partition_count, 'partition')}")


def _shortages(planned: Plan, limit: int, free: int | None) -> list[str]:
    """Return the resources, of memory and disk, that are too small on this machine."""
    too_much = {
        "memory": planned.min_bytes - planned.unsure_bytes > limit,
        "disk": free is not None and planned.disk_bytes - planned.rare_disk_bytes > free,
    }
    return [what for what, lacks in too_much.items() if lacks]


def _time(planned: Plan, tasks: int, store: Address) -> Duration:
    """Return the estimated time of a run, without the time to write to a bucket, whose speed is unknown."""
    starting = min(LONGEST_START, time.perf_counter() - process_began())
    return estimate_duration(planned, tasks, store.parent if isinstance(store, Path) else None, starting)


def _described(expected: Duration, store: Address, tasks: int) -> str:
    """Return the time of a run, and how it was estimated, as text."""
    bucket = "" if isinstance(store, Path) else ", and the time that the bucket takes"
    source = "measured in a short trial" if expected.known else "a rough estimate from a typical rate"
    return f"{described_range(expected.range)} with {counted(tasks, 'thread')}{bucket}, {source}"


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
