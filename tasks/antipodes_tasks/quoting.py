"""How messages quote and count what they found: on one line, short, and without control characters."""

import reprlib

LONGEST = 60
"""Characters of a quoted text."""
LOG_TIME = "%Y-%m-%d %H:%M:%S"
"""The format of the local time in lines that go to logs."""


def quote(value: object) -> str:
    """The value as Python writes it, cut where it is long; control characters are escaped.

    Quoting takes no longer for a value of many megabytes, or one that is nested without end.
    """
    return repr(_cut(value)) if isinstance(value, str) else _cut(printable(_BRIEF.repr(value)))


def printable(text: str) -> str:
    """The text on one line; each character that is not printable is escaped as Python escapes it.

    Such characters can move the cursor, change colours, reverse the direction of the text around them, or end the line.
    Everything that the program writes to a terminal or a log passes through this function.
    """
    return text if text.isprintable() else "".join(one if one.isprintable() else _escape(one) for one in text)


def printable_lines(text: str) -> str:
    """The text with its line ends; each line is `printable`."""
    return "\n".join(map(printable, text.split("\n")))


def shorten(text: str, length: int = LONGEST) -> str:
    """The text on one line, cut where it is longer than ``length`` characters."""
    return _cut(" ".join(text.split()), length)


def shorten_path(path: str, length: int = LONGEST) -> str:
    """The path or URL on one line, without its beginning where it is longer than ``length`` characters."""
    text = " ".join(path.split())
    return text if len(text) <= length else f"…{text[1 - length :]}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """The number and the noun in singular or plural, by default with an s: 1 position, 2,000 positions."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def _escape(character: str) -> str:
    return repr(character)[1:-1]


def _cut(text: str, length: int = LONGEST) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


class _Brief(reprlib.Repr):
    """Parts of lists and tables, and of those within them."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxlist, self.maxdict, self.maxtuple = 3, 6, 4, 6
        self.maxstring = self.maxother = LONGEST

    def repr_int(self, value: int, level: int) -> str:
        """The integer, or how long it is: Python refuses to write more than some thousand digits."""
        bits = value.bit_length()
        return repr(value) if bits <= 160 else f"an integer of {bits:,} bits"


_BRIEF = _Brief()
