"""The creation of a store: it is filled in a staging place and published atomically, or leaves nothing behind.

And its removal, which is as atomic.
"""

from collections.abc import Container, Iterator
from contextlib import contextmanager

from antipodes.storage.arrays import Arrays
from antipodes.storage.backend import MANIFEST, Storage
from antipodes.storage.lock_owner import in_use
from antipodes.storage.manifest import StoreKind, format_of
from antipodes.storage.zarr_settings import check_settings
from antipodes_tasks.errors import NotAStoreError, StoreError, StoreLockedError


@contextmanager
def staged(storage: Storage, kind: StoreKind, overwrite: bool = False) -> Iterator[Storage]:
    """A storage with an empty group, to be filled in the block; after the block the storage has its content.

    A store that is to be overwritten stays until then, if the storage can hold both.

    Raises
    ------
    NotAStoreError
        The thing to be overwritten is no store of this kind.
    StoreError
        The store cannot be written; the message says so if the old one is deleted.
    """
    check_settings()
    if overwrite:
        check_removable(storage, kind)
    with _reporting_deletion(storage, overwrite), storage.writing(), storage.staged(overwrite) as staging:
        Arrays(staging).write_group(kind.attributes)
        yield staging


def check_removable(storage: Storage, kind: StoreKind) -> None:
    """Raise NotAStoreError unless the storage holds a store that this kind may replace, damaged or not."""
    if not storage.has(MANIFEST) or _claimed_format(storage) not in (kind.format, *kind.replaces):
        raise NotAStoreError(f"expected {kind.holds} at {storage.address}, found something else; not overwritten")


def remove(storage: Storage, formats: Container[str | None]) -> int:
    """Delete a store of one of these formats, damaged or not, or what a killed removal left; the bytes freed.

    Raises
    ------
    NotAStoreError, StoreLockedError
        As `check_not_in_use`.
    StoreError
        Something else is in the store, or something cannot be deleted.
    """
    check_not_in_use(storage, formats)
    with storage.lock.hold():
        check_not_in_use(storage, formats)  # another run may have begun, or restored what a killed one left
        return storage.remove()


def check_not_in_use(storage: Storage, formats: Container[str | None]) -> None:
    """Check that a store can be removed.

    Raises
    ------
    NotAStoreError
        There is no store of one of these formats.
    StoreLockedError
        Another run is at work on it.
    """
    if not storage.has_leftovers() and not (storage.has(MANIFEST) and _claimed_format(storage) in formats):
        found = "something else" if storage.exists() else "nothing"
        raise NotAStoreError(f"expected a store at {storage.address}, found {found}; nothing is removed")
    holder = None if storage.lock.is_held else storage.lock.holder()
    if holder and holder.alive:
        raise in_use(storage.address, holder.owner)


def _claimed_format(storage: Storage) -> str | None:
    """The format in the manifest or, where that is damaged, in the attributes of the group; None if unreadable."""
    if claimed := format_of(storage):
        return claimed
    try:
        return storage.group_format()
    except StoreError:  # nothing shows that the store may be deleted
        return None


@contextmanager
def _reporting_deletion(storage: Storage, overwrite: bool) -> Iterator[None]:
    """Add to an error that the store to be overwritten is deleted, if it is."""
    try:
        yield
    except StoreLockedError:  # the store that is there now is another run's
        raise
    except StoreError as error:
        if not overwrite or storage.has(MANIFEST):
            raise
        raise StoreError(f"{error}; the store that was to be overwritten is deleted") from error
