"""The zarr arrays of a store: their metadata, their chunks, and errors that name the damaged or missing file."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.errors import ContainsArrayError

from antipodes.machine import lacks_threads
from antipodes.storage.backend import GROUP, MANIFEST, MOST_METADATA, Storage
from antipodes.storage.fields import expect
from antipodes.storage.layout import Layout, chunk_key
from antipodes.storage.manifest import digest
from antipodes.storage.zarr_settings import check_blosc, check_settings
from antipodes_tasks.errors import StoreDamagedError, StoreError
from antipodes_tasks.quoting import shorten


class Arrays:
    """The arrays of one store, by their names."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def create(self, name: str, layout: Layout) -> None:
        """Create an empty array whose chunks carry checksums; StoreError where the old one could not be deleted."""
        try:
            layout.create(self._storage.arrays(name))
        except ContainsArrayError as error:
            raise StoreError(f"cannot write {self._storage.name_of(name)}: cannot delete what is there") from error

    def write_group(self, attributes: Mapping[str, Any], names: Iterable[str] = ()) -> None:
        """Write the zarr group that these arrays are in; before they are finished it lists none.

        The list is zarr's consolidated metadata. Zarr and xarray read it instead of the folder, where they would warn
        of the manifest, and find arrays that are half written.
        """
        group = _group(
            attributes, {name: _json(self._storage.read(f"{name}/{GROUP}", MOST_METADATA)[0]) for name in names}
        )
        if self._metadata(GROUP) != group:
            self._storage.put(GROUP, [group])

    def open(self, name: str, layout: Layout) -> Any:
        """An array of this layout, to be read; StoreError where it cannot be opened."""
        return self._open(
            name,
            self._storage.arrays(name, read_only=True, most=layout.most_bytes, check_chunk=layout.check_chunk),
            "r",
        )

    def open_to_write(self, name: str, layout: Layout, token: str | None = None) -> Any:
        """An array to be written while the lock contains the fencing token, if one is given; raises as `open`.

        Chunks of fill values are written like all others: to look for them would cost more than to compress them.
        """
        check_blosc()
        array = self._open(
            name, self._storage.arrays(name, token=token, most=layout.most_bytes, check_chunk=layout.check_chunk), "r+"
        )
        return array.with_config({"write_empty_chunks": True})

    def _open(self, name: str, arrays: Any, mode: Literal["r", "r+"]) -> Any:
        check_settings()
        file = self._storage.name_of(f"{name}/{GROUP}")
        try:
            return zarr.open_array(arrays, mode=mode, zarr_format=3)
        except (MemoryError, StoreError):
            raise
        except FileNotFoundError as error:
            raise StoreDamagedError(f"{file} is missing") from error
        except Exception as error:  # zarr raises errors of many types for other metadata
            raise _unreadable(file, error) from error

    def read_chunk(self, name: str, layout: Layout, number: int, first: int, end: int) -> NDArray[Any]:
        """The rows ``first`` to ``end - 1`` of an array of this layout, all of which are in one chunk.

        Raises
        ------
        StoreDamagedError
            The chunk is missing or its checksum is wrong; the message names it.
        """
        key = chunk_key(name, number)
        chunk = self._storage.name_of(key)
        try:
            if self._storage.known_missing(key):
                raise FileNotFoundError(key)
            return np.asarray(self.open(name, layout)[first:end])
        except (MemoryError, StoreError):
            raise
        except FileNotFoundError:
            message = f"chunk {chunk} is missing; the manifest says that it belongs to the store"
            raise StoreDamagedError(message) from None
        except Exception as error:  # codecs raise errors of many types for damaged bytes
            raise _unreadable(f"chunk {chunk}", error) from error

    def misplaced(self, name: str, number: int) -> StoreDamagedError:
        """The error for a chunk whose content is intact but has another digest than the manifest says."""
        return StoreDamagedError(
            f"chunk {self._storage.name_of(chunk_key(name, number))} is damaged: "
            f"it does not belong here or was changed, since its digest is not the one in {MANIFEST}"
        )

    def digests(self, files: Iterable[str]) -> dict[str, str]:
        """The SHA-256 of zarr metadata files, for the manifest."""
        return {file: digest(self._storage.read(file, MOST_METADATA)[0]) for file in files}

    def check_metadata(self, digests: Mapping[str, str], layouts: Mapping[str, Layout]) -> None:
        """Check that the ``zarr.json`` files of the arrays have these digests, and describe these arrays.

        Raises
        ------
        StoreDamagedError
            A file is missing, or its digest is another.
        FieldError
            The digests are of other files, or a file describes something else.
        """
        files = [f"{name}/{GROUP}" for name in layouts]
        expect(digests.keys() == {*files}, "metadata", f"the files {', '.join(files) or 'of no array'}", list(digests))
        for file, layout in zip(files, layouts.values(), strict=True):
            name = self._storage.name_of(file)
            content = self._metadata(file)
            if content is None or digest(content) != digests[file]:
                raise StoreDamagedError(f"{name} is damaged: its checksum is not the one in the manifest")
            layout.check(_json(content), name)

    def check_group(self, attributes: Mapping[str, Any], names: Iterable[str] | None) -> None:
        """Check that the group has these attributes and lists these arrays, or, while they are unfinished, any.

        Raises
        ------
        StoreDamagedError
            Its ``zarr.json`` is missing, or has anything else.
        """
        content = self._metadata(GROUP) or b""
        arrays = _listed(content) if names is None else {one: _json(self._metadata(f"{one}/{GROUP}")) for one in names}
        if content != _group(attributes, arrays):
            raise StoreDamagedError(
                f"{self._storage.name_of(GROUP)} is damaged: expected the group of the store, with the attributes "
                f"{dict(attributes)}"
            )

    def _metadata(self, file: str) -> bytes | None:
        try:
            return self._storage.read(file, MOST_METADATA)[0]
        except FileNotFoundError:
            return None


def _unreadable(what: str, error: Exception) -> StoreError:
    """The error for bytes that cannot be read: they are damaged unless the system is the reason."""
    if isinstance(error, OSError):
        return StoreError(f"cannot read {what}: {error.strerror or error}")
    if lacks_threads(error):
        return StoreError(f"cannot read {what}: the system allows too little memory, or too few threads")
    return StoreDamagedError(f"{what} is damaged: {shorten(str(error), 200)}")


def _group(attributes: Mapping[str, Any], arrays: Mapping[str, Any]) -> bytes:
    """The ``zarr.json`` of a group that lists arrays, each with the content of its own."""
    listed = {"kind": "inline", "must_understand": False, "metadata": arrays}
    content = {"zarr_format": 3, "node_type": "group", "attributes": attributes, "consolidated_metadata": listed}
    return json.dumps(content, indent=2).encode()


def _listed(group: bytes) -> Mapping[str, Any]:
    """The arrays that the ``zarr.json`` of a group lists; none where it is damaged."""
    try:
        return dict(json.loads(group)["consolidated_metadata"]["metadata"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def _json(content: bytes | None) -> Any:
    """The value of a JSON text; None for any other text."""
    try:
        return json.loads(content or b"")
    except (ValueError, RecursionError):
        return None
