"""Files that are replaced atomically, and are on the disk when the call returns or when a later one does."""

import errno
import os
import shutil
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from antipodes.storage.backend import Content
from antipodes_tasks.errors import StoreError

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


def replace_file(
    path: Path, parts: Sequence[Content], check: Callable[[], None] = lambda: None, durable: bool = True
) -> None:
    """Write the parts to ``path``: after a crash at any moment, the old file is there or the new one.

    A directory in its place, which no run makes, is deleted.

    ``check`` is called right before the new file replaces the old one, which stays if ``check`` raises an error. A file
    that need not be durable may be empty or cut after a crash of the machine, until `sync_files`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}{PARTIAL}")
    try:
        with partial.open("wb") as file:
            file.writelines(parts)  # large parts go to the system as they are, without a copy
            if durable:
                file.flush()
                os.fsync(file.fileno())
        check()
        try:
            partial.replace(path)
        except IsADirectoryError:
            remove_file(path)
            partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    if durable:
        sync(path.parent)


def remove_file(path: Path) -> None:
    """Delete a file, or a directory in its place; nothing may be there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sync_files(paths: Sequence[Path]) -> None:
    """Make files and their names durable."""
    for path in (*paths, *sorted({path.parent for path in paths})):
        sync(path)


def sync(path: Path) -> None:
    """Make the content of a file durable, or the names in a directory."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
