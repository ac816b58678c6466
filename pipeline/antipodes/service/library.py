"""The served stores: they are named when the service starts, opened on demand, and reopened when they change.

An opened store belongs to one version of its manifest. If a run commits or replaces the store, or somebody deletes it,
the next request notices this and opens the store again or reports the error.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Generic, cast

import numpy as np

from antipodes.puzzles.config import PuzzleLike
from antipodes.puzzles.puzzle import Puzzle
from antipodes.service.counted_paths import MAX_CACHED, PathsCache
from antipodes.service.limits import Answer
from antipodes.storage.backend import MANIFEST, Storage
from antipodes.storage.opening import storage_at
from antipodes.stores import GivenStore, StoreListing, find_named, list_stores, listing_of, open_store
from antipodes.system.addresses import address_from
from antipodes.system.options import OUTPUTS
from antipodes.tables.counts import Counts
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.store.search_stores import CountsStore, TableStore, read_given
from antipodes.tables.table import Table
from antipodes.tilings.store import TilingManifest, TilingStore
from antipodes.tilings.table import Tilings
from antipodes_tasks.base.errors import InputError, NotAStoreError, SourceError, StoreChangedError, StoreError
from antipodes_tasks.base.quoting import quote, shorten

MAX_OPEN = 64
"""Maximum number of open stores."""
MAX_CHANGES = 5
"""Maximum number of times that an answer is computed again because a run has changed the store meanwhile."""
OPENING_SECONDS = 30
"""Seconds that a request waits while another request opens the same store."""


class NotThereError(InputError):
    """The address does not exist; for example, it names a store that is not served."""


@dataclass(frozen=True, eq=False, slots=True)
class Opened:
    """A store at one of its commits."""

    name: str
    """The name under which the store is served."""
    version: str
    """A string that changes with each commit."""
    store: TableStore | CountsStore | TilingStore
    manifest: SearchManifest | TilingManifest
    content: Table | Counts | Tilings | None
    """The opened table, counts or tilings; None if the puzzle is Python code that this user has not run here."""
    problem: SourceError | None
    """The reason why ``content`` is None."""
    paths: PathsCache
    """Shortest paths that were counted recently in any store."""
    _kept: dict[str, Any] = field(default_factory=dict)
    _making: dict[str, threading.Lock] = field(default_factory=dict)

    def compute_once(self, key: str, make: Callable[[], Answer]) -> Answer:
        """Return a result, such as the whole graph, that is computed once per version; other threads wait for it."""
        with self._making.setdefault(key, threading.Lock()):
            if key not in self._kept:
                self._kept[key] = make()
            kept: Answer = self._kept[key]
            return kept

    @property
    def search(self) -> Table | Counts:
        """The table or counts; raises InputError for tilings, and SourceError if the code of the puzzle is unknown."""
        return cast(Table | Counts, self._expect((Table, Counts), "a table"))

    @property
    def table(self) -> Table:
        """The table; raises like `search`, and InputError for counts."""
        return cast(Table, self._expect((Table,), "a table"))

    @property
    def tilings(self) -> Tilings:
        """The tilings; raises InputError for a table or counts."""
        return cast(Tilings, self._expect((Tilings,), "tilings"))

    @property
    def puzzle(self) -> Puzzle:
        """The puzzle of a table or counts; raises like `search`."""
        return self.search.puzzle

    def _expect(self, kinds: tuple[type, ...], what: str) -> Any:
        if self.problem is not None:
            raise SourceError(str(self.problem))
        if not isinstance(self.content, kinds):
            found = {"counts": "only counts of layers", "table": "a table", "tilings": "tilings"}[self.manifest.KIND]
            raise InputError(f"this needs {what}, but the store contains {found}")
        return self.content

    @property
    def cache_bytes(self) -> int:
        """Bytes of memory that the content takes after all of it has been read."""
        if isinstance(self.manifest, TilingManifest):
            return self.manifest.tilings * len(self.manifest.pieces) * np.dtype(np.int32).itemsize
        return 0 if self.manifest.COUNTS_ONLY else _table_bytes(self.manifest)


def _table_bytes(manifest: Any) -> int:
    size: int = manifest.chunk_count * manifest.chunk_rows * manifest.width * np.dtype(manifest.dtype).itemsize
    return size


Question = Callable[[Opened], Answer]
"""A function that computes an answer about a store."""


@dataclass(frozen=True, slots=True)
class Slow(Generic[Answer]):
    """A question whose answer may take seconds; one of a few separate threads computes it."""

    question: Question[Answer]

    def __call__(self, opened: Opened) -> Answer:
        """Return the answer."""
        return self.question(opened)


@dataclass(frozen=True, slots=True)
class Served:
    """A store that is served."""

    storage: Storage
    puzzle: PuzzleLike | None = None
    """The puzzle that the user named, whose notation is used; None if the user named only the store."""


class Library:
    """The served stores by name; a name always refers to the same store. Threads can share a library.

    All open stores together take at most ``cache_bytes`` of memory, plus one chunk per store. To open another store,
    the library closes the least recently used ones.
    """

    def __init__(self, stores: Iterable[Served], cache_bytes: int) -> None:
        named = dict(_named(stores))
        self.storages: Mapping[str, Storage] = {name: one.storage for name, one in named.items()}
        """The storage of each store, by its name."""
        self._puzzles = {name: one.puzzle for name, one in named.items()}
        self._cache_bytes = cache_bytes
        self._paths = PathsCache(MAX_CACHED)
        self._open: OrderedDict[str, tuple[Opened, int]] = OrderedDict()
        self._rows: dict[str, tuple[str, StoreListing]] = {}
        self._lock = threading.Lock()
        self._reading = 0
        self._opening = {name: threading.Lock() for name in self.storages}

    @property
    def is_busy(self) -> bool:
        """Whether a thread is reading a store; such a thread may wait for storage that does not respond."""
        return self._reading > 0

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count the calling thread among the threads that read a store."""
        with self._lock:
            self._reading += 1
        try:
            yield
        finally:
            with self._lock:
                self._reading -= 1

    def storage(self, name: str) -> Storage:
        """Return the storage of a store; raise NotThereError if no store has this name."""
        if name not in self.storages:
            raise NotThereError(f"there is no store named {quote(shorten(name))}")
        return self.storages[name]

    def version(self, name: str) -> str:
        """Return a string that changes with each commit of a store; raise NotAStoreError if the store is gone."""
        storage = self.storage(name)
        identity = storage.identity(MANIFEST)
        if not identity:
            raise NotAStoreError(f"the store at {storage.address} no longer exists")
        return hashlib.sha256(repr(identity).encode()).hexdigest()[:16]

    def row(self, name: str) -> StoreListing:
        """Return the row of a store in a list; it contains the problem if the store cannot be read.

        The size of a finished store is read only once for each version.
        """
        with self._counted():
            storage = self.storage(name)
            version, row = self._rows.get(name, ("", None))
            try:
                if row is not None and version == self.version(name):
                    return replace(row, run=storage.lock.holder())
                version = self.version(name)
            except StoreError:
                return listing_of(storage)
            row = listing_of(storage)
            if row.manifest is not None and row.manifest.complete:
                self._rows[name] = version, row
            return row

    def answer(self, name: str, question: Question[Answer]) -> Answer:
        """Return the result of a question about a store, and repeat the question if a run changes the store meanwhile.

        Raises like `version`, like opening the store, and like the question.
        """
        with self._counted():
            for _ in range(MAX_CHANGES):
                opened = self.opened(name)
                try:
                    return question(opened)
                except StoreChangedError:
                    self._forget(name, opened)
            return question(self.opened(name))

    def opened(self, name: str) -> Opened:
        """Return a store at its last commit."""
        version = self.version(name)
        if (known := self._known(name, version)) is not None:
            return known
        with self._turn_to_open(name):
            version = self.version(name)
            return self._known(name, version) or self._add(name, version)

    @contextmanager
    def _turn_to_open(self, name: str) -> Iterator[None]:
        """Let one thread open a store while others wait for it; raise StoreError if that takes too long."""
        if not self._opening[name].acquire(timeout=OPENING_SECONDS):
            raise StoreError(f"{self.storages[name].address}: the storage is not responding; try again later")
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
        content = _content(store, self._puzzles[name], self._cache_bytes)
        opened = Opened(name, version, store, *content, self._paths)
        size = min(self._cache_bytes, opened.cache_bytes)
        with self._lock:
            self._open.pop(name, None)
            while self._open and not self._has_room(size):
                self._open.popitem(last=False)  # threads that are reading it keep it alive
            self._open[name] = opened, size
        return opened

    def _has_room(self, size: int) -> bool:
        taken = sum(other for _, other in self._open.values())
        return taken + size <= self._cache_bytes and len(self._open) < MAX_OPEN

    def _forget(self, name: str, opened: Opened) -> None:
        with self._lock:
            if self._open.get(name, (None, 0))[0] is opened:
                del self._open[name]


def _content(
    store: Any, puzzle: PuzzleLike | None, cache_bytes: int
) -> tuple[Any, Table | Counts | Tilings | None, SourceError | None]:
    """Return the manifest of a store, its opened content, and the reason why there is none."""
    if isinstance(store, TilingStore):
        tiled = store.read()
        return tiled, Tilings(store, tiled, raw=False), None
    manifest = read_given(store, puzzle)
    if manifest.source_error is not None:
        return manifest, None, SourceError(f"{manifest.source_error}; then start antipodes serve again")
    if isinstance(store, CountsStore):
        return manifest, Counts(store.address, manifest), None
    return manifest, Table(store, manifest, cache_bytes), None


def _named(stores: Iterable[Served]) -> Iterable[tuple[str, Served]]:
    """Yield each store with a unique name: the name of its folder, plus a number if that is taken."""
    taken: set[str] = set()
    for one in stores:
        wanted = one.storage.address.rstrip("/").rpartition("/")[2].removesuffix(".zarr") or "store"
        wanted = wanted.encode("utf-8", "replace").decode()
        numbers = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, len(taken) + 2))
        name = next(name for name in numbers if name not in taken)
        taken.add(name)
        yield name, one


def stores_named(texts: Iterable[str], puzzle: str | None = None) -> list[Served]:
    """Return the stores at some addresses, and the stores in directories or at URLs, each once.

    ``puzzle`` names the puzzle of a store; it is only allowed with exactly one address. Raises the errors of
    `find_store`, and InputError if there is nothing at an address.
    """
    texts = list(texts)
    if puzzle is not None:
        if len(texts) != 1:
            raise InputError(f"--puzzle needs exactly one STORE, found {len(texts)}")
        return [Served(storage_at(named.address), named.puzzle) for named in [find_named(texts[0], puzzle)]]
    outputs = [GivenStore(OUTPUTS, None)] if OUTPUTS.exists() else []
    found: dict[str, Served] = {}
    for one in chain.from_iterable(map(_stores_in, map(find_named, texts) if texts else outputs)):
        if one.puzzle is not None or one.storage.address not in found:
            found[one.storage.address] = one
    return list(found.values())


def _stores_in(named: GivenStore) -> list[Served]:
    """Return the stores in a directory, or the store at the address; folders without a manifest are ignored."""
    listed = [one.address for one in list_stores(named.address) if one.committed is not None]
    return [Served(storage_at(address_from(address)), named.puzzle) for address in listed]
