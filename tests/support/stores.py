"""Reading the files of stores, resuming runs, and ways to corrupt them."""

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from antipodes.storage.backend import MANIFEST
from antipodes.storage.directory import DirectoryStorage
from antipodes.storage.manifest_file import parse, serialise
from antipodes.system.addresses import Address
from antipodes.system.events import Event, LayerFinished
from antipodes.system.options import RunOptions
from antipodes.tables.json_results import RunReport
from antipodes.tables.run import run_puzzle
from antipodes.tables.store.search_stores import TableStore, search_store
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.bfs.bitmaps import Depths


def contents(store: Path) -> dict[str, bytes]:
    """Return all files of a store, by their paths in the store."""
    return {str(path.relative_to(store)): path.read_bytes() for path in sorted(store.rglob("*")) if path.is_file()}


def depths_in(store: TableStore, manifest: TableManifest) -> Depths:
    """Return the committed depths of all rows of a table, ``(rows, width)``."""
    return np.concatenate([store.read_chunk(manifest, chunk) for chunk in range(manifest.chunk_count)])


def resume(store: Address, options: RunOptions = RunOptions(), *more: Any) -> RunReport:
    """Resume an unfinished store of any kind, which stores the definition of its puzzle."""
    manifest = search_store(store).read()
    return run_puzzle(manifest.config, store, replace(options, counts_only=manifest.COUNTS_ONLY), *more)


def stop_after(layers: int) -> Callable[[], bool]:
    """Return a function that interrupts a run after some layers or partitions; a run calls it once for each."""
    asked = count()
    return lambda: next(asked) >= layers


class LayersSeen:
    """The listener of a run, and a function that interrupts it after some layers, however often it is called."""

    def __init__(self, most: int) -> None:
        self.left = most

    def __call__(self, event: Event) -> None:
        self.left -= isinstance(event, LayerFinished)

    def enough(self) -> bool:
        return self.left <= 0


def chunk_files(store: Path) -> list[Path]:
    """Return the files of the chunks."""
    return sorted(path for path in (store / "depth" / "c").rglob("*") if path.is_file())


def flip_bit(path: Path, bit: int) -> None:
    """Flip one bit of a file; numbers past the end start again at the beginning."""
    content = bytearray(path.read_bytes())
    content[bit // 8 % len(content)] ^= 1 << bit % 8
    path.write_bytes(content)


def write_manifest(path: Path, content: dict[str, Any]) -> None:
    """Write a manifest to a file, as a store does."""
    DirectoryStorage(path.parent).replace(path.name, serialise(content), None)


def read_manifest(path: Path) -> dict[str, Any]:
    """Read the manifest in a file, as a store does."""
    return parse(DirectoryStorage(path.parent).read(path.name, 1 << 30)[0], str(path))


def change_manifest(store: Path, **changes: Any) -> None:
    """Change values of the manifest, and update its checksum."""
    write_manifest(store / MANIFEST, {**read_manifest(store / MANIFEST), **changes})


def reseal(store: Path, **changes: Any) -> None:
    """Change values of a finished table's manifest, and update its counts and digests to match the chunks."""
    change_manifest(store, **changes)
    content = read_manifest(store / MANIFEST)
    depths: Any = zarr.open_array(store / "depth", mode="r")
    counts: Any = zarr.open_array(store / "layer_counts", mode="r+")
    deepest, blocks = counts.shape[1], _blocks(depths, content["chunk_rows"])
    counts[:] = [np.bincount(block[block < deepest], minlength=deepest) for block in blocks]
    written = _blocks(counts, counts.chunks[0])
    change_manifest(
        store,
        chunks=_digests(content, "depth", blocks, np.iinfo(depths.dtype).max),
        layer_counts=_digests(content, "layer_counts", written, None),
    )


def _blocks(array: Any, rows: int) -> list[Any]:
    return [np.array(array[first : first + rows]) for first in range(0, array.shape[0], rows)]


def _digests(manifest: dict[str, Any], array: str, blocks: list[Any], unreached: int | None) -> str:
    """Return the digests of an array's chunks, in the manifest's form; 0 for chunks of only unreached positions."""
    space = json.dumps([manifest["space"], manifest["details"]], ensure_ascii=False)
    identity = f"{manifest['fingerprint']} {hashlib.sha256(space.encode()).hexdigest()}"
    found = b""
    for number, block in enumerate(blocks):
        content = f"{identity} {array}/c/{number}/0\n".encode() + block.astype(block.dtype.newbyteorder("<")).tobytes()
        found += bytes(8) if (block == unreached).all() else hashlib.sha256(content).digest()[:8]
    return base64.b64encode(found).decode()


def set_depth(store: Path, index: int, change: Callable[[int], int]) -> tuple[int, int]:
    """Change the depth at an index, and update checksums and digests; return the old and the new depth."""
    array: Any = zarr.open_array(store / "depth", mode="r+")
    row, column = divmod(index, array.shape[1])
    before = int(array[row, column])
    array[row, column] = change(before)
    reseal(store)
    return before, change(before)


def toml(settings: dict[str, Any], run: dict[str, Any] | None = None) -> str:
    """Return a config as TOML."""
    tables = {"puzzle": settings, "run": run or {}}
    return "\n".join(
        f"[{name}]\n" + "\n".join(f"{key} = {_toml_value(value)}" for key, value in table.items())
        for name, table in tables.items()
    )


def _toml_value(value: Any) -> str:
    """Return a value as TOML; strings, numbers and lists are written as in JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml_value(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)
