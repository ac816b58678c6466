"""Stores of all kinds: finding them by the names that users give, and opening them by their format."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from antipodes.puzzles.config import (
    DEFINITIONS,
    FOLDERS,
    Config,
    PuzzleLike,
    bundled_configs,
    close_name,
    is_bundled,
    load_config,
    named_puzzles,
    register_puzzle,
)
from antipodes.puzzles.python_source import is_reference
from antipodes.storage.backend import MANIFEST, Storage
from antipodes.storage.lock import Holder, Run
from antipodes.storage.manifest_file import format_of
from antipodes.storage.opening import storage_at, storages_in
from antipodes.storage.store import remove_store
from antipodes.system.addresses import Address, address_from, in_shell
from antipodes.system.options import OUTPUTS, chosen_store
from antipodes.system.records import optional
from antipodes.system.text_file import read_toml
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.store.search_stores import CountsStore, TableStore, spill_id_of
from antipodes.tables.store.spill import LayerFolder
from antipodes.tilings.board_config import load_board
from antipodes.tilings.store import TilingManifest, TilingStore
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import AntipodesError, NotAStoreError, StoreError, StoreMismatchError, UnfinishedError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.spaces.selection import index_size, size_in_words

if TYPE_CHECKING:
    from antipodes.tables.counts import Counts
    from antipodes.tables.table import Table

KINDS: dict[str | None, type[TableStore] | type[CountsStore] | type[TilingStore]] = {
    store.KIND.format: store for store in (TableStore, CountsStore, TilingStore)
}
"""Class of each kind of store, by the format in the manifest."""
MAX_ADVISED_SIZE = 1 << 40
"""Maximum number of positions for which messages advise to compute a table, which then takes about a terabyte."""


def open_store(address: Address | Storage) -> TableStore | CountsStore | TilingStore:
    """Return the store at an address. If its format is unknown, this is a TableStore, whose `read` raises an error."""
    storage = storage_at(address)
    return KINDS.get(format_of(storage), TableStore)(storage)


def read_manifest(address: Address | Storage) -> SearchManifest | TilingManifest:
    """Return the intact manifest of a store of any kind, without comparing it with the puzzle or the arrays.

    Raises
    ------
    NotAStoreError, StoreDamagedError
        There is no store of a known kind and version, or the manifest is corrupt.
    """
    store = open_store(address)
    return cast(SearchManifest | TilingManifest, store.manifest_file.read(store.MANIFEST_TYPE))


def open_search(store: TableStore | CountsStore, puzzle: PuzzleLike | None = None) -> "Table | Counts":
    """Open the table or the counts in a store; raises as `open_table` does."""
    from antipodes.tables.counts import open_counts
    from antipodes.tables.table import open_table

    if isinstance(store, CountsStore):
        return open_counts(store.address, puzzle)
    return open_table(store.address, puzzle=puzzle)


def finished_table(table: "Table | Address") -> "Table":
    """Return a table, or open the one at an address, as `as_named` and `open_table` do.

    Raises UnfinishedError if it is unfinished.
    """
    from antipodes.tables.table import Table, open_table

    if not isinstance(table, Table):
        named = as_named(table, "the address of a table")
        table = open_table(named.address, puzzle=named.puzzle)
    check_complete(table.complete, table.address)
    return table


def check_complete(complete: bool, address: Address) -> None:
    """Raise UnfinishedError if the store at an address is unfinished."""
    if not complete:
        raise UnfinishedError(f"{address} is unfinished; resume with: antipodes resume {in_shell(address)}")


def remove_any(storage: Storage) -> int:
    """Delete a store of any kind, and the folder with its layers if this user has named one; return the bytes freed.

    Raises the errors of `remove_store`, and StoreError if the folder cannot be deleted; then the store remains.
    """
    folder = None if storage.is_link else _recorded_folder(storage)
    freed = remove_store(storage, KINDS, folder.release if folder else lambda: 0)
    if folder:
        folder.forget()
    return freed


def has_unknown_folder(storage: Storage) -> bool:
    """Return whether the layers of a store are in a folder outside of it whose path is unknown."""
    return spill_id_of(storage) is not None and _recorded_folder(storage) is None


def _recorded_folder(storage: Storage) -> LayerFolder | None:
    """Return the folder outside of a store with its layers, or None if this user has not named one."""
    identifier = spill_id_of(storage)
    return None if identifier is None else LayerFolder.recorded(storage, identifier)


@dataclass(frozen=True, slots=True)
class StoreListing:
    """An entry of a listing: a store, or a folder that may be one, as described by its manifest and lock."""

    address: str
    manifest: SearchManifest | TilingManifest | None
    """The manifest, or None if this version cannot read it."""
    problem: str | None
    """Reason why there is no manifest, or None."""
    committed: datetime | None
    """Time of the last commit."""
    bytes_stored: int
    run: Holder | None
    """The run that holds the lock, or held it when it died."""

    @property
    def name(self) -> str:
        """The name under which commands find a store in outputs/."""
        return self.address.rpartition("/")[2].removesuffix(".zarr")

    def to_record(self) -> "ListedStore":
        """Return the entry for JSON output."""
        return ListedStore(
            name=self.name,
            path=self.address,
            kind=None if self.manifest is None else self.manifest.KIND,
            complete=None if self.manifest is None else self.manifest.complete,
            bytes=self.bytes_stored,
            committed=None if self.committed is None else self.committed.isoformat(timespec="seconds"),
            run=None if self.run is None else self.run.to_record(),
            problem=self.problem,
            **_contents(self.manifest),
        )


def _contents(manifest: SearchManifest | TilingManifest | None) -> dict[str, Any]:
    """Return the keys of a `StoreState` that depend on the kind of the store."""
    if manifest is None:
        return {}
    if isinstance(manifest, SearchManifest):
        radius = manifest.radius if manifest.layers else None
        return {"puzzle": manifest.puzzle["name"], "states": manifest.states, "radius": radius}
    searched = {"partitions": manifest.partitions, "searched_partitions": len(manifest.searched)}
    return {"board": manifest.board["name"], "tilings": manifest.tilings, **searched}


@dataclass(frozen=True, kw_only=True)
class NamedStore:
    """The name of a store."""

    name: str


@dataclass(frozen=True, kw_only=True)
class StorePath(NamedStore):
    """The name and the path or URL of a store."""

    path: str


@dataclass(frozen=True, kw_only=True)
class StoreState:
    """The state of a store, as far as it is known without opening the store."""

    kind: str | None
    complete: bool | None
    bytes: int
    committed: str | None
    run: Run | None
    problem: str | None
    puzzle: str | None = optional()
    states: int | None = optional()
    radius: int | None = optional()
    board: str | None = optional()
    tilings: int | None = optional()
    partitions: int | None = optional()
    searched_partitions: int | None = optional()


@dataclass(frozen=True, kw_only=True)
class ListedStore(StoreState, StorePath):
    """An entry of ``list --json``. Its base classes order the keys; those of the last base come first."""


def list_stores(address: Address) -> list[StoreListing]:
    """Return the stores in a directory or under a URL, sorted by name, or the store itself if the address is one.

    Folders that are not stores are listed with a problem. Raises the errors of `storages_in`.
    """
    return list(map(listing_of, storages_in(address)))


def listing_of(storage: Storage) -> StoreListing:
    """Return a store as `list_stores` shows it; its `problem` explains why it cannot be read."""
    manifest, problem, committed, size, run = None, None, None, 0, None
    try:
        committed, size, run = storage.modified(MANIFEST), storage.size(), storage.lock.holder()
        if committed is None:
            problem = f"not a store: it has no {MANIFEST}"
        else:
            manifest = read_manifest(storage)
    except AntipodesError as error:
        problem = str(error)
    return StoreListing(storage.address, manifest, problem, committed, size, run)


@dataclass(frozen=True, slots=True)
class Described:
    """A puzzle or board that is bundled or described by a file."""

    name: str
    fingerprint: str
    run: Mapping[str, Any]
    """The ``[run]`` table of the file."""
    command: str
    """The command that creates the store."""
    given: str
    """The name or file as the user gave it."""
    puzzle: Config | None = None
    """The config of a puzzle; None for a board."""

    def missing(self) -> NotAStoreError:
        """Return the error that there is no store; it names a command that works."""
        rules = None if self.puzzle is None else self.puzzle.puzzle.rules
        size = 0 if rules is None or rules.enumerated else index_size(rules)
        if size > MAX_ADVISED_SIZE:
            return NotAStoreError(
                f"there is no table of {self.name}: {size_in_words(size)} positions are too many; solve single "
                f"positions with: antipodes solve {in_shell(self.given)} POSITION"
            )
        return NotAStoreError(f"there is no store of {self.name} yet; create it with: {self.command}")

    def other(self, address: Address) -> StoreMismatchError:
        """Return the error that the store at the address belongs to another puzzle or board of the same name."""
        remedy = f"use another store for this one: {self.command} --store STORE; then give STORE instead of its name"
        if not any(is_bundled(self.given, noun) for noun in FOLDERS):
            remedy = f"rename yours, then: {self.command}"
        return StoreMismatchError(
            f"{address} belongs to another puzzle or board, which is also named {self.name}; {remedy}"
        )


@dataclass(frozen=True, slots=True)
class GivenStore:
    """A store as the user named it."""

    address: Address
    puzzle: PuzzleLike | None
    """The puzzle that the user named, whose notation is used; None if the user named only the store."""


def as_named(store: object, what: str, puzzle: PuzzleLike | None = None) -> GivenStore:
    """Return a store that a Python program names: a string is passed to `find_named`, a path is the address."""
    given = arguments.address(store, what)
    named = find_named(given) if isinstance(given, str) else GivenStore(given, None)
    return named if puzzle is None else GivenStore(named.address, puzzle)


def as_address(store: object, what: str) -> Address:
    """Return the address of a store; see `as_named`."""
    return as_named(store, what).address


def find_store(text: str, puzzle: str | None = None) -> Address:
    """Return the address of a store; see `find_named`."""
    return find_named(text, puzzle).address


def find_named(text: str, puzzle: str | None = None) -> GivenStore:
    """Return the store at a path or URL, or else the default store of the puzzle or board with this name or file.

    If a ``puzzle`` is given, it must be the puzzle of the store; this process then uses it to open the store.

    Raises
    ------
    NotAStoreError
        The puzzle or board has no store yet; the message names the command that creates it.
    StoreMismatchError
        The store belongs to another puzzle or board with the same name.
    ConfigError, SourceError
        The file does not describe a puzzle or board.
    """
    named = _find(text)
    return named if puzzle is None else GivenStore(named.address, _given(named.address, puzzle))


def _given(address: Address, text: str) -> Config:
    """Return the puzzle that the user gives for a store; raise StoreMismatchError if the store is another puzzle's."""
    config = register_puzzle(text)
    puzzle = config.puzzle
    manifest = read_manifest(address)
    if manifest.fingerprint != puzzle.fingerprint:
        changed = "; any change to its file makes it a different puzzle" if puzzle.family == "python" else ""
        named = isinstance(manifest, SearchManifest) and manifest.puzzle["name"] == puzzle.name
        both = ", although both have this name" if named and not changed else ""
        raise StoreMismatchError(f"--puzzle: {address} belongs to a different puzzle than {puzzle.name}{both}{changed}")
    return config


def _find(text: str) -> GivenStore:
    address = address_from(text)
    if not isinstance(address, Path) or os.path.isdir(address):
        return GivenStore(address, None)
    described = _described(text)
    name, run = (text, {}) if described is None else (described.name, described.run)
    stores = [chosen_store(None, run, name, counts_only) for counts_only in (False, True)]
    store = next(filter(_is_there, stores), None)
    if described is not None:
        if store is None:
            raise described.missing()
        _check_same(store, described)
    if store is None and not _looks_like_path(text):
        raise NotAStoreError(_unknown(text))
    return GivenStore(address if store is None else store, None if described is None else described.puzzle)


def _looks_like_path(text: str) -> bool:
    """Return whether the text is a path, not a name; opening a path that is not a store gives a better message."""
    return "/" in text or text.endswith(".zarr") or os.path.lexists(text)


def _unknown(text: str) -> str:
    """Return the message about an unknown name."""
    known = {*named_puzzles(), *bundled_configs("boards"), *(path.stem for path in OUTPUTS.glob("*.zarr"))}
    close = close_name(text, known)
    meant = f"did you mean {close}?" if close else "list the stores with: antipodes list"
    return f"there is no store {quote(shorten(text))}, neither at this path nor in {OUTPUTS}/; {meant}"


def _is_there(store: Address) -> bool:
    """Return whether something exists at the address; always True for a URL, because only reading it can show this."""
    return not isinstance(store, Path) or os.path.exists(store)


def _described(text: str) -> Described | None:
    """Return the puzzle or board with a bundled name, in a file or in Python code; None if there is none."""
    if is_bundled(text, "puzzle"):
        return _puzzle(text)
    if is_bundled(text, "board"):
        return _board(text)
    if os.path.isfile(text) and Path(text).suffix.lower() in (".toml", *DEFINITIONS):
        has_board = text.lower().endswith(".toml") and "board" in read_toml(Path(text))
        return _board(text) if has_board else _puzzle(text)
    return _puzzle(text) if is_reference(text) else None


def _puzzle(text: str) -> Described:
    config = load_config(text)
    registered = register_puzzle(config)
    name, fingerprint = registered.puzzle.name, registered.puzzle.fingerprint
    return Described(name, fingerprint, config.run, f"antipodes run {in_shell(text)}", text, registered)


def _board(text: str) -> Described:
    config = load_board(text)
    problem = config.problem
    return Described(problem.name, problem.fingerprint, config.run, f"antipodes tile {in_shell(text)}", text)


def _check_same(address: Address, described: Described) -> None:
    """Raise StoreMismatchError if the store belongs to another puzzle or board."""
    try:
        manifest = read_manifest(address)
    except StoreError:  # opening the store later raises a better error
        return
    if manifest.fingerprint != described.fingerprint:
        raise described.other(address)
