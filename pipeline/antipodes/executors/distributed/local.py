"""Folders for what the processes of a run move to disk; those of runs that were killed are removed by the next one."""

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "antipodes-scratch-"
LOCK = "lock"
"""The file in each folder that its run holds a lock on for as long as it lives."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder in the system's place for temporary files, gone in the end."""
    _remove_leftovers(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with (folder / "new").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / "new").rename(folder / LOCK)  # nobody takes it for a leftover before it is locked
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_leftovers(where: Path) -> None:
    for path in where.glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError), path.open("rb") as lock:  # it is another user's, or another run's
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path.parent, ignore_errors=True)
