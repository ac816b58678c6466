"""The manifest: its bytes, its checksum, and manifests of any content, which are refused or read."""

import copy
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
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


VALUES: list[Any] = [
    None, True, False, -1, 0, 1, 2, 254, 255, 65535, 2**31, 2**63, 10**400, 1.5, 1e300, "", "x", "..", "../../etc",
    "depth.wide", "0" * 64, "\ud7ff", "AAAA", [], [0], [[]], [1] * 300, {}, {"": 0}, {"a": {"b": []}},
    json.loads("[" * 50 + "]" * 50),
]  # fmt: skip
TABLE_COMMANDS: list[list[object]] = [
    ["query", "STORE", "867254301", "--json"],
    ["query", "STORE", "867254301", "--path", "--json"],
    ["farthest", "STORE", "--json"],
    ["solve", "eight-puzzle", "867254301", "--method", "table", "--store", "STORE", "--json"],
    ["layers", "STORE", "--json"],
    ["status", "STORE", "--json"],
    ["verify", "STORE", "--quiet"],
    ["resume", "STORE", "--json", "--quiet", "--workers", "1"],
    ["run", "eight-puzzle", "--store", "STORE", "--json", "--quiet", "--workers", "1"],
]
TILING_COMMANDS: list[list[object]] = [
    ["show", "STORE", "--json", "--all"],
    ["status", "STORE", "--json"],
    ["verify", "STORE", "--quiet"],
    ["resume", "STORE", "--json", "--quiet", "--workers", "1"],
    ["tile", "board.toml", "--store", "STORE", "--json", "--quiet", "--workers", "1"],
]
VARYING = {
    "seconds",
    "states_per_second",
    "peak_memory_bytes",
    "resumed_from",
    "bytes",
    "expanded",
    "placements_per_second",
}
VARYING |= {"balance", "worker_seconds", "resumed_from_partitions"}
"""Keys whose values may differ from run to run."""
UNCHECKED = {"layers", "chunks", "complete", "name", "description", "placements", "number", "tilings", "raw_tilings"}
UNCHECKED |= {"partitions", "method"}
"""Fields that commands show unchecked: only `verify`, which reads everything, finds other plausible values."""


def paths(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in a JSON value, at every depth."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*here, key)
        yield from paths(inner, (*here, key))


@st.composite
def mutations(draw: st.DrawFn, content: dict[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """The content with a change, and the path of the change."""
    fields: dict[str, list[tuple[Any, ...]]] = {}
    for path in paths(content):
        fields.setdefault(path[0], []).append(path)
    path = draw(st.sampled_from(fields[draw(st.sampled_from(sorted(fields)))]))
    changed = copy.deepcopy(content)
    place: Any = changed
    for key in path[:-1]:
        place = place[key]
    here = place[path[-1]]
    change = draw(st.sampled_from(["value", "value", "remove", "add", "near"]))
    if change == "remove":
        del place[path[-1]]
    elif change == "add" and isinstance(place, dict):
        place[draw(st.sampled_from(["", "extra", "../x"]))] = draw(st.sampled_from(VALUES))
    elif change == "near" and type(here) is int:
        place[path[-1]] = here + draw(st.sampled_from([-1, 1]))
    elif change == "near" and isinstance(here, str) and here:
        at = draw(st.integers(0, len(here) - 1))
        place[path[-1]] = here[:at] + draw(st.sampled_from(["A", "0", "f", "=", " "])) + here[at + 1 :]
    else:
        place[path[-1]] = draw(st.sampled_from(VALUES))
    return changed, path


def comparable(text: str) -> Any:
    """The output of a command without the values that may differ from run to run."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return {key: one for key, one in value.items() if key not in VARYING} if isinstance(value, dict) else value


def on(store: Path, command: list[object]) -> list[object]:
    return [store if word == "STORE" else word for word in command]


def check(cli: Command, store: Path, commands: list[list[object]], data: st.DataObject, right: dict[str, Any]) -> None:
    original = read_manifest(store / MANIFEST)
    changed, path = data.draw(mutations(original))
    command = data.draw(st.sampled_from(commands))
    write_manifest(store / MANIFEST, changed)
    try:
        outcome = cli(*on(store, command))
        unread = command[0] in ("status", "layers", "resume", "run", "tile") and UNCHECKED & set(map(str, path))
        if outcome.status == 0 and not unread and not {"name", "description"} & set(map(str, path)):
            seen = comparable(outcome.out) == right[str(command)]
            assert seen or (command[0], path[0], outcome.out[:3]) == ("verify", "complete", "ok:"), (path, changed)
        elif outcome.status:
            complaint = outcome.out + outcome.err if command[0] == "verify" else outcome.err
            assert len(complaint.splitlines()) == 1, (path, changed, outcome)
            assert len(complaint) < 1000
    finally:
        write_manifest(store / MANIFEST, original)


fuzzed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@fuzzed
@given(data=st.data())
def test_tables(cli: Command, eight: Path, answers_of_tables: dict[str, Any], data: st.DataObject) -> None:
    check(cli, eight, TABLE_COMMANDS, data, answers_of_tables)


@fuzzed
@given(data=st.data())
def test_tilings(cli: Command, square: Path, answers_of_tilings: dict[str, Any], data: st.DataObject) -> None:
    check(cli, square, TILING_COMMANDS, data, answers_of_tilings)


def answers(cli: Command, store: Path, commands: list[list[object]]) -> dict[str, Any]:
    return {str(command): comparable(cli(*on(store, command)).out) for command in commands}


@pytest.fixture
def answers_of_tables(cli: Command, eight: Path) -> dict[str, Any]:
    return answers(cli, eight, TABLE_COMMANDS)


@pytest.fixture
def square(tmp_path: Path) -> Path:
    board_file(SQUARE, tmp_path / "board.toml")
    return tiled(SQUARE, tmp_path / "s.zarr")


@pytest.fixture
def answers_of_tilings(cli: Command, square: Path) -> dict[str, Any]:
    return answers(cli, square, TILING_COMMANDS)


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
