"""Every error this project raises on purpose; the command line turns them into one line and an exit status."""

from collections.abc import Sequence

from antipodes_tasks.quoting import printable


class AntipodesError(Exception):
    """What all errors of this project share: a message of one line, which may be shown on any terminal."""

    def __str__(self) -> str:
        return printable(Exception.__str__(self))  # not of the builtin that it also is: a KeyError would quote it


class InputError(AntipodesError, ValueError):
    """The user's input does not fit: the message says what was expected and what was found."""


def missing_package(what: str, package: str, extra: str) -> InputError:
    """The error where an optional package is not installed: ``what`` needs it, and an extra of this project has it."""
    where = "in a checkout of antipodes, or with the path of its wheel for the dot"
    return InputError(f"{what} needs {package}: pip install '.[{extra}]' {where}")


class ArgumentTypeError(InputError, TypeError):
    """An argument of another type than the function takes."""


class ClosedError(AntipodesError, ValueError):
    """A question to a table, or to tilings, that were closed."""


class NumberError(InputError, IndexError):
    """A number in a sequence that has fewer elements."""


class ConfigError(InputError):
    """A config that describes no puzzle, board or run."""


class SizeLimitError(ConfigError):
    """A puzzle with more positions than 64 bits can number: it has no table, but `solve` takes it."""


class SourceError(AntipodesError, ImportError):
    """The Python file with the definition of a puzzle is missing, has changed, or fails."""


class PositionError(InputError):
    """A text or an array that is no position of the puzzle at hand."""


class UnreachableError(AntipodesError, KeyError):
    """A well-formed position that no sequence of moves connects with the start."""


class ResourceLimitError(MemoryError, AntipodesError):  # in this order it can be pickled with its traceback
    """The computation would not fit into the memory it may use; raised before it begins."""


class DiskLimitError(AntipodesError, OSError):
    """The computation would not fit on the disk; raised before it begins."""


class DepthLimitError(AntipodesError, OverflowError):
    """Positions lie deeper than a table can say."""


class InterruptedRunError(AntipodesError, InterruptedError):
    """A run that ended before its work was done; the same command resumes from the last commit."""


class WorkerFailedError(AntipodesError, RuntimeError):
    """A worker of a cluster lacks what a task needs; the message names it."""


class StoreError(AntipodesError, OSError):
    """A store that cannot be read or written."""


class NotAStoreError(StoreError):
    """A path at which there is no store, or one that this program cannot read."""


class StoreMismatchError(StoreError):
    """A store that belongs to another puzzle or board."""


class StoreDamagedError(StoreError):
    """Bytes of a store are missing or are not what was written."""


class StoreChangedError(StoreError):
    """A run has changed the store since it was opened."""


class StoreLockedError(StoreError):
    """Another run holds the store."""


class StoreSilentError(InterruptedRunError, StoreError):
    """The storage did not answer while the run, or the program, was told to stop."""


class SchedulerError(AntipodesError, RuntimeError):
    """The scheduler cannot be reached, or lost what the run cannot do without."""


class SchedulerLostError(InterruptedRunError, SchedulerError):
    """The scheduler is lost; the run can resume on another one."""


class SchedulerSilentError(InterruptedRunError, SchedulerError):
    """The scheduler no longer answers, though the connection is there: to ask it again would take as long."""


class WorkersLostError(SchedulerError):
    """Workers are gone, and results with them: what was not committed has to be computed again."""


class WorkersRetiredError(WorkersLostError):
    """Workers left gracefully, but with results that no other worker has."""


class WorkersStuckError(WorkersLostError):
    """Workers answer, but run none of their tasks, or cannot send their results: they count as lost."""


class UnfinishedError(AntipodesError, LookupError):
    """The answer lies beyond what an unfinished table knows."""


class PatternError(InputError):
    """A text that is no pattern of the puzzle at hand."""


class PermutationError(InputError):
    """An array that is no permutation, or that has too many elements to be numbered in 64 bits."""


class RankError(InputError, IndexError):
    """A number, or a factorial digit, that no permutation has."""


class OutputError(AntipodesError, OSError):
    """Standard output cannot be written."""


class BrokenOutputError(OutputError):
    """Standard output is a broken pipe: its reader has ended, as `head` does."""


class FieldError(Exception):
    """A field holds what it may not; the message names the field."""


class InconsistentDistancesError(LookupError):
    """Distances that cannot be right: no move leads from the position to one that is one nearer."""

    def __init__(self, position: Sequence[int]) -> None:
        super().__init__("no move leads nearer")
        self.position = position
        """``(places,)``: the labels of the position."""
