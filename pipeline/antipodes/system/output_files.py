"""Files that exist completely or not at all: a new file replaces the old one when its content is complete."""

import os
import shutil
import stat
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from antipodes.system.file_errors import file_errors
from antipodes_tasks.base.errors import InputError, StoreError
from antipodes_tasks.base.quoting import shorten

PARTIAL = ".partial"
"""Suffix of an unfinished file. A killed program leaves such files."""


NAME_KEPT = 50
"""Number of characters of a file's name in the name of its unfinished file. File systems limit the length of names."""


@contextmanager
def replacing(path: Path, check: Callable[[], None] = lambda: None, durable: bool = True) -> Iterator[BinaryIO]:
    """Yield a file that replaces ``path`` at the end of the block. After an error, the old file remains.

    After a crash, either the old file or the new file exists. ``check`` is called right before the new file replaces
    the old one, and may raise an error. A file with ``durable=False`` may be empty or truncated after a crash of the
    machine. Raises OSError.
    """
    partial = path.with_name(f"{path.name[:NAME_KEPT]}.{uuid.uuid4().hex}{PARTIAL}")
    try:
        with partial.open("wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        check()
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    if durable:
        sync(path.parent)


def sync(path: Path) -> None:
    """Make the content of a file, or the entries of a directory, durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def output_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that replaces the user's file ``path``, or the target of this link, at the end of the block.

    The new file has the permissions of the old one. A pipe or a device, such as /dev/stdout, is written directly.
    Raises StoreError if the file cannot be written.
    """
    with writing(path):
        mode = _mode_of(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise StoreError(f"cannot write {shorten(str(path))}: it is a directory")
        if mode is not None and not stat.S_ISREG(mode):
            with path.open("wb") as file:
                yield file
            return
        with replacing(path.resolve(), durable=False) as file:
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            yield file


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes the user's folder ``path`` at the end of the block, or is deleted by an error.

    Raises InputError if something exists at the path, and StoreError if the block cannot write the folder.
    """
    with writing(path):
        if os.path.lexists(path):
            raise InputError(f"{shorten(str(path))} exists already; choose another folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name[:NAME_KEPT]}.{uuid.uuid4().hex}{PARTIAL}")
        partial.mkdir()
        try:
            yield partial
            partial.rename(path)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise


def _mode_of(path: Path) -> int | None:
    """Return the type and the permissions of a file, or None if it does not exist; raise OSError."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise StoreError if the block cannot write the user's file or folder ``path``."""
    name = shorten(str(path))
    if "\0" in str(path):
        raise StoreError(f"cannot write {name}: the name contains a null byte")
    with file_errors("write", name):
        yield
