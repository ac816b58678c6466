"""Failures and interruptions of commands: each becomes one line on stderr and an exit status."""

import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import typer

from antipodes.cli.loading import INTERRUPTED, SIGNALS
from antipodes.cli.streams import BAD_INPUT, FAILED, complain
from antipodes.cli.usage import usage_message
from antipodes.storage.retry import watch
from antipodes.system.machine import human, lacks_threads
from antipodes_tasks.base.errors import (
    AntipodesError,
    BrokenOutputError,
    DiskLimitError,
    InputError,
    InterruptedRunError,
    NotAStoreError,
    OutputError,
    ResourceLimitError,
    SourceError,
    StoreMismatchError,
)
from antipodes_tasks.base.quoting import shorten

BAD_INPUT_ERRORS = (InputError, NotAStoreError, StoreMismatchError, ResourceLimitError, DiskLimitError, SourceError)
LOADING_ERRORS = (ImportError, SystemError)
"""Errors of libraries that cannot be loaded if memory runs out."""
TRACEBACKS = "ANTIPODES_TRACEBACK"
"""Environment variable that shows the tracebacks of unexpected errors."""
AGAIN_AFTER_SECONDS = 0.01
INTERRUPTED_BY_TYPER = 130
"""typer's exit status for Ctrl-C while it reads the arguments."""


class Stopped(BaseException):
    """An immediate stop, raised wherever the program is; ``except Exception`` does not catch it."""


def stop_waits_at_signals() -> None:
    """Make signals that raise KeyboardInterrupt also end the waits of all threads for storage.

    A signal also takes effect if it arrives in a finaliser, where Python ignores exceptions.
    """
    sys.unraisablehook = pass_on_interruption
    for number in SIGNALS:
        if signal.getsignal(number) is signal.default_int_handler:
            signal.signal(number, _interrupt)


def pass_on_interruption(unraisable: "sys.UnraisableHookArgs") -> None:
    """Repeat an interruption shortly after the finaliser that lost it; show other errors of finalisers on request."""
    if issubclass(unraisable.exc_type, (KeyboardInterrupt, Stopped)):
        _interrupt_again()
    elif os.environ.get(TRACEBACKS):
        sys.__unraisablehook__(unraisable)


def _interrupt_again() -> None:
    """Send SIGINT to this process in a moment, after the main thread has left the hook, which would ignore it again."""

    def interrupt() -> None:
        time.sleep(AGAIN_AFTER_SECONDS)
        while _main_thread_is_in(pass_on_interruption):
            time.sleep(AGAIN_AFTER_SECONDS)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()


def _main_thread_is_in(function: Callable[..., object]) -> bool:
    """Return whether the main thread is executing a Python function, or a function that it calls."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


def _interrupt(number: int, frame: FrameType | None) -> None:
    watch.ending = True
    raise KeyboardInterrupt


def status_of(command: Callable[[], Any]) -> int:
    """Run a command and return its exit status; an error becomes one line on stderr."""
    try:
        return int(command() or 0)
    except (typer.Exit, typer.TyperException, SystemExit):
        raise
    except BrokenOutputError:
        return FAILED  # without a message, like other programs
    except AntipodesError as error:
        return complain(str(error), _status_of_error(error))
    except Stopped as stopped:
        return complain(str(stopped), INTERRUPTED)
    except (KeyboardInterrupt, typer.Abort):  # outside of commands, typer raises Abort
        return complain("stopped", INTERRUPTED)
    except MemoryError:
        return complain(_out_of_address_space() or "out of memory; try a --memory-limit", FAILED)
    except OSError as error:
        if error.errno is None and (limited := _out_of_address_space()):
            return complain(limited, FAILED)  # llvmlite raises it if its library cannot be loaded
        return complain(f"{error.strerror or error}{_of_file(error)}", FAILED)
    except BaseException as error:
        if os.environ.get(TRACEBACKS):
            raise
        may_lack_memory = isinstance(error, LOADING_ERRORS) or lacks_threads(error)
        limited = _out_of_address_space() if may_lack_memory else None
        return complain(limited or _unexpected(error), FAILED)


def known_status(status: int) -> int:
    """Return the exit status; replace typer's own status for an interruption, for which typer prints no message."""
    return complain("stopped", INTERRUPTED) if status == INTERRUPTED_BY_TYPER else status


def flushed(status: int) -> int:
    """Flush stdout and return the exit status, which becomes a failure if stdout does not take all output."""
    try:
        sys.stdout.flush()
    except BrokenOutputError:
        return status or FAILED
    except OutputError as error:
        return status or complain(str(error), FAILED)
    return status


def complain_of_usage(error: typer.TyperException) -> int:
    """Print typer's error about the arguments and return the exit status."""
    return complain(usage_message(error), BAD_INPUT)


def _status_of_error(error: AntipodesError) -> int:
    if isinstance(error, InterruptedRunError):
        return INTERRUPTED
    return BAD_INPUT if isinstance(error, BAD_INPUT_ERRORS) else FAILED


def _of_file(error: OSError) -> str:
    return "" if error.filename is None else f": {os.fsdecode(error.filename)}"


def _out_of_address_space() -> str | None:
    """Return the message that the address space of this process is too small, or None if it is not limited."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    return f"out of memory: the address space of processes is limited to {human(limit)}; raise it with: ulimit -v"


def _unexpected(error: BaseException) -> str:
    found = f"{type(error).__name__}: {shorten(str(error))}"
    return f"internal error ({found}). This is a bug; committed layers are safe. {TRACEBACKS}=1 shows a traceback"
