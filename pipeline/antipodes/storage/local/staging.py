"""The replacement of a whole directory: a new store is filled beside the old one and then takes its name.

A store that is removed takes the name of an old one, too: it is there, or it is not, whenever a crash comes.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from antipodes.storage.backend import GROUP, MANIFEST
from antipodes.storage.local.files import PARTIAL, status_of, sync
from antipodes_tasks.errors import StoreError

TABLES, TILINGS = {"depth", "layer_counts", "journal", "checkpoint"}, {"tilings", "partitions"}
OLDER = {"depth.wide", "counts", "bits"}
"""Names in stores of older formats."""
STORED = {MANIFEST, GROUP} | TABLES | TILINGS | OLDER
"""All names directly in the directory of a store, of any kind."""


def create_staging(store: Path) -> Path:
    """An empty directory beside a store; StoreError where foreign files are in the way."""
    _clear(_removed(store), store)
    staging = _staging(store)
    _clear(staging, store)
    staging.mkdir(parents=True)
    return staging


def publish(staging: Path, store: Path, overwrite: bool) -> None:
    """Move the new store to its place and delete an old one that it overwrites; after an OSError the old one stays."""
    place, removed = store.resolve(), _removed(store)
    if overwrite:
        place.rename(removed)
    try:
        staging.rename(place)
    except OSError:
        if overwrite:
            removed.rename(place)
        raise
    sync(place.parent)
    if overwrite:
        (removed / MANIFEST).unlink(missing_ok=True)  # first: a directory without a manifest is no store
        shutil.rmtree(removed, ignore_errors=True)


def restore(store: Path) -> None:
    """Put the old store back if a run that was overwriting it died before the new store was in its place."""
    if status_of(store) is None and (_removed(store) / MANIFEST).is_file():
        _removed(store).rename(store.resolve())
        sync(store.resolve().parent)


def leftovers(store: Path) -> list[Path]:
    """The directories beside a store that a run or a removal left when it was killed."""
    return [one for one in (_removed(store), _staging(store)) if one.is_dir() and not one.is_symlink()]


def remove(store: Path) -> None:
    """Delete a store, and what was left beside it; a crash leaves the store, or leftovers that a rerun deletes.

    Raises
    ------
    StoreError
        Files of another origin are among those of the store; nothing is deleted.
    OSError
        Something cannot be deleted.
    """
    place, removed = store.resolve(), _removed(store)
    left = leftovers(store)
    for directory in (*left, place):
        if name := _foreign(directory):
            raise StoreError(f"cannot remove {store}: {directory / name} is no part of a store; nothing is removed")
    for directory in left:
        _delete(directory)
    if place.is_dir():
        place.rename(removed)
        sync(place.parent)
        _delete(removed)
    if store.is_symlink():
        store.unlink()
    sync(place.parent)


def _delete(directory: Path) -> None:
    (directory / MANIFEST).unlink(missing_ok=True)  # first: a directory without a manifest is no store
    shutil.rmtree(directory)


def _staging(store: Path) -> Path:
    """Where a new store is filled."""
    place = store.resolve()
    return place.with_name(f".{place.name}.new")


def _removed(store: Path) -> Path:
    """Where an old store is moved before it is deleted: beside the store itself, not beside a link to it."""
    place = store.resolve()
    return place.with_name(f".{place.name}.old")


def _clear(leftover: Path, store: Path) -> None:
    """Delete what a crashed run left beside the store; StoreError where files of another origin are there."""
    if name := _foreign(leftover):
        raise StoreError(f"cannot write {store}: {leftover} is in the way, since {name} is in it")
    shutil.rmtree(leftover, ignore_errors=True)


def _foreign(directory: Path) -> str | None:
    """The name of something in a directory that is in no store; None if there is nothing else, or no directory."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return next(filter(is_foreign, sorted(os.listdir(directory))), None)
    return None


def is_foreign(name: str) -> bool:
    """Whether no store has anything of this name directly in it."""
    return name not in STORED and not name.endswith(PARTIAL)
