"""``antipodes plan``: the memory, the disk and the time that a run would take, and whether it can run here."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

from antipodes.cli.command import command, commands
from antipodes.cli.options import (
    AsJson,
    CountsOnly,
    MemoryLimit,
    Omit,
    OnlyMoves,
    PuzzleArgument,
    Symmetry,
    Verbose,
    Workers,
)
from antipodes.cli.patterns import pattern_lines, patterns_view
from antipodes.cli.streams import print_json
from antipodes.config import Config, load_config, restricted
from antipodes.events import Listener, Preparing
from antipodes.machine import available_memory, human, process_began
from antipodes.progress.show import show_progress
from antipodes.runs.options import RunOptions, chosen_store, tasks_at_once
from antipodes.storage.address import Address, storage_at
from antipodes.tables.planning.duration import Duration, described_time, estimate_duration
from antipodes.tables.planning.plan import Plan, plan_run
from antipodes.tables.report import plan_view
from antipodes_tasks.errors import ResourceLimitError, SizeLimitError
from antipodes_tasks.quoting import counted
from antipodes_tasks.spaces import parallel
from antipodes_tasks.spaces.selection import index_size, size_in_words, why_whole

LONGEST_START = 10.0
"""Seconds that a process may take to load: an older one did other things before."""


app = commands()


@command(app, "plan", "antipodes plan seven-tiles", "antipodes plan my-puzzle.toml --memory-limit 4GiB")
def plan(
    puzzle: PuzzleArgument,
    only_moves: OnlyMoves = None,
    omit: Omit = None,
    memory_limit: MemoryLimit = None,
    workers: Workers = None,
    counts_only: CountsOnly = False,
    symmetry: Symmetry = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Estimate the memory, disk and time of a run, without running."""
    config = restricted(load_config(puzzle), only_moves, omit or ())
    options = RunOptions.of(
        config.run, memory_limit=memory_limit, workers=workers, counts_only=counts_only or None, symmetry=symmetry
    )
    limit = available_memory() if options.memory_limit is None else options.memory_limit
    counts_only = options.counts_only
    store = chosen_store(None, config.run, config.puzzle.name, counts_only)
    free = storage_at(store).free_bytes()
    tasks = tasks_at_once(options.workers)
    try:
        with _progress(tasks):
            planned = plan_run(
                config.puzzle,
                tasks,
                limit,
                settings=config.settings,
                counts_only=counts_only,
                symmetry=options.symmetry,
            )
    except (SizeLimitError, ResourceLimitError) as error:
        _print_too_large(config, str(error), as_json)
        return
    lacking = _lacking(planned, limit, free)
    expected = _time(planned, tasks, store)
    if as_json:
        phases = asdict(expected)
        known = phases.pop("known") and isinstance(store, Path)
        times = {
            "seconds": expected.seconds if known else None,
            "seconds_at_least": None if known else expected.seconds,
            "phases": phases,
        }
        fits = {"fits": not lacking, "free_disk_bytes": free}
        print_json({**plan_view(planned), **fits, **times, **patterns_view(config)})
        return
    if planned.keyed:
        _print_keys(config, planned, _described(expected, store, tasks), lacking)
        return
    space = planned.space
    print(f"{config.puzzle.name}: {counted(space.whole.size, 'position')}{_reachable(planned)}")
    if space.whole is not space:
        why = "" if options.symmetry == "on" else ", which saves time or memory"
        entries = counted(space.size, "entry", "entries")
        print(f"  reduced      by {space.numbering.symmetries} symmetries to {entries}{why}")
    elif verbose:
        print(f"  not reduced  {why_whole(space)}")
    if verbose:
        _print_division(planned)
    print(f"  memory       {_memory(planned, limit, 'free' if options.memory_limit is None else 'limit')}")
    print(f"  disk         {_disk(planned, free)}")
    print(f"  time         {_described(expected, store, tasks)}")
    print(f"  can run      {'no: too little ' + ' and '.join(lacking) if lacking else 'yes'}")
    print(*pattern_lines(config), sep="\n", end="\n" if config.patterns else "")


def _print_keys(config: Config, planned: Plan, seconds: str, lacking: Sequence[str]) -> None:
    """What is known before the search of a puzzle whose positions are keys."""
    size = planned.reachable
    found = f"more than {counted(planned.looked, 'position')}: only the search counts them"
    print(f"{config.puzzle.name}: {found if size is None else counted(size, 'position')}")
    print(f"  memory       {human(planned.least_bytes)}{' and more, as layers grow' if size is None else ' at most'}")
    print(f"  disk         {'unknown' if size is None else 'at most ' + human(planned.disk_bytes)}")
    print(f"  time         {seconds if size is not None else 'unknown'}")
    print(f"  can run      {'no: too little ' + ' and '.join(lacking) if lacking else 'yes'}")
    print(*pattern_lines(config), sep="\n", end="\n" if config.patterns else "")


@contextmanager
def _progress(tasks: int) -> Iterator[None]:
    """Show what takes long before the plan is known, from its first event on; as many threads as tasks work on that."""
    with ExitStack() as stack:
        listeners: list[Listener] = []

        def tell(what: str, done: int, of: int) -> None:
            if not listeners:
                listeners.append(stack.enter_context(show_progress(quiet=False)))
            listeners[0](Preparing(what, done, of))

        with parallel.watched(tell, lambda: False, tasks):
            yield


def _print_too_large(config: Config, problem: str, as_json: bool) -> None:
    """Say that no table can have the positions of a puzzle, and what its patterns cost."""
    size = index_size(config.puzzle.rules)
    if as_json:
        print_json({"index_size": size, "fits": False, "problem": problem, **patterns_view(config)})
        return
    print(f"{config.puzzle.name}: {size_in_words(size)} positions")
    print(f"  can run      no: {problem}")
    print(*pattern_lines(config), sep="\n", end="\n" if config.patterns else "")


def _print_division(planned: Plan) -> None:
    """How the positions are numbered and divided among tasks."""
    space = planned.space
    cut = f"{counted(space.rows, 'row')} of {counted(space.width, 'column')}"
    maps = counted(space.filler.most_column_maps, "column map")
    print(f"  space        {space.numbering.KIND}: {cut}, {maps}; move tables {human(planned.table_bytes)}")
    print(f"  tasks        {counted(planned.partition_count, 'partition')}")


def _lacking(planned: Plan, limit: int, free: int | None) -> list[str]:
    """What a run has too little of on this machine."""
    too_much = {
        "memory": planned.least_bytes > limit,
        "disk": free is not None and planned.disk_bytes > free,
    }
    return [what for what, lacks in too_much.items() if lacks]


def _time(planned: Plan, tasks: int, store: Address) -> Duration:
    """The time of a run, estimated; without that of writing to a bucket, whose speed is unknown."""
    starting = min(LONGEST_START, time.perf_counter() - process_began())
    return estimate_duration(planned, tasks, store.parent if isinstance(store, Path) else None, starting)


def _described(expected: Duration, store: Address, tasks: int) -> str:
    """The time of a run, or the time that it takes at least, and why no more is known."""
    about = described_time(expected.seconds)
    threads = counted(tasks, "thread")
    if not expected.known:
        return f"unknown, more than {about} with {threads}: a short trial does not tell"
    if not isinstance(store, Path):
        return f"{about} with {threads}, and what the bucket takes, judging by a short trial"
    return f"{about} with {threads}, judging by a short trial"


def _memory(planned: Plan, limit: int, what: str) -> str:
    """The memory of a run, or the least that it needs if the limit, ``what`` is its name, is less."""
    if planned.least_bytes > limit:
        return f"does not fit: at least {human(planned.least_bytes)}; {what} {human(limit)}"
    return f"at most {human(planned.memory_bytes)}{', with two bits a position' if planned.two_bits else ''}"


def _disk(planned: Plan, free: int | None) -> str:
    """The disk of a run, and the bytes that are free, if known."""
    parts = ", ".join(f"{what} {human(size)}" for what, size in planned.disk_parts.items())
    shown = "" if free is None else f"; free {human(free)}"
    return f"at most {human(planned.disk_bytes)}: {parts}{shown}"


def _reachable(planned: Plan) -> str:
    if planned.reachable is None:
        return ""
    return ", all reachable" if planned.reachable == planned.space.whole.size else f", {planned.reachable:,} reachable"
