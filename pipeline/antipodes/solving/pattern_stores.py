"""The tables of the patterns in a puzzle's config: where they are, which are finished, and the cost of the others."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from antipodes.puzzles.config import Config, load_config
from antipodes.system.addresses import Address
from antipodes.system.machine import available_memory
from antipodes.system.options import chosen_store, tasks_at_once
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.search.duration import estimate_duration
from antipodes.tables.store.search_stores import TableStore
from antipodes_tasks.base.errors import NotAStoreError
from antipodes_tasks.spaces.selection import index_size

TRIAL_SECONDS = 0.5
"""Maximum seconds of a trial for a forecast, since a user is waiting for a solution."""

PREPARED_SECONDS = 2.5e-8
"""Seconds of one thread per entry to prepare a finished table for the first search: to read it, to find the
representative of each row, and to write both to the cache."""


@dataclass(frozen=True)
class PatternStore:
    """A pattern, and the store in which `antipodes run` puts its table."""

    config: Config
    store: Address
    finished: bool
    large: bool
    """Whether it belongs to the large set, which is only built if a user asks for it."""

    @property
    def name(self) -> str:
        """The name of the pattern."""
        return self.config.puzzle.name

    def to_record(self) -> "ListedPattern":
        """Return the pattern for JSON output."""
        return ListedPattern(
            self.name, str(self.store), index_size(self.config.puzzle.rules), self.finished, self.large
        )


@dataclass(frozen=True, slots=True)
class ListedPattern:
    """A pattern and its store, for JSON output."""

    name: str
    store: str
    index_size: int
    complete: bool
    large: bool


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of building some tables."""

    index_size: int
    """Number of entries of all tables."""
    disk_bytes: int
    """Upper bound on the disk space, including journals."""
    seconds: float | None
    """Estimated seconds, or None if there was no trial."""
    seconds_range: tuple[float, float]
    """Minimum and maximum seconds that are expected."""


def pattern_stores(config: Config) -> list[PatternStore]:
    """Return the tables of the patterns in a config; raise ConfigError if one of them does not describe a puzzle."""
    found = list[PatternStore]()
    for name in dict.fromkeys((*config.patterns, *config.large_patterns)):
        pattern = load_config(name)
        store = chosen_store(None, pattern.run, pattern.puzzle.name)
        found.append(PatternStore(pattern, store, _is_finished(pattern, store), name not in config.patterns))
    return found


def missing_stores(stores: Sequence[PatternStore], large: bool) -> list[PatternStore]:
    """Return the unfinished tables; those of the large set only if ``large``."""
    return [one for one in stores if not one.finished and (large or not one.large)]


def cost_of(patterns: Sequence[PatternStore], workers: int | None = None) -> Cost:
    """Estimate the cost of building the tables of some patterns and of preparing them for searches.

    The time is estimated for the smallest table, and is assumed to be the same per entry for the others.
    """
    tasks = tasks_at_once(workers)
    plans = [
        plan_run(one.config.puzzle, tasks, available_memory(), symmetry=one.config.run.get("symmetry"), outline=True)
        for one in patterns
    ]
    entries = sum(plan.space.size for plan in plans)
    number = min(range(len(plans)), key=lambda number: plans[number].space.size)
    store, plan = patterns[number].store, plans[number]
    folder = store.parent if isinstance(store, Path) else None
    trial = estimate_duration(plan, tasks, folder, trial_seconds=TRIAL_SECONDS)
    share, prepared = entries / plan.space.size, PREPARED_SECONDS * entries / tasks

    def scaled(seconds: float, start: float) -> float:
        return len(plans) * start + share * (seconds - start) + prepared

    seconds = scaled(trial.seconds, trial.start) if trial.known else None
    low, high = (scaled(one, one / trial.seconds * trial.start) for one in trial.range)
    return Cost(entries, sum(one.disk_bytes for one in plans), seconds, (low, high))


def _is_finished(config: Config, store: Address) -> bool:
    """Return whether a store has the finished table of a pattern."""
    if isinstance(store, Path) and not os.path.isdir(store):
        return False
    try:
        manifest = TableStore(store).read()
    except NotAStoreError:
        return False
    return manifest.complete and manifest.fingerprint == config.puzzle.fingerprint
