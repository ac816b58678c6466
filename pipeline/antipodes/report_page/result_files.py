"""The results in a store as JSON and CSV files, for other programs, papers and databases."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any, cast

from antipodes.puzzles.config import PuzzleLike
from antipodes.report_page.provenance import as_toml, published, recompute
from antipodes.stores import check_complete, open_search, open_store
from antipodes.system.addresses import Address
from antipodes.system.declared_questions import csv_text
from antipodes.system.output_files import output_file, writing
from antipodes.system.records import ABSENT, optional, values_of
from antipodes.tables.counts import Counts
from antipodes.tables.json_results import layer_counts
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.store.search_stores import CountsStore, SearchStore, TableStore, read_given
from antipodes.tables.table import Table
from antipodes.tilings.store import TilingManifest, TilingStore
from antipodes.tilings.table import open_tilings
from antipodes_tasks.base.errors import StoreChangedError

RESULTS, DEFINITION = "results.json", "definition.toml"
DEFAULT_LIMIT = 1000
"""Maximum number of antipodes or tilings that are written by default."""
SOFTWARE = ("antipodes", "numpy", "numba", "dask", "zarr")
Files = dict[str, str]
"""Contents by file name."""


@dataclass(frozen=True, slots=True)
class ExportedStore:
    """The format of a store and the digest of its manifest."""

    format: str
    version: int
    manifest_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreResults:
    """The content of ``results.json``: values that identify the results and are needed to check them.

    The schema of the file is docs/schemas/results.json.
    """

    format: str = "antipodes-results"
    version: int = 1
    kind: str
    name: str
    definition: Mapping[str, Any]
    fingerprint: str
    store: ExportedStore
    recompute: list[str]
    software: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ExportedAntipodes:
    """The number of antipodes and some of them, or one of each symmetry class with its number of symmetries."""

    count: int
    positions: list[str]
    symmetries: list[int] | None = optional()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResults(StoreResults):
    """The results in a table or counts."""

    positions: int
    radius: int
    layers: Sequence[int]
    unique_layers: Sequence[int] | None = optional(None)
    antipodes: ExportedAntipodes


@dataclass(frozen=True, slots=True, kw_only=True)
class TilingResults(StoreResults):
    """The results in a store of tilings."""

    tilings: int
    raw_tilings: int
    listed: int


def write_results(
    address: Address, folder: Path, limit: int = DEFAULT_LIMIT, puzzle: PuzzleLike | None = None, unique: bool = False
) -> list[str]:
    """Write the results in a finished store to a folder, replacing existing files; return the file names.

    ``unique`` also counts the positions up to symmetry, unless a counts-only run did not, and lists one antipode per
    symmetry class. Tilings are always listed up to symmetry.

    Raises
    ------
    InputError
        With ``unique``: the symmetries are unknown, or a counts-only store does not contain all antipodes.
    UnfinishedError
        The store is unfinished.
    NotAStoreError, StoreDamagedError, SourceError, StoreMismatchError
        See `antipodes.open_table`.
    StoreError
        A file cannot be written, or a run replaced the store in the meantime.
    """
    store = open_store(address)
    if isinstance(store, TilingStore):
        results, files = _of_tilings(store, limit)
    else:
        results, files = _of_search(store, limit, puzzle, unique)
    if store.manifest_file.has_changed():
        raise StoreChangedError(f"{store.address} was changed by a run while it was being read; try again")
    files = {RESULTS: json.dumps(results, indent=1, ensure_ascii=False, default=values_of) + "\n", **files}
    _write(folder, files)
    return list(files)


def _of_search(
    store: TableStore | CountsStore, limit: int, puzzle: PuzzleLike | None, unique: bool
) -> tuple[StoreResults, Files]:
    manifest = read_given(cast(SearchStore[SearchManifest], store), puzzle)
    check_complete(manifest.complete, store.address)
    with open_search(store, puzzle) as found:
        layers, antipodes = found.layers, _antipodes(found, limit, unique)
        classes = found.unique_layers() if unique and found.counts_classes else None
    results = _results(
        SearchResults,
        store,
        manifest,
        published(manifest.puzzle),
        positions=sum(layers),
        radius=len(layers) - 1,
        layers=layers,
        unique_layers=classes,
        antipodes=antipodes,
    )
    listed = {name: one for name, one in values_of(antipodes).items() if name != "count"}
    files = {
        DEFINITION: as_toml("puzzle", published(manifest.puzzle)),
        "layers.csv": csv_text(layer_counts(manifest, classes).rows()),
        "b-file.txt": "".join(f"{depth} {count}\n" for depth, count in enumerate(layers)),
        "antipodes.csv": csv_text([listed, *zip(*listed.values(), strict=True)]),
    }
    return results, files


def _antipodes(found: Table | Counts, limit: int, unique: bool) -> ExportedAntipodes:
    """Return the number of antipodes and some of them; if ``unique``, one per class, with its number of symmetries."""
    positions = found.unique_antipodes(limit) if unique else found.antipodes(limit)
    texts = [found.puzzle.format(one) for one in positions]
    return ExportedAntipodes(found.layers[-1], texts, found.symmetries_at(positions) if unique else ABSENT)


def _of_tilings(store: TilingStore, limit: int) -> tuple[StoreResults, Files]:
    manifest = store.read()
    check_complete(manifest.complete, store.address)
    with open_tilings(store.address) as tilings:
        drawn = ["/".join(one.draw("letters").splitlines()) for one in tilings[:limit]]
    results = _results(
        TilingResults,
        store,
        manifest,
        manifest.board,
        tilings=manifest.tilings,
        raw_tilings=manifest.raw_tilings,
        listed=len(drawn),
    )
    table = csv_text([("number", "tiling"), *enumerate(drawn)])
    return results, {DEFINITION: as_toml("board", manifest.board), "tilings.csv": table}


def _results(
    record: type[StoreResults],
    store: TableStore | CountsStore | TilingStore,
    manifest: SearchManifest | TilingManifest,
    definition: Mapping[str, Any],
    **others: Any,
) -> StoreResults:
    """Return a record of results; ``others`` are the values of the fields that depend on the kind of the store."""
    return record(
        name=definition["name"],
        definition=dict(definition),
        fingerprint=manifest.fingerprint,
        store=ExportedStore(store.KIND.format, store.KIND.version, store.manifest_file.current_digest()),
        recompute=recompute(manifest, DEFINITION),
        software={**{name: version(name) for name in SOFTWARE}, "python": python_version()},
        kind=manifest.KIND,
        **others,
    )


def _write(folder: Path, files: Files) -> None:
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        with output_file(folder / name) as file:
            file.write(text.encode(errors="backslashreplace"))
