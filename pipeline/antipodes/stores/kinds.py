"""Stores of every kind: the one place that chooses by the format of a store."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast

from antipodes.errors import AntipodesError, InputError
from antipodes.storage.address import Address, storage_at
from antipodes.storage.backend import MANIFEST, Storage
from antipodes.storage.manifest import format_of
from antipodes.tables.store.counts_store import CountsStore
from antipodes.tables.store.search_manifest import SearchManifest
from antipodes.tables.store.table_store import TableStore
from antipodes.tilings.manifest import TilingManifest
from antipodes.tilings.store import TilingStore

KINDS: dict[str | None, type[TableStore] | type[CountsStore] | type[TilingStore]] = {
    store.KIND.format: store for store in (TableStore, CountsStore, TilingStore)
}
"""The class of each kind of store, by the format that manifests name."""


def open_store(address: Address | Storage) -> TableStore | CountsStore | TilingStore:
    """The store at an address; where no known format is found, a TableStore, whose `read` raises the error."""
    storage = storage_at(address)
    return KINDS.get(format_of(storage), TableStore)(storage)


def read_manifest(address: Address | Storage) -> SearchManifest | TilingManifest:
    """The manifest of a store of any kind; it is intact, but not compared with the puzzle or with the arrays.

    Raises
    ------
    NotAStoreError, StoreDamagedError
        There is no store of a known kind and version, or the manifest is not what was written.
    """
    store = open_store(address)
    return cast(SearchManifest | TilingManifest, store.manifest_file.read(store.MANIFEST_TYPE))


@dataclass(frozen=True, slots=True)
class Listed:
    """A directory that is a store, or is taken for one, as far as its manifest says; nothing else of it is read."""

    path: Path
    manifest: SearchManifest | TilingManifest | None
    """None: there is no manifest that this version reads."""
    problem: str | None
    """Why there is no manifest."""
    committed: datetime | None
    """When the last commit was made."""
    bytes_stored: int

    @property
    def name(self) -> str:
        """The name under which commands find a store in outputs/."""
        return self.path.name.removesuffix(".zarr")

    @property
    def kind(self) -> str | None:
        """``table``, ``counts`` or ``tilings``; None if it is no store that can be read."""
        if isinstance(self.manifest, SearchManifest):
            return "counts" if self.manifest.COUNTS_ONLY else "table"
        return None if self.manifest is None else "tilings"


def list_stores(directory: Path) -> list[Listed]:
    """The stores in a directory, by name, and what else is in directories beside them; or the directory, if a store.

    Raises
    ------
    InputError
        It is not a directory.
    """
    if not directory.is_dir():
        found = "something else" if directory.exists() else "nothing"
        raise InputError(f"expected a directory of stores, found {found} at {directory}")
    if (directory / MANIFEST).exists():
        return [_listed(directory)]
    visible = (path for path in directory.iterdir() if path.is_dir() and not path.name.startswith("."))
    return [_listed(path) for path in sorted(visible)]


def _listed(path: Path) -> Listed:
    storage = storage_at(path)
    manifest, problem = None, None
    try:
        manifest = read_manifest(storage)
    except AntipodesError as error:
        problem = str(error) if storage.has(MANIFEST) else f"not a store: it has no {MANIFEST}"
    try:
        committed = datetime.fromtimestamp((path / MANIFEST).stat().st_mtime).astimezone()
    except OSError:
        committed = None
    return Listed(path, manifest, problem, committed, storage.size())
