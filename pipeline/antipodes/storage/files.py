"""Files and whole directories that are replaced atomically, and are on the disk when the call returns, or after a sync.

A new store is filled beside the old one and then takes its name. A store that is removed first takes the name of an old
one, too: it is there, or it is not, whenever a crash comes.
"""

import errno
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from antipodes.regular_file import NotAFileError, kind_of, open_descriptor
from antipodes.storage.backend import GROUP, MANIFEST, Content
from antipodes_tasks.errors import StoreDamagedError, StoreError

PARTIAL = ".partial"
"""The end of the name of an unfinished file; a crashed run leaves such files, and the next run removes them."""
TABLES = {"depth", "layer_counts", "keys", "first_keys", "journal", "checkpoint"}
TILINGS = {"tilings", "partitions"}
OLDER = {"depth.wide", "counts", "bits"}
"""Names in stores of older formats."""
STORED = {MANIFEST, GROUP} | TABLES | TILINGS | OLDER
"""All names directly in the directory of a store, of any kind."""
NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
"""Errors of the system for a path at which nothing is; after any other error there may be something, unseen for now."""


def status_of(path: Path) -> os.stat_result | None:
    """The status of a file or directory; None where nothing is, StoreError if the system cannot tell."""
    try:
        return os.stat(path)
    except OSError as error:
        if error.errno in NOTHING_THERE:
            return None
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error


FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY
"""The flags that open a folder only to find what is in it."""


@contextmanager
def _folder_of(root: Path, key: str) -> Iterator[tuple[int, str]]:
    """Open the folder of a key of the store at ``root``; the descriptor of the folder, and the last name of the key.

    The path of the store may contain links, since the user names it. The store itself may come from somebody else, so
    none of its links is followed: StoreDamagedError if anything but a folder is on the way.
    """
    *folders, name = key.split("/")
    descriptor = os.open(root, FOLDER)
    try:
        for number, folder in enumerate(folders, 1):
            try:
                inner = os.open(folder, FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
            except OSError as error:
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
                found = kind_of(os.stat(folder, dir_fd=descriptor, follow_symlinks=False).st_mode)
                place = root.joinpath(*folders[:number])
                raise StoreDamagedError(f"{place} is damaged: expected a directory, found {found}") from None
            os.close(descriptor)
            descriptor = inner
        yield descriptor, name
    finally:
        os.close(descriptor)


def status_in(root: Path, key: str) -> os.stat_result | None:
    """Return the status of a key of a store, of a link itself; None where nothing is, or folders are links."""
    try:
        with _folder_of(root, key) as (folder, name):
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except StoreDamagedError:
        return None
    except OSError as error:
        if error.errno in NOTHING_THERE:
            return None
        raise StoreError(f"cannot read {root / key}: {error.strerror or error}") from error


def open_in(root: Path, key: str) -> int:
    """Open the file of a key of a store to read it; its descriptor.

    Raises
    ------
    FileNotFoundError
        There is none.
    StoreDamagedError
        Something else is there, such as a link or a pipe.
    StoreError
        It cannot be opened.
    """
    try:
        with _folder_of(root, key) as (folder, name):
            return open_descriptor(name, folder=folder, links=False)
    except NotAFileError as error:
        raise StoreDamagedError(f"{root / key} is damaged: {error.strerror}") from None
    except StoreError:
        raise
    except OSError as error:
        if error.errno in NOTHING_THERE:
            raise FileNotFoundError(str(root / key)) from None
        raise StoreError(f"cannot read {root / key}: {error.strerror or error}") from error


def names_in(root: Path, folder: str) -> list[str]:
    """Return the names of the things in a folder of a store; none if it is not a folder."""
    with suppress(FileNotFoundError, NotADirectoryError, StoreDamagedError), _folder_of(root, folder) as (outer, name):
        inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=outer)
        try:
            return sorted(os.listdir(inner))
        except OSError as error:
            raise StoreError(f"cannot read {root / folder}: {error.strerror or error}") from error
        finally:
            os.close(inner)
    return []


def replace_file(
    path: Path, parts: Sequence[Content], check: Callable[[], None] = lambda: None, durable: bool = True
) -> None:
    """Write the parts to ``path``: after a crash at any moment, the old file is there or the new one.

    A directory in its place, which no run makes, is deleted.

    ``check`` is called right before the new file replaces the old one, which stays if ``check`` raises an error. A file
    that need not be durable may be empty or cut after a crash of the machine, until `sync_files`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}{PARTIAL}")
    try:
        with partial.open("wb") as file:
            file.writelines(parts)  # large parts go to the system as they are, without a copy
            if durable:
                file.flush()
                os.fsync(file.fileno())
        check()
        try:
            partial.replace(path)
        except IsADirectoryError:
            remove_file(path)
            partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    if durable:
        sync(path.parent)


def remove_file(path: Path) -> None:
    """Delete a file, or a directory or anything else in its place; nothing may be there. A link is not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sync_files(paths: Sequence[Path]) -> None:
    """Make files and their names durable."""
    for path in (*paths, *sorted({path.parent for path in paths})):
        sync(path)


def sync(path: Path) -> None:
    """Make the content of a file durable, or the names in a directory."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
    removed = _removed(store)
    if status_of(store) is None and removed in leftovers(store) and (removed / MANIFEST).is_file():
        removed.rename(store.resolve())
        sync(store.resolve().parent)


def leftovers(store: Path) -> list[Path]:
    """The directories beside a store that a run or a removal left when it was killed."""
    return [one for one in (_removed(store), _staging(store)) if one.is_dir() and not one.is_symlink()]


def remove(store: Path) -> None:
    """Delete a store, and what was left beside it; a crash leaves the store, or leftovers that a rerun deletes.

    The path must not be a link, which would stay and lead nowhere.

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
