"""A cache of bytes in files in the user's cache folder.

A file contains the bytes, followed by a digest of each block, which also depends on the name of the file. It is read
into memory and then checked, not mapped: if a mapped file were truncated, the process would end (SIGBUS), and if it
were written, the bytes would change after the check. The program replaces files and never changes them in place. The
total size of the files is limited, and the least recently used files are deleted to make room. Processes take turns to
make room, and lock the files that they are writing.

Digests only detect corruption, so a folder in which other users can replace files is refused.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import platformdirs

from antipodes.system.machine import GIB, available_workers
from antipodes.system.options import memory_size
from antipodes_tasks.base.array_types import Bytes
from antipodes_tasks.base.errors import AntipodesError, InputError
from antipodes_tasks.base.parallel import on_threads
from antipodes_tasks.base.private_folder import reason_not_private
from antipodes_tasks.base.regular_file import lock_soon, open_file
from antipodes_tasks.searches.packed import digest
from antipodes_tasks.searches.progress import Heartbeat, no_pulse

LIMIT_VARIABLE = "ANTIPODES_CACHE_SIZE"
"""Name of the environment variable that contains the size limit."""
DEFAULT_LIMIT = 8 * GIB
SUFFIX = ".depths"
MAKING = "making-"
"""Prefix of the names of folders in which files are written."""
LOCK = "lock"
"""The name of the file that is locked while a process makes room."""
LOCK_PAUSES = (0.01, 0.04, 0.16, 0.64)
"""Seconds between attempts to lock this file."""
DIGEST_BYTES = 8
BLOCK = 1 << 21
"""Size of a block with its own digest, in bytes. A block fits into the cache of a processor."""
Write = Callable[[int, Bytes], None]
"""Writes bytes at an offset. Threads may call it at the same time."""


def limit_of_cache() -> int:
    """Return the maximum size of all cached files in bytes; raise InputError if the environment variable is invalid."""
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    return memory_size(text, LIMIT_VARIABLE, minimum=0) if text else DEFAULT_LIMIT


def open_cached(name: str, pulse: Heartbeat = no_pulse, into: Bytes | None = None) -> Bytes | None:
    """Return the bytes of a file, or None if it is missing or corrupt. An error raised by ``pulse`` ends the call.

    The bytes are written to ``into``, if given; a file of another size is not read.

    Raises InputError if the limit of the cache is not valid, or if other users can replace its files.
    """
    if not limit_of_cache():
        return None
    path = _path_of(name)
    try:
        with open_file(path) as file:
            content = os.fstat(file.fileno()).st_size
            size = content - -(-content // (BLOCK + DIGEST_BYTES)) * DIGEST_BYTES
            if size <= 0 or (into is not None and size != len(into)):
                return None
            values, digests = _read(name, file.fileno(), size, pulse, into)
            if os.pread(file.fileno(), len(digests) + 1, size) != digests:
                return None
        with suppress(OSError):  # the cache may be read-only
            os.utime(path)
        return values
    except OSError:
        return None


def keep_cached(
    name: str, size: int, fill: Callable[[Write], None], pulse: Heartbeat = no_pulse, into: Bytes | None = None
) -> Bytes | None:
    """Create a file of ``size`` bytes, which ``fill`` writes with the function passed to it; return the bytes.

    The bytes are also written to ``into``, if given.

    Returns None if there is no room for the file; then ``fill`` may not have been called. An error raised by ``pulse``
    ends the call.

    Raises
    ------
    InputError
        The limit of the cache is not valid, or other users can replace its files.
    AntipodesError
        ``fill`` raised it.
    """
    limit = limit_of_cache()
    if not 0 < size <= limit:
        return None
    path = _path_of(name)
    try:
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        with ExitStack() as stack:
            with _locked(path.parent / LOCK):
                room = _make_room(path.parent, limit - size)
                if not room or shutil.disk_usage(path.parent).free < 4 * size:
                    return None
                # If the disk is full and the file is truncated, it is deleted together with this temporary folder.
                folder = stack.enter_context(TemporaryDirectory(dir=path.parent, prefix=MAKING))
                whole = Path(folder) / path.name
                file = stack.enter_context(whole.open("wb+", buffering=0))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # held while the file is written
                os.ftruncate(file.fileno(), size)  # reserves its size, which other processes count when they make room
            fill(lambda begin, values: _write(file.fileno(), begin, values))
            found, digests = _read(name, file.fileno(), size, pulse, into)
            _write(file.fileno(), size, np.frombuffer(digests, dtype=np.uint8))
            os.replace(whole, path)
            return found
    except AntipodesError:
        raise
    except OSError:
        return None


def _path_of(name: str) -> Path:
    folder = platformdirs.user_cache_path("antipodes", appauthor=False) / "tables"
    if reason := reason_not_private(folder):
        raise InputError(f"cached tables are not used, because {reason}; delete this directory, or set XDG_CACHE_HOME")
    return folder / f"{name}{SUFFIX}"


def _write(file: int, begin: int, values: Bytes) -> None:
    """Write bytes to a file at the offset ``begin``."""
    content, end = values.data, begin + len(values)
    while begin < end:
        begin += os.pwrite(file, content[begin - end :], begin)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock in the block; raise OSError if another process holds it for a second, or if locking fails."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with open_file(path) as file:
        lock_soon(file.fileno(), LOCK_PAUSES)
        yield


def _make_room(folder: Path, max_bytes: int) -> bool:
    """Delete the least recently used files until the remaining files take at most ``max_bytes``.

    Returns False if this is impossible, because the files that other processes are writing take more.

    The caller holds the lock of the folder. Nevertheless, users may replace or delete files at the same time.
    """
    found = [(status, path) for path in folder.glob(f"*{SUFFIX}") if (status := _status(path))]
    max_bytes -= sum(map(_made_in, folder.glob(f"{MAKING}*")))
    if max_bytes < 0:
        return False
    for status, path in sorted(found, key=lambda one: one[0].st_mtime, reverse=True):
        max_bytes -= status.st_size
        if max_bytes < 0:
            path.unlink(missing_ok=True)
    return True


def _made_in(folder: Path) -> int:
    """Return the size of the file that a process is writing in a folder; delete the folder if the process was killed.

    A file is locked as long as it is being written; its process locks it before it releases the lock of the cache.
    """
    sizes = [status.st_size for path in folder.glob("*") if _is_locked(path) and (status := _status(path))]
    if not sizes:
        shutil.rmtree(folder, ignore_errors=True)
    return sum(sizes)


def _is_locked(path: Path) -> bool:
    """Return whether another process holds the lock of a file."""
    try:
        with open_file(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _status(path: Path) -> os.stat_result | None:
    """Return the status of a file, or None if it does not exist."""
    try:
        return path.stat()
    except OSError:
        return None


def _read(name: str, file: int, size: int, pulse: Heartbeat, into: Bytes | None) -> tuple[Bytes, bytes]:
    """Return the first ``size`` bytes of a file, and the digest of each block; raise OSError if it is unreadable.

    The name of the file and the offset of the block are parts of the digest.
    """
    values = np.empty(size, dtype=np.uint8) if into is None else into
    salt = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=DIGEST_BYTES).digest(), "little")

    def digest_at(begin: int) -> int:
        block = values[begin : begin + BLOCK]
        if os.preadv(file, [block.data], begin) != len(block):
            raise OSError(f"expected {len(block)} bytes at {begin}")
        return (digest(block) + salt + begin) % (1 << 8 * DIGEST_BYTES)

    found = list(on_threads(digest_at, range(0, size, BLOCK), available_workers(), pulse))
    return values, np.array(found, dtype="<u8").tobytes()
