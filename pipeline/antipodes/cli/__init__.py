"""The command line: the commands, and the options, output, errors and interruptions that they share."""

import gc
import logging
import os
import sys
import warnings
from typing import Annotated, NoReturn

import typer

from antipodes.cli.command import Commands
from antipodes.cli.commands import (
    check,
    farthest,
    layers,
    listing,
    plan,
    play,
    puzzles,
    query,
    rank,
    remove,
    resume,
    run,
    show,
    solve,
    status,
    tile,
    verify,
)
from antipodes.cli.environment import remove_settings
from antipodes.cli.failures import complain_of_usage, flushed, known_status, status_of
from antipodes.cli.interrupts import stop_waits_at_signals
from antipodes.cli.output import INTERRUPTED, say
from antipodes.cli.streams import take_streams
from antipodes.storage import retry
from antipodes_tasks import jit

EXAMPLES = """\
antipodes run eight-puzzle
antipodes query --path eight-puzzle "1 2 3 / 4 0 5 / 7 8 6"
antipodes query --help
"""

app = typer.Typer(
    name="antipodes",
    cls=Commands,
    help="Compute, store and query the distance of every position of a puzzle.",
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
COMMANDS = (
    *(run, resume, status, listing, remove, plan),
    *(query, play, layers, farthest, verify),
    *(puzzles, check, solve, rank),
    *(tile, show),
)
for module in COMMANDS:
    module.register(app)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"antipodes {version('antipodes')}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version."),
    ] = False,
) -> None:
    """The options of the program itself."""


def main() -> None:
    """Run the command that the process was started with, and exit with its status."""
    gc.disable()  # until the command has loaded its libraries, see `loading`
    take_streams()
    remove_settings(os.environ)
    logging.disable()  # libraries log a lost cluster with tracebacks; the program says it in one line
    warnings.simplefilter("ignore")
    if not {"--quiet", "-q"} & set(sys.argv):
        jit.watch.tell = lambda: say("compiling machine code, as at a first use; it can take half a minute")
        retry.watch.tell = lambda waited_for: say(f"waiting for {waited_for}")
    stop_waits_at_signals()
    status = run_command(sys.argv[1:])
    gc.disable()  # else Python collects garbage once more when the process ends
    gc.freeze()
    if status == INTERRUPTED or retry.has_open_requests():
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
