"""The folder of a search on disk that keeps its layers outside of its store, because ``--spill`` names a directory."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from antipodes.storage.backend import Storage
from antipodes.storage.directory import DirectoryStorage
from antipodes.system.file_errors import file_errors
from antipodes_tasks.base.errors import StoreError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.regular_file import open_file

OWNER = "store.txt"
"""The file with the address of the store to which the folder belongs."""
MAX_OWNER_BYTES = 1 << 14


def spill_path(directory: str, store: Storage) -> str:
    """Return the path of the folder for the layers of a store; the user has chosen the ``directory``."""
    name = store.address.rstrip("/").rpartition("/")[2]
    return os.path.join(os.path.abspath(directory), f"{name}.spill")


def owner_of(path: str) -> str | None:
    """Return the address of the store to which a folder belongs, or None if the folder or its owner file is missing.

    Raises StoreError if the folder cannot be read.
    """
    try:
        with file_errors("read", path, but=(FileNotFoundError,)), open_file(Path(path, OWNER), links=False) as file:
            return str(file.read(MAX_OWNER_BYTES).decode(errors="replace"))
    except FileNotFoundError:
        return None


def claim(path: str, store: Storage) -> None:
    """Create the folder for the layers of a store, unless it exists.

    Raises StoreError if the folder cannot be written, belongs to another store, or contains other files.
    """
    with file_errors("write", path):
        os.makedirs(path, exist_ok=True)
        with suppress(FileExistsError):
            if not os.listdir(path):
                with open(os.path.join(path, OWNER), "x", encoding="utf-8") as file:
                    file.write(_name(store))
    if (owner := owner_of(path)) != _name(store):
        whose = f"the layers of another store, {owner}" if owner else "files that do not belong to a run"
        raise StoreError(f"{path} contains {whose}; choose another {option('spill')}")
    DirectoryStorage(Path(path)).probe()


def belongs_to(path: str, store: Storage) -> bool:
    """Return whether a folder exists and belongs to a store."""
    return owner_of(path) == _name(store)


def check_present(path: str, store: Storage) -> None:
    """Raise StoreError unless the folder of a store's layers is still there, for example if its disk was unmounted."""
    if not belongs_to(path, store):
        raise StoreError(f"{path}, which contains the layers of {store.address}, is missing")


def release(path: str, store: Storage) -> int:
    """Delete the folder of a store that no longer needs it; return the bytes freed.

    A folder that belongs to another store, or whose disk is gone, is left as it is.
    """
    try:
        if not belongs_to(path, store):
            return 0
    except StoreError:
        return 0
    freed = DirectoryStorage(Path(path)).size()
    shutil.rmtree(path, ignore_errors=True)
    return freed


def _name(store: Storage) -> str:
    return os.path.abspath(store.address) if isinstance(store, DirectoryStorage) else store.address
