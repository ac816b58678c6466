"""The folder outside of a store in which a search on disk keeps its layers, if ``--spill`` names a directory."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from antipodes.storage.backend import Storage
from antipodes.storage.directory import DirectoryStorage
from antipodes.system.regular_file import open_file
from antipodes_tasks.base.errors import StoreError
from antipodes_tasks.base.option_names import option

OWNER = "store.txt"
"""The file that names the store to which the folder belongs."""
MAX_OWNER_BYTES = 1 << 14


def spill_path(directory: str, store: Storage) -> str:
    """Return the folder for the layers of a store in the ``directory`` that the user chose."""
    name = store.address.rstrip("/").rpartition("/")[2]
    return os.path.join(os.path.abspath(directory), f"{name}.spill")


def owner_of(path: str) -> str | None:
    """Return the store to which a folder belongs; None if there is no such folder, or it belongs to no store."""
    try:
        with open_file(Path(path, OWNER), links=False) as file:
            return str(file.read(MAX_OWNER_BYTES).decode(errors="replace"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error


def claim(path: str, store: Storage) -> None:
    """Create the folder for the layers of a store, unless it exists.

    Raises StoreError if it cannot be written or belongs to another store.
    """
    try:
        os.makedirs(path, exist_ok=True)
        with suppress(FileExistsError):
            if not os.listdir(path):
                with open(os.path.join(path, OWNER), "x", encoding="utf-8") as file:
                    file.write(_name(store))
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
    if (owner := owner_of(path)) != _name(store):
        whose = f"the layers of another store, {owner}" if owner else "files that do not belong to a run"
        raise StoreError(f"{path} contains {whose}; choose another {option('spill')}")
    DirectoryStorage(Path(path)).probe()


def belongs_to(path: str, store: Storage) -> bool:
    """Return whether a folder exists and belongs to a store."""
    return owner_of(path) == _name(store)


def release(path: str, store: Storage) -> None:
    """Delete the folder of a finished store, unless it belongs to another store, or its disk is gone."""
    with suppress(StoreError):
        if belongs_to(path, store):
            shutil.rmtree(path, ignore_errors=True)


def _name(store: Storage) -> str:
    return os.path.abspath(store.address) if isinstance(store, DirectoryStorage) else store.address
