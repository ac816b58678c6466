"""How to run, whatever the puzzle or the board."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from antipodes import arguments
from antipodes.executors.address import check_scheduler_name
from antipodes.machine import available_workers
from antipodes.storage.address import Address, argument

MOST_WORKERS = 4096
"""More threads or processes than any machine runs at once."""


@dataclass(frozen=True)
class RunOptions:
    """How to run, whatever the puzzle.

    Raises
    ------
    InputError
        A value is out of range; the message names the option.
    """

    workers: int | None = None
    """Number of parallel tasks; None: as many as there are processors."""
    scheduler: str = "threads"
    """``threads``, ``local`` or the address of a dask scheduler."""
    scheduler_file: str | None = None
    """The file that a dask scheduler wrote its address to; it goes before ``scheduler``."""
    performance_report: str | None = None
    """Where dask's own report of a cluster's run goes, a web page."""
    checkpoint_every: float | None = None
    """Seconds between two commits at least; 0 commits as often as possible, None as often as suits the kind of run."""
    memory_limit: int | None = None
    """Bytes; None: what is available."""
    overwrite: bool = False
    """Whether to replace an existing store."""
    started_by: tuple[str, ...] = ()
    """The command that started the run, such as ``("run", "eight-puzzle")``, for messages; empty: none did."""

    def __post_init__(self) -> None:
        tasks_at_once(self.workers)
        check_scheduler_name(arguments.text(self.scheduler, "a scheduler"))
        for name in ("scheduler_file", "performance_report"):
            arguments.optional(getattr(self, name), arguments.address, name)
        arguments.optional(self.checkpoint_every, arguments.number, "checkpoint_every", 0)
        arguments.optional(self.memory_limit, arguments.integer, "memory_limit", 1, arguments.GREATEST)
        arguments.flag(self.overwrite, "overwrite")

    def resume_command(self, store: Address) -> str:
        """The command that resumes a run as it was, where it did its work."""
        return _command("resume", argument(store), *self._given())

    def start_command(self, store: Address) -> str | None:
        """The command that starts the run again; None where no command started it."""
        if not self.started_by:
            return None
        overwrite = ["--overwrite"] if self.overwrite else []
        name, subject, *more = self.started_by
        return _command(name, argument(subject), *more, "--store", argument(store), *self._given(), *overwrite)

    def next_command(self, store: Address) -> str:
        """The command that resumes a run, or starts it again where nothing is at the path of its store yet."""
        missing = isinstance(store, Path) and not os.path.lexists(store)
        return (self.start_command(store) if missing else None) or self.resume_command(store)

    def _given(self) -> list[str]:
        """The options other than the store, as a person writes those that are not left to the program."""
        local = self.scheduler == "threads" or self.scheduler_file is not None
        given: dict[str, object] = {
            "--scheduler": None if local else self.scheduler,
            "--scheduler-file": self.scheduler_file,
            "--workers": self.workers,
            "--performance-report": self.performance_report,
            "--checkpoint-every": None if self.checkpoint_every is None else _number(self.checkpoint_every),
            "--memory-limit": self.memory_limit,
        }
        return [word for name, value in given.items() if value is not None for word in (name, str(value))]


def _command(*words: str) -> str:
    """A command of this program as a shell takes it."""
    return shlex.join(["antipodes", *words])


def _number(value: float) -> str:
    """A number without a needless fraction."""
    return str(int(value)) if float(value).is_integer() else repr(value)


def tasks_at_once(workers: int | None) -> int:
    """The number that was asked for, else that of the processors; InputError unless it is 1 to 4096."""
    return available_workers() if workers is None else arguments.integer(workers, "workers", 1, MOST_WORKERS)
