"""Stores of every kind: the one place that chooses by the format of a store."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from antipodes.storage.address import Address, storage_at, storages_in
from antipodes.storage.backend import MANIFEST, Storage
from antipodes.storage.lock import Holder
from antipodes.storage.manifest import format_of
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.store.stores import CountsStore, TableStore
from antipodes.tilings.store import TilingManifest, TilingStore
from antipodes_tasks.errors import AntipodesError

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
    """A directory or a folder of a bucket that is a store, or is taken for one, as far as manifest and lock say."""

    address: str
    manifest: SearchManifest | TilingManifest | None
    """None: there is no manifest that this version reads."""
    problem: str | None
    """Why there is no manifest."""
    committed: datetime | None
    """When the last commit was made."""
    bytes_stored: int
    run: Holder | None
    """The run that holds the lock, or held it when it died."""

    @property
    def name(self) -> str:
        """The name under which commands find a store in outputs/."""
        return self.address.rpartition("/")[2].removesuffix(".zarr")

    @property
    def in_progress(self) -> bool:
        """Whether a run is at work on it."""
        return self.run is not None and self.run.alive

    @property
    def kind(self) -> str | None:
        """``table``, ``counts`` or ``tilings``; None if it is no store that can be read."""
        if isinstance(self.manifest, SearchManifest):
            return "counts" if self.manifest.COUNTS_ONLY else "table"
        return None if self.manifest is None else "tilings"


def list_stores(address: Address) -> list[Listed]:
    """The stores in a directory or under a URL, by name, and what else is in folders beside them; or a store itself.

    Raises as `storages_in`.
    """
    return list(map(_listed, storages_in(address)))


def _listed(storage: Storage) -> Listed:
    manifest, problem, committed, size, run = None, None, None, 0, None
    try:
        committed, size, run = storage.modified(MANIFEST), storage.size(), storage.lock.holder()
        if committed is None:
            problem = f"not a store: it has no {MANIFEST}"
        else:
            manifest = read_manifest(storage)
    except AntipodesError as error:
        problem = str(error)
    return Listed(storage.address, manifest, problem, committed, size, run)
