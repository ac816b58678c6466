"""Values of stores, which may come from anybody: what each of them may do, and that no path, URL or name is followed.

If you add a field, a key of a header or a record, decide what a forged value can do, and add it here.
"""

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import forged_paths
import pytest
from forks import popen
from zarr.storage import MemoryStore

from antipodes.storage import arrays, lock
from antipodes.tables import journal_file
from antipodes.tables.store.manifest import SearchManifest
from antipodes.tables.store.table_manifest import TableManifest
from antipodes.tilings.store import Searched, TilingManifest
from antipodes_tasks.base.errors import FieldError

SAME = "compared with the value that the puzzle, the board or another field implies"
BUILT = "builds a puzzle or board, which opens nothing; a `source` is run only if the user has named it"
BOUND = "a size or number with limits, compared with the puzzle and with the sizes of the files"
CHOICE = "one of a closed set of values"
DIGEST = "compared with digests of what is read"
RANDOM = "compared with the identifier in the folder that the user has named; never a path"
TEXT = "only printed, escaped, and compared"

DECISIONS: dict[type, dict[str, str]] = {
    SearchManifest: {
        "puzzle": BUILT,
        "fingerprint": SAME,
        "symbols": SAME,
        "counts": SAME,
        "space": CHOICE,
        "details": BOUND,
        "rows": BOUND,
        "width": BOUND,
        "chunk_rows": BOUND,
        "committed_depth": BOUND,
        "layers": BOUND,
        "searched": CHOICE,
        "antipodes": BOUND,
        "complete": CHOICE,
        "weighed": BOUND,
        "unique": BOUND,
        "spill": CHOICE,
        "spill_id": RANDOM,
        "metadata": DIGEST,
    },
    TableManifest: {"chunks": DIGEST, "layer_counts": DIGEST, "keys": DIGEST, "first_keys": DIGEST},
    TilingManifest: {
        "board": BUILT,
        "fingerprint": SAME,
        "pieces": SAME,
        "method": CHOICE,
        "partitions": BOUND,
        "searched": BOUND,
        "complete": CHOICE,
        "digests": DIGEST,
        "metadata": DIGEST,
    },
    Searched: {"number": BOUND, "tilings": BOUND, "raw_tilings": BOUND, "placements": TEXT},
    lock.Run: {"process": TEXT, "host": TEXT, "since": TEXT, "alive": CHOICE},
    journal_file.Cover: {"first_chunk": BOUND, "end_chunk": BOUND, "first_depth": BOUND, "last_depth": BOUND},
}
"""For each record that a store contains, its fields, and what a forged value can do."""


@pytest.mark.parametrize("declared", DECISIONS, ids=lambda one: one.__name__)
def test_each_value_of_a_store_has_a_decision(declared: type) -> None:
    known = {name for one in declared.__mro__ if one in DECISIONS for name in DECISIONS[one]}
    names: tuple[str, ...] = getattr(declared, "_fields", None) or tuple(one.name for one in fields(declared))
    assert {*names} == known


def test_each_column_of_the_index_of_a_journal_has_a_decision() -> None:
    """All are compared with the size of the file, or bounded by the bits of a chunk."""
    names = journal_file.ENTRY.names
    assert names == ("chunk", "depth", "kind", "count", "length", "offset", "digest")


def test_arrays_have_a_closed_set_of_codecs_and_no_transformers() -> None:
    """The `zarr.json` of an array names code: the codecs. It may be forged together with its digest."""
    layout = arrays.Layout((4, 2), 2, "uint8", 255, ("row", "column"))
    place: dict[str, Any] = {}
    layout.create(MemoryStore(place))
    written = json.loads(place["zarr.json"].to_bytes())
    layout.check(written, "zarr.json")
    for forged in (
        {"codecs": [{"name": "numcodecs.pickle"}]},
        {"codecs": [*written["codecs"], {"name": "sharding_indexed"}]},
        {"storage_transformers": [{"name": "x"}]},
        {"data_type": {"name": "object"}},
        {"shape": [2**62, 2]},
    ):
        with pytest.raises(FieldError, match=next(iter(forged))):
            layout.check(written | forged, "zarr.json")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["table", "unfinished table", "unfinished counts", "keys", "reduced", "tilings"])
def test_forged_values_open_nothing_else(kind: str, tmp_path: Path) -> None:
    """Neither files, connections nor processes, and no huge allocation, in any command that takes a store."""
    command = [sys.executable, forged_paths.__file__, kind, "127"]
    with popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        out, err = process.communicate()
    assert process.returncode == 0, err
    *problems, ran = out.splitlines()
    assert (problems, int(ran) > 50) == ([], True)
