"""Every file of a store has a bound before it is read: a huge one costs no memory, and hides nothing else."""

import base64
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import Command
from s3 import Bucket
from stores import change_manifest, contents
from tiling_stores import SQUARE, tiled

from antipodes.storage.arrays import Arrays, Layout
from antipodes.storage.backend import MANIFEST, TooLargeError
from antipodes.storage.directory import DirectoryStorage
from antipodes.storage.lock import parse_owner
from antipodes.storage.manifest_file import MAX_BASE_BYTES, MAX_VALUES, parse
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.base.errors import FieldError, StoreDamagedError

HUGE = 8 << 30
"""Bytes of a sparse file: reading it would take more memory than a machine of the tests may have."""


def swell(path: Path) -> None:
    """Append zeros, which take no disk."""
    os.truncate(path, HUGE)


@pytest.mark.parametrize(
    "file", ["commit.json", "zarr.json", "depth/zarr.json", "layer_counts/zarr.json", "depth/c/0/0"]
)
def test_a_huge_file_of_a_table(file: str, eight: Path, cli: Command) -> None:
    swell(eight / file)
    outcome = cli("query", eight, "867254301", "647850321")
    assert (outcome.status, outcome.out) == (1, "")
    assert f"{file} is corrupt" in outcome.err
    assert f"{file} is corrupt" in cli("verify", eight, "--quiet").out


@pytest.mark.parametrize("command", [["layers"], ["farthest"], ["status"], ["resume", "--quiet"]])
def test_a_huge_manifest(command: list[str], eight: Path, refused: Callable[..., str]) -> None:
    swell(eight / MANIFEST)
    message = refused(command[0], eight, *command[1:], status=1)
    assert f"{MANIFEST} is corrupt: expected at most 4,194,316 bytes, found {HUGE:,}" in message


def test_one_huge_or_unreadable_entry_hides_no_other(finished: Path, cli: Command, tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d"):
        shutil.copytree(finished, tmp_path / "s" / f"{name}.zarr")
    swell(tmp_path / "s" / "a.zarr" / MANIFEST)
    (tmp_path / "s" / "b.zarr" / MANIFEST).write_bytes(b"[" * 100_000)
    (tmp_path / "s" / "c.zarr" / MANIFEST).unlink()
    os.mkfifo(tmp_path / "s" / "c.zarr" / MANIFEST)
    outcome = cli("list", tmp_path / "s")
    assert outcome.status == 0
    lines = outcome.out.splitlines()
    assert [line.split()[0] for line in lines] == ["name", "d", "a:", "b:", "c:"], lines
    assert "commit.json is corrupt: expected at most" in lines[2]


@pytest.mark.parametrize("value", [b"[]", b"[" * 100 + b"]" * 100])
def test_a_manifest_of_many_values_is_not_parsed(value: bytes) -> None:
    """Empty lists take twenty times as much memory as text."""
    with pytest.raises(StoreDamagedError, match=r"it has more than .* values"):
        parse(b'{"x": [' + b",".join([value] * (2 * MAX_VALUES // len(value))) + b"]}", "commit.json")


@pytest.mark.parametrize(("chunks", "read"), [(1_000_000, True), (1, False)])
def test_a_large_manifest_is_read_if_its_chunks_need_it(
    chunks: int, read: bool, eight: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of chunks is at the beginning of the manifest."""
    monkeypatch.setattr(TableManifest, "check", lambda self: None)
    digests = base64.b64encode(bytes(8 * 1_000_000)).decode()
    change_manifest(eight, rows=chunks, chunk_rows=1, chunks=digests)
    assert (eight / MANIFEST).stat().st_size > 2 * MAX_BASE_BYTES
    store = TableStore(eight)
    if read:
        assert len(store.manifest_file.read(TableManifest).chunks) == 1_000_000
    else:
        with pytest.raises(TooLargeError):
            store.manifest_file.read(TableManifest)


def test_a_huge_journal_file(unfinished: Path, cli: Command) -> None:
    """It counts as damaged: the run resumes without it."""
    files = list((unfinished / "journal").iterdir())
    swell(files[-1])
    outcome = cli("resume", unfinished, "--quiet", "--json")
    assert (outcome.status, json.loads(outcome.out)["states"]) == (0, 181440)


def test_a_huge_lock(eight: Path, cli: Command) -> None:
    lock = eight.with_name(f"{eight.name}.lock")
    lock.touch()
    swell(lock)
    assert cli("resume", eight, "--quiet").status == 0
    assert parse_owner(b'{"token": "' + b"x" * 10_000 + b'"}') == {}


@pytest.mark.parametrize("file", ["commit.json", "tilings/zarr.json", "tilings/c/0/0"])
def test_a_huge_file_of_tilings(file: str, cli: Command, tmp_path: Path) -> None:
    store = tmp_path / "t.zarr"
    tiled(SQUARE, store)
    swell(store / file)
    outcome = cli("show", store)
    assert (outcome.status, outcome.out) == (1, "")
    assert "is corrupt: " in outcome.err


def test_huge_objects_of_a_bucket(bucket: Bucket, finished: Path, cli: Command) -> None:
    files = contents(finished)
    for file in (MANIFEST, "zarr.json", "depth/c/0/0"):
        for key, content in files.items():
            bucket.put(f"t.zarr/{key}", content + b"\0" * (5 << 20) * (key == file))
        outcome = cli("query", bucket.url(), "647850321", "867254301")
        assert (outcome.status, outcome.out) == (1, ""), outcome
        assert f"{file} is corrupt: expected at most" in outcome.err.replace("t.zarr/", ""), outcome


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
@pytest.mark.parametrize("rows", [1, 100_000])
def test_chunks_of_noise_are_within_the_bound(compression: Any, rows: int, tmp_path: Path) -> None:
    """What cannot be compressed is the largest that is ever stored."""
    import zarr

    layout = Layout((rows, 7), rows, "uint16", 0, ("row", "column"), compression)
    layout.create(str(tmp_path / "a"))
    noise = np.random.default_rng(0).integers(1, 65536, (rows, 7), dtype=np.uint16)
    array: Any = zarr.open_array(str(tmp_path / "a"))
    array[:] = noise
    assert (tmp_path / "a" / "c" / "0" / "0").stat().st_size <= layout.max_bytes


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_a_chunk_that_expands_to_more_than_its_numbers(compression: Any, tmp_path: Path) -> None:
    """Some KiB expand to GiB: it is refused by its header, before it is decompressed."""
    few, many = (Layout((rows, 7), rows, "uint16", 0, ("row", "column"), compression) for rows in (5, 50_000))
    arrays = Arrays(DirectoryStorage(tmp_path))
    for name, layout in (("few", few), ("many", many)):
        digests = arrays.write(name, layout, np.ones(layout.shape, dtype=np.uint16), "ones")
        assert arrays.read_chunk(name, layout, 0, "ones", digests).all()
    shutil.copy(tmp_path / "many" / "c" / "0" / "0", tmp_path / "few" / "c" / "0" / "0")
    with pytest.raises(StoreDamagedError, match="expected 70 bytes after decompression, found 700,000"):
        arrays.read_chunk("few", few, 0, "ones", digests)


def test_other_codecs_are_refused(tmp_path: Path) -> None:
    lz4, zstd = (Layout((5, 7), 5, "uint16", 0, ("row", "column"), one) for one in ("lz4", "zstd"))  # type: ignore[arg-type]
    Arrays(DirectoryStorage(tmp_path)).create("a", zstd)
    metadata = json.loads((tmp_path / "a" / "zarr.json").read_bytes())
    zstd.check(metadata, "a")
    with pytest.raises(
        FieldError, match=r"a: codecs: expected bytes, blosc, crc32c, found \['bytes', 'zstd', 'crc32c'\]"
    ):
        lz4.check(metadata, "a")


def test_a_directory_in_place_of_a_journal_file(unfinished: Path, cli: Command, tmp_path: Path) -> None:
    """The run writes the file again, under the same name."""
    copy = shutil.copytree(unfinished, tmp_path / "copy.zarr")
    for file in (copy / "journal").iterdir():
        file.unlink()
        (file / "x").mkdir(parents=True)
    outcome = cli("resume", copy, "--quiet", "--json", "--checkpoint-every", 0)
    assert outcome.status == 0, outcome.err
    assert json.loads(outcome.out)["states"] == 181440
    assert not (copy / "journal").exists()
