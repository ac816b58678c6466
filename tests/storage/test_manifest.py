"""The manifest: its bytes, its checksum, and manifests of any content, which are refused or read."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import Command
from stores import change_manifest, read_manifest, write_manifest
from tiling_stores import SQUARE, board_file, tiled

from antipodes.storage.backend import MANIFEST
from antipodes.storage.manifest_file import digest, parse, serialise
from antipodes_tasks.base.errors import StoreDamagedError, StoreError

CONTENT = {"layers": [1, 2, 4], "name": "Größe — 八", "complete": False, "nothing": None, "nested": {"a": 1.5}}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_a_written_manifest_is_read_back(tmp_path: Path) -> None:
    write_manifest(tmp_path / "r.json", CONTENT)
    assert read_manifest(tmp_path / "r.json") == CONTENT
    write_manifest(tmp_path / "r.json", {"other": 1})
    assert read_manifest(tmp_path / "r.json") == {"other": 1}
    assert os.listdir(tmp_path) == ["r.json"]


@pytest.mark.slow
@given(st.dictionaries(st.text().filter(lambda key: key != "checksum"), values))
def test_any_content(content: dict[str, Any]) -> None:
    assert parse(serialise(content), "r.json") == content


def test_every_single_bit() -> None:
    written = serialise(CONTENT)
    for bit in range(8 * len(written)):
        changed = bytearray(written)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(StoreDamagedError):
            parse(bytes(changed), "r.json")


@pytest.mark.parametrize("part", [0, 1, 10, -2, -1])
def test_truncated(part: int) -> None:
    with pytest.raises(StoreDamagedError):
        parse(serialise(CONTENT)[:part], "r.json")


@pytest.mark.parametrize("text", ["{}", "[]", "null", "5", '"text"', '{"checksum": 5}', "", "[" * 100_000])
def test_json_that_is_no_manifest(text: str) -> None:
    with pytest.raises(StoreDamagedError):
        parse(text.encode(), "r.json")


def test_a_failed_write_leaves_the_old_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.json"
    write_manifest(path, CONTENT)
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
            with pytest.raises(StoreError, match="No space left on device"):
                write_manifest(path, {"new": 1})
        assert read_manifest(path) == CONTENT
    write_manifest(path, {"new": 1})
    assert read_manifest(path) == {"new": 1}


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_manifest(tmp_path / "none.json")


def test_an_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_manifest(tmp_path / "r.json", CONTENT)

    def failing(*_: object, **__: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "open", failing)
    with pytest.raises(StoreError, match=r"cannot read .*r\.json: Input/output error"):
        read_manifest(tmp_path / "r.json")


def test_digest() -> None:
    assert digest(b"abc").startswith("ba7816bf8f01cfea")  # FIPS 180-2, appendix B.1


@pytest.mark.parametrize(
    "key", ["shape", "data_type", "fill_value", "chunk_grid", "chunk_key_encoding", "codecs", "node_type"]
)
@pytest.mark.parametrize("value", [None, 5, "int64", [1, 1], {"name": "regular"}])
def test_array_metadata_that_contradicts_the_manifest(
    key: str, value: Any, refused: Callable[..., str], eight: Path
) -> None:
    file = eight / "depth/zarr.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), key: value}))
    metadata = {**read_manifest(eight / MANIFEST)["metadata"], "depth/zarr.json": digest(file.read_bytes())}
    change_manifest(eight, metadata=metadata)
    assert "is corrupt" in refused("query", eight, "867254301", status=1)
    change_manifest(eight, complete=False)
    assert "is corrupt" in refused("resume", eight, "--quiet", status=1)


@pytest.mark.parametrize("name", ["table", "tilings"])
def test_a_store_of_version_1(
    name: str, refused: Callable[..., str], cli: Command, eight: Path, tmp_path: Path
) -> None:
    board = board_file(SQUARE, tmp_path / "board.toml")
    store = eight if name == "table" else tiled(SQUARE, tmp_path / "s.zarr")
    make: list[object] = ["run", "eight-puzzle"] if name == "table" else ["tile", board]
    change_manifest(store, version=1)
    for command in (["status", store], ["verify", store], ["resume", store], [*make, "--store", store]):
        message = refused(*command)
        assert f"expected a store of format version {7 if name == 'table' else 3}" in message
        assert f"found version 1; compute it again with: antipodes {make[0]} " in message
    assert cli(*make, "--store", store, "--overwrite", "--quiet").status == 0
    assert cli("verify", store).status == 0
