"""Options that several commands share."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer

from antipodes.system import parameters
from antipodes.system.options import OPTIONS, memory_size
from antipodes.system.parameters import is_given
from antipodes_tasks.base.option_names import option_of

PUZZLE_HELP = "Name of a bundled puzzle, path of a puzzle file (.toml, .tws, .json, .gap), or path.py:name."
PuzzleArgument = Annotated[str, typer.Argument(metavar="PUZZLE", help=PUZZLE_HELP)]
Store = Annotated[
    str,
    typer.Argument(
        metavar="STORE",
        help="Path or URL of a store, or a puzzle or board (name or file) whose store is in outputs/.",
    ),
]
PuzzleOfStore = Annotated[
    str | None,
    typer.Option(
        "--puzzle",
        metavar="PUZZLE",
        help="Puzzle of the store, such as path.py:name. A store never runs code by itself. "
        "[default: the puzzle that the store names, if you have run or checked it on this machine]",
    ),
]
MoveSequence = Annotated[
    str | None,
    typer.Option(
        "--moves", metavar="MOVES", help='Give the position by the moves that lead to it, such as "R U R\' F2".'
    ),
]
MOVE_LINES = "-"
"""Value of ``--moves``: the lines of the input are sequences of moves."""
MoveSequences = Annotated[
    str | None,
    typer.Option(
        "--moves",
        metavar="MOVES",
        help='Give the position by the moves that lead to it, such as "R U R\' F2". With -, each line of the input is '
        "such a sequence.",
    ),
]
OnlyMoves = Annotated[
    str | None,
    typer.Option(metavar="MOVES", help='Twisty puzzles: use only these moves and their powers, such as "U R F2".'),
]
Omit = Annotated[
    list[str] | None,
    typer.Option(metavar="SET", help="Twisty puzzles: leave out a set of pieces, such as CORNERS. Repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Also print how the work is divided.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress on stderr.")]


GivenOptions = Mapping[str, Any]
"""Values of run options as parsed, by name; an option that is not given has the value None or False."""


def declared_option(name: str, declared: parameters.Parameter, **more: Any) -> Any:
    """Return typer's option for a declared parameter; ``more`` overrides arguments of typer, such as the help."""
    limits = {"min": declared.kind.minimum, "max": declared.kind.maximum}
    shown = {"metavar": declared.metavar, "help": declared.help, "show_default": False}
    return typer.Option(option_of(name), **{**shown, **limits, **more})


def run_option(name: str, **more: Any) -> Any:
    """Return typer's option for an option of `RunOptions`; ``more`` overrides arguments of typer."""
    return declared_option(name, OPTIONS[name], **more)


Workers = Annotated[int | None, run_option("workers")]
SchedulerName = Annotated[str | None, run_option("scheduler")]
SchedulerFile = Annotated[str | None, run_option("scheduler_file")]
MemoryLimit = Annotated[str | None, run_option("memory_limit")]


def takes_run_options(
    command: str, **places: tuple[str, ...]
) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    """Return a decorator that adds the run options of a command to its parameters.

    The function gets the values of all of these options as its first argument, `GivenOptions`. If it has a parameter
    with the name of an option, for a help text of its own, that parameter stays where it is.

    Parameters
    ----------
    command
        The name of the command.
    places
        For parameters of the function, the groups of options that follow them in the help.
    """
    taken = [name for name, one in OPTIONS.items() if command in one.commands]

    def decorate(function: Callable[..., int | None]) -> Callable[..., int | None]:
        _, *own = signature(function).parameters.values()
        names = {one.name for one in own}
        shown = []
        for one in own:
            shown.append(one)
            for group in places.get(one.name, ()):
                shown += [_parameter(name) for name in taken if OPTIONS[name].group == group and name not in names]

        @wraps(function)
        def called(**values: Any) -> int | None:
            given = {name: values[name] for name in taken}
            return function(given, **{name: value for name, value in values.items() if name in names})

        # Typer reads the parameters from this attribute; the function itself takes the options as one dictionary.
        vars(called)["__signature__"] = Signature(shown)
        return called

    return decorate


def _parameter(name: str) -> Parameter:
    """Return the parameter of a command for a run option."""
    kind = OPTIONS[name].kind.word_type
    default, annotation = (False, kind) if kind is bool else (None, kind | None)
    return Parameter(
        name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=Annotated[annotation, run_option(name)]
    )


def memory_limit_of(text: str | None) -> int | None:
    """Return ``--memory-limit`` in bytes, or None if it was not given."""
    return None if text is None else memory_size(text, "--memory-limit")


def names_given(options: Mapping[str, object]) -> list[str]:
    """Return the names of the options that are given."""
    return [name for name, value in options.items() if is_given(value)]
