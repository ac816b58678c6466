"""Opening and locking regular files without blocking: a pipe or device in place of a file must not stop the program.

Opening a named pipe blocks until another process opens its other end, and opening some devices has side effects. Anyone
who sends a folder, or who can write to a shared folder, could replace a file with a pipe, a device or a link.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, BinaryIO

OTHERS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
"""Kinds of things that may be found in place of a file, for messages."""


class NotAFileError(OSError):
    """There is something other than a regular file at a path; it was not opened."""


def kind_of(mode: int) -> str:
    """Return the name of the kind of file with this mode of `os.stat`."""
    return next((words for is_kind, words in OTHERS if is_kind(mode)), "a file")


def check_regular(mode: int, path: object) -> None:
    """Raise NotAFileError unless the mode of `os.stat` is that of a regular file."""
    if not stat.S_ISREG(mode):
        raise NotAFileError(errno.EINVAL, f"expected a file, found {kind_of(mode)}", str(path))


def open_descriptor(
    path: str | os.PathLike[str], flags: int = os.O_RDONLY, *, folder: int | None = None, links: bool = True
) -> int:
    """Open a regular file and return its descriptor.

    Parameters
    ----------
    folder
        Descriptor of the folder that a relative path refers to.
    links
        Whether the path may be a link to the file.

    Raises
    ------
    NotAFileError
        There is something other than a regular file at the path.
    OSError
        See `os.open`.
    """
    check_regular(os.stat(path, dir_fd=folder, follow_symlinks=links).st_mode, path)
    flags |= os.O_NONBLOCK | (0 if links else os.O_NOFOLLOW)
    descriptor = os.open(path, flags, dir_fd=folder)
    try:
        check_regular(os.fstat(descriptor).st_mode, path)  # it may have been replaced meanwhile
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def lock_soon(descriptor: int, pauses: Iterable[float]) -> None:
    """Lock an open file, with pauses in seconds between the attempts.

    Raises BlockingIOError if the file is still locked after the last pause, and OSError if locking fails.
    """
    for pause in pauses:
        with suppress(BlockingIOError):
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        time.sleep(pause)
    return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def open_file(path: str | os.PathLike[str], **options: Any) -> BinaryIO:
    """Open a regular file to read its bytes; see `open_descriptor` for options and errors."""
    return os.fdopen(open_descriptor(path, **options), "rb")
