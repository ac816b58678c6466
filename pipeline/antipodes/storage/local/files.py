"""Files that are replaced as a whole, and are on the disk when the call returns."""

import os
import uuid
from collections.abc import Callable
from pathlib import Path

PARTIAL = ".partial"
"""How the name of a file ends that is not ready; a run that dies leaves such files, the next one removes them."""


def replace_file(path: Path, content: bytes | bytearray | memoryview, check: Callable[[], None] = lambda: None) -> None:
    """Put ``content`` at ``path``: after a crash at any moment, the old file is there or the new one.

    What ``check`` raises, right before the new file would take its place, leaves the old one.
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
