"""All errors that this project raises on purpose. The command line prints one line and sets an exit status."""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from antipodes_tasks.base.quoting import printable


class AntipodesError(Exception):
    """The base class of all errors of this project. The message is one line that is safe to print on a terminal."""

    def __str__(self) -> str:
        return printable(Exception.__str__(self))  # KeyError's own __str__ would quote the message


class InputError(AntipodesError, ValueError):
    """Invalid input by the user. The message describes the input and the problem."""


def missing_package(what: str, package: str, extra: str) -> InputError:
    """Return the error for a missing package that ``what`` needs; the ``extra`` of this project installs it."""
    where = "in a checkout of antipodes (or replace the dot by the path of its wheel)"
    return InputError(f"{what} needs {package}: pip install '.[{extra}]' {where}")


def imported(package: str, what: str, extra: str) -> ModuleType:
    """Return a package that ``what`` needs; raise the error of `missing_package` if it is not installed."""
    try:
        return import_module(package)
    except ImportError as error:
        raise missing_package(what, package, extra) from error


class ArgumentTypeError(InputError, TypeError):
    """An argument whose type the function does not accept."""


class ClosedError(AntipodesError, ValueError):
    """An access to a table or to tilings that were closed."""


class NumberError(InputError, IndexError):
    """An index beyond the end of a sequence."""


class ConfigError(InputError):
    """A config that does not describe a valid puzzle, board or run."""


class SizeLimitError(ConfigError):
    """A puzzle with too many positions for 64-bit indices. It cannot have a table, but `solve` works."""


class SourceError(AntipodesError, ImportError):
    """The Python file that defines a puzzle is missing, has changed, or fails."""


class PositionError(InputError):
    """A string or an array that is not a position of the puzzle."""


class UnreachableError(AntipodesError, KeyError):
    """A well-formed position that no sequence of moves connects with the start."""


class ResourceLimitError(MemoryError, AntipodesError):  # in this order it can be pickled with its traceback
    """The computation would exceed its memory limit; raised before it begins."""


class DiskLimitError(AntipodesError, OSError):
    """The computation would not fit on the disk; raised before it begins."""


class DepthLimitError(AntipodesError, OverflowError):
    """Positions have depths that are too large for a table."""


class InterruptedRunError(AntipodesError, InterruptedError):
    """The run ended before its work was done. The same command resumes from the last commit."""


class WorkerFailedError(AntipodesError, RuntimeError):
    """A worker of a cluster lacks something that a task needs; the message names it."""


class StoreError(AntipodesError, OSError):
    """A store cannot be read or written."""


class NotAStoreError(StoreError):
    """There is no store at the path, or the store cannot be read by this program."""


class StoreMismatchError(StoreError):
    """The store belongs to another puzzle or board."""


class StoreDamagedError(StoreError):
    """The store is corrupt: some of its bytes are missing or differ from what was written."""


class StoreChangedError(StoreError):
    """A run has changed the store since it was opened."""


class StoreLockedError(StoreError):
    """Another run holds the lock of the store."""


class StoreSilentError(InterruptedRunError, StoreError):
    """The storage did not answer when the run or the program was asked to stop."""


class StoreUnreachableError(StoreError):
    """The storage failed, or did not answer, for as long as requests are retried."""


class SchedulerError(AntipodesError, RuntimeError):
    """The scheduler cannot be reached, or has lost results that the run needs."""


class SchedulerLostError(InterruptedRunError, SchedulerError):
    """The scheduler is lost; the run can resume with another one."""


class SchedulerSilentError(InterruptedRunError, SchedulerError):
    """The scheduler no longer answers, although the connection exists; another request would also time out."""


class WorkersLostError(SchedulerError):
    """Workers were lost together with results. Everything that was not committed has to be computed again."""


class WorkersRetiredError(WorkersLostError):
    """Workers retired gracefully, but held results that no other worker has."""


class WorkersStuckError(WorkersLostError):
    """Workers answer but make no progress or cannot send their results, so they count as lost."""


class WorkerUnreachableError(SchedulerError):
    """A worker cannot connect to another worker, whose address is the argument."""


class UnfinishedError(AntipodesError, LookupError):
    """The answer is not yet known in an unfinished table."""


class PatternError(InputError):
    """A string that is not a valid pattern of the puzzle."""


class PermutationError(InputError):
    """An array that is not a permutation, or a permutation of too many elements for 64-bit ranks."""


class RankError(InputError, IndexError):
    """A number that is not the rank of a permutation, or an invalid factorial digit."""


class OutputError(AntipodesError, OSError):
    """Standard output cannot be written."""


class BrokenOutputError(OutputError):
    """Standard output is a broken pipe: the program that reads it, for example `head`, has ended."""


class FieldError(Exception):
    """A field has an invalid value; the message names the field."""


class InconsistentDistancesError(LookupError):
    """Inconsistent distances: no neighbour of the position is one move nearer."""

    def __init__(self, position: Sequence[int]) -> None:
        super().__init__("the distances are inconsistent: no move leads to a smaller distance")
        self.position = position
        """``(places,)``: the labels of the position."""
