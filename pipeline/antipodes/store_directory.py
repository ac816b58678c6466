"""What stores of all kinds share: a directory with a record in it, which says what counts.

All that the record says was on the disk before the record was.
"""

import asyncio
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Self

import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, ZstdCodec
from zarr.core.buffer import Buffer
from zarr.storage import LocalStore

from antipodes.durable import PARTIAL, replace_file, sync_directory
from antipodes.errors import NotAStoreError, StoreDamagedError, StoreError
from antipodes.lock import Hold, lock
from antipodes.record import digest, read_record, write_record

RECORD = "commit.json"


class DurableStore(LocalStore):
    """Zarr's store in the file system, whose files are on the disk before they bear their names."""

    async def set(self, key: str, value: Buffer) -> None:
        """Put a value at a key."""
        await asyncio.to_thread(self.set_sync, key, value)

    def set_sync(self, key: str, value: Buffer) -> None:
        """Put a value at a key; newer versions of zarr call this one alone."""
        replace_file(self.root / key, value.as_buffer_like())


class StoreDirectory:
    """A store in the file system; it may be sent to other processes, since nothing in it is open."""

    FORMAT: ClassVar[str]
    VERSION: ClassVar[int]
    HOLDS: ClassVar[str]
    """What a reader expects in it, for messages."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    @property
    def address(self) -> str:
        """The path as text: where the store is, for messages and reports."""
        return str(self.path)

    def lock(self) -> AbstractContextManager[Hold]:
        """Keep other runs from the store; StoreLockedError where one holds it."""
        return lock(self.path)

    def exists(self) -> bool:
        """Whether there is anything at the path."""
        return os.path.exists(self.path)

    def remove(self) -> None:
        """Delete the store, damaged or not, as a whole; NotAStoreError where something else is at the path."""
        if not (self.path / RECORD).is_file() or self._claimed_format() != self.FORMAT:
            raise NotAStoreError(f"expected {self.HOLDS} at {self.path}, found something else; not overwritten")
        self._sweep_removed()
        self.path.resolve().rename(self._removed)
        self._sweep_removed()

    def _claimed_format(self) -> str | None:
        """The format that the record names or, where it is damaged, the attributes of the group."""
        if claimed := format_of(self.path):
            return claimed
        try:
            attributes = json.loads((self.path / "zarr.json").read_bytes())["attributes"]
            return str(attributes["format"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @property
    def _removed(self) -> Path:
        """Where a store goes to be deleted, so that none is left by halves; beside it, not beside a link to it."""
        place = self.path.resolve()
        return place.with_name(f".{place.name}.old")

    def _sweep_removed(self) -> None:
        shutil.rmtree(self._removed, ignore_errors=True)

    def identity(self) -> tuple[int, ...]:
        """What tells this store from another that takes its place; nothing where there is none."""
        try:
            status = os.stat(self.path / "zarr.json")
        except OSError:
            return ()
        return status.st_dev, status.st_ino, status.st_mtime_ns

    def bytes_on_disk(self) -> int:
        """How many bytes the files of the store hold."""
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())

    def sweep_partial_files(self) -> None:
        """Clear away the files that zarr was writing in a run that died."""
        for leftover in self.path.rglob(f"*{PARTIAL}"):
            leftover.unlink(missing_ok=True)

    def begin_as(self) -> Self:
        """An empty group beside the path, to be filled and then put in its place by `appear`."""
        self._sweep_removed()
        place = self.path.resolve()
        new = type(self)(place.with_name(f".{place.name}.new"))
        shutil.rmtree(new.path, ignore_errors=True)
        new.path.mkdir(parents=True)
        zarr.create_group(DurableStore(new.path), attributes={"format": self.FORMAT, "version": self.VERSION})
        return new

    def appear(self, new: "StoreDirectory") -> None:
        """Put a store that is ready at the path: it is there as a whole, or not at all."""
        place = self.path.resolve()
        new.path.rename(place)
        sync_directory(place.parent)

    def read_content(self) -> dict[str, Any]:
        """The record, without its format and version.

        Raises
        ------
        NotAStoreError
            There is no store, one of another kind, or one of a newer version.
        StoreDamagedError
            The record is not what was written.
        """
        path = self.path / RECORD
        if not os.path.isfile(path):  # False, too, for names that are longer than the system takes
            found = "no record in it" if self.exists() else "nothing"
            raise NotAStoreError(f"expected a store at {self.path}, found {found} (a store has {RECORD})")
        content = read_record(path)
        if content.pop("format", None) != self.FORMAT:
            raise NotAStoreError(f"expected {self.HOLDS} at {self.path}, found another kind of store")
        if (version := content.pop("version", None)) != self.VERSION:
            raise NotAStoreError(
                f"expected a store of format version {self.VERSION} at {self.path}, found version {version}: "
                "read it with the version of antipodes that wrote it"
            )
        return content

    def write_content(self, content: Mapping[str, Any]) -> None:
        """Replace the record."""
        write_record(self.path / RECORD, {"format": self.FORMAT, "version": self.VERSION, **content})

    def digests(self, files: Iterable[str]) -> dict[str, str]:
        """The SHA-256 of zarr metadata files, for the record."""
        return {file: digest(self.path / file) for file in files}

    def check_metadata(self, metadata: Mapping[str, str]) -> None:
        """Raise StoreDamagedError unless the files are those of the record."""
        for file, expected in metadata.items():
            path = self.path / file
            if not path.is_file() or digest(path) != expected:
                raise StoreDamagedError(f"{path} is damaged: its checksum is not the one in the record")

    def create_array(
        self, name: str, shape: tuple[int, int], chunk_rows: int, dtype: str, fill: int, axes: tuple[str, str]
    ) -> Any:
        """An empty array whose chunks are whole rows and carry checksums."""
        return zarr.create_array(
            DurableStore(self.path / name),
            shape=shape,
            chunks=(chunk_rows, shape[1]),
            dtype=dtype,
            fill_value=fill,
            serializer=BytesCodec(),
            compressors=(ZstdCodec(level=1), Crc32cCodec()),
            dimension_names=axes,
        )

    def open_array(self, name: str, mode: Any = "r") -> Any:
        """An array, as zarr gives it."""
        return zarr.open_array(DurableStore(self.path / name, read_only=mode == "r"), mode=mode)

    def chunk_path(self, name: str, number: int) -> Path:
        """Where a chunk of an array lies."""
        return self.path / name / "c" / str(number) / "0"

    def read_chunk(self, name: str, number: int, first: int, end: int) -> Any:
        """The rows ``first`` to ``end`` of an array, all of which lie in one chunk.

        Raises
        ------
        StoreDamagedError
            The chunk is missing or its checksum is wrong; the message names it.
        """
        path = self.chunk_path(name, number)
        if not path.is_file():
            raise StoreDamagedError(f"chunk {path} is missing; the record says that it belongs to the store")
        try:
            return self.open_array(name)[first:end]
        except MemoryError:
            raise
        except OSError as error:
            raise StoreError(f"cannot read chunk {path}: {error.strerror or error}") from error
        except Exception as error:  # whatever a codec makes of damaged bytes
            raise StoreDamagedError(f"chunk {path} is damaged: {error}") from error

    def cannot_write(self, error: OSError) -> StoreError:
        """What to raise for an error of the system."""
        return StoreError(f"cannot write {self.path}: {error.strerror or error}")


def format_of(path: Path) -> str | None:
    """The format that the record of a store names; None where there is no record, or a damaged one."""
    try:
        found = read_record(path / RECORD).get("format")
    except StoreError:
        return None
    return found if isinstance(found, str) else None
