"""Keys of a terminal, one by one, without waiting for a line."""

import os
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

NAMES = {
    b"\x1b[A": "up",
    b"\x1b[B": "down",
    b"\x1b[C": "right",
    b"\x1b[D": "left",
    b"\x1bOA": "up",
    b"\x1bOB": "down",
    b"\x1bOC": "right",
    b"\x1bOD": "left",
    b" ": "space",
    b"\r": "enter",
    b"\n": "enter",
    b"\x7f": "backspace",
    b"\x08": "backspace",
    b"\x04": "q",  # Ctrl-D, the end of the input
}
LONGEST = 32
"""Bytes that a key sends at most."""


@contextmanager
def keys() -> Iterator[Iterator[str]]:
    """The keys that are pressed on standard input, by their names or as characters; Ctrl-C works as ever."""
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    tty.setcbreak(number)
    try:
        yield _pressed(number)
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def _pressed(number: int) -> Iterator[str]:
    while read := os.read(number, LONGEST):
        if read in NAMES:
            yield NAMES[read]
        elif not read.startswith(b"\x1b"):  # other keys send sequences that mean nothing here
            for one in read.decode(errors="replace"):
                yield NAMES.get(one.encode(), one)
