"""The options of a run, the store that it goes to, and the commands that repeat it with them."""

import os
import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from antipodes.executors.opening import check_scheduler_name
from antipodes.machine import available_workers
from antipodes.storage.address import Address, address_from, argument
from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import quote
from antipodes_tasks.values import FLAG, INTEGER, NUMBER, TEXT, Kind, one_of

OUTPUTS = Path("outputs")
"""The folder of stores whose address is not given."""
SIZE = Kind("a number of bytes or a text such as 2GiB", lambda value: type(value) in (int, str))
MOST_WORKERS = 4096
"""More threads or processes than any machine runs at once."""
SYMMETRY = ("auto", "on", "off")
"""Whether a new table is reduced by symmetries."""
NOT_OF_RESUME = ("symmetry",)
"""Options that a store knows that is resumed."""
OPTION = "option"
"""The key of a field's metadata for its `Option`."""


@dataclass(frozen=True)
class Option:
    """An option as people write it: a key of ``[run]``, an option of commands, and an argument in Python."""

    check: Callable[[Any, str], Any]
    """The value as Python's own type, from a value and the option's name; raises InputError."""
    kind: Kind
    """The values of the key of ``[run]``."""
    metavar: str | None
    """The value in the help of commands; None: a flag without one."""
    help: str


def option(default: Any, check: Callable[[Any, str], Any], kind: Kind, metavar: str | None, help: str) -> Any:
    """A field of the options of a run."""
    return field(default=default, metadata={OPTION: Option(check, kind, metavar, help)})


def _workers(value: object, name: str = "workers") -> int:
    return arguments.integer(value, name, 1, MOST_WORKERS)


def _scheduler(value: object, name: str) -> str:
    checked = arguments.text(value, "a scheduler")
    check_scheduler_name(checked)
    return checked


def _symmetry(value: object, name: str) -> str:
    checked = arguments.text(value, name)
    if checked not in SYMMETRY:
        raise InputError(f"{name}: expected one of {', '.join(SYMMETRY)}, found {quote(checked)}")
    return checked


def _seconds(value: object, name: str) -> float:
    return arguments.number(value, name, 0)


def memory_size(text: str | int, name: str = "memory limit", least: int = 1) -> int:
    """Bytes from a number or a text such as ``800MB`` or ``1.5 GiB``; InputError where it is none, or too small."""
    if not isinstance(text, str):
        return arguments.integer(text, "a memory limit in bytes or as text", 1, arguments.GREATEST)
    from dask.utils import parse_bytes

    what = name if name.isupper() else name.replace("_", " ")  # an environment variable keeps its name
    try:
        size = int(parse_bytes(text))
    except (ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{what}: expected a size such as 800MB or 2GiB, found {quote(text)}") from error
    if not least <= size <= arguments.GREATEST:
        raise InputError(f"{what}: expected {least} to {arguments.GREATEST} bytes, found {quote(text)}")
    return size


@dataclass(frozen=True, repr=False)
class RunOptions:
    """How to run, whatever is computed; InputError, which names the option, where a value is out of range."""

    workers: int | None = option(None, _workers, INTEGER, "N", "Number of parallel tasks. [default: all processors]")
    """Number of parallel tasks, 1 to 4096; None: the number of processors."""
    scheduler: str = option(
        "threads",
        _scheduler,
        TEXT,
        "NAME",
        "threads, local (processes) or the address of a dask scheduler. [default: threads]",
    )
    """``threads``, ``local`` or the address of a dask scheduler."""
    scheduler_file: str | None = option(
        None, arguments.address, TEXT, "FILE", "The file with the address of a dask scheduler, instead of --scheduler."
    )
    """The file with the address of a dask scheduler; it goes before ``scheduler``."""
    performance_report: str | None = option(
        None, arguments.address, TEXT, "FILE", "Write dask's performance report (HTML) to FILE."
    )
    """The file for dask's performance report, a web page; only on a cluster."""
    checkpoint_every: float | None = option(
        None, _seconds, NUMBER, "SECONDS", "Seconds between commits; 0: every layer. [default: 120; 30 on a cluster]"
    )
    """Seconds between two commits at least; 0: as often as possible; None: the default of the kind of run."""
    memory_limit: int | None = option(
        None, memory_size, SIZE, "SIZE", "Memory limit, such as 2GiB. [default: the free memory]"
    )
    """Bytes; None: all that is available."""
    overwrite: bool = option(False, arguments.flag, FLAG, None, "Replace an existing table.")
    """Whether to replace an existing store."""
    counts_only: bool = option(
        False, arguments.flag, FLAG, None, "Keep the layers and the first antipodes, and make no table."
    )
    """Whether a search keeps the layers and the first antipodes alone, and makes no table."""
    symmetry: str | None = option(
        None,
        _symmetry,
        one_of(*SYMMETRY),
        "auto|on|off",
        "Whether to keep one of the positions that symmetries of the puzzle map to each other; auto: where that takes "
        "half the time or less. [default: auto]",
    )
    """Whether a new store is reduced by symmetries, ``on``, ``off`` or ``auto``; None: the default, ``auto``."""
    started_by: tuple[str, ...] = ()
    """The command that started the run, such as ``("run", "eight-puzzle")``, for messages; empty: no command."""
    began: float | None = field(default=None, compare=False)
    """When the user began to wait, on the clock of `time.perf_counter`; None: when the run is called."""

    def __post_init__(self) -> None:
        for name, one in OPTIONS.items():
            value = getattr(self, name)
            if value is not None or getattr(RunOptions, name) is not None:
                object.__setattr__(self, name, one.check(value, name))
        arguments.optional(self.began, arguments.number, "began")

    def __repr__(self) -> str:
        values = ((one, getattr(self, one.name)) for one in fields(self))
        return f"RunOptions({', '.join(f'{one.name}={value!r}' for one, value in values if value != one.default)})"

    @classmethod
    def of(cls, defaults: Mapping[str, Any], **given: Any) -> Self:
        """The options that are given, not None, else those of a config's ``[run]`` table, else the program's."""
        chosen = {**defaults, **{name: value for name, value in given.items() if value is not None}}
        for name in ("store", "quiet"):  # of the command
            chosen.pop(name, None)
        return cls(**chosen)

    def resume_command(self, store: Address) -> str:
        """The command that resumes the run with the same options."""
        return _command("resume", argument(store), *self._given(NOT_OF_RESUME))

    def start_command(self, store: Address) -> str | None:
        """The command that starts the run over; None where no command started it."""
        if not self.started_by:
            return None
        name, subject, *more = self.started_by
        given = [*self._given(), *(option_of(one) for one in OPTIONS if getattr(self, one) is True)]
        return _command(name, argument(subject), *more, "--store", argument(store), *given)

    def next_command(self, store: Address) -> str:
        """The command that resumes the run, or starts it over where nothing is at the path of the store."""
        missing = isinstance(store, Path) and not os.path.lexists(store)
        return (self.start_command(store) if missing else None) or self.resume_command(store)

    def _given(self, left_out: Collection[str] = ()) -> list[str]:
        """The options that were given, as words of a command; without the store, and those ``left_out``."""
        words = []
        for one, declared in OPTIONS.items():
            if one in left_out:
                continue
            value = getattr(self, one)
            if one == "scheduler" and (value == "threads" or self.scheduler_file is not None):
                continue
            if value is not None and declared.metavar is not None:
                words += [option_of(one), _number(value) if isinstance(value, float) else str(value)]
        return words


OPTIONS: Mapping[str, Option] = {one.name: one.metadata[OPTION] for one in fields(RunOptions) if OPTION in one.metadata}
"""The options that people write, by the names of the fields."""


def option_of(name: str) -> str:
    """The option of commands for a field."""
    return f"--{name.replace('_', '-')}"


def _command(*words: str) -> str:
    """A command of this program, quoted for a shell."""
    return shlex.join(["antipodes", *words])


def _number(value: float) -> str:
    """A number without a needless fraction."""
    return str(int(value)) if float(value).is_integer() else repr(value)


def tasks_at_once(workers: int | None) -> int:
    """The number of parallel tasks, by default that of the processors; InputError unless it is 1 to 4096."""
    return available_workers() if workers is None else _workers(workers)


def default_store(name: str, counts_only: bool = False) -> Path:
    """The path of the store of a puzzle or board of this name."""
    return OUTPUTS / f"{name}{'.counts' if counts_only else ''}.zarr"


def chosen_store(given: Address | None, run: Mapping[str, Any], name: str, counts_only: bool = False) -> Address:
    """The store of a run: the given one, else that of the config's ``[run]`` table, else the default one."""
    address = given if given is not None else run.get("store")
    if address is None:
        return default_store(name, counts_only)
    return address_from(address) if isinstance(address, str) else address
