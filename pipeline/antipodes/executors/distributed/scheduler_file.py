"""The file to which a dask scheduler writes its address."""

import errno
import json
import stat
import time
from pathlib import Path

from antipodes.executors.address import check_address
from antipodes_tasks.errors import InputError, SchedulerError

FLUSH_SECONDS = 2.0
"""Seconds that a scheduler has to complete a file that it is writing."""
LARGEST = 1 << 20
"""Bytes that are read of a file; a scheduler writes some hundreds."""
POLL_SECONDS = 0.05
"""Seconds between two looks at the file."""


def address_in(path: str, seconds: float) -> str:
    """Return the address in a scheduler file, and wait some seconds for the file; dask would wait forever.

    Raises
    ------
    InputError
        No scheduler wrote the file.
    SchedulerError
        There is no file in time.
    """
    begin = time.monotonic()
    while (text := _text_of(Path(path))) is None:
        if time.monotonic() - begin > seconds:
            raise SchedulerError(f"expected the file of a dask scheduler at {path}, found none")
        time.sleep(POLL_SECONDS)
    found = time.monotonic()
    while (address := _address_of(text or "")) is None:
        if time.monotonic() - found > FLUSH_SECONDS:
            what = "an empty file" if not text else "no JSON object with an address"
            raise InputError(f"--scheduler-file: expected the file of a dask scheduler, found {what} in {path}")
        time.sleep(POLL_SECONDS)
        text = _text_of(Path(path))
    check_address(address, f"--scheduler-file {path}")
    return address


def _text_of(path: Path) -> str | None:
    """Return the content of a file, None if there is no file; InputError if it cannot be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(LARGEST)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # ValueError: the name contains a zero byte
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"--scheduler-file: expected a file that can be read, found {path}: {reason}") from error


def _address_of(text: str) -> str | None:
    """Return the address in the text of a scheduler file, None if there is none."""
    try:
        address = json.loads(text)["address"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return address if isinstance(address, str) else None
