"""The command line: the commands, and the options, output, errors and interruptions that they share."""

import gc
import logging
import os
import sys
import warnings
from typing import NoReturn

import typer

from antipodes.cli.commands import (
    check,
    farthest,
    layers,
    plan,
    play,
    puzzles,
    query,
    rank,
    resume,
    run,
    show,
    solve,
    status,
    tile,
    verify,
)
from antipodes.cli.environment import remove_settings
from antipodes.cli.failures import Commands, complain_of_usage, flushed, known_status, status_of
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
COMMANDS = (puzzles, plan, run, resume, status, layers, farthest, query, play, verify, solve, rank, check, tile, show)
for module in COMMANDS:
    module.register(app)


def main() -> None:
    """Run the command that the process was started with, and exit with its status."""
    gc.disable()  # until the command has loaded its libraries, see `loading`
    take_streams()
    remove_settings(os.environ)
    logging.disable()  # libraries log a lost cluster with tracebacks; the program says it in one line
    warnings.simplefilter("ignore")
    if not {"--quiet", "-q"} & set(sys.argv):
        compiling.watch.tell = lambda: say("compiling machine code, as at a first use; it can take half a minute")
    status = run_command(sys.argv[1:])
    gc.disable()  # else Python collects garbage once more when the process ends
    gc.freeze()
    if status == INTERRUPTED:
        _leave_tasks(status)
    sys.exit(status)


def run_command(arguments: list[str]) -> int:
    """Run one command; its exit status. An error becomes one line on stderr."""
    try:
        status = status_of(lambda: app(arguments or ["--help"], standalone_mode=False))
    except typer.Exit as leaving:
        status = leaving.exit_code
    except SystemExit as leaving:  # of the completion of words in a shell
        status = int(leaving.code or 0)
    except typer.TyperException as error:
        status = complain_of_usage(error)
    return flushed(known_status(status))


def _leave_tasks(status: int) -> NoReturn:
    """Exit without waiting for the tasks of this process's threads; commits are safe."""
    sys.stderr.flush()
    os._exit(status)
