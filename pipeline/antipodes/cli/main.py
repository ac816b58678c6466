"""The program: its commands, each loaded when it is run, and what surrounds them."""

import gc
import logging
import os
import re
import sys
import warnings
from collections.abc import MutableMapping
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, NoReturn

import typer

from antipodes.cli.command import Command, write_examples
from antipodes.cli.failures import complain_of_usage, flushed, known_status, status_of, stop_waits_at_signals
from antipodes.cli.loading import INTERRUPTED, importing_libraries
from antipodes.cli.streams import claim_streams, print_line, print_traceback, say
from antipodes.storage import retry
from antipodes_tasks import jit
from antipodes_tasks.option_names import command_line

COMMANDS = {
    "Tables": {
        "run": ("run", "Compute a distance table, or resume it; report a finished one."),
        "resume": ("run", "Resume an unfinished store, of a table, of counts or of tilings."),
        "status": ("stores", "Show a store's progress and size."),
        "list": ("stores", "List the tables and tilings in a directory or a bucket."),
        "remove": ("stores", "Delete a store: a table, counts or tilings; of a link to a store, delete only the link."),
        "plan": ("plan", "Estimate the memory, disk and time of a run, without running."),
    },
    "Queries": {
        "query": (
            "query",
            "Print distances from the start or goal, the positions at a distance, or matches of a pattern.",
        ),
        "play": ("play", "Walk from a position to the start or goal, with the distance always in sight."),
        "layers": ("layers", "Count the positions at each depth."),
        "farthest": ("layers", "Show the positions that are farthest from the start or goal."),
        "report": ("report", "Write a report on a store: one HTML page to send or to publish."),
        "export": ("report", "Export the results in a finished store: JSON and CSV, to publish."),
        "serve": ("serve", "Show tables and tilings in a browser, until Ctrl-C."),
        "verify": ("stores", "Verify checksums and every distance or tiling in a store."),
    },
    "Puzzles": {
        "puzzles": ("puzzles", "List the bundled puzzles."),
        "check": (
            "puzzles",
            "Check a puzzle: moves, inverses, how positions are written, and a small search against brute force.",
        ),
        "abstract": (
            "abstract",
            "Print the config of a pattern: the puzzle with some pieces taken as equal, turned as one, or left out.",
        ),
        "symmetry": ("symmetry", "Find the symmetries of a puzzle, or of a position."),
        "components": (
            "components",
            "Count all positions of a puzzle by components: sets of positions that moves lead to from each other.",
        ),
        "graph": ("graph", "Write all positions and moves of a puzzle as a graph."),
        "solve": ("solve", "Find a shortest path from a position to the start or a goal."),
        "rank": ("puzzles", "Print the index of a position, or the number of a permutation."),
        "unrank": ("puzzles", "Print the position, or the permutation, with a number."),
    },
    "Tilings": {
        "tile": ("tilings", "Find all tilings of a board, or resume the search."),
        "boards": ("puzzles", "List the bundled boards."),
        "show": ("tilings", "Draw the tilings in a store: the first of them, one, or all."),
    },
}
"""The commands by section of the overview: the module of each in `antipodes.cli.commands`, and its help."""
EXAMPLES = """\
antipodes run eight-puzzle
antipodes query --path eight-puzzle "1 2 3 / 4 0 5 / 7 8 6"
antipodes query --help
"""
SITE = "https://antipodes.example.org/"
"""Where the documentation is: a placeholder, as the project has no public address yet."""
NUMBERS = ("NUMBA_NUM_THREADS", "ZARR_ASYNC__CONCURRENCY", "ZARR_THREADING__MAX_WORKERS")
"""Environment variables that are kept where they are numbers from 1."""
REMOVED = re.compile("ZARR_.*|NUMBA_DISABLE_JIT|NUMBA_NUM_THREADS")
"""Environment variables that change the format of stores, or switch off the compiler that the program needs."""


def load_command(name: str) -> Any:
    """The command of this name, its module loaded."""
    module = next(commands[name][0] for commands in COMMANDS.values() if name in commands)
    with importing_libraries():
        app: typer.Typer = import_module(f"antipodes.cli.commands.{module}").app
    return typer.main.get_group(app).commands[name]


class Commands(typer.core.TyperGroup):
    """All commands. Errors become exit statuses before typer sees them.

    typer would end a command silently at any broken pipe, also at that of a store, and with another status at Ctrl-C.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: Command(name, help=text) for one in COMMANDS.values() for name, (_, text) in one.items()}
        """Stand-ins: names and texts."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the words name, and the words after it."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and load_command(name), rest

    def invoke(self, ctx: Any) -> int:
        """The exit status of the command in the context."""
        return status_of(lambda: super(Commands, self).invoke(ctx))

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write what the program does, and examples."""
        super().format_help_text(ctx, formatter)
        write_examples(self, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write what each command does, nothing cut off, and then the options."""
        width = max(map(len, self.commands))
        for section, commands in COMMANDS.items():
            with formatter.section(section):
                formatter.write_dl([(f"{name:<{width}}", text) for name, (_, text) in commands.items()])
        with formatter.section("Options"):
            formatter.write_dl([record for one in self.get_params(ctx) if (record := one.get_help_record(ctx))])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write where the documentation is; the examples come first."""
        with formatter.section("Documentation"):
            formatter.write_text(f"{SITE} (a placeholder; docs/ in the repository)")


app = typer.Typer(
    name="antipodes",
    cls=Commands,
    help="Compute, store and query the distance of every position of a puzzle.",
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(asked: bool) -> None:
    if asked:
        print_line(f"antipodes {version('antipodes')}")
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
    claim_streams()
    remove_settings(os.environ)
    logging.disable()  # libraries log a lost cluster with tracebacks; the program says it in one line
    warnings.simplefilter("ignore")
    jit.watch.tell = lambda: say("compiling machine code, as at a first use; it can take half a minute")
    if not {"--quiet", "-q"} & set(sys.argv):
        retry.watch.tell = lambda waited_for: say(f"waiting for {waited_for}")
    sys.excepthook = print_traceback
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
        with command_line():
            status = status_of(lambda: app(arguments or ["--help"], standalone_mode=False))
    except typer.Exit as leaving:
        status = leaving.exit_code
    except SystemExit as leaving:  # of the completion of words in a shell
        status = int(leaving.code or 0)
    except typer.TyperException as error:
        status = complain_of_usage(error)
    return flushed(known_status(status))


def remove_settings(environment: MutableMapping[str, str]) -> None:
    """Remove the settings of libraries that the program cannot work with; with some, stores would look damaged."""
    for name in filter(REMOVED.fullmatch, list(environment)):
        if name not in NUMBERS or not re.fullmatch("[1-9][0-9]{0,4}", environment[name]):
            del environment[name]


def _leave_tasks(status: int) -> NoReturn:
    """Exit without waiting for the tasks of this process's threads; commits are safe."""
    sys.stderr.flush()
    os._exit(status)
