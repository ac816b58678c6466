"""The zarr arrays of a store: their layout, metadata and chunks, and errors that name the corrupt or missing file.

Settings of zarr may come from environment variables, files or the program. Some of them would make intact stores appear
corrupt, or make reads hang. One setting of the codec Blosc would let two tasks write different bytes for the same
depths. Therefore these settings are checked before an array is opened.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import zarr
from numcodecs import blosc
from numpy.typing import NDArray
from zarr.abc.codec import BytesBytesCodec
from zarr.abc.store import ByteRequest, Store
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, ZstdCodec
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.errors import ContainsArrayError

from antipodes.storage.backend import GROUP, MANIFEST, MAX_METADATA, Content, Storage
from antipodes.storage.chunk_digests import ChunkDigests, chunk_digest, chunk_key
from antipodes.storage.manifest_fields import expect
from antipodes.storage.manifest_file import digest
from antipodes.system.machine import lacks_threads
from antipodes_tasks.base.errors import StoreDamagedError, StoreError
from antipodes_tasks.base.quoting import quote, shorten

LONGEST_HEADER = 18
"""Maximum size of the header of a compressed chunk in bytes."""
BLOCK_BYTES = 65536
"""Size of a Blosc block in bytes. It is fixed, since other versions of Blosc might choose other sizes."""
NEEDED = (
    "default_zarr_format",
    "codec_pipeline.path",
    "codecs.blosc",
    "codecs.bytes",
    "codecs.crc32c",
    "codecs.zstd",
    "buffer",
    "ndbuffer",
)
"""Settings of zarr that must have their default values."""


@dataclass(frozen=True)
class Layout:
    """The layout of an array whose chunks consist of whole rows."""

    shape: tuple[int, int]
    chunk_rows: int
    dtype: str
    fill: int
    axes: tuple[str, str]
    """The names of the dimensions."""
    compression: Literal["lz4", "zstd"] = "lz4"
    """Compression of the chunks. lz4, after bit shuffling, is five times as fast; zstd may be denser."""
    fill_is_missing: bool = False
    """Whether ``fill`` marks missing values, which xarray then reads as NaN."""

    @property
    def chunks(self) -> int:
        """The number of chunks of the array."""
        return -(-self.shape[0] // self.chunk_rows)

    @property
    def max_bytes(self) -> int:
        """Upper bound on the size in bytes of any file of the array. Compression enlarges a chunk only slightly."""
        return max(MAX_METADATA, self._chunk_bytes + self._chunk_bytes // 64 + 4096)

    @property
    def _chunk_bytes(self) -> int:
        """The uncompressed size of a chunk in bytes."""
        return self.chunk_rows * self.shape[1] * np.dtype(self.dtype).itemsize

    def check_chunk(self, written: Content) -> None:
        """Raise ValueError unless a compressed chunk expands to the expected size: a few KiB could expand to GiB."""
        header = bytes(written[:LONGEST_HEADER])
        found = _zstd_bytes(header) if self.compression == "zstd" else int.from_bytes(header[4:8], "little")
        if found != self._chunk_bytes:
            raise ValueError(f"expected {self._chunk_bytes:,} bytes after decompression, found {found:,} in its header")

    @property
    def _attributes(self) -> dict[str, Any]:
        return {"_FillValue": self.fill} if self.fill_is_missing else {}

    def create(self, place: Any) -> None:
        """Create an empty array of this layout in a zarr store. Its chunks have checksums."""
        zarr.create_array(
            place,
            shape=self.shape,
            chunks=(self.chunk_rows, self.shape[1]),
            dtype=self.dtype,
            fill_value=self.fill,
            serializer=BytesCodec(),
            compressors=(self._compressor, Crc32cCodec()),
            dimension_names=self.axes,
            attributes=self._attributes,
        )

    @property
    def _compressor(self) -> BytesBytesCodec:
        if self.compression == "zstd":
            return ZstdCodec(level=1)
        size = np.dtype(self.dtype).itemsize
        return BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle", typesize=size, blocksize=BLOCK_BYTES)

    def check(self, metadata: Any, name: str) -> None:
        """Raise FieldError unless the content of a ``zarr.json`` describes an array of this layout."""
        expect(isinstance(metadata, dict), name, "an object", metadata)
        for key, expected in (
            ("zarr_format", 3),
            ("node_type", "array"),
            ("shape", list(self.shape)),
            ("data_type", self.dtype),
            ("fill_value", self.fill),
            ("attributes", self._attributes),
            ("chunk_key_encoding", {"name": "default", "configuration": {"separator": "/"}}),
            ("chunk_grid", {"name": "regular", "configuration": {"chunk_shape": [self.chunk_rows, self.shape[1]]}}),
        ):
            found = metadata.get(key)
            expect(found == expected and type(found) is type(expected), f"{name}: {key}", repr(expected), found)
        expect(not metadata.get("storage_transformers"), f"{name}: storage_transformers", "none", "some")
        found = metadata.get("codecs")
        named = isinstance(found, list) and all(isinstance(one, dict) for one in found)
        codecs = [codec.get("name") for codec in found] if named else None
        compressor = "zstd" if self.compression == "zstd" else "blosc"
        expect(codecs == ["bytes", compressor, "crc32c"], f"{name}: codecs", f"bytes, {compressor}, crc32c", codecs)


def _zstd_bytes(header: bytes) -> int:
    """Return the size to which a frame of Zstandard (RFC 8878) expands, from its header; 0 if it is not given.

    After a magic number of 4 bytes, a descriptor contains the sizes of the fields: window, dictionary, content size.
    """
    descriptor = header[4] if len(header) > 4 else 0
    is_single = descriptor >> 5 & 1
    begin = 5 + (not is_single) + (0, 1, 2, 4)[descriptor & 3]
    length = (is_single, 2, 4, 8)[descriptor >> 6]
    return int.from_bytes(header[begin : begin + length], "little") + 256 * (length == 2)


class ArrayStore(Store):
    """Zarr's store for one array, whose keys the storage reads and puts.

    Zarr reads and writes whole chunks, and never deletes them. It lists keys only to count them.
    """

    supports_writes, supports_deletes, supports_listing = True, False, False
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(
        self,
        storage: Storage,
        name: str,
        layout: Layout,
        *,
        listed: ChunkDigests | None = None,
        token: str | None = None,
    ) -> None:
        """Create the store of an array of this layout.

        With ``listed``, the digests of the chunks in the manifest, the array is read-only, and a missing chunk is an
        error if it is listed. With a fencing ``token``, writes fail unless the lock contains the token. Without one,
        they need the token that the lock has now, because zarr continues to write other chunks after an error.
        """
        super().__init__(read_only=listed is not None)
        self._storage, self._name, self._layout, self._listed = storage, name, layout, listed
        self._token = storage.lock.token or None if token is None else token

    def __str__(self) -> str:
        return self._storage.name_of(self._name)

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the content of a key, or None if it does not exist; zarr then returns fill values.

        Raises StoreDamagedError if the manifest lists the missing chunk, TooLargeError if the content is larger than
        any file of the array, and ValueError if a chunk would expand to another size than the layout's.
        """
        assert byte_range is None, "chunks are read whole"
        path = f"{self._name}/{key}"
        try:
            content, _ = await asyncio.to_thread(self._storage.read, path, self._layout.max_bytes)
        except FileNotFoundError:
            if key == GROUP or self._listed is None or self._listed.get(int(key.split("/")[1])) is None:
                return None
            chunk = self._storage.name_of(path)
            raise StoreDamagedError(f"chunk {chunk} is missing, although the manifest lists it") from None
        if key != GROUP:
            self._layout.check_chunk(content)
        return prototype.buffer.from_bytes(content)

    async def set(self, key: str, value: Buffer) -> None:
        """Put a value at a key."""
        self._check_writable()
        await asyncio.to_thread(self._storage.put, f"{self._name}/{key}", [value.as_buffer_like()], self._token)

    async def exists(self, key: str) -> bool:
        """Return whether a key exists."""
        return await asyncio.to_thread(self._storage.has, f"{self._name}/{key}")

    async def get_partial_values(self, prototype: BufferPrototype, key_ranges: Iterable[Any]) -> Any:
        """Raise NotImplementedError: chunks are read whole."""
        raise NotImplementedError

    async def delete(self, key: str) -> None:
        """Raise NotImplementedError: all chunks are written, also those of fill values."""
        raise NotImplementedError

    async def list_prefix(self, prefix: str = "") -> AsyncIterator[str]:
        """Yield the keys that begin with a prefix: the metadata, and the chunks that the manifest lists.

        Raises NotImplementedError if the array is opened for writing, because its manifest is not final.
        """
        if self._listed is None:
            raise NotImplementedError("the chunks of an array are only listed when it is read")
        for key in (GROUP, *(f"c/{number}/0" for number in self._listed.numbers())):
            if key.startswith(prefix):
                yield key

    list = list_dir = list_prefix


class Arrays:
    """The arrays of one store, by name."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def create(self, name: str, layout: Layout) -> None:
        """Create an empty array whose chunks have checksums; raise StoreError if an old array could not be deleted."""
        try:
            layout.create(ArrayStore(self._storage, name, layout))
        except ContainsArrayError as error:
            raise StoreError(f"cannot write {self._storage.name_of(name)}: cannot delete the old array") from error

    def write_group(self, attributes: Mapping[str, Any], names: Iterable[str] = ()) -> None:
        """Write the zarr group of the arrays. Until the arrays are finished, it lists none of them.

        The list is zarr's consolidated metadata. Zarr and xarray read this list instead of the folder, in which they
        would find unfinished arrays, and the manifest, about which they would warn.
        """
        group = _group(
            attributes, {name: _json(self._storage.read(f"{name}/{GROUP}", MAX_METADATA)[0]) for name in names}
        )
        if self._metadata(GROUP) != group:
            self._storage.put(GROUP, [group])

    def open(self, name: str, layout: Layout, listed: ChunkDigests) -> Any:
        """Open an array of this layout for reading; ``listed`` are the digests of its chunks in the manifest.

        Raises StoreError if the array cannot be opened.
        """
        return self._open(ArrayStore(self._storage, name, layout, listed=listed), "r")

    def open_to_write(self, name: str, layout: Layout, token: str | None = None) -> Any:
        """Open an array for writing; with a fencing token, writes fail unless the lock contains the token.

        Chunks of fill values are written like all others: searching for them would take longer than compressing them.

        Raises the same errors as `open`.
        """
        check_blosc()
        array = self._open(ArrayStore(self._storage, name, layout, token=token), "r+")
        return array.with_config({"write_empty_chunks": True})

    def _open(self, arrays: ArrayStore, mode: Literal["r", "r+"]) -> Any:
        check_settings()
        with _reading(f"{arrays}/{GROUP}"):
            return zarr.open_array(arrays, mode=mode, zarr_format=3)

    def write(self, name: str, layout: Layout, content: NDArray[Any], identity: str) -> ChunkDigests:
        """Replace an array by one with this content; return the digests of its chunks, which belong to ``identity``."""
        with self._storage.writing():
            self._storage.delete(name)
            self.create(name, layout)
            if len(content):
                self.open_to_write(name, layout)[:] = content
        blocks = (content[row : row + layout.chunk_rows] for row in range(0, len(content), layout.chunk_rows))
        digests = {number: chunk_digest(identity, name, number, block) for number, block in enumerate(blocks)}
        return ChunkDigests.empty(layout.chunks).updated(digests)

    def write_chunk(
        self, name: str, layout: Layout, number: int, content: NDArray[Any], identity: str, token: str | None = None
    ) -> int:
        """Write the rows of a chunk durably; return its digest.

        Raises StoreLockedError if the lock no longer contains the fencing ``token``: then this writer was declared
        dead, and newer data are not replaced.
        """
        array = self.open_to_write(name, layout, token)
        first = number * layout.chunk_rows
        with self._storage.writing():
            array[first : first + len(content)] = content
        return chunk_digest(identity, name, number, content)

    def read_chunk(self, name: str, layout: Layout, number: int, identity: str, digests: ChunkDigests) -> NDArray[Any]:
        """Return the rows of a chunk of an array of this layout.

        Raises StoreDamagedError if the chunk is missing, or if its checksum or its digest is wrong; the message names
        the chunk.
        """
        chunk = self._storage.name_of(chunk_key(name, number))
        first = number * layout.chunk_rows
        with _reading(f"chunk {chunk}"):
            rows = slice(first, min(layout.shape[0], first + layout.chunk_rows))
            block = np.asarray(self.open(name, layout, digests)[rows])
        if chunk_digest(identity, name, number, block) != digests.get(number):
            raise StoreDamagedError(
                f"chunk {chunk} is corrupt: its digest is not the one in {MANIFEST}, so it was changed or belongs "
                "elsewhere"
            )
        return block

    def digests(self, files: Iterable[str]) -> dict[str, str]:
        """Return the SHA-256 of zarr metadata files, for the manifest."""
        return {file: digest(self._storage.read(file, MAX_METADATA)[0]) for file in files}

    def check_metadata(self, digests: Mapping[str, str], layouts: Mapping[str, Layout]) -> None:
        """Check that the ``zarr.json`` files of the arrays have these digests and describe these arrays.

        Raises StoreDamagedError if a file is missing or has another digest, and FieldError if the digests belong to
        other files or a file describes another array.
        """
        files = [f"{name}/{GROUP}" for name in layouts]
        expect(digests.keys() == {*files}, "metadata", f"the files {', '.join(files) or 'of no array'}", list(digests))
        for file, layout in zip(files, layouts.values(), strict=True):
            name = self._storage.name_of(file)
            content = self._metadata(file)
            if content is None or digest(content) != digests[file]:
                raise StoreDamagedError(f"{name} is corrupt: its checksum is not the one in the manifest")
            layout.check(_json(content), name)

    def check_group(self, attributes: Mapping[str, Any], names: Iterable[str] | None) -> None:
        """Check that the group has these attributes and lists these arrays, or any arrays if ``names`` is None.

        Raises StoreDamagedError if its ``zarr.json`` is missing or has any other content.
        """
        content = self._metadata(GROUP) or b""
        arrays = _listed(content) if names is None else {one: _json(self._metadata(f"{one}/{GROUP}")) for one in names}
        if content != _group(attributes, arrays):
            raise StoreDamagedError(
                f"{self._storage.name_of(GROUP)} is corrupt: its content does not match this store, whose "
                f"attributes are {dict(attributes)}"
            )

    def _metadata(self, file: str) -> bytes | None:
        try:
            return self._storage.read(file, MAX_METADATA)[0]
        except FileNotFoundError:
            return None


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Turn the errors of zarr and its codecs, which have many types, into StoreErrors."""
    try:
        yield
    except (MemoryError, StoreError):
        raise
    except FileNotFoundError as error:
        raise StoreDamagedError(f"{what} is missing") from error
    except Exception as error:
        raise _unreadable(what, error) from error


def _unreadable(what: str, error: Exception) -> StoreError:
    """Return the error for unreadable bytes: they are corrupt unless the system is the reason."""
    if isinstance(error, OSError):
        return StoreError(f"cannot read {what}: {error.strerror or error}")
    if lacks_threads(error):
        return StoreError(f"cannot read {what}: the system allows too little memory, or too few threads")
    return StoreDamagedError(f"{what} is corrupt: {shorten(str(error), 200)}")


def _group(attributes: Mapping[str, Any], arrays: Mapping[str, Any]) -> bytes:
    """Return the ``zarr.json`` of a group that lists arrays, each with the content of the array's own ``zarr.json``."""
    listed = {"kind": "inline", "must_understand": False, "metadata": arrays}
    content = {"zarr_format": 3, "node_type": "group", "attributes": attributes, "consolidated_metadata": listed}
    return json.dumps(content, indent=2).encode()


def _listed(group: bytes) -> Mapping[str, Any]:
    """Return the arrays that the ``zarr.json`` of a group lists. Empty if the file is corrupt."""
    try:
        return dict(json.loads(group)["consolidated_metadata"]["metadata"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def _json(content: bytes | None) -> Any:
    """Return the value of a JSON text, or None if the text is not JSON."""
    try:
        return json.loads(content or b"")
    except (ValueError, RecursionError):
        return None


def check_settings() -> None:
    """Raise StoreError if a setting prevents zarr from reading and writing stores correctly."""
    defaults = zarr.config.defaults[0]
    for name in NEEDED:
        _expect(name, repr(_default(defaults, name)), zarr.config.get(name, None) == _default(defaults, name))
    tasks = zarr.config.get("async.concurrency", None)
    _expect("async.concurrency", "a number from 1", type(tasks) is int and tasks > 0)
    _expect("array.order", "'C' or 'F'", zarr.config.get("array.order", None) in ("C", "F"))


def check_blosc() -> None:
    """Raise StoreError if Blosc would compress with several threads, which write its blocks in a random order."""
    if blosc.use_threads is not False:
        raise StoreError(
            f"cannot use Blosc with these settings: numcodecs.blosc.use_threads: expected False, as zarr sets it, "
            f"found {quote(blosc.use_threads)}"
        )


def _expect(name: str, expected: str, met: bool) -> None:
    if not met:
        found = quote(zarr.config.get(name, None))
        raise StoreError(
            f"cannot use zarr with these settings: {name}: expected {expected}, found {found}; "
            "look for ZARR_ variables, zarr's configuration files, or zarr.config.set in the program"
        )


def _default(defaults: Any, name: str) -> Any:
    for part in name.split("."):
        defaults = defaults[part]
    return defaults
