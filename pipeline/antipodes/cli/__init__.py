"""The command line: each command parses, calls one function and prints."""

import gc
import logging
import os
import sys
import warnings
from typing import NoReturn

import typer

from antipodes.cli import farthest, layers, plan, puzzles, query, rank, resume, run, show, solve, status, tile, verify
from antipodes.cli.environment import leave_out_settings
from antipodes.cli.failures import Commands, flushed, in_our_terms, misused, status_of
from antipodes.cli.output import INTERRUPTED, say
from antipodes.cli.streams import take_streams
from antipodes.jit import compiling

app = typer.Typer(
    name="antipodes",
    cls=Commands,
    help="Compute, store and query the distance of every position of a puzzle.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (puzzles, plan, run, resume, status, layers, farthest, query, verify, solve, rank, tile, show):
    module.register(app)


def main() -> None:
    """Run the command that the process was started with, and exit with its status."""
    gc.disable()  # until the command has loaded its libraries, see `loading`
    take_streams()
    leave_out_settings(os.environ)
    logging.disable()  # libraries that lose a cluster tell of it in tracebacks, we in one line
    warnings.simplefilter("ignore")
    if not {"--quiet", "-q"} & set(sys.argv):
        compiling.watch.tell = lambda: say("compiling machine code, as at a first use; it can take half a minute")
    status = run_command(sys.argv[1:])
    gc.disable()  # when the process ends, Python would search for garbage once more
    gc.freeze()
    if status == INTERRUPTED:
        _leave_tasks(status)
    sys.exit(status)


def run_command(arguments: list[str]) -> int:
    """Run one command; its exit status. What goes wrong is said in one line on stderr."""
    try:
        status = status_of(lambda: app(arguments or ["--help"], standalone_mode=False))
    except typer.Exit as leaving:
        status = leaving.exit_code
    except SystemExit as leaving:  # when a shell completes a word
        status = int(leaving.code or 0)
    except typer.TyperException as error:
        status = misused(error)
    return flushed(in_our_terms(status))


def _leave_tasks(status: int) -> NoReturn:
    """Exit without waiting for the tasks that threads of this process are at; what is committed is safe."""
    sys.stderr.flush()
    os._exit(status)
