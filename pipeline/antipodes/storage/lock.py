"""The lock of a store, which only one run at a time can hold; the lock's owner, and errors that name the owner."""

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

from antipodes_tasks.base.errors import StoreLockedError

Owner = Mapping[str, Any]
"""A mapping with ``process``, ``host``, ``since`` and the fencing ``token``. In object storage it also has the other
keys of `owning_process`, and ``beat``, the number of renewals."""

MAX_BYTES = 1 << 12
"""Maximum size of a lock's content in bytes. Larger content is ignored."""
START_TOLERANCE = 2.0
"""Seconds by which two readings of a process's start time may differ."""


@dataclass(frozen=True, slots=True)
class Run:
    """The run that holds the lock of a store."""

    process: Any
    host: Any
    since: str | None
    alive: bool


@dataclass(frozen=True, slots=True)
class Holder:
    """The run that holds the lock of a store, found without disturbing the run."""

    owner: Owner
    alive: bool
    """Whether the run seems to be alive. False: it ended without releasing the lock, or cannot reach the storage."""

    def __str__(self) -> str:
        since = f" since {self._taken_at:%Y-%m-%d %H:%M:%S}" if self._taken_at else ""
        return f"{_name(self.owner)}{since}"

    @property
    def _taken_at(self) -> datetime | None:
        """When the run took the lock, by the run's clock, in this machine's time zone."""
        try:
            return datetime.fromisoformat(self.owner["since"]).astimezone()
        except (KeyError, ValueError, TypeError, OverflowError):
            return None

    def to_record(self) -> Run:
        """Return the run for JSON output."""
        since = self._taken_at
        return Run(
            process=self.owner.get("process"),
            host=self.owner.get("host"),
            since=None if since is None else since.isoformat(timespec="seconds"),
            alive=self.alive,
        )


class StoreLock(ABC):
    """The lock of a store.

    While a run holds the lock, each of its writes and deletes first checks that the run still holds it. If another run
    took over the lock while the first was disconnected or suspended, the first run gets a StoreLockedError, and the
    data of the other run are safe.
    """

    token = ""
    """The fencing token in the lock while this object holds the lock, else empty. Writes with an older token are
    refused, because they come from workers that were declared dead."""

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return bool(self.token)

    def check(self) -> None:
        """Raise StoreLockedError if this object held the lock but another run took it over."""
        if self.is_held:
            self.check_token(self.token)

    def fence(self, token: str | None) -> Callable[[], None]:
        """Return the check to call before a write: `check_token` if a fencing token is given, else `check`."""
        return self.check if token is None else partial(self.check_token, token)

    @abstractmethod
    def hold(self) -> AbstractContextManager[Self]:
        """Hold the lock in the block, so that no other run writes; raise StoreLockedError if another run holds it."""

    @abstractmethod
    def rotate_token(self) -> None:
        """Replace the fencing token of a lock that is held here. From now on, writes with the old token are refused.

        Raises StoreLockedError if another run has taken over the lock.
        """

    @abstractmethod
    def holder(self) -> Holder | None:
        """Return the run that holds the lock, or that held it when it died; None if there is no lock.

        Raises StoreError if the lock cannot be read.
        """

    def run(self) -> Run | None:
        """Return the run that holds the lock, for JSON output; None if there is no lock. Raises like `holder`."""
        holder = self.holder()
        return None if holder is None else holder.to_record()

    @abstractmethod
    def check_token(self, token: str) -> None:
        """Raise StoreLockedError unless the lock contains this fencing token."""


def parse_owner(content: bytes) -> Owner:
    """Return the owner named in the content of a lock. Empty if the content is not valid."""
    try:
        owner = json.loads(content) if len(content) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        return {}
    return owner if isinstance(owner, dict) else {}


def format_owner(owner: Owner) -> bytes:
    """Return the content of a lock with this owner."""
    return json.dumps(owner).encode()


def in_use(address: object, owner: Owner) -> StoreLockedError:
    """Return the error for a run that cannot take the lock because another run holds it."""
    return StoreLockedError(f"{address} is in use by {_name(owner)}; wait for it, or stop it")


def taken_over(address: object, owner: Owner) -> StoreLockedError:
    """Return the error for a write after the lock was lost."""
    if not owner:
        reason = "it was taken over by another process, or removed"
        return StoreLockedError(f"the lock of {address} is missing or cannot be read: {reason}; nothing was written")
    return StoreLockedError(f"{address} was taken over by {_name(owner)}; nothing was written")


def check_owner(address: object, owner: Owner, token: str) -> None:
    """Raise StoreLockedError unless the lock of the store at an address contains the fencing token."""
    if owner.get("token") != token:
        raise taken_over(address, owner)


def _name(owner: Owner) -> str:
    if "process" in owner and "host" in owner:
        return f"process {owner['process']} on {owner['host']}"
    return "another process"


def owning_process() -> Owner:
    """Return a description of the current process by which `is_dead` recognises it later on the same machine."""
    return {**this_process(), "machine": _machine(), "started": _started(os.getpid())}


def this_process() -> Owner:
    """Return a description of the current process for people, with the current time as the time of locking."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"process": os.getpid(), "host": socket.gethostname(), "since": now}


def is_dead(owner: Owner) -> bool:
    """Return whether the owner was a process on this machine that has ended. False if that is unknown."""
    here = _machine()
    if not here or owner.get("machine") != here:
        return False
    try:
        started = _started(int(owner["process"]))
        return started is None or abs(started - float(owner["started"])) > START_TOLERANCE
    except (KeyError, ValueError, TypeError):
        return False


def _started(number: int) -> float | None:
    """Return the start time of a process on this machine in seconds since 1970; None if it ended, NaN if hidden."""
    import psutil

    try:
        process = psutil.Process(number)
        return None if process.status() == psutil.STATUS_ZOMBIE else float(process.create_time())
    except psutil.NoSuchProcess:
        return None if _is_free(number) else math.nan
    except psutil.Error:
        return math.nan


def _machine() -> str:
    """Return an identifier of the boot and of the PID namespace (containers have their own). Empty if unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _is_free(number: int) -> bool:
    """Return whether no process has this number. Processes of other users may be hidden (mount option hidepid)."""
    try:
        os.kill(number, 0)
    except (OSError, OverflowError) as error:
        return not isinstance(error, PermissionError)
    return False
