"""The standard streams, which may be closed, full or broken, or unable to encode the characters of drawings.

Results go to standard output, everything else to standard error. All text passes through `print_line`, `print_lines`,
`print_json` or `print_message`, which escape control characters, because names and text come from other people's stores
and files. Standard input yields lines of bounded length, whatever its bytes are. A failed write to standard output
raises `OutputError`; a failed write to standard error is ignored. Drawings fall back to ASCII, character by character.
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
from antipodes.system.records import values_of
from antipodes_tasks.base.errors import BrokenOutputError, InputError, OutputError
from antipodes_tasks.base.quoting import printable, printable_lines

LONG_WORD = re.compile(r"(\S{1000})\S+")
"""A word to shorten; it is longer than the path of any store."""
FAILED = 1
BAD_INPUT = 2
LONGEST_LINE = 1 << 16
"""Maximum length of an input line in characters; the largest board with the longest names of pieces is shorter."""

READ_BYTES = 1 << 16
"""Maximum number of bytes per read: the capacity of a pipe."""

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
"""ASCII replacements for the characters of drawings; other characters are escaped."""
SIZES = ("COLUMNS", "LINES")
"""Environment variables with the size of the terminal, which libraries convert to numbers without a check."""
DRAWN = "antipodes-drawn"
"""Name of the error handler that uses `IN_ASCII`."""


def in_ascii(error: UnicodeError) -> tuple[str, int]:
    """Return the replacement for characters that an encoder lacks, and the position to continue at."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(IN_ASCII.get(one) or escaped(one) for one in missing), error.end


def escaped(text: str) -> str:
    """Return the text in ASCII; other characters become Python's escape sequences."""
    return text.encode("ascii", "backslashreplace").decode("ascii")


codecs.register_error(DRAWN, in_ascii)


class Results(io.FileIO):
    """Standard output; after a failed write it discards everything."""

    lost = False

    def write(self, data: Any, /) -> int:
        """Write like `FileIO.write`; raise OutputError on the first failure."""
        if self.lost:
            return len(data)
        try:
            while (written := super().write(data)) is None:  # a non-blocking descriptor with a slow reader
                select.select((), (self,), ())
            return written
        except OSError as error:
            self.lost = True
            kind = BrokenOutputError if error.errno == errno.EPIPE else OutputError
            raise kind(f"cannot write to standard output: {error.strerror or error}") from error


class Messages(io.FileIO):
    """Standard error; it discards text that cannot be written, because the failure cannot be reported elsewhere."""

    def write(self, data: Any, /) -> int:
        """Write as much as possible."""
        rest = memoryview(data)
        with suppress(OSError):
            while rest and (written := super().write(rest)):
                rest = rest[written:]
        return len(data)


def claim_streams() -> None:
    """Replace the standard streams of this process with the streams that this module describes."""
    # Closed streams are replaced first; otherwise a store's file would get their descriptor. Standard input is opened
    # for writing and standard output for reading, so using them raises the same error as using a closed stream.
    source = 0 if sys.stdin else _open_null_device(os.O_WRONLY)
    results = 1 if sys.stdout else _open_null_device(os.O_RDONLY)
    messages = 2 if sys.stderr else _open_null_device(os.O_WRONLY)
    for name in SIZES:
        if not re.fullmatch("[0-9]{1,4}", os.environ.get(name, "")):
            os.environ.pop(name, None)
    sys.stdin = _reader(source, sys.stdin)
    sys.stdout = _writer_like(sys.stdout, io.BufferedWriter(Results(results, "wb", closefd=False)))
    # unbuffered: a buffer refuses the message of a signal handler that interrupts a write
    sys.stderr = _writer_like(sys.stderr, Messages(messages, "wb", closefd=False))


def writer(stream: Any, encoding: str, line_buffering: bool = False, write_through: bool = False) -> TextIO:
    """Return a text stream that writes to a byte stream; drawings fall back to ASCII."""
    return io.TextIOWrapper(stream, encoding, DRAWN, line_buffering=line_buffering, write_through=write_through)


def input_batches() -> Iterator[list[str]]:
    """Yield the lines of standard input in batches, as soon as they arrive, so that no line waits for later input.

    Raises
    ------
    InputError
        Standard input cannot be read, for example because it is closed, or a line is longer than any position.
    """
    stream: Any = sys.stdin
    decoder = codecs.getincrementaldecoder(stream.encoding)(stream.errors or "strict")
    text = io.IncrementalNewlineDecoder(decoder, translate=True)
    rest = ""
    try:
        while arrived := stream.buffer.read1(READ_BYTES):
            *lines, rest = (rest + text.decode(arrived)).split("\n")
            if max(map(len, (*lines, rest))) > LONGEST_LINE:
                raise InputError(f"standard input: a line has more than {LONGEST_LINE:,} characters")
            if lines:
                yield lines
        if rest := rest + text.decode(b"", final=True):
            yield [rest]
    except OSError as error:
        raise InputError(f"cannot read standard input: {error.strerror or error}") from error
    except UnicodeError as error:
        raise InputError(f"standard input is not text in {stream.encoding}") from error


def can_encode(text: str, stream: TextIO) -> bool:
    """Return whether a stream can write the text without replacing characters."""
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def print_line(text: object = "", flush: bool = False) -> None:
    """Print one line; control characters in it, including line ends, are escaped."""
    print(printable(str(text)), flush=flush)


def print_lines(text: str) -> None:
    """Print several lines, adding a final line end if it is missing; other control characters are escaped."""
    print(printable_lines(text), end="" if text.endswith("\n") or not text else "\n")


def print_drawing(drawing: str, flush: bool = False) -> None:
    """Print a drawing by `antipodes.tables.drawing`, which may have colours; its content is already escaped."""
    print(drawing, flush=flush)


def print_json(value: Any) -> None:
    """Print one JSON value of records; control characters and those that stdout cannot encode are escaped."""
    print(_json(value))


def print_json_list(values: Iterable[Any], key: str | None = None, **others: Any) -> None:
    """Print a JSON list, each value as soon as it is known; with a ``key``, an object of the ``others`` and the list.

    If the values end with an error, the JSON is closed after the last value; without any value, nothing is printed.
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
    text = json.dumps(value, ensure_ascii=False, default=values_of)
    if not can_encode(text, sys.stdout):
        return json.dumps(value, default=values_of)
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)


def print_message(message: str) -> None:
    """Print one line on stderr."""
    line = " ".join(LONG_WORD.sub(r"\1…", message).split())
    start = message_start() if _is_claimed() else "antipodes:"
    print(start, printable(line), file=sys.stderr)


def _is_claimed() -> bool:
    """Return whether standard error belongs to this process, not to a Python program that runs commands."""
    return isinstance(getattr(sys.stderr, "buffer", None), Messages)


def print_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a traceback on stderr like Python, but without control characters."""
    for text in traceback.format_exception(kind, error, trace):
        print(printable_lines(text), end="", file=sys.stderr)


def complain(message: str, status: int) -> int:
    """Print an error message and return the given exit status."""
    print_message(message)
    return status


@contextmanager
def printing_about(done: str) -> Iterator[None]:
    """Report finished work in the block; if writing to stdout fails, the command succeeds nevertheless."""
    try:
        yield
        sys.stdout.flush()
    except BrokenOutputError:
        pass  # the reader has read enough
    except OutputError as error:
        print_message(f"{done}, but {error}")


def terminal_columns() -> int:
    """Return the width of the terminal in characters."""
    return shutil.get_terminal_size().columns


def _open_null_device(flags: int) -> int:
    """Open the null device at the lowest free descriptor, which the closed stream had; return the descriptor."""
    number = os.open(os.devnull, flags)
    os.set_inheritable(number, True)
    return number


def _reader(number: int, stream: TextIO | None) -> TextIO:
    """Return a stream that decodes invalid bytes to characters that no position contains."""
    if stream is None:
        return open(number, encoding="utf-8", closefd=False)
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="surrogateescape")
    return stream


def _writer_like(stream: TextIO | None, onto: Any) -> TextIO:
    """Return a stream on ``onto`` with the encoding and buffering of ``stream``, which may be closed."""
    if not isinstance(stream, io.TextIOWrapper):
        return writer(onto, "utf-8", line_buffering=True)
    return writer(onto, stream.encoding, stream.line_buffering, stream.write_through)
