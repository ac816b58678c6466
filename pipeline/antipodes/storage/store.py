"""What stores of all kinds share: zarr arrays, and a manifest that says what of them counts.

All that the manifest says was safe before the manifest was.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.errors import ContainsArrayError

from antipodes.errors import (
    FieldError,
    InputError,
    NotAStoreError,
    StoreChangedError,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
)
from antipodes.quoting import shorten
from antipodes.storage.address import Address, in_shell, storage_at
from antipodes.storage.backend import GROUP, MANIFEST, LockHandle, Storage, Version
from antipodes.storage.fields import expect, read_fields, write_fields
from antipodes.storage.layout import Layout, chunk_key
from antipodes.storage.manifest import digest, parse, serialise
from antipodes.storage.zarr_settings import check_settings

T = TypeVar("T")
CHANGES_AT_MOST = 100
"""So often a manifest may be replaced while it is read, before that is an error."""


class Store:
    """A store with a manifest; it may be sent to other processes, since nothing in it is open."""

    FORMAT: ClassVar[str]
    VERSION: ClassVar[int] = 2
    HOLDS: ClassVar[str]
    """What a reader expects in it, for messages."""
    MADE_BY: ClassVar[str]
    """The command that makes such a store."""

    def __init__(self, address: Address | Storage) -> None:
        self.storage = storage_at(address)
        self._seen: Version | None = None
        """The version of the manifest that was last read or written here: the one that a commit may replace."""
        self._known: str | None = None
        """Its SHA-256."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Who gets a copy does not hold the lock, and knows no version to replace."""
        return type(self), (self.storage,)

    @property
    def address(self) -> str:
        """The path or the URL as text: where the store is, for messages and reports."""
        return self.storage.address

    @property
    def is_known(self) -> bool:
        """Whether its manifest was read or written here."""
        return self._seen is not None

    def lock(self) -> AbstractContextManager[LockHandle]:
        """Keep other runs from the store; StoreLockedError where one holds it.

        What is written or deleted meanwhile is so only as long as no other run has taken the lock over.
        """
        return self.storage.lock()

    def exists(self) -> bool:
        """Whether there is anything at the address."""
        return self.storage.exists()

    def check_removable(self) -> None:
        """Raise NotAStoreError unless what is at the address is a store of this kind, damaged or not."""
        if not self.storage.has(MANIFEST) or self._claimed_format() != self.FORMAT:
            raise NotAStoreError(f"expected {self.HOLDS} at {self.address}, found something else; not overwritten")

    def _claimed_format(self) -> str | None:
        """The format that the manifest names or, where it is damaged, the attributes of the group."""
        if claimed := format_of(self.storage):
            return claimed
        try:
            attributes = json.loads(self.storage.read(GROUP)[0])["attributes"]
            return str(attributes["format"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def identity(self) -> tuple[object, ...]:
        """What tells this store from another that takes its place; nothing where there is none."""
        return self.storage.identity(GROUP)

    def bytes_stored(self) -> int:
        """How many bytes the store takes."""
        return self.storage.size()

    @contextmanager
    def creating(self, overwrite: bool = False) -> Iterator[Self]:
        """An empty group to be filled; it appears at the address as a whole after the block, or nothing is left of it.

        A store that is to be overwritten stays until then, where the storage can have both.

        Raises
        ------
        NotAStoreError
            What is to be overwritten is no store of this kind.
        StoreError
            It cannot be written; the message says so if the store that was there is gone.
        """
        check_settings()
        if overwrite:
            self.check_removable()
        with self._saying_what_is_gone(overwrite), self.writing():
            begun = self.storage.begin(overwrite)
            try:
                new = type(self)(begun)
                zarr.create_group(begun.arrays(), attributes={"format": self.FORMAT, "version": self.VERSION})
                yield new
                self.storage.publish(begun, overwrite)
            except BaseException:
                self.storage.discard(begun)
                raise
        self._seen = new._seen

    @contextmanager
    def _saying_what_is_gone(self, overwrite: bool) -> Iterator[None]:
        """Add to an error that the store which was to be overwritten is deleted, if it is."""
        try:
            yield
        except StoreLockedError:  # what is there now is another run's
            raise
        except StoreError as error:
            if not overwrite or self.storage.has(MANIFEST):
                raise
            raise StoreError(f"{error}; the store that was to be overwritten is deleted") from error

    def steadily(self, read: Callable[[], T]) -> T:
        """What ``read`` returns, which reads the manifest and the arrays; repeated as long as a run changes them."""
        for _ in range(CHANGES_AT_MOST):
            with suppress(StoreChangedError), self.unless_changed():
                return read()
        return read()

    def read_as(self, kind: type[T]) -> T:
        """The manifest, as an instance of a dataclass that declares its fields.

        Raises
        ------
        NotAStoreError
            There is no store, one of another kind, or one of another version.
        StoreDamagedError
            The manifest is not what was written, or a field holds what it may not.
        """
        try:
            written, self._seen = self.storage.read(MANIFEST)
        except FileNotFoundError:
            found = "no manifest in it" if self.exists() else "nothing"
            raise NotAStoreError(
                f"expected a store at {self.address}, found {found} (a store has {MANIFEST})"
            ) from None
        self._known = digest(written)
        content = parse(written, self.storage.name_of(MANIFEST))
        if content.pop("format", None) != self.FORMAT:
            raise NotAStoreError(f"expected {self.HOLDS} at {self.address}, found another kind of store")
        self._check_version(content.pop("version", None))
        with self.checking():
            return read_fields(kind, content)

    def _check_version(self, version: Any) -> None:
        known = type(version) is int
        if known and version == self.VERSION:
            return
        if known and 0 < version < self.VERSION:
            remedy = f"compute it again with: {self.MADE_BY} --store {in_shell(self.address)} --overwrite"
        else:
            remedy = "read it with the version of antipodes that wrote it"
        raise NotAStoreError(
            f"expected a store of format version {self.VERSION} at {self.address}, "
            f"found version {shorten(str(version))}: {remedy}"
        )

    @contextmanager
    def checking(self) -> Iterator[None]:
        """Turn FieldErrors into StoreDamagedErrors that name the manifest."""
        try:
            yield
        except FieldError as error:
            raise StoreDamagedError(f"{self.storage.name_of(MANIFEST)} is damaged: {error}") from error

    def write_manifest(self, manifest: Any) -> None:
        """Replace the manifest that was last seen; StoreError where another run has replaced it, or the lock."""
        written = serialise({"format": self.FORMAT, "version": self.VERSION, **write_fields(manifest)})
        self._seen = self.storage.replace(MANIFEST, written, self._seen)
        self._known = digest(written)

    @contextmanager
    def unless_changed(self) -> Iterator[None]:
        """Take nothing for damage that a run has moved or deleted since the manifest was read.

        Raises
        ------
        StoreChangedError
            Something is missing or other than the manifest said, and there is another manifest now.
        """
        try:
            yield
        except StoreDamagedError as error:
            if self._known not in (None, self.manifest_digest()):
                raise StoreChangedError(f"{self.address} was changed by a run while it was read: try again") from error
            raise

    def manifest_digest(self) -> str:
        """SHA-256 of the manifest as it is now, for `check_reachable`; StoreError where there is none."""
        try:
            return digest(self.storage.read(MANIFEST)[0])
        except FileNotFoundError:
            raise StoreError(f"there is no store at {self.address}") from None

    def check_reachable(self, manifest_digest: str) -> None:
        """Raise StoreError, saying what cannot be done, unless this process reads and writes that very store.

        A worker on another machine may find nothing at the address, or another disk's directory of that name.
        """
        try:
            found = self.manifest_digest()
        except InputError as error:  # of a client that cannot be opened here
            raise StoreError(str(error)) from error
        if found != manifest_digest:
            raise StoreError(f"{self.address} is another store here, or another copy: its manifest is not the expected")
        self.storage.probe()

    def digests(self, files: Iterable[str]) -> dict[str, str]:
        """The SHA-256 of zarr metadata files, for the manifest."""
        return {file: digest(self.storage.read(file)[0]) for file in files}

    def check_metadata(self, metadata: Mapping[str, str], arrays: Mapping[str, Layout]) -> None:
        """Raise StoreDamagedError unless the ``zarr.json`` files match the manifest, and describe these arrays."""
        checks: dict[str, Callable[[Any, str], None]] = {GROUP: self._check_group}
        checks |= {f"{name}/{GROUP}": layout.check for name, layout in arrays.items()}
        with self.checking():
            expect(metadata.keys() == checks.keys(), "metadata", f"the files {', '.join(checks)}", list(metadata))
        for file, check in checks.items():
            name = self.storage.name_of(file)
            content = self._metadata(file)
            if content is None or digest(content) != metadata[file]:
                raise StoreDamagedError(f"{name} is damaged: its checksum is not the one in the manifest")
            with self.checking():
                check(_json(content), name)

    def _check_group(self, metadata: Any, name: str) -> None:
        expect(isinstance(metadata, dict), name, "an object", metadata)
        expected = {"format": self.FORMAT, "version": self.VERSION}
        found = metadata.get("attributes")
        expect(found == expected, f"{name}: attributes", repr(expected), found)

    def _metadata(self, file: str) -> bytes | None:
        try:
            return self.storage.read(file)[0]
        except FileNotFoundError:
            return None

    def create_array(self, name: str, layout: Layout) -> None:
        """An empty array whose chunks carry checksums; StoreError where something is that could not be deleted."""
        try:
            layout.create(self.storage.arrays(name))
        except ContainsArrayError as error:
            raise StoreError(f"cannot write {self.storage.name_of(name)}: cannot delete what is there") from error

    def open_array(self, name: str) -> Any:
        """An array to be read; StoreError where it cannot be opened."""
        return self._open(name, self.storage.arrays(name, read_only=True), "r")

    def open_to_write(self, name: str, token: str | None = None) -> Any:
        """An array to be written, only while the lock bears the token, or is held if it is held here; likewise."""
        return self._open(name, self.storage.arrays(name, token=token), "r+")

    def _open(self, name: str, arrays: Any, mode: Literal["r", "r+"]) -> Any:
        """An array of a storage; an error that names its metadata, in place of zarr's, where it cannot be opened."""
        check_settings()
        file = self.storage.name_of(f"{name}/{GROUP}")
        try:
            return zarr.open_array(arrays, mode=mode, zarr_format=3)
        except (MemoryError, StoreError):
            raise
        except FileNotFoundError as error:
            raise StoreDamagedError(f"{file} is missing") from error
        except OSError as error:
            raise StoreError(f"cannot read {file}: {error.strerror or error}") from error
        except Exception as error:  # whatever zarr makes of other metadata
            raise StoreDamagedError(f"{file} is damaged: {shorten(str(error), 200)}") from error

    def read_chunk(self, name: str, number: int, first: int, end: int) -> NDArray[Any]:
        """The rows ``first`` to ``end`` of an array, all of which lie in one chunk.

        Raises
        ------
        StoreDamagedError
            The chunk is missing or its checksum is wrong; the message names it.
        """
        key = chunk_key(name, number)
        chunk = self.storage.name_of(key)
        try:
            if self.storage.known_missing(key):
                raise FileNotFoundError(key)
            return np.asarray(self.open_array(name)[first:end])
        except (MemoryError, StoreError):
            raise
        except FileNotFoundError:
            message = f"chunk {chunk} is missing; the manifest says that it belongs to the store"
            raise StoreDamagedError(message) from None
        except OSError as error:
            raise StoreError(f"cannot read chunk {chunk}: {error.strerror or error}") from error
        except Exception as error:  # whatever a codec makes of damaged bytes
            raise StoreDamagedError(f"chunk {chunk} is damaged: {shorten(str(error), 200)}") from error

    def foreign(self, key: str) -> StoreDamagedError:
        """The error for a chunk whose content is intact, but not what the manifest vouches for at this place."""
        return StoreDamagedError(
            f"chunk {self.storage.name_of(key)} is damaged: it does not belong here or was changed, "
            f"since its digest is not the one in {MANIFEST}"
        )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Turn errors of the system into StoreErrors."""
        try:
            yield
        except StoreError:
            raise
        except OSError as error:
            raise StoreError(f"cannot write {self.address}: {error.strerror or error}") from error


def _json(content: bytes) -> Any:
    """What a text says in JSON; None where it says nothing."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def format_of(address: Address | Storage) -> str | None:
    """The format that the manifest of a store names; None where there is no manifest, or a damaged one."""
    storage = storage_at(address)
    try:
        found = parse(storage.read(MANIFEST)[0], storage.name_of(MANIFEST)).get("format")
    except (FileNotFoundError, StoreDamagedError):
        return None
    return found if isinstance(found, str) else None
