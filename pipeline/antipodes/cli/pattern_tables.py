"""A puzzle's own pattern tables, for commands: building and finding them, and estimating their cost."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from antipodes.cli.running import Interrupts, RunRequest
from antipodes.cli.streams import print_message
from antipodes.puzzles.config import Config
from antipodes.solving.pattern_stores import Cost, ListedPattern, PatternStore, cost_of, missing_stores, pattern_stores
from antipodes.system.addresses import Address
from antipodes.system.machine import human
from antipodes.system.options import LARGE, RunOptions, command_words
from antipodes.tables.run import run_puzzle
from antipodes.tables.search.duration import described_range
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import counted


def build_patterns(config: Config, puzzle: str, large: bool, memory_limit: int | None, quiet: bool) -> int:
    """Compute the unfinished pattern tables of a puzzle, with ``large`` also the large ones; return the exit status.

    ``puzzle`` is the command's argument, for messages.
    """
    stores = pattern_stores(config)
    if not stores:
        raise InputError(f"--build: {config.puzzle.name} defines no pattern tables; its config has no [solve]")
    if large and not any(one.large for one in stores):
        raise InputError(f"--build={LARGE}: {config.puzzle.name} defines no large pattern tables; give --build")
    missing = missing_stores(stores, large)
    if missing and not quiet:
        print_message(f"building {_named(missing)}: {_cost(missing)}")
    word = f"--build={LARGE}" if large else "--build"
    for one in missing:
        if status := _build(one, (*command_words("solve", puzzle), word), memory_limit, quiet):
            return status
    return 0


def _build(pattern: PatternStore, command: tuple[str, ...], memory_limit: int | None, quiet: bool) -> int:
    """Compute or resume one table; return the exit status."""
    given = {"memory_limit": memory_limit, "counts_only": False}
    options = RunOptions.of(pattern.config.run, given, started_by=command)
    with Interrupts() as interrupts:
        request = RunRequest(pattern.store, options, interrupts, quiet, as_json=False)
        with request.watched("the layer") as listener:
            report = run_puzzle(pattern.config, pattern.store, options, listener, interrupts.requested)
        if not report.complete:
            return request.interrupted(report.saved)
    if not quiet:
        print_message(
            f"{pattern.name}: {report.manifest.index_size:,} entries in {report.seconds:.1f} s, {pattern.store}"
        )
    return 0


def finished_patterns(config: Config, quiet: bool) -> list[Address]:
    """Return the finished pattern tables of a puzzle. Print the cost of the missing ones unless ``quiet``."""
    stores = pattern_stores(config)
    missing = missing_stores(stores, large=False)
    if missing and not quiet:
        are, them = ("is", "it") if len(missing) == 1 else ("are", "them")
        print_message(f"{_named(missing)} {are} not built ({_cost(missing)}); build {them} with --build")
    return [one.store for one in stores if one.finished]


def pattern_lines(config: Config) -> Iterator[str]:
    """Yield the lines of a plan about a puzzle's pattern tables."""
    stores = pattern_stores(config)
    for one in stores:
        if one.finished:
            yield f"  pattern      {one.name}: finished, in {one.store}"
    if missing := missing_stores(stores, large=False):
        yield f"  patterns     {_named(missing)}: {_cost(missing)}"
    if missing := [one for one in stores if one.large and not one.finished]:
        yield f"  large        {_named(missing)}: {_cost(missing)}; build with --build={LARGE}"


class PatternRecords(NamedTuple):
    """A puzzle's pattern tables, for JSON output."""

    patterns: list[ListedPattern]
    build: Cost | None
    """The cost of building the unfinished tables, except the large ones; None if there are none."""
    build_large: Cost | None
    """The cost of building the unfinished large tables; None if there are none."""


def pattern_records(config: Config) -> PatternRecords:
    """Return a puzzle's pattern tables, and the cost of building the unfinished ones, for JSON output."""
    stores = pattern_stores(config)
    small, large = missing_stores(stores, large=False), [one for one in stores if one.large and not one.finished]
    costs = (cost_of(missing) if missing else None for missing in (small, large))
    return PatternRecords([one.to_record() for one in stores], *costs)


def _named(patterns: Sequence[PatternStore]) -> str:
    """Return the names of pattern tables as text."""
    *names, last = (one.name for one in patterns)
    return f"the table of {last}" if not names else f"the tables of {', '.join(names)} and {last}"


def _cost(patterns: Sequence[PatternStore]) -> str:
    """Return the cost of building pattern tables as text."""
    cost = cost_of(patterns)
    entries, time = counted(cost.index_size, "entry", "entries"), described_range(cost.seconds_range)
    return f"{entries}, {time}, at most {human(cost.disk_bytes)} of disk"
