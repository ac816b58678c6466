"""The stores of searches: the one place that chooses between tables and counts by the format of a store."""

from antipodes.storage.address import Address, storage_at
from antipodes.storage.backend import Storage
from antipodes.storage.manifest import format_of
from antipodes.tables.store.counts_store import CountsStore
from antipodes.tables.store.table_store import TableStore


def search_store(address: Address | Storage) -> TableStore | CountsStore:
    """The store at an address; where it is not one of counts, a TableStore, whose `read` raises the error if any."""
    storage = storage_at(address)
    return CountsStore(storage) if format_of(storage) == CountsStore.KIND.format else TableStore(storage)
