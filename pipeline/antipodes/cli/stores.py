"""Stores of every kind: the one place that chooses by the format of a store."""

from antipodes.storage.address import Address, storage_at
from antipodes.storage.manifest import format_of
from antipodes.tables.store.counts_store import CountsStore
from antipodes.tables.store.table_store import TableStore
from antipodes.tilings.store import TilingStore

KINDS: dict[str | None, type[TableStore] | type[CountsStore] | type[TilingStore]] = {
    store.KIND.format: store for store in (TableStore, CountsStore, TilingStore)
}
"""The class of each kind of store, by the format that manifests name."""


def open_store(address: Address) -> TableStore | CountsStore | TilingStore:
    """The store at an address; where no known format is found, a TableStore, whose `read` raises the error."""
    storage = storage_at(address)
    return KINDS.get(format_of(storage), TableStore)(storage)
