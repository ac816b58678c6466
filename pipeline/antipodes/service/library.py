"""The stores that are served: named when the service starts, opened when they are asked for, reopened when they change.

An opened store belongs to one version of its manifest. A commit, a run that replaces the store, or a person who deletes
it is noticed by the next request, which opens the store again or reports the error.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np

from antipodes.puzzles.puzzle import Puzzle
from antipodes.runs.options import OUTPUTS
from antipodes.storage.address import Address, address_from, storage_at
from antipodes.storage.backend import MANIFEST, Storage
from antipodes.stores import Listed, find_store, list_stores, listed, open_store
from antipodes.tables.counts import Counts
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.store.search_stores import CountsStore, TableStore
from antipodes.tables.table import Table
from antipodes.tilings.store import TilingManifest, TilingStore
from antipodes.tilings.table import Tilings
from antipodes_tasks.errors import InputError, NotAStoreError, SourceError, StoreChangedError, StoreError
from antipodes_tasks.quoting import quote, shorten

MAX_OPEN = 64
"""Stores that are open at a time."""
MAX_CHANGES = 5
"""Times that an answer is computed again because a run has changed the store meanwhile."""
OPENING_SECONDS = 30
"""Seconds that a request waits while another one opens the store that it asks for."""
Answer = TypeVar("Answer")


class NotThereError(InputError):
    """An address at which there is nothing, such as the name of a store that is not served."""


@dataclass(frozen=True, eq=False, slots=True)
class Opened:
    """A store as of one commit."""

    version: str
    """A text that changes with each commit."""
    store: TableStore | CountsStore | TilingStore
    manifest: SearchManifest | TilingManifest
    content: Table | Counts | Tilings | None
    """None: the puzzle is written in Python, and this user has not run its code here."""
    problem: SourceError | None
    """Why there is no content."""
    _kept: dict[str, Any] = field(default_factory=dict)
    _making: dict[str, threading.Lock] = field(default_factory=dict)

    def compute_once(self, key: str, make: Callable[[], Answer]) -> Answer:
        """A result that is computed once for this version, such as the whole graph; other threads wait for it."""
        with self._making.setdefault(key, threading.Lock()):
            if key not in self._kept:
                self._kept[key] = make()
            kept: Answer = self._kept[key]
            return kept

    @property
    def kind(self) -> str:
        """``table``, ``counts`` or ``tilings``."""
        if isinstance(self.manifest, SearchManifest):
            return "counts" if self.manifest.COUNTS_ONLY else "table"
        return "tilings"

    @property
    def search(self) -> Table | Counts:
        """The layers of a puzzle; InputError for tilings, SourceError where the code of the puzzle is not known."""
        return cast(Table | Counts, self._expect((Table, Counts), "a table"))

    @property
    def table(self) -> Table:
        """The table; raises as `search`, also for counts."""
        return cast(Table, self._expect((Table,), "a table"))

    @property
    def tilings(self) -> Tilings:
        """The tilings; InputError for a table or counts."""
        return cast(Tilings, self._expect((Tilings,), "tilings"))

    @property
    def puzzle(self) -> Puzzle:
        """The puzzle of a table or of counts; raises as `search`."""
        return self.search.puzzle

    def _expect(self, kinds: tuple[type, ...], what: str) -> Any:
        if self.problem is not None:
            raise SourceError(str(self.problem))
        if not isinstance(self.content, kinds):
            found = {"counts": "counts of layers", "table": "a table", "tilings": "tilings"}[self.kind]
            raise InputError(f"expected {what}, found {found}")
        return self.content

    @property
    def cache_bytes(self) -> int:
        """The memory that the content takes once all of it was read."""
        if isinstance(self.manifest, TilingManifest):
            return self.manifest.tilings * len(self.manifest.pieces) * np.dtype(np.int32).itemsize
        return 0 if self.manifest.COUNTS_ONLY else _table_bytes(self.manifest)


def _table_bytes(manifest: Any) -> int:
    size: int = manifest.chunk_count * manifest.chunk_rows * manifest.width * np.dtype(manifest.dtype).itemsize
    return size


class Library:
    """The served stores by their names, which no other stores get later.

    Threads can share it. The stores that are open take ``cache_bytes`` of memory together, besides one chunk each: the
    least recently used ones are closed for a new one.
    """

    def __init__(self, storages: Iterable[Storage], cache_bytes: int) -> None:
        self.storages: Mapping[str, Storage] = dict(_named(storages))
        """The storage of each store, by its name."""
        self._cache_bytes = cache_bytes
        self._open: OrderedDict[str, tuple[Opened, int]] = OrderedDict()
        self._rows: dict[str, tuple[str, Listed]] = {}
        self._lock = threading.Lock()
        self._reading = 0
        self._opening = {name: threading.Lock() for name in self.storages}

    @property
    def is_busy(self) -> bool:
        """Whether a thread is reading a store, perhaps from a storage that does not answer."""
        return self._reading > 0

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a thread that reads a store."""
        with self._lock:
            self._reading += 1
        try:
            yield
        finally:
            with self._lock:
                self._reading -= 1

    def storage(self, name: str) -> Storage:
        """The storage of a store; NotThereError where none has the name."""
        if name not in self.storages:
            raise NotThereError(f"expected the name of a store, found {quote(shorten(name))}")
        return self.storages[name]

    def version(self, name: str) -> str:
        """A text that changes with each commit of a store; NotAStoreError where there is no store any more."""
        storage = self.storage(name)
        identity = storage.identity(MANIFEST)
        if not identity:
            raise NotAStoreError(f"there is no store at {storage.address} any more")
        return hashlib.sha256(repr(identity).encode()).hexdigest()[:16]

    def row(self, name: str) -> Listed:
        """What a list shows of a store; it says what is wrong with a store that cannot be read.

        The size of a finished store is read once for each version.
        """
        with self._counted():
            return self._row(name)

    def _row(self, name: str) -> Listed:
        storage = self.storage(name)
        version, row = self._rows.get(name, ("", None))
        try:
            if row is not None and version == self.version(name):
                return replace(row, run=storage.lock.holder())
            version = self.version(name)
        except StoreError:
            return listed(storage)
        row = listed(storage)
        if row.manifest is not None and row.manifest.complete:
            self._rows[name] = version, row
        return row

    def answer(self, name: str, question: Callable[[Opened], Answer]) -> Answer:
        """What a question finds in a store, asked again if a run changes the store meanwhile.

        Raises as `version`, as opening the store does, and as the question does.
        """
        with self._counted():
            return self._answer(name, question)

    def _answer(self, name: str, question: Callable[[Opened], Answer]) -> Answer:
        for _ in range(MAX_CHANGES):
            opened = self.opened(name)
            try:
                return question(opened)
            except StoreChangedError:
                self._forget(name, opened)
        return question(self.opened(name))

    def opened(self, name: str) -> Opened:
        """A store as of its last commit."""
        version = self.version(name)
        if (known := self._known(name, version)) is not None:
            return known
        with self._turn_to_open(name):
            version = self.version(name)
            return self._known(name, version) or self._add(name, version)

    @contextmanager
    def _turn_to_open(self, name: str) -> Iterator[None]:
        """Let one thread open a store, and all others that ask for it wait; StoreError if that takes too long."""
        if not self._opening[name].acquire(timeout=OPENING_SECONDS):
            raise StoreError(f"{self.storages[name].address}: the storage does not answer; try again later")
        try:
            yield
        finally:
            self._opening[name].release()

    def _known(self, name: str, version: str) -> Opened | None:
        with self._lock:
            opened, _ = self._open.get(name, (None, 0))
            if opened is None or opened.version != version:
                return None
            self._open.move_to_end(name)
            return opened

    def _add(self, name: str, version: str) -> Opened:
        store = open_store(self.storages[name])
        opened = _opened(version, store, store.read(), self._cache_bytes)
        size = min(self._cache_bytes, opened.cache_bytes)
        with self._lock:
            self._open.pop(name, None)
            while self._open and not self._has_room(size):
                self._open.popitem(last=False)  # threads that read it still have it
            self._open[name] = opened, size
        return opened

    def _has_room(self, size: int) -> bool:
        taken = sum(other for _, other in self._open.values())
        return taken + size <= self._cache_bytes and len(self._open) < MAX_OPEN

    def _forget(self, name: str, opened: Opened) -> None:
        with self._lock:
            if self._open.get(name, (None, 0))[0] is opened:
                del self._open[name]


def _opened(version: str, store: Any, manifest: Any, cache_bytes: int) -> Opened:
    if isinstance(store, TilingStore):
        return Opened(version, store, manifest, Tilings(store, manifest, raw=False), None)
    if manifest.source_error is not None:
        return Opened(version, store, manifest, None, manifest.source_error)
    if isinstance(store, CountsStore):
        return Opened(version, store, manifest, Counts(store.address, manifest), None)
    return Opened(version, store, manifest, Table(store, manifest, cache_bytes), None)


def _named(storages: Iterable[Storage]) -> Iterable[tuple[str, Storage]]:
    """Each storage with a name of its own: that of its folder, with a number if another has it."""
    taken: set[str] = set()
    for storage in storages:
        wanted = storage.address.rstrip("/").rpartition("/")[2].removesuffix(".zarr") or "store"
        wanted = wanted.encode("utf-8", "replace").decode()
        numbers = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, len(taken) + 2))
        name = next(name for name in numbers if name not in taken)
        taken.add(name)
        yield name, storage


def storages_named(texts: Iterable[str], puzzle: str | None = None) -> list[Storage]:
    """The storages of the stores that a person names, or that are in a directory or under a URL; each once.

    A ``puzzle`` is that of the only store, as for `find_store`, whose errors are raised; InputError where nothing is
    at an address.
    """
    texts = list(texts)
    if puzzle is not None:
        if len(texts) != 1:
            raise InputError(f"--puzzle: expected one STORE, found {len(texts)}")
        return [storage_at(find_store(texts[0], puzzle))]
    addresses = [find_store(text) for text in texts] if texts else [OUTPUTS] if OUTPUTS.exists() else []
    found = [storage for address in addresses for storage in _stores_in(address)]
    return list({storage.address: storage for storage in found}.values())


def _stores_in(address: Address) -> list[Storage]:
    """The stores in a directory, or the one there; folders without a manifest are none."""
    return [storage_at(address_from(one.address)) for one in list_stores(address) if one.committed is not None]
