"""The options of a run, its store, and the commands that start or resume it with the same options."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, Self, TypedDict

from antipodes.system.addresses import Address, address_from, argument, check_scheduler_name, quoted_word
from antipodes.system.machine import available_workers
from antipodes.system.parameters import Parameter
from antipodes_tasks.base import arguments, option_names
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.base.values import FLAG, NUMBER, TEXT, ValueKind, at_least, integer, one_of

OUTPUTS = Path("outputs")
"""Folder of the stores whose address is not given."""
SIZE = ValueKind("a number of bytes or a string such as 2GiB", lambda value: type(value) in (int, str))
SIZE_IN_WORDS = re.compile(r"\s*\+?[0-9]*\.?[0-9]+(e\+?[0-9]+)?\s*[a-z]*\s*", re.ASCII | re.IGNORECASE)
"""Pattern of a size with a unit. dask would read a string without a number as one byte."""
MAX_WORKERS = 4096
"""Maximum number of parallel tasks, more than any machine runs at once."""
MIN_TIMEOUT, MAX_TIMEOUT = 2, 86_400
"""Minimum and maximum number of seconds to wait for an answer from a scheduler, which is asked every second."""
SYMMETRY = ("auto", "on", "off")
"""Choices for the reduction of a new table by symmetries."""
DEFINING = ("only_moves", "omit", "where", "method", "raw", "puzzle")
"""Options of commands that define what is computed or reported, in addition to `RunOptions`."""
SMALL, LARGE = "small", "large"
"""The sets of pattern tables that ``solve --build`` builds: by default the small set, or both."""
TABLES, STORES = ("run", "plan"), ("run", "resume", "tile")
"""Commands whose options define a table, and commands that compute a store of any kind."""
CONTENTS, RESOURCES, CLUSTER = "contents", "resources", "cluster"
"""Groups of options in the help of commands: what is stored, what the run may use, and where it runs."""
OPTION = "option"
"""Key of the `Option` in a field's metadata."""


@dataclass(frozen=True, kw_only=True)
class Option(Parameter):
    """A run option as the user writes it: a key of ``[run]``, an option of a command, or an argument in Python.

    Its ``kind`` defines the allowed values of the key in ``[run]``.
    """

    check: Callable[[Any, str], Any]
    """Converts a value to the option's Python type, given the option's name for messages; raises InputError."""
    group: str
    """One of CONTENTS, RESOURCES and CLUSTER."""
    commands: Sequence[str]
    """Commands that take the option for their runs; ``plan`` takes it to estimate a run, ``solve`` for ``--build``."""


def option(
    default: Any,
    check: Callable[[Any, str], Any],
    kind: ValueKind,
    metavar: str | None,
    help: str,
    group: str,
    commands: Sequence[str],
) -> Any:
    """Return the dataclass field of a run option, from its default and the values of an `Option`."""
    declared = Option(kind, help, metavar, check=check, group=group, commands=commands)
    return field(default=default, metadata={OPTION: declared})


def _workers(value: object, name: str = "workers") -> int:
    return arguments.integer(value, name, 1, MAX_WORKERS)


def _scheduler(value: object, name: str) -> str:
    checked = arguments.text(value, name)
    check_scheduler_name(checked)
    return checked


def _symmetry(value: object, name: str) -> str:
    return str(one_of(*SYMMETRY).check(arguments.text(value, name), name, InputError))


def _directory(value: object, name: str) -> str:
    return str(arguments.address(value, f"{name}, a directory,"))


def _timeout(value: object, name: str) -> int:
    return arguments.integer(value, name, MIN_TIMEOUT, MAX_TIMEOUT)


def _seconds(value: object, name: str) -> float:
    return arguments.number(value, name, 0)


def memory_size(text: str | int, name: str = "memory limit", minimum: int = 1) -> int:
    """Return a size in bytes, given as a number or as a string such as ``800MB`` or ``1.5 GiB``.

    Raises InputError if it is not a size or is smaller than ``minimum``.
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
    if not minimum <= size <= arguments.MAX_INT64:
        raise InputError(f"{what}: expected {minimum} to {arguments.MAX_INT64} bytes, found {quote(text)}")
    return size


@dataclass(frozen=True, repr=False)
class RunOptions:
    """Options shared by all kinds of runs. Raises InputError, naming the option, if a value is out of range."""

    counts_only: bool = option(
        False,
        arguments.flag,
        FLAG,
        None,
        "Keep only the layers' sizes and the first antipodes; store no table.",
        CONTENTS,
        TABLES,
    )
    """Whether a search keeps only the sizes of the layers and the first antipodes, and stores no table."""
    unique: bool = option(
        False,
        arguments.flag,
        FLAG,
        None,
        "With --counts-only, also count the positions of each layer up to symmetry.",
        CONTENTS,
        TABLES,
    )
    """Whether a search without a table also counts the positions at each depth up to symmetry."""
    symmetry: str | None = option(
        None,
        _symmetry,
        one_of(*SYMMETRY),
        "auto|on|off",
        "Store one position per symmetry class; auto: if that at least halves the time (of a very large table, the "
        "memory). [default: auto]",
        CONTENTS,
        TABLES,
    )
    """Whether a new store is reduced by symmetries: ``on``, ``off`` or ``auto``; None means ``auto``."""
    overwrite: bool = option(
        False, arguments.flag, FLAG, None, "Replace an existing table.", RESOURCES, ("run", "tile")
    )
    """Whether to replace an existing store."""
    memory_limit: int | None = option(
        None,
        memory_size,
        SIZE,
        "SIZE",
        "Memory limit, such as 2GiB. [default: the free memory]",
        RESOURCES,
        ("run", "resume", "plan", "solve"),
    )
    """Memory limit in bytes; None means all free memory."""
    spill: str | None = option(
        None,
        _directory,
        TEXT,
        "DIRECTORY",
        "Where to keep layers on disk if their bits do not fit into memory. [default: in the store]",
        RESOURCES,
        ("run", "resume", "plan"),
    )
    """Directory for the layers of a search whose bits do not fit into memory; None means the store itself."""
    workers: int | None = option(
        None,
        _workers,
        at_least(1),
        "N",
        "Number of parallel tasks. [default: all processors]",
        RESOURCES,
        (*STORES, "plan"),
    )
    """Number of parallel tasks, 1 to 4096; None means the number of processors."""
    checkpoint_every: float | None = option(
        None,
        _seconds,
        at_least(0, NUMBER),
        "SECONDS",
        "Seconds between commits; 0: after each layer. [default: 120; 30 on a cluster]",
        RESOURCES,
        STORES,
    )
    """Minimum number of seconds between commits; 0 commits as often as possible; None means the run's default."""
    scheduler: str = option(
        "threads",
        _scheduler,
        TEXT,
        "NAME",
        "threads, local (processes), or the address of a dask scheduler. [default: threads]",
        CLUSTER,
        STORES,
    )
    """``threads``, ``local`` or the address of a dask scheduler."""
    scheduler_file: str | None = option(
        None,
        arguments.address,
        TEXT,
        "FILE",
        "File with the address of a dask scheduler, instead of --scheduler.",
        CLUSTER,
        STORES,
    )
    """Path of a file with the address of a dask scheduler; takes precedence over ``scheduler``."""
    scheduler_timeout: int | None = option(
        None,
        _timeout,
        integer(MIN_TIMEOUT, MAX_TIMEOUT),
        "SECONDS",
        "Seconds to wait for the dask scheduler to answer. [default: 60]",
        CLUSTER,
        STORES,
    )
    """Seconds to wait for an answer from a dask scheduler, and for a lost one to return, 2 to 86400; None means 60."""
    performance_report: str | None = option(
        None,
        arguments.address,
        TEXT,
        "FILE",
        "Write dask's performance report (HTML) to FILE.",
        CLUSTER,
        STORES,
    )
    """Path of the HTML file for dask's performance report; only on a cluster."""
    started_by: tuple[str, ...] = ()
    """The command that started the run (from `command_words`), for messages; empty if a call in Python started it."""
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
    def of(cls, defaults: Mapping[str, Any], given: Mapping[str, Any], **more: Any) -> Self:
        """Return the options: the given values that are not None, then the config's ``[run]``, then the defaults.

        Raises InputError, naming the option as the user wrote it, if a given value is out of range.
        """
        run = {name: value for name, value in defaults.items() if name in OPTIONS}  # the others are the command's
        checked = {
            name: OPTIONS[name].check(value, option_names.option(name))
            for name, value in given.items()
            if value is not None
        }
        chosen = {**run, **checked}
        if not chosen.get("counts_only") and "unique" not in checked:
            chosen.pop("unique", None)  # a file may ask for it in case that a run only counts
        return cls(**chosen, **more)

    def resume_command(self, store: Address) -> str:
        """Return the command that resumes the run with the same options."""
        more = self.started_by[2:] if self.started_by[:1] == ("resume",) else ()
        return _command("resume", argument(store), *more, *self._words("resume"))

    def start_command(self, store: Address) -> str | None:
        """Return the command that starts the run or starts it over, or None if no such command started it."""
        if self.started_by[:1] in ((), ("resume",)):
            return None
        name, subject, *more = self.started_by
        place = [] if name == "solve" else ["--store", argument(store)]
        return _command(name, argument(subject), *more, *place, *self._words(name))

    def start_over(self, store: Address, verb: str = "start over") -> str:
        """Return how to start the run over and replace the store, for messages."""
        if not self.started_by:
            return f"{verb} by the same call with overwrite=True"
        command = replace(self, overwrite=True).start_command(store)
        return (
            f"{verb} by the command that created it, with --overwrite" if command is None else f"{verb} with: {command}"
        )

    def how_to_resume(self, store: Address) -> str:
        """Return how to resume the run, for messages: a command or a call in Python."""
        if not self.started_by:
            return f"the same call{' without overwrite' if self.overwrite else ''} resumes"
        return f"resume with: {self.resume_command(store)}"

    def try_again(self, store: Address) -> str:
        """Return how to repeat the command or call, for messages, if it is unknown whether the store exists."""
        if not self.started_by:
            return "the same call tries again"
        return f"try again with: {self.start_command(store) or self.resume_command(store)}"

    def next_command(self, store: Address, saved: bool = False) -> str:
        """Return the command that resumes the run, or that starts it if nothing is ``saved`` and no store exists."""
        continues = isinstance(store, Path) and os.path.lexists(store) and not self.overwrite
        return (None if saved or continues else self.start_command(store)) or self.resume_command(store)

    def _words(self, command: str) -> list[str]:
        """Return the options that were given and that ``command`` takes, as words of a command line."""
        given = {name: getattr(self, name) for name, one in OPTIONS.items() if command in one.commands}
        if given.get("scheduler") == "threads" or given.get("scheduler_file") is not None:
            given.pop("scheduler", None)
        return words_of(given)


OPTIONS: Mapping[str, Option] = {one.name: one.metadata[OPTION] for one in fields(RunOptions) if OPTION in one.metadata}
"""All options that users can write, by field name."""


class TilingArguments(TypedDict, total=False):
    """Keyword arguments of `antipodes.tile` that are run options; None means not given."""

    scheduler_timeout: int | None
    checkpoint_every: float | None
    overwrite: bool | None


class TableArguments(TypedDict, total=False):
    """Keyword arguments of `antipodes.run` that are run options; None means not given."""

    scheduler_timeout: int | None
    checkpoint_every: float | None
    memory_limit: int | str | None
    spill: str | os.PathLike[str] | None
    counts_only: bool | None
    unique: bool | None
    symmetry: Literal["auto", "on", "off"] | None
    overwrite: bool | None


def words_of(given: Mapping[str, object]) -> list[str]:
    """Return options and their values as words of a command line, without the options that were not given."""
    words = []
    for name, value in given.items():
        if value is True:
            words.append(option_names.option_of(name))
        elif value is not None and value is not False:
            for one in value if isinstance(value, list | tuple) else [value]:
                words += [option_names.option_of(name), _number(one) if isinstance(one, float) else str(one)]
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
