"""Commands on a damaged store give the right answer, or fail with one line."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import zarr
from oracles import ORACLES
from programs import Command
from stores import change_manifest, chunk_files, contents, flip_bit

ORACLE = ORACLES["sliding/eight-puzzle"]
SECOND_HALF = "0 2 3 / 1 5 6 / 4 7 8"
COMMANDS: list[list[object]] = [
    ["query", "STORE", "867254301", "647850321", SECOND_HALF, "123456780", "123456708"],
    ["farthest", "STORE"],
    ["layers", "STORE", "--json"],
    ["status", "STORE", "--json"],
    ["verify", "STORE", "--quiet"],
    ["resume", "STORE", "--json", "--quiet"],
    ["run", "eight-puzzle", "--store", "STORE", "--json", "--quiet"],
]


RIGHT: list[str] = []
"""The answers of the commands on an undamaged store, once a test has asked for them."""


@pytest.fixture
def right(cli: Command, finished: Path) -> list[str]:
    """The answers of the commands on an undamaged store."""
    if not RIGHT:
        RIGHT.extend(cli(*on(finished, command)).out for command in COMMANDS)
    return RIGHT


def on(store: Path, command: list[object]) -> list[object]:
    return [store if word == "STORE" else word for word in command]


@pytest.fixture
def says_right_or_fails(cli: Command, right: list[str]) -> Callable[..., int]:
    """Runs all commands on a store; each gives the right answer or fails with one line. Returns how many failed."""

    def check(store: Path, statuses: tuple[int, ...] = (1,)) -> int:
        failed = 0
        for command, expected in zip(COMMANDS, right, strict=True):
            outcome = cli(*on(store, command))
            if outcome.status == 0 and command[0] not in ("resume", "run", "status"):
                assert outcome.out == expected
                assert outcome.err == ""
            elif outcome.status == 0:
                layers = json.loads(outcome.out)["layers"]
                assert layers == ORACLE["layers"]
            else:
                failed += 1
                assert outcome.status in statuses, (command, outcome)
                complaint = outcome.out + outcome.err if command[0] == "verify" else outcome.err
                assert len(complaint.splitlines()) == 1, (command, outcome)
                assert "Traceback" not in complaint
        return failed

    return check


Check = Callable[..., int]


def test_undamaged(says_right_or_fails: Check, eight: Path) -> None:
    assert says_right_or_fails(eight) == 0


@pytest.mark.parametrize("keep", [0.0, 0.001, 0.5, 0.9999, 1, None])
def test_chunks_of_other_lengths(keep: float | None, says_right_or_fails: Check, eight: Path) -> None:
    """Truncated, with a byte added, and missing."""
    for chunk in chunk_files(eight):
        content = chunk.read_bytes()
        if keep is None:
            chunk.unlink()
        else:
            chunk.write_bytes(content + b"\0" if keep == 1 else content[: int(keep * len(content))])
    assert says_right_or_fails(eight) >= 2


def test_a_chunk_that_is_a_directory(says_right_or_fails: Check, eight: Path) -> None:
    chunk = chunk_files(eight)[0]
    chunk.unlink()
    chunk.mkdir()
    says_right_or_fails(eight)


@pytest.mark.parametrize("name", ["zarr.json", "depth/zarr.json", "commit.json"])
@pytest.mark.parametrize("content", [None, b"", b"{}", b"null", b"[]", b"\xff\xfe", b"[" * 100_000, b"1" * 5000])
def test_files_with_other_content(name: str, content: bytes | None, says_right_or_fails: Check, eight: Path) -> None:
    (eight / name).unlink()
    if content is not None:
        (eight / name).write_bytes(content)
    assert says_right_or_fails(eight, statuses=(1, 2)) == len(COMMANDS)


def test_single_bits(cli: Command, eight: Path) -> None:
    """A query and a list of a depth, which read every file, refuse a store with one of many bits changed."""
    rng = random.Random(1)
    for name, content in contents(eight).items():
        for bit in rng.sample(range(8 * len(content)), 12):
            flip_bit(eight / name, bit)
            words = (
                ["farthest", eight] if name.startswith("layer_counts/c") else ["query", eight, "867254301", SECOND_HALF]
            )
            outcome = cli(*words, "--json")
            assert outcome.status == 1, (name, bit, outcome)
            assert len(outcome.err.splitlines()) == 1
            (eight / name).write_bytes(content)
    assert cli("query", eight, "867254301").out.endswith(": 31\n")


WRONG = [
    (what, command)
    for what in ("nothing", "file", "directory", "group", "newer", "kind")
    for command in COMMANDS
    if (what, command[0]) != ("nothing", "run")  # `run` creates a store there
]


@pytest.mark.parametrize(("what", "command"), WRONG, ids=[f"{what}-{command[0]}" for what, command in WRONG])
def test_paths_without_a_store(
    what: str, command: list[object], refused: Callable[..., str], eight: Path, tmp_path: Path
) -> None:
    path = eight if what in ("newer", "kind") else tmp_path / "path"
    if what == "file":
        path.write_text("text")
    elif what == "directory":
        path.mkdir()
    elif what == "group":
        zarr.create_group(path)
    elif what == "newer":
        change_manifest(path, version=99)
    elif what == "kind":
        change_manifest(path, format="something-else")
    message = refused(*on(path, command))
    assert str(path) in message
    if what == "newer":
        assert "version 99" in message


@pytest.mark.parametrize("reads", ["open_array", "Array.__getitem__"])
def test_an_intact_store_is_not_damaged_if_the_system_refuses_a_thread(
    reads: str, finished: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def start_thread(*_: object, **__: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(f"zarr.{reads}", start_thread)
    err = refused("query", finished, "867254301", status=1)
    assert "cannot read" in err
    assert "too few threads" in err
