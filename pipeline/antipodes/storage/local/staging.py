"""The replacement of a whole directory: a new store is filled beside the old one and then takes its name."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from antipodes.errors import StoreError
from antipodes.storage.backend import GROUP, MANIFEST
from antipodes.storage.local.files import PARTIAL, status_of, sync

TABLES, TILINGS = {"depth", "layer_counts", "journal", "checkpoint"}, {"tilings", "partitions"}
OLDER = {"depth.wide", "counts", "bits"}
"""Names in stores of older formats."""
STORED = {MANIFEST, GROUP} | TABLES | TILINGS | OLDER
"""All names directly in the directory of a store, of any kind."""


def create_staging(store: Path) -> Path:
    """An empty directory beside a store; StoreError where foreign files are in the way."""
    _clear(_removed(store), store)
    place = store.resolve()
    staging = place.with_name(f".{place.name}.new")
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


def _removed(store: Path) -> Path:
    """Where an old store is moved before it is deleted: beside the store itself, not beside a link to it."""
    place = store.resolve()
    return place.with_name(f".{place.name}.old")


def _clear(leftover: Path, store: Path) -> None:
    """Delete what a crashed run left beside the store; StoreError where files of another origin are there."""
    with suppress(FileNotFoundError, NotADirectoryError):
        for name in sorted(os.listdir(leftover)):
            if name not in STORED and not name.endswith(PARTIAL):
                raise StoreError(f"cannot write {store}: {leftover} is in the way, since {name} is in it")
    shutil.rmtree(leftover, ignore_errors=True)
