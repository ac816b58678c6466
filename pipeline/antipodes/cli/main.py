"""The program's entry point: it loads the command that is run, and turns errors into exit statuses."""

import gc
import logging
import os
import re
import sys
import warnings
from collections.abc import MutableMapping
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, NoReturn

import typer

from antipodes.cli.command import Command, write_examples
from antipodes.cli.failures import complain_of_usage, flushed, known_status, status_of, stop_waits_at_signals
from antipodes.cli.loading import INTERRUPTED, importing_libraries
from antipodes.cli.streams import claim_streams, print_line, print_message, print_traceback
from antipodes.storage import retry
from antipodes.tables.questions import QUESTIONS
from antipodes_tasks.base import jit
from antipodes_tasks.base.option_names import command_line

COMMANDS = {
    "Tables": {
        "run": ("run", "Compute a distance table, or resume an unfinished one; print the report of a finished one."),
        "resume": ("run", "Resume an unfinished store: a table, a counts-only run or a set of tilings."),
        "status": ("stores", "Show a store's progress and size."),
        "list": ("stores", "List the tables and tilings in a directory or bucket."),
        "remove": ("stores", "Delete a store: a table, counts or tilings. If it is a link, only the link is deleted."),
        "plan": ("plan", "Estimate the memory, disk and time of a run without running it."),
    },
    "Queries": {
        "query": (
            "query",
            "Print distances from the start or goal, the positions at a distance, or matches of a pattern.",
        ),
        "play": ("play", "Walk from a position to the start or goal, and see the distance after each move."),
        "layers": ("layers", "Count the positions at each depth."),
        "farthest": ("layers", "Show the positions that are farthest from the start or goal."),
        **{one.name: ("questions", one.help) for one in QUESTIONS},
        "report": ("report", "Write a report on a store: one HTML page to send or publish."),
        "export": ("report", "Export the results in a finished store as JSON and CSV, or a dataset."),
        "serve": ("serve", "Show tables and tilings in a browser, until Ctrl-C."),
        "verify": ("stores", "Verify the checksums and every distance or tiling in a store."),
    },
    "Puzzles": {
        "puzzles": ("puzzles", "List the bundled puzzles."),
        "check": (
            "puzzles",
            "Check a puzzle: its moves, their inverses, its notation, and a small search against brute force.",
        ),
        "abstract": (
            "abstract",
            "Print the config of a pattern: the puzzle with some pieces identical, without orientation, or left out.",
        ),
        "symmetry": ("symmetry", "Find the symmetries of a puzzle or of a position."),
        "components": (
            "components",
            "Count the strongly connected components of a puzzle: positions that are reachable from each other.",
        ),
        "graph": ("graph", "Write all positions and moves of a puzzle as a graph."),
        "solve": ("solve", "Find a shortest path from a position to the start or a goal."),
        "random": ("random", "Draw random positions: every reachable position has the same probability."),
        "rank": ("puzzles", "Print the index of a position or of a permutation."),
        "unrank": ("puzzles", "Print the position or permutation with a given index."),
    },
    "Tilings": {
        "tile": ("tilings", "Find all tilings of a board, or resume the search."),
        "boards": ("puzzles", "List the bundled boards."),
        "show": ("tilings", "Draw tilings from a store: the first few, one of them, or all."),
    },
}
"""The commands by section of the overview: for each, its module in `antipodes.cli.commands` and its help."""
EXAMPLES = """\
antipodes run eight-puzzle
antipodes query --path eight-puzzle "1 2 3 / 4 0 5 / 7 8 6"
antipodes query --help
"""
SITE = "https://antipodes.example.org/"
"""Address of the documentation; a placeholder, because the project has no public address yet."""
NUMBERS = ("NUMBA_NUM_THREADS", "ZARR_ASYNC__CONCURRENCY", "ZARR_THREADING__MAX_WORKERS")
"""Environment variables that are kept if they are positive integers."""
REMOVED = re.compile("ZARR_.*|NUMBA_DISABLE_JIT|NUMBA_NUM_THREADS")
"""Environment variables that change the format of stores or switch off the compiler, which the program needs."""


def load_command(name: str) -> Any:
    """Load the module of a command and return the command."""
    module = next(commands[name][0] for commands in COMMANDS.values() if name in commands)
    with importing_libraries():
        app: typer.Typer = import_module(f"antipodes.cli.commands.{module}").app
    # typer would also make the parsers of the other commands of the module
    only = typer.Typer(add_completion=False, rich_markup_mode=app.rich_markup_mode)
    only.registered_commands = [one for one in app.registered_commands if one.name == name]
    return typer.main.get_command(only)


kept_command = cache(load_command)
"""Like `load_command`, but each command is loaded once per process. Programs and tests that run many small commands
would otherwise spend most of their time on making parsers."""


class Commands(typer.core.TyperGroup):
    """All commands; errors become exit statuses before typer sees them.

    typer would end a command silently at any broken pipe, even in a store, and would use another status for Ctrl-C.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: Command(name, help=text) for one in COMMANDS.values() for name, (_, text) in one.items()}
        """Placeholders with names and help texts; the real commands are loaded when they are run."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the name of the command, the command, and the remaining arguments."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and kept_command(name), rest

    def invoke(self, ctx: Any) -> int:
        """Run the command in the context; return its exit status."""
        return status_of(lambda: super(Commands, self).invoke(ctx))

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the description of the program, and examples."""
        super().format_help_text(ctx, formatter)
        write_examples(self, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the descriptions of all commands, unabridged, and the options."""
        width = max(map(len, self.commands))
        for section, commands in COMMANDS.items():
            with formatter.section(section):
                formatter.write_dl([(f"{name:<{width}}", text) for name, (_, text) in commands.items()])
        with formatter.section("Options"):
            formatter.write_dl([record for one in self.get_params(ctx) if (record := one.get_help_record(ctx))])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the address of the documentation; the examples are already written."""
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
    """Options of the program itself."""


def main() -> None:
    """Run the command given on the command line, and exit with its status."""
    claim_streams()
    remove_settings(os.environ)
    logging.disable()  # libraries log a lost cluster with tracebacks; the program reports it in one line
    warnings.simplefilter("ignore")
    jit.watch.tell = _print_compilation
    if not {"--quiet", "-q"} & set(sys.argv):
        retry.watch.tell = lambda waited_for: print_message(f"waiting for {waited_for}")
    sys.excepthook = print_traceback
    stop_waits_at_signals()
    status = run_command(sys.argv[1:])
    gc.disable()  # otherwise Python collects garbage once more at exit
    gc.freeze()
    if status == INTERRUPTED or retry.has_open_requests():
        _leave_tasks(status)
    sys.exit(status)


def _print_compilation() -> None:
    """Say that the program is compiling, and if this happens at every start, why."""
    reason = jit.watch.reason_uncached
    when = "on first use; this takes a few seconds" if reason is None else f"again at every start, because {reason}"
    print_message(f"compiling machine code {when}")


def run_command(arguments: list[str]) -> int:
    """Run one command and return its exit status; an error becomes one line on stderr."""
    try:
        with command_line():
            status = status_of(lambda: app(arguments or ["--help"], standalone_mode=False))
    except typer.Exit as leaving:
        status = leaving.exit_code
    except SystemExit as leaving:  # raised by shell completion
        status = int(leaving.code or 0)
    except typer.TyperException as error:
        status = complain_of_usage(error)
    return flushed(known_status(status))


def remove_settings(environment: MutableMapping[str, str]) -> None:
    """Remove settings of libraries that the program cannot work with; some would make stores look corrupt."""
    for name in filter(REMOVED.fullmatch, list(environment)):
        if name not in NUMBERS or not re.fullmatch("[1-9][0-9]{0,4}", environment[name]):
            del environment[name]


def _leave_tasks(status: int) -> NoReturn:
    """Exit without waiting for tasks on this process's threads; commits are safe."""
    sys.stderr.flush()
    os._exit(status)
