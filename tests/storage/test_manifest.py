"""The manifest as bytes and as a file: no changed byte is read as content."""

import json
import os
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stores import read_manifest, write_manifest

from antipodes.storage.manifest import digest, parse, serialise
from antipodes_tasks.errors import StoreDamagedError, StoreError

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


def test_a_manifest_is_json() -> None:
    assert json.loads(serialise(CONTENT))["layers"] == [1, 2, 4]


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_manifest(tmp_path / "none.json")


def test_an_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_manifest(tmp_path / "r.json", CONTENT)

    def failing(self: Path, mode: str) -> BinaryIO:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", failing)
    with pytest.raises(StoreError, match=r"cannot read .*r\.json: Input/output error"):
        read_manifest(tmp_path / "r.json")


def test_digest() -> None:
    assert digest(b"abc").startswith("ba7816bf8f01cfea")  # FIPS 180-2, appendix B.1
