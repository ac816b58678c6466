"""Broken standard outputs for tests: closed, full, without a reader, or of an encoding that lacks some characters."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from antipodes.cli.streams import Results, writer

ENCODINGS = ("ascii", "latin-1", "cp437", "utf-16")
UNWRITABLE = ("full", "closed", "left")


@contextmanager
def encoded(path: Path, encoding: str) -> Iterator[TextIO]:
    """Standard output in an encoding; its bytes go into the file."""
    with writer(io.BufferedWriter(Results(path, "wb")), encoding) as stream:
        yield stream


@contextmanager
def unwritable(kind: str) -> Iterator[TextIO]:
    """Standard output that cannot be written to."""
    if kind == "full":
        number = os.open("/dev/full", os.O_WRONLY)
    elif kind == "closed":
        number = os.open(os.devnull, os.O_RDONLY)
    else:
        reader, number = os.pipe()
        os.close(reader)
    with writer(io.BufferedWriter(Results(number, "wb")), "utf-8") as stream:
        yield stream
