"""Functions that quote values and count things in messages: on one line, short, and without control characters."""

import reprlib

LONGEST = 60
"""Maximum number of characters of a quoted string."""
LOG_TIME = "%Y-%m-%d %H:%M:%S"
"""The format of the local time in log lines."""


def quote(value: object) -> str:
    """Return the value as Python writes it, shortened if it is long; control characters are escaped.

    Quoting is fast even for a value of many megabytes or with unlimited nesting.
    """
    return repr(_cut(value)) if isinstance(value, str) else _cut(printable(_BRIEF.repr(value)))


def printable(text: str) -> str:
    """Return the text on one line, with each unprintable character escaped as in Python.

    Such characters can move the cursor, change colours, reverse the direction of the text around them, or end the line.
    All output to a terminal or a log passes through this function.
    """
    return text if text.isprintable() else "".join(one if one.isprintable() else _escape(one) for one in text)


def printable_lines(text: str) -> str:
    """Return the text with its line ends and each line made `printable`."""
    return "\n".join(map(printable, text.split("\n")))


def shorten(text: str, length: int = LONGEST) -> str:
    """Return the text on one line, cut at the end if it is longer than ``length`` characters."""
    return _cut(" ".join(text.split()), length)


def shorten_path(path: str, length: int = LONGEST) -> str:
    """Return the path or URL on one line, cut at the beginning if it is longer than ``length`` characters."""
    text = " ".join(path.split())
    return text if len(text) <= length else f"…{text[1 - length :]}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return the number and the noun, in the plural if necessary (default: with an s): 1 position, 2,000 positions."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def _escape(character: str) -> str:
    return repr(character)[1:-1]


def _cut(text: str, length: int = LONGEST) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


class _Brief(reprlib.Repr):
    """Representations that limit the length of lists, tables and strings at each level."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxlist, self.maxdict, self.maxtuple = 3, 6, 4, 6
        self.maxstring = self.maxother = LONGEST

    def repr_int(self, value: int, level: int) -> str:
        """Return the integer, or its length: Python refuses to write more than a few thousand digits."""
        bits = value.bit_length()
        return repr(value) if bits <= 160 else f"an integer of {bits:,} bits"


_BRIEF = _Brief()
