"""How to run, whatever the puzzle or the board."""

import os
import shlex
from dataclasses import dataclass

from antipodes import arguments
from antipodes.errors import InputError
from antipodes.quoting import quote
from antipodes.scheduler import check_scheduler_name
from antipodes.storage.address import Address

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
    """Tasks at once; None: as many as there are processors."""
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
    """Whether to begin anew where there is a store."""

    def __post_init__(self) -> None:
        tasks_at_once(self.workers)
        check_scheduler_name(arguments.text(self.scheduler, "a scheduler"))
        for name in ("scheduler_file", "performance_report"):
            arguments.optional(getattr(self, name), arguments.address, name)
        arguments.optional(self.checkpoint_every, arguments.number, "checkpoint_every", 0)
        arguments.optional(self.memory_limit, arguments.integer, "memory_limit", 1, arguments.GREATEST)
        arguments.flag(self.overwrite, "overwrite")

    def resume_command(self, store: Address) -> str:
        """What goes on with a run, where this one did its work."""
        where = [] if self.scheduler == "threads" else ["--scheduler", self.scheduler]
        if self.scheduler_file is not None:
            where = ["--scheduler-file", self.scheduler_file]
        return shlex.join(["antipodes", "resume", str(store), *where])


def memory_size(text: str | int) -> int:
    """Bytes from a number or a text such as ``800MB`` or ``1.5 GiB``; InputError where it is none."""
    from dask.utils import parse_bytes

    try:
        size = int(parse_bytes(text))
    except (ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"memory limit: expected a size such as 800MB or 2GiB, found {quote(text)}") from error
    if not 1 <= size <= arguments.GREATEST:
        raise InputError(f"memory limit: expected 1 byte or more, found {quote(text)}")
    return size


def tasks_at_once(workers: int | None) -> int:
    """The number that was asked for, else that of the processors; InputError unless it is 1 to 4096."""
    return available_workers() if workers is None else arguments.integer(workers, "workers", 1, MOST_WORKERS)


def available_workers() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
