"""The options of a run, its store, and the commands that start or resume it with the same options."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from antipodes.system.addresses import Address, address_from, argument, check_scheduler_name, quoted_word
from antipodes.system.machine import available_workers
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.option_names import in_words
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.base.values import FLAG, INTEGER, NUMBER, TEXT, Kind, one_of

OUTPUTS = Path("outputs")
"""Folder of the stores whose address is not given."""
SIZE = Kind("a number of bytes or a string such as 2GiB", lambda value: type(value) in (int, str))
SIZE_IN_WORDS = re.compile(r"\s*\+?[0-9]*\.?[0-9]+(e\+?[0-9]+)?\s*[a-z]*\s*", re.ASCII | re.IGNORECASE)
"""Pattern of a size with a unit. dask would read a string without a number as one byte."""
MAX_WORKERS = 4096
"""Maximum number of parallel tasks, more than any machine runs at once."""
SYMMETRY = ("auto", "on", "off")
"""Choices for the reduction of a new table by symmetries."""
DEFINING = ("only_moves", "omit", "where", "method", "raw", "build", "puzzle")
"""Options of commands that define what is computed or reported, in addition to `RunOptions`."""
OF_TABLES = ("memory_limit", "counts_only", "symmetry")
"""Options that a search for tilings does not have."""
NOT_TAKEN = {"resume": ("symmetry", "counts_only", "overwrite"), "tile": OF_TABLES}
"""`RunOptions` that a command does not take; ``resume`` reads them from the store."""
TAKEN_BY_SOLVE = ("memory_limit",)
"""`RunOptions` that ``solve --build`` takes."""
STARTED_IN_PYTHON = ("python",)
"""Value of `RunOptions.started_by` for a run that was started by a call in Python."""
OPTION = "option"
"""Key of the `Option` in a field's metadata."""


@dataclass(frozen=True)
class Option:
    """A run option as the user writes it: a key of ``[run]``, an option of a command, or an argument in Python."""

    check: Callable[[Any, str], Any]
    """Converts a value to the option's Python type, given the option's name for messages; raises InputError."""
    kind: Kind
    """Allowed values of the key in ``[run]``."""
    metavar: str | None
    """Placeholder of the value in help texts, or None for a flag."""
    help: str


def option(default: Any, check: Callable[[Any, str], Any], kind: Kind, metavar: str | None, help: str) -> Any:
    """Return the dataclass field of a run option."""
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
    """Return a size in bytes, given as a number or as a string such as ``800MB`` or ``1.5 GiB``.

    Raises InputError if it is not a size or is smaller than ``least``.
    """
    if not isinstance(text, str):
        return arguments.integer(text, "a memory limit in bytes or as a string", 1, arguments.MAX_INT64)
    from dask.utils import parse_bytes

    what = name if name.isupper() else name.replace("_", " ")  # an environment variable keeps its name
    try:
        size = int(parse_bytes(text)) if SIZE_IN_WORDS.fullmatch(text) else None
    except (ValueError, AttributeError, OverflowError):
        size = None
    if size is None:
        raise InputError(f"{what}: expected a size such as 800MB or 2GiB, found {quote(text)}")
    if not least <= size <= arguments.MAX_INT64:
        raise InputError(f"{what}: expected {least} to {arguments.MAX_INT64} bytes, found {quote(text)}")
    return size


@dataclass(frozen=True, repr=False)
class RunOptions:
    """Options shared by all kinds of runs. Raises InputError, naming the option, if a value is out of range."""

    workers: int | None = option(None, _workers, INTEGER, "N", "Number of parallel tasks. [default: all processors]")
    """Number of parallel tasks, 1 to 4096; None means the number of processors."""
    scheduler: str = option(
        "threads",
        _scheduler,
        TEXT,
        "NAME",
        "threads, local (processes), or the address of a dask scheduler. [default: threads]",
    )
    """``threads``, ``local`` or the address of a dask scheduler."""
    scheduler_file: str | None = option(
        None, arguments.address, TEXT, "FILE", "File with the address of a dask scheduler, instead of --scheduler."
    )
    """Path of a file with the address of a dask scheduler; takes precedence over ``scheduler``."""
    performance_report: str | None = option(
        None, arguments.address, TEXT, "FILE", "Write dask's performance report (HTML) to FILE."
    )
    """Path of the HTML file for dask's performance report; only on a cluster."""
    checkpoint_every: float | None = option(
        None,
        _seconds,
        NUMBER,
        "SECONDS",
        "Seconds between commits; 0: after each layer. [default: 120; 30 on a cluster]",
    )
    """Minimum number of seconds between commits; 0 commits as often as possible; None means the run's default."""
    memory_limit: int | None = option(
        None, memory_size, SIZE, "SIZE", "Memory limit, such as 2GiB. [default: the free memory]"
    )
    """Memory limit in bytes; None means all free memory."""
    overwrite: bool = option(False, arguments.flag, FLAG, None, "Replace an existing table.")
    """Whether to replace an existing store."""
    counts_only: bool = option(
        False, arguments.flag, FLAG, None, "Keep only the layers' sizes and the first antipodes; store no table."
    )
    """Whether a search keeps only the sizes of the layers and the first antipodes, and stores no table."""
    symmetry: str | None = option(
        None,
        _symmetry,
        one_of(*SYMMETRY),
        "auto|on|off",
        "Store one position per symmetry class; auto: if that at least halves the time (of a very large table, the "
        "memory). [default: auto]",
    )
    """Whether a new store is reduced by symmetries: ``on``, ``off`` or ``auto``; None means ``auto``."""
    started_by: tuple[str, ...] = ()
    """The command that started the run (from `command_words`), for messages; empty if it is unknown.

    STARTED_IN_PYTHON if a call in Python started the run.
    """
    began: float | None = field(default=None, compare=False)
    """Time at which the user began to wait (`time.perf_counter`); None means the time at which the run is called."""

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
        """Return the options: the given values that are not None, then the config's ``[run]``, then the defaults."""
        chosen = {**defaults, **{name: value for name, value in given.items() if value is not None}}
        for name in ("store", "quiet"):  # these belong to the command
            chosen.pop(name, None)
        return cls(**chosen)

    def resume_command(self, store: Address) -> str:
        """Return the command that resumes the run with the same options."""
        more = self.started_by[2:] if self.started_by[:1] == ("resume",) else ()
        return _command("resume", argument(store), *more, *self._words("resume"))

    def start_command(self, store: Address) -> str | None:
        """Return the command that starts the run or starts it over, or None if no such command started it."""
        if not self.started_by or self.started_by[0] in ("resume", *STARTED_IN_PYTHON):
            return None
        name, subject, *more = self.started_by
        place = [] if name == "solve" else ["--store", argument(store)]
        return _command(name, argument(subject), *more, *place, *self._words(name))

    def start_over(self, store: Address, verb: str = "start over") -> str:
        """Return how to start the run over and replace the store, for messages."""
        if self.started_by == STARTED_IN_PYTHON:
            return f"{verb} by the same call with overwrite=True"
        if self.started_by[:1] == ("resume",):
            return f"{verb} by the command that created it, with --overwrite"
        command = replace(self, overwrite=True).start_command(store)
        return (
            f"{verb} with {in_words('overwrite=True', '--overwrite')}" if command is None else f"{verb} with: {command}"
        )

    def how_to_resume(self, store: Address) -> str:
        """Return how to resume the run, for messages: a command or a call in Python."""
        if self.started_by == STARTED_IN_PYTHON:
            return f"the same call{' without overwrite' if self.overwrite else ''} resumes"
        return f"resume with: {self.resume_command(store)}"

    def next_command(self, store: Address, saved: bool = False) -> str:
        """Return the command that resumes the run, or that starts it if nothing is ``saved`` and no store exists."""
        continues = isinstance(store, Path) and os.path.lexists(store) and not self.overwrite
        return (None if saved or continues else self.start_command(store)) or self.resume_command(store)

    def _words(self, command: str) -> list[str]:
        """Return the options that were given and that ``command`` takes, as words of a command line."""
        given = {one: getattr(self, one) for one in OPTIONS if one not in NOT_TAKEN.get(command, ())}
        if command == "solve":
            given = {one: given[one] for one in TAKEN_BY_SOLVE}
        if given.get("scheduler") == "threads" or given.get("scheduler_file") is not None:
            given.pop("scheduler", None)
        return words_of(given)


OPTIONS: Mapping[str, Option] = {one.name: one.metadata[OPTION] for one in fields(RunOptions) if OPTION in one.metadata}
"""All options that users can write, by field name."""


def option_of(name: str) -> str:
    """Return the command-line option of a field."""
    return f"--{name.replace('_', '-')}"


def words_of(given: Mapping[str, object]) -> list[str]:
    """Return options and their values as words of a command line, without the options that were not given."""
    words = []
    for name, value in given.items():
        if value is True:
            words.append(option_of(name))
        elif value is not None and value is not False:
            for one in value if isinstance(value, list | tuple) else [value]:
                words += [option_of(name), _number(one) if isinstance(one, float) else str(one)]
    return words


def command_words(command: str, subject: str, **given: object) -> tuple[str, ...]:
    """Return the command that starts a run, for `RunOptions.started_by`: its name, its subject, and the given options.

    The subject is a puzzle, a board, or a store to resume; of the options, only those in DEFINING are kept.
    """
    return command, subject, *words_of({name: given[name] for name in DEFINING if name in given})


def _command(*words: str) -> str:
    """Return a command of this program, quoted for a shell."""
    return " ".join(map(quoted_word, ["antipodes", *words]))


def _number(value: float) -> str:
    """Return the number as a string, without a fraction if it is an integer."""
    return str(int(value)) if float(value).is_integer() else repr(value)


def tasks_at_once(workers: int | None, name: str = "workers") -> int:
    """Return the number of parallel tasks, by default the number of processors; InputError unless 1 to 4096."""
    return available_workers() if workers is None else _workers(workers, name)


def default_store(name: str, counts_only: bool = False) -> Path:
    """Return the default path of a store for the puzzle or board ``name``."""
    return OUTPUTS / f"{name}{'.counts' if counts_only else ''}.zarr"


def chosen_store(given: Address | None, run: Mapping[str, Any], name: str, counts_only: bool = False) -> Address:
    """Return the address of a run's store: the given one, the one in ``[run]``, or the default."""
    address = given if given is not None else run.get("store")
    if address is None:
        return default_store(name, counts_only)
    return address_from(address) if isinstance(address, str) else address
