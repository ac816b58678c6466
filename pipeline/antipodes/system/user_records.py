"""Records in the user's data directory of what the user has named in earlier commands.

A store cannot write them, so they show whether the user, and not the sender of a store, has chosen a file or folder.
"""

import hashlib
import json
import os
import stat
from contextlib import suppress
from pathlib import Path

from antipodes.system.output_files import replacing
from antipodes_tasks.base.regular_file import open_file

MAX_RECORDS = 1000
"""Maximum number of records of a kind; the oldest are removed."""
MAX_BYTES = 1 << 15
"""Maximum size of a record in bytes."""


def hashed(*parts: str) -> str:
    """Return the SHA-256 of some strings, in hexadecimal digits, for the name of a record."""
    text = parts[0] if len(parts) == 1 else json.dumps(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


class UserRecords:
    """The records of one kind, by name. Without a usable data directory, there are none."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def write(self, name: str, text: str) -> None:
        """Write a record; a reader finds it completely or not at all. If the folder cannot be written, do nothing."""
        if (folder := self._folder) is None:
            return
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with replacing(folder / name) as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(text.encode("utf-8", "surrogateescape"))
            by_age = sorted(os.scandir(folder), key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
            for entry in by_age[:-MAX_RECORDS]:
                os.unlink(entry)

    def read(self, name: str) -> str | None:
        """Return the content of a record, or None unless it is a regular file of this user."""
        if (folder := self._folder) is None:
            return None
        with suppress(OSError), open_file(folder / name, links=False) as file:
            if os.fstat(file.fileno()).st_uid == os.geteuid():
                return str(file.read(MAX_BYTES).decode("utf-8", "surrogateescape"))
        return None

    def has(self, name: str) -> bool:
        """Return whether there is a record with this name, as a regular file of this user."""
        try:
            status = None if (folder := self._folder) is None else os.lstat(folder / name)
        except OSError:
            return False
        return status is not None and stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()

    def has_prefix(self, prefix: str) -> bool:
        """Return whether the name of a record begins with a prefix."""
        try:
            return (folder := self._folder) is not None and any(name.startswith(prefix) for name in os.listdir(folder))
        except OSError:
            return False

    def delete(self, name: str) -> None:
        """Delete a record, if it exists and the folder can be written."""
        if (folder := self._folder) is not None:
            with suppress(OSError):
                os.unlink(folder / name)

    @property
    def _folder(self) -> Path | None:
        """The folder of the records; None without an absolute data directory."""
        import platformdirs

        folder = platformdirs.user_data_path("antipodes", appauthor=False) / self._kind
        return folder if folder.is_absolute() else None
