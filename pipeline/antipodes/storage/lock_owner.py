"""The owner of a lock: the process that its content names, whether that is still alive, and errors that name it."""

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from antipodes_tasks.errors import StoreLockedError

Owner = Mapping[str, Any]
"""``process``, ``host``, ``since`` and the fencing ``token``; in object storage also the other fields of
`owning_process`, and ``beat``, the number of renewals."""

MOST_BYTES = 1 << 12
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
        since = f" since {self._since:%Y-%m-%d %H:%M:%S}" if self._since else ""
        return f"{_name(self.owner)}{since}"

    @property
    def _since(self) -> datetime | None:
        """When it took the lock, by its own clock, in the time zone of this machine."""
        try:
            return datetime.fromisoformat(self.owner["since"]).astimezone()
        except (KeyError, ValueError, TypeError, OverflowError):
            return None

    def to_json(self) -> dict[str, Any]:
        """The values of the key ``run`` on the command line."""
        since = self._since
        return {
            "process": self.owner.get("process"),
            "host": self.owner.get("host"),
            "since": since and since.isoformat(timespec="seconds"),
            "alive": self.alive,
        }


def parse_owner(content: bytes) -> Owner:
    """The owner that the content of a lock names; empty where the content is not understood."""
    try:
        owner = json.loads(content) if len(content) <= MOST_BYTES else None
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
    import psutil

    return {**this_process(), "machine": _machine(), "started": psutil.Process().create_time()}


def this_process() -> Owner:
    """The current process, described for people; it takes a lock now."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"process": os.getpid(), "host": socket.gethostname(), "since": now}


def is_dead(owner: Owner) -> bool:
    """Whether the owner was a process of this machine that has ended; False where that is unknown."""
    import psutil

    here = _machine()
    if not here or owner.get("machine") != here:
        return False
    try:
        number = int(owner["process"])
        process = psutil.Process(number)
        alive = process.status() != psutil.STATUS_ZOMBIE
        return not alive or abs(process.create_time() - float(owner["started"])) > START_TOLERANCE
    except psutil.NoSuchProcess:
        return _is_free(number)
    except (psutil.Error, KeyError, ValueError, TypeError):
        return False


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
