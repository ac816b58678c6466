"""Write the man page, the completion scripts for bash, zsh and fish, and the reference of the declared questions."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer
from typer.completion import get_completion_script

from antipodes.cli.main import COMMANDS, SITE, app, load_command
from workshop.manual.reference import page_with, sections

FOLDER = Path(__file__).parent
PAGE = FOLDER / "antipodes.1"
COMPLETIONS = {"bash": "antipodes.bash", "zsh": "_antipodes", "fish": "antipodes.fish"}
"""File name of the completion script for each shell."""
STATUSES = {"0": "done", "1": "failed", "2": "bad input", "75": "interrupted, and resumable"}


def page() -> str:
    """Return the man page, written in man macros."""
    program = typer.main.get_command(app)
    return "\n".join(
        (
            '.TH ANTIPODES 1 "" antipodes "User Commands"',
            *_section("NAME", f"antipodes - {_escaped(str(program.help))}"),
            *_section("SYNOPSIS", ".B antipodes\n.I COMMAND\n[OPTIONS] [ARGUMENTS]"),
            *_section("OPTIONS", *_items(_options(program))),
            *(line for title, names in COMMANDS.items() for line in _commands(title, list(names))),
            *_section("EXIT STATUS", *_items(STATUSES.items())),
            *_section("SEE ALSO", f"The documentation: {SITE} (a placeholder)\n"),
        )
    )


def completion(shell: str) -> str:
    """Return the script that completes the arguments of ``antipodes`` in a shell."""
    return get_completion_script(prog_name="antipodes", complete_var="_ANTIPODES_COMPLETE", shell=shell) + "\n"


def _section(title: str, *lines: str) -> Iterator[str]:
    yield f".SH {title}"
    yield from lines


def _commands(title: str, names: list[str]) -> Iterator[str]:
    yield f".SH {title.upper()}"
    for name in names:
        command = load_command(name)
        context = typer.Context(command, info_name=f"antipodes {name}")
        yield f".SS {_escaped(' '.join([context.command_path, *command.collect_usage_pieces(context)]))}"
        yield _escaped(" ".join(str(command.help).split()))
        for kind in ("argument", "option"):
            yield from _items(command.help_records(context, kind))


def _options(program: Any) -> Iterator[tuple[str, str]]:
    context = typer.Context(program, help_option_names=["-h", "--help"])
    return filter(None, (one.get_help_record(context) for one in program.get_params(context)))


def _items(records: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, text in records:
        yield from (".TP", f".B {_escaped(term)}", _escaped(" ".join(text.split())))


def _escaped(text: str) -> str:
    """Escape a text for roff: backslashes, hyphens that are minus signs, and a first character that starts a macro."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def main() -> None:
    """Write all files."""
    PAGE.write_text(page(), encoding="utf-8")
    for shell, name in COMPLETIONS.items():
        (FOLDER / name).write_text(completion(shell), encoding="utf-8")
    for path, section in sections().items():
        path.write_text(page_with(path, section), encoding="utf-8")


if __name__ == "__main__":
    main()
