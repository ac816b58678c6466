"""Keys of a terminal, one by one, without waiting for a line."""

import codecs
import os
import re
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

NAMES = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1b[C": "right",
    "\x1b[D": "left",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "\x1bOC": "right",
    "\x1bOD": "left",
    " ": "space",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x04": "quit",  # Ctrl-D, the end of the input
}
PRESSED = re.compile(r"\x1b[\[O][\d;]*[A-Za-z~]|[^\x1b]")
"""What one key sends: a sequence, or a character."""
AT_ONCE = 1024
"""Bytes that are read together: several keys, if one is held."""


@contextmanager
def keys() -> Iterator[Iterator[str]]:
    """The keys that are pressed on standard input, by their names or as characters; Ctrl-C works as ever.

    The end of the input is the key "quit".
    """
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    tty.setcbreak(number)
    try:
        yield _pressed(number)
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def _pressed(number: int) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while read := os.read(number, AT_ONCE):
        for key in PRESSED.findall(decoder.decode(read)):
            if key in NAMES or not key.startswith("\x1b"):  # other keys mean nothing here
                yield NAMES.get(key, key)
    yield "quit"
