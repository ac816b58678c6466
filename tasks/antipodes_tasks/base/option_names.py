"""How messages name the options of a command, which are arguments of a function in Python.

The command line and Python programs share the same checks. A message names an option with `option`, so that the name is
the one that the user wrote: ``--tables`` on the command line, ``tables`` in Python.
"""

from collections.abc import Iterator
from contextlib import contextmanager

SHELL_NAMES = {"goal": "to"}
"""Options whose names on the command line differ from their names in Python."""

_commands: list[object] = []
"""One element for each command being run. A context variable would not reach the threads that check arguments."""


@contextmanager
def command_line() -> Iterator[None]:
    """Name options as on the command line, in all threads of this process, until the block ends."""
    _commands.append(None)
    try:
        yield
    finally:
        _commands.pop()


def in_words(python: str, shell: str) -> str:
    """Return ``shell`` while a command of the command line runs, and ``python`` in a Python program."""
    return shell if _commands else python


def option_of(name: str) -> str:
    """Return the option of the command line for a parameter."""
    return f"--{name.replace('_', '-')}"


def option(name: str, value: str | bool | None = None) -> str:
    """Return an option as the user writes it, such as ``--memory-limit 2GiB`` or ``memory_limit="2GiB"``.

    Parameters
    ----------
    name
        The name of the argument in Python.
    value
        A value to show after the name. True marks an option without a value: ``--overwrite`` or ``overwrite=True``.
    """
    written = f'="{value}"' if isinstance(value, str) else "" if value is None else f"={value}"
    beside = f" {value}" if isinstance(value, str) else ""
    return in_words(f"{name}{written}", f"{option_of(SHELL_NAMES.get(name, name))}{beside}")
