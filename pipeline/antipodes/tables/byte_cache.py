"""Bytes that are kept in files of the user's cache folder from one time to the next.

A file has the bytes, and after them a digest of each block. All are checked when it is opened; then its pages are the
memory of the bytes, so that they are not copied, and several processes share them. Nothing changes a file: another one
replaces it. Together the files take at most a limit; those that have not been used for the longest time make room.
"""

import mmap
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import platformdirs
from numpy.typing import NDArray

from antipodes.machine import GIB, available_workers
from antipodes.runs.options import memory_size
from antipodes_tasks.errors import AntipodesError
from antipodes_tasks.searches.packed import digest
from antipodes_tasks.searches.progress import Pulse, no_pulse, on_threads

LIMIT_VARIABLE = "ANTIPODES_CACHE_SIZE"
"""The environment variable that has the limit."""
DEFAULT_LIMIT = 8 * GIB
SUFFIX = ".depths"
MAKING = "making-"
"""How the names of folders begin in which files are made."""
LEFT_SECONDS = 3600
"""Seconds without a change after which such a folder is left from a process that was killed."""
DIGEST_BYTES = 8
BLOCK = 1 << 21
"""Bytes of which there is a digest: they fit into the cache of a processor."""
Bytes = NDArray[np.uint8]
Write = Callable[[int, Bytes], None]
"""Takes where some bytes begin, and these bytes; threads may call it together."""


def limit_of_cache() -> int:
    """Bytes that all files of the cache may take; InputError where the environment says something else."""
    text = os.environ.get(LIMIT_VARIABLE, "")
    if not text:
        return DEFAULT_LIMIT
    return 0 if text.strip() == "0" else memory_size(text, LIMIT_VARIABLE)


def open_cached(name: str, pulse: Pulse = no_pulse) -> Bytes | None:
    """The bytes of a file; None if there is none, or it is damaged. The pulse may end it."""
    path = _path_of(name)
    try:
        with path.open("rb") as file:
            content = os.fstat(file.fileno()).st_size
            size = content - -(-content // (BLOCK + DIGEST_BYTES)) * DIGEST_BYTES
            digests = _digests(file.fileno(), size, pulse)
            if size <= 0 or os.pread(file.fileno(), len(digests) + 1, size) != digests:
                return None
            with suppress(OSError):  # a cache that may only be read
                os.utime(path)
            return _mapped(file.fileno(), size)
    except OSError:
        return None


def keep_cached(name: str, size: int, fill: Callable[[Write], None], pulse: Pulse = no_pulse) -> Bytes | None:
    """Make a file of so many bytes, which ``fill`` writes with the function that it is given, and open it.

    None where there is no room for it; then ``fill`` may not have been called. The pulse may end it.

    Raises
    ------
    InputError
        The limit of the cache is none.
    AntipodesError
        ``fill`` raises it.
    """
    path, limit = _path_of(name), limit_of_cache()
    if not 0 < size <= limit:
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_room(path.parent, limit - size)
        if shutil.disk_usage(path.parent).free < 4 * size:
            return None
        with TemporaryDirectory(dir=path.parent, prefix=MAKING) as folder:  # it takes along what a full disk cut off
            whole = Path(folder) / path.name
            with whole.open("wb+", buffering=0) as file:
                fill(lambda begin, values: _write(file.fileno(), begin, values))
                _write(file.fileno(), size, np.frombuffer(_digests(file.fileno(), size, pulse), dtype=np.uint8))
                os.replace(whole, path)
                return _mapped(file.fileno(), size)
    except AntipodesError:
        raise
    except OSError:
        return None


def _path_of(name: str) -> Path:
    return platformdirs.user_cache_path("antipodes", appauthor=False) / "tables" / f"{name}{SUFFIX}"


def _write(file: int, begin: int, values: Bytes) -> None:
    """Write bytes to a file where they begin."""
    content, end = values.data, begin + len(values)
    while begin < end:
        begin += os.pwrite(file, content[begin - end :], begin)


def _mapped(file: int, size: int) -> Bytes:
    """The first bytes of a file; a change of the array does not reach the file."""
    return np.frombuffer(mmap.mmap(file, size, access=mmap.ACCESS_COPY), dtype=np.uint8)


def _make_room(folder: Path, most: int) -> None:
    """Delete the files that have not been used for the longest time, until the others take at most so many bytes."""
    files = sorted(((path.stat().st_mtime, path) for path in folder.glob(f"*{SUFFIX}")), reverse=True)
    most -= sum(map(_made_in, folder.glob(f"{MAKING}*")))
    for _, path in files:
        most -= path.stat().st_size
        if most < 0:
            path.unlink(missing_ok=True)


def _made_in(folder: Path) -> int:
    """The bytes of the files that another process is making in a folder; it is deleted if that process was killed."""
    found = [path.stat() for path in (folder, *folder.glob("*"))]
    if time.time() - max(one.st_mtime for one in found) > LEFT_SECONDS:
        shutil.rmtree(folder, ignore_errors=True)
        return 0
    return sum(one.st_size for one in found[1:])


def _digests(file: int, size: int, pulse: Pulse) -> bytes:
    """The digest of each block of the first bytes of a file; OSError where they cannot be read.

    They are read, not mapped: a page that cannot be read would end the process.
    """

    def digest_at(begin: int) -> int:
        block = np.empty(min(BLOCK, size - begin), dtype=np.uint8)
        if os.preadv(file, [block.data], begin) != len(block):
            raise OSError(f"expected {len(block)} bytes at {begin}")
        return digest(block)

    found = list(on_threads(digest_at, range(0, size, BLOCK), available_workers(), pulse))
    return np.array(found, dtype="<u8").tobytes()
