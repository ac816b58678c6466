"""Folders in which only the user can replace files. Caches need one, because digests only detect corruption."""

import os
import stat

ROOT = 0
"""The user who can replace every file anyway."""


def reason_not_private(folder: str | os.PathLike[str]) -> str | None:
    """Return why other users could replace files in a folder; None if they cannot, or if there is no such folder."""
    try:
        status = os.stat(folder)
    except OSError:
        return None
    if status.st_uid not in (ROOT, os.geteuid()):
        return f"{folder} belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"other users can write to {folder}"
    return None
