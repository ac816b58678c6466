"""The output of commands: results on stdout, everything else on stderr; and their exit statuses."""

import json
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from antipodes.cli.streams import can_encode, escaped
from antipodes_tasks.errors import OutputError, ReaderGoneError

LONG_WORD = re.compile(r"(\S{1000})\S+")
"""A word that is shortened: it is longer than the path of any store."""
FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 75
"""EX_TEMPFAIL: the same command resumes from the last commit."""


def print_json(value: Any) -> None:
    """Print one JSON value, escaped where the encoding of stdout lacks a character."""
    print(_json(value))


def print_json_list(values: Iterable[Any], key: str | None = None, **others: Any) -> None:
    """Print one JSON list, each value as soon as it is known, or an object that has the list after ``others``.

    Where the values end with an error, the JSON ends with those before it; if there are none, nothing is printed.
    """
    before, after = ("[", "]") if key is None else (f"{_json(others)[:-1]}, {_json(key)}: [", "]}")
    begun = False
    try:
        for value in values:
            print(", " if begun else before, _json(value), sep="", end="")
            begun = True
        print(end="" if begun else before)
        begun = True
    finally:
        if begun:
            print(after)


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if can_encode(text, sys.stdout) else json.dumps(value)


def printable(text: str) -> str:
    """The text, its control characters, which could move the cursor, escaped."""
    return "".join(one if one.isprintable() else escaped(one) for one in text)


def say(message: str) -> None:
    """Print one line on stderr."""
    line = " ".join(LONG_WORD.sub(r"\1…", message).split())
    print("antipodes:", printable(line), file=sys.stderr)


def complain(message: str, status: int) -> int:
    """Print an error message; the exit status, as given."""
    say(message)
    return status


@contextmanager
def printing_about(done: str) -> Iterator[None]:
    """Print about finished work in the block: where stdout fails, the command succeeds all the same."""
    try:
        yield
        sys.stdout.flush()
    except ReaderGoneError:
        pass  # the reader has seen enough
    except OutputError as error:
        say(f"{done}, but {error}")


def terminal_columns() -> int:
    """The width of the terminal in characters."""
    return shutil.get_terminal_size().columns
