"""The options of a run, and the commands that repeat it with them."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from antipodes.executors.opening import check_scheduler_name
from antipodes.machine import available_workers
from antipodes.sizes import memory_size
from antipodes.storage.address import Address, argument
from antipodes_tasks import arguments

MOST_WORKERS = 4096
"""More threads or processes than any machine runs at once."""


@dataclass(frozen=True, repr=False)
class RunOptions:
    """How to run, whatever is computed.

    Raises
    ------
    InputError
        A value is out of range; the message names the option.
    """

    workers: int | None = None
    """Number of parallel tasks, 1 to 4096; None: the number of processors."""
    scheduler: str = "threads"
    """``threads``, ``local`` or the address of a dask scheduler."""
    scheduler_file: str | None = None
    """The file with the address of a dask scheduler; it goes before ``scheduler``."""
    performance_report: str | None = None
    """The file for dask's performance report, a web page; only on a cluster."""
    checkpoint_every: float | None = None
    """Seconds between two commits at least; 0: as often as possible; None: the default of the kind of run."""
    memory_limit: int | None = None
    """Bytes; None: all that is available."""
    overwrite: bool = False
    """Whether to replace an existing store."""
    counts_only: bool = False
    """Whether a search keeps the layers and the first antipodes alone, and makes no table."""
    started_by: tuple[str, ...] = ()
    """The command that started the run, such as ``("run", "eight-puzzle")``, for messages; empty: no command."""
    began: float | None = field(default=None, compare=False)
    """When the user began to wait, on the clock of `time.perf_counter`; None: when the run is called."""

    def __post_init__(self) -> None:
        check_scheduler_name(arguments.text(self.scheduler, "a scheduler"))
        for name in ("scheduler_file", "performance_report"):
            arguments.optional(getattr(self, name), arguments.address, name)
        checked = {
            "workers": arguments.optional(self.workers, tasks_at_once),
            "checkpoint_every": arguments.optional(self.checkpoint_every, arguments.number, "checkpoint_every", 0),
            "memory_limit": arguments.optional(
                self.memory_limit, arguments.integer, "memory_limit", 1, arguments.GREATEST
            ),
            "overwrite": arguments.flag(self.overwrite, "overwrite"),
            "counts_only": arguments.flag(self.counts_only, "counts_only"),
            "began": arguments.optional(self.began, arguments.number, "began"),
        }
        for name, value in checked.items():  # numpy's scalars as Python's
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        values = ((one, getattr(self, one.name)) for one in fields(self))
        return f"RunOptions({', '.join(f'{one.name}={value!r}' for one, value in values if value != one.default)})"

    @classmethod
    def chosen(cls, defaults: Mapping[str, Any], **given: Any) -> Self:
        """The options that are given, not None, else those of a config's ``[run]`` table, else the program's."""
        chosen = {**defaults, **{name: value for name, value in given.items() if value is not None}}
        for name in ("store", "quiet"):  # of the command
            chosen.pop(name, None)
        if "memory_limit" in chosen:
            chosen["memory_limit"] = memory_size(chosen["memory_limit"])
        return cls(**chosen)

    def resume_command(self, store: Address) -> str:
        """The command that resumes the run with the same options."""
        return _command("resume", argument(store), *self._given())

    def start_command(self, store: Address) -> str | None:
        """The command that starts the run over; None where no command started it."""
        if not self.started_by:
            return None
        flags = {"--counts-only": self.counts_only, "--overwrite": self.overwrite}
        name, subject, *more = self.started_by
        given = [*self._given(), *(flag for flag, is_set in flags.items() if is_set)]
        return _command(name, argument(subject), *more, "--store", argument(store), *given)

    def next_command(self, store: Address) -> str:
        """The command that resumes the run, or starts it over where nothing is at the path of the store."""
        missing = isinstance(store, Path) and not os.path.lexists(store)
        return (self.start_command(store) if missing else None) or self.resume_command(store)

    def _given(self) -> list[str]:
        """The options that were given, as words of a command; without the store."""
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
    """A command of this program, quoted for a shell."""
    return shlex.join(["antipodes", *words])


def _number(value: float) -> str:
    """A number without a needless fraction."""
    return str(int(value)) if float(value).is_integer() else repr(value)


def tasks_at_once(workers: int | None) -> int:
    """The number of parallel tasks, by default that of the processors; InputError unless it is 1 to 4096."""
    return available_workers() if workers is None else arguments.integer(workers, "workers", 1, MOST_WORKERS)
