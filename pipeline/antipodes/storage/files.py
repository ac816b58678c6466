"""Atomic replacement of files and directories. They are durable when the call returns, or after a later sync.

A new store is filled in a directory next to the old store and then renamed. To remove a store, its directory is also
renamed first. After a crash, a store is therefore either complete or gone.
"""

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from antipodes.storage.backend import GROUP, MANIFEST, Content
from antipodes.system.file_errors import file_errors
from antipodes.system.output_files import PARTIAL, replacing, sync
from antipodes_tasks.base.errors import NotAStoreError, StoreDamagedError, StoreError
from antipodes_tasks.base.quoting import quote
from antipodes_tasks.base.regular_file import NotAFileError, kind_of, open_descriptor

TABLES = {"depth", "layer_counts", "keys", "first_keys", "journal", "checkpoint"}
TILINGS = {"tilings", "partitions"}
OLDER = {"depth.wide", "counts", "bits"}
"""Names in stores of older formats."""
STORED = {MANIFEST, GROUP} | TABLES | TILINGS | OLDER
"""All names directly in the directory of a store of any kind."""
NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
"""Error numbers that mean that nothing exists at a path. After other errors, something unreadable may exist there."""


def resolved(store: Path) -> Path:
    """Return the path of a store without links; raise NotAStoreError if it is a link to itself."""
    try:
        place = store.resolve()
        circular = place.is_symlink()  # newer versions of Python return such a link unchanged
    except RuntimeError:
        circular = True
    if circular:
        raise NotAStoreError(f"not the path of a store: {quote(str(store))} is a link to itself")
    return place


def status_of(path: Path) -> os.stat_result | None:
    """Return the status of a file or directory; None if nothing exists there. Raises StoreError if it is unreadable."""
    try:
        return os.stat(path)
    except OSError as error:
        if error.errno in NOTHING_THERE:
            return None
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error


FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY
"""Flags that open a folder only to resolve names in it."""


@contextmanager
def _folder_of(root: Path, key: str) -> Iterator[tuple[int, str]]:
    """Open the folder of a key of the store at ``root``; yield the folder's descriptor and the last name of the key.

    The path of the store may contain links, since the user chose it. The store itself may come from somebody else, so
    links inside it are not followed. Raises StoreDamagedError if part of the key's path is not a directory.
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
                raise StoreDamagedError(f"{place} is corrupt: expected a directory, found {found}") from None
            os.close(descriptor)
            descriptor = inner
        yield descriptor, name
    finally:
        os.close(descriptor)


def status_in(root: Path, key: str) -> os.stat_result | None:
    """Return the status of a key of a store, without following links; None if it is missing or its folder is a link."""
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
    """Open the file of a key of a store for reading; return its descriptor.

    Raises
    ------
    FileNotFoundError
        The key does not exist.
    StoreDamagedError
        The key is not a file, but for example a link or a pipe.
    StoreError
        The file cannot be opened.
    """
    try:
        with _folder_of(root, key) as (folder, name):
            return open_descriptor(name, folder=folder, links=False)
    except NotAFileError as error:
        raise StoreDamagedError(f"{root / key} is corrupt: {error.strerror}") from None
    except StoreError:
        raise
    except OSError as error:
        if error.errno in NOTHING_THERE:
            raise FileNotFoundError(str(root / key)) from None
        raise StoreError(f"cannot read {root / key}: {error.strerror or error}") from error


def names_in(root: Path, folder: str) -> list[str]:
    """Return the names in a folder of a store, or an empty list if it is not a folder."""
    with suppress(FileNotFoundError, NotADirectoryError, StoreDamagedError), _folder_of(root, folder) as (outer, name):
        inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=outer)
        try:
            with file_errors("read", root / folder):
                return sorted(os.listdir(inner))
        finally:
            os.close(inner)
    return []


def remove_file(path: Path) -> None:
    """Delete a file, directory or link (not its target) at ``path``, if anything exists there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def replace_file(
    path: Path,
    parts: Sequence[Content],
    check: Callable[[], None] = lambda: None,
    durable: bool = True,
    remove_path: Callable[[Path], None] = remove_file,
) -> None:
    """Write the parts to ``path`` as `replacing` does. A directory at ``path``, which no run creates, is removed.

    With ``durable=False``, the file is not durable until `sync_files` is called.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write_parts(path, parts, check, durable)
    except IsADirectoryError:
        remove_path(path)
        _write_parts(path, parts, check, durable)


def _write_parts(path: Path, parts: Sequence[Content], check: Callable[[], None], durable: bool) -> None:
    with replacing(path, check, durable) as file:
        file.writelines(parts)  # passes large parts to the system without copying them


def sync_files(paths: Sequence[Path]) -> None:
    """Make files and their directory entries durable."""
    for path in (*paths, *sorted({path.parent for path in paths})):
        sync(path)


def create_staging(store: Path) -> Path:
    """Create an empty directory next to a store and return it; raise StoreError if foreign files are in the way."""
    _clear(_removed(store), store)
    staging = _staging(store)
    _clear(staging, store)
    staging.mkdir(parents=True)
    return staging


def publish(staging: Path, store: Path, overwrite: bool) -> None:
    """Move the new store to its place, and delete an old store that it overwrites. On OSError the old store remains."""
    place, removed = resolved(store), _removed(store)
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
        (removed / MANIFEST).unlink(missing_ok=True)  # first, since a directory without a manifest is not a store
        shutil.rmtree(removed, ignore_errors=True)


def restore(store: Path) -> None:
    """Move the old store back if a run that was overwriting it died before the new store took its place."""
    removed = _removed(store)
    if status_of(store) is None and removed in leftovers(store) and (removed / MANIFEST).is_file():
        removed.rename(resolved(store))
        sync(resolved(store).parent)


def leftovers(store: Path) -> list[Path]:
    """Return the directories next to a store that a killed run or a killed removal left."""
    return [one for one in (_removed(store), _staging(store)) if one.is_dir() and not one.is_symlink()]


def check_own(store: Path) -> None:
    """Raise StoreError if a store, or the leftovers next to it, contain foreign files."""
    for directory in (*leftovers(store), resolved(store)):
        if name := _foreign(directory):
            raise StoreError(
                f"cannot remove {store}: {directory / name} does not belong to a store; nothing was removed"
            )


def remove(store: Path) -> None:
    """Delete a store and the leftovers next to it. A crash leaves either the store, or leftovers that a rerun deletes.

    The path must not be a link, because the link would remain and be broken. See `check_own` for foreign files. Raises
    OSError if something cannot be deleted.
    """
    place, removed = resolved(store), _removed(store)
    for directory in leftovers(store):
        _delete(directory)
    if place.is_dir():
        place.rename(removed)
        sync(place.parent)
        _delete(removed)
    sync(place.parent)


def _delete(directory: Path) -> None:
    (directory / MANIFEST).unlink(missing_ok=True)  # first, since a directory without a manifest is not a store
    shutil.rmtree(directory)


def _staging(store: Path) -> Path:
    """Return the path where a new store is filled."""
    place = resolved(store)
    return place.with_name(f".{place.name}.new")


def _removed(store: Path) -> Path:
    """Return the path to which an old store is moved before it is deleted: next to the store, not to a link to it."""
    place = resolved(store)
    return place.with_name(f".{place.name}.old")


def _clear(leftover: Path, store: Path) -> None:
    """Delete a crashed run's leftovers next to the store; raise StoreError if they contain foreign files."""
    if name := _foreign(leftover):
        raise StoreError(f"cannot write {store}: {leftover} is in the way, and contains a foreign file, {name}")
    shutil.rmtree(leftover, ignore_errors=True)


def _foreign(directory: Path) -> str | None:
    """Return the first name in a directory that no store contains. None if there is no such name, or no directory."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return next(filter(is_foreign, sorted(os.listdir(directory))), None)
    return None


def is_foreign(name: str) -> bool:
    """Return whether no store contains this name directly in its directory."""
    return name not in STORED and not name.endswith(PARTIAL)
