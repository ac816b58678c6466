import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stores import read_record, write_manifest

from antipodes.errors import StoreDamagedError, StoreError
from antipodes.storage.manifest import digest

CONTENT = {"layers": [1, 2, 4], "name": "Größe — 八", "complete": False, "nothing": None, "nested": {"a": 1.5}}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_read_is_what_was_written(tmp_path: Path) -> None:
    write_manifest(tmp_path / "r.json", CONTENT)
    assert read_record(tmp_path / "r.json") == CONTENT
    write_manifest(tmp_path / "r.json", {"other": 1})
    assert read_record(tmp_path / "r.json") == {"other": 1}
    assert os.listdir(tmp_path) == ["r.json"]


@settings(deadline=None, max_examples=25)
@given(st.dictionaries(st.text().filter(lambda key: key != "checksum"), values))
def test_any_content(content: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_manifest(Path(folder) / "r.json", content)
        assert read_record(Path(folder) / "r.json") == content


def test_every_single_bit(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    write_manifest(path, CONTENT)
    written = path.read_bytes()
    for bit in range(8 * len(written)):
        changed = bytearray(written)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(StoreDamagedError):
            read_record(path)


@pytest.mark.parametrize("part", [0, 1, 10, -2, -1])
def test_truncated(part: int, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    write_manifest(path, CONTENT)
    path.write_bytes(path.read_bytes()[:part])
    with pytest.raises(StoreDamagedError):
        read_record(path)


@pytest.mark.parametrize("text", ["{}", "[]", "null", "5", '"text"', '{"checksum": 5}', "", "[" * 100_000])
def test_other_json(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(StoreDamagedError):
        read_record(tmp_path / "r.json")


def test_what_dies_while_writing_leaves_the_old_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.json"
    write_manifest(path, CONTENT)
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
            with pytest.raises(StoreError, match="No space left on device"):
                write_manifest(path, {"new": 1})
        assert read_record(path) == CONTENT
    write_manifest(path, {"new": 1})
    assert read_record(path) == {"new": 1}


def test_it_is_json(tmp_path: Path) -> None:
    write_manifest(tmp_path / "r.json", CONTENT)
    assert json.loads((tmp_path / "r.json").read_text())["layers"] == [1, 2, 4]


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_record(tmp_path / "none.json")


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_manifest(tmp_path / "r.json", CONTENT)

    def failing(self: Path) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "read_bytes", failing)
    with pytest.raises(StoreError, match=r"cannot read .*r\.json: Input/output error"):
        read_record(tmp_path / "r.json")


def test_digest() -> None:
    assert digest(b"abc").startswith("ba7816bf8f01cfea")  # FIPS 180-2, appendix B.1
