"""User-written code: it only runs inside `guard`, and its functions are sent to other processes by value."""

import os
import pickle
import posix
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from opcode import opmap
from pathlib import Path
from traceback import walk_tb
from types import FrameType
from typing import Any, TextIO

from antipodes_tasks.base.errors import AntipodesError, InputError, SourceError
from antipodes_tasks.base.quoting import shorten

PACKAGES = ("antipodes", "antipodes_tasks")
"""The packages of the program. An error raised in them is attributed to the line of user code that called them."""
LONGEST = 200
"""Maximum number of characters of a message from the user's code."""
Kind = type[AntipodesError]


@contextmanager
def guard(
    where: str, file: str | None = None, error: Kind = InputError, passed: Kind = AntipodesError
) -> Iterator[None]:
    """Return a context in which user-written code runs. All user-written code runs in such a context.

    Output of the code goes to standard error. Errors of type ``passed`` are raised unchanged.

    Raises
    ------
    InputError
        The code raised an exception, which is converted to type ``error``. The message begins with ``where`` and names
        the exception's type and line; the line is in ``file`` if possible.
    SourceError
        The code tried to end the program, for example by `sys.exit`, `os._exit` or `os.execv`. The message
        has the same form.
    KeyboardInterrupt
        The user pressed Ctrl-C. A KeyboardInterrupt raised by the code itself becomes a SourceError.
    """
    with _contained():
        try:
            yield
        except (passed, MemoryError):
            raise
        except (SystemExit, KeyboardInterrupt, GeneratorExit) as raised:
            if _follows_an_interrupt(raised):
                raise
            raise SourceError(f"{where}: {described(raised, file)}") from raised
        except BaseException as raised:
            if not isinstance(raised, Exception) and _is_of_program(raised):
                raise  # the handler of a signal stops the program
            raise error(f"{where}: {described(raised, file)}") from raised


def _is_of_program(error: BaseException) -> bool:
    """Return whether the program raised the error, not the user's code."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    return str(frames[-1].f_globals.get("__name__")).partition(".")[0] in PACKAGES


def _follows_an_interrupt(error: BaseException | None) -> bool:
    """Return whether the error is an interrupt by a signal, or was raised while such an interrupt was handled."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt) and not _has_own_raise(error):
            return True
        error = error.__context__
    return False


def _has_own_raise(error: KeyboardInterrupt) -> bool:
    """Return whether a ``raise`` statement raised the error; a signal interrupts other instructions."""
    if threading.current_thread() is not threading.main_thread():
        return True
    handler = getattr(signal.getsignal(signal.SIGINT), "__code__", None)
    frames = list(walk_tb(error.__traceback__))
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or any(frame.f_code is handler for frame, _ in frames):
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]


class _Running(threading.local):
    """The process in which the current thread runs user-written code, or None."""

    process: int | None = None


_running = _Running()


class _Output:
    """Replacement of standard output: threads that run user-written code write to standard error instead.

    `contextlib.redirect_stdout` would redirect the output of all threads.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream if _running.process is None else sys.stderr, name)


class _Containment:
    """Replacements of standard output and of `ENDINGS` while any thread runs user-written code."""

    lock = threading.Lock()
    threads = 0
    """Number of threads that run user-written code."""


ENDINGS = {name: getattr(posix, name) for name in ("_exit", "execv", "execve")}
"""Functions of `os` and `posix` that end the program with a status of their own, or replace it by another."""


@dataclass(frozen=True)
class _Refusal:
    """Replacement of a function of `ENDINGS`, which user-written code can keep and which can be pickled with it."""

    name: str

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Raise SystemExit in user-written code; elsewhere, as in its child processes, call the function."""
        if _running.process != os.getpid():
            return ENDINGS[self.name](*arguments, **named)
        first = next(iter((*arguments, *named.values())), None)
        raise SystemExit(f"os.{self.name}({first!r})")


def _replace_endings(functions: Mapping[str, Callable[..., Any]]) -> None:
    for module in (os, posix):
        for name, function in functions.items():
            setattr(module, name, function)


@contextmanager
def _contained() -> Iterator[None]:
    """Return a context in which this thread's output goes to standard error, and functions of `ENDINGS` are refused."""
    before = _running.process
    if before == os.getpid():
        yield
        return
    with _Containment.lock:
        _Containment.threads += 1
        _replace_endings({name: _Refusal(name) for name in ENDINGS})
        if not isinstance(sys.stdout, _Output) and sys.stdout is not None and sys.stderr is not None:
            sys.stdout = _Output(sys.stdout)
        entered = sys.stdout
    _running.process = os.getpid()
    try:
        yield
    finally:
        _running.process = before
        with _Containment.lock:
            if threading.current_thread() is threading.main_thread():
                sys.stdout = entered  # the code may have replaced it
            _Containment.threads -= 1
            if not _Containment.threads:
                _replace_endings(ENDINGS)
                if isinstance(sys.stdout, _Output):
                    sys.stdout = sys.stdout.stream


class CustomFunction:
    """A user-written function."""

    def __init__(self, function: Callable[..., Any], role: str) -> None:
        self.function = function
        self.role = role
        """The function's purpose, such as ``move 'a'``; messages begin with it."""

    def __call__(self, *arguments: Any) -> Any:
        """Return the function's result; raise InputError if the function raises an exception, see `guard`."""
        with guard(self.role, self._file):
            return self.function(*arguments)

    @property
    def _file(self) -> str | None:
        return getattr(getattr(self.function, "__code__", None), "co_filename", None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the function by value, since a worker on another machine does not have the user's file."""
        import cloudpickle

        with guard(self.role, self._file):
            return _restored, (cloudpickle.dumps(self.function), self.role)


def described(error: BaseException, file: str | None = None) -> str:
    """Return the type, line and message of an error.

    The line is the innermost line of the traceback in ``file``, or else in any file that does not belong to a library.
    """
    frames = [(frame, line) for frame, line in walk_tb(error.__traceback__)]
    lines = [(frame.f_code.co_filename, line) for frame, line in frames]
    own = [(frame.f_code.co_filename, line) for frame, line in frames if not _is_library(frame)]
    if isinstance(error, SyntaxError) and error.filename:
        lines.append((error.filename, error.lineno or 1))
        own.append(lines[-1])
    here = [line for line in lines if line[0] == file] or own
    place = f" ({Path(here[-1][0]).name}, line {here[-1][1]})" if here else ""
    message = _message(error)
    return f"{type(error).__name__}{place}" + (f": {message}" if message else "")


def _is_library(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    library = frame.f_code.co_filename.startswith((f"{os.path.dirname(os.__file__)}/", "<frozen "))
    return library or package in PACKAGES


def _message(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else error
    try:
        return shorten(str(text or ""), LONGEST)
    except Exception as failed:  # a user's exception class may have a faulty __str__
        return f"its message fails with {type(failed).__name__}"


def _restored(pickled: bytes, role: str) -> CustomFunction:
    with guard(role):
        return CustomFunction(pickle.loads(pickled), role)
