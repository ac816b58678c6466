"""Processes from which a folder is hidden, and small file systems; only root can create them."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def hidden(folder: Path) -> tuple[object, ...]:
    """Return the words with which a command begins for which a folder is empty, as on another machine."""
    folder.mkdir()
    prefix = ("unshare", "--mount", "--propagation", "private", "sh", "-c")
    enter = (*prefix, f'mount -t tmpfs empty "{folder}" && exec "$@"', "sh")
    check([*enter, "true"], "no process can have mounts of its own here")
    return enter


@contextmanager
def small(folder: Path, size: str) -> Iterator[Path]:
    """Mount a file system of a size, such as ``1m``, at a new folder."""
    folder.mkdir()
    check(["mount", "-t", "tmpfs", "-o", f"size={size}", "small", str(folder)], "nothing can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def check(command: list[object] | list[str], why: str) -> None:
    """Skip the test, with a reason, unless the user is root and the command succeeds."""
    words = [str(word) for word in command]
    if os.geteuid() or not shutil.which(words[0]) or subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip(why)
