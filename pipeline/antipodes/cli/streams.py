"""The standard streams, which may be closed, full or broken, and whose encoding may lack characters of drawings.

Results go to standard output, everything else to standard error. All text passes through `print_line`, `print_lines`,
`print_json` or `say`, which escape control characters: names and texts come from stores and files of other people.
Standard input gives lines of bounded length, whatever its bytes. A failed write to standard output raises
`OutputError`. A failed write to standard error is ignored. Drawings fall back to ASCII, character by character.
"""

import codecs
import errno
import io
import json
import os
import re
import select
import shutil
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, TextIO

from antipodes.cli.loading import message_start
from antipodes_tasks.errors import BrokenOutputError, InputError, OutputError
from antipodes_tasks.quoting import printable, printable_lines

LONG_WORD = re.compile(r"(\S{1000})\S+")
"""A word that is shortened: it is longer than the path of any store."""
FAILED = 1
BAD_INPUT = 2
LONGEST_LINE = 1 << 16
"""Characters of a line of input at most: the largest board with the longest names of pieces takes fewer."""

READ_BYTES = 1 << 16
"""Bytes that are read together at most: as many as a pipe holds."""

IN_ASCII = {
    **dict.fromkeys("│╵╷", "|"),
    **dict.fromkeys("─╴╶━╸╺", "-"),
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼", "+"),
    **dict.fromkeys("█▉▊▋▌░", "#"),
    **dict.fromkeys("▍▎▏", ":"),
    **{chr(0x2800 + dots): "|/-\\"[dots % 4] for dots in range(256)},  # the spinner of a live line
    "·": ".",
    "…": "...",
}
"""Replacements of the characters of drawings; other characters are escaped."""
SIZES = ("COLUMNS", "LINES")
"""Environment variables with the size of the terminal, which libraries take for numbers without a check."""
DRAWN = "antipodes-drawn"
"""The name of the error handler that uses them."""


def in_ascii(error: UnicodeError) -> tuple[str, int]:
    """The text that an encoder writes for characters that it lacks, and the place where it continues."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(IN_ASCII.get(one) or escaped(one) for one in missing), error.end


def escaped(text: str) -> str:
    """The text in ASCII, other characters as Python escapes them."""
    return text.encode("ascii", "backslashreplace").decode("ascii")


codecs.register_error(DRAWN, in_ascii)


class Results(io.FileIO):
    """Standard output; after an error it discards everything."""

    lost = False

    def write(self, data: Any, /) -> int:
        """As `FileIO.write`; OutputError where that fails, once."""
        if self.lost:
            return len(data)
        try:
            while (written := super().write(data)) is None:  # the descriptor does not block: its reader is slow
                select.select((), (self,), ())
            return written
        except OSError as error:
            self.lost = True
            kind = BrokenOutputError if error.errno == errno.EPIPE else OutputError
            raise kind(f"cannot write to standard output: {error.strerror or error}") from error


class Messages(io.FileIO):
    """Standard error; it discards text that cannot be written, because there is no other place to report that."""

    def write(self, data: Any, /) -> int:
        """Write all, or as much as can be."""
        rest = memoryview(data)
        with suppress(OSError):
            while rest and (written := super().write(rest)):
                rest = rest[written:]
        return len(data)


def claim_streams() -> None:
    """Make the standard streams of this process behave as this module says."""
    # Closed ones are replaced first, else a file of a store would get their numbers. Standard input is opened for
    # writing and standard output for reading, so that using them is the same error as using a closed stream.
    source = 0 if sys.stdin else _open_null_device(os.O_WRONLY)
    results = 1 if sys.stdout else _open_null_device(os.O_RDONLY)
    messages = 2 if sys.stderr else _open_null_device(os.O_WRONLY)
    for name in SIZES:
        if not re.fullmatch("[0-9]{1,4}", os.environ.get(name, "")):
            os.environ.pop(name, None)
    sys.stdin = _reader(source, sys.stdin)
    sys.stdout = _writer_like(sys.stdout, io.BufferedWriter(Results(results, "wb", closefd=False)))
    # without a buffer, which would refuse the message of a signal handler while it is being written to
    sys.stderr = _writer_like(sys.stderr, Messages(messages, "wb", closefd=False))


def writer(stream: Any, encoding: str, line_buffering: bool = False, write_through: bool = False) -> TextIO:
    """A text stream on a stream of bytes; drawings fall back to ASCII."""
    return io.TextIOWrapper(stream, encoding, DRAWN, line_buffering=line_buffering, write_through=write_through)


def input_batches() -> Iterator[list[str]]:
    """The lines of standard input: all that have arrived, as soon as any have, so that none waits for more input.

    Raises
    ------
    InputError
        It cannot be read, for example as it is closed, or a line is longer than any position.
    """
    stream: Any = sys.stdin
    decoder = codecs.getincrementaldecoder(stream.encoding)(stream.errors or "strict")
    text = io.IncrementalNewlineDecoder(decoder, translate=True)
    rest = ""
    try:
        while arrived := stream.buffer.read1(READ_BYTES):
            *lines, rest = (rest + text.decode(arrived)).split("\n")
            if max(map(len, (*lines, rest))) > LONGEST_LINE:
                raise InputError(f"standard input: expected lines of at most {LONGEST_LINE:,} characters, found more")
            if lines:
                yield lines
        if rest := rest + text.decode(b"", final=True):
            yield [rest]
    except OSError as error:
        raise InputError(f"cannot read standard input: {error.strerror or error}") from error
    except UnicodeError as error:
        raise InputError(f"standard input: expected text in {stream.encoding}, found other bytes") from error


def can_encode(text: str, stream: TextIO) -> bool:
    """Whether a stream can write the text without a replacement."""
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def print_line(text: object = "", flush: bool = False) -> None:
    """Print one line; control characters in it, line ends too, are escaped."""
    print(printable(str(text)), flush=flush)


def print_lines(text: str) -> None:
    """Print a text of several lines, with or without a line end after it; other control characters are escaped."""
    print(printable_lines(text), end="" if text.endswith("\n") or not text else "\n")


def print_drawing(drawing: str, flush: bool = False) -> None:
    """Print a drawing by `antipodes.tables.drawing`, which has colours, and whose content is escaped already."""
    print(drawing, flush=flush)


def print_json(value: Any) -> None:
    """Print one JSON value; control characters, and characters that stdout cannot encode, are escaped."""
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
    if not can_encode(text, sys.stdout):
        return json.dumps(value)
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)


def say(message: str) -> None:
    """Print one line on stderr."""
    line = " ".join(LONG_WORD.sub(r"\1…", message).split())
    start = message_start() if _is_claimed() else "antipodes:"
    print(start, printable(line), file=sys.stderr)


def _is_claimed() -> bool:
    """Whether standard error is this process's own, rather than a stream of a program that runs commands in Python."""
    return isinstance(getattr(sys.stderr, "buffer", None), Messages)


def print_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a traceback on stderr, as Python does, without control characters."""
    for text in traceback.format_exception(kind, error, trace):
        print(printable_lines(text), end="", file=sys.stderr)


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
    except BrokenOutputError:
        pass  # the reader has seen enough
    except OutputError as error:
        say(f"{done}, but {error}")


def terminal_columns() -> int:
    """The width of the terminal in characters."""
    return shutil.get_terminal_size().columns


def _open_null_device(flags: int) -> int:
    """Open the null device under the lowest free number, which is that of the closed stream; the number."""
    number = os.open(os.devnull, flags)
    os.set_inheritable(number, True)
    return number


def _reader(number: int, stream: TextIO | None) -> TextIO:
    """A stream that reads bytes of another encoding as characters that no position has."""
    if stream is None:
        return open(number, encoding="utf-8", closefd=False)
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="surrogateescape")
    return stream


def _writer_like(stream: TextIO | None, onto: Any) -> TextIO:
    """A stream with the encoding and the buffering of another, which may be closed."""
    if not isinstance(stream, io.TextIOWrapper):
        return writer(onto, "utf-8", line_buffering=True)
    return writer(onto, stream.encoding, stream.line_buffering, stream.write_through)
