"""The manifest, ``commit.json``: a small JSON object, replaced atomically, that says which bytes of a store count.

It contains its own checksum. All that it names was safe before it was written.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from antipodes.storage.address import Address, in_shell, storage_at
from antipodes.storage.backend import MANIFEST, Storage, TooLargeError, Version
from antipodes.storage.manifest_fields import read_fields, write_fields
from antipodes_tasks.errors import FieldError, NotAStoreError, StoreDamagedError, StoreError
from antipodes_tasks.option_names import in_words
from antipodes_tasks.quoting import shorten

CHECKSUM = "checksum"
MAX_BASE_BYTES = 4 << 20
"""Bytes of a manifest, at most, beside those of its chunks: the definition of a puzzle has 1 MiB at most, its 65,535
layers as much."""
CHUNK_BYTES, PARTITION_BYTES = 12, 512
"""Bytes of a manifest for each chunk, which are those of a digest, and for each searched partition, at most."""
MAX_BYTES, MAX_VALUES = 64 << 20, 2_000_000
"""Bytes, and values, of any manifest: six million chunks, which are those of 10^13 positions."""
FACT = re.compile(rb'^ "(rows|chunk_rows|partitions)": (\d{1,19}),$', re.MULTILINE)
"""A number at the top of a manifest; other lines begin with more blanks, and no text has a line end."""

T = TypeVar("T")


@dataclass(frozen=True)
class StoreKind:
    """A kind of store: its name, its version, and the words for it in messages."""

    format: str
    """The name in the manifest."""
    holds: str
    """The content, for messages."""
    made_by: str
    """The command that makes such a store."""
    version: int = 2
    unfinished: str = ""
    """The folder that only an unfinished store has; a killed run may leave it in a finished one."""
    replaces: Mapping[str, str] = field(default_factory=dict)
    """Other formats that --overwrite replaces by this kind, and the words for their content in messages."""

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of a store's zarr group, and the first keys of its manifest."""
        return {"format": self.format, "version": self.version}


class ManifestFile:
    """The manifest of one store, as it was last read or written here; a commit replaces no other version."""

    def __init__(self, storage: Storage, kind: StoreKind) -> None:
        self._storage = storage
        self._kind = kind
        self._version: Version | None = None
        self._digest: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether the manifest was read or written here."""
        return self._version is not None

    def read(self, declaration: type[T]) -> T:
        """The manifest, as an instance of a dataclass that declares its fields.

        NotAStoreError where there is no store, one of another kind, or one of another version; StoreDamagedError where
        the manifest is not what was written, or a field holds a wrong value.
        """
        address = self._storage.address
        try:
            written, self._version = _read(self._storage)
        except FileNotFoundError:
            found = "no manifest in it" if self._storage.exists() else "nothing"
            raise NotAStoreError(f"expected a store at {address}, found {found} (a store has {MANIFEST})") from None
        self._digest = digest(written)
        content = parse(written, self._storage.name_of(MANIFEST))
        claimed = content.pop("format", None)
        if claimed != self._kind.format:
            found = self._kind.replaces.get(str(claimed), "another kind of store")
            raise NotAStoreError(f"expected {self._kind.holds} at {address}, found {found}")
        self._check_version(content.pop("version", None))
        with self.checking():
            return read_fields(declaration, content)

    def write(self, manifest: Any) -> None:
        """Replace the manifest that was last seen; StoreError where another run has replaced it, or the lock."""
        written = serialise({**self._kind.attributes, **write_fields(manifest)})
        self._version = self._storage.replace(MANIFEST, written, self._version)
        self._digest = digest(written)

    def adopt(self, other: "ManifestFile") -> None:
        """Know the version that was written to the staging place of this store."""
        self._version, self._digest = other._version, other._digest

    def current_digest(self) -> str:
        """SHA-256 of the manifest as it is now; StoreError where there is none."""
        try:
            return digest(_read(self._storage)[0])
        except FileNotFoundError:
            raise StoreError(f"there is no store at {self._storage.address}") from None

    def has_changed(self) -> bool:
        """Whether another manifest than the known one is there now; StoreError where there is none."""
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
            f"found version {shorten(str(version))}: {remedy}"
        )


def format_of(address: Address | Storage) -> str | None:
    """The format that the manifest of a store names; None where there is no manifest, or a damaged one."""
    storage = storage_at(address)
    try:
        found = parse(_read(storage)[0], storage.name_of(MANIFEST)).get("format")
    except (FileNotFoundError, StoreDamagedError):
        return None
    return found if isinstance(found, str) else None


def _read(storage: Storage) -> tuple[bytes, Version]:
    """The bytes of the manifest, and its version; TooLargeError if they are more than its chunks can need."""
    try:
        return storage.read(MANIFEST, MAX_BASE_BYTES)
    except TooLargeError:
        head = storage.read_range(MANIFEST, 0, MAX_BASE_BYTES)
    facts = {key.decode(): int(value) for key, value in FACT.findall(head)}
    chunks = facts.get("rows", 0) // max(1, facts.get("chunk_rows", 1))
    needed = MAX_BASE_BYTES + CHUNK_BYTES * chunks + PARTITION_BYTES * facts.get("partitions", 0)
    return storage.read(MANIFEST, min(needed, MAX_BYTES))


def serialise(content: dict[str, Any]) -> bytes:
    """The bytes of a manifest, its checksum included."""
    body = json.dumps(content, ensure_ascii=False)
    checksum = hashlib.sha256(body.encode()).hexdigest()
    return (json.dumps({**content, CHECKSUM: checksum}, ensure_ascii=False, indent=1) + "\n").encode()


def parse(written: bytes, name: str) -> dict[str, Any]:
    """The content of a manifest, without its checksum; messages call the manifest ``name``.

    StoreDamagedError where a byte differs from those that were written.
    """
    if sum(map(written.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise StoreDamagedError(f"{name} is corrupt: expected a manifest of at most {MAX_VALUES:,} values, found more")
    try:
        content = json.loads(written, parse_constant=_refuse)
        content.pop(CHECKSUM)
        intact = serialise(content) == written  # False for an object that has a key twice
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreDamagedError(f"{name} is corrupt: expected a manifest with a checksum") from error
    if not intact:
        raise StoreDamagedError(f"{name} is corrupt: its checksum does not fit its content")
    assert isinstance(content, dict)
    return content


def _refuse(constant: str) -> None:
    raise ValueError(f"expected JSON, found {constant}")


def digest(content: bytes) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
