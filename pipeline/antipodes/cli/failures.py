"""What ends a command, as one line on stderr and an exit status."""

import os
import re
import sys
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from antipodes.cli.interrupts import Stopped
from antipodes.cli.output import BAD_INPUT, FAILED, INTERRUPTED, complain
from antipodes.errors import (
    AntipodesError,
    InputError,
    InterruptedRunError,
    NotAStoreError,
    OutputError,
    ReaderGoneError,
    ResourceLimitError,
    StoreMismatchError,
)
from antipodes.quoting import shorten

USERS_FAULT = (InputError, NotAStoreError, StoreMismatchError, ResourceLimitError)
TRACEBACKS = "ANTIPODES_TRACEBACK"
"""The environment's variable that has errors of the program itself shown as Python shows them."""
TYPERS_INTERRUPTED = 130
LONG_WORD = re.compile(r"(\S{60})\S+")
LONGEST_USAGE = 300
"""Characters of what typer says of an argument, which it quotes whole."""


class Commands(TyperGroup):
    """All commands. What ends one is dealt with before typer sees it.

    typer would end a command without a word at any broken pipe, that of a store among them, and with a status of its
    own at Ctrl-C.
    """

    def invoke(self, ctx: Any) -> int:
        """The exit status of the command in the context."""
        return status_of(lambda: super(Commands, self).invoke(ctx))


def status_of(command: Callable[[], Any]) -> int:
    """Run a command; its exit status. What goes wrong is said in one line on stderr."""
    try:
        return int(command() or 0)
    except (typer.Exit, typer.TyperException, SystemExit):
        raise
    except ReaderGoneError:
        return FAILED  # quietly, as other programs do
    except AntipodesError as error:
        return complain(str(error), _status_of_error(error))
    except Stopped as stopped:
        return complain(str(stopped), INTERRUPTED)
    except (KeyboardInterrupt, typer.Abort):  # the latter is what typer makes of the former outside of commands
        return complain("stopped", INTERRUPTED)
    except MemoryError:
        return complain("out of memory: try a --memory-limit", FAILED)
    except OSError as error:
        return complain(f"{error.strerror or error}{_of_file(error)}", FAILED)
    except BaseException as error:
        if os.environ.get(TRACEBACKS):
            raise
        return complain(_unexpected(error), FAILED)


def in_our_terms(status: int) -> int:
    """The exit status; typer has one of its own, and no message, for Ctrl-C while it reads the arguments."""
    return complain("stopped", INTERRUPTED) if status == TYPERS_INTERRUPTED else status


def flushed(status: int) -> int:
    """The exit status, once stdout has taken all that was printed: a success is none if it does not."""
    try:
        sys.stdout.flush()
    except ReaderGoneError:
        return status or FAILED
    except OutputError as error:
        return status or complain(str(error), FAILED)
    return status


def misused(error: typer.TyperException) -> int:
    """Say what is wrong with the arguments; the exit status."""
    message = " ".join(LONG_WORD.sub(r"\1…", error.format_message()).split())
    return complain(message if len(message) <= LONGEST_USAGE else message[:LONGEST_USAGE] + "…", BAD_INPUT)


def _status_of_error(error: AntipodesError) -> int:
    if isinstance(error, InterruptedRunError):
        return INTERRUPTED
    return BAD_INPUT if isinstance(error, USERS_FAULT) else FAILED


def _of_file(error: OSError) -> str:
    return "" if error.filename is None else f": {os.fsdecode(error.filename)}"


def _unexpected(error: BaseException) -> str:
    found = f"{type(error).__name__}: {shorten(str(error))}"
    return f"unexpected {found}; this is a defect of the program, committed layers are safe; {TRACEBACKS}=1 shows more"
