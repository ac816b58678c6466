"""How commands speak: results on stdout, everything else on stderr, and the exit status."""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from antipodes.cli.streams import can_encode, escaped
from antipodes.errors import OutputError, ReaderGoneError

LONG_WORD = re.compile(r"(\S{1000})\S+")
"""No path that anyone resumes a run with."""
FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 75
"""EX_TEMPFAIL: the same command resumes from the last commit."""


def print_json(value: Any) -> None:
    """Print one JSON value, escaped where stdout cannot say it otherwise."""
    text = json.dumps(value, ensure_ascii=False)
    print(text if can_encode(text, sys.stdout) else json.dumps(value))


def say(message: str) -> None:
    """Print one line on stderr; control characters are escaped, lest they move the cursor."""
    line = " ".join(LONG_WORD.sub(r"\1…", message).split())
    print("antipodes:", "".join(one if one.isprintable() else escaped(one) for one in line), file=sys.stderr)


def complain(message: str, status: int) -> int:
    """Say what is wrong; the exit status."""
    say(message)
    return status


@contextmanager
def telling_of(done: str) -> Iterator[None]:
    """What is printed inside tells of work that is done: it is a success even where stdout cannot take it."""
    try:
        yield
        sys.stdout.flush()
    except ReaderGoneError:
        pass  # it has seen as much as it wanted
    except OutputError as error:
        say(f"{done}, but {error}")


def terminal_columns() -> int:
    """How many characters a line holds."""
    return shutil.get_terminal_size().columns
