"""The options of a run, the store that it goes to, and the commands that repeat it with them."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from antipodes.executors.opening import check_scheduler_name
from antipodes.machine import available_workers
from antipodes.storage.address import Address, address_from, argument, quoted_word
from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.option_names import in_words
from antipodes_tasks.quoting import quote
from antipodes_tasks.values import FLAG, INTEGER, NUMBER, TEXT, Kind, one_of

OUTPUTS = Path("outputs")
"""The folder of stores whose address is not given."""
SIZE = Kind("a number of bytes or a text such as 2GiB", lambda value: type(value) in (int, str))
SIZE_IN_WORDS = re.compile(r"\s*\+?[0-9]*\.?[0-9]+(e\+?[0-9]+)?\s*[a-z]*\s*", re.ASCII | re.IGNORECASE)
"""What a size looks like; dask would take a text without a number for one byte."""
MAX_WORKERS = 4096
"""More threads or processes than any machine runs at once."""
SYMMETRY = ("auto", "on", "off")
"""Whether a new table is reduced by symmetries."""
DEFINING = ("only_moves", "omit", "where", "method", "raw", "build", "puzzle")
"""Options of commands that decide what is computed or reported, beside those of `RunOptions`."""
OF_TABLES = ("memory_limit", "counts_only", "symmetry")
"""Options that a search for tilings does not have."""
NOT_TAKEN = {"resume": ("symmetry", "counts_only", "overwrite"), "tile": OF_TABLES}
"""Options of `RunOptions` that a command does not take: `resume` finds them in the store."""
TAKEN_BY_SOLVE = ("memory_limit",)
"""Options of `RunOptions` that ``solve --build`` takes."""
IN_PYTHON = ("python",)
"""Stands for the command of a run that a call in Python has started."""
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
    return arguments.integer(value, name, 1, MAX_WORKERS)


def _scheduler(value: object, name: str) -> str:
    checked = arguments.text(value, name)
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
        size = int(parse_bytes(text)) if SIZE_IN_WORDS.fullmatch(text) else None
    except (ValueError, AttributeError, OverflowError):
        size = None
    if size is None:
        raise InputError(f"{what}: expected a size such as 800MB or 2GiB, found {quote(text)}")
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
    """The command that started the run, made by `started`, for messages; IN_PYTHON: a call; empty: not known."""
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
        more = self.started_by[2:] if self.started_by[:1] == ("resume",) else ()
        return _command("resume", argument(store), *more, *self._words("resume"))

    def start_command(self, store: Address) -> str | None:
        """The command that starts the run, or starts it over; None if no such command started it."""
        if not self.started_by or self.started_by[0] in ("resume", *IN_PYTHON):
            return None
        name, subject, *more = self.started_by
        place = [] if name == "solve" else ["--store", argument(store)]
        return _command(name, argument(subject), *more, *place, *self._words(name))

    def start_over(self, store: Address, verb: str = "start over") -> str:
        """How to start the run over in place of what is stored, for messages."""
        if self.started_by == IN_PYTHON:
            return f"{verb} by the same call with overwrite=True"
        if self.started_by[:1] == ("resume",):
            return f"{verb} by the command that made it, with --overwrite"
        command = replace(self, overwrite=True).start_command(store)
        return (
            f"{verb} with {in_words('overwrite=True', '--overwrite')}" if command is None else f"{verb} with: {command}"
        )

    def how_to_resume(self, store: Address) -> str:
        """How to resume the run, for messages: the command, or the call."""
        if self.started_by == IN_PYTHON:
            return f"the same call{' without overwrite' if self.overwrite else ''} resumes"
        return f"resume with: {self.resume_command(store)}"

    def next_command(self, store: Address, saved: bool = False) -> str:
        """The command that resumes the run, if it has ``saved`` anything or continues a store; else that starts it."""
        continues = isinstance(store, Path) and os.path.lexists(store) and not self.overwrite
        return (None if saved or continues else self.start_command(store)) or self.resume_command(store)

    def _words(self, command: str) -> list[str]:
        """The options that were given, as words of a command, if it takes them."""
        given = {one: getattr(self, one) for one in OPTIONS if one not in NOT_TAKEN.get(command, ())}
        if command == "solve":
            given = {one: given[one] for one in TAKEN_BY_SOLVE}
        if given.get("scheduler") == "threads" or given.get("scheduler_file") is not None:
            given.pop("scheduler", None)
        return words_of(given)


OPTIONS: Mapping[str, Option] = {one.name: one.metadata[OPTION] for one in fields(RunOptions) if OPTION in one.metadata}
"""The options that people write, by the names of the fields."""


def option_of(name: str) -> str:
    """The option of commands for a field."""
    return f"--{name.replace('_', '-')}"


def words_of(given: Mapping[str, object]) -> list[str]:
    """Options and their values as words of a command; those that were not given have no words."""
    words = []
    for name, value in given.items():
        if value is True:
            words.append(option_of(name))
        elif value is not None and value is not False:
            for one in value if isinstance(value, list | tuple) else [value]:
                words += [option_of(name), _number(one) if isinstance(one, float) else str(one)]
    return words


def started(command: str, subject: str, **given: object) -> tuple[str, ...]:
    """The command that starts a run, for `RunOptions.started_by`: its name, its subject, and what defines the run.

    The subject is a puzzle, a board, or a store to resume; ``given`` are options that are named in DEFINING.
    """
    return command, subject, *words_of({name: given[name] for name in DEFINING if name in given})


def _command(*words: str) -> str:
    """A command of this program, quoted for a shell."""
    return " ".join(map(quoted_word, ["antipodes", *words]))


def _number(value: float) -> str:
    """A number without a needless fraction."""
    return str(int(value)) if float(value).is_integer() else repr(value)


def tasks_at_once(workers: int | None, name: str = "workers") -> int:
    """The number of parallel tasks, by default that of the processors; InputError unless it is 1 to 4096."""
    return available_workers() if workers is None else _workers(workers, name)


def default_store(name: str, counts_only: bool = False) -> Path:
    """The path of the store of a puzzle or board of this name."""
    return OUTPUTS / f"{name}{'.counts' if counts_only else ''}.zarr"


def chosen_store(given: Address | None, run: Mapping[str, Any], name: str, counts_only: bool = False) -> Address:
    """The store of a run: the given one, else that of the config's ``[run]`` table, else the default one."""
    address = given if given is not None else run.get("store")
    if address is None:
        return default_store(name, counts_only)
    return address_from(address) if isinstance(address, str) else address
