"""The manifest, ``commit.json``: a small JSON object that lists which data belong to a store, replaced atomically.

It contains its own checksum. All data that it refers to are durable before it is written.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from antipodes.storage.backend import MANIFEST, Storage, TooLargeError, Version
from antipodes.storage.manifest_fields import read_fields, write_fields
from antipodes.storage.opening import storage_at
from antipodes.system.addresses import Address, in_shell
from antipodes_tasks.base.errors import FieldError, NotAStoreError, StoreDamagedError, StoreError
from antipodes_tasks.base.option_names import in_words
from antipodes_tasks.base.quoting import shorten

CHECKSUM = "checksum"
MAX_BASE_BYTES = 4 << 20
"""Maximum size of a manifest in bytes, apart from its chunks: a puzzle's definition may have 1 MiB, and its 65,535
layers take about as much."""
CHUNK_BYTES, PARTITION_BYTES = 12, 512
"""Bytes of a manifest for each chunk (the chunk's digest), and at most for each searched partition."""
MAX_BYTES, MAX_VALUES = 64 << 20, 2_000_000
"""Maximum size in bytes and number of values of any manifest: six million chunks, enough for 10^13 positions."""
FACT = re.compile(rb'^ "(rows|chunk_rows|partitions)": (\d{1,19}),$', re.MULTILINE)
"""A number at the top level of a manifest. Deeper lines are indented further, and strings contain no line breaks."""

T = TypeVar("T")


@dataclass(frozen=True)
class StoreKind:
    """A kind of store: its format name, its version, and its names in messages."""

    format: str
    """The name of the format in the manifest."""
    holds: str
    """The content, in words, for messages."""
    made_by: str
    """The command that creates such a store."""
    version: int = 2
    unfinished: str = ""
    """The folder that belongs to unfinished stores only. A killed run may leave it in a finished store."""
    others: Mapping[str, str] = field(default_factory=dict)
    """The content of stores of other formats, in words, for messages."""
    replaces: tuple[str, ...] = ()
    """Other formats that --overwrite may replace by this kind."""

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of a store's zarr group, which are also the first keys of its manifest."""
        return {"format": self.format, "version": self.version}


class ManifestFile:
    """The manifest of one store, as this object last read or wrote it. A commit replaces only this version."""

    def __init__(self, storage: Storage, kind: StoreKind) -> None:
        self._storage = storage
        self._kind = kind
        self._version: Version | None = None
        self._digest: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether this object has read or written the manifest."""
        return self._version is not None

    def read(self, declaration: type[T]) -> T:
        """Return the manifest as an instance of a dataclass that declares its fields.

        Raises NotAStoreError if there is no store, or a store of another kind or version, and StoreDamagedError if the
        manifest is corrupt or a field has an invalid value.
        """
        address = self._storage.address
        try:
            written, self._version = _read(self._storage)
        except FileNotFoundError:
            found = f": it has no {MANIFEST}" if self._storage.exists() else ""
            raise NotAStoreError(f"there is no store at {address}{found}") from None
        self._digest = digest(written)
        content = parse(written, self._storage.name_of(MANIFEST))
        claimed = content.pop("format", None)
        if claimed != self._kind.format:
            found = self._kind.others.get(str(claimed), "another kind of store")
            raise NotAStoreError(f"expected {self._kind.holds} at {address}, found {found}")
        self._check_version(content.pop("version", None))
        with self.checking():
            return read_fields(declaration, content)

    def write(self, manifest: Any) -> None:
        """Replace the manifest last seen here; raise StoreError if another run replaced it or took over the lock."""
        written = serialise({**self._kind.attributes, **write_fields(manifest)})
        self._version = self._storage.replace(MANIFEST, written, self._version)
        self._digest = digest(written)

    def adopt(self, other: "ManifestFile") -> None:
        """Take over the version that was written to the staging place of this store."""
        self._version, self._digest = other._version, other._digest

    def current_digest(self) -> str:
        """Return the SHA-256 of the current manifest; raise StoreError if it does not exist."""
        try:
            return digest(_read(self._storage)[0])
        except FileNotFoundError:
            raise StoreError(f"there is no store at {self._storage.address}") from None

    def has_changed(self) -> bool:
        """Return whether the manifest differs from the one last seen here. Raises the errors of `current_digest`."""
        return self._digest not in (None, self.current_digest())

    @contextmanager
    def checking(self) -> Iterator[None]:
        """Turn FieldErrors into StoreDamagedErrors that name the manifest."""
        try:
            yield
        except FieldError as error:
            raise StoreDamagedError(f"{self._storage.name_of(MANIFEST)} is corrupt: {error}") from error

    def _check_version(self, version: Any) -> None:
        known, address = type(version) is int, self._storage.address
        if known and version == self._kind.version:
            return
        if known and 0 < version < self._kind.version:
            command = f"{self._kind.made_by} --store {in_shell(address)} --overwrite"
            remedy = f"compute it again with{in_words(' overwrite=True', f': {command}')}"
        else:
            remedy = "read it with the version of antipodes that wrote it"
        raise NotAStoreError(
            f"expected a store of format version {self._kind.version} at {address}, "
            f"found version {shorten(str(version))}; {remedy}"
        )


def format_of(address: Address | Storage) -> str | None:
    """Return the format in the manifest of a store, or None if there is no manifest or it is corrupt."""
    storage = storage_at(address)
    try:
        found = parse(_read(storage)[0], storage.name_of(MANIFEST)).get("format")
    except (FileNotFoundError, StoreDamagedError):
        return None
    return found if isinstance(found, str) else None


def _read(storage: Storage) -> tuple[bytes, Version]:
    """Return the bytes of the manifest and its version.

    Raises TooLargeError if it is larger than its numbers of chunks and partitions explain.
    """
    try:
        return storage.read(MANIFEST, MAX_BASE_BYTES)
    except TooLargeError:
        head = storage.read_range(MANIFEST, 0, MAX_BASE_BYTES)
    facts = {key.decode(): int(value) for key, value in FACT.findall(head)}
    chunks = facts.get("rows", 0) // max(1, facts.get("chunk_rows", 1))
    needed = MAX_BASE_BYTES + CHUNK_BYTES * chunks + PARTITION_BYTES * facts.get("partitions", 0)
    return storage.read(MANIFEST, min(needed, MAX_BYTES))


def serialise(content: dict[str, Any]) -> bytes:
    """Return the bytes of a manifest, including its checksum."""
    body = json.dumps(content, ensure_ascii=False)
    checksum = hashlib.sha256(body.encode()).hexdigest()
    return (json.dumps({**content, CHECKSUM: checksum}, ensure_ascii=False, indent=1) + "\n").encode()


def parse(written: bytes, name: str) -> dict[str, Any]:
    """Return the content of a manifest without its checksum; ``name`` is its name in messages.

    Raises StoreDamagedError if any byte differs from the bytes that were written.
    """
    if sum(map(written.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise StoreDamagedError(f"{name} is corrupt: it has more than {MAX_VALUES:,} values")
    try:
        content = json.loads(written, parse_constant=_refuse)
        content.pop(CHECKSUM)
        intact = serialise(content) == written  # False for an object that has a key twice
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreDamagedError(f"{name} is corrupt: it is not JSON, or has no checksum") from error
    if not intact:
        raise StoreDamagedError(f"{name} is corrupt: its checksum does not match its content")
    assert isinstance(content, dict)
    return content


def _refuse(constant: str) -> None:
    raise ValueError(f"expected JSON, found {constant}")


def digest(content: bytes) -> str:
    """Return the SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
