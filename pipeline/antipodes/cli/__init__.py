"""The command line: each command parses, calls one function and prints."""

import gc
import logging
import os
import sys
import warnings
from contextlib import suppress
from typing import NoReturn

import typer

from antipodes.cli import farthest, layers, plan, puzzles, query, rank, run, show, solve, status, tile, verify
from antipodes.cli.interrupts import Stopped
from antipodes.cli.output import BAD_INPUT, FAILED, INTERRUPTED, complain
from antipodes.errors import (
    AntipodesError,
    InputError,
    InterruptedRunError,
    NotAStoreError,
    ResourceLimitError,
    StoreMismatchError,
)

app = typer.Typer(
    name="antipodes",
    help="The distance of every position of a puzzle from its start: computed, kept, and asked.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (puzzles, plan, run, status, layers, farthest, query, verify, solve, rank, tile, show):
    module.register(app)

USERS_FAULT = (InputError, NotAStoreError, StoreMismatchError, ResourceLimitError)


def main() -> None:
    """Run the command that the process was started with, and exit with its status.

    The libraries' modules live as long as the process. Searching them for garbage while they load and once more when
    it ends is a quarter of a short run, so that is left out; `run` turns the collector on once all are loaded.
    """
    gc.disable()
    logging.disable()  # libraries that lose a cluster tell of it in tracebacks, we in one line
    warnings.simplefilter("ignore")
    status = run_command(sys.argv[1:])
    gc.freeze()
    if status == INTERRUPTED:
        _leave_tasks(status)
    sys.exit(status)


def run_command(arguments: list[str]) -> int:
    """Run one command; its exit status. What goes wrong is said in one line on stderr."""
    try:
        status = int(app(arguments or ["--help"], standalone_mode=False) or 0)
        sys.stdout.flush()  # here, where it may fail, rather than when the process ends
    except typer.Exit as leaving:
        return leaving.exit_code
    except typer.TyperException as error:
        return complain(error.format_message(), BAD_INPUT)
    except AntipodesError as error:
        return complain(str(error), _status_of(error))
    except MemoryError:
        return complain("out of memory: try a --memory-limit", FAILED)
    except BrokenPipeError:
        _print_no_more()  # who read our output has left
        return FAILED
    except OSError as error:
        _print_no_more()
        return complain(f"{error.strerror or error}: {error.filename or 'standard output'}", FAILED)
    except Stopped as stopped:
        return complain(str(stopped), INTERRUPTED)
    except (KeyboardInterrupt, typer.Abort):
        return complain("stopped", INTERRUPTED)
    return status


def _status_of(error: AntipodesError) -> int:
    if isinstance(error, InterruptedRunError):
        return INTERRUPTED
    return BAD_INPUT if isinstance(error, USERS_FAULT) else FAILED


def _leave_tasks(status: int) -> NoReturn:
    """Exit without waiting for the tasks that threads of this process are at; what is committed is safe."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _print_no_more() -> None:
    """Let what is still to be printed vanish, since it cannot be printed."""
    with suppress(OSError):  # where standard output is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
