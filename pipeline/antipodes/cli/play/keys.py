"""Keys of a terminal, without waiting for a line; and what is pasted into it, in one go."""

import codecs
import os
import re
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

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
MARK_PASTES, MARK_NO_PASTES = "\x1b[?2004h", "\x1b[?2004l"
"""Ask a terminal to mark what is pasted, and to stop that; one that cannot do it ignores both."""
PIECES = re.compile(
    r"\x1b\[200~(?P<marked>.*?)\x1b\[201~|(?P<key>\x1b[\[O][\d;]*[A-Za-z~])|(?P<text>[^\x1b]+)", re.DOTALL
)
"""A marked paste, a key that sends a sequence, or characters."""
UNFINISHED = re.compile(r"\x1b\[200~(?!.*\x1b\[201~).*\Z|\x1b([\[O][\d;]*)?\Z", re.DOTALL)
"""The beginning of one of them at the end of what was read: the rest comes with the next bytes."""
WORDS = re.compile(r"([^\s\x00-\x1f\x7f]+([ \t]+[^\s\x00-\x1f\x7f]+)+|(?!(.)\3*\b)[^\s\x00-\x1f\x7f]{8,})[\r\n]?")
"""Words with blanks between them, or a long one: too much for fingers between two screens, so it was pasted."""
AT_ONCE, MOST_AT_ONCE = 1 << 12, 1 << 20
"""Bytes that are read together, and those that are read before the screen is drawn again."""


class Pressed(NamedTuple):
    """A key by its name or as a character, or a text that was pasted."""

    text: str
    pasted: bool = False


@contextmanager
def keys() -> Iterator[Iterator[list[Pressed]]]:
    """The keys that are pressed on standard input, those together that came together; Ctrl-C works as ever.

    The end of the input is the key "quit". Afterwards the terminal is as before, and what it has not given is dropped:
    the rest of a paste is no input of the shell.
    """
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    tty.setcbreak(number)
    try:
        print(MARK_PASTES, end="", flush=True)
        yield _pressed(number)
    finally:
        print(MARK_NO_PASTES, end="", flush=True)
        termios.tcsetattr(number, termios.TCSAFLUSH, before)


def _pressed(number: int) -> Iterator[list[Pressed]]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    rest = ""
    while read := _pending(number):
        text = rest + decoder.decode(read)
        unfinished = UNFINISHED.search(text)
        end = unfinished.start() if unfinished else len(text)
        rest = text[end:]
        yield [one for piece in PIECES.finditer(text[:end]) for one in _in_piece(piece)]
    yield [Pressed("quit")]


def _pending(number: int) -> bytes:
    """Some bytes, and those that are there already; none at the end of the input."""
    found = read = os.read(number, AT_ONCE)
    while read and len(found) < MOST_AT_ONCE and select.select([number], [], [], 0)[0]:
        read = os.read(number, AT_ONCE)
        found += read
    return found


def _in_piece(piece: re.Match[str]) -> Iterator[Pressed]:
    if piece["marked"] is not None:
        yield from (Pressed(line, pasted=True) for line in re.split(r"[\r\n]+", piece["marked"]) if line.strip())
    elif piece["key"] is not None:
        if piece["key"] in NAMES:  # other keys mean nothing here
            yield Pressed(NAMES[piece["key"]])
    else:
        at = 0
        for words in WORDS.finditer(piece["text"]):
            yield from map(_key, piece["text"][at : words.start()])
            yield Pressed(words[1], pasted=True)
            at = words.end()
        yield from map(_key, piece["text"][at:])


def _key(character: str) -> Pressed:
    return Pressed(NAMES.get(character, character))
