"""The tables of the patterns that a puzzle's config names: where they are, which are finished, and what others cost."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antipodes.config import Config, load_config
from antipodes.machine import available_memory
from antipodes.runs.options import chosen_store, tasks_at_once
from antipodes.storage.address import Address
from antipodes.tables.pattern_values import MAX_EXPANDED
from antipodes.tables.planning.duration import estimate_duration
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.store.search_stores import TableStore
from antipodes_tasks.errors import NotAStoreError
from antipodes_tasks.spaces.selection import index_size

TRIAL_SECONDS = 0.5
"""Seconds of the trial for a forecast that a person waits for who wants a solution."""


PREPARED_SECONDS = 1e-8
"""Seconds of a thread for each entry of a finished table before the first search: it is read, folded by its symmetries,
and written to the cache."""


@dataclass(frozen=True)
class PatternStore:
    """A pattern, and the store that `antipodes run` makes of it."""

    config: Config
    store: Address
    finished: bool

    @property
    def name(self) -> str:
        """The name of the pattern."""
        return self.config.puzzle.name

    @property
    def entries(self) -> int:
        """The entries of the table."""
        return index_size(self.config.puzzle.rules)

    def to_json(self) -> dict[str, Any]:
        """The values of JSON."""
        entries = {"name": self.name, "store": str(self.store), "index_size": self.entries}
        return {**entries, "complete": self.finished}


@dataclass(frozen=True)
class Cost:
    """What it takes to build some tables."""

    entries: int
    disk_bytes: int
    """An upper bound, journals included."""
    seconds: float
    known: bool
    """Whether a trial tells the seconds; else they are the least that a measured rate suggests."""
    range: tuple[float, float]
    """The seconds between which it is expected to end."""

    def to_json(self) -> dict[str, Any]:
        """The values of JSON."""
        seconds = {"seconds": self.seconds if self.known else None, "seconds_range": list(self.range)}
        return {"index_size": self.entries, "disk_bytes": self.disk_bytes, **seconds}


def pattern_stores(config: Config) -> list[PatternStore]:
    """The tables of the patterns that a config names; ConfigError where one describes no puzzle."""
    patterns = [load_config(name) for name in config.patterns]
    stores = [chosen_store(None, pattern.run, pattern.puzzle.name) for pattern in patterns]
    return [PatternStore(*one, _is_finished(*one)) for one in zip(patterns, stores, strict=True)]


def cost_of(patterns: Sequence[PatternStore], workers: int | None = None) -> Cost:
    """What it takes to build the tables of some patterns and to prepare them for searches.

    That of the smallest is estimated, and the others are taken to need as long for each entry.
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

    seconds = scaled(trial.seconds, trial.start)
    low, high = (scaled(one, one / trial.seconds * trial.start) for one in trial.range)
    return Cost(entries, sum(one.disk_bytes for one in plans), seconds, trial.known, (low, high))


def _is_finished(config: Config, store: Address) -> bool:
    """Return whether a store has the finished table of a pattern, as searches load it."""
    if isinstance(store, Path) and not os.path.isdir(store):
        return False
    try:
        manifest = TableStore(store).read()
    except NotAStoreError:
        return False
    loaded = manifest.symmetry == 1 or manifest.numbered <= MAX_EXPANDED
    return manifest.complete and loaded and manifest.fingerprint == config.puzzle.fingerprint
