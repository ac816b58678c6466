"""A store of any kind: a storage that holds a manifest and zarr arrays, with one writer at a time.

A new store is filled in a staging place and then published atomically; if this fails, nothing of the store remains.
Stores are also removed atomically.
"""

from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from antipodes.storage.arrays import Arrays, Layout, check_settings
from antipodes.storage.backend import GROUP, MANIFEST, Storage
from antipodes.storage.lock import StoreLock, in_use
from antipodes.storage.manifest_file import ManifestFile, StoreKind, format_of
from antipodes.storage.opening import storage_at
from antipodes.system.addresses import Address
from antipodes_tasks.base.errors import (
    InputError,
    NotAStoreError,
    StoreChangedError,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
)

MAX_CHANGES = 100
"""Maximum number of times that the manifest may be replaced while a store is read."""


class Manifest(Protocol):
    """The manifest of one kind of store: a dataclass whose fields are declared with `stored_as`."""

    @property
    def complete(self) -> bool:
        """Whether the store is finished."""

    @property
    def metadata(self) -> Mapping[str, str]:
        """SHA-256 of the zarr metadata files of the arrays, by their paths in the store."""

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """The layouts of the arrays that belong to the store, by name."""

    def check(self) -> None:
        """Raise FieldError unless the fields are consistent with each other."""


M = TypeVar("M", bound=Manifest)


class Store(Generic[M]):
    """A store with a manifest. It can be sent to other processes, since it has no open files or connections."""

    KIND: ClassVar[StoreKind]
    MANIFEST_TYPE: type[M]

    def __init__(self, address: Address | Storage) -> None:
        self.storage = storage_at(address)
        self.manifest_file = ManifestFile(self.storage, self.KIND)
        self.arrays = Arrays(self.storage)
        self.known: M | None = None
        """The manifest that this object last read or wrote."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Reduce to the storage: a copy does not hold the lock and has not read the manifest."""
        return type(self), (self.storage,)

    @property
    def address(self) -> str:
        """The path or the URL as a string, for messages and reports."""
        return self.storage.address

    def lock(self) -> AbstractContextManager[StoreLock]:
        """Hold the lock, so that no other run writes the store; raise StoreLockedError if another run holds it.

        While the lock is held, every write and delete first checks that no other run has taken it over.
        """
        return self.storage.lock.hold()

    def exists(self) -> bool:
        """Return whether anything exists at the address."""
        return self.storage.exists()

    def identity(self) -> tuple[object, ...]:
        """Return a value that changes if another store replaces this one. Empty if there is no store."""
        return self.storage.identity(GROUP)

    def read(self) -> M:
        """Return the manifest after checking it; read again if a run changes the store meanwhile.

        Raises NotAStoreError if there is no store, or a store of another kind or version, and StoreDamagedError if the
        manifest or the zarr metadata is corrupt.
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
        """Return the attributes of the zarr group, which are written when the store is created."""
        return self.KIND.attributes

    def commit(self, manifest: M) -> None:
        """Replace the manifest. All data that it refers to must be durable already."""
        self.manifest_file.write(manifest)
        self.known = manifest

    def has_leftovers(self, manifest: M) -> bool:
        """Return whether a run died before it deleted the files that a finished store no longer needs."""
        return bool(self.storage.names_in_folder(self.KIND.unfinished))

    def remove_leftovers(self, manifest: M) -> M:
        """Delete the files that a crashed run was writing; return the manifest with which to continue."""
        self.storage.remove_leftovers()
        if not manifest.complete:  # a run may have died after it listed the arrays
            self.arrays.write_group(self.attributes(manifest))
        return manifest

    @contextmanager
    def unless_changed(self) -> Iterator[None]:
        """Turn a StoreDamagedError into a StoreChangedError if a run has replaced the manifest since it was read."""
        try:
            yield
        except StoreDamagedError as error:
            if self.manifest_file.has_changed():
                raise StoreChangedError(
                    f"{self.address} was changed by a run while it was being read; try again"
                ) from error
            raise

    @contextmanager
    def creating(self, overwrite: bool = False) -> Iterator[Self]:
        """Yield an empty store to be filled in the block, then publish it; after an error, nothing of it remains.

        Raises the same errors as `staged`.
        """
        with staged(self.storage, self.KIND, overwrite) as staging:
            new = type(self)(staging)
            yield new
        self.manifest_file.adopt(new.manifest_file)
        self.known = new.known

    def check_reachable(self, manifest_digest: str) -> None:
        """Raise StoreError unless this process can read and write the store whose manifest has this digest.

        A worker on another machine may find nothing at the address, or a different directory at the same path.
        """
        try:
            found = self.manifest_file.current_digest()
        except InputError as error:  # the storage's client cannot be opened here
            raise StoreError(str(error)) from error
        if found != manifest_digest:
            raise StoreError(f"{self.address} is a different store on this machine: is the path shared?")
        self.storage.probe()


@contextmanager
def staged(storage: Storage, kind: StoreKind, overwrite: bool = False) -> Iterator[Storage]:
    """Yield a storage with an empty zarr group, to be filled in the block, then move its content to ``storage``.

    If a store is overwritten, it remains until then, provided that the storage can hold both stores.

    Raises
    ------
    NotAStoreError
        The content to be overwritten is not a store of this kind.
    StoreError
        The store cannot be written. The message mentions if the old store is already deleted.
    """
    check_settings()
    if overwrite:
        check_removable(storage, kind)
    with _reporting_deletion(storage, overwrite), storage.writing(), storage.staged(overwrite) as staging:
        Arrays(staging).write_group(kind.attributes)
        yield staging


def check_removable(storage: Storage, kind: StoreKind) -> None:
    """Raise NotAStoreError unless the storage holds a store that this kind may replace, corrupt or not."""
    if not storage.has(MANIFEST) or _claimed_format(storage) not in (kind.format, *kind.replaces):
        raise NotAStoreError(
            f"expected {kind.holds} at {storage.address}, found something else, which was not overwritten"
        )


def remove_store(storage: Storage, formats: Container[str | None], first: Callable[[], int] = lambda: 0) -> int:
    """Delete a store of one of these formats, corrupt or not, or the leftovers of a killed removal.

    Returns the bytes freed. If the address is a link to a store, only the link is deleted. Otherwise ``first`` is
    called before the store is deleted; it frees bytes elsewhere.

    Raises
    ------
    NotAStoreError, StoreLockedError
        See `check_not_in_use`.
    StoreError
        The store contains foreign files, or something cannot be deleted.
    """
    check_not_in_use(storage, formats)
    if storage.remove_link():
        return 0
    with storage.lock.hold():
        check_not_in_use(storage, formats)  # another run may have started, or restored a half-removed store
        return storage.remove(first)


def check_not_in_use(storage: Storage, formats: Container[str | None]) -> None:
    """Check that a store can be removed.

    Raises NotAStoreError if there is no store of one of these formats, and StoreLockedError if a run is using it.
    """
    if not storage.has_leftovers() and not (storage.has(MANIFEST) and _claimed_format(storage) in formats):
        found = "is not a store" if storage.exists() else "does not exist"
        raise NotAStoreError(f"{storage.address} {found}; nothing was removed")
    holder = None if storage.lock.is_held else storage.lock.holder()
    if holder and holder.alive:
        raise in_use(storage.address, holder.owner)


def _claimed_format(storage: Storage) -> str | None:
    """Return the format in the manifest or, if the manifest is corrupt, in the group's attributes; None if unknown."""
    if claimed := format_of(storage):
        return claimed
    try:
        return storage.group_format()
    except StoreError:  # there is no evidence that the store may be deleted
        return None


@contextmanager
def _reporting_deletion(storage: Storage, overwrite: bool) -> Iterator[None]:
    """Extend an error message if the store to be overwritten is already deleted."""
    try:
        yield
    except StoreLockedError:  # the store that is there now belongs to another run
        raise
    except StoreError as error:
        if not overwrite or storage.has(MANIFEST):
            raise
        raise StoreError(f"{error}; the old store has already been deleted") from error
