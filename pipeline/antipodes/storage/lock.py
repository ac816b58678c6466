"""The lock of a store, which one run at a time holds; the process that owns it, and errors that name that process."""

import json
import math
import os
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Self

from antipodes_tasks.errors import StoreLockedError

Owner = Mapping[str, Any]
"""``process``, ``host``, ``since`` and the fencing ``token``; in object storage also the other fields of
`owning_process`, and ``beat``, the number of renewals."""

MAX_BYTES = 1 << 12
"""Bytes of a lock, at most; more are not understood."""
START_TOLERANCE = 2.0
"""Seconds by which two readings of a process's start may differ."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The run that holds the lock of a store, as far as the lock tells; it is read without disturbing the run."""

    owner: Owner
    alive: bool
    """Whether it still renews the lock; False: it has ended without releasing it, or cannot reach the storage."""

    def __str__(self) -> str:
        since = f" since {self._taken_at:%Y-%m-%d %H:%M:%S}" if self._taken_at else ""
        return f"{_name(self.owner)}{since}"

    @property
    def _taken_at(self) -> datetime | None:
        """When it took the lock, by its own clock, in the time zone of this machine."""
        try:
            return datetime.fromisoformat(self.owner["since"]).astimezone()
        except (KeyError, ValueError, TypeError, OverflowError):
            return None

    def to_json(self) -> dict[str, Any]:
        """The values of the key ``run`` on the command line."""
        since = self._taken_at
        return {
            "process": self.owner.get("process"),
            "host": self.owner.get("host"),
            "since": since and since.isoformat(timespec="seconds"),
            "alive": self.alive,
        }


class StoreLock(ABC):
    """The lock of a store.

    While a run holds it, every write and delete of that run first checks that it still does: a run whose lock was taken
    over while it was cut off or suspended gets StoreLockedError, and the data of its successor stay.
    """

    token = ""
    """The fencing token in the lock while this object holds it, else empty. Writers with an older one are refused: they
    were declared dead."""

    @property
    def is_held(self) -> bool:
        """Whether the lock is held here, by this object."""
        return bool(self.token)

    def check(self) -> None:
        """Raise StoreLockedError if the lock is held here, but was taken over by another run."""
        if self.is_held:
            self.check_token(self.token)

    def fence(self, token: str | None) -> Callable[[], None]:
        """The check to call before a write: `check_token` if a fencing token is given, else `check`."""
        return self.check if token is None else partial(self.check_token, token)

    @abstractmethod
    def hold(self) -> AbstractContextManager[Self]:
        """Keep other runs from the store; StoreLockedError where another run holds the lock."""

    @abstractmethod
    def rotate_token(self) -> None:
        """Replace the fencing token of a lock that is held: from now on writers with the old one are refused.

        StoreLockedError where another run has taken the lock over.
        """

    @abstractmethod
    def holder(self) -> Holder | None:
        """The run that holds the lock, or held it when it died; None where there is none.

        StoreError where the lock cannot be read.
        """

    @abstractmethod
    def check_token(self, token: str) -> None:
        """Raise StoreLockedError unless the lock contains this fencing token."""


def parse_owner(content: bytes) -> Owner:
    """The owner that the content of a lock names; empty where the content is not understood."""
    try:
        owner = json.loads(content) if len(content) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        return {}
    return owner if isinstance(owner, dict) else {}


def format_owner(owner: Owner) -> bytes:
    """The content of a lock of this owner."""
    return json.dumps(owner).encode()


def in_use(address: object, owner: Owner) -> StoreLockedError:
    """The error for a run that finds the lock held."""
    return StoreLockedError(f"{address} is in use by {_name(owner)}; wait for it, or stop it")


def taken_over(address: object, owner: Owner) -> StoreLockedError:
    """The error for a write by a former lock owner."""
    if not owner:
        reason = "taken over by another process, or removed"
        return StoreLockedError(f"the lock of {address} is gone or cannot be read: {reason}; not written")
    return StoreLockedError(f"{address} was taken over by {_name(owner)}; not written")


def check_owner(address: object, owner: Owner, token: str) -> None:
    """Raise StoreLockedError unless the lock of the store at an address contains the fencing token."""
    if owner.get("token") != token:
        raise taken_over(address, owner)


def _name(owner: Owner) -> str:
    if "process" in owner and "host" in owner:
        return f"process {owner['process']} on {owner['host']}"
    return "another process"


def owning_process() -> Owner:
    """The current process, described so that `is_dead` recognises it later on the same machine."""
    return {**this_process(), "machine": _machine(), "started": _started(os.getpid())}


def this_process() -> Owner:
    """The current process, described for people; it takes a lock now."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"process": os.getpid(), "host": socket.gethostname(), "since": now}


def is_dead(owner: Owner) -> bool:
    """Whether the owner was a process of this machine that has ended; False where that is unknown."""
    here = _machine()
    if not here or owner.get("machine") != here:
        return False
    try:
        started = _started(int(owner["process"]))
        return started is None or abs(started - float(owner["started"])) > START_TOLERANCE
    except (KeyError, ValueError, TypeError):
        return False


def _started(number: int) -> float | None:
    """When a process of this machine started, in seconds since 1970; None if it has ended, NaN where it is hidden."""
    import psutil

    try:
        process = psutil.Process(number)
        return None if process.status() == psutil.STATUS_ZOMBIE else float(process.create_time())
    except psutil.NoSuchProcess:
        return None if _is_free(number) else math.nan
    except psutil.Error:
        return math.nan


def _machine() -> str:
    """One boot of one machine and one PID namespace (a container has its own); empty where unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _is_free(number: int) -> bool:
    """Whether no process has this number; those of other users may be hidden (mount option hidepid)."""
    try:
        os.kill(number, 0)
    except (OSError, OverflowError) as error:
        return not isinstance(error, PermissionError)
    return False
