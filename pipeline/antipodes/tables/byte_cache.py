"""Bytes that are kept in files of the user's cache folder from one time to the next.

A file has the bytes, and after them a digest of each block. It is read into memory, and what was read is checked: if a
file were mapped instead, cutting it would end the process (SIGBUS), and writing to it would change the bytes after the
check. The program itself changes no file: another one replaces it. Together the files take at most a limit; those that
have not been used for the longest time make room. Processes that make files take turns to make room, and lock the files
that they are making.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import platformdirs
from numpy.typing import NDArray

from antipodes.machine import GIB, available_workers
from antipodes.regular_file import open_file
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
LOCK = "lock"
"""The name of the file that is locked while a process makes room."""
LOCK_PAUSES = (0.01, 0.04, 0.16, 0.64)
"""Seconds to wait for that lock."""
DIGEST_BYTES = 8
BLOCK = 1 << 21
"""Bytes of which there is a digest: they fit into the cache of a processor."""
Bytes = NDArray[np.uint8]
Write = Callable[[int, Bytes], None]
"""Takes where some bytes begin, and these bytes; threads may call it together."""


def limit_of_cache() -> int:
    """Bytes that all files of the cache may take; InputError where the environment says something else."""
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    return memory_size(text, LIMIT_VARIABLE, least=0) if text else DEFAULT_LIMIT


def open_cached(name: str, pulse: Pulse = no_pulse) -> Bytes | None:
    """The bytes of a file; None if there is none, or it is damaged. The pulse may end it."""
    path = _path_of(name)
    try:
        with open_file(path) as file:
            content = os.fstat(file.fileno()).st_size
            size = content - -(-content // (BLOCK + DIGEST_BYTES)) * DIGEST_BYTES
            if size <= 0:
                return None
            values, digests = _read(file.fileno(), size, pulse)
            if os.pread(file.fileno(), len(digests) + 1, size) != digests:
                return None
        with suppress(OSError):  # a cache that may only be read
            os.utime(path)
        return values
    except OSError:
        return None


def keep_cached(name: str, size: int, fill: Callable[[Write], None], pulse: Pulse = no_pulse) -> Bytes | None:
    """Make a file of so many bytes, which ``fill`` writes with the function that it is given; the bytes.

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
        with ExitStack() as stack:
            with _locked(path.parent / LOCK):
                room = _make_room(path.parent, limit - size)
                if not room or shutil.disk_usage(path.parent).free < 4 * size:
                    return None
                # The folder takes along what a full disk cut off.
                folder = stack.enter_context(TemporaryDirectory(dir=path.parent, prefix=MAKING))
                whole = Path(folder) / path.name
                file = stack.enter_context(whole.open("wb+", buffering=0))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # as long as it is made
                os.ftruncate(file.fileno(), size)  # what it will take, for others that make room
            fill(lambda begin, values: _write(file.fileno(), begin, values))
            found, digests = _read(file.fileno(), size, pulse)
            _write(file.fileno(), size, np.frombuffer(digests, dtype=np.uint8))
            os.replace(whole, path)
            return found
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


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes out of the block; OSError if one stays in it for a second, or the file cannot be locked."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with open_file(path) as file:
        for pause in LOCK_PAUSES:
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(pause)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _make_room(folder: Path, most: int) -> bool:
    """Delete the files that have not been used for the longest time, until the others take at most so many bytes.

    False if those that other processes are making take more.

    The caller holds the lock of the folder; nevertheless files may be replaced or deleted by hand meanwhile.
    """
    found = [(status, path) for path in folder.glob(f"*{SUFFIX}") if (status := _status(path))]
    most -= sum(map(_made_in, folder.glob(f"{MAKING}*")))
    if most < 0:
        return False
    for status, path in sorted(found, key=lambda one: one[0].st_mtime, reverse=True):
        most -= status.st_size
        if most < 0:
            path.unlink(missing_ok=True)
    return True


def _made_in(folder: Path) -> int:
    """The bytes of the file that another process is making in a folder; it is deleted if that process was killed.

    A file that is being made is locked, before the process leaves the lock of the cache.
    """
    sizes = [status.st_size for path in folder.glob("*") if _is_locked(path) and (status := _status(path))]
    if not sizes:
        shutil.rmtree(folder, ignore_errors=True)
    return sum(sizes)


def _is_locked(path: Path) -> bool:
    """Whether another process holds the lock of a file."""
    try:
        with open_file(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _status(path: Path) -> os.stat_result | None:
    """The status of a file; None if it is not there."""
    try:
        return path.stat()
    except OSError:
        return None


def _read(file: int, size: int, pulse: Pulse) -> tuple[Bytes, bytes]:
    """The first bytes of a file, and the digest of each block of them; OSError where they cannot be read."""
    values = np.empty(size, dtype=np.uint8)

    def digest_at(begin: int) -> int:
        block = values[begin : begin + BLOCK]
        if os.preadv(file, [block.data], begin) != len(block):
            raise OSError(f"expected {len(block)} bytes at {begin}")
        return digest(block)

    found = list(on_threads(digest_at, range(0, size, BLOCK), available_workers(), pulse))
    return values, np.array(found, dtype="<u8").tobytes()
