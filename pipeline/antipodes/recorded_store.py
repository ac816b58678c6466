"""What stores of all kinds share: zarr arrays, and a record that says what of them counts.

All that the record says was safe before the record was.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, Literal, Self

import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, ZstdCodec

from antipodes.errors import InputError, NotAStoreError, StoreDamagedError, StoreError
from antipodes.record import digest, parse, serialise
from antipodes.storage.address import Address, storage_at
from antipodes.storage.storage import GROUP, RECORD, Hold, Storage, Version


class RecordedStore:
    """A store with a record; it may be sent to other processes, since nothing in it is open."""

    FORMAT: ClassVar[str]
    VERSION: ClassVar[int]
    HOLDS: ClassVar[str]
    """What a reader expects in it, for messages."""

    def __init__(self, address: Address | Storage) -> None:
        self.storage = storage_at(address)
        self._seen: Version | None = None
        """The version of the record that was last read or written here: the one that a commit may replace."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Who gets a copy does not hold the lock, and knows no version to replace."""
        return type(self), (self.storage,)

    @property
    def address(self) -> str:
        """The path or the URL as text: where the store is, for messages and reports."""
        return self.storage.address

    def lock(self) -> AbstractContextManager[Hold]:
        """Keep other runs from the store; StoreLockedError where one holds it.

        What is written or deleted meanwhile is so only as long as no other run has taken the lock over.
        """
        return self.storage.lock()

    def exists(self) -> bool:
        """Whether there is anything at the address."""
        return self.storage.exists()

    def check_removable(self) -> None:
        """Raise NotAStoreError unless what is at the address is a store of this kind, damaged or not."""
        if not self.storage.has(RECORD) or self._claimed_format() != self.FORMAT:
            raise NotAStoreError(f"expected {self.HOLDS} at {self.address}, found something else; not overwritten")

    def remove(self) -> None:
        """Delete the store, damaged or not, as a whole; NotAStoreError where something else is at the address."""
        self.check_removable()
        self.storage.remove()
        self._seen = None

    def _claimed_format(self) -> str | None:
        """The format that the record names or, where it is damaged, the attributes of the group."""
        if claimed := format_of(self.storage):
            return claimed
        try:
            attributes = json.loads(self.storage.read(GROUP)[0])["attributes"]
            return str(attributes["format"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def identity(self) -> tuple[object, ...]:
        """What tells this store from another that takes its place; nothing where there is none."""
        return self.storage.identity(GROUP)

    def bytes_stored(self) -> int:
        """How many bytes the store takes."""
        return self.storage.size()

    def begin_as(self) -> Self:
        """An empty group, to be filled and then put in its place by `appear`."""
        new = type(self)(self.storage.begin())
        zarr.create_group(new.storage.arrays(), attributes={"format": self.FORMAT, "version": self.VERSION})
        return new

    def appear(self, new: "RecordedStore") -> None:
        """Put a store that is ready at the address: it is there as a whole, or not at all."""
        self.storage.appear(new.storage)
        self._seen = new._seen

    def read_content(self) -> dict[str, Any]:
        """The record, without its format and version.

        Raises
        ------
        NotAStoreError
            There is no store, one of another kind, or one of a newer version.
        StoreDamagedError
            The record is not what was written.
        """
        try:
            written, self._seen = self.storage.read(RECORD)
        except FileNotFoundError:
            found = "no record in it" if self.exists() else "nothing"
            raise NotAStoreError(f"expected a store at {self.address}, found {found} (a store has {RECORD})") from None
        content = parse(written, self.storage.name_of(RECORD))
        if content.pop("format", None) != self.FORMAT:
            raise NotAStoreError(f"expected {self.HOLDS} at {self.address}, found another kind of store")
        if (version := content.pop("version", None)) != self.VERSION:
            raise NotAStoreError(
                f"expected a store of format version {self.VERSION} at {self.address}, found version {version}: "
                "read it with the version of antipodes that wrote it"
            )
        return content

    def write_content(self, content: Mapping[str, Any]) -> None:
        """Replace the record that was last seen; StoreError where another run has replaced it, or the lock."""
        written = serialise({"format": self.FORMAT, "version": self.VERSION, **content})
        self._seen = self.storage.replace(RECORD, written, self._seen)

    def record_digest(self) -> str:
        """SHA-256 of the record as it is now, for `check_reachable`; StoreError where there is none."""
        try:
            return digest(self.storage.read(RECORD)[0])
        except FileNotFoundError:
            raise StoreError(f"there is no store at {self.address}") from None

    def check_reachable(self, record_digest: str) -> None:
        """Raise StoreError, saying what cannot be done, unless this process reads and writes that very store.

        A worker on another machine may find nothing at the address, or another disk's directory of that name.
        """
        try:
            found = self.record_digest()
        except InputError as error:  # of a client that cannot be opened here
            raise StoreError(str(error)) from error
        if found != record_digest:
            raise StoreError(f"{self.address} is another store here, or another copy: its record is not the expected")
        self.storage.probe()

    def digests(self, files: Iterable[str]) -> dict[str, str]:
        """The SHA-256 of zarr metadata files, for the record."""
        return {file: digest(self.storage.read(file)[0]) for file in files}

    def check_metadata(self, metadata: Mapping[str, str]) -> None:
        """Raise StoreDamagedError unless the files are those of the record."""
        for file, expected in metadata.items():
            try:
                found = digest(self.storage.read(file)[0])
            except FileNotFoundError:
                found = "missing"
            if found != expected:
                name = self.storage.name_of(file)
                raise StoreDamagedError(f"{name} is damaged: its checksum is not the one in the record")

    def create_array(
        self, name: str, shape: tuple[int, int], chunk_rows: int, dtype: str, fill: int, axes: tuple[str, str]
    ) -> Any:
        """An empty array whose chunks are whole rows and carry checksums."""
        return zarr.create_array(
            self.storage.arrays(name),
            shape=shape,
            chunks=(chunk_rows, shape[1]),
            dtype=dtype,
            fill_value=fill,
            serializer=BytesCodec(),
            compressors=(ZstdCodec(level=1), Crc32cCodec()),
            dimension_names=axes,
        )

    def open_array(self, name: str) -> Any:
        """An array to be read; StoreError where it cannot be opened."""
        return self._open(name, self.storage.arrays(name, read_only=True), "r")

    def open_to_write(self, name: str, token: str | None = None) -> Any:
        """An array to be written, only while the lock bears the token, or is held if it is held here; likewise."""
        return self._open(name, self.storage.arrays(name, token=token), "r+")

    def _open(self, name: str, arrays: Any, mode: Literal["r", "r+"]) -> Any:
        """An array of a storage; an error that names its metadata, in place of zarr's, where it cannot be opened."""
        try:
            return zarr.open_array(arrays, mode=mode, zarr_format=3)
        except (MemoryError, StoreError):
            raise
        except Exception as error:
            file = self.storage.name_of(f"{name}/zarr.json")
            if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
                raise StoreError(f"cannot read {file}: {error.strerror or error}") from error
            raise StoreDamagedError(f"{file} is missing or damaged: {' '.join(str(error).split())}") from error

    def read_chunk(self, name: str, number: int, first: int, end: int) -> Any:
        """The rows ``first`` to ``end`` of an array, all of which lie in one chunk.

        Raises
        ------
        StoreDamagedError
            The chunk is missing or its checksum is wrong; the message names it.
        """
        key = f"{name}/c/{number}/0"
        chunk = self.storage.name_of(key)
        try:
            if self.storage.surely_lacks(key):
                raise FileNotFoundError(key)
            return self.open_array(name)[first:end]
        except (MemoryError, StoreError):
            raise
        except FileNotFoundError:
            message = f"chunk {chunk} is missing; the record says that it belongs to the store"
            raise StoreDamagedError(message) from None
        except OSError as error:
            raise StoreError(f"cannot read chunk {chunk}: {error.strerror or error}") from error
        except Exception as error:  # whatever a codec makes of damaged bytes
            raise StoreDamagedError(f"chunk {chunk} is damaged: {error}") from error

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Turn errors of the system into StoreErrors."""
        try:
            yield
        except StoreError:
            raise
        except OSError as error:
            raise StoreError(f"cannot write {self.address}: {error.strerror or error}") from error


def format_of(address: Address | Storage) -> str | None:
    """The format that the record of a store names; None where there is no record, or a damaged one."""
    storage = storage_at(address)
    try:
        found = parse(storage.read(RECORD)[0], storage.name_of(RECORD)).get("format")
    except (FileNotFoundError, StoreDamagedError):
        return None
    return found if isinstance(found, str) else None
