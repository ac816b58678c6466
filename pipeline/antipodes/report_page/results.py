"""The results in a store as JSON and CSV files, for other programs, papers and databases."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

from antipodes.puzzles.config import PuzzleLike
from antipodes.report_page.definition import as_toml, published, recompute
from antipodes.stores import open_store
from antipodes.system.addresses import Address, in_shell
from antipodes.tables.counts import Counts, open_counts
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.store.search_stores import CountsStore, TableStore
from antipodes.tables.table import Table, open_table
from antipodes.tilings.store import TilingManifest, TilingStore
from antipodes.tilings.table import open_tilings
from antipodes_tasks.base.errors import StoreChangedError, StoreError, UnfinishedError
from antipodes_tasks.base.quoting import shorten

FORMAT = {"format": "antipodes-results", "version": 1}
"""Format and version of ``results.json``; its schema is docs/schemas/results.json."""
RESULTS, DEFINITION = "results.json", "definition.toml"
DEFAULT_LIMIT = 1000
"""Maximum number of antipodes or tilings that are written by default."""
SOFTWARE = ("antipodes", "numpy", "numba", "dask", "zarr")
Files = dict[str, str]
"""Contents by file name."""


def write_results(
    address: Address, folder: Path, limit: int = DEFAULT_LIMIT, puzzle: PuzzleLike | None = None, unique: bool = False
) -> list[str]:
    """Write the results in a finished store to a folder, replacing existing files; return the file names.

    ``unique`` also counts the positions of a table up to symmetry, and lists one antipode per symmetry class. Tilings
    are always listed up to symmetry.

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
        values, files = _of_tilings(store, address, limit)
    else:
        values, files = _of_search(store, address, limit, puzzle, unique)
    if store.manifest_file.has_changed():
        raise StoreChangedError(f"{store.address} was changed by a run while it was being read; try again")
    files = {RESULTS: json.dumps(values, indent=1, ensure_ascii=False) + "\n", **files}
    _write(folder, files)
    return list(files)


def _of_search(
    store: TableStore | CountsStore, address: Address, limit: int, puzzle: PuzzleLike | None, unique: bool
) -> tuple[dict[str, Any], Files]:
    manifest = store.read()
    _check_complete(manifest, store)
    counts_only = isinstance(store, CountsStore)
    with open_counts(address, puzzle) if counts_only else open_table(address, puzzle=puzzle) as found:
        layers, antipodes = found.layers, _antipodes(found, limit, unique)
        classes = {"unique_layers": found.unique_layers()} if unique and isinstance(found, Table) else {}
    values = {
        **_head(store, manifest, "counts" if counts_only else "table", published(manifest.puzzle)),
        "positions": sum(layers),
        "radius": len(layers) - 1,
        "layers": layers,
        **classes,
        "antipodes": antipodes,
    }
    names, columns = ["positions", *(["unique"] * len(classes))], [layers, *classes.values()]
    listed = [name for name in ("positions", "symmetries") if name in antipodes]
    files = {
        DEFINITION: as_toml("puzzle", published(manifest.puzzle)),
        "layers.csv": _csv(["depth", *names], ((depth, *row) for depth, row in enumerate(zip(*columns, strict=True)))),
        "b-file.txt": "".join(f"{depth} {count}\n" for depth, count in enumerate(layers)),
        "antipodes.csv": _csv(listed, zip(*(antipodes[name] for name in listed), strict=True)),
    }
    return values, files


def _antipodes(found: Table | Counts, limit: int, unique: bool) -> dict[str, Any]:
    """Return the number of antipodes and some of them; if ``unique``, one per class, with its number of symmetries."""
    positions = found.unique_antipodes(limit) if unique else found.antipodes(limit)
    listed = {"count": found.layers[-1], "positions": [found.puzzle.format(one) for one in positions]}
    return {**listed, "symmetries": found.symmetries_at(positions)} if unique else listed


def _of_tilings(store: TilingStore, address: Address, limit: int) -> tuple[dict[str, Any], Files]:
    manifest = store.read()
    _check_complete(manifest, store)
    with open_tilings(address) as tilings:
        drawn = ["/".join(one.draw("letters").splitlines()) for one in tilings[:limit]]
    values = {
        **_head(store, manifest, "tilings", manifest.board),
        "tilings": manifest.tilings,
        "raw_tilings": manifest.raw_tilings,
        "listed": len(drawn),
    }
    table = _csv(("number", "tiling"), enumerate(drawn))
    return values, {DEFINITION: as_toml("board", manifest.board), "tilings.csv": table}


def _check_complete(manifest: SearchManifest | TilingManifest, store: TableStore | CountsStore | TilingStore) -> None:
    if not manifest.complete:
        raise UnfinishedError(f"{store.address} is unfinished; resume with: antipodes resume {in_shell(store.address)}")


def _head(
    store: TableStore | CountsStore | TilingStore,
    manifest: SearchManifest | TilingManifest,
    kind: str,
    definition: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the values that identify the results and are needed to check them."""
    return {
        **FORMAT,
        "kind": kind,
        "name": definition["name"],
        "definition": dict(definition),
        "fingerprint": manifest.fingerprint,
        "store": {
            "format": store.KIND.format,
            "version": store.KIND.version,
            "manifest_sha256": store.manifest_file.current_digest(),
        },
        "recompute": recompute(manifest, DEFINITION),
        "software": {**{name: version(name) for name in SOFTWARE}, "python": python_version()},
    }


def _csv(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


def _write(folder: Path, files: Files) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError) as error:  # ValueError: the name is not a valid folder name
        reason = error.strerror if isinstance(error, OSError) else None
        raise StoreError(f"cannot write {shorten(str(folder))}: {reason or error}") from error
