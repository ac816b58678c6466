"""Files that are replaced atomically, and are on the disk when the call returns."""

import errno
import os
import uuid
from collections.abc import Callable
from pathlib import Path

from antipodes.errors import StoreError

PARTIAL = ".partial"
"""The end of the name of an unfinished file; a crashed run leaves such files, and the next run removes them."""

NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
"""Errors of the system for a path at which nothing is; after any other error there may be something, unseen for now."""


def status_of(path: Path) -> os.stat_result | None:
    """The status of a file or directory; None where nothing is, StoreError if the system cannot tell."""
    try:
        return os.stat(path)
    except OSError as error:
        if error.errno in NOTHING_THERE:
            return None
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error


def replace_file(path: Path, content: bytes | bytearray | memoryview, check: Callable[[], None] = lambda: None) -> None:
    """Put ``content`` at ``path``: after a crash at any moment, the old file is there or the new one.

    ``check`` is called right before the new file replaces the old one, which stays if ``check`` raises an error.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}{PARTIAL}")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        check()
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
