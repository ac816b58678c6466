"""A store of any kind: a place for its bytes, a manifest, zarr arrays, and one writer at a time.

A new store is filled in a staging place and published atomically, or leaves nothing behind. Its removal is as atomic.
"""

from collections.abc import Container, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from antipodes.storage.address import Address, storage_at
from antipodes.storage.arrays import Arrays, Layout, check_settings
from antipodes.storage.backend import GROUP, MANIFEST, Storage
from antipodes.storage.lock import StoreLock, in_use
from antipodes.storage.manifest import ManifestFile, StoreKind, format_of
from antipodes_tasks.errors import (
    InputError,
    NotAStoreError,
    StoreChangedError,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
)

MAX_CHANGES = 100
"""Times that a manifest may be replaced while a store is read, before that is an error."""


class Manifest(Protocol):
    """The manifest of a kind of store: a dataclass whose fields are declared."""

    @property
    def complete(self) -> bool:
        """Whether there is nothing left to do."""

    @property
    def metadata(self) -> Mapping[str, str]:
        """SHA-256 of the zarr metadata files of the arrays, by their path in the store."""

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """The arrays that count, by their names."""

    def check(self) -> None:
        """Raise FieldError unless the fields fit each other."""


M = TypeVar("M", bound=Manifest)


class Store(Generic[M]):
    """A store with a manifest; it may be sent to other processes, since nothing in it is open."""

    KIND: ClassVar[StoreKind]
    MANIFEST_TYPE: type[M]

    def __init__(self, address: Address | Storage) -> None:
        self.storage = storage_at(address)
        self.manifest_file = ManifestFile(self.storage, self.KIND)
        self.arrays = Arrays(self.storage)
        self.known: M | None = None
        """The manifest that was last read or written here."""

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy does not hold the lock, and knows no version of the manifest."""
        return type(self), (self.storage,)

    @property
    def address(self) -> str:
        """The path or the URL as text, for messages and reports."""
        return self.storage.address

    def lock(self) -> AbstractContextManager[StoreLock]:
        """Keep other runs from the store; StoreLockedError where another run holds the lock.

        While locked, every write and delete first checks that the lock is still held.
        """
        return self.storage.lock.hold()

    def exists(self) -> bool:
        """Whether there is anything at the address."""
        return self.storage.exists()

    def identity(self) -> tuple[object, ...]:
        """A value that differs for a store that takes the place of this one; empty where there is none."""
        return self.storage.identity(GROUP)

    def read(self) -> M:
        """The manifest, checked; read again while a run changes the store.

        NotAStoreError where there is no store, or one of another kind or version; StoreDamagedError where the manifest
        or the zarr metadata is not what was written.
        """
        for _ in range(MAX_CHANGES):
            with suppress(StoreChangedError), self.unless_changed():
                return self._read()
        return self._read()

    def _read(self) -> M:
        manifest = self.manifest_file.read(self.MANIFEST_TYPE)
        with self.manifest_file.checking():
            manifest.check()
            self.arrays.check_metadata(manifest.metadata, manifest.layouts)
        self.arrays.check_group(self.attributes(manifest), manifest.layouts if manifest.complete else None)
        self.known = manifest
        return manifest

    def attributes(self, manifest: M) -> Mapping[str, Any]:
        """The attributes of the zarr group, from the creation of the store on."""
        return self.KIND.attributes

    def commit(self, manifest: M) -> None:
        """Replace the manifest; all that it names must be safe already."""
        self.manifest_file.write(manifest)
        self.known = manifest

    def remove_leftovers(self, manifest: M) -> M:
        """Delete what a crashed run was writing; the manifest from now on."""
        self.storage.remove_leftovers()
        if not manifest.complete:  # a run may have died after it listed the arrays
            self.arrays.write_group(self.attributes(manifest))
        return manifest

    @contextmanager
    def unless_changed(self) -> Iterator[None]:
        """Turn StoreDamagedErrors into StoreChangedErrors if a run has replaced the manifest since it was read."""
        try:
            yield
        except StoreDamagedError as error:
            if self.manifest_file.has_changed():
                raise StoreChangedError(f"{self.address} was changed by a run while it was read: try again") from error
            raise

    @contextmanager
    def creating(self, overwrite: bool = False) -> Iterator[Self]:
        """An empty store to be filled in the block; it is published after the block, or leaves nothing behind.

        Raises as `staged`.
        """
        with staged(self.storage, self.KIND, overwrite) as staging:
            new = type(self)(staging)
            yield new
        self.manifest_file.adopt(new.manifest_file)
        self.known = new.known

    def check_reachable(self, manifest_digest: str) -> None:
        """Raise StoreError unless this process can read and write the store whose manifest has this digest.

        A worker on another machine may find nothing at the address, or another disk's directory of that name.
        """
        try:
            found = self.manifest_file.current_digest()
        except InputError as error:  # the client of the storage cannot be opened here
            raise StoreError(str(error)) from error
        if found != manifest_digest:
            raise StoreError(f"{self.address} is a different store on this machine: is the path shared?")
        self.storage.probe()


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


def remove_store(storage: Storage, formats: Container[str | None]) -> int:
    """Delete a store of one of these formats, damaged or not, or what a killed removal left; the bytes freed.

    If the address is a link to a store, only the link is deleted.

    Raises
    ------
    NotAStoreError, StoreLockedError
        As `check_not_in_use`.
    StoreError
        Something else is in the store, or something cannot be deleted.
    """
    check_not_in_use(storage, formats)
    if storage.is_link:
        storage.remove_link()
        return 0
    with storage.lock.hold():
        check_not_in_use(storage, formats)  # another run may have begun, or restored what a killed one left
        return storage.remove()


def check_not_in_use(storage: Storage, formats: Container[str | None]) -> None:
    """Check that a store can be removed.

    NotAStoreError where there is no store of one of these formats; StoreLockedError where another run is at work on it.
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
