"""Parsing of the arguments of commands, and the help of commands."""

import re
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from itertools import islice
from typing import Any, TypeVar, cast

import typer
from typer.core import TyperCommand

from antipodes.system.parameters import Rule, as_options, check_rules
from antipodes_tasks.base.arguments import found
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import shorten

OPTION = re.compile(r"--?[a-z]+(-[a-z]+)*(=.*)?", re.DOTALL)
"""Pattern of options. Positions that begin with a dash contain something else: capitals, digits, more dashes."""
REMARKS = re.compile(r"  \[(required|[-\d.<=]*x[-\d.<>=]*)\]$|(?<=\S); [-\d.<=]*x[-\d.<>=]*(?=\]$)")
"""Remarks that typer adds to a parameter's help: the range of a number, and that an argument is required."""


Function = TypeVar("Function", bound=Callable[..., int | None])
Options = TypeVar("Options")


class Command(TyperCommand):
    """A command. For an unknown option, it suggests a similar one; its help begins with examples."""

    TAKES_POSITIONS = False
    """Whether words that begin with a dash may be positions."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the command's name."""
        if ctx.resilient_parsing:  # the shell completes an unfinished word
            return super().parse_args(ctx, args)
        return super().parse_args(ctx, self._options_first(ctx, args))

    def _options_first(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the words in this order: options with values, ``--``, arguments (which may begin with a dash).

        Raises
        ------
        InputError
            The option is unknown, its value is missing, or there are more arguments than the command takes.
        """
        options: dict[str, Any] = {
            name: one for one in self.get_params(ctx) if one.param_type_name == "option" for name in one.opts
        }
        words = iter(args)
        before: list[str] = []
        after: list[str] = []
        for word in words:
            if word == "--":
                after += words
            elif self._is_option(word, options):
                name, equals, _ = word.partition("=")
                if name not in options:
                    raise InputError(self._unknown(name, options))
                if not equals and (default := _default_of(options[name])):
                    word, equals = f"{name}={default}", "="
                value = list(islice(words, 0 if options[name].is_flag or equals else 1))
                if not (options[name].is_flag or equals or value):
                    raise InputError(f"{name}: its value is missing ({options[name].metavar or 'a value'})")
                before += [word, *value]
            else:
                after.append(word)
        self._check_number(ctx, after)
        return [*before, "--", *after]

    def _check_number(self, ctx: Any, words: list[str]) -> None:
        """Raise InputError if there are more words than arguments."""
        taken = [one for one in self.get_params(ctx) if one.param_type_name == "argument"]
        if words and not taken:
            raise InputError(f"{self.name} takes no argument, but there is {found(words[0])}")
        if len(words) > len(taken) and all(one.nargs == 1 for one in taken):
            raise InputError(
                f"{self.name} takes only {' and '.join(map(_name, taken))}, but there is also "
                f"{found(words[len(taken)])}; put quotes around text that contains spaces"
            )

    def _is_option(self, word: str, options: Iterable[str]) -> bool:
        if not word.startswith("-") or word == "-":
            return False
        return not self.TAKES_POSITIONS or OPTION.fullmatch(word) is not None or word.lower() in options

    def _unknown(self, name: str, options: Iterable[str]) -> str:
        """Return the message about an unknown option."""
        close = get_close_matches("--" + name.lstrip("-").lower(), options, n=1, cutoff=0.7)
        meant = f"; did you mean {close[0]}?" if close else ""
        after = "; a position that begins with - goes after --" if self.TAKES_POSITIONS and not close else ""
        return f"{self.name} has no option {shorten(name)}{meant}{after}"

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line after the command's name."""
        arguments = [one for one in self.get_params(ctx) if one.param_type_name == "argument"]
        return ["[OPTIONS]", *map(_usage, arguments)]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the description of the command, and examples."""
        super().format_help_text(ctx, formatter)
        write_examples(self, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the lists of arguments and options."""
        for kind, heading in (("argument", "Arguments"), ("option", "Options")):
            if rows := list(self.help_records(ctx, kind)):
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=26)

    def help_records(self, ctx: Any, kind: str) -> Iterator[tuple[str, str]]:
        """Yield the name and help of each parameter of a kind, "argument" or "option"."""
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx) if one.param_type_name == kind else None
            if record is not None:
                name, text = record
                yield _name(one) if kind == "argument" else name, REMARKS.sub("", text)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write nothing: the examples are already written."""


class PositionsCommand(Command):
    """A command whose arguments are positions, which may begin with a dash."""

    TAKES_POSITIONS = True


def commands() -> typer.Typer:
    """Return an empty collection of commands, for one module."""
    return typer.Typer(add_completion=False, rich_markup_mode=None)


def command(
    app: typer.Typer, name: str, *examples: str, kind: type[Command] = Command
) -> Callable[[Function], Function]:
    """Return a decorator that adds a function to the commands; their help begins with the ``examples``."""
    return app.command(name, cls=kind, epilog="\n".join(examples))


def obeys(*rules: Rule, **written: str) -> Callable[[Function], Function]:
    """Return a decorator that checks rules about the arguments and options of a command before it runs.

    ``written`` are the words for those parameters in messages that are not options of the same name.
    """

    def decorate(function: Function) -> Function:
        @wraps(function)
        def called(**given: Any) -> int | None:
            check_rules(rules, given, as_options(written))
            return function(**given)

        return cast(Function, called)

    return decorate


def takes_options(kind: type[Options]) -> Callable[[Callable[[Options], int]], Callable[..., int]]:
    """Return a decorator that makes the fields of a dataclass the arguments and options of a command.

    The types of the fields contain typer's annotations.
    """

    def decorate(function: Callable[[Options], int]) -> Callable[..., int]:
        @wraps(function)
        def called(**given: Any) -> int:
            return function(kind(**given))

        vars(called)["__signature__"] = signature(kind)
        return called

    return decorate


def write_examples(command: Any, formatter: Any) -> None:
    """Write the examples of a command, one per line, without wrapping them."""
    if command.epilog:
        with formatter.section("Examples"):
            for line in command.epilog.splitlines():
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def _default_of(option: Any) -> str | None:
    """Return the value of an option that may be given without a value; None for other options.

    The metavar of such an option lists the values as ``[=first|second]``. The first is the default. A value needs the
    equals sign, because the next word may be an argument.
    """
    metavar = option.metavar or ""
    return metavar[2:-1].split("|")[0] if metavar.startswith("[=") else None


def _usage(argument: Any) -> str:
    name = _name(argument) if argument.required else f"[{_name(argument)}]"
    return name if argument.nargs == 1 else f"{name}..."


def _name(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())
