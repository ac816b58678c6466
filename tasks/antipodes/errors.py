"""Every error this project raises on purpose; the command line turns them into one line and an exit status."""


class AntipodesError(Exception):
    """What all errors of this project share."""


class InputError(AntipodesError, ValueError):
    """The user's input does not fit: the message says what was expected and what was found."""


class ArgumentTypeError(InputError, TypeError):
    """An argument of another type than the function takes."""


class ClosedError(AntipodesError, ValueError):
    """A question to a table, or to tilings, that were closed."""


class NumberError(InputError, IndexError):
    """A number in a sequence that has fewer elements."""


class ConfigError(InputError):
    """A config that describes no puzzle, board or run."""


class PositionError(InputError):
    """A text or an array that is no position of the puzzle at hand."""


class UnreachableError(AntipodesError, LookupError):
    """A well-formed position that no sequence of moves connects with the start."""


class ResourceLimitError(MemoryError, AntipodesError):  # in this order it can be pickled with its traceback
    """The computation would not fit into the memory it may use; raised before it begins."""


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
