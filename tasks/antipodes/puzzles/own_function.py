"""Functions that a user wrote: an error in one is a line that says where, and other processes get them by value."""

from collections.abc import Callable
from pathlib import Path
from traceback import walk_tb
from typing import Any

from antipodes.errors import AntipodesError, InputError
from antipodes.quoting import shorten

LONGEST = 200
"""Characters of a message of the user's code."""


class OwnFunction:
    """A function of a user's, called as it is."""

    def __init__(self, function: Callable[..., Any], role: str) -> None:
        self.function = function
        self.role = role
        """What the function is for, which messages begin with."""

    def __call__(self, *arguments: Any) -> Any:
        """The result of the function.

        Raises
        ------
        InputError
            The function raises an exception; the message names its type, the file and the line.
        """
        try:
            return self.function(*arguments)
        except (AntipodesError, MemoryError):
            raise
        except Exception as error:
            code = getattr(self.function, "__code__", None)
            file = getattr(code, "co_filename", None)
            raise InputError(f"{self.role}: {described(error, file)}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        """The function by value: a worker on another machine has no file of the user's."""
        import cloudpickle

        return _restored, (cloudpickle.dumps(self.function), self.role)


def described(error: BaseException, file: str | None = None) -> str:
    """The type and the message of an error, and its last line in the ``file``, else in any file."""
    lines = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        lines.append((error.filename, error.lineno or 1))
    here = [line for line in lines if line[0] == file] or lines
    place = f" ({Path(here[-1][0]).name}, line {here[-1][1]})" if here else ""
    message = shorten(error.msg if isinstance(error, SyntaxError) else str(error), LONGEST)
    return f"{type(error).__name__}{place}" + (f": {message}" if message else "")


def _restored(pickled: bytes, role: str) -> OwnFunction:
    import pickle

    return OwnFunction(pickle.loads(pickled), role)
